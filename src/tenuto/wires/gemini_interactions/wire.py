"""Gemini's Interactions API, of the Developer API and of Vertex AI.

https://ai.google.dev/api/interactions-api and https://ai.google.dev/gemini-api/docs/streaming (read
through google-genai 3.4, 2026-11-22: `google/genai/_gaos/types/interactions`). From top to bottom:
the stop table, reading, and the faces of an ending. The error table stands in
`errors`, the request's side in `request` and `history`,
the writing side in `body` and `render`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import cast

from tenuto.core.fault import Fault
from tenuto.core.outcome import Outcome
from tenuto.core.parts import (
    AnySignal,
    CallPiece,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Restated,
    Said,
)
from tenuto.core.signals import (
    Began,
    CallDelta,
    Ended,
    FaultSeen,
    OtherSeen,
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
from tenuto.wires.gemini_interactions.content import PAUSE, TOKEN, merged_content
from tenuto.wires.gemini_interactions.errors import ERRORS, errors_in, is_its_own, read_fault
from tenuto.wires.gemini_interactions.form import FORM
from tenuto.wires.gemini_interactions.render import InteractionLayout
from tenuto.wires.gemini_interactions.request import parse_request
from tenuto.wires.gemini_interactions.steps import (
    answered_in,
    kind_of,
    parts_of,
    steps_of,
    text_in,
    thought,
)
from tenuto.wires.json import as_text, count, is_no_piece
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


def read(value: object, *, event: bool) -> list[AnySignal]:
    """The signals of a body, or of one event; an object of another shape has none."""
    if not isinstance(value, dict):
        return []
    signals = _read_event(value) if event else [*_read_body(value)]
    error = _error_of(value)
    if error is not None:
        signals.append(FaultSeen(read_fault(error)))
    return signals


def _read_body(interaction: JsonObject) -> Iterator[AnySignal]:
    yield _began_as(interaction)
    steps = steps_of(interaction)
    answered = answered_in(steps)
    for index, step in enumerate(steps):
        yield from _read_step(step, index, answered)
    yield from _end_of(interaction, "")


def _read_step(
    step: object, index: int | None, answered: Collection[str] = (), *, begun: bool = False
) -> Iterator[AnySignal]:
    """A step of a body, or (`begun`) as a stream begins it."""
    if not isinstance(step, dict):
        return
    place = (index,)
    match kind_of(step):
        case "model_output":
            yield Opened(place, Kind.TEXT, step)
            yield from map(_part, parts_of(step))
            if error := step.get("error"):
                yield FaultSeen(read_fault(error))
        case "thought":
            yield Opened(place, Kind.REASONING, step, says=thought(step))
        case "function_call" if not _is_answered(step, answered):
            yield CallPiece(place, _call(step, index, begun=begun))
        case "user_input":  # those that are fetched hold what was asked as well
            yield Restated(place, Kind.NOTE, step)
        case _:
            yield Opened(place, Kind.OTHER, step)


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


def _read_event(event: JsonObject) -> list[AnySignal]:
    kind = event.get("event_type")
    read = _EVENTS.get(kind) if isinstance(kind, str) else None
    return [*read(event)] if read is not None else []


def _index(event: JsonObject) -> int | None:
    return count(event.get("index"))


def _interaction(event: JsonObject) -> JsonObject:
    found = event.get("interaction")
    return found if isinstance(found, dict) else {}


def _began_as(interaction: JsonObject) -> Began:
    name = interaction.get("id")
    return Began(name if isinstance(name, str) else "")


def _created(event: JsonObject) -> list[AnySignal]:
    return [_began_as(_interaction(event)), Said(_interaction(event))]


def _status_update(event: JsonObject) -> Iterator[AnySignal]:
    """A status between steps. A word that no table has may only tell of progress, and the last
    event says how it ended."""
    yield from _paused(event)
    stop = read_stop(event)
    usage = event.get("usage")
    if stop is None or not stop.known or stop.detail == "background":
        name = event.get("interaction_id")
        yield Began(name if isinstance(name, str) else "")
    else:
        yield stop
    if isinstance(usage, dict):
        yield UsageSeen(_usage(usage))


def _paused(told: JsonObject) -> list[Said]:
    """The token of a pause; earlier ones are checkpoints."""
    token = told.get(TOKEN)
    if not token or told.get("status") != "requires_continuation":
        return []
    return [Said({PAUSE: {TOKEN: token, "id": told.get("id") or told.get("interaction_id") or ""}})]


def _step_begun(event: JsonObject) -> Iterator[AnySignal]:
    return _read_step(event.get("step"), _index(event), begun=True)


def _step_piece(event: JsonObject) -> list[AnySignal]:
    delta = event.get("delta")
    if not isinstance(delta, dict):
        return []
    place, adds = (_index(event),), {"deltas": [delta]}
    match kind_of(delta):
        case "text":
            text = delta.get("text")
            return [Piece(place, Kind.TEXT, text)] if isinstance(text, str) else []
        case "text_annotation_delta":  # they belong to the text that is being written
            return [Piece(place, Kind.TEXT, "", adds, delta)]
        case "thought_summary":
            summary = text_in(delta.get("content")) or ""
            return [Piece(place, Kind.REASONING, summary, adds, delta)]
        case "thought_signature":
            return [Piece(place, Kind.REASONING, "", adds, delta)]
        case "arguments_delta":
            return [CallPiece(place, _call_piece(delta.get("arguments"), _index(event)), delta)]
        case _:
            return [Piece(place, Kind.OTHER, "", adds, delta)]


def _call_piece(given: object, index: int | None) -> CallDelta:
    arguments = given if given is None or isinstance(given, str) else as_text(given)
    odd = ("arguments_object",) if isinstance(given, dict) else ()
    odd = odd if index is not None else (*odd, "call_index_missing")
    return CallDelta(index, None, None, arguments, odd, unreadable=is_no_piece(given))


def _completed(event: JsonObject) -> list[AnySignal]:
    told = _interaction(event)
    return [Said(told), *_paused(told or event), *_end_of(told, "interaction."), Ended()]


_EVENTS: dict[str, Callable[[JsonObject], Iterable[AnySignal]]] = {
    "interaction.created": _created,
    "interaction.status_update": _status_update,
    "step.start": _step_begun,
    "step.delta": _step_piece,
    "step.stop": lambda event: [PartClosed((_index(event),))],
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
    read=read,
    parts_close=True,
    usage_object=usage_object,
    parse_fault=parse_fault,
    layout=InteractionLayout,
    content=merged_content,
    clean_stop=body.clean_stop,
    as_body=body.as_body,
    render_body=body.render_body,
    render_error=body.render_error,
    error_status=body.ERROR_STATUS,
    form=FORM,
)
