"""The result of a tool as text for the model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import msgspec

from tenuto_agent import loop_hints

RESULT_LIMIT_CHARS: Final = 50_000
"""How many characters of one result the model sees: about 12,500 tokens."""

_CONTAINERS: Final = (list, tuple, dict, set, frozenset)
_HEAD_SHARE: Final = 0.7  # of a shortened text; the rest is its end (an error, a total)


def shown(value: object, limit_chars: int = RESULT_LIMIT_CHARS) -> str:
    """Return what a tool returned or raised, as text.

    A str is shown as it is, None as "", an exception as "Type: message" (T15), bytes as UTF-8, and
    everything else as JSON: containers, dataclasses, pydantic models, msgspec Structs, dates,
    enums.

    Args:
        value: what the tool returned, or the exception that it raised.
        limit_chars: if the text is longer, its middle is left out, and a note says how much. 0: no
            limit.

    >>> shown({"ok": True, "lines": (1, 2)})
    '{"ok":true,"lines":[1,2]}'
    >>> shown(FileNotFoundError("no notes.txt here"))
    'FileNotFoundError: no notes.txt here'
    >>> shown("a" * 50 + "b" * 50, limit_chars=20)
    'aaaaaaaaaaaaaa\\n[… 80 of 100 characters left out here …]\\nbbbbbb'
    """
    match value:
        case None:
            text = ""
        case str():
            text = str(value)
        case BaseException():
            text = _of_error(value)
        case bytes() | bytearray() | memoryview():
            text = bytes(value).decode("utf-8", "replace")
        case _:
            text = _of_value(value)
    return _bounded(_sendable(text), limit_chars)


def unread(value: object) -> str:
    """Return the type of a value that is a generator or another iterator, or that holds one in its
    containers: nothing iterates over it, and its text says nothing. "" for any other value.

    >>> unread(iter([1])), unread({"lines": [1, (line for line in "ab")]}), unread(["ab"])
    ('list_iterator', 'dict with a generator in it', '')
    """
    left, seen = [value], set[int]()
    while left:
        one = left.pop()
        if isinstance(one, Iterator | AsyncIterator):
            kind = type(one).__name__
            return kind if one is value else f"{type(value).__name__} with a {kind} in it"
        if isinstance(one, _CONTAINERS) and id(one) not in seen:  # a container may hold itself
            seen.add(id(one))
            left += [*one, *one.values()] if isinstance(one, dict) else one
    return ""


def _of_value(value: object) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    except (TypeError, ValueError, RecursionError):  # keys that are not strings, a cycle, …
        return message_of(value)


def _plain(value: Any) -> object:
    """Turn a value that msgspec can't encode into one that it can."""
    if hasattr(type(value), "model_dump"):  # a pydantic model, of any release
        return value.model_dump(mode="json")
    return message_of(value)


def _of_error(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):  # its own message only counts its exceptions
        return "; ".join(_of_error(each) for each in error.exceptions)
    name, message = type(error).__name__, message_of(error)
    return f"{name}: {message}" if message else name


def message_of(value: object) -> str:
    """Return `str` of a value or an exception, even if its `__str__` raises."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001  # a foreign __str__ may raise anything
        return f"<{type(value).__name__}, whose text cannot be had: {type(error).__name__}>"


def _sendable(text: str) -> str:
    """Replace lone surrogates (from file names that are not UTF-8), which no request can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _bounded(text: str, limit_chars: int) -> str:
    if not limit_chars or len(text) <= limit_chars:
        return text
    head = int(limit_chars * _HEAD_SHARE)
    tail = limit_chars - head
    middle = loop_hints.LEFT_OUT.format(left_out_chars=len(text) - limit_chars, chars=len(text))
    return text[:head] + middle + text[len(text) - tail :]


def quoted(value: object, limit_chars: int = 80) -> str:
    """Return a value as JSON on one line, short enough for the middle of a sentence.

    >>> quoted({"a": [None, "é"]}), quoted("x" * 100, limit_chars=10)
    ('{"a": [null, "é"]}', '"xxxxxxxx…')
    """
    text = _sendable(json.dumps(value, ensure_ascii=False, default=message_of))
    return text if len(text) <= limit_chars else text[: limit_chars - 1] + "…"
