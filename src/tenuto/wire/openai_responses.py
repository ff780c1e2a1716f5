"""OpenAI Responses, and all who speak like it.

https://platform.openai.com/docs/api-reference/responses (read through openai-python 3.54,
2026-11-22: `openai/types/responses/response.py`, `response_status.py`, `response_stream_event.py`).
From top to bottom: the stop table, reading, and the faces of an ending. The error table stands in
`openai_responses_errors`, the request's side in `openai_responses_request` and `…_history`, the
writing side in `openai_responses_content` and `…_render`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, cast

import msgspec

from tenuto.core.outcome import Outcome
from tenuto.core.signals import (
    Began,
    CallDelta,
    Closed,
    Ended,
    FaultSeen,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.stop import StopReason
from tenuto.wire import openai_responses_body as body
from tenuto.wire.base import JsonObject, Shown, Wire, shown_alike
from tenuto.wire.errors import blames, fault_parser
from tenuto.wire.json import as_text, count, is_no_piece
from tenuto.wire.openai_responses_content import merged_content
from tenuto.wire.openai_responses_errors import ERRORS, read_fault
from tenuto.wire.openai_responses_form import FORM
from tenuto.wire.openai_responses_items import (
    ARGUMENTS,
    FOREIGN_CALL,
    is_client_call,
    kind_of,
    parts_of,
    thought,
)
from tenuto.wire.openai_responses_render import ResponseWriter
from tenuto.wire.openai_responses_request import parse_request
from tenuto.wire.plain import say_something
from tenuto.wire.stops import StopTable, in_other_words, look_up

_R = StopReason

STOPS: StopTable = {
    "completed": (_R.END_TURN, None),
    # The response failed; `error` says why.
    "failed": (_R.ERROR, None),
    # In the background: poll until it is over.
    "in_progress": (_R.PAUSED, "background"),
    "cancelled": (_R.CANCELLED, None),
    "queued": (_R.PAUSED, "background"),
    # `incomplete_details.reason` says why; where it does not, the limit is what cuts answers.
    "incomplete": (_R.MAX_TOKENS, None),
    # The reasons of an incomplete response.
    "max_output_tokens": (_R.MAX_TOKENS, None),
    # The limit of messages in one response.
    "max_messages": (_R.MAX_TOKENS, "max_messages"),
    "content_filter": (_R.SAFETY_BLOCKED, None),
    # Over WebSockets: stopped at a safe place, for the caller said something in between.
    "steered": (_R.PAUSED, "steered"),
}
"""OpenAI's own values of `status` and then of `incomplete_details.reason`, in the order and
spelling of the reference."""

DIALECT_STOPS = in_other_words(STOPS)
"""Values of those who speak this wire in other words (N2)."""

_ALL_STOPS = {**DIALECT_STOPS, **STOPS}


def read_stop(status: object, reason: object = None, at: str = "") -> StopSeen | None:
    """The stop that a status and the reason beside it mean; None where there is none (N1a).

    >>> read_stop("incomplete", "max_output_tokens").field
    'incomplete_details.reason'
    >>> read_stop("incomplete").reason.value, read_stop("incomplete").readable
    ('max_tokens', False)
    """
    stop = look_up(status, f"{at}status", _ALL_STOPS)
    if stop is None or stop.raw.strip().lower() != "incomplete":
        return stop
    why = look_up(reason, f"{at}incomplete_details.reason", _ALL_STOPS)
    if why is None:
        return StopSeen(stop.raw, stop.field, stop.reason, readable=False)
    if why.reason in (_R.END_TURN, _R.TOOL_CALL, _R.STOP_SEQUENCE):  # it is not: it is incomplete
        return StopSeen(why.raw, why.field, _R.UNKNOWN, known=False)
    return why


# --- reading ----------------------------------------------------------------------------------


def parse_object(value: object, *, event: bool) -> list[Signal]:
    """The signals of a body, or of one event; an object of another shape has none."""
    if not isinstance(value, dict):
        return []
    signals = _parse_event(value) if event else _parse_body(value)
    error = _error_of(value)
    if error is not None:
        signals.append(FaultSeen(read_fault(error)))
    return signals


def _parse_body(body: JsonObject) -> list[Signal]:
    signals: list[Signal] = [_began_as(body)]
    output = body.get("output")
    for index, item in enumerate(output if isinstance(output, list) else ()):
        signals.extend(_parse_item(item, index))
    signals.extend(_end_of(body, ""))
    return signals


def _parse_item(item: object, index: int) -> list[Signal]:
    """An item of a body."""
    if not isinstance(item, dict):
        return []
    kind = kind_of(item)
    if kind == "message":
        return [signal for part in parts_of(item) for signal in _parse_part(part)]
    if kind == "reasoning":
        return [ReasoningDelta(thought(item))]
    return [_call(item, index, whole=False)] if is_client_call(item) else [OtherSeen(index)]


def _parse_part(part: JsonObject) -> list[Signal]:
    """A part of a message, as a whole or as it begins."""
    match part.get("type"):
        case "output_text" | "text":
            return [TextDelta(text)] if isinstance(text := part.get("text"), str) else []
        case "refusal":
            words = part.get("refusal")
            return [RefusalDelta(words)] if isinstance(words, str) else []
        case "reasoning_text" | "summary_text":
            text = part.get("text")
            return [ReasoningDelta(text if isinstance(text, str) else "")]
        case _:
            return [OtherSeen()]


_CALL_KEYS = frozenset({"type", "call_id", "name", "status", *ARGUMENTS.values()})


def _call(item: JsonObject, index: int | None, *, whole: bool) -> CallDelta:
    kind = kind_of(item)
    call_id, name = item.get("call_id"), item.get("name")
    if kind not in ARGUMENTS:
        call_id, name = call_id or item.get("id"), kind
        arguments, odd = _arguments(as_text(item))
        extra: dict[str, Any] = {FOREIGN_CALL: item}
    else:
        arguments, odd = _arguments(item.get(ARGUMENTS[kind]))
        extra = {k: v for k, v in item.items() if k not in _CALL_KEYS and v is not None}
    return CallDelta(
        index,
        call_id if isinstance(call_id, str) and call_id else None,
        name if isinstance(name, str) and name else None,
        arguments,
        odd if index is not None else (*odd, "call_index_missing"),
        free=kind != "function_call",
        extra=extra or None,
        whole=whole,
    )


def _arguments(raw: object) -> tuple[str | None, tuple[str, ...]]:
    """Argument text, and what was odd about it: only nothing may mean no arguments (T1)."""
    if raw is None or isinstance(raw, str):
        return raw, ()
    return as_text(raw), ("arguments_object",)


def _end_of(response: JsonObject, at: str) -> list[Signal]:
    """The stop of a response, the items that contradict it, and its usage."""
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    stop = read_stop(response.get("status"), reason, at)
    signals: list[Signal] = [] if stop is None else [stop]
    output = response.get("output")
    if stop is not None and stop.reason is _R.END_TURN and isinstance(output, list):
        # Servers call items whole that are not, and never the other way round (Q40).
        for number, item in enumerate(output):
            if isinstance(item, dict) and item.get("status") == "incomplete":
                field = f"{at}output[{number}].status"
                signals.append(StopSeen("incomplete", field, _R.MAX_TOKENS))
    usage = usage_object(response)
    return signals if usage is None else [*signals, UsageSeen(_usage(usage))]


# --- events


def _parse_event(event: JsonObject) -> list[Signal]:
    kind = event.get("type")
    if not isinstance(kind, str):
        return []
    parse = _EVENTS.get(kind)
    if parse is not None:
        return parse(event)
    return [OtherSeen(_index(event))] if kind.startswith(_SERVER_EVENTS) else []


def _index(event: JsonObject) -> int | None:
    return count(event.get("output_index"))


def _began(event: JsonObject) -> list[Signal]:
    return [_began_as(event.get("response"))]


def _began_as(response: object) -> Began:
    name = response.get("id") if isinstance(response, dict) else None
    return Began(name if isinstance(name, str) else "")


def _closed(event: JsonObject) -> list[Signal]:
    return [Closed()]


def _item_added(event: JsonObject) -> list[Signal]:
    item = event.get("item")
    if not isinstance(item, dict):
        return []
    kind = kind_of(item)
    if kind == "message":
        return [TextDelta("")]
    if kind == "reasoning":
        return [ReasoningDelta("")]
    if not is_client_call(item):
        return [OtherSeen(_index(event))]
    return [_call(item, _index(event), whole=False)]


def _item_done(event: JsonObject) -> list[Signal]:
    item = event.get("item")
    if not is_client_call(item):
        return [Closed()]
    return [_call(cast("JsonObject", item), _index(event), whole=True)]


def _part_added(event: JsonObject) -> list[Signal]:
    part = event.get("part")
    return _parse_part(part) if isinstance(part, dict) else []


def _text(event: JsonObject) -> list[Signal]:
    delta = event.get("delta")
    return [TextDelta(delta)] if isinstance(delta, str) else []


def _reasoning(event: JsonObject) -> list[Signal]:
    delta = event.get("delta")
    return [ReasoningDelta(delta)] if isinstance(delta, str) else []


def _refusal(event: JsonObject) -> list[Signal]:
    delta = event.get("delta")
    return [RefusalDelta(delta)] if isinstance(delta, str) else []


def _call_piece(event: JsonObject) -> list[Signal]:
    given = event.get("delta")
    arguments, odd = _arguments(given)
    index = _index(event)
    odd = odd if index is not None else (*odd, "call_index_missing")
    return [CallDelta(index, None, None, arguments, odd, unreadable=is_no_piece(given))]


def _call_done(event: JsonObject) -> list[Signal]:
    raw = event.get("arguments", event.get("input"))
    arguments, odd = _arguments(raw)
    return [CallDelta(_index(event), None, None, arguments, odd, whole=True)]


_TYPE_MEANS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""The events that end a stream, and what each says."""


def _ended(event: JsonObject) -> list[Signal]:
    """The last event. Where its name and the status in it differ, the graver one counts."""
    response = event.get("response")
    response = response if isinstance(response, dict) else {}
    output = response.get("output")
    calls: list[Signal] = [
        _call(item, number, whole=True)
        for number, item in enumerate(output if isinstance(output, list) else ())
        if is_client_call(item)
    ]
    signals = _end_of(response, "response.")
    stop = next((s for s in signals if isinstance(s, StopSeen)), None)
    named = read_stop(_TYPE_MEANS[event["type"]], None, "type:")
    if named is not None and (stop is None or _differs(stop, named)):
        signals.append(StopSeen(event["type"], "type", named.reason))
    return [*calls, *signals, Ended()]  # what follows a stop is odd


def _differs(stop: StopSeen, named: StopSeen) -> bool:
    """Whether one of them says that the response is whole, and the other that it is not."""
    return (stop.reason is _R.END_TURN) != (named.reason is _R.END_TURN)


_EVENTS: dict[str, Callable[[JsonObject], list[Signal]]] = {
    "response.created": _began,
    "response.queued": _began,
    "response.in_progress": _began,
    "response.output_item.added": _item_added,
    "response.output_item.done": _item_done,
    "response.content_part.added": _part_added,
    "response.content_part.done": _closed,
    "response.output_text.delta": _text,
    "response.output_text.done": _closed,
    # They belong to the text that is being written.
    "response.output_text.annotation.added": lambda event: [TextDelta("")],
    "response.refusal.delta": _refusal,
    "response.refusal.done": _closed,
    "response.reasoning_text.delta": _reasoning,
    "response.reasoning_text.done": _closed,
    "response.reasoning_part.added": lambda event: [ReasoningDelta("")],
    "response.reasoning_part.done": _closed,
    "response.reasoning_summary_part.added": lambda event: [ReasoningDelta("")],
    "response.reasoning_summary_part.done": _closed,
    "response.reasoning_summary_text.delta": _reasoning,
    "response.reasoning_summary_text.done": _closed,
    "response.function_call_arguments.delta": _call_piece,
    "response.function_call_arguments.done": _call_done,
    "response.custom_tool_call_input.delta": _call_piece,
    "response.custom_tool_call_input.done": _call_done,
    **dict.fromkeys(_TYPE_MEANS, _ended),
}
"""What is not here, `keepalive` and events yet to come, says nothing."""

_SERVER_EVENTS = (
    "response.web_search_call.",
    "response.file_search_call.",
    "response.code_interpreter_call",
    "response.image_generation_call.",
    "response.mcp_call",
    "response.mcp_list_tools.",
)
"""How the events of tools begin that the provider runs itself."""


def _error_of(value: JsonObject) -> object | None:
    """The error that an object carries, or None: of its own, or of the response in an event."""
    if value.get("error"):
        return cast("object", value["error"])
    if value.get("type") == "error":
        return {key: item for key, item in value.items() if key != "type"}
    response = value.get("response")
    error = response.get("error") if isinstance(response, dict) else None
    return cast("object", error) if error else None


def usage_object(value: JsonObject) -> JsonObject | None:
    """The native usage object: of a body, or of the response in an event."""
    response = value.get("response")
    usage = (response if isinstance(response, dict) else value).get("usage")
    return usage if isinstance(usage, dict) else None


def _usage(usage: JsonObject) -> Usage:
    def details(name: str) -> JsonObject:
        found = usage.get(name)
        return found if isinstance(found, dict) else {}

    return Usage(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        reasoning_tokens=count(details("output_tokens_details").get("reasoning_tokens")),
        cached_tokens=count(details("input_tokens_details").get("cached_tokens")),
    )


# --- the quick reading of an event that only carries text ---------------------------------------


class _Flowing(msgspec.Struct):
    """All keys that `parse_object` looks at. Whatever is more than text fails the decoding."""

    type: Literal[
        "response.output_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning_summary_text.delta",
    ]
    delta: str
    error: None = None
    response: None = None


_read_flowing = msgspec.json.Decoder(_Flowing).decode


def read_flowing(data: bytes) -> TextDelta | ReasoningDelta | None:
    """The one signal of an event that carries text or reasoning and nothing else, else None.

    >>> read_flowing(b'{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}')
    TextDelta(text='Hi')
    >>> read_flowing(b'{"type":"response.output_text.done","text":"Hi"}') is None
    True
    """
    try:
        event = _read_flowing(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    is_text = event.type == "response.output_text.delta"
    return TextDelta(event.delta) if is_text else ReasoningDelta(event.delta)


# --- the quick reading of a whole body that is nothing but text ---------------------------------


class _TextPart(msgspec.Struct, tag_field="type", tag="output_text"):
    text: msgspec.Raw  # not decoded: bodies may be large


class _Message(msgspec.Struct, tag_field="type", tag="message"):
    content: list[_TextPart]
    status: Literal["completed", None] = None


class _Thought(msgspec.Struct, tag_field="type", tag="reasoning"):
    status: Literal["completed", None] = None


class _Whole(msgspec.Struct):
    output: list[_Message | _Thought]
    status: Literal["completed"]
    error: None = None
    incomplete_details: None = None
    response: None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def is_plain(body: bytes) -> bool:
    """Whether a body is an answer of text that ended by itself.

    >>> is_plain(b'{"status":"completed","output":[{"type":"message","content":['
    ...          b'{"type":"output_text","text":"Hi"}]}]}')
    True
    """
    try:
        items = _read_whole(body).output
        texts = [p.text for item in items if isinstance(item, _Message) for p in item.content]
        return say_something(texts, body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


# --- the faces of an ending (P1a) -------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = {
    **shown_alike(done="completed", cut="max_output_tokens", blocked="content_filter"),
    Outcome.PAUSED: Shown(native="in_progress", received=True),
    Outcome.REFUSED: Shown(native="completed", received=True),
    Outcome.CANCELLED: Shown(native="cancelled", received=True),
    Outcome.UNKNOWN: Shown(native="incomplete", received=True),
}
"""Every outcome, as the caller sees it where the turn is not complete."""


def is_request(path: str) -> bool:
    """Whether the path is where responses are made, below whatever base URL; those that are
    polled for, compacted or counted have paths of their own.

    >>> is_request("/v1/responses"), is_request("/v1/responses/resp_1/cancel")
    (True, False)
    """
    return path.rstrip("/").endswith("/responses")


_OWN_PARAMS = re.compile(r"input\b|max_output_tokens\Z|previous_response_id\Z")
"""What errors name that only a request of this wire has; all others look alike on all wires of
OpenAI's."""


def looks_like(value: JsonObject) -> bool:
    """Whether an object is a response, one of its events, or an error that can only be its own.

    >>> looks_like({"object": "response"}), looks_like({"type": "response.created"})
    (True, True)
    """
    kind = value.get("type")
    if value.get("object") == "response" or (isinstance(kind, str) and kind in _EVENTS):
        return True
    if isinstance(kind, str) and (kind.startswith("response.") or kind == "error"):
        return "sequence_number" in value
    if isinstance(value.get("output"), list) and isinstance(value.get("status"), str):
        return True
    return blames(value, _OWN_PARAMS)


def is_event(value: JsonObject) -> bool:
    """Whether an object is an event: a response itself has no type."""
    return isinstance(value.get("type"), str) and value.get("object") != "response"


WIRE = Wire(
    name="openai-responses",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    looks_like=looks_like,
    is_event=is_event,
    parse_object=parse_object,
    parts_close=True,
    read_flowing=read_flowing,
    is_plain=is_plain,
    usage_object=usage_object,
    parse_fault=fault_parser(_error_of, read_fault),
    writer=ResponseWriter,
    content=merged_content,
    clean_stop=body.clean_stop,
    body_of=body.body_of,
    render_body=body.render_body,
    render_error=body.render_error,
    form=FORM,
)
