"""Runs the examples of docs/guide/check-stored-answers.md in the engines that are installed, and
compares what comes with `tenuto check`. `make engines` calls it in an environment of its own.

    python checks/engines/run.py [pandas polars ...] [--rows 1000000]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
GUIDE = PROJECT / "docs" / "guide" / "check-stored-answers.md"
PACKAGES = {
    "Hugging Face datasets": "datasets",
    "Ray Data": "ray",
    "pandas": "pandas",
    "Polars": "polars",
    "Daft": "daft",
}
EXAMPLE = re.compile(r"^### ([\w ]+) \(([\d.]+)\)\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
DONE = "The moon pulls the sea, so the tides rise twice a day."


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows with every fault that a flat table shows."""
    texts = (DONE, "The moon pulls the sea towards itself, and on the far side of the", "", "<think>hm",
             "Let me see. " + "I will now fix that bug, too. " * 30, '{"a": [1', "[1] it is.", "é" * 90)  # fmt: skip
    for number in range(count):
        stop = ("stop", "length", "stop", "content_filter", None, "stop", "tool_calls", "eos")[
            number % 8
        ]
        text = texts[number // 8 % 8]
        yield {
            "id": f"r{number}",
            "model": "m",
            "finish_reason": stop,
            "completion": text,
            "completion_tokens": 40 + number % 400,
        }


def write(folder: Path, count: int) -> None:
    import duckdb

    with (folder / "lines.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows(count))
    types = "{id: 'VARCHAR', model: 'VARCHAR', finish_reason: 'VARCHAR', completion: 'VARCHAR', completion_tokens: 'BIGINT'}"
    of_lines = "columns={line: 'VARCHAR'}, delim='\x01', quote='', escape='', header=false"
    duckdb.sql(
        f"COPY (SELECT * FROM read_json('lines.jsonl', columns={types})) TO 'answers.parquet'"
    )
    duckdb.sql(f"COPY (SELECT * FROM read_csv('lines.jsonl', {of_lines})) TO 'lines.parquet'")


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("engines", nargs="*", metavar="engine", help="packages; none: all")
    asked.add_argument("--rows", type=int, default=400)
    given = asked.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        write(Path(place), given.rows)
        told = subprocess.run(
            [sys.executable, "-m", "tenuto", "check", "answers.parquet", "--json"],
            capture_output=True,
            check=False,
            text=True,
        )
        whole = {word: n for word, n in json.loads(told.stdout)["outcomes"].items() if n}
        whole["text_cut"] = whole.get("text_cut", 0) + whole.pop("label_sized", 0)
        print(f"tenuto check, {given.rows:,} rows: {whole}", flush=True)
        for name, said, code in EXAMPLE.findall(GUIDE.read_text("utf-8")):
            package = PACKAGES[name]
            if given.engines and package not in given.engines:
                continue
            has = version(package)
            space: dict[str, Any] = {}
            exec(compile(code, name, "exec"), space)
            found = {word: int(n) for word, n in space["outcomes"].items()}
            same = found == whole and has == said
            failed += not same
            print(
                f"{name} {has}: {'as tenuto check' if same else f'{found}, not {whole}, or not {said}'}",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
