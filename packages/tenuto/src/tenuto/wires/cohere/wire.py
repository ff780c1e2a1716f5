"""Cohere's Chat, version 2.

https://docs.cohere.com/reference/chat (read through cohere-python 7.3, 2026-11-22:
`cohere/v2/types/v2chat_response.py`, `v2chat_stream_response.py`). This module holds the stop table
and the reader. Errors are in `errors`, requests in `request`, and writing in `render`. Version 1 is
a separate wire.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tenuto.core.answer.parts import (
    AnySignal,
    CallPiece,
    Envelope,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Place,
    Retold,
    Said,
)
from tenuto.core.answer.signals import (
    Began,
    CallDelta,
    Closed,
    FaultSeen,
    Signal,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.wires.answer import error_body, shown_alike
from tenuto.wires.base import Wire
from tenuto.wires.billed_usage import read_usage
from tenuto.wires.chat_like.chat import read_call
from tenuto.wires.cohere import render
from tenuto.wires.cohere.citations import CITATIONS
from tenuto.wires.cohere.content import merged_content
from tenuto.wires.cohere.errors import ERRORS, read_fault
from tenuto.wires.cohere.form import FORM
from tenuto.wires.cohere.request import parse_request
from tenuto.wires.errors import bare_error, error_at, fault_parser
from tenuto.wires.json import JsonObject, count
from tenuto.wires.members import object_in, others_in, value_at
from tenuto.wires.stops import StopTable, clean_stop, stop_reader

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

_read_stop = stop_reader(STOPS)

# --- reading ----------------------------------------------------------------------------------


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    found = [*_read_event(value)] if event else [*_read_body(value)]
    error = _error_of(value)
    return found if error is None else [*found, FaultSeen(read_fault(error))]


def _read_body(body: JsonObject) -> Iterator[AnySignal]:
    message = object_in(body.get("message"))
    content, plan = message.get("content"), message.get("tool_plan")
    if isinstance(plan, str) and plan:
        yield Piece(render.PLAN, Kind.REASONING, plan, holds="tool_plan")
    if isinstance(content, str):  # as rows of a history may contain it
        content = [{"type": "text", "text": content}]
    for index, part in enumerate(content if isinstance(content, list) else []):
        yield from _read_part(part, (index,))
    calls = message.get("tool_calls")
    for number, call in enumerate(calls if isinstance(calls, list) else [calls or None]):
        if call is not None:
            yield _call(call, number, event=False)
    if isinstance(cited := message.get("citations"), list):
        yield _cited(cited)
    yield from _end_of(body, "finish_reason", usage_object(body))


def usage_object(value: JsonObject) -> JsonObject | None:
    """Return the native usage object: of a body, or of the end of a stream."""
    usage = value.get("usage")
    if usage is None:
        usage = object_in(value.get("delta")).get("usage")
    return usage if isinstance(usage, dict) else None


def _cited(citations: list[Any]) -> Piece:
    return Piece(CITATIONS, Kind.NOTE, "", {"citations": citations}, holds="")


def _end_of(place: object, field: str, usage: object) -> list[Signal]:
    """Return the stop in an object, and the usage beside it."""
    stop = _read_stop(object_in(place).get("finish_reason"), field)
    signals: list[Signal] = [stop] if stop is not None else []
    if isinstance(usage, dict) and usage:
        signals.append(UsageSeen(read_usage(usage)))
    return signals


def _read_part(part: object, place: Place) -> Iterator[Opened]:
    """Read a part of the content, from a body or from its start in a stream."""
    native, words = object_in(part), _words(part)
    kind = native.get("type")
    if words is not None and (kind in ("text", "thinking") or not isinstance(kind, str)):
        yield Opened(place, words[0], native, words[1], words[2])
    elif kind == "thinking":
        yield Opened(place, Kind.REASONING, native, "thinking")
    elif isinstance(kind, str) and kind != "text":
        yield Opened(place, Kind.OTHER, native)


def _words(part: object) -> tuple[Kind, str, str] | None:
    """Return the kind and the text of a part of the content, and the member that holds the text."""
    inner = object_in(part)
    if isinstance(thinking := inner.get("thinking"), str) and thinking:
        return Kind.REASONING, "thinking", thinking
    text = inner.get("text")
    return (Kind.TEXT, "text", text) if isinstance(text, str) else None


def _call(call: object, number: int | None, *, event: bool) -> CallPiece:
    """Read a call, or a piece of one. It is Chat's, except for where its number is. A piece without
    one belongs to the call before it."""
    delta = CallDelta(number, None, None, None, unreadable=True)
    if isinstance(call, dict) and isinstance(function := call.get("function"), dict | None):
        # Without shapes older than Chat's, which are no calls here.
        told = {"id": call.get("id"), "type": call.get("type"), "function": function or {}}
        read = read_call(told | {"index": number}, number or 0, event)
        delta = replace(read, extra=others_in(call, {*told, "index"}))
    return CallPiece(("tool_calls", number), delta)


# --- events


def _read_event(event: JsonObject) -> Iterable[AnySignal]:
    kind = event.get("type")
    read = _EVENTS.get(kind) if isinstance(kind, str) else None
    return read(event) if read is not None else []


def _said(event: JsonObject) -> JsonObject:
    """Return the piece of the message in an event."""
    return object_in(value_at(event, ("delta", "message")))


def _message_start(event: JsonObject) -> list[AnySignal]:
    return [Began(), Envelope({"id": event.get("id")})]


def _content_start(event: JsonObject) -> Iterator[AnySignal]:
    # It begins empty, so that a part that was closed before stays closed.
    return _read_part(_said(event).get("content"), (count(event.get("index")),))


def _content_delta(event: JsonObject) -> Iterator[AnySignal]:
    if event.get("logprobs"):
        yield Said({}, {"logprobs": [event["logprobs"]]})
    words = _words(_said(event).get("content"))
    if words is not None:
        yield Piece((count(event.get("index")),), words[0], words[2])


def _plan_delta(event: JsonObject) -> list[AnySignal]:
    plan = _said(event).get("tool_plan")
    if not isinstance(plan, str):
        return []
    return [Piece(render.PLAN, Kind.REASONING, plan, holds="tool_plan")]


def _call_piece(event: JsonObject) -> list[AnySignal]:
    index = event.get("index")
    number = index if isinstance(index, int) else None
    return [_call(_said(event).get("tool_calls"), number, event=True)]


def _citation(event: JsonObject) -> list[AnySignal]:
    found = _said(event).get("citations")
    return [_cited([found] if found else [])]


def _message_end(event: JsonObject) -> list[AnySignal]:
    """Read the end of a message. Some servers send all of its content only here."""
    end: list[AnySignal] = [
        *_end_of(event.get("delta"), "delta.finish_reason", usage_object(event))
    ]
    told = tuple(s for s in _read_body(object_in(event.get("delta"))) if isinstance(s, Opened))
    return [Retold(told), *end] if told else end


_EVENTS: dict[str, Callable[[JsonObject], Iterable[AnySignal]]] = {
    "message-start": _message_start,
    "content-start": _content_start,
    "content-delta": _content_delta,
    "content-end": lambda event: [PartClosed((count(event.get("index")),))],
    "tool-plan-delta": _plan_delta,
    "tool-call-start": _call_piece,
    "tool-call-delta": _call_piece,
    "tool-call-end": lambda event: [Closed()],
    "citation-start": _citation,
    "citation-end": lambda event: [],
    "message-end": _message_end,
    "debug": lambda event: [],
}
"""Events that are not listed, such as future ones, have no signals."""


def _error_of(value: JsonObject) -> object | None:
    """Return the error in an object, or None: a text `message`, or the one at the end of a
    stream."""
    if isinstance(value.get("message"), str):
        return value
    return error_at(value) or value_at(value, ("delta", "error")) or None


# --- the wire itself --------------------------------------------------------------------------

_is_uuid = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE).match

_ERROR_KEYS = frozenset({"id", "message", "error_type", "data"})


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is an answer, one of its events, or an error of this wire."""
    message = value.get("message")
    if isinstance(message, dict) and "finish_reason" in value:
        return not isinstance(message.get("content"), str)  # as in a choice of OpenAI's chat
    if isinstance(message, str) and value.keys() <= _ERROR_KEYS:
        return _is_uuid(str(value.get("id"))) is not None
    return value.get("type") in _NAMES


_NAMES = tuple(name for name in _EVENTS if name != "debug")
"""A tuple, since any value may stand in place of a type."""


def is_event(value: JsonObject) -> bool:
    """Return whether an object is one event of a stream."""
    return value.get("type") in (*_NAMES, "debug")


WIRE = Wire(
    name="cohere",
    stops=STOPS,
    errors=ERRORS,
    shown=shown_alike(done="COMPLETE", cut="MAX_TOKENS", blocked="ERROR_TOXIC"),
    is_request=lambda path: path.rstrip("/").endswith("/v2/chat"),  # below any base URL
    request=parse_request,
    looks_like=looks_like,
    is_event=is_event,
    read=read,
    parts_close=True,
    raises_on_errors=False,
    breaks_on_errors=True,
    opening=b"event: message-start\ndata: {",
    usage_object=usage_object,
    parse_fault=fault_parser(_error_of, read_fault),
    layout=render.CohereLayout,
    content=merged_content,
    content_beside=True,
    plan=render.PLAN,
    clean_stop=clean_stop("COMPLETE", "TOOL_CALL"),
    as_body=render.as_body,
    render_body=render.render_body,
    render_error=error_body(bare_error),
    form=FORM,
)
