"""What a file or a line is that holds no rows as its name says, and what helps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenuto.judging.stores import PACKED
from tenuto.wires.json import is_utf8

BOM: Final = b"\xef\xbb\xbf"
RECORD: Final = b"\x1e"
"""Stands before each text of a JSON text sequence: https://www.rfc-editor.org/rfc/rfc7464"""

HEAD_BYTES: Final = 512

_MARKS: Final = (
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet; unpack it, or save it as CSV"),
    (b"\xfd7zXZ\x00", "compressed by xz; unpack it, or compress it by gzip"),
    (b"\x04\x22\x4d\x18", "compressed by LZ4; unpack it, or compress it by gzip"),
    (b"\xff\x06\x00\x00sNaPpY", "compressed by Snappy; unpack it, or compress it by gzip"),
    (b"SQLite format 3\x00", "a database of SQLite; write its table as CSV or Parquet"),
    (b"ARROW1\x00\x00", "a file of Arrow; write it as Parquet"),
    (b"\xff\xff\xff\xff", "a stream of Arrow; write it as Parquet"),
    (b"Obj\x01", "a file of Avro; write it as Parquet"),
    (b"\x89HDF", "a file of HDF5; write it as Parquet"),
    (b"%PDF-", "a PDF"),
)
"""How files begin that are no text, and what they are."""

_BZIP2: Final = (b"BZh", b"1AY&SY")
_TAR: Final = (257, b"ustar")
_PAGES: Final = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<error")
_PAGE: Final = "it is HTML or XML, as an error page is"
_NO_TEXT: Final = "it is no text"


def other_form(path: str, head: bytes) -> str:
    """Return what a file is that holds no rows of text; "": it may hold some.

    Args:
        head: how it begins when it is unpacked, and as UTF-8.

    >>> other_form("a.json", b"<!DOCTYPE html>"), other_form("a.json", b'{"a": 1}')
    ('it is HTML or XML, as an error page is', '')
    """
    for mark, what in _MARKS:
        if head.startswith(mark):
            return f"it is {what}"
    if head.startswith(_BZIP2[0]) and head[4:10] == _BZIP2[1]:
        return "it is compressed by bzip2; unpack it, or compress it by gzip"
    if head[_TAR[0] :].startswith(_TAR[1]):
        return "it is a tar archive; unpack it"
    if head.removeprefix(BOM).lstrip().lower().startswith(_PAGES):
        return _PAGE
    if b"\0" not in head.partition(b"\n")[0] or head.lstrip().startswith(b"{"):
        return ""
    end = next((end for end in PACKED if path.lower().endswith(end)), "")
    names = {".gz": "gzip", ".zst": "zstd"}
    return f"{_NO_TEXT}, and ends in {end}, but is not {names[end]}" if end else _NO_TEXT


def why_unreadable(line: bytes) -> str:
    """Return why a line that is no JSON cannot be read.

    >>> why_unreadable(b'{"a": '), why_unreadable(b"Good morning.")
    ('its JSON breaks off or is damaged', 'it is no JSON')
    """
    begin = line[:HEAD_BYTES].lstrip()
    if b"\0" in begin:
        return _NO_TEXT
    if begin.startswith(b"<"):
        return "it is HTML or XML"
    if begin.startswith((b"{'", b"[{'")):
        return "it is a value of Python; write it by json.dumps"
    if begin.startswith((b"{", b"[")):
        return DAMAGED if is_utf8(line) else "it is not UTF-8"
    return "it is no JSON"


DAMAGED: Final = "its JSON breaks off or is damaged"


def no_names(cells: Sequence[str]) -> str:
    """Return why the first line of a table has no names of columns; "": it may have them.

    >>> no_names(["id", "completion"]), no_names(["17", "stop", "The moon is far."])
    ('', 'its first line must have the names of the columns, such as finish_reason and completion')
    """
    if cells and cells[0].lstrip().startswith(('{"', "{ ", "[{")):
        return "its lines are JSON; end its name in .jsonl"
    numbers = any(cell.isascii() and cell.isdecimal() for cell in cells)
    texts = any(" " in cell and cell.rstrip().endswith((".", "!", "?")) for cell in cells)
    if (numbers and texts) or any(len(cell) > _MOST_NAME_CHARS for cell in cells):
        return _NO_NAMES
    return ""


_NO_NAMES: Final = (
    "its first line must have the names of the columns, such as finish_reason and completion"
)
_MOST_NAME_CHARS: Final = 300
