"""What the caller sees of a turn: its answer, made of all attempts, and how an ending shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tenuto.core.actions import Content
from tenuto.core.calls import ToolCall
from tenuto.core.outcome import Outcome
from tenuto.core.parts import Message
from tenuto.core.signals import Usage
from tenuto.wires.json import JsonObject, encode


@dataclass(frozen=True, slots=True)
class AttemptContent:
    """One attempt of which something is kept.

    Attributes:
        value: its body, None where it was a stream.
        text: what of its text is kept; the texts of all attempts, joined, are the message's.
        apart: whether its parts stand for themselves; else its text goes on where the last ended.
        own: all of its text, as it came.
        message: its parts.
    """

    value: JsonObject | None
    text: str
    apart: bool = False
    own: str = ""
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The turn's answer as the caller is to see it: merged over all attempts.

    Attributes:
        text, reasoning: as merged.
        calls: the calls that are handed on, all whole.
        content: the same in the wire's own form, part by part; () where it keeps none.
        native_stop: the native stop value; None: none was given.
        ending: the body or event that the last attempt's stop came in, {} where none did.
        usage: input of the first attempt, output summed; None where no attempt reported any.
        raw_usage: the first usage object that came, whose other fields are kept.
        spoken: the attempts that the text is joined from.
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
    """The member of an error of ours that holds what was received: nothing is lost.

    >>> kept_of(Answer("Half")), kept_of(Answer("")), kept_of(None)
    ({'partial': {'text': 'Half'}}, {}, {})
    """
    if partial is None or not (partial.text or partial.reasoning):
        return {}
    kept = {"text": partial.text, "reasoning": partial.reasoning}
    return {"partial": {key: text for key, text in kept.items() if text}}


WriteError = Callable[[str, str, Answer | None], bytes]
"""Writes the body of an error from its code, its message and what there is of an answer."""


def error_body(error: Callable[[str, str], JsonObject], within: str = "") -> WriteError:
    """What writes the body of an error of ours, in a wire's own shape, of its code and message and
    what there is of an answer. `within`: the member of the body that the error is, "" where it is
    the body itself.

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
    """How an ending shows (P1a): `native`, a stop of the wire; `error`, an error of this code;
    `received`, the native stop that came, `native` only where none did."""

    native: str | None = None
    error: str | None = None
    received: bool = False


def shown_alike(*, done: str, cut: str, blocked: str) -> dict[Outcome, Shown]:
    """How outcomes show, by the native values of a clean end, of an answer that the output limit
    cut, and of one that a filter stopped; a wire that has more words says which."""
    return {
        Outcome.DONE: Shown(native=done, received=True),
        Outcome.TEXT_CUT: Shown(native=cut),
        Outcome.ARGUMENTS_CUT: Shown(native=cut),
        Outcome.THINKING_CUT: Shown(native=cut),
        Outcome.CALLS_MISSING: Shown(native=done),
        # Hardly a wire has a stop for these; an SDK would end silently.
        Outcome.ARGUMENTS_MALFORMED: Shown(error="malformed_tool_call"),
        Outcome.THINKING_ONLY: Shown(error="empty_output"),
        Outcome.EMPTY: Shown(error="empty_output"),
        Outcome.DROPPED: Shown(error="dropped"),
        Outcome.FAULT: Shown(error="provider_error"),
        # What came is truthful as it stands.
        Outcome.PAUSED: Shown(native=cut, received=True),
        Outcome.OVERFLOW: Shown(native=cut, received=True),
        Outcome.BLOCKED: Shown(native=blocked, received=True),
        Outcome.REFUSED: Shown(native=blocked, received=True),
        Outcome.CANCELLED: Shown(native=cut, received=True),
        Outcome.UNKNOWN: Shown(native=cut, received=True),
    }
