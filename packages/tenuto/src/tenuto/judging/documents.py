"""Rows of JSON documents: those within one, several behind each other, and the items of an array
before the place where it breaks off."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from tenuto.core.deciding.outcome import Outcome
from tenuto.judging.answers import shape_of
from tenuto.judging.forms import DAMAGED
from tenuto.judging.judgement import judge
from tenuto.judging.kinds import WITH_STOP, WITHOUT_STOP
from tenuto.wires.json import decode_object

MOST_DOCUMENT_BYTES: Final = 67_108_864
"""A larger one of several documents is not read."""

TOO_LONG: Final = "it is too long: more than 64 MB in a line, or 256 MB in a document"

BLANK: Final = object()
"""The last line of a range, if it is blank: the lines of the next range are counted from it."""


class Line(msgspec.Struct, gc=False):
    """A row of a file. `number`: that of its line, counted from 1 in its range, or of an item of a
    document or a row of a table. `data`: its bytes, or an item as it was decoded; None: it cannot
    be read, for the reason `why`."""

    number: int
    data: object
    why: str = ""


_ROWS: Final = (
    ("samples", frozenset({"eval", "samples"}), False),  # inspect_ai's log in one document
    ("results", frozenset({"version", "stage", "batch", "results"}), True),  # ellmer
    ("rows", frozenset({"rows"}), False),
)
"""Where documents of tools keep their rows, the members by which they are told, and whether a row
is only told within its document."""


def rows_within(value: object) -> list[object]:
    """Return the rows of a document that holds several; []: it is a row itself.

    >>> rows_within({"version": 2, "eval": {}, "samples": [{"id": 1}, {"id": 2}]})
    [{'id': 1}, {'id': 2}]
    """
    if not isinstance(value, dict):
        return []
    for name, has, stays_within in _ROWS:
        rows = value.get(name)
        if has <= value.keys() and isinstance(rows, list):
            return [{**value, name: [row]} for row in rows] if stays_within else rows
    return _answers_within(value)


_LISTS: Final = (
    "results", "data", "responses", "samples", "items", "records", "answers", "completions",
    "examples", "predictions",
)  # fmt: skip
"""Where documents of somebody's own keep their rows."""

_LEAST_ROWS: Final = 2
_TRIED: Final = 3


def _answers_within(value: dict[str, object], deep: int = 0) -> list[object]:
    """Return the answers in the list of a document, or under the names of one, if each is read by
    itself and the document is none; []: there are no such."""
    if any(kind.fits(value) for kind in (*WITH_STOP, *WITHOUT_STOP)) or shape_of(value) is not None:
        return []
    for name in _LISTS:
        held = value.get(name)
        if isinstance(held, dict) and not deep and (rows := _answers_within(held, 1)):
            return rows
        listed = list(held.values()) if isinstance(held, dict) else held
        if isinstance(listed, list) and _are_answers(listed):
            return listed
    named = list(value.values())
    return named if _are_answers(named) else []


def _are_answers(rows: list[object]) -> bool:
    if len(rows) < _LEAST_ROWS or not all(isinstance(row, dict) for row in rows):
        return False
    return all(judge(row).outcome is not Outcome.NO_ANSWER for row in rows[:_TRIED])


def documents_in(lines: Iterable[bytes]) -> Iterator[Line]:
    """Return the documents that stand one behind another, each over several lines, of which the
    first is a brace alone. One that is damaged ends where the next one begins.

    >>> [row.data for row in documents_in([b"{\\n", b' "a": 1\\n', b"}\\n", b"{\\n", b"}"])]
    [{'a': 1}, {}]
    """
    held: list[bytes] = []
    begin = size = 0
    for number, line in enumerate(lines, 1):
        bare = line.rstrip()
        if held and bare == b"{":
            yield _document(begin, held, size)
            held = []
        if not held:
            if not bare:
                continue
            begin, size = number, 0
        size += len(line)
        if size <= MOST_DOCUMENT_BYTES:
            held.append(line)
        if bare in (b"}", b"},") or (number == begin and decode_object(bare) is not None):
            yield _document(begin, held, size)
            held = []
    if held:
        yield _document(begin, held, size)


def _document(begin: int, held: list[bytes], size: int) -> Line:
    if size > MOST_DOCUMENT_BYTES:
        return Line(begin, None, TOO_LONG)
    value = decode_object(b"".join(held).strip().removesuffix(b","))
    return Line(begin, value, "" if value is not None else DAMAGED)


def is_array(data: bytes) -> bool:
    """Return whether bytes begin an array that cannot be read, and hold no lines of arrays."""
    first, _, rest = data.lstrip().partition(b"\n")
    second = rest.partition(b"\n")[0]
    return (
        first.startswith(b"[")
        and decode_object(first) is None
        and not isinstance(decode_object(second), list)
    )


def items_of(data: bytes) -> Iterator[Line]:
    """Return the items of an array that breaks off, and then say so.

    >>> [(row.number, row.data) for row in items_of(b'[{"a": 1}, {"b": ')]
    [(1, {'a': 1}), (2, None)]
    """
    text = data.decode("utf-8", "replace").lstrip()
    decoder, at, number = json.JSONDecoder(), 1, 0
    while True:
        at = next((n for n in range(at, len(text)) if text[n] not in _BETWEEN), len(text))
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        number += 1
        yield Line(number, value)
    behind = f"the array breaks off or is damaged behind item {number:,}"
    yield Line(number + 1, None, behind if number else DAMAGED)


_BETWEEN: Final = " \t\r\n,"
