"""Check whether the texts of a whole body say anything, mostly without decoding them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from tenuto.core.answer.response import is_visible
from tenuto.wires.json import is_utf8, shows_text

_read_text = msgspec.json.Decoder(str).decode

_MOST_DIGITS = 4_300
"""Neither msgspec nor `json` reads whole numbers with more digits
(https://docs.python.org/3/library/stdtypes.html#int-max-str-digits)."""


def is_readable(data: bytes) -> bool:
    """Return whether the parts that a typed reading skips can be read too: they are UTF-8, and no
    whole number has more digits than Python accepts. msgspec checks other numbers and the grammar.

    >>> is_readable(b'{"x": 1e999}'), is_readable(b'"\\xff"'), is_readable(b"9" * 5000)
    (True, False, False)
    """
    # In a run that long, some digit stands at a multiple of half the limit, followed by as many.
    if len(data) > _MOST_DIGITS:
        for at in range(0, len(data), _MOST_DIGITS // 2):
            if data[at : at + 64].isdigit():
                return False
    return data.isascii() or is_utf8(data)


def say_something(texts: Sequence[msgspec.Raw], body: bytes, ids: Collection[object] = ()) -> bool:
    """Return whether any of a body's texts is visible (E1), or it calls tools, each with an id of
    its own.

    Args:
        texts: JSON strings as received.
        body: the whole body.
        ids: the ids of its calls.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: a text can't be decoded.

    >>> say_something([msgspec.Raw(b'"Hi"')], b"{}"), say_something([msgspec.Raw(b'" "')], b"{}")
    (True, False)
    >>> say_something([], b"{}", ["a", "b"]), say_something([], b"{}", ["a", "a"])
    (True, False)
    """
    if (len(body) > _MOST_DIGITS or not body.isascii()) and not is_readable(body):
        return False
    if ids:
        return len(set(ids)) == len(ids)
    # Only the first: a later one may be part of the model's thinking.
    if texts and shows_text(texts[0]):
        return True
    return is_visible("".join(map(_read_text, texts)))
