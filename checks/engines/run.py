"""Runs the examples of docs/guide/check-stored-answers.md in the engines that are installed, and
compares what comes with `tenuto check`. `make engines` calls it in an environment of its own.

    python checks/engines/run.py [pandas polars ...]
"""

from __future__ import annotations

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


def rows() -> Iterator[dict[str, Any]]:
    """Rows with every fault that a flat table shows."""
    texts = (DONE, "The moon pulls the sea towards itself, and on the far side of the", "", "<think>hm",
             "Let me see. " + "I will now fix that bug, too. " * 30, '{"a": [1', "[1] it is.", "é" * 90)  # fmt: skip
    for number in range(400):
        stop = ("stop", "length", "stop", "content_filter", None, "stop", "tool_calls", "eos")[
            number % 8
        ]
        text = texts[number // 8 % 8]
        yield {
            "id": f"r{number}",
            "model": "m",
            "finish_reason": stop,
            "completion": text,
            "completion_tokens": 40 + number,
        }


def write(folder: Path) -> None:
    import duckdb

    lines = "".join(json.dumps(row) + "\n" for row in rows())
    (folder / "lines.jsonl").write_text(lines, "utf-8")
    types = "{id: 'VARCHAR', model: 'VARCHAR', finish_reason: 'VARCHAR', completion: 'VARCHAR', completion_tokens: 'BIGINT'}"
    of_lines = "columns={line: 'VARCHAR'}, delim='\x01', quote='', escape='', header=false"
    duckdb.sql(
        f"COPY (SELECT * FROM read_json('lines.jsonl', columns={types})) TO 'answers.parquet'"
    )
    duckdb.sql(f"COPY (SELECT * FROM read_csv('lines.jsonl', {of_lines})) TO 'lines.parquet'")


def main() -> int:
    wanted = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        write(Path(place))
        told = subprocess.run(
            [sys.executable, "-m", "tenuto", "check", "answers.parquet", "--json"],
            capture_output=True,
            check=False,
            text=True,
        )
        whole = {word: n for word, n in json.loads(told.stdout)["outcomes"].items() if n}
        whole["text_cut"] = whole.get("text_cut", 0) + whole.pop("label_sized", 0)
        for name, said, code in EXAMPLE.findall(GUIDE.read_text("utf-8")):
            package = PACKAGES[name]
            if wanted and package not in wanted:
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
