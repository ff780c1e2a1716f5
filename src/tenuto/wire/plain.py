"""Whether the texts of a whole body say anything, as far as may be without decoding them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tenuto.core.response import is_visible
from tenuto.wire.json import is_utf8, shows_text

_read_text = msgspec.json.Decoder(str).decode


def say_something(texts: Sequence[msgspec.Raw], body: bytes) -> bool:
    """Whether anything of a body's texts can be read (E1); each is a JSON string as it came.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: a text is none.

    >>> say_something([msgspec.Raw(b'"Hi"')], b"{}"), say_something([msgspec.Raw(b'" "')], b"{}")
    (True, False)
    """
    # The first one alone: what stands behind it may be a part of its thinking.
    if not (body.isascii() or is_utf8(body)):
        return False
    if texts and shows_text(texts[0]):
        return True
    return is_visible("".join(map(_read_text, texts)))
