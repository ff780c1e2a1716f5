"""What a loop gives the pipe along with a request, and gets back with the answer.

An SDK asks for one turn and knows nothing of the pipe. A loop of our own asks for one turn after
another: its tools have hints of their own, some budgets hold for all of its steps together, nobody
below it tries again, and it wants the answer itself rather than the bytes that show it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tenuto.core.calls import ToolCall
from tenuto.core.event import OnEvent
from tenuto.core.fault import Fault
from tenuto.core.report import Report
from tenuto.core.view import Budget
from tenuto.providers.provider import Row
from tenuto.wires.answer import Answer
from tenuto.wires.request import WireRequest

Told = Callable[[str], None]
Answered = Callable[[Sequence[tuple[ToolCall, str, bool]]], None]

PER_TURN = (Budget.NUDGE, Budget.REPHRASE, Budget.EMPTY_RETRY)
"""Budgets that hold for all steps of a loop's turn together (E2, E3, E5)."""


def _nobody(answers: Sequence[tuple[ToolCall, str, bool]]) -> None:
    """Nobody watches."""


@dataclass(slots=True)
class CallContext:
    """One request of a loop.

    Attributes:
        parsed: the request as its wire reads it: who has composed it need not have it read again.
        provider: whom it was composed for: a host that no row names is taken for theirs. None: the
            URL alone says who is asked.
        hints: what a call of a tool is answered with where the output limit cut it, by the tool's
            name; who is not named gets the general one (T6).
        spent: what the loop's turn has spent of `PER_TURN` before this request.
        answered: called with the calls that recovery answers as failed, and their results (T9).
        said: called with the answer's text, piece by piece as it is given; None: nobody listens.
        thought: called with its reasoning, piece by piece as it comes; None: nobody listens.
        on_event: called with the events of this request; None: whoever the client tells.
        within_s: seconds that it may take in all its attempts and waits: none begins later, and no
            silence of a further one lasts longer. None: as long as the policy allows.

    Once the answer has come:
        report: how the turn ended; None while it has not, and where nothing came of it.
        answer: text, reasoning, whole calls and content, merged over all attempts.
        fault: the error of the last attempt, None where there was none.
        output_tokens: what its attempts used, as told, else estimated from what can be seen of them
            (`turn.usage.BYTES_PER_TOKEN`).
        quota: the headers of the last answer that tell of the provider's quota.
        refusal: the words by which the last attempt's model declined, "" where it did not.
        given: the text that was given, where the caller went away before the end; else "".
        unsure_chars: characters at the beginning of the answer's text that came with a call which
            had to be asked for again: whatever else they call for was asked for again as well.
        last_text: all text of the last attempt, what only repeats that beginning included.
    """

    parsed: WireRequest
    provider: Row | None = None
    hints: Mapping[str, str] = field(default_factory=dict)
    spent: Mapping[Budget, int] = field(default_factory=dict)
    answered: Answered = _nobody
    said: Told | None = None
    thought: Told | None = None
    on_event: OnEvent | None = None
    within_s: float | None = None
    report: Report | None = None
    answer: Answer | None = None
    fault: Fault | None = None
    output_tokens: int = 0
    given: str = ""
    refusal: str = ""
    quota: Mapping[str, str] = field(default_factory=dict)
    unsure_chars: int = 0
    last_text: str = ""

    def ended(
        self, report: Report, answer: Answer, fault: Fault | None, spent: Mapping[Budget, int]
    ) -> None:
        """Take what came of the request."""
        self.report, self.answer, self.fault = report, answer, fault
        self.spent = {budget: spent[budget] for budget in PER_TURN if budget in spent}
