"""Measures `tenuto check` on a folder of stored answers, and writes docs/stored-speed.md.

Everything is processor time, of fresh processes in one run; compare the ratios, not the seconds.
The folder is made by chance from a seed: batch results as lines and as a Parquet column of JSON
text, the same as flat columns, and rows without a stop. 6 % of the rows are cut, empty or broken.
--mb is the size of the lines, --keep leaves the page as it is.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing.forkserver
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "stored-speed.md"
ROWS_PER_MB: Final = 680
FIELDS: Final = (
    "choices[0].finish_reason",
    "choices[0].message.content",
    "usage.completion_tokens",
    "model",
    "id",
)
FLAT: Final = {
    "custom_id": "$.custom_id",
    "model": "$.response.body.model",
    "finish_reason": "$.response.body.choices[0].finish_reason",
    "completion": "$.response.body.choices[0].message.content",
}
TOKENS: Final = "(line->>'$.response.body.usage.completion_tokens')::BIGINT"


# --- the folder


def texts(chance: Random) -> list[str]:
    """Texts of 0.1 to 3 kB, of the words of this documentation in any order."""
    words = " ".join(
        page.read_text("utf-8") for page in sorted((PROJECT / "docs").glob("*.md"))
    ).split()
    plain = [word for word in words if word.isalpha() and word.isascii()]
    sizes = (min(420, 15 + int(chance.lognormvariate(4.9, 0.6))) for _ in range(6_000))
    return [" ".join(chance.choices(plain, k=size)).capitalize() + "." for size in sizes]


def row(number: int, text: str, chance: Random) -> dict[str, Any]:
    """A line of an OpenAI batch result, which is cut, empty or broken in 6 of 100 cases."""
    stop, fault = "stop", chance.randrange(1_000)
    if fault < 50:
        stop, text = "length", text[:-9]
    elif fault < 59:
        text = ""
    elif fault == 59:
        text = text + " I will now fix that bug, too." * 30
    message: dict[str, Any] = {
        "role": "assistant",
        "content": f"{text}",
        "refusal": None,
        "annotations": [],
    }
    tokens = len(text) // 5
    body = {
        "id": f"chatcmpl-{number}", "object": "chat.completion",
        "created": 1_790_000_000 + number // 9,
        "model": chance.choice(("gpt-x-mini", "gpt-x")),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": stop}],
        "usage": {"prompt_tokens": 50, "completion_tokens": tokens, "total_tokens": 50 + tokens},
        "service_tier": "default", "system_fingerprint": "fp_1",
    }  # fmt: skip
    response = {"status_code": 200, "request_id": f"req_{number}", "body": body}
    return {
        "id": f"batch_req_{number}",
        "custom_id": f"row-{number}",
        "response": response,
        "error": None,
    }


def make(folder: Path, mb: int) -> int:
    """Write the files, and return how many rows each has."""
    import duckdb

    chance = Random(20_261_128)
    known, rows = texts(chance), mb * ROWS_PER_MB
    with (folder / "results.jsonl").open("w", encoding="utf-8") as file:
        for number in range(rows):
            file.write(json.dumps(row(number, chance.choice(known), chance)) + "\n")
    read = "columns={'line': 'VARCHAR'}, delim='\x01', quote='', escape='', header=false"
    lines = f"read_csv('{folder}/results.jsonl', {read})"
    columns = ", ".join(f"line->>'{path}' AS {name}" for name, path in FLAT.items())
    text = f"line->>'{FLAT['completion']}' AS generated_text"
    no_stop = f"{text}, {TOKENS} AS num_generated_tokens"
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2; SET enable_progress_bar = false")
        for name, selected in (
            ("json", "line"),
            ("flat", f"{columns}, {TOKENS} AS completion_tokens"),
            ("no_stop", no_stop),
        ):  # fmt: skip
            to = f"'{folder}/{name}.parquet' (FORMAT parquet, ROW_GROUP_SIZE 20480)"
            connection.execute(f"COPY (SELECT {selected} FROM {lines}) TO {to}")
    return rows


# --- what is measured, each in a process of its own


def loads(folder: Path) -> None:
    with (folder / "results.jsonl").open("rb") as file:
        for line in file:
            json.loads(line)


def check(name: str, processes: int) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        from tenuto.judging.checking import Options
        from tenuto.judging.checking import check as checked

        checked([str(folder / name)], Options(), processes)

    return run


def native(query: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        import duckdb

        with duckdb.connect() as connection:
            connection.execute("SET threads = 1; SET enable_progress_bar = false")
            connection.execute(query.format(folder=folder)).fetchall()

    return run


_PATHS = ", ".join(f"'$.response.body.{field}'" for field in FIELDS)
MEASURED: Final[dict[str, Callable[[Path], None]]] = {
    "json.loads": loads,
    "lines, one process": check("results.jsonl", 1),
    "lines, two processes": check("results.jsonl", 2),
    "JSON text, DuckDB": native(
        "SELECT v[1], sum(length(v[2])), sum(v[3]::INT), max(v[4]), max(v[5]) FROM (SELECT"
        f" json_extract_string(line, [{_PATHS}]) AS v FROM '{{folder}}/json.parquet') GROUP BY 1"
    ),
    "JSON text": check("json.parquet", 1),
    "flat, DuckDB": native(
        "SELECT finish_reason, model, count(*), sum(length(completion)), sum(completion_tokens),"
        " max(custom_id) FROM '{folder}/flat.parquet' GROUP BY ALL"
    ),
    "flat": check("flat.parquet", 1),
    "no stop, DuckDB": native(
        "SELECT sum(length(generated_text)), sum(num_generated_tokens)"
        " FROM '{folder}/no_stop.parquet'"
    ),
    "no stop": check("no_stop.parquet", 1),
}


def measure(name: str, folder: Path) -> None:
    """Print the processor time in seconds and the most memory in MB of one of them."""
    begin = time.process_time()
    MEASURED[name](folder)
    # The processes that it forked are counted once they and it have ended.
    multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent_s = time.process_time() - begin + children.ru_utime + children.ru_stime
    status = Path("/proc/self/status").read_text("utf-8").split("VmHWM:")[1].split()[0]
    peak_mb = max(int(status), children.ru_maxrss) / 1_024
    print(json.dumps({"s": spent_s, "mb": peak_mb}))


# --- the page


def measured(folder: Path) -> Iterator[tuple[str, float, float]]:
    # Modules are compiled once, as an installer does, and not by each process that is measured.
    environment = {name: it for name, it in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    importing = [sys.executable, "-c", "import duckdb, tenuto.judging.checking"]
    subprocess.run(importing, check=True, env=environment)
    for name in MEASURED:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", name, "--folder", str(folder)],
            check=True, capture_output=True, text=True, env=environment,
        )  # fmt: skip
        found = json.loads(done.stdout)
        print(f"{name:<22} {found['s']:7.2f} s {found['mb']:7.0f} MB", flush=True)
        yield name, found["s"], found["mb"]


def page(found: dict[str, tuple[float, float]], rows: int, size_mb: float) -> str:
    """Return the text of docs/stored-speed.md."""

    def line(name: str, of: str) -> str:
        spent_s, peak_mb = found[name]
        return f"| {name} | {spent_s:.1f} | {peak_mb:.0f} | {spent_s / found[of][0]:.2f} × {of} |"

    more_s = found["no stop"][0] - found["no stop, DuckDB"][0]
    lines = [
        "# How fast stored answers are checked",
        "",
        "Generated by `make bench` (`checks/bench/stored.py`). Do not edit.",
        "",
        f"The folder has {rows:,} batch results, as {size_mb:,.0f} MB of lines, as Parquet with a",
        "column of JSON text, as Parquet with flat columns, and as flat columns without a stop.",
        "6 % of the rows are cut, empty or broken. Each line is a fresh process in one run.",
        "Seconds are processor time and depend on the machine; compare the ratios. Modules are",
        "compiled before, as by an installer. DuckDB's own reading has one thread and reads five",
        "fields of each row, or each column, and adds up.",
        "",
        "| What | Processor time (s) | Most memory of a process (MB) | Ratio |",
        "| --- | ---: | ---: | --- |",
        *(line(name, of) for name, of in COMPARED),
        "",
        f"Rows without a stop take {more_s:.1f} s more than DuckDB's own reading.",
    ]
    return "\n".join(lines) + "\n"


COMPARED: Final = (
    ("json.loads", "json.loads"),
    ("lines, one process", "json.loads"),
    ("lines, two processes", "lines, one process"),
    ("JSON text, DuckDB", "JSON text, DuckDB"),
    ("JSON text", "JSON text, DuckDB"),
    ("flat, DuckDB", "flat, DuckDB"),
    ("flat", "flat, DuckDB"),
    ("no stop, DuckDB", "no stop, DuckDB"),
    ("no stop", "no stop, DuckDB"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures tenuto check.")
    parser.add_argument("--mb", type=int, default=150)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--measure")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.folder)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows = make(folder, given.mb)
        size_mb = (folder / "results.jsonl").stat().st_size / 1e6
        found = {name: (spent_s, peak_mb) for name, spent_s, peak_mb in measured(folder)}
    text = page(found, rows, size_mb)
    print(text)
    if not given.keep:
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
