"""OpenAI Responses, and every API in this format.

https://platform.openai.com/docs/api-reference/responses (read through openai-python 3.54,
2026-11-22: `openai/types/responses/response.py`, `response_status.py`, `response_stream_event.py`).
This module holds the stop table, the reader, and how endings are shown. Errors are in `errors`,
requests in `request` and `history`, and writing in `content` and `render`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from tenuto.core.answer.parts import (
    AnySignal,
    Beside,
    CallPiece,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Place,
    Restated,
    Retold,
    Said,
)
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    OtherSeen,
    ReasoningDelta,
    Signal,
    StopSeen,
    TextDelta,
    UsageSeen,
)
from tenuto.core.answer.stop import CLEAN, StopReason
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.answer import Shown, error_body, shown_alike
from tenuto.wires.base import Wire
from tenuto.wires.beside_stop import filtered_categories, with_words
from tenuto.wires.cursors import Cursors
from tenuto.wires.errors import blames, error_at, fault_parser, openai_error
from tenuto.wires.json import JsonObject, arguments_of, as_text, count
from tenuto.wires.members import list_in, object_in, others_in, word_in
from tenuto.wires.openai_responses import body, short
from tenuto.wires.openai_responses.content import merged_content
from tenuto.wires.openai_responses.errors import ERRORS, read_fault
from tenuto.wires.openai_responses.form import FORM
from tenuto.wires.openai_responses.items import (
    ARGUMENTS,
    FOREIGN_CALL,
    SUMMARY,
    is_client_call,
    kind_of,
    parts_of,
)
from tenuto.wires.openai_responses.render import ResponseLayout
from tenuto.wires.openai_responses.request import ResponsesRequest, parse_request
from tenuto.wires.reading import ReadAny, ReadOne, began, call_piece, numbered, reader
from tenuto.wires.request_edits import key_at
from tenuto.wires.short import ShortPath
from tenuto.wires.stops import StopTable, clean_stop, stop_reader
from tenuto.wires.usage import usage_at

_R = StopReason

STOPS: StopTable = {
    "completed": (_R.END_TURN, None),
    # The response failed; `error` says why.
    "failed": (_R.ERROR, None),
    # In the background: poll until it is finished.
    "in_progress": (_R.PAUSED, "background"),
    "cancelled": (_R.CANCELLED, None),
    "queued": (_R.PAUSED, "background"),
    # `incomplete_details.reason` says why; without one, it is usually the output limit.
    "incomplete": (_R.MAX_TOKENS, None),
    # The reasons of an incomplete response.
    "max_output_tokens": (_R.MAX_TOKENS, None),
    # The limit of messages in one response.
    "max_messages": (_R.MAX_TOKENS, "max_messages"),
    "content_filter": (_R.SAFETY_BLOCKED, None),
    # Over WebSockets: stopped at a safe place, because the caller sent something in between.
    "steered": (_R.PAUSED, "steered"),
}
"""OpenAI's own values of `status` and then of `incomplete_details.reason`, in the order and
spelling of the reference."""

_look_up = stop_reader(STOPS)


def read_stop(status: object, reason: object = None, at: str = "") -> StopSeen | None:
    """Return the stop of a status and the reason beside it; None: there is none (N1a).

    >>> read_stop("incomplete", "max_output_tokens").field
    'incomplete_details.reason'
    >>> read_stop("incomplete").reason.value, read_stop("incomplete").readable
    ('max_tokens', False)
    """
    stop = _look_up(status, f"{at}status")
    if stop is None or stop.raw.strip().lower() != "incomplete":
        return stop
    why = _look_up(reason, f"{at}incomplete_details.reason")
    if why is None:
        return StopSeen(stop.raw, stop.field, stop.reason, readable=False)
    if why.reason in (_R.END_TURN, _R.TOOL_CALL, _R.STOP_SEQUENCE):  # it is not: it is incomplete
        return StopSeen(why.raw, why.field, _R.UNKNOWN, known=False)
    return why


# --- reading ----------------------------------------------------------------------------------


def _read_body(body: JsonObject) -> list[AnySignal]:
    signals: list[AnySignal] = [began(body)]
    output = body.get("output")
    for index, item in enumerate(output if isinstance(output, list) else ()):
        if isinstance(item, dict):
            signals += _begin_item(item, index)
            signals += _parts_within(item, index)
    signals += _end_of(body, "")
    return signals


_GROUPS: Mapping[str, Signal] = {"message": TextDelta(""), "reasoning": ReasoningDelta("")}
"""Items that hold parts, and the placeless signal that one begins."""


def _begin_item(item: JsonObject, index: int | None) -> list[AnySignal]:
    """Return the beginning of an item, without its parts."""
    kind, place = kind_of(item), (index,)
    if kind in _GROUPS:
        return [Opened(place, Kind.GROUP, item), _GROUPS[kind]]
    if is_client_call(item):
        return [CallPiece(place, _call(item, index, whole=False))]
    return [Opened(place, Kind.OTHER, item)]


def _parts_within(item: JsonObject, index: int | None) -> list[Opened]:
    """Return the parts of an item. All text of a reasoning item is reasoning."""
    kind = kind_of(item)
    if kind not in _GROUPS:
        return []
    content = list(enumerate(parts_of(item)))
    if kind == "message":
        return [_begin_part((index, number), part) for number, part in content]
    summary = enumerate(parts_of(item, "summary"))
    return [
        *(_begin_part((index, SUMMARY, n), part, _THOUGHT) for n, part in summary),
        *(_begin_part((index, n), part, _THOUGHT) for n, part in content),
    ]


_THOUGHT = (Kind.REASONING, "text")
_OTHER = (Kind.OTHER, "")
_PARTS = {
    "output_text": (Kind.TEXT, "text"),
    "text": (Kind.TEXT, "text"),
    "refusal": (Kind.REFUSAL, "refusal"),
    "reasoning_text": _THOUGHT,
    "summary_text": _THOUGHT,
}
"""Parts with text, their kind, and the member that holds the text."""


def _begin_part(place: Place, part: JsonObject, known: tuple[Kind, str] | None = None) -> Opened:
    """Read a part as a whole, or as it begins. `known`: its kind, whatever its type."""
    named = part.get("type")
    kind, member = known or (_PARTS.get(named, _OTHER) if isinstance(named, str) else _OTHER)
    words = part.get(member)
    return Opened(place, kind, part, member, words if isinstance(words, str) else "")


_CALL_KEYS = frozenset({"type", "call_id", "name", "status", *ARGUMENTS.values()})


def _call(item: JsonObject, index: int | None, *, whole: bool) -> CallDelta:
    kind = kind_of(item)
    call_id, name = word_in(item, "call_id"), word_in(item, "name")
    if kind in ARGUMENTS:
        arguments, odd = arguments_of(item.get(ARGUMENTS[kind]))
        extra = others_in(item, _CALL_KEYS)
    else:
        call_id, name = call_id or word_in(item, "id"), kind
        arguments, odd = arguments_of(as_text(item))
        extra = {FOREIGN_CALL: item}
    return CallDelta(
        index,
        call_id,
        name,
        arguments,
        numbered(index, odd),
        free=kind != "function_call",
        extra=extra,
        whole=whole,
    )


def _end_of(response: JsonObject, at: str) -> list[Signal]:
    """Return the stop of a response, the items that contradict it, and its usage."""
    reason = object_in(response.get("incomplete_details")).get("reason")
    told = object_in(response.get("status_details")).get("reason")  # of the Realtime API
    stop = read_stop(response.get("status"), reason or told, at)
    if told and not reason and stop is not None:
        stop = replace(stop, field=stop.field.replace("incomplete_", "status_"))
    signals: list[Signal] = [] if stop is None else [_with_words(stop, response)]
    signals += _foreign_stops(response, at, stop)
    output = response.get("output")
    if stop is not None and stop.reason is _R.END_TURN and isinstance(output, list):
        # Servers report incomplete items as complete, but never the other way round (Q40).
        for number, item in enumerate(output):
            if isinstance(item, dict) and item.get("status") == "incomplete":
                field = f"{at}output[{number}].status"
                signals.append(StopSeen("incomplete", field, _R.MAX_TOKENS))
    usage = usage_object(response)
    return signals if usage is None else [*signals, UsageSeen(body.COUNTS.read(usage.get))]


_FOREIGN_STOPS = ("stop_reason", "finish_reason")
"""Members of other wires that gateways leave in a response, or give in the place of its status."""


def _foreign_stops(response: JsonObject, at: str, status: StopSeen | None) -> list[StopSeen]:
    """Return the stops of other wires in a response. Beside a status, a clean one says nothing
    new."""
    if response.keys().isdisjoint(_FOREIGN_STOPS):
        return []
    seen = [_look_up(response.get(name), f"{at}{name}") for name in _FOREIGN_STOPS]
    return [
        stop
        for stop in seen
        if stop is not None and stop.known and (status is None or stop.reason not in CLEAN)
    ]


def _with_words(stop: StopSeen, response: JsonObject) -> StopSeen:
    """Add what Azure's filters found in the prompt and in each part of the answer."""
    filters = response.get("content_filters")
    if not filters:
        return stop
    results = {
        name: result
        for each in map(object_in, list_in(filters))
        for name, result in object_in(each.get("content_filter_results")).items()
        if object_in(result).get("filtered") is True
    }
    return with_words(stop, content_filter=filtered_categories(results))


# --- events


def _read_event(event: JsonObject) -> list[AnySignal]:
    kind, response = event.get("type"), event.get("response")
    if not isinstance(kind, str):
        return []
    said: list[AnySignal] = [Said(response)] if isinstance(response, dict) else []
    read_one = _EVENTS.get(kind)
    if read_one is not None:
        said += read_one(event)
    elif kind.startswith(_SERVER_EVENTS):
        said.append(OtherSeen(_index(event)))
    if (read_one is None or kind.startswith(_WITHIN_ITEMS)) and _names_an_event(kind):
        said.append(Beside(event, (_index(event),)))
    return said


def _names_an_event(kind: str) -> bool:
    """Return whether an event of this kind can be written again. Errors are read separately."""
    return kind != "error" and kind.isascii() and kind.isprintable()


def _index(event: JsonObject) -> int | None:
    return count(event.get("output_index"))


def _place(event: JsonObject) -> Place:
    """Return the place of an event in its item. Events of a summary show it by their name."""
    item = count(event.get("output_index"))
    if "_summary_" in event["type"]:
        return item, SUMMARY, count(event.get("summary_index"))
    return item, count(event.get("content_index"))


def _began(event: JsonObject) -> list[AnySignal]:
    return [began(event.get("response"))]


def _item_added(event: JsonObject) -> list[AnySignal]:
    item = event.get("item")
    return _begin_item(item, _index(event)) if isinstance(item, dict) else []


def _item_done(event: JsonObject) -> list[AnySignal]:
    item, index = event.get("item"), _index(event)
    place = (index,)
    if not isinstance(item, dict):
        return [PartClosed(place)]
    if is_client_call(item):
        return [CallPiece(place, _call(item, index, whole=True))]
    kind = Kind.GROUP if kind_of(item) in _GROUPS else Kind.OTHER
    parts = map(_said_again, _parts_within(item, index))
    return [Restated(place, kind, item), *parts, PartClosed(place)]


def _said_again(part: Opened) -> Restated:
    return Restated(part.place, part.kind, part.native, part.holds)


def _part_added(event: JsonObject) -> list[AnySignal]:
    part = event.get("part")
    return [_begin_part(_place(event), part)] if isinstance(part, dict) else []


def _thought_added(event: JsonObject) -> list[AnySignal]:
    return [Opened(_place(event), Kind.REASONING, object_in(event.get("part")), "text")]


def _part_done(event: JsonObject) -> list[AnySignal]:
    part, closed = event.get("part"), PartClosed(_place(event))
    said = [_said_again(_begin_part(closed.place, part))] if isinstance(part, dict) else []
    return [*said, closed]


def _words(kind: Kind) -> ReadOne:
    def read_one(event: JsonObject) -> list[AnySignal]:
        delta = event.get("delta")
        return [Piece(_place(event), kind, delta)] if isinstance(delta, str) else []

    return read_one


def _words_done(kind: Kind, member: str = "text") -> ReadOne:
    """Return what reads that a part is closed, with its whole text, of which some servers send no
    deltas. A separate event with the whole part may follow."""

    def read_one(event: JsonObject) -> list[AnySignal]:
        text, place = event.get(member), _place(event)
        closed = PartClosed((place[0], count(event.get("content_index"))))
        if not isinstance(text, str) or not text:
            return [closed]
        return [Piece(place, kind, text, whole=True), closed]

    return read_one


def _annotation(event: JsonObject) -> list[AnySignal]:
    """Read an annotation, which belongs to the text that is being written."""
    found = event.get("annotation")
    adds = {"annotations": [found]} if isinstance(found, dict) else None
    return [Piece(_place(event), Kind.TEXT, adds=adds, raw=event if adds else None)]


def _call_piece(event: JsonObject) -> list[AnySignal]:
    index = _index(event)
    return [CallPiece((index,), call_piece(index, event.get("delta")))]


def _call_done(event: JsonObject) -> list[AnySignal]:
    index, given = _index(event), event.get("arguments", event.get("input"))
    return [CallPiece((index,), call_piece(index, given, whole=True))]


_TYPE_MEANS: dict[str, str | None] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
    "response.done": None,
}
"""The events that end a stream, and the status of each. The last one is that of the Realtime API
and of OpenRouter's documentation (read 2026-11-29), whatever the status is."""


def _ended(event: JsonObject) -> list[AnySignal]:
    """Read the last event. If its name and its status differ, the more severe one counts. Its calls
    have no places, since some servers don't number items as in the stream. Its texts may be all
    that comes of them."""
    response = object_in(event.get("response"))
    items = list(enumerate(list_in(response.get("output"))))
    calls: list[AnySignal] = [
        _call(item, number, whole=True) for number, item in items if is_client_call(item)
    ]
    told = tuple(
        part
        for number, item in items
        if kind_of(item) in _GROUPS
        for part in (Opened((number,), Kind.GROUP, item), *_parts_within(item, number))
    )
    if told:
        calls.insert(0, Retold(told))
    signals = _end_of(response, "response.")
    stop = next((s for s in signals if isinstance(s, StopSeen)), None)
    named = read_stop(_TYPE_MEANS[event["type"]], None, "type:")
    if named is not None and (stop is None or _differs(stop, named)):
        signals.append(StopSeen(event["type"], "type", named.reason))
    return [*calls, *signals, Ended()]  # anything after a stop is odd


def _differs(stop: StopSeen, named: StopSeen) -> bool:
    """Return whether one says that the response is complete, and the other that it is not."""
    return (stop.reason is _R.END_TURN) != (named.reason is _R.END_TURN)


_EVENTS: dict[str, ReadOne] = {
    "response.created": _began,
    "response.queued": _began,
    "response.in_progress": _began,
    "response.output_item.added": _item_added,
    "response.output_item.done": _item_done,
    "response.content_part.added": _part_added,
    "response.content_part.done": _part_done,
    "response.output_text.delta": _words(Kind.TEXT),
    "response.content_part.delta": _words(Kind.TEXT),  # of OpenRouter's documentation
    "response.output_text.done": _words_done(Kind.TEXT),
    "response.output_text.annotation.added": _annotation,
    "response.refusal.delta": _words(Kind.REFUSAL),
    "response.refusal.done": _words_done(Kind.REFUSAL, "refusal"),
    "response.reasoning_text.delta": _words(Kind.REASONING),
    "response.reasoning_text.done": _words_done(Kind.REASONING),
    "response.reasoning_part.added": _thought_added,
    "response.reasoning_part.done": _part_done,
    "response.reasoning_summary_part.added": _thought_added,
    "response.reasoning_summary_part.done": _part_done,
    "response.reasoning_summary_text.delta": _words(Kind.REASONING),
    "response.reasoning_summary_text.done": _words_done(Kind.REASONING),
    "response.function_call_arguments.delta": _call_piece,
    "response.function_call_arguments.done": _call_done,
    "response.custom_tool_call_input.delta": _call_piece,
    "response.custom_tool_call_input.done": _call_done,
    **dict.fromkeys(_TYPE_MEANS, _ended),
}
"""Events that are not listed, such as `keepalive` and future ones, have no signals."""

_WITHIN_ITEMS = (
    "response.content_part.done",
    "response.output_text.done",
    "response.refusal.done",
    "response.reasoning_",
)
"""The beginnings of those events in `_EVENTS` that are passed on unchanged with their item, as all
other events are."""

_SERVER_EVENTS = (
    "response.web_search_call.",
    "response.file_search_call.",
    "response.code_interpreter_call",
    "response.image_generation_call.",
    "response.mcp_call",
    "response.mcp_list_tools.",
)
"""The beginnings of events of tools that the provider runs itself."""


def _error_of(value: JsonObject) -> object | None:
    """Return the error in an object, or None: its own, or that of the response in an event."""
    if (error := error_at(value)) is not None:
        return error
    if value.get("type") == "error":
        return {key: item for key, item in value.items() if key != "type"}
    return error_at(object_in(value.get("response")))


read: ReadAny = reader(_read_body, _read_event, _error_of, read_fault)


def usage_object(value: JsonObject) -> JsonObject | None:
    """Return the native usage object: of the response in an event, or of a body."""
    holds = isinstance(value.get("response"), dict)
    return (_usage_within if holds else _usage_beside)(value)


_usage_beside, _usage_within = usage_at("usage"), usage_at("response.usage")


# --- how endings are shown (P1a) --------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = {
    **shown_alike(done="completed", cut="max_output_tokens", blocked="content_filter"),
    Outcome.PAUSED: Shown(native="in_progress", received=True),
    Outcome.REFUSED: Shown(native="completed", received=True),
    Outcome.CANCELLED: Shown(native="cancelled", received=True),
    Outcome.UNKNOWN: Shown(native="incomplete", received=True),
}
"""How each outcome is shown if the turn is not complete."""


def is_request(path: str) -> bool:
    """Return whether the path is where responses are created, below any base URL. Polling,
    compacting and counting have paths of their own.

    >>> is_request("/v1/responses"), is_request("/v1/responses/resp_1/cancel")
    (True, False)
    """
    return path.rstrip("/").endswith("/responses")


_OWN_PARAMS = re.compile(r"input\b|max_output_tokens\Z|previous_response_id\Z")
"""Names in errors that only a request of this wire has. All other errors look alike on all OpenAI
wires."""


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a response, one of its events, or an error that only this wire
    writes.

    >>> looks_like({"object": "response"}), looks_like({"type": "response.created"})
    (True, True)
    """
    kind = value.get("type")
    if value.get("object") == "response":
        return "deleted" not in value
    if isinstance(kind, str) and kind in _EVENTS:
        return True
    if isinstance(kind, str) and (kind.startswith("response.") or kind == "error"):
        return "sequence_number" in value
    output = value.get("output")
    if isinstance(output, list) and isinstance(value.get("status"), str):
        first = object_in(output[0]).get("type") if output else "message" if kind is None else ""
        return isinstance(first, str) and _is_item(first) is not None
    return blames(value, _OWN_PARAMS)


_is_item = re.compile(r"message\Z|reasoning\Z|compaction\Z|mcp_\w+|\w+_call(?:_output)?\Z").match


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event: a response itself has no type."""
    return isinstance(value.get("type"), str) and value.get("object") != "response"


# --- the rest of a broken stream --------------------------------------------------------------


def _kept_id(event: JsonObject) -> str:
    """Return the id of a response in the background, which the provider keeps: `starting_after` of
    `responses.retrieve` in openai-python 3.54 (read 2026-11-28)."""
    told = object_in(event.get("response"))
    keeps = told.get("background") is True and told.get("store") is not False
    return (word_in(told, "id") or "") if keeps else ""


def _place_of(event: JsonObject) -> str:
    number = count(event.get("sequence_number"))
    return "" if number is None else str(number)


CURSORS = Cursors(
    _kept_id,
    _place_of,
    lambda event: event.get("type") == "error",
    "starting_after",
    numbered=True,
)


WIRE = Wire(
    name="openai-responses",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    limit_key=lambda _: key_at(ResponsesRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=is_event,
    read=read,
    parts_close=True,
    short=ShortPath(
        parse_request, read, short.asks, short.ids_if_whole, short.event, holes=short.HOLES
    ),
    usage_object=usage_object,
    parse_fault=fault_parser(_error_of, read_fault),
    layout=ResponseLayout,
    cursors=CURSORS,
    content=merged_content,
    clean_stop=clean_stop("completed"),
    render_body=body.render_body,
    render_error=error_body(openai_error, within="error"),
    form=FORM,
)
