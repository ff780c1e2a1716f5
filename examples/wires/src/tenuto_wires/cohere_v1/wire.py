"""Cohere's chat version 1, `/v1/chat`; answers of `/v1/generate` are read too.

https://docs.cohere.com/v1/reference/chat (read through cohere-python 7.3, 2026-11-24:
`cohere/types/non_streamed_chat_response.py`, `streamed_chat_response.py`, `generation.py`). Its
streams are lines of JSON, each with an `event_type`, or server-sent events if the request asks for
them. The last one repeats the whole response. Calls have no ids, and arrive decoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tenuto.wire_kit import (
    CHAT_TEXT as CONTENT,
)
from tenuto.wire_kit import (
    AnySignal,
    CallDelta,
    CallPiece,
    Dialect,
    Ended,
    FaultSeen,
    JsonObject,
    Kind,
    OneText,
    Piece,
    Said,
    StopReason,
    StopTable,
    UsageSeen,
    Wire,
    WireRequest,
    arguments_of,
    bare_error,
    clean_stop,
    error_body,
    fault_parser,
    key_at,
    list_in,
    object_in,
    objects_in,
    shown_alike,
    stop_reader,
    text_in,
)
from tenuto_wires.cohere_v1 import render
from tenuto_wires.cohere_v1.billed_usage import COUNTED, read_usage
from tenuto_wires.cohere_v1.errors import ERRORS, error_of, fault_in, read_fault
from tenuto_wires.cohere_v1.request import ChatRequest, parse_request

_R = StopReason

STOPS: StopTable = {
    # The model finished sending a complete message; calls end with it too.
    "complete": (_R.END_TURN, None),
    # One of the request's stop_sequences was reached.
    "stop_sequence": (_R.STOP_SEQUENCE, None),
    # The generation failed due to an internal error.
    "error": (_R.ERROR, None),
    # The reply was deemed toxic.
    "error_toxic": (_R.SAFETY_BLOCKED, None),
    # The context of the model is full.
    "error_limit": (_R.CONTEXT_WINDOW_EXCEEDED, None),
    # The caller went away.
    "user_cancel": (_R.CANCELLED, None),
    # The number of generated tokens reached max_tokens.
    "max_tokens": (_R.MAX_TOKENS, None),
    # It exceeded the time limit.
    "timeout": (_R.ERROR, "time_limit"),
}
"""Values in the order of the SDK's types."""

_read_stop = stop_reader(STOPS)

EVENT_TYPES = frozenset(
    {"stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end"}
    | {"search-queries-generation", "search-results", "citation-generation", "debug"}
)

# --- shapes

_UNTYPED = frozenset(
    {"is_finished", "index", "text", "finish_reason", "response", "id", "prompt"}
    | {"amazon-bedrock-invocationMetrics", "likelihood", "token_likelihoods"}
)
"""Members of the events of `/v1/generate`, which have no type."""


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event of a stream. Early events of `/v1/generate` show only
    whether they are the last one.

    >>> is_event({"event_type": "stream-end"}), is_event({"is_finished": False, "text": "Hi"})
    (True, True)
    """
    untyped = isinstance(value.get("is_finished"), bool) and value.keys() <= _UNTYPED
    return untyped or text_in(value.get("event_type")) in EVENT_TYPES


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is an event, or a whole answer: one or more generated texts.

    >>> looks_like({"text": "Hi", "generation_id": "1"}), looks_like({"text": "Hi"})
    (True, False)
    """
    if isinstance(value.get("text"), str) and "generation_id" in value:
        return True
    if is_event(value):
        return True
    generated = object_in(next(iter(list_in(value.get("generations"))), 0))
    return "text" in generated and ("id" in generated or "finish_reason" in generated)


# --- reading

_METRICS = "amazon-bedrock-invocationMetrics"
"""A member that Bedrock adds, whose wire reads such events."""

_GENERATED = (
    OneText(
        ("generations[0].text", "generations[0].finish_reason"),
        "generations[0].text",
        ("generations[0].finish_reason",),
    ),
    OneText(("text", "is_finished"), "text", ("finish_reason",)),
    # The last event has only the stop; its `response` repeats everything.
    OneText(("is_finished", "finish_reason"), "", ("finish_reason",)),
    OneText(
        ("is_finished", "response.generations[0]"), "", ("response.generations[0].finish_reason",)
    ),
)
"""Where answers and events of `/v1/generate` keep their text. The first that fits counts."""

_NOT_BESIDE = render.TOLD | {"event_type", "is_finished", "response", "tool_call_delta", "prompt"}


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    signals: list[AnySignal] = []
    kind, whole = value.get("event_type"), object_in(value.get("response"))
    if kind is None and ("generations" in value or is_event(value)):
        place = next((place for place in _GENERATED if place.fits(value)), None)
        signals += place.signals(value, _read_stop) if place is not None else []
    else:
        beside = (whole or value).items()
        signals.append(Said({k: v for k, v in beside if k not in _NOT_BESIDE and v is not None}))
        signals += _said(value) if kind is None else _said_in_event(kind, value, whole)
        stop = _read_stop(value.get("finish_reason") or whole.get("finish_reason"), "finish_reason")
        signals += [stop] if stop is not None else [Ended()] if kind == "stream-end" else []
    if (fault := fault_in(value)) is not None:
        signals.append(FaultSeen(fault))
    if (meta := usage_object(value)) is not None:
        signals.append(UsageSeen(read_usage(meta)))
    return signals


def _said(value: JsonObject) -> list[AnySignal]:
    """Return the signals of a body, or of the part of one that an event holds."""
    signals: list[AnySignal] = []
    if isinstance(text := value.get("text"), str):
        signals.append(Piece(CONTENT, Kind.TEXT, text, holds="text"))
    if cited := objects_in(value.get("citations")):
        signals.append(Piece(CONTENT, Kind.TEXT, None, {"annotations": cited}, holds="text"))
    return signals + _calls(value)


def _said_in_event(kind: object, value: JsonObject, whole: JsonObject) -> list[AnySignal]:
    match kind:
        case "text-generation" | "citation-generation":
            return _said(value)
        case "tool-calls-chunk":
            piece = object_in(value.get("tool_call_delta"))
            return [*_said(value if value.get("text") else piece), *_call_begun(piece)]
        case "stream-end":
            text = text_in(whole.get("text"))
            said = [Piece(CONTENT, Kind.TEXT, text, holds="text", whole=True)] if text else []
            return [*said, *_calls(whole or value)]
        case "tool-calls-generation":  # its text came in pieces
            return _calls(whole or value)
    return []


def _call_begun(piece: JsonObject) -> list[AnySignal]:
    """Return that a call begins. Its pieces are not read, since the whole call follows, decoded. A
    call that never follows was cut; its arguments are then a single brace."""
    name, index = text_in(piece.get("name")), piece.get("index")
    number = int(index) if isinstance(index, int | float) and 0 <= index < 1000 else None
    delta = CallDelta(number, None, name, "{", may_lack_id=True)
    return [CallPiece(("tool_calls", number), delta)] if name else []


def _calls(value: JsonObject) -> list[AnySignal]:
    """Return the calls. They repeat what pieces or an earlier event said."""
    return [_call(*numbered) for numbered in enumerate(list_in(value.get("tool_calls")))]


def _call(number: int, call: object) -> CallPiece:
    told = dict(object_in(call))
    name, given = text_in(told.pop("name", None)), told.pop("parameters", None)
    delta = CallDelta(
        number,
        None,
        name or None,
        arguments_of(given)[0],
        may_lack_id=True,
        decoded=isinstance(given, dict),
        unreadable=not isinstance(call, dict),
        whole=True,
        extra=told or None,
    )
    return CallPiece(("tool_calls", number), delta)


def usage_object(value: JsonObject) -> JsonObject | None:
    """Return the native usage object: `meta`, of a body or of the end of a stream."""
    meta = object_in(value.get("meta") or object_in(value.get("response")).get("meta"))
    return meta if any(object_in(meta.get(name)) for name in COUNTED) else None


# --- the wire


def request(body: bytes, probe_max_tokens: int, path: str, dialect: Dialect) -> WireRequest | None:
    """Return a request, which knows the rows that its answer follows; None: the bytes are none."""
    if (parsed := parse_request(body, probe_max_tokens)) is not None:
        layout = partial(render.ChatLayout, asked=parsed.asked)
        body_of = partial(render.render_body, asked=parsed.asked)
        parsed.wire = replace(WIRE, layout=layout, render_body=body_of)
    return parsed


def _streams_lines(headers: Mapping[str, str]) -> bool:
    """Return whether none of the headers asks for events. The SDK uses the second name."""
    return not any("text/event-stream" in headers.get(key, "") for key in ("accept", "accepts"))


WIRE = Wire(
    name="cohere-v1",
    stops=STOPS,
    errors=ERRORS,
    shown=shown_alike(done="COMPLETE", cut="MAX_TOKENS", blocked="ERROR_TOXIC"),
    is_request=lambda path: path.rstrip("/").endswith("/v1/chat"),  # below any base URL
    request=request,
    limit_key=lambda _: key_at(ChatRequest.paths.output_limit),
    looks_like=looks_like,
    signed=lambda value: "event_type" in value and is_event(value) and _METRICS not in value,
    is_event=is_event,
    last_is_body=True,
    read=read,
    parts_close=True,
    streams_lines=_streams_lines,
    raises_on_errors=False,
    breaks_on_errors=True,
    usage_object=usage_object,
    parse_fault=fault_parser(error_of, read_fault),
    layout=render.ChatLayout,
    clean_stop=clean_stop("COMPLETE"),  # with calls and without
    render_body=render.render_body,
    render_error=error_body(bare_error),
)
