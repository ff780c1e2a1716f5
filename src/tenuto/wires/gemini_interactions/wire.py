"""Gemini's Interactions API, of the Developer API and of Vertex AI.

https://ai.google.dev/api/interactions-api and https://ai.google.dev/gemini-api/docs/streaming (read
through google-genai 3.4, 2026-11-22: `google/genai/_gaos/types/interactions`). From top to bottom:
the stop table, reading, and the faces of an ending. The error table stands in
`gemini_interactions_errors`, the request's side in `gemini_interactions_request` and `…_history`,
the writing side in `gemini_interactions_body` and `…_render`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal, cast

import msgspec

from tenuto.core.fault import Fault
from tenuto.core.outcome import Outcome
from tenuto.core.signals import (
    Began,
    CallDelta,
    Closed,
    Ended,
    FaultSeen,
    OtherSeen,
    ReasoningDelta,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.stop import StopReason
from tenuto.wires.base import JsonObject, Shown, Wire, shown_alike
from tenuto.wires.errors import error_in
from tenuto.wires.gemini_generate.errors import asked_to_wait_s
from tenuto.wires.gemini_interactions import body
from tenuto.wires.gemini_interactions.content import TOKEN, merged_content
from tenuto.wires.gemini_interactions.errors import ERRORS, errors_in, is_its_own, read_fault
from tenuto.wires.gemini_interactions.form import FORM
from tenuto.wires.gemini_interactions.render import InteractionWriter
from tenuto.wires.gemini_interactions.request import parse_request
from tenuto.wires.gemini_interactions.steps import (
    answered_in,
    kind_of,
    parts_of,
    steps_of,
    text_in,
    thought,
)
from tenuto.wires.json import UNREADABLE, as_text, count, is_no_piece
from tenuto.wires.plain import say_something
from tenuto.wires.retry_after import retry_after_s
from tenuto.wires.stops import StopTable, in_other_words, look_up

_R = StopReason

STOPS: StopTable = {
    # In the background: poll until it is over.
    "in_progress": (_R.PAUSED, "background"),
    # The caller has to run a function.
    "requires_action": (_R.TOOL_CALL, None),
    "completed": (_R.END_TURN, None),
    # The error event, or `errors`, says why.
    "failed": (_R.ERROR, None),
    "cancelled": (_R.CANCELLED, None),
    # `max_output_tokens`, which the thoughts count towards.
    "incomplete": (_R.MAX_TOKENS, None),
    # What an agent may use is used up.
    "budget_exceeded": (_R.MAX_TOKENS, "budget"),
    "queued": (_R.PAUSED, "background"),
    # The limit of one request: goes on with the `continuation_token` beside it.
    "requires_continuation": (_R.PAUSED, "resumable"),
}
"""`InteractionStatus`, in the order and spelling of the reference."""

DIALECT_STOPS = in_other_words(STOPS)
"""Values of those who speak this wire in other words (N2)."""

_ALL_STOPS = {**DIALECT_STOPS, **STOPS}


def read_stop(interaction: JsonObject, at: str = "") -> StopSeen | None:
    """The stop that an interaction's status means; None where there is none (N1a).

    >>> read_stop({"status": "incomplete"}).reason.value
    'max_tokens'
    >>> read_stop({"status": "requires_continuation"}).detail
    'no_continuation_token'
    """
    stop = look_up(interaction.get("status"), f"{at}status", _ALL_STOPS)
    if stop is not None and stop.detail == "resumable" and not interaction.get(TOKEN):
        # Nothing to go on with: what there is was cut by a limit.
        return StopSeen(stop.raw, stop.field, _R.MAX_TOKENS, "no_continuation_token")
    return stop


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


def _parse_body(interaction: JsonObject) -> list[Signal]:
    signals: list[Signal] = [_began_as(interaction)]
    steps = steps_of(interaction)
    answered = answered_in(steps)
    for index, step in enumerate(steps):
        signals.extend(_parse_step(step, index, answered))
    return [*signals, *_end_of(interaction, "")]


def _parse_step(
    step: object, index: int | None, answered: Collection[str] = (), *, begun: bool = False
) -> list[Signal]:
    """A step of a body, or (`begun`) as a stream begins it."""
    if not isinstance(step, dict):
        return []
    match kind_of(step):
        case "model_output":
            error = step.get("error")
            failed: list[Signal] = [FaultSeen(read_fault(error))] if error else []
            return [TextDelta(""), *map(_part, parts_of(step)), *failed]
        case "thought":
            return [ReasoningDelta(thought(step))]
        case "function_call" if not _is_answered(step, answered):
            return [_call(step, index, begun=begun)]
        case "user_input":  # those that are fetched hold what was asked as well
            return []
        case _:
            return [OtherSeen(index)]


def _is_answered(step: JsonObject, answered: Collection[str]) -> bool:
    call_id = step.get("id")
    return isinstance(call_id, str) and call_id in answered


def _part(part: JsonObject) -> Signal:
    text = text_in(part)
    return OtherSeen() if text is None else TextDelta(text)


_CALL_KEYS = frozenset({"type", "id", "name", "arguments"})


def _call(step: JsonObject, index: int | None, *, begun: bool) -> CallDelta:
    """A call. A stream begins it with an empty object, whose text is still to come."""
    call_id, name, given = step.get("id"), step.get("name"), step.get("arguments")
    arguments, odd, decoded = _arguments(None if begun and given == {} else given)
    extra = {k: v for k, v in step.items() if k not in _CALL_KEYS and v is not None}
    return CallDelta(
        index,
        call_id if isinstance(call_id, str) and call_id else None,
        name if isinstance(name, str) and name else None,
        arguments,
        odd if index is not None else (*odd, "call_index_missing"),
        may_be_empty=begun or decoded,
        decoded=decoded,
        extra=extra or None,
    )


def _arguments(given: object) -> tuple[str | None, tuple[str, ...], bool]:
    """Argument text, what was odd about it, and whether it was decoded before it came."""
    if given is None or isinstance(given, str):
        return given, ("arguments_text",) if given else (), False
    if isinstance(given, dict):
        return as_text(given), (), True
    return as_text(given), ("arguments_no_object",), False


def _end_of(interaction: JsonObject, at: str) -> list[Signal]:
    """The stop of an interaction, and its usage."""
    stop = read_stop(interaction, at)
    usage = interaction.get("usage")
    used = [UsageSeen(_usage(usage))] if isinstance(usage, dict) else []
    return [*([] if stop is None else [stop]), *used]


# --- events


def _parse_event(event: JsonObject) -> list[Signal]:
    kind = event.get("event_type")
    parse = _EVENTS.get(kind) if isinstance(kind, str) else None
    return parse(event) if parse is not None else []


def _index(event: JsonObject) -> int | None:
    return count(event.get("index"))


def _interaction(event: JsonObject) -> JsonObject:
    found = event.get("interaction")
    return found if isinstance(found, dict) else {}


def _began_as(interaction: JsonObject) -> Began:
    name = interaction.get("id")
    return Began(name if isinstance(name, str) else "")


def _created(event: JsonObject) -> list[Signal]:
    return [_began_as(_interaction(event))]


def _status_update(event: JsonObject) -> list[Signal]:
    """A status between steps. A word that no table has may only tell of progress, and the last
    event says how it ended."""
    stop = read_stop(event)
    usage = event.get("usage")
    used: list[Signal] = [UsageSeen(_usage(usage))] if isinstance(usage, dict) else []
    if stop is None or not stop.known or stop.detail == "background":
        name = event.get("interaction_id")
        return [Began(name if isinstance(name, str) else ""), *used]
    return [stop, *used]


def _step_begun(event: JsonObject) -> list[Signal]:
    return _parse_step(event.get("step"), _index(event), begun=True)


def _step_piece(event: JsonObject) -> list[Signal]:
    delta = event.get("delta")
    if not isinstance(delta, dict):
        return []
    match kind_of(delta):
        case "text":
            return [TextDelta(text)] if isinstance(text := delta.get("text"), str) else []
        case "text_annotation_delta":  # they belong to the text that is being written
            return [TextDelta("")]
        case "thought_summary":
            return [ReasoningDelta(text_in(delta.get("content")) or "")]
        case "thought_signature":
            return [ReasoningDelta("")]
        case "arguments_delta":
            return [_call_piece(delta.get("arguments"), _index(event))]
        case _:
            return [OtherSeen(_index(event))]


def _call_piece(given: object, index: int | None) -> CallDelta:
    arguments = given if given is None or isinstance(given, str) else as_text(given)
    odd = ("arguments_object",) if isinstance(given, dict) else ()
    odd = odd if index is not None else (*odd, "call_index_missing")
    return CallDelta(index, None, None, arguments, odd, unreadable=is_no_piece(given))


def _completed(event: JsonObject) -> list[Signal]:
    return [*_end_of(_interaction(event), "interaction."), Ended()]


_EVENTS: dict[str, Callable[[JsonObject], list[Signal]]] = {
    "interaction.created": _created,
    "interaction.status_update": _status_update,
    "step.start": _step_begun,
    "step.delta": _step_piece,
    "step.stop": lambda event: [Closed()],
    # However it ended: the status in it says so.
    "interaction.completed": _completed,
    "error": lambda event: [],
}
"""What is not here, events yet to come, says nothing."""


def _error_of(value: JsonObject) -> object | None:
    """The error that an object carries, or None. What an interaction that did not fail keeps among
    its diagnostics stopped nothing."""
    if value.get("error") or value.get("event_type") == "error":
        return cast("object", value.get("error") or {})
    told = value if "status" in value and "event_type" not in value else _interaction(value)
    if told.get("error"):
        return cast("object", told["error"])
    return cast("object", errors_in(told)) if told.get("status") == "failed" else None


def usage_object(value: JsonObject) -> JsonObject | None:
    """The native usage object: of a body, of the interaction in an event, or of the event."""
    usage = _interaction(value).get("usage") or value.get("usage")
    return usage if isinstance(usage, dict) else None


def _usage(usage: JsonObject) -> Usage:
    """`total_output_tokens` leaves out the thoughts."""
    said, thought_of = count(usage.get("total_output_tokens")), usage.get("total_thought_tokens")
    thoughts = count(thought_of)
    made = None if said is None and thoughts is None else (said or 0) + (thoughts or 0)
    return Usage(
        input_tokens=count(usage.get("total_input_tokens")),
        output_tokens=made,
        reasoning_tokens=thoughts,
        cached_tokens=count(usage.get("total_cached_tokens")),
    )


# --- the quick reading of an event that only carries text ---------------------------------------


class _Text(msgspec.Struct, tag_field="type", tag="text"):
    text: str


class _Summary(msgspec.Struct, tag_field="type", tag="thought_summary"):
    content: _Text


class _Flowing(msgspec.Struct):
    """All keys that `parse_object` looks at. Whatever is more than text fails the decoding."""

    event_type: Literal["step.delta"]
    delta: _Text | _Summary
    error: None = None
    interaction: None = None


_read_flowing = msgspec.json.Decoder(_Flowing).decode


def read_flowing(data: bytes) -> TextDelta | ReasoningDelta | None:
    """The one signal of an event that carries text or reasoning and nothing else, else None.

    >>> read_flowing(b'{"index":1,"delta":{"text":"Hi","type":"text"},"event_type":"step.delta"}')
    TextDelta(text='Hi')
    >>> read_flowing(b'{"index":1,"event_type":"step.stop"}') is None
    True
    """
    try:
        delta = _read_flowing(data).delta
    except UNREADABLE:
        return None
    if type(delta) is _Text:
        return TextDelta(delta.text)
    return ReasoningDelta(cast("_Summary", delta).content.text)


# --- the quick reading of a whole body that is nothing but text ---------------------------------


class _TextPart(msgspec.Struct, tag_field="type", tag="text"):
    text: msgspec.Raw  # not decoded: bodies may be large


class _Output(msgspec.Struct, tag_field="type", tag="model_output"):
    content: list[_TextPart]
    error: None = None


class _Thought(msgspec.Struct, tag_field="type", tag="thought"):
    pass


class _Whole(msgspec.Struct):
    steps: list[_Output | _Thought]
    status: Literal["completed"]
    error: None = None
    event_type: None = None


_read_whole = msgspec.json.Decoder(_Whole).decode


def is_plain(body: bytes) -> bool:
    """Whether a body is an answer of text that ended by itself.

    >>> is_plain(b'{"status":"completed","steps":[{"type":"model_output","content":['
    ...          b'{"type":"text","text":"Hi"}]}]}')
    True
    """
    try:
        steps = _read_whole(body).steps
        texts = [p.text for step in steps if isinstance(step, _Output) for p in step.content]
        return say_something(texts, body)
    except UNREADABLE:
        return False


# --- the faces of an ending (P1a) -------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = {
    **shown_alike(done="completed", cut="incomplete", blocked="failed"),
    Outcome.PAUSED: Shown(native="requires_continuation", received=True),
    Outcome.REFUSED: Shown(native="completed", received=True),
    Outcome.CANCELLED: Shown(native="cancelled", received=True),
}
"""Every outcome, as the caller sees it where the turn is not complete."""


def is_request(path: str) -> bool:
    """Whether the path is where interactions are made, below whatever base URL; those that are
    fetched or cancelled have paths of their own.

    >>> is_request("/v1beta/interactions"), is_request("/v1beta/interactions/v1_1")
    (True, False)
    """
    return path.rstrip("/").endswith("/interactions")


def looks_like(value: JsonObject) -> bool:
    """Whether an object is an interaction, one of its events, or an error that only this API
    writes.

    >>> looks_like({"object": "interaction"}), looks_like({"event_type": "step.stop"})
    (True, True)
    """
    kind = value.get("event_type")
    if isinstance(kind, str):
        return kind.startswith(("interaction.", "step.")) or (kind == "error" and "error" in value)
    if value.get("object") == "interaction":
        return True
    if isinstance(value.get("steps"), list) and "status" in value:
        return True
    return value.keys() == {"error"} and is_its_own(value["error"])


def is_event(value: JsonObject) -> bool:
    """Whether an object is an event: an interaction itself has no such type."""
    return isinstance(value.get("event_type"), str)


def parse_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """The fault of an HTTP error response; what it asks to wait is read."""
    error = error_in(body, _error_of)
    return read_fault(error, status, retry_after_s(headers) or asked_to_wait_s(error))


WIRE = Wire(
    name="gemini-interactions",
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
    is_plain=is_plain,
    usage_object=usage_object,
    parse_fault=parse_fault,
    writer=InteractionWriter,
    content=merged_content,
    clean_stop=body.clean_stop,
    body_of=body.body_of,
    render_body=body.render_body,
    render_error=body.render_error,
    error_status=body.ERROR_STATUS,
    form=FORM,
)
