"""OpenAI Chat, and what Mistral writes otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from support.events.framing import Call, Event

SHARED: Event = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
"""What stands in every chunk."""
GOES_ON: Event = {"finish_reason": None}


def usage_of(input_tokens: int, output_tokens: int) -> Event:
    total = input_tokens + output_tokens
    counts = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}
    return counts | {"total_tokens": total}


def function(name: str, arguments: Any, id_: str | None, kind: str | None = "function") -> Event:
    """A call as a body has it; a name or kind that is None is left out."""
    named = {key: value for key, value in {"id": id_, "type": kind}.items() if value is not None}
    return named | {"function": {"name": name, "arguments": arguments}}


def call_deltas(head: Event, pieces: Iterable[Any], index: int | None = 0) -> list[Event]:
    """What begins a call, and its arguments piece by piece."""
    place = {} if index is None else {"index": index}
    tails = [{"function": {"arguments": piece}} for piece in pieces]
    return [{"tool_calls": [place | said]} for said in (head, *tails)]


def chunk(delta: Event, shared: Event = SHARED, beside: Mapping[str, Any] = GOES_ON) -> Event:
    """A delta; `beside`: what stands beside it."""
    return {**shared, "choices": [{"index": 0, "delta": delta, **beside}]}


def chunks(
    deltas: Iterable[Event],
    stop: str | None,
    *,
    shared: Event = SHARED,
    beside: Mapping[str, Any] = GOES_ON,
    usage: Event | None = None,
) -> list[Event]:
    """A chunk for each delta, one with the stop, and one with the usage: an empty one is left out of
    it, and with None there is no such chunk."""
    told = [chunk(delta, shared, beside) for delta in deltas]
    told.append(chunk({}, shared, {"finish_reason": stop}))
    if usage is not None:
        told.append({**shared, "choices": [], **({"usage": usage} if usage else {})})
    return told


def events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """A stream of a text and calls."""
    deltas: list[Event] = [{"role": "assistant", "content": text}]
    for number, call in enumerate(calls):
        deltas += call_deltas(function(call.name, "", call.id), call.pieces, number)
    return chunks(deltas, stop or _stop_of(calls))


def message(text: str, calls: Sequence[Event] = (), **beside: Any) -> Event:
    """What a body says; `beside`: further members, of which empty ones are left out."""
    said = {key: value for key, value in beside.items() if value}
    content: Event = {"role": "assistant", "content": text or None}
    return content | said | ({"tool_calls": list(calls)} if calls else {})


def whole(
    said: Event, stop: str | None, *, shared: Event = SHARED, usage: Event | None = None
) -> Event:
    """A body with one message."""
    choice = {"index": 0, "message": said, "finish_reason": stop}
    told = {**shared, "object": "chat.completion", "choices": [choice]}
    return told if usage is None else {**told, "usage": usage}


def body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    """A body with a text and calls."""
    functions = [function_of(call) for call in calls]
    return whole(message(text, functions), stop or _stop_of(calls), usage=usage_of(1, 5))


def function_of(call: Call) -> Event:
    """A call as a body has it, perhaps without arguments."""
    said = {"name": call.name, **call.given("arguments")}
    return {"id": call.id, "type": "function", "function": said}


def _stop_of(calls: Sequence[Call]) -> str:
    return "tool_calls" if calls else "stop"


def mistral_events(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> list[Event]:
    """The same of Mistral: a call comes in one piece, beside the stop."""
    functions = [
        function(call.name, piece, call.id) | {"index": number}
        for number, call in enumerate(calls)
        for piece in call.pieces
    ]
    end = chunk({"tool_calls": functions}, beside={"finish_reason": stop or _stop_of(calls)})
    return [chunk({"role": "assistant", "content": text}), end | {"usage": usage_of(1, 5)}]


def mistral_body(text: str, calls: Sequence[Call] = (), stop: str | None = None) -> Event:
    return body(text, calls, stop) | {"id": "08f3" * 8, "model": "mistral-small-latest"}
