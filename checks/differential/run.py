"""make differential: the same provider bytes with and without Tenuto, each pair judged.

Prints how it goes and a summary, and exits with 1 if any pair is worse or if the table leaves a pair
open. `--only KEY` plays one pair again and prints both sides in full; a part of a key plays all pairs
that have it.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from checks.differential.judging import ROWS
from checks.differential.kinds import KINDS, group
from checks.differential.listed import LISTED
from checks.differential.sdks import SDKS

PROJECT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("results.json")
ALONE = "ollama"
"""The SDK whose lowest release cannot be installed beside the others' lowest releases."""
ENVIRONMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "newest": ((sys.executable, ",".join(SDKS)),),
    "lowest": (
        (".differential/all/bin/python", ",".join(name for name in SDKS if name != ALONE)),
        (f".differential/{ALONE}/bin/python", ALONE),
    ),
}
"""The interpreters by release, and which SDKs each has."""
TOLD_EVERY_S = 20
_WAYS = {"sync": "sync", "task": "async"}


@dataclass
class Found:
    """What all pairs came to."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, release: str, line: dict[str, Any]) -> None:
        """Take one line of a worker."""
        with self.lock:
            if "versions" in line:
                self.versions.setdefault(release, {}).update(line["versions"])
                return
            kind = f"{line['sdk']}/{line['kind']}"
            if line["verdict"] == "open" and (kind in LISTED or line["kind"] in LISTED):
                line["verdict"] = "listed"
            self.lines.append(line | {"release": release})

    def worst(self) -> dict[tuple[str, str], tuple[dict[str, Any], str]]:
        """Return a line of each pair, and its verdict: that of its worst way."""
        order = ("worse", "open", "listed", "better", "equal")
        worst: dict[tuple[str, str], tuple[dict[str, Any], str]] = {}
        with self.lock:
            for line in self.lines:
                pair = line["release"], line["key"]
                before = worst[pair][1] if pair in worst else "equal"
                worst[pair] = line, min(before, line["verdict"], key=order.index)
        return worst

    def count(self) -> Counter[str]:
        """Return how many pairs came to each verdict."""
        return Counter(verdict for _, verdict in self.worst().values())


def work(found: Found, releases: list[str], number: int, of: int, parts: list[str]) -> None:
    """Play one share of the pairs, release after release."""
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    for release in releases:
        for python, sdks in ENVIRONMENTS[release]:
            command = [
                python,
                "-m",
                "checks.differential.worker",
                sdks,
                str(number),
                str(of),
                *parts,
            ]
            with subprocess.Popen(
                command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True
            ) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    found.take(release, json.loads(line))
            if process.returncode:
                found.failed.append(f"{python} ended with {process.returncode}")


def main() -> int:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(prog="make differential")
    parser.add_argument("--only", default="", help="a key, or parts of keys")
    parser.add_argument("--release", choices=ENVIRONMENTS, action="append")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print figures for a program")
    parser.add_argument(
        "--write", action="store_true", help="keep the figures for docs/compared.md"
    )
    parser.add_argument("--to", type=Path, help="write every line to this file")
    asked = parser.parse_args()
    parts = asked.only.split()
    if len(parts) == 1 and _told(parts[0]):
        return 0
    found, began = Found(), time.monotonic()
    releases = asked.release or [*ENVIRONMENTS]
    shares = [
        threading.Thread(target=work, args=(found, releases, n, asked.processes, parts))
        for n in range(asked.processes)
    ]
    for share in shares:
        share.start()
    while any(share.is_alive() for share in shares):
        for share in shares:
            share.join(TOLD_EVERY_S / len(shares))
        if not asked.json:
            print(f"{time.monotonic() - began:5.0f} s  {dict(found.count())}", flush=True)
        if asked.to:
            asked.to.write_text("".join(json.dumps(line) + "\n" for line in found.lines))
    if asked.write:
        write(found, time.monotonic() - began)
    return _summary(found, time.monotonic() - began, as_json=asked.json)


def write(found: Found, took_s: float) -> None:
    """Keep the figures from which docs/compared.md is made."""
    kinds: dict[str, Counter[str]] = {title: Counter() for title in KINDS.values()}
    sdks: dict[str, Counter[str]] = {}
    for (release, _), (line, verdict) in sorted(found.worst().items()):
        kinds[KINDS[group(line["sdk"], line["kind"])]][verdict] += 1
        named = f"{line['sdk']}, {SDKS[line['sdk']].package} {found.versions[release][line['sdk']]}"
        sdks.setdefault(named, Counter())[verdict] += 1
    made = {
        "date": date.today().isoformat(),  # noqa: DTZ011 - the day of whoever ran it
        "pairs": found.count().total(),
        "seconds": round(took_s),
        "releases": " and ".join(f"{release} release" for release in found.versions),
        "ways": " and ".join(
            _WAYS[way] for way in sorted({key[1].rpartition("/")[2] for key in found.worst()})
        ),
        "count": found.count(),
        "kinds": {title: by for title, by in kinds.items() if by},
        "sdks": dict(sorted(sdks.items())),
        **tables(),
    }
    RESULTS.write_text(json.dumps(made, indent=1) + "\n", "utf-8")


def tables() -> dict[str, Any]:
    """Return the tables that judge, as the page shows them."""
    rows = [{"of": row.of, "says": row.says, "verdict": row.verdict} for row in ROWS]
    return {"rows": rows, "listed": LISTED}


def _told(key: str) -> bool:
    """Play one pair in this process and print it, if the key is a whole one."""
    from checks.differential.playing import Player
    from checks.differential.worker import chosen, tell

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    pair = next((pair for pair in chosen([*SDKS], [key]) if pair.key == key), None)
    if pair is not None:
        tell(pair, Player().play(pair))
    return pair is not None


def _summary(found: Found, took_s: float, *, as_json: bool) -> int:
    count = found.count()
    bad = [line for line in found.lines if line["verdict"] in ("worse", "open")]
    figures = {"pairs": count.total(), "seconds": round(took_s), **count}
    if as_json:
        print(
            json.dumps(figures | {"versions": found.versions, "failed": found.failed, "bad": bad})
        )
    else:
        for line in bad:
            print(
                f"{line['verdict']:6} {line['release']} {line['way']:5} {line['row']}: {line['key']}"
            )
        print("".join(f"{said}\n" for said in found.failed), end="")
        print(f"{count.total():,} pairs in {took_s:.0f} s: {dict(count)}")
    return bool(bad or found.failed or not found.lines)


if __name__ == "__main__":
    sys.exit(main())
