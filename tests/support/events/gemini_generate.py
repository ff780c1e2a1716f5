"""Gemini's generateContent: a stream is a row of responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from support.events.framing import Call, Event

NAMED: Event = {"modelVersion": "m", "responseId": "g1"}
"""What stands at the end of each response."""


def response(
    parts: Sequence[Event],
    stop: Any = None,
    *,
    beside: Mapping[str, Any] | None = None,
    around: Mapping[str, Any] = NAMED,
) -> Event:
    """A response; `beside`: what stands beside the stop, `around`: behind the candidates."""
    content = ({"parts": list(parts)} if parts else {}) | {"role": "model"}
    candidate: Event = {"content": content, "index": 0}
    candidate |= {} if stop is None else {"finishReason": stop}
    return {"candidates": [candidate | dict(beside or {})], **around}


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls; a call comes in one piece."""
    parts: list[Event] = [{"text": text}] if text else []
    parts += [
        {"functionCall": {"name": call.name, "args": piece}}
        for call in calls
        for piece in call.pieces
    ]
    stops = [None] * (len(parts) - 1) + [stop or "STOP"]
    return [response([part], reason) for part, reason in zip(parts, stops, strict=bool(parts))]


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    parts: list[Event] = [{"text": text}] if text else []
    parts += [{"functionCall": {"name": call.name, **call.given("args")}} for call in calls]
    return response(parts, stop or "STOP")
