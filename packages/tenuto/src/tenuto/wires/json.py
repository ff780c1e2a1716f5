"""JSON as wires read and write it. The general functions are in `frames.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tenuto.frames.json import (
    UNREADABLE,
    as_utf8,
    decode_object,
    decode_strictly,
    encode,
    is_utf8,
    readable,
)

__all__ = [
    "UNREADABLE",
    "JsonObject",
    "arguments_of",
    "as_text",
    "as_utf8",
    "count",
    "count_of_decimal",
    "decode_object",
    "decode_strictly",
    "encode",
    "encode_event",
    "encode_named_event",
    "is_no_piece",
    "is_utf8",
    "readable",
    "shows_text",
]

JsonObject = dict[str, Any]
"""An object of JSON, decoded."""

shows_text: Callable[[bytes], re.Match[bytes] | None] = re.compile(
    rb'"(?:\s|\\[nrt])*[A-Za-z0-9]'
).match
"""Matches a JSON text that begins with something visible, so that it needs no decoding to find out.
If it doesn't match, the text may still be visible."""


def encode_event(value: object) -> bytes:
    """Encode a JSON value as one server-sent event.

    >>> encode_event({"a": 1})
    b'data: {"a":1}\\n\\n'
    """
    return b"data: " + encode(value) + b"\n\n"


def encode_named_event(value: dict[str, Any], member: str = "type") -> bytes:
    """Encode the same, with one of its members as the name of the event.

    >>> encode_named_event({"type": "ping"})
    b'event: ping\\ndata: {"type":"ping"}\\n\\n'
    """
    return b"event: %b\ndata: %b\n\n" % (str(value[member]).encode(), encode(value))


def as_text(value: object) -> str:
    """Return a value as text where a text was expected: compact JSON, or `<unreadable>` if that
    fails. Numbers that JSON can't hold keep their names, so that no strict reader misreads them.

    >>> as_text({"é": 1.0}), as_text(float("nan"))
    ('{"é":1.0}', 'NaN')
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "<unreadable>"


def arguments_of(raw: object) -> tuple[str | None, tuple[str, ...]]:
    """Return argument text, and what was odd about it. If a gateway sends an object instead of text
    (Q7), it is written out, and so is any other value: only a missing value may mean that there are
    no arguments (T1).

    >>> arguments_of('{"a":'), arguments_of({"a": 1})
    (('{"a":', ()), ('{"a":1}', ('arguments_object',)))
    """
    if raw is None or isinstance(raw, str):
        return raw, ()
    return as_text(raw), ("arguments_object",)


def is_no_piece(value: object) -> bool:
    """Return whether a piece of arguments is neither text nor an object. Some gateways send such
    pieces, and their meaning is unknown.

    >>> is_no_piece('{"a":'), is_no_piece({"a": 1}), is_no_piece(5), is_no_piece(None)
    (False, False, True, True)
    """
    return not isinstance(value, str | dict)


def count(value: object) -> int | None:
    """Return a number of tokens; None: the value is none.

    >>> count(3), count(True), count(-1), count("3")
    (3, None, None, None)
    """
    return value if type(value) is int and value >= 0 else None


def count_of_decimal(value: object) -> int | None:
    """Return the same for a number that may have a decimal point.

    >>> count_of_decimal(9.0), count_of_decimal(-1), count_of_decimal("9")
    (9, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1e12 else None
