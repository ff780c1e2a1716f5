"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from support.events.framing import Call, Event

USAGE: Event = {"input_tokens": 1, "output_tokens": 1}
Told = tuple[Event, list[Event]]
"""A block as it begins, and its deltas."""


def message(
    content: Sequence[Event] = (), stop: str | None = None, usage: Event = USAGE, **beside: Any
) -> Event:
    """A body, or what a stream begins with; `beside`: further members, or other ones."""
    told: Event = {"id": "m1", "type": "message", "role": "assistant", "model": "m"}
    told |= {"content": list(content), "stop_reason": stop, "stop_sequence": None}
    return told | {"usage": usage} | beside


def said(*pieces: str, kind: str = "text") -> Told:
    """A block of text, or of thinking, in these pieces."""
    return {"type": kind, kind: ""}, [{"type": f"{kind}_delta", kind: piece} for piece in pieces]


def called(call: Call) -> Told:
    """A block of a call."""
    head = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
    return head, [json_delta(piece) for piece in call.pieces]


def json_delta(piece: Any) -> Event:
    return {"type": "input_json_delta", "partial_json": piece}


def block(told: Told, index: int | None) -> list[Event]:
    """The events of a block; without an index they have none."""
    head, deltas = told
    place = {} if index is None else {"index": index}
    return [
        {"type": "content_block_start", **place, "content_block": head},
        *({"type": "content_block_delta", **place, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", **place},
    ]


def end(stop: str | None, usage: Event, **beside: Any) -> list[Event]:
    """The stop and the end; `beside`: what stands beside the stop."""
    delta = {"stop_reason": stop, "stop_sequence": None, **beside}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def stream(
    blocks: Iterable[Told], stop: str, *, head: Event | None = None, output_tokens: int = 5
) -> list[Event]:
    """A stream of these blocks; `head`: the message that it begins with."""
    inner = [event for number, told in enumerate(blocks) for event in block(told, number)]
    start = {"type": "message_start", "message": head or message()}
    return [start, *inner, *end(stop, {"output_tokens": output_tokens})]


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls."""
    blocks = [*([said(text)] if text else []), *map(called, calls)]
    return stream(blocks, stop or _stop_of(calls))


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    told: list[Event] = [{"type": "text", "text": text}] if text else []
    for call in calls:
        head = {"type": "tool_use", "id": call.id, "name": call.name}
        told.append(head | call.given("input"))
    return message(told, stop or _stop_of(calls), {"input_tokens": 1, "output_tokens": 5})


def _stop_of(calls: Sequence[Call]) -> str:
    return "tool_use" if calls else "end_turn"
