"""The loop: ask the model, run its calls, ask again.

Theory of operation
-------------------
`Loop.run(prompt)` is a generator of commands. A driver carries out each command and sends the reply
back, as with the pipe. The pipe has already decided why an answer ended and what to do about it.
The loop decides only whether there are calls to run, whether its own limits allow another step, and
whether to ask another model.

However a turn ends, even if the driver closes the generator early, the conversation ends so that
the user may speak next (T8).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import FAULT_CLASSES, Fault
from tenuto.core.answer.signals import Usage
from tenuto.core.deciding.actions import Status
from tenuto.core.deciding.view import Budget
from tenuto.core.errors import AgentError
from tenuto.core.events.report import Report
from tenuto.turn.drivers.call_context import CallContext
from tenuto_agent import loop_hints, text_calls
from tenuto_agent.compaction import CHARS_PER_TOKEN, planned, told
from tenuto_agent.composing import Composed
from tenuto_agent.events import (
    AgentEvent,
    Called,
    Compacted,
    Declined,
    Returned,
    StepEnded,
    Switched,
)
from tenuto_agent.limits import Guard
from tenuto_agent.model import Model
from tenuto_agent.requests import Requests, Setup
from tenuto_agent.result import RunResult
from tenuto_agent.transcript import Assistant, Result, Results, Row, Transcript, User


@dataclass(frozen=True, slots=True)
class Ask:
    """Send this request and store its answer in `context`. `quiet`: don't tell the watcher about
    it. Reply: None."""

    model: Model
    request: Composed
    context: CallContext
    step: int
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Run these calls. Reply: their results, in order. `within_s`: seconds for all of them
    together; None: no limit except those of their tools."""

    calls: tuple[ToolCall, ...]
    step: int
    within_s: float | None = None


@dataclass(frozen=True, slots=True)
class Tell:
    """Pass this event on to the watcher. Reply: None."""

    event: AgentEvent


AgentCommand = Ask | RunCalls | Tell
AgentReply = tuple[Result, ...] | None
AgentRun = Generator[AgentCommand, AgentReply, RunResult]

DECLINED = frozenset({"safety_blocked", "refused"})
"""Reasons for which text in the response doesn't count as an answer (E12)."""

ONCE = DECLINED | {
    "budget_exhausted",
    "document_cut",
    "document_invalid",
    "empty_after_tool_result",
    "empty_output",
    "reasoning_budget",
    "retry_limit",
    "runaway",
    "text_unfinished",
    "tool_call_malformed",
    "tool_call_truncated",
    "tool_calls_missing",
    "unknown_stop",
}
"""Reasons that lie in the model's output. For these the loop asks one other candidate, not the
whole chain (P4, E5, E12)."""


_WINDOW_TOKENS = 32_768
"""The context window to assume if a model reports that it is full, and its size is unknown."""


@dataclass(slots=True)
class _Used:
    """The tokens that a turn has used, as far as they were reported, and how its steps ended.
    `limited_tokens`: output tokens that count towards the turn's limit, estimated if not
    reported."""

    usage: Usage | None = None
    limited_tokens: int = 0
    reports: list[Report] = field(default_factory=list)

    def add(self, report: Report) -> Usage | None:
        """Add the report of a step, and return the step's usage."""
        self.reports.append(report)
        step = _summed(report.usage)
        self.usage = _summed((self.usage, step))
        return step


def _summed(usages: Iterable[Usage | None]) -> Usage | None:
    told = [usage for usage in usages if usage is not None]
    if not told:
        return None
    return Usage(
        _sum(usage.input_tokens for usage in told), _sum(usage.output_tokens for usage in told)
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class Loop:
    """The turns of a conversation, one after another.

    Args:
        setup: the models, tools and limits.
        transcript: the conversation so far; the loop adds to it.
    """

    def __init__(self, setup: Setup, transcript: Transcript) -> None:
        self._setup = setup
        self._transcript = transcript
        self._requests = Requests(setup, transcript)
        self._reset()

    def _reset(self) -> None:
        self._used = _Used()
        self._asking: CallContext | None = None  # of the request in progress
        self._declined: tuple[int, CallContext] | None = None  # who declined it in words
        self._said = ""  # the last text of any step
        self._added: list[Row] = []
        self._fault: Fault | None = None
        self._refusal = ""  # the last words with which a model declined
        self._quota: Mapping[str, str] = {}  # from the last answer
        self._spent: dict[Budget, int] = {}
        self._started_s = 0.0
        self._at = 0  # the index of the current candidate
        self._may_switch = True
        self.step: int = 0

    def run(self, prompt: str) -> AgentRun:
        """Run a turn, as a generator of commands that returns the result."""
        self._transcript.close()
        self._reset()
        self._started_s = self._setup.now()
        guard = Guard(self._setup.limits.repeated_calls)
        self._keep(User(prompt))
        text, status, reason = "", "failed", "cancelled"
        try:
            while True:
                if blocked := self._blocked(guard):
                    status, reason = "partial", blocked
                    break
                self.step += 1
                if self._requests.is_long(self._at):
                    yield from self._compact()
                context = yield from self._answered()
                text, status, reason = self._take(context, text)
                if not self._transcript.pending:
                    break
                yield from self._run_calls(guard)
        finally:
            self._keep_cut()
            self._transcript.close()
        return self._result(text, status, reason)

    def result(self, reason: str) -> RunResult:
        """Return the result of a turn that its driver ended early."""
        return self._result(self._said, "partial" if self._said else "failed", reason)

    # --- a step

    def _blocked(self, guard: Guard) -> str:
        """Return why no further step may begin; "" if one may."""
        limits = self._setup.limits
        if self.step >= limits.max_steps:
            return "step_limit"
        if 0 < limits.max_output_tokens <= self._used.limited_tokens:
            return "token_limit"
        if self._is_late():
            return "time_limit"
        return "repeated_call" if guard.stuck else ""

    def _left_s(self) -> float | None:
        """Return the seconds that are left for the turn; None if it has no time limit."""
        limit = self._setup.limits.timeout_s
        return max(limit - (self._setup.now() - self._started_s), 0.0) if limit else None

    def _is_late(self) -> bool:
        left_s = self._left_s()
        return left_s is not None and left_s <= 0

    def _answered(self) -> Generator[AgentCommand, AgentReply, CallContext]:
        """Ask one candidate after another until an answer counts or no candidate is left. If one
        declined in words and the next returned nothing, keep the words."""
        self._declined = None
        while True:
            context = yield from self._asked()
            if _overflowed(context) and (yield from self._compact()):
                context = yield from self._asked()
            why = self._why_another(context)
            if not why:
                break
            if _text(context):
                self._declined, self._said = (self._at, context), _text(context)
            # A driver may end the turn here: what arrived is still that of the model before.
            yield Tell(Switched(self._setup.models[self._at + 1].name, why, self.step))
            self._at += 1
            self._requests.forget()
        # An answer that consists of calls alone counts, too.
        if self._declined is not None and not (_is_whole(context) or _text(context)):
            self._at, context = self._declined
        return context

    def _asked(self) -> Generator[AgentCommand, AgentReply, CallContext]:
        model = self._setup.models[self._at]
        synthetic: list[tuple[ToolCall, str, bool]] = []
        request = self._requests.next(self._at)
        context = CallContext(
            request,
            model.provider,
            self._setup.hints,
            self._spent,
            synthetic.extend,
            within_s=self._left_s(),
        )
        self._asking = context
        yield Ask(model, request, context, self.step)
        self._used.limited_tokens += context.output_tokens
        for call, text, failed in synthetic:
            yield Tell(Called(call, self.step, synthetic=True))
            result = Result(call.id, call.name, text, failed)
            yield Tell(Returned(call, result, self.step, synthetic=True))
        self._spent = dict(context.spent)
        if context.refusal:
            self._refusal = context.refusal
            yield Tell(Declined(context.refusal, self.step))
        report = context.report
        if report is not None:
            self._quota = context.quota
            usage = self._used.add(report)
            self._requests.answered(self._at, report)
            yield Tell(StepEnded(self.step, report.status, report.reason, usage))
        return context

    # --- a conversation that has become too long (H7, H8)

    def _compact(self) -> Generator[AgentCommand, AgentReply, bool]:
        """Replace the oldest rows with a summary, if the model gives one; return whether there were
        any to leave out."""
        model = self._setup.models[self._at]
        limit = (model.window_tokens or _WINDOW_TOKENS) * CHARS_PER_TOKEN // 2
        plan = planned(list(self._transcript), limit // 2)
        if plan is None:
            return False
        request = self._requests.opened(model, loop_hints.SUMMARIZE, ())
        request.add(User(told(plan.left_out, limit)))
        context = CallContext(request, model.provider, within_s=self._left_s())
        yield Ask(model, request, context, self.step, quiet=True)
        self._used.limited_tokens += context.output_tokens
        summary = ""
        if context.report is not None:
            self._used.add(context.report)
            if _is_whole(context) and context.answer is not None:
                summary = context.answer.text.strip()  # a summary that was cut is not used
        self._transcript.replace(plan.with_summary(summary))
        self._requests.forget()
        yield Tell(Compacted(len(plan.left_out), len(plan.kept), bool(summary), self.step))
        return True

    # --- which candidate to ask, and what to keep

    def _why_another(self, context: CallContext) -> str:
        """Return why to ask the next candidate; "" if this answer counts."""
        report = context.report
        if _is_whole(context):
            return ""
        stands = _text(context) and (report is None or report.reason not in DECLINED)
        if stands or self._at + 1 >= len(self._setup.models) or self._is_late():
            return ""
        if report is not None and report.reason in ONCE:
            return self._once(report.reason)
        fault = context.fault
        if report is None or (fault is not None and FAULT_CLASSES[fault.kind].fallback):
            return fault.kind.value if fault is not None else "connection"
        if _overflowed(context):
            return "context_overflow"
        if fault is None and report.reason == "provider_error":  # every attempt broke off
            return self._once("dropped")
        return ""

    def _once(self, why: str) -> str:
        """Return the reason the first time in a turn, and "" after that."""
        may, self._may_switch = self._may_switch, False
        return why if may else ""

    def _take(self, context: CallContext, text: str) -> tuple[str, str, str]:
        """Add the answer to the conversation. Return the turn's text, status and reason in case it
        ends here."""
        self._asking = None
        report, answer, self._fault = context.report, context.answer, context.fault
        if report is None or answer is None:
            return text, "failed", self._why_failed("provider_error")
        row = self._row(context)
        self._keep_answer(row)
        # If the last step has no text, the text of an earlier step remains.
        kept = row.text if report.status == "complete" or row.text.strip() else text
        return kept, report.status, self._why_failed(report.reason)

    def _keep_cut(self) -> None:
        """Add what arrived of an answer that the driver cut off, as of any other cut answer
        (C23)."""
        context, self._asking = self._asking, None
        if context is None:
            return
        row = self._row(context)
        if self._declined is not None and not (row.text.strip() or row.calls):
            self._at, context = self._declined
            row = self._row(context)
        with suppress(AgentError):  # a turn may outlast its session, whose file is then closed
            self._keep_answer(row)

    def _keep_answer(self, row: Assistant) -> None:
        if row.text.strip():
            self._said = row.text
        if row.text.strip() or row.calls:
            self._keep(row)

    def _row(self, context: CallContext) -> Assistant:
        """Return what arrived of an answer as a row of the conversation."""
        model, answer = self._setup.models[self._at], context.answer
        row = Assistant(context.given)
        if answer is not None:
            content = answer.content, model.wire.name
            row = Assistant(answer.text, answer.calls, answer.reasoning, *content)
        return self._read(row, _is_whole(context), context) if model.text_calls else row

    def _why_failed(self, reason: str) -> str:
        """Return the reason, or "time_limit" for an error that another attempt might have solved,
        if the turn has no time left for one."""
        may_pass = self._fault is None or self._fault.retryable
        late = reason == "provider_error" and may_pass and self._is_late()
        return "time_limit" if late else reason

    def _read(self, row: Assistant, whole: bool, context: CallContext) -> Assistant:
        """Read the calls in the text of a model without tool calls (T4). An incomplete answer has
        no calls to run. After a call was asked for again, only the calls since then count (T3)."""
        tools = {tool.name: tool.parameters for tool in self._setup.tools}
        number, unsure_chars = len(self._transcript), context.unsure_chars
        found = text_calls.read(row.text, tools, number)
        calls = found.calls
        if unsure_chars:
            since = row.text[unsure_chars:].strip() or context.last_text
            calls = text_calls.read(since, tools, number).calls
        return Assistant(found.text, (*row.calls, *calls) if whole else (), row.reasoning)

    def _run_calls(self, guard: Guard) -> Generator[AgentCommand, AgentReply, None]:
        calls = self._transcript.pending
        for call in calls:
            yield Tell(Called(call, self.step))
        skipped = text_calls.skipped(calls)
        run = tuple(call for call in calls if call.id not in skipped)
        ran = yield RunCalls(run, self.step, self._left_s())
        assert ran is not None
        came = {result.call_id: result for result in ran} | skipped
        results = tuple(came[call.id] for call in calls)
        for call, result in zip(calls, results, strict=True):
            yield Tell(Returned(call, result, self.step))
        self._keep(Results(guard.told(calls, results)))

    def _keep(self, row: Row) -> None:
        self._transcript.add(row)
        self._added.append(row)

    def _result(self, text: str, status: str, reason: str) -> RunResult:
        reports = tuple(self._used.reports)
        return RunResult(
            text,
            Status(status),
            reason,
            reports[-1].stop if reports else None,
            self._used.usage or Usage(),
            self.step,
            reports,
            tuple(self._added),
            self._fault,
            "" if status == "complete" else self._refusal,
            self._quota,
        )


def _text(context: CallContext) -> str:
    return context.answer.text.strip() if context.answer is not None else ""


def _is_whole(context: CallContext) -> bool:
    return context.report is not None and context.report.status == "complete"


def _overflowed(context: CallContext) -> bool:
    """Return whether the conversation no longer fits into the context window."""
    report = context.report
    return report is not None and not _is_whole(context) and report.reason == "context_window"
