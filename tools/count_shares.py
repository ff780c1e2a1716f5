"""Counts what is in the recorded answers of real services (`shared/corpus`, not part of the
project) and writes tools/shares.json, from which docs/shares.md is made. `make shares` runs it. The
wires of examples/wires read their answers too.
"""

from __future__ import annotations

import base64
import gzip
import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tenuto import judge

FIGURES = Path(__file__).resolve().with_name("shares.json")
CORPUS = Path("shared/corpus/recorded.jsonl.gz")


def corpus() -> Path | None:
    """The recordings, beside or above the project; None: they are not at hand."""
    return next((up / CORPUS for up in FIGURES.parents if (up / CORPUS).exists()), None)


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Each recording."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def body_of(record: dict[str, Any]) -> bytes:
    """The bytes of the answer."""
    body = record["response_body"]
    return base64.b64decode(body) if record["response_is_base64"] else body.encode()


def count(path: Path) -> dict[str, Any]:
    """How many answers of each source, and of each wire, have each outcome."""
    by: dict[str, dict[str, Counter[str]]] = {"sources": {}, "wires": {}}
    for record in records(path):
        outcome = judge(body_of(record)).outcome.value
        for name, group in (("sources", record["source_repo"]), ("wires", record["wire"])):
            by[name].setdefault(group, Counter())[outcome] += 1
    return {
        name: {
            group: dict(sorted(counts.items()))
            for group, counts in sorted(
                groups.items(), key=lambda each: (-each[1].total(), each[0])
            )
        }
        for name, groups in by.items()
    }


def main() -> int:
    """Write the figures; 1 if there is nothing to count."""
    path = corpus()
    if path is None:
        print(f"there is no {CORPUS} above the project", file=sys.stderr)
        return 1
    # A program in this folder finds what is beside it, and not the project's folders.
    sys.path.append(str(FIGURES.parents[1]))
    importlib.import_module("examples.wires.tests.at_hand").install()
    FIGURES.write_text(json.dumps(count(path), indent=1) + "\n", "utf-8")
    print(f"wrote {FIGURES.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
