"""Cohere, and its old API, where arguments are objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from support.events.framing import Call, Event
from support.events.openai_chat import function, function_of

USAGE = {"tokens": {"input_tokens": 1, "output_tokens": 5}}


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls."""

    def event(kind: str, **said: Any) -> Event:
        return {"type": kind, "index": 0, "delta": {"message": said}}

    told: list[Event] = [
        {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}}
    ]
    if text:
        told.append(event("content-start", content={"type": "text", "text": ""}))
        told.append(event("content-delta", content={"text": text}))
        told.append({"type": "content-end", "index": 0})
    for number, call in enumerate(calls):
        place = {"index": number}
        begun = function(call.name, "", call.id)
        told.append(event("tool-call-start", tool_calls=begun) | place)
        told += [
            event("tool-call-delta", tool_calls={"function": {"arguments": piece}}) | place
            for piece in call.pieces
        ]
        told.append({"type": "tool-call-end", **place})
    end = {"finish_reason": stop or _stop_of(calls), "usage": USAGE}
    return [*told, {"type": "message-end", "delta": end}]


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    said: Event = {"role": "assistant"}
    said |= {"tool_calls": [function_of(call) for call in calls]} if calls else {}
    said |= {"content": [{"type": "text", "text": text}]} if text else {}
    told: Event = {"id": "m1", "finish_reason": stop or _stop_of(calls)}
    return told | {"message": said, "usage": USAGE}


def _stop_of(calls: Sequence[Call]) -> str:
    return "TOOL_CALL" if calls else "COMPLETE"


def v1_events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """The same of the old API: a call comes whole, behind what says that it begins, where there is
    something to come."""

    def event(kind: str, **said: Any) -> Event:
        return {"is_finished": kind == "stream-end", "event_type": kind, **said}

    told = [event("stream-start", generation_id="g1")]
    if text:
        told.append(event("tool-calls-chunk", text=text))
    made = [{"name": call.name, "parameters": piece} for call in calls for piece in call.pieces]
    for number, call in enumerate(made):
        if call["parameters"] not in (None, ""):
            delta = {"index": number, "name": call["name"]}
            told.append(event("tool-calls-chunk", tool_call_delta=delta))
    told.append(event("tool-calls-generation", text=text, tool_calls=made))
    whole = {"text": text, "generation_id": "g1", "tool_calls": made, "meta": USAGE}
    return [*told, event("stream-end", response=whole, finish_reason=stop or "COMPLETE")]


def v1_body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    made = [{"name": call.name, **call.given("parameters")} for call in calls]
    told: Event = {"text": text, "generation_id": "g1", "tool_calls": made, "meta": USAGE}
    return told | {"finish_reason": stop or "COMPLETE"}
