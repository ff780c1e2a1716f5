"""Read the rows of tables: Parquet by DuckDB (`pip install 'tenuto[check]'`), and CSV.

Theory of operation
-------------------
A Parquet file is read in ranges of whole groups of rows, which processes share. Each process has a
DuckDB with one thread, whose rows come in batches: with several, DuckDB unpacks as many groups at
once, and needs the memory of all of them. DuckDB may neither fetch extensions nor write files.

CSV is read by Python's own reader. DuckDB's gives up the numbers of the rows that it cannot read,
and needs several times the longest line that it allows as memory.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import IO, Any, Final, NamedTuple, cast

from tenuto.core.answer.stop import printable
from tenuto.judging.columns import row_of
from tenuto.judging.documents import Line
from tenuto.judging.encodings import open_text
from tenuto.judging.forms import no_names
from tenuto.judging.names import LIMITS
from tenuto.judging.stores import (
    PACKED,
    NotReadable,
    is_remote,
    needed,
    open_bytes,
    store_of,
)

PARQUET: Final = (".parquet", ".pq")
CSV: Final = (".csv", ".tsv")

_RANGE_BYTES: Final = 67_108_864
"""A Parquet file is read in ranges of about this size, unpacked."""

_BATCH_ROWS: Final = 256
_MOST_CELL_BYTES: Final = 67_108_864
_WHY_CHARS: Final = 200


NUMBER: Final = '"number of the row, as tenuto counts it"'
"""The column of `Parquet.source` that numbers the rows of the file from 0."""


class Column(NamedTuple):
    """A column of a table. `type`: DuckDB's name of its type."""

    name: str
    type: str


def is_parquet(path: str) -> bool:
    """Return whether a file is Parquet, by its suffix or by how it begins.

    >>> is_parquet("s3://runs/a.parquet"), is_parquet("a.PQ")
    (True, True)
    """
    if path.lower().endswith(PARQUET):
        return True
    if is_remote(path):
        return False
    with open_bytes(path) as file:
        return file.read(4) == b"PAR1"


def is_csv(path: str) -> bool:
    """Return whether a file is CSV, by its suffix.

    >>> is_csv("a.csv"), is_csv("a.tsv.gz"), is_csv("a.jsonl")
    (True, True, False)
    """
    return bare(path).endswith(CSV)


def bare(path: str) -> str:
    """Return a path in lower case, without the suffix of a compressed file."""
    low = path.lower()
    return next((low.removesuffix(end) for end in PACKED if low.endswith(end)), low)


# --- Parquet


class Parquet:
    """A Parquet file, opened by a connection of its own.

    Attributes:
        source: its rows in SQL, with their numbers (`NUMBER`) beside their columns.
        columns: its columns.

    Raises:
        OSError: there is no such file.
        NotReadable: it is no whole Parquet file, or DuckDB is not installed.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._duckdb = needed("duckdb", "check", "it is Parquet", path)
        remote = is_remote(path)
        # A file system belongs to a whole database.
        self._connection = _connected() if remote else _database().cursor()
        self._connection.execute("SET enable_progress_bar = false")
        if remote:
            store, inner = store_of(path)
            self._connection.register_filesystem(store)
            path = store.unstrip_protocol(inner)
        else:
            open_bytes(path).close()  # so that a missing file is told as one
        file = quoted(_literal(path))
        found = list(self.fetched(f"DESCRIBE SELECT * FROM read_parquet({file})"))
        self.columns: list[Column] = [Column(str(one[0]), str(one[1])) for one in found]
        self.source: str = (
            f"(SELECT * RENAME (file_row_number AS {NUMBER})"
            f" FROM read_parquet({file}, file_row_number=true))"
        )
        if "file_row_number" in (column.name.lower() for column in self.columns):
            # DuckDB refuses to add a column of this name. Counting skips no rows: each range takes
            # the time of the whole file.
            counted = f"row_number() OVER () - 1 AS {NUMBER}"
            self.source = f"(SELECT *, {counted} FROM read_parquet({file}))"

    def fetched(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query, as they come.

        Raises:
            NotReadable: DuckDB reports an error.
        """
        try:
            self._connection.execute(query)
            while rows := self._connection.fetchmany(_BATCH_ROWS):
                yield from rows
        except self._duckdb.Error as error:
            if _NOT_UTF_8 in str(error):
                raise BadText from None
            raise NotReadable(0, _why(error), self.path) from None

    def groups(self) -> list[tuple[int, int]]:
        """Return the number of rows of each group, and its size in bytes when it is unpacked."""
        meta = f"parquet_metadata({quoted(_literal(self.path))})"
        query = (
            "SELECT row_group_id, any_value(row_group_num_rows), sum(total_uncompressed_size)"
            f" FROM {meta} GROUP BY 1 ORDER BY 1"
        )
        return [(int(rows), int(size)) for _, rows, size in self.fetched(query)]


def _connected() -> Any:
    from duckdb import connect

    return connect(":memory:", config=_CONFIG)


_database = cache(_connected)
"""The DuckDB of this process. To make one takes longer than to read a small file."""


class BadText(Exception):
    """A text is not UTF-8, and DuckDB gives up all rows that it would have read with it."""


_NOT_UTF_8: Final = "is not valid UTF8"

_CONFIG: Final[dict[str, Any]] = {
    "threads": "1",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
}


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def named(name: str) -> str:
    """Return the name of a column as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _literal(path: str) -> str:
    """Return a path without patterns: DuckDB reads `*`, `?` and `[` as those of several files."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


def _why(error: Exception) -> str:
    text = " ".join(str(error).split("\n\n")[0].split())
    kind = type(error).__name__
    if kind == "OutOfMemoryException":
        return f"there is not enough memory for one of its groups of rows ({printable(text, 200)})"
    return f"it is no whole Parquet file, or a damaged one ({printable(text, _WHY_CHARS)})"


def ranges_of_parquet(path: str) -> list[tuple[int, int]]:
    """Return ranges of the rows of a file, each of whole groups.

    Raises:
        OSError: it cannot be read.
    """
    edges, size, row = [0], 0, 0
    for rows, own_size in Parquet(path).groups():
        row += rows
        size += own_size
        if size >= _RANGE_BYTES:
            edges.append(row)
            size = 0
    if row > edges[-1] or len(edges) == 1:
        edges.append(row)
    return list(pairwise(edges))


def rows_of_parquet(path: str, begin: int, end: int) -> Iterator[Line]:
    """Return the rows from one number to another. A row with a text that is not UTF-8 is found by
    halves, so that the others are read.

    Raises:
        OSError: the file cannot be read.
    """
    table = Parquet(path)
    at, width = begin, end - begin
    while at < end:
        upper = min(at + width, end)
        last = None
        try:
            for line in _selected(table, at, upper, 1 - begin):
                last = line
                yield line
            at, width = upper, 2 * width
        except BadText:
            at = last.number + begin if last is not None else at
            if upper - at == 1:
                yield Line(at - begin + 1, None, "it has a text that is not UTF-8")
                at += 1
            width = max(width // 2, 1)


def _selected(table: Parquet, begin: int, end: int, more: int) -> Iterator[Line]:
    """Return rows with their numbers and `more`."""
    names = [column.name for column in table.columns]
    selected = ", ".join([NUMBER, *map(named, names)])
    where = f"{NUMBER} >= {begin} AND {NUMBER} < {end}"
    found = table.fetched(f"SELECT {selected} FROM {table.source} WHERE {where}")
    if len(names) > 1:
        for number, *values in found:
            yield Line(number + more, row_of(names, values))
        return
    for number, value in found:
        is_object = type(value) is str and value.startswith("{")
        yield Line(number + more, value if is_object else row_of(names, [value]))


# --- CSV


def rows_of_csv(path: str) -> Iterator[Line]:
    """Return the rows of a file whose first line has the names of its columns.

    Raises:
        OSError: it cannot be read.
    """
    with open_text(path) as file:
        text = io.TextIOWrapper(cast("Any", file), "utf-8-sig", errors="replace", newline="")
        first = text.readline(_MOST_CELL_BYTES)
        above = 0
        if told := _SEPARATOR(first):  # for spreadsheets, above the names
            first, above = text.readline(_MOST_CELL_BYTES), 1
        delimiter = told[1] if told else _delimiter(first, path)
        csv.field_size_limit(_MOST_CELL_BYTES)
        lines = _Again(first, text)
        reader = csv.reader(lines, delimiter=delimiter)
        names: Sequence[str] = ()
        begin = 1 + above
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield Line(begin, None, f"a cell has no end, or is too long ({error})")
                return
            if cells is None:
                return
            line, begin = begin, reader.line_num + 1 + above
            if lines.ended:  # within a cell, which has swallowed all rows behind it
                yield Line(line, None, "a cell has no end: its quotation mark is never closed")
                return
            if not cells:
                continue
            if not names:
                if why := no_names(cells):
                    raise NotReadable(0, why, path)
                names = cells
            elif len(cells) == len(names):
                yield Line(line, row_of(names, list(map(_number, names, cells))))
            else:
                counts = f"it has {len(cells):,} cells, and the header {len(names):,}"
                yield Line(line, None, counts)


class _Again:
    """The lines of a text of which the first is read already. `ended`: more were asked for than it
    has."""

    def __init__(self, first: str, rest: IO[str]) -> None:
        self._first: str | None = first
        self._rest = rest
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if not (line := self._rest.readline(_MOST_CELL_BYTES)):
            self.ended = True
            raise StopIteration
        return line


def _delimiter(header: str, path: str) -> str:
    """Return what separates the cells, by the line with the names.

    >>> _delimiter("id;text;model", "a.csv"), _delimiter("text", "a.csv")
    (';', ',')
    """
    if bare(path).endswith(".tsv"):
        return "\t"
    found = max(",;\t|", key=lambda each: (header.count(each), each == ","))
    return found if found in header else next((mark for mark in _RARE if mark in header), found)


_RARE: Final = "^~\x01\x1f\x1e\xa6\xa7"
"""Marks that separate cells where no other does."""

_SEPARATOR: Final = re.compile(r'"?sep=(.)"?\s*$', re.IGNORECASE).match


def _number(name: str, cell: str) -> object:
    """Return a cell, as a number where the name of its column says that it counts tokens."""
    digits, _, fraction = cell.partition(".")
    counts = name in LIMITS or name.lower().endswith(_COUNTS)
    is_number = cell.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if counts and is_number and not fraction.strip("0") else cell


_MOST_DIGITS: Final = 18


_COUNTS: Final = ("tokens", "token_count", "tokencount")
