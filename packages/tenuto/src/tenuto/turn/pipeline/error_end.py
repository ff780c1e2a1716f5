"""The message and the event for a caller whose turn could not be finished."""

from __future__ import annotations

from tenuto.core.answer.fault import FaultKind
from tenuto.core.events.report import Report
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.wires.errors import OURS
from tenuto.wires.json import JsonObject, encode_event, encode_named_event

MESSAGE_CHARS = 2_000
"""How much of a provider's own message an error repeats."""

LOST = {
    FaultKind.TIMEOUT: "ended in a timeout",
    FaultKind.CONNECTION: "lost its connection",
}
"""How an attempt ended about which the provider says nothing."""

_WHOSE = {
    FaultKind.LIMIT: "A limit was passed",
    FaultKind.NOT_THIS_API: "What came",
    FaultKind.REDIRECTED: "What came",
    FaultKind.CONNECTION: "What failed",
    FaultKind.TIMEOUT: "What failed",
}
"""Precedes the message of a fault if it is Tenuto's and not the provider's."""


def message_of(turn: TurnRecord, attempt: Attempt, report: Report) -> str:
    """Return why the turn could not be finished, for people."""
    message = f"Tenuto could not finish this turn: {report.reason.replace('_', ' ')}."
    if report.advice:
        message += f" {report.advice}"
    fault = turn.log.last.fault if turn.log.last else None
    failed = fault.kind if fault else FaultKind.SERVER
    if how := LOST.get(attempt.lost.kind if attempt.lost else failed):
        message += f" The last of {report.attempts} attempts {how}."
    if fault is not None and fault.message:
        text = turn.redactor.brief(fault.message, MESSAGE_CHARS)
        message += f" {_WHOSE.get(fault.kind, 'The provider said')}: {text}"
    return message


def with_note(error: Exception, message: str) -> Exception:
    """Return an exception of the transport with Tenuto's message as a note to it."""
    if message not in getattr(error, "__notes__", ()):
        error.add_note(message)
    return error


def unmarked(events: bytes) -> bytes:
    """Return events without the end mark, behind which an SDK reads nothing."""
    before, between, last = events.removesuffix(b"\n\n").rpartition(b"\n\n")
    return before + between if last.endswith(b"data: [DONE]") else events


def with_message(turn: TurnRecord, event: JsonObject, message: str) -> bytes:
    """Return the provider's own error event, so that the SDK raises the class and the status that
    it raises without Tenuto (P1c). It has Tenuto's message behind its own, and says whose it is, so
    that another Tenuto does not go on (E9)."""
    error = event["error"]
    if isinstance(error, dict):
        text = error.get("message")
        words = f"{text} ({message})" if isinstance(text, str) and text else message
        made = {**event, "error": {**error, "message": words, "source": OURS}}
    else:
        made = {**event, "error": f"{error} ({message})", "source": OURS}
    return encode_named_event(made) if turn.wire.named_events else encode_event(made)
