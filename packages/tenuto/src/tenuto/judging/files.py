"""Read the rows of files: lines of JSON, in ranges of bytes that processes share, whole documents,
and tables (`tables.py`)."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import IO, Final, NamedTuple

from tenuto.judging.archives import is_eval_log, samples_of
from tenuto.judging.documents import (
    BLANK,
    TOO_LONG,
    Line,
    documents_in,
    is_array,
    items_of,
    rows_within,
)
from tenuto.judging.encodings import is_plain, open_text
from tenuto.judging.forms import BOM, HEAD_BYTES, RECORD, other_form
from tenuto.judging.opening import is_cassette
from tenuto.judging.stores import (
    NotReadable,
    damage,
    files_under,
    is_remote,
    open_bytes,
    size_of,
)
from tenuto.judging.tables import (
    CSV,
    PARQUET,
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


class Range(NamedTuple):
    """Bytes of a file, or rows of one of Parquet. `end`: None for all of it, such as of one that is
    compressed. `size`: about how many bytes are read."""

    path: str
    begin: int = 0
    end: int | None = None
    size: int = 0


def files_in(paths: Iterable[str], on_error: Callable[[OSError], None] | None = None) -> list[str]:
    """Return the files that are named, and those in folders that are named, in order, each once.

    Args:
        on_error: is called with why a path cannot be read, and the others are returned; None: the
            first such error is raised.

    Raises:
        OSError: a path does not exist, or a folder has no file that can be read.
    """
    found: dict[str, str] = {}
    refused: list[OSError] = []

    def tell(error: OSError) -> None:
        if on_error is None:
            raise error
        refused.append(error)
        on_error(error)

    for path in paths:
        before = len(refused)
        try:
            inner = files_under(path, tell)
            read = [path] if inner is None else [each for each in inner if _is_read(each)]
        except OSError as error:
            tell(error)
            continue
        if not read and len(refused) == before:
            others = f", but {len(inner):,} others" if inner else ""
            why = f"there is no file in it that ends in {', '.join(_SUFFIXES)}{others}"
            tell(NotReadable(0, why, path))
        for each in read:
            try:
                found.setdefault(_place_of(each), each)
            except OSError as error:
                tell(error)
    return list(found.values())


def _place_of(path: str) -> str:
    """Return where a file is, whatever links lead to it.

    Raises:
        OSError: it cannot be opened.
    """
    if is_remote(path):
        return path
    size_of(path)
    open_bytes(path).close()
    return os.path.realpath(path)


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
    if size <= RANGE_BYTES or is_csv(path) or path.endswith(".eval"):
        return [Range(path, size=size)]
    if not is_plain(path) or not _holds_lines(path):
        return [Range(path, size=size)]
    count = -(-size // RANGE_BYTES)
    places = [size * number // count for number in range(count + 1)]
    return [Range(path, begin, end, end - begin) for begin, end in pairwise(places)]


def why_no_rows(path: str) -> str:
    """Return why a file that was read has no rows."""
    if size_of(path) == 0:
        return "it is empty"
    if is_parquet(path) or is_eval_log(path):
        return "it has no rows"
    with open_text(path) as file:
        head = file.read(HEAD_BYTES)
    if not head:
        return "it is empty"
    if not head.removeprefix(BOM).strip():
        return "it has blank lines only"
    return "it has a header and no rows" if is_csv(path) else "it has no rows"


def _holds_lines(path: str) -> bool:
    """Return whether a file has a row in each line. What parses as one document is one, and so is
    what begins with a bracket alone."""
    with open_text(path) as file:
        line = file.readline(MOST_LINE_BYTES)
        row = line.removeprefix(BOM).removeprefix(RECORD)
        more = file.read(1)
        if not more or isinstance(decode_object(row), dict):
            return bool(more)
        begin = row.strip()
        if not begin.startswith(b"{") or begin == b"{":
            return False
        # A first row that is damaged, or a document that goes on in the next line.
        most = WHOLE_MOST_BYTES if bare(path).endswith(".json") else RANGE_BYTES
        whole = line + more + file.read(most)
    return len(whole) > most or decode_object(whole.removeprefix(BOM)) is None


def rows_of(part: Range) -> Iterator[Line]:
    """Return the rows of a range. A line belongs to the range in which it begins.

    Raises:
        OSError: the file cannot be read.
        NotReadable: it cannot be read any further, or the package that reads it is missing.
    """
    try:
        yield from _rows(part)
    except Exception as error:
        if (why := damage(error, part.path)) is None:
            raise
        raise NotReadable(0, why, part.path) from None


def lines_in(part: Range) -> int:
    """Return how many lines or rows of a table begin in a range of several.

    Raises:
        OSError: the file cannot be read.
    """
    end = part.end or 0
    if is_parquet(part.path):
        return end - part.begin
    with open_bytes(part.path) as file:
        file.seek(max(part.begin - 1, 0))
        held = file.read(end - 1 - max(part.begin - 1, 0))
    return held.count(b"\n") + (part.begin == 0)


def lines_of(part: Range, rows: Iterable[Line]) -> Iterator[Line]:
    """Return rows of a Parquet file with their numbers in a range."""
    return (Line(row.number - part.begin + 1, row.data, row.why) for row in rows)


def _rows(part: Range) -> Iterator[Line]:
    path = part.path
    if not part.begin and not is_parquet(path) and not is_eval_log(path):
        with open_text(path) as file:
            if why := other_form(path, file.read(HEAD_BYTES)):
                raise NotReadable(0, why, path)
    if is_parquet(path):
        yield from rows_of_parquet(path, part.begin, part.end or 0)
    elif is_csv(path):
        yield from rows_of_csv(path)
    elif is_eval_log(path):
        yield from (Line(number, data) for number, data in enumerate(samples_of(path), 1))
    elif part.end is None and not _holds_lines(path):
        yield from _rows_of_document(path)
    else:
        with open_text(path) as file:
            yield from _lines(file, part)


def _lines(file: IO[bytes], part: Range) -> Iterator[Line]:
    at = part.begin
    if at:
        file.seek(at - 1)
        at += len(file.readline()) - 1  # the line before, which the range before has read
    number, told = 0, 0
    while part.end is None or at < part.end:
        line = file.readline(MOST_LINE_BYTES)
        if not line:
            break
        number += 1
        at += len(line)
        row = line.removeprefix(BOM) if at == len(line) else line
        if len(line) == MOST_LINE_BYTES and not line.endswith(b"\n"):
            at += _skip_line(file)
            yield Line(told := number, None, TOO_LONG)
        elif row and not row.isspace():
            yield Line(told := number, row.removeprefix(RECORD))
    if told < number:
        yield Line(number, BLANK)


def _skip_line(file: IO[bytes]) -> int:
    skipped = 0
    while piece := file.readline(io.DEFAULT_BUFFER_SIZE):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _rows_of_document(path: str) -> Iterator[Line]:
    with open_text(path) as file:
        data = file.read(WHOLE_MOST_BYTES + 1)
    data = data.removeprefix(BOM)
    whole = len(data) <= WHOLE_MOST_BYTES
    value = decode_object(data) if whole else None
    first = data.lstrip()[:HEAD_BYTES].split(b"\n")[0].strip()
    if value == []:
        return
    if isinstance(value, list):
        if all(isinstance(item, dict) for item in value):
            yield from (Line(number, item) for number, item in enumerate(value, 1))
            return
        yield Line(1, value)
    elif value is not None:
        inner = rows_within(value)
        yield from (Line(number, item) for number, item in enumerate(inner or [value], 1))
    elif is_cassette(data[:4_096].decode("utf-8", "replace")):
        yield Line(1, data)
    elif first == b"{":
        with open_text(path) as file:
            yield from documents_in(file)
    elif not whole:
        yield Line(1, None, TOO_LONG)
    elif is_array(data):
        yield from items_of(data)
    else:  # lines of which the first is damaged, or something else
        lines = data.splitlines()  # old ones end in \r alone
        yield from (Line(n, line) for n, line in enumerate(lines, 1) if line.strip())
