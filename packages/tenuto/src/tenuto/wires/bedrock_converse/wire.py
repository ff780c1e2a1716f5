"""Amazon Bedrock Converse and ConverseStream.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
…/API_runtime_ConverseStream.html (shapes read in botocore 1.43, 2026-11-22). This module reads
bodies, and says how endings are shown. The stop table and the events are in `events`, errors in
`errors`, requests in `request` and `history`, and writing in `content` and `render`.

A stream consists of binary messages (`aws_eventstream`). An event is read as botocore gives it to
its callers, `{"messageStop": {…}}`. InvokeModel of Amazon's Nova has the same bodies and events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tenuto.core.answer.parts import AnySignal
from tenuto.core.answer.signals import FaultSeen, UsageSeen
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.answer import Shown, error_body, shown_alike
from tenuto.wires.base import Wire, never
from tenuto.wires.bedrock_converse import render
from tenuto.wires.bedrock_converse.content import merged_content
from tenuto.wires.bedrock_converse.events import (
    EVENTS,
    STOPS,
    read_block,
    read_event,
    read_stop,
    read_usage,
    stop_words,
)
from tenuto.wires.bedrock_converse.form import FORM
from tenuto.wires.bedrock_converse.request import ConverseRequest, parse_request
from tenuto.wires.bedrock_like.errors import ERRORS, parse_fault, read_fault
from tenuto.wires.bedrock_like.guardrail import guardrail_signals, trace_words
from tenuto.wires.bedrock_like.paths import asked_at
from tenuto.wires.bedrock_like.render import error_of_ours
from tenuto.wires.beside_stop import with_words
from tenuto.wires.errors import error_at
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, value_at
from tenuto.wires.request_edits import key_at
from tenuto.wires.stops import clean_stop

# --- reading ----------------------------------------------------------------------------------


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    signals = read_event(value) if event else _read_body(value)
    signals += guardrail_signals(value)
    error = error_of(value)
    return signals if error is None else [*signals, FaultSeen(read_fault(error))]


def _read_body(body: JsonObject) -> list[AnySignal]:
    signals: list[AnySignal] = []
    for index, block in enumerate(blocks_of(body)):
        signals += read_block(block, index)
    stop = read_stop(body.get("stopReason"), "stopReason")
    if stop is not None:
        if words := trace_words(body.get("trace")):
            stop = replace(stop, beside=words)
        signals.append(with_words(stop, **stop_words(body)))
    usage = body.get("usage")
    if isinstance(usage, dict):
        signals.append(UsageSeen(read_usage(usage)))
    return signals


def blocks_of(body: JsonObject) -> list[object]:
    """Return the content of a body; []: it has none."""
    return list_in(value_at(body, ("output", "message", "content")))


def error_of(value: JsonObject) -> object | None:
    """Return the error in an object, or None: an exception of a stream, or the body of an error
    response, which has little more than a message."""
    if (error := error_at(value)) is not None:
        return error
    named = value.get("message", value.get("Message"))
    if "__type" in value or (isinstance(named, str) and "output" not in value):
        return value
    for name, told in value.items():  # as SDKs that don't raise pass an exception on
        if isinstance(told, dict) and str(name).endswith("Exception"):
            return {**told, "type": name}
    return None


def usage_object(value: JsonObject) -> JsonObject | None:
    """Return the native usage object: of a body, or of the event `metadata`."""
    place = value.get("metadata", value)
    usage = place.get("usage") if isinstance(place, dict) else None
    return usage if isinstance(usage, dict) else None


# --- how endings are shown (P1a) --------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = {
    **shown_alike(done="end_turn", cut="max_tokens", blocked="content_filtered"),
    Outcome.ARGUMENTS_MALFORMED: Shown(native="malformed_tool_use"),
    Outcome.OVERFLOW: Shown(native="model_context_window_exceeded", received=True),
}
"""How each outcome is shown if the turn is not complete."""

is_request: Callable[[str], bool] = asked_at("/model/.+/converse(?:-stream)?")
"""Whether the path is that of a conversation."""


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is an answer of this wire or one of its events."""
    if isinstance(output := value.get("output"), dict):
        return "stopReason" in value or is_message(output.get("message"))
    return is_event(value)


def is_message(value: object) -> bool:
    """Return whether a value is a message of this wire: it has a list of blocks."""
    return isinstance(value, dict) and isinstance(value.get("content"), list)


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event, as botocore gives it. Other objects have `metadata`
    among many members."""
    if EVENTS.keys().isdisjoint(value):  # fast, since every wire is asked about every shape
        return False
    told = value.get("metadata")
    if len(value) == 1 and isinstance(told, dict):
        return not {"usage", "metrics"}.isdisjoint(told)
    return any(isinstance(value[name], dict) for name in EVENTS.keys() & value.keys() - _SHARED)


_SHARED = frozenset({"metadata"})


WIRE = Wire(
    name="bedrock-converse",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    limit_key=lambda _: key_at(ConverseRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=is_event,
    read=read,
    parts_close=True,
    is_terminator=never,
    usage_object=usage_object,
    parse_fault=parse_fault,
    layout=render.MessageLayout,
    content=merged_content,
    clean_stop=clean_stop("end_turn", "tool_use"),
    render_body=render.render_body,
    render_error=error_body(error_of_ours),
    form=FORM,
)
