"""Events of a turn as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tenuto.core.event import Event
from tenuto.core.signals import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Event):
    """A turn begins; it is the first event of each.

    Attributes:
        wire: the format of its requests, `openai-chat` for instance.
        stream: whether the caller wants a stream.
        host: the host that it is sent to.
    """

    NAME: ClassVar[str] = "turn_started"

    wire: str
    stream: bool
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRepaired(Event):
    """The history in the caller's request was put into a form that the provider takes.

    Attributes:
        repairs: what was done, a word each.
    """

    NAME: ClassVar[str] = "history_repaired"

    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone(Event):
    """The turn is not recovered, or its answer is handed on unread.

    Attributes:
        why: why not (`logprobs`, `switched_off`, `body_too_large`, …).
        outcome: what the answer means, a word of docs/ladders.md; None where it was not read.
    """

    NAME: ClassVar[str] = "left_alone"

    why: str
    outcome: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoEndMarkLearned(Event):
    """It was learned that this provider does not mark the end of its streams.

    Attributes:
        turns: how many turns have shown it.
    """

    NAME: ClassVar[str] = "no_end_mark_learned"

    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(Event):
    """The caller left before the end; `turn_ended` follows.

    Attributes:
        output_chars: characters of text that the caller had, or that were kept for it.
        attempts: requests that were answered before.
    """

    NAME: ClassVar[str] = "cancelled"

    output_chars: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Event):
    """A turn is over; it is the last event of each. Of a stream, bytes that need no decision any
    more may still follow.

    Attributes:
        status: "complete", "partial" or "failed"; None where the answer was handed on unread, so
            that nobody knows.
        reason: one word why, "completed" for a whole turn.
        stop: why the last answer ended, a value of `StopReason`; None where none was read.
        attempts: requests that were answered, or that failed.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            for a complete turn.
        advice: one sentence on what can be done; "" where nothing is.
        usage: the tokens of each attempt, in order; None for one that the provider did not count.
        recovery_input_tokens: input tokens of all attempts behind the first, as far as they were
            counted.
        recovery_output_tokens: their output tokens, as far as they were counted.
        rungs: the ids of the rungs that were taken, in order.
        left_out: what went of the caller's own request because the provider rejected it by name.
        held_bytes: the most bytes of a stream that were held back at once.
        duration_s: seconds since the turn began.
    """

    NAME: ClassVar[str] = "turn_ended"

    status: str | None
    reason: str
    stop: str | None
    attempts: int
    suggestion: str
    advice: str
    usage: tuple[Usage | None, ...]
    recovery_input_tokens: int
    recovery_output_tokens: int
    rungs: tuple[str, ...]
    left_out: tuple[str, ...]
    held_bytes: int
    duration_s: float
