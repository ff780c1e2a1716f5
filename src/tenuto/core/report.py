"""`Report`: how a turn ended."""

from __future__ import annotations

from dataclasses import dataclass

from tenuto.core.advice import advice_on
from tenuto.core.signals import Usage
from tenuto.core.stop import Stop


@dataclass(frozen=True, slots=True)
class Report:
    """How a turn ended (P1).

    Attributes:
        status: "complete", "partial" or "failed".
        reason: one word why, "completed" for a whole turn.
        stop: the last response's stop, None where there was no response.
        usage: the tokens of each attempt, in order; None for one that the provider did not count.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            for a complete turn.
        rungs: the ids of the rungs that were taken, in order.
        left_out: what went of the caller's own request because the provider rejected it by name.
    """

    status: str
    reason: str
    stop: Stop | None
    usage: tuple[Usage | None, ...]
    suggestion: str
    rungs: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """Requests that were answered."""
        return len(self.usage)

    @property
    def advice(self) -> str:
        """One sentence on what can be done, "" where nothing is."""
        return advice_on(self.reason, self.stop.detail if self.stop is not None else None)
