"""Every target for `FUZZ_S` seconds (600), two side by side. Exits 1 if any found something."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.fuzz.targets import names, target

PLACE = Path(".fuzz")
SIDE_BY_SIDE = 2
# Longer inputs show nothing that shorter ones do not, and cost time; the limits are libFuzzer's
# own guards against what hangs or grows without bound.
OPTIONS = ("-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1")
# The names of members and kinds: nobody comes upon them letter by letter.
WORD = re.compile(rb'"[A-Za-z_][\w.-]{1,40}"')


def fuzz(name: str, seconds: int) -> str:
    """Fuzz one target; returns what it found, "" for nothing."""
    corpus, found = PLACE / "corpus" / name, PLACE / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    seeds = list(target(name).seeds())
    words = PLACE / f"{name}.dict"
    found_words = sorted({*WORD.findall(b"".join(seeds))})
    words.write_bytes(b"\n".join(found_words or [b'"-"']))  # one that is empty is refused
    for data in seeds:
        (corpus / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
    before = set(found.iterdir())
    began = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "checks.fuzz.one", name, str(corpus)),
            *(
                f"-dict={words}",
                f"-max_total_time={seconds}",
                f"-artifact_prefix={found}/{name}-",
                *OPTIONS,
            ),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    log = found.parent / f"{name}.log"
    log.write_text(done.stdout, encoding="utf-8")
    runs = re.findall(r"stat::number_of_executed_units: (\d+)", done.stdout)
    cover = re.findall(r"cov: (\d+)", done.stdout)
    print(
        f"{name}: {time.monotonic() - began:.0f} s, {runs[-1] if runs else '?'} runs,"
        f" coverage {cover[-1] if cover else '?'}, {'ok' if not done.returncode else 'FOUND'}",
        flush=True,
    )
    if not done.returncode:
        return ""
    # What fails at once is an input of the corpus, of which no copy is made: the log names it.
    made = sorted(set(found.glob(f"{name}-*")) - before)
    again = [f"{sys.executable} -m checks.fuzz.one {name} --again {f}" for f in made]
    return "\n  ".join([f"{name}, see {log}", *again])


def main(only: list[str]) -> int:
    seconds = int(os.environ.get("FUZZ_S") or 600)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = [
            text for text in pool.map(lambda name: fuzz(name, seconds), only or names()) if text
        ]
    print("\n".join(["Found something:", *found] if found else ["Found nothing."]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
