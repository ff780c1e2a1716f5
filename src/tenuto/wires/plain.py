"""Whether the texts of a whole body say anything, as far as may be without decoding them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from tenuto.core.response import is_visible
from tenuto.wires.json import is_utf8, shows_text

_read_text = msgspec.json.Decoder(str).decode

_MOST_DIGITS = 4_300
"""More in a whole number are read neither by msgspec nor by `json`
(https://docs.python.org/3/library/stdtypes.html#int-max-str-digits)."""


def is_readable(data: bytes) -> bool:
    """Whether what a typed reading skips could be read too: it is UTF-8, and no whole number in it
    has more digits than Python takes. Of other numbers and of the grammar msgspec takes care.

    >>> is_readable(b'{"x": 1e999}'), is_readable(b'"\\xff"'), is_readable(b"9" * 5000)
    (True, False, False)
    """
    # Of so many digits some stand at a multiple of half their number, with as many behind them.
    if len(data) > _MOST_DIGITS:
        for at in range(0, len(data), _MOST_DIGITS // 2):
            if data[at : at + 64].isdigit():
                return False
    return data.isascii() or is_utf8(data)


def say_something(texts: Sequence[msgspec.Raw], body: bytes, ids: Collection[object] = ()) -> bool:
    """Whether anything of a body's texts can be read (E1), or it calls tools, each call by an id of
    its own.

    Args:
        texts: JSON strings as they came.
        body: all of it.
        ids: those of its calls.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: a text is none.

    >>> say_something([msgspec.Raw(b'"Hi"')], b"{}"), say_something([msgspec.Raw(b'" "')], b"{}")
    (True, False)
    >>> say_something([], b"{}", ["a", "b"]), say_something([], b"{}", ["a", "a"])
    (True, False)
    """
    if (len(body) > _MOST_DIGITS or not body.isascii()) and not is_readable(body):
        return False
    if ids:
        return len(set(ids)) == len(ids)
    # The first one alone: what stands behind it may be a part of its thinking.
    if texts and shows_text(texts[0]):
        return True
    return is_visible("".join(map(_read_text, texts)))
