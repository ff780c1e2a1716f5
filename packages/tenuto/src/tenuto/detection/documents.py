"""Several JSON documents in a row, and how a document, a line or a stream begins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice

import msgspec

from tenuto.wires.json import JsonObject, decode_object

SPACE_AND_BOM = b" \t\r\n\xef\xbb\xbf"
AWS_LENGTHS = (b"\0", b"\1")
"""A message of an AWS event stream begins with its length in four bytes, at most 24 MiB."""

SHOWS_BYTES = 2_000
"""How much of the beginning shows what bytes are that broke off, or whether an answer stands amid a
text."""

begins_events: Callable[[bytes], re.Match[bytes] | None] = re.compile(
    rb"\A\s*(?::|data:\s*(?:[\[{]|\Z)|event:\s*[\w.:-]*\s*(?:\n|\Z)|(?:id|retry):.*\n(?:data|event):)"
).match
"""Matches the beginning of a stream that may be one of an answer."""


begins_object: Callable[[bytes], re.Match[bytes] | None] = re.compile(rb"\s*\{").match
"""Matches a block between events that begins as an object does: no field of an event does."""

_HEADINGS = (b"#", b"//", b"--", b"HTTP/")


def may_be_heading(begin: bytes) -> bool:
    """Return whether bytes begin as a line of a comment or the head of an HTTP response does, as
    far as they have come.

    >>> may_be_heading(b"HT"), may_be_heading(b"# exported"), may_be_heading(b"data: ")
    (True, True, False)
    """
    return any(begin.startswith(mark) or mark.startswith(begin) for mark in _HEADINGS)


_heading = re.compile(rb"\s*(?:HTTP/[\s\S]*?\n\r?\n|(?:(?:#|//|--)[^\n]*\n\s*)+)").match


def below_heading(body: bytes) -> bytes:
    """Return what stands below lines of comments, or below the head of an HTTP response; b"" if
    there are neither.

    >>> below_heading(b"# exported\\n{}\\n"), below_heading(b"HTTP/1.1 200 OK\\r\\n\\r\\n{}")
    (b'{}\\n', b'{}')
    """
    found = _heading(body)
    return body[found.end() :] if found else b""


def first_object(data: bytes) -> JsonObject | None:
    """Return the object by which bytes begin, whatever is behind it; None: there is none.

    >>> first_object(b'{"a": 1}\\n{"b": 2}'), first_object(b'{"a": 1')
    ({'a': 1}, None)
    """
    try:
        value, _ = json.JSONDecoder().raw_decode(data.decode().lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def objects_amid(data: bytes) -> list[object]:
    """Return the objects in a text that is something else, such as a page or a log: the first one
    begins within its first `SHOWS_BYTES`. One that broke off is returned as bytes.

    >>> objects_amid(b'Here it is: {"a": 1}.'), objects_amid(b'saved {"a"'), objects_amid(b"f{x}")
    ([{'a': 1}], [b'{"a"'], [])
    """
    if b"\0" in data[:SHOWS_BYTES]:  # no text
        return []
    text = data.lstrip(SPACE_AND_BOM).decode("utf-8", "replace")
    found: list[object] = []
    decoder, at, left = json.JSONDecoder(), text.find("{", 0, SHOWS_BYTES), _MOST_AMID
    while at >= 0 and left:
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            break
        except ValueError:
            rest = text[at:].encode()
            if is_cut(rest):
                return [*found, rest]
            left, end = left - 1, at + 1
        else:
            found.append(value)
        at = text.find("{", end, None if found else SHOWS_BYTES)
    return found


_MOST_AMID = 50
"""So many braces that begin no object are looked at: each may cost a look at the whole text."""


def items_of_open_array(body: bytes) -> list[object]:
    """Return the values of an array that lacks nothing but its end; [] if more is missing.

    >>> items_of_open_array(b'[{"a": 1},\\n{"b": 2}'), items_of_open_array(b'[{"a": 1},')
    ([{'a': 1}, {'b': 2}], [])
    """
    value = decode_object(body.strip(SPACE_AND_BOM) + b"]")
    return value if isinstance(value, list) else []


is_end_mark: Callable[[bytes], re.Match[bytes] | None] = re.compile(
    rb"\s*data:\s*\[DONE\]\s*"
).fullmatch
"""Matches the end of a stream of events that some servers put behind a whole body, too."""


def documents(body: bytes) -> list[object]:
    """Return the values of several JSON documents in a row, such as those of joined files or lines,
    or of one with something behind it. What cannot be read before, between or behind them is
    returned as bytes. [] if the bytes are anything else."""
    values: list[object] = []
    decoder, at, unreadable = json.JSONDecoder(), 0, 0
    try:
        text = body.decode()
        while at < len(text):
            try:
                value, end = decoder.raw_decode(text, at)
                if not isinstance(value, dict | list) and _goes_on(text, end):
                    raise ValueError("a line of words that begins as a number does")
            except ValueError:
                if unreadable == _MOST_UNREADABLE:
                    return []
                unreadable += 1
                end = _next_document(text, at)
                value = text[at:end].strip().encode()
            values.append(value)
            at = _behind_separators(text, end)
    except (ValueError, RecursionError):
        return []
    readable = sum(isinstance(value, dict | list) for value in values)
    first = values[0] if values else b""
    shows = not isinstance(first, bytes) or _may_be_answer(first)
    return values if readable > 1 or (readable and shows) else []


_MOST_UNREADABLE = 1_000
"""So many pieces of a body are looked at that cannot be read: each may cost a look at all bytes."""

_goes_on = re.compile(r"[ \t]*[^\s{,;][^\n{]*(?:\n|\Z)").match
"""Matches the rest of a line of words, such as a log's."""

_begins_line = re.compile(r"\n(?=\{)").finditer


def _next_document(text: str, at: int) -> int:
    """Return where the next object that can be read begins, at the beginning of a line; the end if
    there is none."""
    for found in islice(_begins_line(text, at), _MOST_UNREADABLE):
        end = text.find("\n", found.end())
        line = text[found.end() : end if end > 0 else len(text)]
        if _is_object(text, found.end(), line):
            return found.end()
    return len(text)


def _is_object(text: str, begin: int, line: str) -> bool:
    """Return whether an object that can be read begins here, on one line or printed on several."""
    if line.strip() != "{":
        return isinstance(decode_object(line.encode()), dict)
    try:
        json.JSONDecoder().raw_decode(text, begin)
    except ValueError:
        return False
    return True


def may_be_source(data: bytes) -> bool:
    """Return whether an item behind a whole answer may begin another one, or is a line end."""
    begin = data.lstrip(SPACE_AND_BOM)
    if not begin:
        return bool(data)
    return begin[:1] in (b"{", b"[", *AWS_LENGTHS) or begins_events(data) is not None


def _may_be_answer(data: bytes) -> bool:
    return data.startswith(b"{") or begins_events(data) is not None


_separators = re.compile(r"[\s,;]*")
"""Between documents, people and programs write commas and semicolons, too."""


def _behind_separators(text: str, at: int) -> int:
    found = _separators.match(text, at)
    return found.end() if found else at


def is_cut(body: bytes) -> bool:
    """Return whether bytes are the beginning of a JSON object or of an array of objects.

    >>> is_cut(b'{"a": [1'), is_cut(b"{'a': 1}"), is_cut(b"[INFO] ready"), is_cut(b'[{"a"')
    (True, False, False, True)
    """
    if not body.lstrip(SPACE_AND_BOM + b"[").startswith(b"{"):
        return False
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError) as error:
        return "truncated" in str(error)
    except RecursionError:
        return False
    return False
