"""Events of one attempt: a request that leaves, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tenuto.core.event import Event
from tenuto.core.signals import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted(Event):
    """A request is about to leave.

    Attributes:
        recovery: the kind of recovery that it belongs to ("continuation", "tool_repair", "empty",
            "pause", "retry" or "request_repair"); None for the first request of a turn.
        rung: the id of the rung that decided to send it; "" for the first.
        prefill: whether the request ends in the beginning of the model's own answer.
        max_tokens: the output limit that it asks for; None where it sets none.
        output_chars: characters of text that are kept from the attempts before.
    """

    NAME: ClassVar[str] = "attempt_started"

    recovery: str | None
    rung: str
    prefill: bool
    max_tokens: int | None
    output_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded(Event):
    """The answer to a request was read to its end, or the request failed. Each `attempt_started`
    has one.

    Attributes:
        duration_s: seconds from the request to the end of its answer. Of a stream that includes
            the time that the caller took to read it.
        first_byte_s: seconds until the head of the response came; None where none came.
        first_piece_s: seconds until the first piece of a streamed answer came; None for whole
            bodies, and where nothing came.
        status: the HTTP status; None where no response came.
        lost: how the connection failed, "timeout" or "connection" for instance; None where it did
            not.
        stop: why the answer ended, a value of `StopReason`; None where it was not read.
        outcome: what the answer means for the turn, a word of docs/ladders.md; "cancelled" where
            the caller left meanwhile; None where it was handed on unread.
        usage: the tokens that it used; None where the provider did not count them.
    """

    NAME: ClassVar[str] = "attempt_ended"

    duration_s: float
    first_byte_s: float | None
    first_piece_s: float | None
    status: int | None
    lost: str | None
    stop: str | None
    outcome: str | None
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReasonObserved(Event):
    """An answer was read, and it was decided what follows from it.

    Attributes:
        iteration: the number of this answer in the turn, 1 for the first.
        reason: why it ended, a value of `StopReason`.
        raw: the provider's own value; None where it gave none.
        detail: a finer word (`recitation`, `guardrail`, …); None where there is none.
        confidence: "high", "medium" or "low".
        anomalies: what was odd about the end (`no_stop`, `suspected_truncation`, …).
        outcome: what the answer means for the turn, a word of docs/ladders.md.
        rung: the id of the rung that decided what follows; "" where none was left or needed.
    """

    NAME: ClassVar[str] = "stop_reason_observed"

    iteration: int
    reason: str
    raw: str | None
    detail: str | None
    confidence: str
    anomalies: tuple[str, ...]
    outcome: str
    rung: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownStopSeen(Event):
    """The provider gave a stop value that no table has.

    Attributes:
        raw: the value.
        logged: whether this process logged it now: the first time for this provider, model and
            value.
    """

    NAME: ClassVar[str] = "unknown_stop_seen"

    raw: str
    logged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultReported(Event):
    """The provider answered with an error, or the request could not be answered.

    Attributes:
        kind: the kind of fault, a value of `FaultKind`.
        code: the provider's own code for it, or the name of the exception; "" where there is none.
        status: the HTTP status; None where the error is not that of a response.
        retryable: whether trying again may help.
        wait_s: seconds that are waited before the next request; 0 where none is waited or none
            follows.
        keys: the members of the request that the error names.
        setting: the policy setting that would leave those keys out, where they may not be left out
            now; None in all other cases.
    """

    NAME: ClassVar[str] = "fault"

    kind: str
    code: str
    status: int | None
    retryable: bool
    wait_s: float
    keys: tuple[str, ...]
    setting: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalled(Event):
    """The provider sent nothing for as long as it may be waited for, and the attempt ended.

    Attributes:
        answered: whether the head of the response had come before.
        output_chars: characters of text that are kept.
    """

    NAME: ClassVar[str] = "stalled"

    answered: bool
    output_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldBackExceeded(Event):
    """More of a stream would be held back than `hold_max_bytes` allows, and the attempt ended.

    Attributes:
        held_bytes: the bytes that were held back.
        limit_bytes: the limit of the policy.
    """

    NAME: ClassVar[str] = "hold_back_exceeded"

    held_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited(Event):
    """A wait before the next request is over, or was broken off by the caller.

    Attributes:
        duration_s: seconds that were waited.
        planned_s: seconds that were to be waited.
        asked: whether the provider asked for this wait; False for a back-off of our own.
    """

    NAME: ClassVar[str] = "waited"

    duration_s: float
    planned_s: float
    asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysLeftOut(Event):
    """Members of the caller's own request are left out of the next one, because the provider
    rejected them by name.

    Attributes:
        keys: the paths of these members.
    """

    NAME: ClassVar[str] = "keys_left_out"

    keys: tuple[str, ...]
