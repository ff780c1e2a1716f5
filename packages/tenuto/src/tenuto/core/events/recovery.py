"""Events of recoveries.

A recovery is a series of requests of one kind, and ends exactly once, with an event of its own
kind. A retry or a repair of the request may happen within another recovery, which continues
afterwards. Otherwise recoveries don't overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tenuto.core.events.event import Event, event_kind

__all__ = [
    "ContinuationAttempt",
    "ContinuationStarted",
    "ContinuationTerminated",
    "EmptyRecovery",
    "EmptyRecoveryEnded",
    "EmptyRecoveryStarted",
    "PauseEnded",
    "PauseStarted",
    "RecoveryEnded",
    "RecoveryStarted",
    "RequestRepairEnded",
    "RequestRepairStarted",
    "RetryEnded",
    "RetryStarted",
    "ToolPayloadRepair",
    "ToolRepairEnded",
    "ToolRepairStarted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryStarted(Event):
    """A recovery begins: Tenuto is about to send its first request.

    `KIND` is the kind's name, as `attempt_started` gives it.

    Attributes:
        outcome: what was wrong with the answer that it recovers, a word of docs/ladders.md.
        rung: the id of the rung that decided on its first request.
    """

    KIND: ClassVar[str] = ""

    outcome: str
    rung: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryEnded(Event):
    """A recovery is over. `KIND` is the kind's name, as `attempt_started` gives it.

    Attributes:
        result: "recovered" if the recovery repaired what was wrong; "gave_up" if the turn ended
            before that; "superseded" if another kind of recovery took over before that; "cancelled"
            if the caller left.
        reason: why the recovery ended. If the turn ended with it, this is the turn's reason
            (`completed`, `retry_limit`, `cancelled`, …). Otherwise it is the meaning of the answer
            that ended the recovery, a word of docs/ladders.md.
        attempts: requests that this recovery sent.
        duration_s: seconds since the recovery began, waits included.
        output_chars: characters of text that the turn has at that time.
    """

    KIND: ClassVar[str] = ""

    result: str
    reason: str
    attempts: int
    duration_s: float
    output_chars: int = 0


@event_kind("continuation_started")
class ContinuationStarted(RecoveryStarted):
    """A continuation begins: the text was cut or broke off, and Tenuto asks for the rest."""

    KIND: ClassVar[str] = "continuation"


@event_kind("continuation_attempt")
class ContinuationAttempt(Event):
    """A continuation is about to ask for the rest of the text. Each of its requests has one such
    event.

    Attributes:
        index: the number of this request among those of all continuations of the turn.
        output_tokens: output tokens of the turn so far, measured or estimated.
        output_chars: characters of text so far.
        tokens_left: output tokens that the turn may still use; None: no limit.
        attempts_left: further continuations that the policy allows after this one.
        prefill: whether the request sends the text back as the beginning of the model's answer.
    """

    index: int
    output_tokens: int
    output_chars: int
    tokens_left: int | None
    attempts_left: int
    prefill: bool


@event_kind("continuation_terminated")
class ContinuationTerminated(RecoveryEnded):
    """A continuation ended."""

    KIND: ClassVar[str] = "continuation"


@event_kind("tool_repair_started")
class ToolRepairStarted(RecoveryStarted):
    """A repair of tool calls begins: a call was broken or missing."""

    KIND: ClassVar[str] = "tool_repair"


@event_kind("tool_payload_repair")
class ToolPayloadRepair(Event):
    """Tenuto decided what to do about a tool call that is broken or missing.

    Attributes:
        issue: what was wrong, a word of docs/ladders.md.
        attempted: whether Tenuto sent another request to get the call.
        outcome: "sent" if such a request follows, "repaired" if the turn ended with all its
            calls whole, "given_up" if it ends without them.
        rung: the id of the rung that decided.
    """

    issue: str
    attempted: bool
    outcome: str
    rung: str


@event_kind("tool_repair_ended")
class ToolRepairEnded(RecoveryEnded):
    """A repair of tool calls ended."""

    KIND: ClassVar[str] = "tool_repair"


@event_kind("empty_recovery_started")
class EmptyRecoveryStarted(RecoveryStarted):
    """The recovery of an empty answer begins."""

    KIND: ClassVar[str] = "empty"


@event_kind("empty_recovery")
class EmptyRecovery(Event):
    """An answer was empty. The event says how, and what Tenuto does about it.

    Attributes:
        rung: the id of the rung that decided what follows; "" if no rung was left.
        outcome: in which way the answer was empty, a word of docs/ladders.md.
        keys: the parts of the answer that held anything: `text`, `reasoning`, `refusal`, `calls`,
            `usage`.
        text_chars: characters of text, such as white space.
        reasoning_chars: characters of reasoning.
        stop: why the answer ended, a value of `StopReason`.
        tools: whether the request offers tools.
        after_tool_result: whether the request ended in a tool result.
        response_id: the provider's id of the answer, to name it in a report of the fault; "" if it
            gave none.
    """

    rung: str
    outcome: str
    keys: tuple[str, ...]
    text_chars: int
    reasoning_chars: int
    stop: str
    tools: bool
    after_tool_result: bool
    response_id: str = ""


@event_kind("empty_recovery_ended")
class EmptyRecoveryEnded(RecoveryEnded):
    """The recovery of an empty answer ended."""

    KIND: ClassVar[str] = "empty"


@event_kind("pause_started")
class PauseStarted(RecoveryStarted):
    """The provider paused the turn. Tenuto sends the answer back, for the model to continue."""

    KIND: ClassVar[str] = "pause"


@event_kind("pause_ended")
class PauseEnded(RecoveryEnded):
    """The recovery of a paused turn ended: the model continued, or did not."""

    KIND: ClassVar[str] = "pause"


@event_kind("retry_started")
class RetryStarted(RecoveryStarted):
    """A fault came before any part of the answer, and Tenuto sends the same request again."""

    KIND: ClassVar[str] = "retry"


@event_kind("retry_ended")
class RetryEnded(RecoveryEnded):
    """The provider answered a retry, or Tenuto gave up."""

    KIND: ClassVar[str] = "retry"


@event_kind("request_repair_started")
class RequestRepairStarted(RecoveryStarted):
    """The provider rejected a request. Tenuto sends it again without the rejected part: with a
    smaller output limit, without a key, or without a prefill."""

    KIND: ClassVar[str] = "request_repair"


@event_kind("request_repair_ended")
class RequestRepairEnded(RecoveryEnded):
    """The provider answered a repaired request, or Tenuto gave up."""

    KIND: ClassVar[str] = "request_repair"
