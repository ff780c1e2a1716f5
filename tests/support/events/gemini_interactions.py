"""Gemini's Interactions."""

from __future__ import annotations

from collections.abc import Sequence

from support.events.framing import Call, Event

TOLD: Event = {"id": "v1_1", "object": "interaction", "model": "m"}


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls."""
    steps: list[tuple[Event, list[Event]]] = []
    if text:
        steps.append(({"type": "model_output"}, [{"type": "text", "text": text}]))
    for call in calls:
        head = {"type": "function_call", "id": call.id, "name": call.name, "arguments": {}}
        given = [{"type": "arguments_delta", "arguments": piece} for piece in call.pieces]
        steps.append((head, given))
    begun = TOLD | {"status": "in_progress"}
    told: list[Event] = [{"interaction": begun, "event_type": "interaction.created"}]
    for index, (step, deltas) in enumerate(steps):
        told.append({"index": index, "step": step, "event_type": "step.start"})
        told += [{"index": index, "delta": d, "event_type": "step.delta"} for d in deltas]
        told.append({"index": index, "event_type": "step.stop"})
    last = TOLD | {"status": stop or _stop_of(calls)}
    return [*told, {"interaction": last, "event_type": "interaction.completed"}]


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    part = {"type": "text", "text": text}
    steps: list[Event] = [{"type": "model_output", "content": [part]}] if text else []
    for call in calls:
        head = {"type": "function_call", "id": call.id, "name": call.name}
        steps.append(head | call.given("arguments"))
    return {**TOLD, "status": stop or _stop_of(calls), "steps": steps}


def _stop_of(calls: Sequence[Call]) -> str:
    return "requires_action" if calls else "completed"
