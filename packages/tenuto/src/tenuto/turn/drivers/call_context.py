"""What an agent's loop passes to the pipe with a request, and receives with the answer.

An SDK makes one request and doesn't know about the pipe. Tenuto's own loop makes one request after
another. Its tools have hints of their own, all of its steps share some budgets, nothing below it
retries, and it wants the answer itself instead of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import Fault
from tenuto.core.deciding.view import Budget
from tenuto.core.events.event import OnEvent
from tenuto.core.events.report import Report
from tenuto.providers.provider import Row
from tenuto.wires.answer import Answer
from tenuto.wires.request import WireRequest

TextListener = Callable[[str], None]
CallsListener = Callable[[Sequence[tuple[ToolCall, str, bool]]], None]

PER_TURN = (Budget.NUDGE, Budget.REPHRASE, Budget.EMPTY_RETRY)
"""Budgets that all steps of a loop's turn share."""


def _ignore(answers: Sequence[tuple[ToolCall, str, bool]]) -> None:
    """Do nothing: nobody listens."""


@dataclass(slots=True)
class CallContext:
    """One request of a loop.

    Attributes:
        parsed: the request as its wire reads it, so that it need not be read again.
        provider: the provider that the request was made for. A host that is in no provider's row
            then counts as this provider's. None: the URL alone decides.
        hints: the failed results for calls that the output limit cut, by the tool's name. Other
            tools get the general one (T6).
        spent: what the loop's turn has spent of `PER_TURN` before this request.
        on_calls_answered: called with the calls that a recovery answers as failed, and their
            results (T9).
        on_text: called with each piece of the answer's text as the caller receives it; None for no
            listener.
        on_reasoning: called with each piece of its reasoning as it arrives; None for no listener.
        on_event: called with the events of this request; None for the client's own listener.
        within_s: seconds for all of its attempts and waits. None of them begins later, and no
            silence of a further one lasts longer. None: as long as the policy allows.

    Once the answer has come:
        report: how the turn ended; None before, and if there was no answer.
        answer: text, reasoning, whole calls and content, merged over all attempts.
        fault: the error of the last attempt; None if there was none.
        output_tokens: the tokens that its attempts used, as reported, otherwise estimated from what
            is visible of them (`turn.record.usage.BYTES_PER_TOKEN`).
        quota: the headers of the last answer about the provider's quota.
        refusal: the text in which the last attempt's model declined; "" if it did not.
        given: the text that the caller received before it left early; otherwise "".
        unsure_chars: characters at the beginning of the answer's text that came with a call which
            Tenuto requested again. Other calls that came with this text were requested again as
            well.
        last_text: all text of the last attempt, even if it only repeats that beginning.
    """

    parsed: WireRequest
    provider: Row | None = None
    hints: Mapping[str, str] = field(default_factory=dict)
    spent: Mapping[Budget, int] = field(default_factory=dict)
    on_calls_answered: CallsListener = _ignore
    on_text: TextListener | None = None
    on_reasoning: TextListener | None = None
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
        """Store the outcome of the request."""
        self.report, self.answer, self.fault = report, answer, fault
        self.spent = {budget: spent[budget] for budget in PER_TURN if budget in spent}
