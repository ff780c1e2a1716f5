"""Ollama: a call comes in one piece, and its arguments are an object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from support.events.framing import Call, Event

SHARED: Event = {"model": "m", "created_at": "2026-11-22T10:00:00Z"}


def line(text: str = "", *, done: bool = False, **beside: Any) -> Event:
    """A line of a stream; `beside`: further members of the message."""
    message = {"role": "assistant", "content": text, **beside}
    return {**SHARED, "message": message, "done": done}


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls."""
    pieces = [(call.name, piece) for call in calls for piece in call.pieces]
    made = [{"function": {"name": name, "arguments": piece}} for name, piece in pieces]
    told = [line(text), *(line(tool_calls=[call]) for call in made)]
    return [*told, line(done=True) | {"done_reason": stop or "stop"}]


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    made = [{"function": {"name": call.name, **call.given("arguments")}} for call in calls]
    beside: Event = {"tool_calls": made} if made else {}
    return line(text, done=True, **beside) | {"done_reason": stop or "stop"}
