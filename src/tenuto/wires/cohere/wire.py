"""Cohere's Chat of version 2.

https://docs.cohere.com/reference/chat (read through cohere-python 7.3, 2026-11-22:
`cohere/v2/types/v2chat_response.py`, `v2chat_stream_response.py`). From top to bottom: the stop
table, reading, and the faces of an ending. The error table stands in `cohere_errors`, the request's
side in `cohere_request`, the writing side in `cohere_render`, quick readings in `cohere_quick`.
Version 1 is a wire of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from tenuto.core.outcome import Outcome
from tenuto.core.signals import (
    Began,
    CallDelta,
    Closed,
    FaultSeen,
    OtherSeen,
    ReasoningDelta,
    Signal,
    TextDelta,
    UsageSeen,
)
from tenuto.core.stop import StopReason
from tenuto.wires.base import JsonObject, Shown, Wire, shown_alike
from tenuto.wires.cohere import render
from tenuto.wires.cohere.errors import ERRORS, read_fault
from tenuto.wires.cohere.form import FORM
from tenuto.wires.cohere.quick import is_plain, read_flowing
from tenuto.wires.cohere.request import parse_request
from tenuto.wires.cohere.usage import read_usage, usage_object
from tenuto.wires.errors import fault_parser
from tenuto.wires.json import as_text, is_no_piece
from tenuto.wires.members import object_in
from tenuto.wires.stops import StopTable, in_other_words, look_up

_R = StopReason

STOPS: StopTable = {
    # The model finished sending a complete message.
    "complete": (_R.END_TURN, None),
    # One of the request's stop_sequences was reached.
    "stop_sequence": (_R.STOP_SEQUENCE, None),
    # The number of generated tokens exceeded the model's context length or max_tokens.
    "max_tokens": (_R.MAX_TOKENS, None),
    # The model generated a tool call and expects a tool message in return.
    "tool_call": (_R.TOOL_CALL, None),
    # The generation failed due to an internal error.
    "error": (_R.ERROR, None),
    # The generation was stopped because it exceeded the allowed time limit.
    "timeout": (_R.ERROR, "time_limit"),
    # Version 1: the reply was deemed toxic; the context is full; the caller went away.
    "error_toxic": (_R.SAFETY_BLOCKED, None),
    "error_limit": (_R.CONTEXT_WINDOW_EXCEEDED, None),
    "user_cancel": (_R.CANCELLED, None),
}
"""Cohere's own values, in the order of the reference, those of version 1 last."""

DIALECT_STOPS = in_other_words(STOPS)
"""Values of those who speak this wire in other words (N2)."""

_ALL_STOPS = {**DIALECT_STOPS, **STOPS}

# --- reading ----------------------------------------------------------------------------------


def parse_object(value: object, *, event: bool) -> list[Signal]:
    """The signals of a body, or of one event; an object of another shape has none."""
    if not isinstance(value, dict):
        return []
    signals = _parse_event(value) if event else _parse_body(value)
    error = _error_of(value)
    return signals if error is None else [*signals, FaultSeen(read_fault(error))]


def _parse_body(body: JsonObject) -> list[Signal]:
    message = object_in(body.get("message"))
    signals: list[Signal] = []
    content, plan = message.get("content"), message.get("tool_plan")
    if isinstance(plan, str) and plan:
        signals.append(ReasoningDelta(plan))
    if isinstance(content, str):  # as rows of a history may say it
        content = [{"type": "text", "text": content}]
    for part in content if isinstance(content, list) else []:
        signals.extend(_part(part))
    calls = message.get("tool_calls")
    for number, call in enumerate(calls if isinstance(calls, list) else []):
        if call is not None:
            signals.append(_call(call, number, event=False))
    if calls and not isinstance(calls, list):
        signals.append(_call(calls, 0, event=False))
    return [*signals, *_end_of(body, "finish_reason", usage_object(body))]


def _end_of(place: object, field: str, usage: object) -> list[Signal]:
    """The stop that stands in a place, and the usage beside it."""
    raw = object_in(place).get("finish_reason")
    stop = look_up(raw, field, _ALL_STOPS)
    used = [UsageSeen(read_usage(usage))] if isinstance(usage, dict) and usage else []
    return [*used] if stop is None else [stop, *used]


def _part(part: object) -> list[Signal]:
    """A part of the content: of a body, or as it starts in a stream."""
    match object_in(part).get("type"):
        case "text":
            return _text(part)
        case "thinking":
            return _text(part) or [ReasoningDelta("")]
        case str():
            return [OtherSeen()]
    return []


def _text(part: object) -> list[Signal]:
    """The text or the thinking that a part of the content holds."""
    inner = object_in(part)
    if isinstance(thinking := inner.get("thinking"), str) and thinking:
        return [ReasoningDelta(thinking)]
    return [TextDelta(text)] if isinstance(text := inner.get("text"), str) else []


_CALL_KEYS = frozenset({"id", "type", "function", "index"})


def _call(call: object, index: int | None, *, event: bool) -> CallDelta:
    """A call, or a piece of one; what is none belongs to the call before it."""
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict | None):
        return CallDelta(index, None, None, None, unreadable=True)
    function = object_in(call.get("function"))
    given, name, call_id = function.get("arguments"), function.get("name"), call.get("id")
    odd = []
    if index is None:
        odd.append("call_index_missing")
    if call.get("type") is None and (call_id or not event):
        odd.append("call_type_missing")
    if not isinstance(given, str | None):
        odd.append("arguments_object")
    return CallDelta(
        index,
        call_id if isinstance(call_id, str) and call_id else None,
        name if isinstance(name, str) and name else None,
        given if isinstance(given, str | None) else as_text(given),
        tuple(odd),
        unreadable=event and given is not None and is_no_piece(given),
        extra={k: v for k, v in call.items() if k not in _CALL_KEYS and v is not None} or None,
    )


# --- events


def _parse_event(event: JsonObject) -> list[Signal]:
    kind = event.get("type")
    parse = _EVENTS.get(kind) if isinstance(kind, str) else None
    return parse(event) if parse is not None else []


def _said(event: JsonObject) -> JsonObject:
    """The piece of the message that an event brings."""
    return object_in(object_in(event.get("delta")).get("message"))


def _content_start(event: JsonObject) -> list[Signal]:
    # It begins empty, and says that what closed before it stays closed.
    return _part(_said(event).get("content"))


def _content_delta(event: JsonObject) -> list[Signal]:
    return _text(_said(event).get("content"))


def _plan_delta(event: JsonObject) -> list[Signal]:
    plan = _said(event).get("tool_plan")
    return [ReasoningDelta(plan)] if isinstance(plan, str) else []


def _call_piece(event: JsonObject) -> list[Signal]:
    index = event.get("index")
    number = index if isinstance(index, int) else None
    return [_call(_said(event).get("tool_calls"), number, event=True)]


def _message_end(event: JsonObject) -> list[Signal]:
    delta = event.get("delta")
    return _end_of(delta, "delta.finish_reason", usage_object(event))


_EVENTS: dict[str, Callable[[JsonObject], list[Signal]]] = {
    "message-start": lambda event: [Began()],
    "content-start": _content_start,
    "content-delta": _content_delta,
    "content-end": lambda event: [Closed()],
    "tool-plan-delta": _plan_delta,
    "tool-call-start": _call_piece,
    "tool-call-delta": _call_piece,
    "tool-call-end": lambda event: [Closed()],
    "citation-start": lambda event: [],
    "citation-end": lambda event: [],
    "message-end": _message_end,
    "debug": lambda event: [],
}
"""What is not here, events yet to come, says nothing."""


def _error_of(value: JsonObject) -> object | None:
    """The error that an object carries, or None: a message that is a text, or what the end of a
    stream says of it."""
    if isinstance(value.get("message"), str):
        return value
    return value.get("error") or object_in(value.get("delta")).get("error") or None


# --- the faces of an ending (P1a) -------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = shown_alike(done="COMPLETE", cut="MAX_TOKENS", blocked="ERROR_TOXIC")
"""Every outcome, as the caller sees it where the turn is not complete."""

_ERROR_KEYS = frozenset({"id", "message", "error_type", "data"})


def is_request(path: str) -> bool:
    """Whether the path is the chat endpoint of version 2, below whatever base URL."""
    return path.rstrip("/").endswith("/v2/chat")


def looks_like(value: JsonObject) -> bool:
    """Whether an object is an answer, one of its events, or an error of this wire."""
    message = value.get("message")
    if isinstance(message, dict) and "finish_reason" in value:
        return True
    if isinstance(message, str) and "id" in value and value.keys() <= _ERROR_KEYS:
        return True
    return value.get("type") in _NAMES


_NAMES = tuple(name for name in _EVENTS if name != "debug")
"""A tuple: what stands where a type should be may be anything."""


def is_event(value: JsonObject) -> bool:
    """Whether an object is one event of a stream."""
    return value.get("type") in (*_NAMES, "debug")


WIRE = Wire(
    name="cohere",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    looks_like=looks_like,
    is_event=is_event,
    read=parse_object,
    parts_close=True,
    read_flowing=read_flowing,
    opening=b"event: message-start\ndata: {",
    is_plain=is_plain,
    usage_object=usage_object,
    parse_fault=fault_parser(_error_of, read_fault),
    writer=render.CohereWriter,
    clean_stop=render.clean_stop,
    body_of=render.body_of,
    render_body=render.render_body,
    render_error=render.render_error,
    error_status=render.ERROR_STATUS,
    form=FORM,
)
