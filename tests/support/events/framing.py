"""A call from plain arguments, and events as the bytes that a provider sends."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from support.aws_messages import chunk, message

Event = dict[str, Any]
NAME, ID = "write_file", "call_1"


class Call(NamedTuple):
    """A call. A stream has a piece of its arguments after the other, a body the only one; without
    any they are absent."""

    pieces: tuple[Any, ...]
    name: str = NAME
    id: str = ID

    def given(self, key: str) -> Event:
        """The arguments as a member of a body."""
        return {key: self.pieces[0]} if self.pieces else {}


def sse(events: Iterable[Event], *, done: bool = False, end: str = "\n\n") -> list[bytes]:
    """Server-sent events, each under the name of its type, where it has one; `done`: then the end
    mark of OpenAI."""
    said = [(event.get("type"), json.dumps(event, ensure_ascii=False)) for event in events]
    if done:
        said.append((None, "[DONE]"))
    return [
        (f"event: {kind}\n" * isinstance(kind, str) + f"data: {value}{end}").encode()
        for kind, value in said
    ]


def lines(events: Iterable[Event]) -> list[bytes]:
    """JSON, an event a line."""
    return [json.dumps(event).encode() + b"\n" for event in events]


def messages(events: Iterable[Event]) -> list[bytes]:
    """Messages of Amazon, each named as the event's one member."""
    kinds = {"content_type": "application/json", "message_type": "event"}
    return [
        message(json.dumps(payload, ensure_ascii=False).encode(), event_type=name, **kinds)
        for event in events
        for name, payload in event.items()
    ]


def chunks(events: Iterable[Event]) -> list[bytes]:
    """Messages of Amazon, each with an event of the model's own."""
    return [chunk(json.dumps(event, ensure_ascii=False).encode()) for event in events]
