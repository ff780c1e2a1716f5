"""Bytes in the shape of Anthropic's own (made up after `anthropic/types` of anthropic-sdk-python
2.12 and https://platform.claude.com/docs/en/build-with-claude/streaming, read 2026-11-23)."""

from __future__ import annotations

from typing import Any

from parts.recorded import CHUNKS, compact, words

_USAGE: dict[str, Any] = {
    "input_tokens": 46,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 1,
    "service_tier": "standard",
}
_MESSAGE: dict[str, Any] = {
    "model": "claude-sonnet-4-5-20250929",
    "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
    "type": "message",
    "role": "assistant",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": _USAGE,
}


def _delta(text: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def events(texts: list[str]) -> list[bytes]:
    """The events of a stream that says these texts."""
    return _written([*_said(texts), *_ended("end_turn", len(texts))])


def calls(texts: list[str], name: str, arguments: list[str]) -> list[bytes]:
    """The events of a stream that says these texts and calls a tool."""
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": each} for each in arguments]
    values = [
        *_said(texts),
        {"type": "content_block_start", "index": 1, "content_block": block},
        *({"type": "content_block_delta", "index": 1, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 1},
        *_ended("tool_use", len(texts) + len(arguments)),
    ]
    return _written(values)


def _said(texts: list[str]) -> list[dict[str, Any]]:
    block = {"type": "text", "text": ""}
    return [
        {"type": "message_start", "message": _MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
        *map(_delta, texts),
        {"type": "content_block_stop", "index": 0},
    ]


def _ended(stop: str, tokens: int) -> list[dict[str, Any]]:
    end = {"stop_reason": stop, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": tokens}},
        {"type": "message_stop"},
    ]


def _written(values: list[dict[str, Any]]) -> list[bytes]:
    return [b"event: %b\ndata: %b\n\n" % (v["type"].encode(), compact(v)) for v in values]


def body(text: str, name: str = "", given: dict[str, Any] | None = None) -> bytes:
    """A whole body that says this text and, where a tool is named, calls it."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if name:
        content.append({"type": "tool_use", "id": "toolu_1", "name": name, "input": given})
    stop = "tool_use" if name else "end_turn"
    usage = {**_USAGE, "output_tokens": 180}
    return compact({**_MESSAGE, "content": content, "stop_reason": stop, "usage": usage})


EVENTS = events(words())
EVENT_DATA = [event.partition(b"data: ")[2][:-2] for event in EVENTS]
SEEN = CHUNKS + 5
"""Events that the SDK hands on: it keeps the ping to itself."""

BODY = body("".join(words(180)).strip())
