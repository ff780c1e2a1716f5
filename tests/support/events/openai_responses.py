"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from support.events.framing import Call, Event

TOLD: Event = {"id": "r1", "object": "response", "created_at": 1, "model": "m"}


def numbered(events: Sequence[Event]) -> list[Event]:
    """Events with the numbers that this wire gives them."""
    return [
        {"type": event["type"], "sequence_number": number, **event}
        for number, event in enumerate(events)
    ]


def event(kind: str, **more: Any) -> Event:
    return {"type": f"response.{kind}", **more}


def said(index: int, *pieces: str) -> tuple[list[Event], Event]:
    """The events of a text in these pieces, and the item that it ends as."""
    text = "".join(pieces)
    part = {"type": "output_text", "text": text, "annotations": []}
    item: Event = {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}
    at: Event = {"output_index": index, "item_id": "msg_1", "content_index": 0}
    done = {**item, "status": "completed"}
    told = [
        event("output_item.added", output_index=index, item={**item, "content": []}),
        event("content_part.added", **at, part={**part, "text": ""}),
        *(event("output_text.delta", **at, delta=piece) for piece in pieces),
        event("output_text.done", **at, text=text),
        event("content_part.done", **at, part=part),
        event("output_item.done", output_index=index, item=done),
    ]
    return told, done


def called(index: int, call: Call) -> tuple[list[Event], Event]:
    """The events of a call, and the item that it ends as."""
    item = {"id": "fc_1", "type": "function_call", "call_id": call.id, "name": call.name}
    at = {"output_index": index, "item_id": "fc_1"}
    arguments = "".join(piece for piece in call.pieces if isinstance(piece, str))
    done = {**item, "arguments": arguments, "status": "completed"}
    told = [
        event("output_item.added", output_index=index, item={**item, "arguments": ""}),
        *(event("function_call_arguments.delta", **at, delta=piece) for piece in call.pieces),
        event("output_item.done", output_index=index, item=done),
    ]
    return told, done


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls."""
    made = [said(0, text)] if text else []
    made += [called(index, call) for index, call in enumerate(calls, len(made))]
    begun = {**TOLD, "output": [], "status": "in_progress"}
    status = stop or "completed"
    last = {**TOLD, "output": [item for _, item in made], "status": status}
    inner = [one for told, _ in made for one in told]
    return numbered([event("created", response=begun), *inner, event(status, response=last)])


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    part = {"type": "output_text", "text": text, "annotations": []}
    item: Event = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    output: list[Event] = [item | {"content": [part]}] if text else []
    for call in calls:
        head = {"id": "fc_1", "type": "function_call", "call_id": call.id, "name": call.name}
        output.append(head | {"status": "completed"} | call.given("arguments"))
    return {**TOLD, "status": stop or "completed", "output": output}
