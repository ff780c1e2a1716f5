"""ENDINGS: how a turn ends for which no rung is left."""

from __future__ import annotations

from dataclasses import dataclass

from tenuto.core.deciding.actions import Status
from tenuto.core.deciding.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends when no rung is left.

    Attributes:
        reason: the reason if no guard that failed has a reason of its own.
        kept: the status if text is kept; bare: if none is.
        hidden_by_cut: whether the caller sees an earlier cut by the limit instead of this outcome.
    """

    reason: str
    kept: Status
    bare: Status
    hidden_by_cut: bool = False


_P, _F = Status.PARTIAL, Status.FAILED

ENDINGS: dict[Outcome, Ending] = {
    Outcome.DONE: Ending("completed", Status.COMPLETE, Status.COMPLETE),
    Outcome.TEXT_CUT: Ending("retry_limit", _P, _P),
    Outcome.ARGUMENTS_CUT: Ending("tool_call_truncated", _P, _P),
    Outcome.ARGUMENTS_MALFORMED: Ending("tool_call_malformed", _P, _F, True),
    Outcome.CALLS_MISSING: Ending("tool_calls_missing", _P, _F, True),
    Outcome.THINKING_CUT: Ending("reasoning_budget", _P, _P, True),
    Outcome.THINKING_ONLY: Ending("empty_output", _P, _F, True),
    Outcome.EMPTY: Ending("empty_output", _P, _F, True),
    Outcome.PAUSED: Ending("paused", _P, _P),
    Outcome.OVERFLOW: Ending("context_window", _P, _F),
    Outcome.BLOCKED: Ending("safety_blocked", _P, _F),
    Outcome.REFUSED: Ending("refused", _P, _F),
    Outcome.DROPPED: Ending("provider_error", _P, _F, True),
    Outcome.FAULT: Ending("provider_error", _P, _F, True),
    Outcome.CANCELLED: Ending("cancelled", _P, _F),
    Outcome.UNKNOWN: Ending("unknown_stop", _P, _P),
}
