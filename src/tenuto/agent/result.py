"""How a turn of an agent ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tenuto.core.actions import Status
from tenuto.core.advice import advice_on
from tenuto.core.fault import Fault
from tenuto.core.report import Report
from tenuto.core.signals import Usage
from tenuto.core.stop import Stop
from tenuto.core.transcript import Row


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a turn of an agent ended (P1).

    Attributes:
        text: what the model said last, in the turn's final step; what was received, where that was
            cut and could not be finished.
        status: a `Status`, which is equal to its word: "complete", "partial" or "failed".
        reason: one word why: "completed"; one of a turn's (`tool_call_truncated`, `empty_output`,
            `provider_error`, …); or one of the loop's own: `step_limit`, `token_limit`,
            `time_limit`, `repeated_call`, `cancelled`.
        stop: why the last response ended, None where there was none.
        usage: the tokens of all steps and attempts together, as far as they were told.
        steps: requests of the loop, each of which may have taken several attempts.
        reports: how each of them was finished, in order.
        rows: what was added to the conversation, in order.
        fault: the error of the last attempt, with the provider's own words; None where none was.
        refusal: the words by which the model or its provider declined, where these are no answer
            (OpenAI's refusal, Anthropic's explanation, what Gemini says beside a filter's stop);
            "" where there were none.
        quota: what the last answer's headers tell of the provider's quota (`x-ratelimit-…`,
            `anthropic-ratelimit-…` and the like), by their names in lower case; empty where the
            provider tells nothing.

    >>> RunResult("Done.", Status.COMPLETE, "completed", None, Usage(5, 2), 1, (), ()).ok
    True
    """

    text: str
    status: Status
    reason: str
    stop: Stop | None
    usage: Usage
    steps: int
    reports: tuple[Report, ...]
    rows: tuple[Row, ...]
    fault: Fault | None = None
    refusal: str = ""
    quota: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def ok(self) -> bool:
        """Whether the turn is whole."""
        return self.status == Status.COMPLETE

    @property
    def report(self) -> Report | None:
        """How the last step was finished, None where there was none."""
        return self.reports[-1] if self.reports else None

    @property
    def stops(self) -> tuple[Stop | None, ...]:
        """Why each step's last response ended, in order; None for a step without one."""
        return tuple(report.stop for report in self.reports)

    @property
    def advice(self) -> str:
        """One sentence on what can be done, "" where nothing is."""
        return advice_on(self.reason, self.fault.kind if self.fault is not None else None)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON; without the rows."""
        return {
            "text": self.text,
            "status": str(self.status),
            "reason": self.reason,
            "refusal": self.refusal,
            "advice": self.advice,
            "fault": self.fault.kind.value if self.fault else None,
            "stop": self.stop.reason.value if self.stop else None,
            "quota": dict(self.quota),
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "steps": self.steps,
            "attempts": sum(report.attempts for report in self.reports),
        }
