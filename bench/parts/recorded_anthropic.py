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
    block = {"type": "text", "text": ""}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    values = [
        {"type": "message_start", "message": _MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
        *map(_delta, texts),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": len(texts)}},
        {"type": "message_stop"},
    ]
    return [b"event: %b\ndata: %b\n\n" % (v["type"].encode(), compact(v)) for v in values]


def body(text: str) -> bytes:
    """A whole body that says this text."""
    content = [{"type": "text", "text": text}]
    usage = {**_USAGE, "output_tokens": 180}
    return compact({**_MESSAGE, "content": content, "stop_reason": "end_turn", "usage": usage})


EVENTS = events(words())
EVENT_DATA = [event.partition(b"data: ")[2][:-2] for event in EVENTS]
SEEN = CHUNKS + 5
"""Events that the SDK hands on: it keeps the ping to itself."""

BODY = body("".join(words(180)).strip())
