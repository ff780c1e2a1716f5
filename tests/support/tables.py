"""Write tables as tools do, by DuckDB."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

duckdb = pytest.importorskip("duckdb", reason="DuckDB comes with the extra `check`")


def parquet(path: Path, rows: Sequence[Any], types: str = "", group_rows: int = 2_048) -> str:
    """Write objects as a Parquet file with a column for each member. `types`: the columns as SQL
    declares them; "": they are found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.with_suffix(".rows.tmp")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    columns = f", columns={{{types}}}" if types else ""
    source = f"read_json('{lines}', format='newline_delimited'{columns})"
    _copy(f"SELECT * FROM {source}", path, group_rows)
    lines.unlink()
    return str(path)


def parquet_of_lines(
    path: Path, lines: Sequence[str | None], name: str = "line", group_rows: int = 2_048
) -> str:
    """Write texts as a Parquet file with one column."""
    named = name.replace('"', '""')
    with duckdb.connect() as connection:
        connection.execute(f'CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS "{named}"', [lines])
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {group_rows})")
    return str(path)


def _copy(query: str, path: Path, group_rows: int) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute(
            f"COPY ({query}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {group_rows})"
        )
