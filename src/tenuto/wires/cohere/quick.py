"""Cohere's Chat, read quickly: an event that only carries text, a body that is nothing else."""

from __future__ import annotations

from typing import Literal

import msgspec

from tenuto.core.signals import ReasoningDelta, TextDelta
from tenuto.wires.json import UNREADABLE
from tenuto.wires.plain import say_something


class _Content(msgspec.Struct):
    text: str | None = None
    thinking: str | None = None


class _Message(msgspec.Struct):
    content: _Content


class _Delta(msgspec.Struct):
    message: _Message
    error: None = None


class _Flowing(msgspec.Struct):
    """All keys that `parse_object` looks at. Whatever is more than text fails the decoding."""

    type: Literal["content-delta"]
    delta: _Delta
    message: None = None
    error: None = None


_read_flowing = msgspec.json.Decoder(_Flowing).decode


def read_flowing(data: bytes) -> TextDelta | ReasoningDelta | None:
    """The one signal of an event that carries text or thinking and nothing else, else None.

    >>> read_flowing(b'{"type":"content-delta","index":0,'
    ...              b'"delta":{"message":{"content":{"text":"Hi"}}}}')
    TextDelta(text='Hi')
    >>> read_flowing(b'{"type":"content-end","index":0}') is None
    True
    """
    try:
        content = _read_flowing(data).delta.message.content
    except UNREADABLE:
        return None
    if content.thinking:
        return ReasoningDelta(content.thinking)
    return None if content.text is None else TextDelta(content.text)


# --- the quick reading of a whole body that is nothing but text ---------------------------------


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
