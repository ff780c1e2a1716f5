"""Events of recoveries. Each recovery that begins has exactly one end, of its own kind.

A recovery is a run of requests of one kind. A retry, or a repair of the request, may happen within
another recovery, which goes on behind it; beside that no two recoveries overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tenuto.core.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryStarted(Event):
    """A recovery begins: its first request is about to be sent.

    Attributes:
        outcome: what was wrong with the answer before it, a word of docs/ladders.md.
        rung: the id of the rung that decided on its first request.
    """

    outcome: str
    rung: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryEnded(Event):
    """A recovery is over.

    Attributes:
        result: "recovered" where what was wrong is mended; "gave_up" where the turn ended with it;
            "superseded" where another kind of recovery took over before it was mended; "cancelled"
            where the caller left.
        reason: why: the reason of the turn's end where it ended with the turn (`completed`,
            `retry_limit`, `cancelled`, …), else what the answer means that ended it, a word of
            docs/ladders.md.
        attempts: requests of this kind that it sent.
        duration_s: seconds since it began, waits included.
    """

    result: str
    reason: str
    attempts: int
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationStarted(RecoveryStarted):
    """A continuation begins: the text was cut, or broke off, and its rest is asked for."""

    NAME: ClassVar[str] = "continuation_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationAttempt(Event):
    """A request for the rest of the text follows. Each request of a continuation has one.

    Attributes:
        index: the number of this request among those of all continuations of the turn.
        output_tokens: output tokens of the turn so far, measured or estimated.
        output_chars: characters of text so far.
        tokens_left: output tokens that the turn may still use; None: no limit.
        attempts_left: continuations that are left behind this one.
        prefill: whether the text is the beginning of the model's own answer.
    """

    NAME: ClassVar[str] = "continuation_attempt"

    index: int
    output_tokens: int
    output_chars: int
    tokens_left: int | None
    attempts_left: int
    prefill: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationTerminated(RecoveryEnded):
    """A continuation is over.

    Attributes:
        output_chars: characters of text that the turn has then.
    """

    NAME: ClassVar[str] = "continuation_terminated"

    output_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRepairStarted(RecoveryStarted):
    """A repair of tool calls begins: a call was broken or missing."""

    NAME: ClassVar[str] = "tool_repair_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPayloadRepair(Event):
    """What is done about a tool call that is broken or missing.

    Attributes:
        issue: what was wrong, a word of docs/ladders.md.
        attempted: whether another request was sent for it.
        outcome: "sent" where a request for it follows, "repaired" where the turn ended with all
            its calls whole, "given_up" where the turn ends without.
        rung: the id of the rung that decided.
    """

    NAME: ClassVar[str] = "tool_payload_repair"

    issue: str
    attempted: bool
    outcome: str
    rung: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRepairEnded(RecoveryEnded):
    """A repair of tool calls is over."""

    NAME: ClassVar[str] = "tool_repair_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyRecoveryStarted(RecoveryStarted):
    """The recovery of an empty answer begins."""

    NAME: ClassVar[str] = "empty_recovery_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyRecovery(Event):
    """An answer was empty: its shape, and what is done about it.

    Attributes:
        rung: the id of the rung that decided what follows; "" where none was left.
        outcome: in which way it was empty, a word of docs/ladders.md.
        keys: the parts of the answer that held anything: `text`, `reasoning`, `refusal`, `calls`,
            `usage`.
        text_chars: characters of text, white space for instance.
        reasoning_chars: characters of reasoning.
        stop: why it ended, a value of `StopReason`.
        tools: whether tools were attached to the request.
        after_tool_result: whether the request ended in a tool result.
    """

    NAME: ClassVar[str] = "empty_recovery"

    rung: str
    outcome: str
    keys: tuple[str, ...]
    text_chars: int
    reasoning_chars: int
    stop: str
    tools: bool
    after_tool_result: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyRecoveryEnded(RecoveryEnded):
    """The recovery of an empty answer is over."""

    NAME: ClassVar[str] = "empty_recovery_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseStarted(RecoveryStarted):
    """A turn that the provider paused is sent back, so that it goes on."""

    NAME: ClassVar[str] = "pause_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseEnded(RecoveryEnded):
    """A paused turn went on, or did not."""

    NAME: ClassVar[str] = "pause_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryStarted(RecoveryStarted):
    """A request is sent again as it was, after a fault before anything came."""

    NAME: ClassVar[str] = "retry_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryEnded(RecoveryEnded):
    """A retry was answered, or given up."""

    NAME: ClassVar[str] = "retry_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRepairStarted(RecoveryStarted):
    """A request that the provider refused is sent without what it refused: with a smaller output
    limit, without a key, or without a prefill."""

    NAME: ClassVar[str] = "request_repair_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRepairEnded(RecoveryEnded):
    """A repaired request was answered, or given up."""

    NAME: ClassVar[str] = "request_repair_ended"
