"""Read the rows of files: lines of JSON, in ranges of bytes that processes share, whole documents,
and tables (`tables.py`)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import IO, Final, NamedTuple

from tenuto.judging.archives import is_eval_log, samples_of
from tenuto.judging.opening import is_cassette
from tenuto.judging.stores import PACKED, NotReadable, damage, files_under, open_unpacked, size_of
from tenuto.judging.tables import (
    CSV,
    PARQUET,
    Line,
    bare,
    is_csv,
    is_parquet,
    ranges_of_parquet,
    rows_of_csv,
    rows_of_parquet,
)
from tenuto.wires.json import decode_object

RANGE_BYTES: Final = 33_554_432
"""A file of lines is read in ranges of about this size."""

MOST_LINE_BYTES: Final = 67_108_864
"""A longer line is not read."""

WHOLE_MOST_BYTES: Final = 268_435_456
"""A larger document is not read."""

_SUFFIXES: Final = (".jsonl", ".ndjson", ".json", ".jsonlines", ".eval", *CSV, *PARQUET)
_BOM: Final = b"\xef\xbb\xbf"
_TOO_LONG: Final = "the line is too long"


class Range(NamedTuple):
    """Bytes of a file, or rows of one of Parquet. `end`: None for all of it, such as of one that is
    compressed. `size`: about how many bytes are read."""

    path: str
    begin: int = 0
    end: int | None = None
    size: int = 0


def files_in(paths: Iterable[str]) -> list[str]:
    """Return the files that are named, and those in folders that are named, in order.

    Raises:
        OSError: a path does not exist, or a folder has no file that can be read.
    """
    found: list[str] = []
    for path in paths:
        inner = files_under(path)
        if inner is None:
            found.append(path)
            continue
        read = [each for each in inner if _is_read(each)]
        if not read:
            others = f", but {len(inner):,} others" if inner else ""
            why = f"there is no file in it that ends in {', '.join(_SUFFIXES)}{others}"
            raise NotReadable(0, why, path)
        found += read
    return found


def _is_read(path: str) -> bool:
    name = bare(path).rsplit("/", 1)[-1]
    return name.endswith(_SUFFIXES) and not name.startswith(".")


def ranges_of(path: str) -> list[Range]:
    """Return the ranges of a file; one for a compressed file or a document.

    Raises:
        OSError: there is no such file.
    """
    size = size_of(path)
    if is_parquet(path):
        try:
            edges = ranges_of_parquet(path)
        except NotReadable:  # told with its reason when its rows are read
            return [Range(path, size=size)]
        return [Range(path, *each, size // len(edges)) for each in edges]
    if path.endswith((*PACKED, ".eval")) or is_csv(path) or size <= RANGE_BYTES:
        return [Range(path, size=size)]
    if not _holds_lines(path):
        return [Range(path, size=size)]
    count = -(-size // RANGE_BYTES)
    places = [size * number // count for number in range(count + 1)]
    return [Range(path, begin, end, end - begin) for begin, end in pairwise(places)]


def _holds_lines(path: str) -> bool:
    """Return whether a file has a row in each line. What parses as one document is one, and so is
    what begins with a bracket alone."""
    with open_unpacked(path) as file:
        line = file.readline(MOST_LINE_BYTES)
        row = line.removeprefix(_BOM)
        more = file.read(1)
        if not more or isinstance(decode_object(row), dict):
            return bool(more)
        begin = row.strip()
        if not begin.startswith(b"{") or begin == b"{":
            return False
        # A first row that is damaged, or a document that goes on in the next line.
        most = WHOLE_MOST_BYTES if bare(path).endswith(".json") else RANGE_BYTES
        whole = line + more + file.read(most)
    return len(whole) > most or decode_object(whole.removeprefix(_BOM)) is None


def rows_of(part: Range) -> Iterator[Line]:
    """Return the rows of a range. A line belongs to the range in which it begins.

    Raises:
        OSError: the file cannot be read.
        NotReadable: it cannot be read any further, or the package that reads it is missing.
    """
    try:
        yield from _rows(part)
    except Exception as error:
        if (why := damage(error)) is None:
            raise
        raise NotReadable(0, why, part.path) from None


def lines_of(part: Range, rows: Iterable[Line]) -> Iterator[Line]:
    """Return rows of a Parquet file with their numbers in a range."""
    return (Line(row.number - part.begin + 1, row.data, row.why) for row in rows)


def _rows(part: Range) -> Iterator[Line]:
    path = part.path
    if is_parquet(path):
        yield from rows_of_parquet(path, part.begin, part.end or 0)
    elif is_csv(path):
        yield from rows_of_csv(path)
    elif is_eval_log(path):
        yield from (Line(number, data) for number, data in enumerate(samples_of(path), 1))
    elif part.end is None and not _holds_lines(path):
        yield from _rows_of_document(path)
    else:
        with open_unpacked(path) as file:
            yield from _lines(file, part)


def _lines(file: IO[bytes], part: Range) -> Iterator[Line]:
    at = part.begin
    if at:
        file.seek(at - 1)
        at += len(file.readline()) - 1  # the line before, which the range before has read
    number = 0
    while part.end is None or at < part.end:
        line = file.readline(MOST_LINE_BYTES)
        if not line:
            return
        number += 1
        at += len(line)
        if len(line) == MOST_LINE_BYTES and not line.endswith(b"\n"):
            at += _skip_line(file)
            yield Line(number, None, _TOO_LONG)
        elif not line.isspace():
            yield Line(number, line.removeprefix(_BOM) if at == len(line) else line)


def _skip_line(file: IO[bytes]) -> int:
    skipped = 0
    while piece := file.readline(io.DEFAULT_BUFFER_SIZE):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


_ROWS: Final = (
    ("samples", frozenset({"eval", "samples"}), False),  # inspect_ai's log in one document
    ("results", frozenset({"version", "stage", "batch", "results"}), True),  # ellmer
    ("rows", frozenset({"rows"}), False),
)
"""Where documents of tools keep their rows, the members by which they are told, and whether a row
is only told within its document."""


def _rows_within(value: object) -> list[object]:
    """Return the rows of a document that holds several; []: it is a row itself.

    >>> _rows_within({"version": 2, "eval": {}, "samples": [{"id": 1}, {"id": 2}]})
    [{'id': 1}, {'id': 2}]
    """
    if not isinstance(value, dict):
        return []
    for name, has, stays_within in _ROWS:
        rows = value.get(name)
        if has <= value.keys() and isinstance(rows, list):
            return [{**value, name: [row]} for row in rows] if stays_within else rows
    return []


def _rows_of_document(path: str) -> Iterator[Line]:
    with open_unpacked(path) as file:
        data = file.read(WHOLE_MOST_BYTES + 1)
    if len(data) > WHOLE_MOST_BYTES:
        yield Line(1, None, _TOO_LONG)
        return
    value = decode_object(data.removeprefix(_BOM))
    if isinstance(value, list):
        if value and all(isinstance(item, dict) for item in value):
            yield from (Line(number, item) for number, item in enumerate(value, 1))
            return
        yield Line(1, value)
    elif value is not None:
        inner = _rows_within(value)
        yield from (Line(number, item) for number, item in enumerate(inner or [value], 1))
    elif is_cassette(data[:4_096].decode("utf-8", "replace")):
        yield Line(1, data)
    else:  # JSON over several lines that broke off, or something else
        yield from (Line(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip())
