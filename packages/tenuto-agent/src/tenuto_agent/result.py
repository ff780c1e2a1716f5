"""How a turn of an agent ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tenuto.core.answer.fault import Fault
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import Stop
from tenuto.core.deciding.actions import Status
from tenuto.core.events.advice import advice_on
from tenuto.core.events.report import Report
from tenuto_agent.transcript import Row


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a turn of an agent ended (P1).

    Attributes:
        text: the text of the turn's last step; what arrived, if it was cut and could not be
            finished.
        status: a `Status`, which equals "complete", "partial" or "failed".
        reason: why the turn ended, in one word: "completed", the reason of an answer
            (`tool_call_truncated`, `empty_output`, `provider_error`, …), or a reason of the loop:
            `step_limit`, `token_limit`, `time_limit`, `repeated_call`, `cancelled`.
        stop: why the last response ended; None without a response.
        usage: the tokens of all steps and attempts together, as far as the provider reported them.
        steps: requests of the loop, each of which may have taken several attempts.
        reports: how each step was finished, in order.
        rows: the rows added to the conversation, in order.
        fault: the error of the last attempt, in the provider's own words; None if there was none.
        refusal: the words with which the model or its provider declined, if they are not part of
            the answer (OpenAI's refusal, Anthropic's explanation, Gemini's message with a filter's
            stop); "" if there were none.
        quota: the rate-limit headers of the last answer (`x-ratelimit-…`, `anthropic-ratelimit-…`
            and the like), by lower-case name; empty if there were none.

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
        """Whether the turn is complete."""
        return self.status == Status.COMPLETE

    @property
    def report(self) -> Report | None:
        """How the last step was finished; None if there was none."""
        return self.reports[-1] if self.reports else None

    @property
    def stops(self) -> tuple[Stop | None, ...]:
        """Why each step's last response ended, in order; None for a step without one."""
        return tuple(report.stop for report in self.reports)

    @property
    def advice(self) -> str:
        """One sentence on what may help; "" if nothing is needed."""
        return advice_on(self.reason, self.fault.kind if self.fault is not None else None)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON, without the rows."""
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
