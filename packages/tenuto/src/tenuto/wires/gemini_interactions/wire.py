"""Gemini's Interactions API, of the Developer API and of Vertex AI.

https://ai.google.dev/api/interactions-api and https://ai.google.dev/gemini-api/docs/streaming (read
through google-genai 3.4, 2026-11-22: `google/genai/_gaos/types/interactions`). This module holds
the stop table, the reader, and how endings are shown. Errors are in `errors`, requests in `request`
and `history`, and writing in `body` and `render`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from tenuto.core.answer.fault import Fault
from tenuto.core.answer.parts import (
    AnySignal,
    CallPiece,
    Checkpoint,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Restated,
    Retold,
    Said,
)
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    FaultSeen,
    Signal,
    StopSeen,
    TextDelta,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.answer import Shown, shown_alike
from tenuto.wires.base import Wire
from tenuto.wires.cursors import Cursors
from tenuto.wires.errors import error_at, error_in
from tenuto.wires.gemini_interactions import body
from tenuto.wires.gemini_interactions.content import TOKEN, merged_content
from tenuto.wires.gemini_interactions.errors import ERRORS, errors_in, is_its_own, read_fault
from tenuto.wires.gemini_interactions.form import FORM
from tenuto.wires.gemini_interactions.render import InteractionLayout
from tenuto.wires.gemini_interactions.request import InteractionRequest, parse_request
from tenuto.wires.gemini_interactions.steps import (
    OUTPUT,
    THOUGHT,
    answered_in,
    is_earlier,
    kind_of,
    parts_of,
    step_of,
    steps_of,
    text_in,
    thought,
)
from tenuto.wires.gemini_like.errors import asked_to_wait_s
from tenuto.wires.json import JsonObject, as_text, count, is_no_piece
from tenuto.wires.members import object_in, others_in, word_in
from tenuto.wires.reading import (
    ReadAny,
    ReadOne,
    began,
    by_name,
    decoded_arguments,
    numbered,
    reader,
)
from tenuto.wires.request_edits import key_at
from tenuto.wires.retry_after import retry_after_s
from tenuto.wires.stops import StopTable, clean_stop, stop_reader
from tenuto.wires.usage import FindUsage, usage_at

_R = StopReason

STOPS: StopTable = {
    # In the background: poll until it is finished.
    "in_progress": (_R.PAUSED, "background"),
    # The caller has to run a function.
    "requires_action": (_R.TOOL_CALL, None),
    "completed": (_R.END_TURN, None),
    # All processing is over, in newer versions also where the caller has to run a function
    # (https://googleapis.github.io/js-genai/release_docs/enums/types.InteractionStatus.html).
    "idle": (_R.END_TURN, None),
    # The error event, or `errors`, says why.
    "failed": (_R.ERROR, None),
    "cancelled": (_R.CANCELLED, None),
    # `max_output_tokens`, which the thoughts count towards.
    "incomplete": (_R.MAX_TOKENS, None),
    # An agent's budget is used up.
    "budget_exceeded": (_R.MAX_TOKENS, "budget"),
    "queued": (_R.PAUSED, "background"),
    # The limit of one request; continue with the `continuation_token` beside it.
    "requires_continuation": (_R.PAUSED, "resumable"),
}
"""`InteractionStatus`, in the order and spelling of the reference."""

_look_up = stop_reader(STOPS)


def read_stop(interaction: JsonObject, at: str = "") -> StopSeen | None:
    """Return the stop of an interaction's status; None: there is none (N1a).

    >>> read_stop({"status": "incomplete"}).reason.value
    'max_tokens'
    >>> read_stop({"status": "requires_continuation"}).detail
    'no_continuation_token'
    """
    stop = _look_up(interaction.get("status"), f"{at}status")
    if stop is not None and stop.detail == "resumable" and not interaction.get(TOKEN):
        # Nothing can continue it: a limit cut the answer.
        return StopSeen(stop.raw, stop.field, _R.MAX_TOKENS, "no_continuation_token")
    return stop


# --- reading ----------------------------------------------------------------------------------


def _read_body(interaction: JsonObject) -> Iterator[AnySignal]:
    yield began(interaction)
    steps = steps_of(interaction)
    answered = answered_in(steps)
    for index, step in enumerate(steps):
        yield from _read_step(step, index, answered)
    yield from _checkpoint(interaction)
    yield from _end_of(interaction, "", interaction)


def _read_step(
    step: object, index: int | None, answered: Collection[str] = (), *, begun: bool = False
) -> Iterator[AnySignal]:
    """Read a step of a body, or (`begun`) the beginning of one in a stream."""
    if not isinstance(step, dict):
        return
    place = (index,)
    match kind_of(step):
        case "model_output":
            yield Opened(place, Kind.TEXT, step)
            for part in parts_of(step):
                text = text_in(part)
                other = Piece(place, Kind.OTHER, raw=part)
                yield other if text is None else TextDelta(text)
            if (error := error_at(step)) is not None:
                yield FaultSeen(read_fault(error))
        case "thought":
            yield Opened(place, Kind.REASONING, step, says=thought(step))
        case "function_call" if not _is_answered(step, answered):
            yield CallPiece(place, _call(step, index, begun=begun))
        case "user_input":  # fetched interactions contain the input too
            yield Restated(place, Kind.NOTE, step)
        case _:
            yield Opened(place, Kind.OTHER, step)


def _is_answered(step: JsonObject, answered: Collection[str]) -> bool:
    call_id = step.get("id")
    return isinstance(call_id, str) and call_id in answered


_CALL_KEYS = frozenset({"type", "id", "name", "arguments"})


def _call(step: JsonObject, index: int | None, *, begun: bool) -> CallDelta:
    """Read a call. A stream begins it with an empty object, whose text follows."""
    given = step.get("arguments")
    arguments, odd, decoded = decoded_arguments(None if begun and given == {} else given)
    return CallDelta(
        index,
        word_in(step, "id"),
        word_in(step, "name"),
        arguments,
        numbered(index, odd),
        may_be_empty=begun or decoded,
        decoded=decoded,
        extra=others_in(step, _CALL_KEYS),
    )


def _end_of(interaction: JsonObject, at: str, told: JsonObject) -> list[Signal]:
    """Return the stop of an interaction, and the usage of the body or event that reports it."""
    stop = read_stop(interaction, at)
    usage = usage_object(told)
    used = [UsageSeen(body.COUNTS.read(usage.get))] if usage is not None else []
    return [*([] if stop is None else [stop]), *used]


# --- events


def _index(event: JsonObject) -> int | None:
    return count(event.get("index"))


def _interaction(event: JsonObject) -> JsonObject:
    found = event.get("interaction")
    return found if isinstance(found, dict) else {}


def _created(event: JsonObject) -> list[AnySignal]:
    told = _interaction(event)
    return [began(told), Said(told), *_checkpoint(told)]


def _status_update(event: JsonObject) -> Iterator[AnySignal]:
    """Read a status between steps. An unknown word may only report progress, and the last event
    says how it ended."""
    yield from _checkpoint(event)
    stop = read_stop(event)
    usage = event.get("usage")
    if stop is None or not stop.known or stop.detail == "background":
        yield began({"id": event.get("interaction_id")})
    else:
        yield stop
    if isinstance(usage, dict):
        yield UsageSeen(body.COUNTS.read(usage.get))


def _checkpoint(told: JsonObject) -> list[Checkpoint]:
    """Return the token with which the provider goes on from here by itself. It counts together with
    the interaction that gave it."""
    token = told.get(TOKEN)
    if not token:
        return []
    given_by = told.get("id") or told.get("interaction_id") or ""
    return [Checkpoint({TOKEN: token, "id": given_by})]


def _step_begun(event: JsonObject) -> Iterator[AnySignal]:
    return _read_step(event.get("step"), _index(event), begun=True)


def _output_begun(event: JsonObject) -> Iterator[AnySignal]:
    return _read_step(step_of(event.get("content")), _index(event), begun=True)


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
        case "function_call":  # of the earlier shape, which sends each call at once
            return [CallPiece(place, _call(delta, _index(event), begun=False))]
        case "arguments_delta":
            return [CallPiece(place, _call_piece(delta.get("arguments"), _index(event)), delta)]
        case _:
            return [Piece(place, Kind.OTHER, "", adds, delta)]


def _call_piece(given: object, index: int | None) -> CallDelta:
    arguments = given if given is None or isinstance(given, str) else as_text(given)
    odd = numbered(index, ("arguments_object",) if isinstance(given, dict) else ())
    return CallDelta(index, None, None, arguments, odd, unreadable=is_no_piece(given))


def _step_stopped(event: JsonObject) -> Iterator[AnySignal]:
    """Read the end of a step. Some servers send its text only here."""
    place, step = (_index(event),), object_in(event.get("step"))
    for part in _retold([step]):
        yield Piece(place, part.kind, part.says, whole=True)
    yield PartClosed(place)


def _retold(steps: list[Any]) -> list[Opened]:
    """Return the texts of steps that are sent as a whole."""
    found: list[Opened] = []
    for number, step in enumerate(map(object_in, steps)):
        if kind_of(step) == OUTPUT:
            said = "".join(text_in(part) or "" for part in parts_of(step))
            found.append(Opened((number,), Kind.TEXT, step, says=said))
        elif kind_of(step) == THOUGHT:
            found.append(Opened((number,), Kind.REASONING, step, says=thought(step)))
    return [part for part in found if part.says]


def _completed(event: JsonObject) -> list[AnySignal]:
    told = _interaction(event)
    parts = _retold(steps_of(told))
    again = [Retold(tuple(parts))] if parts else []
    end = _end_of(told, "interaction.", event)
    # A token of before is over: the last event says what there is.
    token = _checkpoint(told or event) or [Checkpoint({})]
    return [*again, Said(told), *token, *end, Ended()]


_EVENTS: dict[str, ReadOne] = {
    "interaction.created": _created,
    "interaction.status_update": _status_update,
    "step.start": _step_begun,
    "step.delta": _step_piece,
    "step.stop": _step_stopped,
    # However it ended, its status says so.
    "interaction.completed": _completed,
    "error": lambda event: [Checkpoint({})],
}
"""Events that are not listed, such as future ones, have no signals."""

_EARLIER_EVENTS: dict[str, ReadOne] = {
    "interaction.start": _created,
    "content.start": _output_begun,
    "content.delta": _step_piece,
    "content.stop": lambda event: [PartClosed((_index(event),))],
    "interaction.complete": _completed,
}
"""Those of the earlier shape, which has outputs in the place of steps
(https://docs.cloud.google.com/gemini-enterprise-agent-platform/reference/rest 2026-11-28, its
`InteractionStreamingEvent`)."""


def _error_of(value: JsonObject) -> object | None:
    """Return the error in an object, or None. Diagnostics of an interaction that did not fail don't
    count."""
    if (error := error_at(value)) is not None or value.get("event_type") == "error":
        return error or {}
    told = value if "status" in value and "event_type" not in value else _interaction(value)
    if (error := error_at(told)) is not None:
        return error
    return cast("object", errors_in(told)) if told.get("status") == "failed" else None


read: ReadAny = reader(
    _read_body, by_name({**_EVENTS, **_EARLIER_EVENTS}, "event_type"), _error_of, read_fault
)


usage_object: FindUsage = usage_at("interaction.usage", "usage")
"""Finds the native usage object: of the interaction in an event, of a body, or of the event."""

# --- how endings are shown (P1a) --------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = {
    **shown_alike(done="completed", cut="incomplete", blocked="failed"),
    Outcome.PAUSED: Shown(native="requires_continuation", received=True),
    Outcome.REFUSED: Shown(native="completed", received=True),
    Outcome.CANCELLED: Shown(native="cancelled", received=True),
}
"""How each outcome is shown if the turn is not complete."""


def is_request(path: str) -> bool:
    """Return whether the path is where interactions are created, below any base URL. Fetching and
    cancelling have paths of their own.

    >>> is_request("/v1beta/interactions"), is_request("/v1beta/interactions/v1_1")
    (True, False)
    """
    return path.rstrip("/").endswith("/interactions")


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is an interaction, one of its events, or an error that only this API
    writes.

    >>> looks_like({"object": "interaction"}), looks_like({"event_type": "step.stop"})
    (True, True)
    """
    kind = value.get("event_type")
    if isinstance(kind, str):
        known = kind.startswith("interaction.") or kind in _OF_PARTS
        return known or (kind == "error" and "error" in value)
    if value.get("object") == "interaction":
        return True
    whose = "status" in value and ("model" in value or "agent" in value)
    if whose and (isinstance(value.get("steps"), list) or is_earlier(value)):
        return True
    return value.keys() == {"error"} and is_its_own(value["error"])


_OF_PARTS = frozenset(
    f"{part}.{what}" for part in ("step", "content") for what in ("start", "delta", "stop")
)


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event: an interaction itself has no such type."""
    return isinstance(value.get("event_type"), str)


def parse_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Return the fault of an HTTP error response, with the wait that it asks for."""
    error = error_in(body, _error_of)
    return read_fault(error, status, retry_after_s(headers) or asked_to_wait_s(error))


# --- the rest of a broken stream --------------------------------------------------------------


def _id_of(event: JsonObject) -> str:
    """Return the id of an interaction. Its stream can be fetched from each event on:
    `interactions.get` of google-genai 3.4 with `last_event_id` (read 2026-11-28)."""
    return word_in(_interaction(event), "id") or word_in(event, "interaction_id") or ""


CURSORS = Cursors(
    _id_of,
    lambda event: word_in(event, "event_id") or "",
    lambda event: event.get("event_type") == "error",
    "last_event_id",
)


WIRE = Wire(
    name="gemini-interactions",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    limit_key=lambda _: key_at(InteractionRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=is_event,
    read=read,
    parts_close=True,
    raises_on_errors=False,
    breaks_on_errors=True,
    usage_object=usage_object,
    parse_fault=parse_fault,
    layout=InteractionLayout,
    cursors=CURSORS,
    content=merged_content,
    clean_stop=clean_stop("completed", "requires_action"),
    as_body=body.as_body,
    render_body=body.render_body,
    render_error=body.render_error,
    error_status=body.ERROR_STATUS,
    form=FORM,
)
