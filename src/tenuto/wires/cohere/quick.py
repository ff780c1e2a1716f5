"""Cohere's Chat, read quickly: a whole body that is nothing but text."""

from __future__ import annotations

from typing import Literal

import msgspec

from tenuto.wires.json import UNREADABLE
from tenuto.wires.plain import say_something


class _TextPart(msgspec.Struct, tag_field="type", tag="text"):
    text: msgspec.Raw  # not decoded: bodies may be large


class _Answer(msgspec.Struct):
    content: list[_TextPart]
    tool_calls: tuple[()] | None = None
    tool_plan: None = None


class _Whole(msgspec.Struct):
    message: _Answer
    finish_reason: Literal["COMPLETE", "STOP_SEQUENCE"]
    error: None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def is_plain(body: bytes) -> bool:
    """Whether a body is an answer of text that ended by itself.

    >>> is_plain(b'{"message":{"content":[{"type":"text","text":"Hi"}]},'
    ...          b'"finish_reason":"COMPLETE"}')
    True
    """
    try:
        return say_something([part.text for part in _read_whole(body).message.content], body)
    except UNREADABLE:
        return False
