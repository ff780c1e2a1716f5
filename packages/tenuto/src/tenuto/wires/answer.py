"""The caller's answer to a turn, merged from all attempts, and how each ending is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Message
from tenuto.core.answer.signals import Usage
from tenuto.core.deciding.actions import Content
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.json import JsonObject, encode


@dataclass(frozen=True, slots=True)
class AttemptContent:
    """What is kept of one attempt.

    Attributes:
        value: the body; None: the attempt was a stream.
        text: the text that is kept. The texts of all attempts, joined, are the message's text.
        apart: whether its parts stand alone. False: its text continues where the last attempt
            ended.
        own: its whole text, as received.
        message: its parts.
    """

    value: JsonObject | None
    text: str
    apart: bool = False
    own: str = ""
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The turn's answer as the caller sees it, merged over all attempts.

    Attributes:
        text, reasoning: the merged text and reasoning.
        calls: the calls that are passed on. All are complete.
        content: the same in the wire's own form, part by part; (): the wire keeps none.
        native_stop: the native stop value; None: the provider gave none.
        ending: the body or event with the last attempt's stop; {}: there is none.
        usage: input of the first attempt, output summed; None: no attempt reported any.
        raw_usage: the first usage object received, whose other fields are kept.
        spoken: the attempts whose texts make up the text.
    """

    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    content: Content = ()
    native_stop: str | None = None
    ending: JsonObject = field(default_factory=dict)
    usage: Usage | None = None
    raw_usage: JsonObject | None = None
    spoken: Sequence[AttemptContent] = ()


def kept_of(partial: Answer | None) -> JsonObject:
    """Return the member of Tenuto's own error that holds what was received, so nothing is lost.

    >>> kept_of(Answer("Half")), kept_of(Answer("")), kept_of(None)
    ({'partial': {'text': 'Half'}}, {}, {})
    """
    if partial is None or not (partial.text or partial.reasoning):
        return {}
    kept = {"text": partial.text, "reasoning": partial.reasoning}
    return {"partial": {key: text for key, text in kept.items() if text}}


WriteError = Callable[[str, str, Answer | None], bytes]
"""Writes the body of an error from its code, its message and the answer so far."""


def error_body(error: Callable[[str, str], JsonObject], within: str = "") -> WriteError:
    """Return the function that writes the body of Tenuto's own error in a wire's shape.

    Args:
        error: builds the error object from its code and message.
        within: the member of the body that holds the error. "": the body is the error.

    >>> write = error_body(lambda code, message: {"error": message})
    >>> write("dropped", "It broke off.", Answer("Half"))
    b'{"error":"It broke off.","partial":{"text":"Half"}}'
    >>> error_body(lambda code, message: {"code": code}, within="error")("dropped", "", None)
    b'{"error":{"code":"dropped"}}'
    """

    def write(code: str, message: str, partial: Answer | None) -> bytes:
        made = error(code, message) | kept_of(partial)
        return encode({within: made} if within else made)

    return write


@dataclass(frozen=True, slots=True)
class Shown:
    """How an ending is shown (P1a).

    Attributes:
        native: the wire's stop value to write.
        error: the code of the error to write.
        received: whether a native stop that was received replaces `native`.
    """

    native: str | None = None
    error: str | None = None
    received: bool = False


def shown_alike(*, done: str, cut: str, blocked: str) -> dict[Outcome, Shown]:
    """Return how each outcome is shown on a wire with three native stop values: for a clean end,
    for an answer cut by the output limit, and for one that a filter stopped."""
    return {
        Outcome.DONE: Shown(native=done, received=True),
        Outcome.TEXT_CUT: Shown(native=cut),
        Outcome.ARGUMENTS_CUT: Shown(native=cut),
        Outcome.THINKING_CUT: Shown(native=cut),
        Outcome.CALLS_MISSING: Shown(native=done),
        # Hardly any wire has a stop for these, and an SDK would end silently.
        Outcome.ARGUMENTS_MALFORMED: Shown(error="malformed_tool_call"),
        Outcome.THINKING_ONLY: Shown(error="empty_output"),
        Outcome.EMPTY: Shown(error="empty_output"),
        Outcome.DROPPED: Shown(error="dropped"),
        Outcome.FAULT: Shown(error="provider_error"),
        # These keep the stop that was received, which is accurate.
        Outcome.PAUSED: Shown(native=cut, received=True),
        Outcome.OVERFLOW: Shown(native=cut, received=True),
        Outcome.BLOCKED: Shown(native=blocked, received=True),
        Outcome.REFUSED: Shown(native=blocked, received=True),
        Outcome.CANCELLED: Shown(native=cut, received=True),
        Outcome.UNKNOWN: Shown(native=cut, received=True),
    }
