"""The machine: from what a response means to what is done next.

Theory of operation
-------------------
`step(state, response, facts, policy, now_s)` is total and pure. It looks the response's outcome up
in `LADDERS` and takes the first rung whose guards hold and whose budget is not spent. A rung either
sends the caller's request again with edits, or ends the turn in its own way. Past the last rung the
turn ends as `ENDINGS` says, or for the reason of the guard that stood in the way first; a rung
whose budget is spent is not asked for a reason.

Nothing else decides anything. What a model can do, and what the caller has seen already, comes in
as `Facts`; the only counters are the budgets in `State`, and they are spent in one line of `step`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from tenuto.core import hints
from tenuto.core.actions import (
    Action,
    AppendAssistant,
    AppendFailedCalls,
    AppendUser,
    DropConstraint,
    DropKeys,
    Edit,
    Finish,
    FreeToolChoice,
    LowerReasoning,
    Recovery,
    Send,
    SetOutputBudget,
    Status,
)
from tenuto.core.arguments import Finding, judge
from tenuto.core.fault import FaultKind
from tenuto.core.outcome import Outcome, classify
from tenuto.core.policy import Decision, Policy
from tenuto.core.response import Response, ToolCall, visible
from tenuto.core.seam import trailing_space
from tenuto.core.stop import CLEAN, StopReason

Suggestion = Literal["retry", "modify_prompt", "increase_budget", "stop"]


class Budget(StrEnum):
    """The counters of a turn. Each is bounded by the policy field that `LIMITS` names."""

    CONTINUATION = "continuation"
    TOOL_REPAIR = "tool_repair"
    TOOL_ANSWER = "tool_answer"
    NUDGE = "nudge"
    REPHRASE = "rephrase"
    EMPTY_RETRY = "empty_retry"
    THINKING = "thinking"
    MISSING_CALL = "missing_call"
    FAULT_RETRY = "fault_retry"
    PARAMETER = "parameter"


LIMITS: dict[Budget, str] = {
    Budget.CONTINUATION: "continuation_max_attempts",
    Budget.TOOL_REPAIR: "continuation_tool_repair_attempts",
    Budget.TOOL_ANSWER: "tool_answer_attempts",
    Budget.NUDGE: "empty_nudges",
    Budget.REPHRASE: "empty_nudges",
    Budget.EMPTY_RETRY: "empty_retries",
    Budget.THINKING: "thinking_retries",
    Budget.MISSING_CALL: "missing_call_retries",
    Budget.FAULT_RETRY: "fault_retries",
    Budget.PARAMETER: "parameter_fixes",
}

CONSECUTIVE = frozenset({Budget.TOOL_ANSWER})
"""Budgets that count in a row: a good response with calls gives them back (T7)."""

BOOSTING = (Budget.CONTINUATION, Budget.TOOL_REPAIR, Budget.TOOL_ANSWER, Budget.THINKING)
"""Budgets whose requests ask for more output than the one before (C17)."""


def _nothing_spent() -> Mapping[Budget, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class State:
    """What a turn has used so far.

    Attributes:
        started_s: when the turn began, in seconds of any steady clock.
        attempts: responses seen.
        spent: tries used, by budget; what is not named is 0.
        output_tokens: output tokens of all attempts so far.
        base_tokens: the output limit that boosts multiply where the request sets none: what the
            first unfinished answer used, None before it (C17).
        cut: True once text was cut by the output limit: the truth about all text that is kept.
        last_edits: the edits of the request that is being answered.
    """

    started_s: float = 0.0
    attempts: int = 0
    spent: Mapping[Budget, int] = field(default_factory=_nothing_spent)
    output_tokens: int = 0
    base_tokens: int | None = None
    cut: bool = False
    last_edits: tuple[Edit, ...] = ()

    @property
    def continuing(self) -> bool:
        """Whether the request that is being answered went on from text that was kept."""
        return any(isinstance(edit, AppendAssistant) for edit in self.last_edits)

    def left(self, budget: Budget, policy: Policy) -> int:
        """Tries of a budget that are not spent."""
        limit: int = getattr(policy, LIMITS[budget])
        return max(0, limit - self.spent.get(budget, 0))


@dataclass(frozen=True, slots=True)
class Facts:
    """What the machine is told and never finds out by itself.

    Attributes:
        said: all text that is kept, this response's included, as the caller sees or will see it.
        reasoning: all reasoning that came in a field of its own, for providers that want it back.
        new_chars: how many characters of it this response added.
        runaway: True where that text has become one passage repeated up to its end (C13).
        output_tokens: output tokens of this response, measured or estimated.
        input_tokens: its input tokens, None where not known.
        max_tokens: the output limit of the caller's request, None where it set none.
        ceiling_tokens: the model's known output ceiling, None where not known.
        context_window_tokens: its known context window, None where not known.
        prefill: whether the model takes a trailing assistant message as the beginning of its answer.
        lower_reasoning: whether the request has a knob for less reasoning.
        structured: whether the request constrains the output to a document.
        tools: whether tools are attached.
        after_tool_result: whether the request ends in a tool result.
        runnable: the calls of this response that are whole and satisfy their tool's parameters;
            told only where the policy runs calls of a cut response (T3).
        http_error: whether this response is an HTTP error status, which an SDK can retry itself.
        left_alone: why the request must not be recovered (C28), "" where it may be.
        timeout_s: the caller's own limit for the turn in seconds, None for none.
    """

    said: str = ""
    reasoning: str = ""
    new_chars: int = 0
    runaway: bool = False
    output_tokens: int = 0
    input_tokens: int | None = None
    max_tokens: int | None = None
    ceiling_tokens: int | None = None
    context_window_tokens: int | None = None
    prefill: bool = False
    lower_reasoning: bool = False
    structured: bool = False
    tools: bool = False
    after_tool_result: bool = False
    runnable: tuple[ToolCall, ...] = ()
    http_error: bool = False
    left_alone: str = ""
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class View:
    """All that a guard or an edit may look at."""

    state: State
    response: Response
    facts: Facts
    policy: Policy
    now_s: float

    @property
    def said(self) -> str:
        """The kept text as a request may carry it: without white space at its end (C7), and none
        at all where nobody could read it (C10, a think block alone)."""
        return trailing_space(self.facts.said)[0] if visible(self.facts.said) else ""

    @property
    def tokens_left(self) -> int | None:
        """Output tokens that the turn may still use (C4); None: no limit."""
        total = self.policy.continuation_max_total_completion_tokens
        if total is None:
            total = 4 * self.base_tokens
        return None if total == 0 else total - self.state.output_tokens

    @property
    def base_tokens(self) -> int:
        """The output limit that boosts multiply: the request's own, else what the first cut answer
        used, else the policy's default (C17)."""
        return self.facts.max_tokens or self.state.base_tokens or self.policy.default_max_tokens

    def budget(self, boosts: int) -> int:
        """The output limit of the next request: base × (boosts + 1) within every bound (C17)."""
        asked = self.facts.max_tokens or 0
        return self.bounded(
            max(min(self.base_tokens * (boosts + 1), self.policy.boost_max_tokens), asked)
        )

    def bounded(self, tokens: int) -> int:
        """An output limit within the policy's hard cap, what C4 leaves, and the model's ceiling."""
        bounds = (self.tokens_left, self.policy.hard_max_tokens, self.facts.ceiling_tokens)
        return min([tokens, *(bound for bound in bounds if bound is not None)])

    @property
    def boosts(self) -> int:
        """How many boosted requests the turn has sent."""
        return sum(self.state.spent.get(budget, 0) for budget in BOOSTING)


# --- guards -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard:
    """A named condition. `ends_as`: the reason of the turn's end where this is what stood in the
    way; "" where its failing only means that the rung is for another case."""

    name: str
    holds: Callable[[View], bool]
    ends_as: str = ""


def _time_left(view: View) -> bool:
    gone_s = view.now_s - view.state.started_s
    limits = (view.policy.turn_timeout_s or None, view.facts.timeout_s)
    return all(limit is None or gone_s < limit for limit in limits)


def _room(view: View) -> bool:
    window = view.policy.context_window_tokens or view.facts.context_window_tokens
    if window is None or view.facts.input_tokens is None:
        return True
    used = view.facts.input_tokens + view.facts.output_tokens
    return window - used >= view.policy.context_min_free_tokens


def _under_output_cap(view: View) -> bool:
    cap = view.policy.continuation_max_output_chars
    return cap == 0 or len(view.facts.said) <= cap


def _fault(view: View, *kinds: FaultKind) -> bool:
    return view.response.fault is not None and view.response.fault.kind in kinds


def _prefilled(view: View) -> bool:
    return any(isinstance(e, AppendAssistant) and e.prefill for e in view.state.last_edits)


def _progress(view: View) -> bool:
    before = (e.text for e in view.state.last_edits if isinstance(e, AppendAssistant))
    return not view.facts.runaway and view.said not in before


NOT_LEFT_ALONE = Guard("may be recovered", lambda v: not v.facts.left_alone, "left_alone")
TIME_LEFT = Guard("time is left", _time_left, "time_limit")
TOKENS_LEFT = Guard(
    "tokens are left", lambda v: v.tokens_left is None or v.tokens_left > 0, "budget_exhausted"
)
UNDER_OUTPUT_CAP = Guard("text is below the output cap", _under_output_cap, "output_cap")
ROOM = Guard("the context window has room", _room, "context_window")
PROGRESS = Guard("the text goes on", _progress, "runaway")
SAID = Guard("text is kept", lambda v: bool(v.said))
NOTHING_SAID = Guard("no text is kept", lambda v: not v.said)
PREFILL = Guard("the model takes a prefill", lambda v: v.facts.prefill)
PREFILLED = Guard("the last request held a prefill", _prefilled)
PREFILL_REJECTED = Guard(
    "the provider rejects prefills", lambda v: _fault(v, FaultKind.PREFILL_REJECTED)
)
HAS_CALLS = Guard("the response holds calls", lambda v: bool(v.response.calls))
RUN_COMPLETE = Guard(
    "the policy runs the whole calls of a cut response",
    lambda v: v.policy.truncated_calls == "execute_complete",
)
SOME_RUNNABLE = Guard("some calls are whole and fit their tools", lambda v: bool(v.facts.runnable))
LOWER_REASONING = Guard("there is a knob for less reasoning", lambda v: v.facts.lower_reasoning)
EMPTY_RECOVERY = Guard(
    "empty answers are recovered", lambda v: v.policy.empty_recovery, "empty_output"
)
AFTER_TOOL_RESULT = Guard("a tool result came just before", lambda v: v.facts.after_tool_result)
TOOLS = Guard("tools are attached", lambda v: v.facts.tools)
CLEAN_END = Guard("the stop is a clean one", lambda v: v.response.stop.reason in CLEAN)
RETRYABLE = Guard(
    "a retry can help",
    lambda v: v.response.fault is None or v.response.fault.retryable,
    "provider_error",
)
SDK_RETRIES = Guard(
    "it is the first attempt's status", lambda v: v.facts.http_error and v.state.attempts == 1
)
BUDGET_TOO_LARGE = Guard(
    "the provider names an output limit that was not tried yet",
    lambda v: (
        _fault(v, FaultKind.OUTPUT_BUDGET_TOO_LARGE)
        and v.response.fault is not None
        and bool(v.response.fault.allowed_tokens)
        and SetOutputBudget(v.response.fault.allowed_tokens or 0) not in v.state.last_edits
    ),
)
KEYS_REJECTED = Guard(
    "the provider names keys that it rejects",
    lambda v: (
        _fault(v, FaultKind.UNKNOWN_KEY)
        and v.response.fault is not None
        and bool(v.response.fault.keys)
    ),
)
NOTHING_NEW = Guard(
    "the continuation added nothing",
    lambda v: v.state.continuing and v.facts.new_chars == 0 and not v.response.calls,
)
BROKEN_DOCUMENT = Guard(
    "the continued document does not parse",
    lambda v: (
        v.state.continuing
        and v.facts.structured
        and not v.response.calls
        and judge(v.facts.said).finding is not Finding.WHOLE
    ),
)

# What ended such a turn is the fault, not that no time is left to try again (C5).
TIME_TO_RETRY = Guard("time is left to try again", _time_left)
MAY_SEND = (NOT_LEFT_ALONE, TIME_LEFT)
MAY_RETRY = (NOT_LEFT_ALONE, TIME_TO_RETRY)
MAY_CONTINUE = (*MAY_SEND, SAID, PROGRESS, UNDER_OUTPUT_CAP, ROOM, TOKENS_LEFT)


# --- edits ------------------------------------------------------------------------------------


def _set_budget(view: View, boosts: int) -> tuple[Edit, ...]:
    return (SetOutputBudget(view.budget(boosts)),)


def _lifted(view: View) -> tuple[Edit, ...]:
    return (FreeToolChoice(), *((DropConstraint(),) if view.facts.structured else ()))


def _go_on(view: View, *, prefill: bool, boosts: int) -> tuple[Edit, ...]:
    hint = hints.CONTINUE_DOCUMENT if view.facts.structured else hints.CONTINUE
    said = AppendAssistant(view.said, prefill, view.facts.reasoning)
    rows: tuple[Edit, ...] = (said,) if prefill else (said, AppendUser(hint))
    return (*rows, *_set_budget(view, boosts), *_lifted(view))


def _continue_prefill(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=True, boosts=view.boosts + 1)


def _continue_hint(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=False, boosts=view.boosts + 1)


def _resume_prefill(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=True, boosts=view.boosts)


def _resume_hint(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=False, boosts=view.boosts)


def _after_said(view: View, *edits: Edit) -> tuple[Edit, ...]:
    said = AppendAssistant(view.said, reasoning=view.facts.reasoning)
    return (said, *edits) if view.said else edits


def _repeat_call(view: View) -> tuple[Edit, ...]:
    budget = _set_budget(view, view.boosts + 1)
    return (*_after_said(view, AppendUser(hints.REPEAT_CALL)), *budget)


def _repair_call(view: View) -> tuple[Edit, ...]:
    budget = _set_budget(view, view.boosts + 1)
    return (*_after_said(view, AppendUser(hints.REPAIR_CALL)), *budget)


_RESULTS = {
    Finding.WHOLE: hints.CALL_SKIPPED_RESULT,
    Finding.EMPTY: hints.CALL_CUT_RESULT,
    Finding.TRUNCATED: hints.CALL_CUT_RESULT,
    Finding.MALFORMED: hints.CALL_MALFORMED_RESULT,
}


def failed_results(calls: tuple[ToolCall, ...]) -> tuple[str, ...]:
    """A failed result for every call of a broken batch, in the order of the calls (T5)."""
    broken = any(call.finding is not Finding.WHOLE for call in calls)
    return tuple(_RESULTS[call.finding] if broken else hints.CALL_CUT_RESULT for call in calls)


def _answer_calls(view: View) -> tuple[Edit, ...]:
    calls = view.response.calls
    rows = AppendFailedCalls(view.said, calls, failed_results(calls), view.facts.reasoning)
    return (rows, *_set_budget(view, view.boosts + 1))


def _lower_reasoning(view: View) -> tuple[Edit, ...]:
    return (LowerReasoning(), *_set_budget(view, view.boosts + 1))


def _reason_less(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.REASON_LESS), *_set_budget(view, view.boosts + 1))


def _answer_now(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.ANSWER_NOW),)


def _nudge(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.AFTER_TOOL_RESULT),)


def _rephrase(view: View) -> tuple[Edit, ...]:
    return (AppendAssistant(hints.EMPTY_WITH_TOOLS_NOTE), AppendUser(hints.EMPTY_WITH_TOOLS))


def _ask_again(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.EMPTY),)


def _ask_for_call(view: View) -> tuple[Edit, ...]:
    return _after_said(view, AppendUser(hints.CALL_MISSING))


def _same_again(view: View) -> tuple[Edit, ...]:
    return view.state.last_edits


def _clamp(view: View) -> tuple[Edit, ...]:
    fault = view.response.fault
    allowed = (fault.allowed_tokens if fault else None) or view.policy.default_max_tokens
    kept = tuple(e for e in view.state.last_edits if not isinstance(e, SetOutputBudget))
    return (*kept, SetOutputBudget(view.bounded(allowed)))


def _drop_keys(view: View) -> tuple[Edit, ...]:
    fault = view.response.fault
    named = [*_dropped_keys(view.state.last_edits), *(fault.keys if fault else ())]
    kept = tuple(e for e in view.state.last_edits if not isinstance(e, DropKeys))
    return (*kept, DropKeys(tuple(dict.fromkeys(named))))


def _dropped_keys(edits: tuple[Edit, ...]) -> tuple[str, ...]:
    return tuple(key for edit in edits if isinstance(edit, DropKeys) for key in edit.keys)


def _with_lasting(edits: tuple[Edit, ...], before: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Edits, and those of the request before that hold for the rest of the turn: a key that the
    provider rejects, it rejects again, and reasoning that used up one limit uses up the next."""
    kinds = {type(edit) for edit in edits}
    lasting = (e for e in before if isinstance(e, DropKeys | LowerReasoning))
    return (*edits, *(edit for edit in lasting if type(edit) not in kinds))


def _varied(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The same edits in other words: what is sent again as it was fails as it did (E4)."""
    hint = next((e for e in edits if isinstance(e, AppendUser)), None)
    others = tuple(e for e in edits if e is not hint)
    return (*others, AppendUser(f"{hint.text} {hints.AGAIN}" if hint else hints.AGAIN))


# --- the table --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to go on: taken when every guard holds and the budget is not spent.

    A rung without `edits` ends the turn: as `ends` says, or as the outcome's row in `ENDINGS`."""

    name: str
    guards: tuple[Guard, ...]
    edits: Callable[[View], tuple[Edit, ...]] | None = None
    budget: Budget | None = None
    recovery: Recovery = Recovery.RETRY
    waits: bool = False
    ends: tuple[Status, str] | None = None
    whole_calls_only: bool = False
    as_received: bool = False


def _continuation(name: str, edits: Callable[[View], tuple[Edit, ...]], *more: Guard) -> Rung:
    guards = (*MAY_CONTINUE, *more)
    return Rung(name, guards, edits, Budget.CONTINUATION, Recovery.CONTINUATION)


def _resumption(name: str, edits: Callable[[View], tuple[Edit, ...]], *more: Guard) -> Rung:
    guards = (RETRYABLE, *MAY_RETRY, SAID, UNDER_OUTPUT_CAP, ROOM, TOKENS_LEFT, *more)
    return Rung(name, guards, edits, Budget.FAULT_RETRY, Recovery.CONTINUATION, waits=True)


_BREAK = (
    Rung(
        "send again",
        (RETRYABLE, *MAY_RETRY, NOTHING_SAID),
        _same_again,
        Budget.FAULT_RETRY,
        Recovery.RETRY,
        waits=True,
    ),
    _resumption("resume after a prefill", _resume_prefill, PREFILL),
    _resumption("resume after a hint", _resume_hint),
)

_CALLS = {
    outcome: (
        Rung(
            "hand on the whole calls",
            (NOT_LEFT_ALONE, RUN_COMPLETE, SOME_RUNNABLE),
            ends=(Status.PARTIAL, reason),
            whole_calls_only=True,
        ),
        Rung(
            "ask for the call again",
            (*MAY_SEND, TOKENS_LEFT),
            ask,
            Budget.TOOL_REPAIR,
            Recovery.TOOL_REPAIR,
        ),
        Rung(
            "answer the calls as failed",
            (*MAY_SEND, TOKENS_LEFT, HAS_CALLS),
            _answer_calls,
            Budget.TOOL_ANSWER,
            Recovery.TOOL_REPAIR,
        ),
    )
    for outcome, ask, reason in (
        (Outcome.ARGUMENTS_CUT, _repeat_call, "tool_call_truncated"),
        (Outcome.ARGUMENTS_MALFORMED, _repair_call, "tool_call_malformed"),
    )
}

LADDERS: dict[Outcome, tuple[Rung, ...]] = {
    Outcome.DONE: (
        Rung("end a continuation without news", (NOTHING_NEW,), ends=(Status.PARTIAL, "runaway")),
        Rung(
            "end a document that does not parse",
            (BROKEN_DOCUMENT,),
            ends=(Status.PARTIAL, "document_broken"),
        ),
    ),
    Outcome.TEXT_CUT: (
        _continuation("continue after a prefill", _continue_prefill, PREFILL),
        _continuation("continue after a hint", _continue_hint),
    ),
    **_CALLS,
    Outcome.CALLS_MISSING: (
        Rung(
            "ask for the missing call",
            MAY_SEND,
            _ask_for_call,
            Budget.MISSING_CALL,
            Recovery.TOOL_REPAIR,
        ),
    ),
    Outcome.THINKING_CUT: (
        Rung(
            "lower the reasoning",
            (*MAY_SEND, NOTHING_SAID, TOKENS_LEFT, LOWER_REASONING),
            _lower_reasoning,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
        Rung(
            "raise the limit and ask for less reasoning",
            (*MAY_SEND, NOTHING_SAID, TOKENS_LEFT),
            _reason_less,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
    ),
    Outcome.THINKING_ONLY: (
        Rung(
            "ask for the answer",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID),
            _answer_now,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
    ),
    Outcome.EMPTY: (
        Rung(
            "nudge after a tool result",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID, AFTER_TOOL_RESULT),
            _nudge,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
        Rung(
            "pass the empty answer on",
            (NOTHING_SAID, AFTER_TOOL_RESULT, CLEAN_END),
            ends=(Status.PARTIAL, "empty_after_tool_result"),
            as_received=True,
        ),
        Rung(
            "ask for other words",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID, TOOLS, CLEAN_END),
            _rephrase,
            Budget.REPHRASE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask again",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID),
            _ask_again,
            Budget.EMPTY_RETRY,
            Recovery.EMPTY,
            waits=True,
        ),
    ),
    Outcome.FAULT: (
        Rung(
            "ask for the output that is allowed",
            (BUDGET_TOO_LARGE, *MAY_SEND, TOKENS_LEFT),
            _clamp,
            Budget.PARAMETER,
            Recovery.PARAMETER,
        ),
        Rung(
            "leave the rejected keys out",
            (KEYS_REJECTED, *MAY_SEND),
            _drop_keys,
            Budget.PARAMETER,
            Recovery.PARAMETER,
        ),
        Rung(
            "ask with a hint instead of a prefill",
            (PREFILL_REJECTED, PREFILLED, *MAY_SEND, SAID, TOKENS_LEFT),
            _resume_hint,
            Budget.PARAMETER,
            Recovery.PARAMETER,
        ),
        Rung("leave it to the SDK", (SDK_RETRIES,)),
        *_BREAK,
    ),
    Outcome.DROPPED: _BREAK,
    # These end at once, each for its own reason in ENDINGS (C6, E12).
    Outcome.PAUSED: (),
    Outcome.OVERFLOW: (),
    Outcome.BLOCKED: (),
    Outcome.REFUSED: (),
    Outcome.CANCELLED: (),
    Outcome.UNKNOWN: (),
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends when no rung is left.

    Attributes:
        reason: the reason where nothing more particular stood in the way.
        kept: the status where text is kept; bare: where none is.
        suggestion: what may help the caller.
        hidden_by_cut: True where text that the limit cut earlier is the truth that is shown.
    """

    reason: str
    kept: Status
    bare: Status
    suggestion: Suggestion
    hidden_by_cut: bool = False


_P, _F = Status.PARTIAL, Status.FAILED

ENDINGS: dict[Outcome, Ending] = {
    Outcome.DONE: Ending("completed", Status.COMPLETE, Status.COMPLETE, "stop"),
    Outcome.TEXT_CUT: Ending("retry_limit", _P, _P, "increase_budget"),
    Outcome.ARGUMENTS_CUT: Ending("tool_call_truncated", _P, _P, "increase_budget"),
    Outcome.ARGUMENTS_MALFORMED: Ending("tool_call_malformed", _P, _F, "modify_prompt", True),
    Outcome.CALLS_MISSING: Ending("tool_calls_missing", _P, _F, "retry", True),
    Outcome.THINKING_CUT: Ending("reasoning_budget", _P, _P, "increase_budget", True),
    Outcome.THINKING_ONLY: Ending("empty_output", _P, _F, "retry", True),
    Outcome.EMPTY: Ending("empty_output", _P, _F, "retry", True),
    Outcome.PAUSED: Ending("paused", _P, _P, "retry"),
    Outcome.OVERFLOW: Ending("context_window", _P, _F, "modify_prompt"),
    Outcome.BLOCKED: Ending("safety_blocked", _P, _F, "modify_prompt"),
    Outcome.REFUSED: Ending("refused", _P, _F, "modify_prompt"),
    Outcome.DROPPED: Ending("provider_error", _P, _F, "retry", True),
    Outcome.FAULT: Ending("provider_error", _P, _F, "retry", True),
    Outcome.CANCELLED: Ending("cancelled", _P, _F, "retry"),
    Outcome.UNKNOWN: Ending("unknown_stop", _P, _P, "stop"),
}


_MAY_BE_REPEATED = (Outcome.FAULT, Outcome.DROPPED)
"""Outcomes that say nothing against the request, which may be sent again as it was."""


# --- the engine -------------------------------------------------------------------------------


def step(
    state: State, response: Response, facts: Facts, policy: Policy, now_s: float
) -> tuple[State, Action]:
    """One response in, one action out.

    Args:
        state: the turn so far, `State(started_s=…)` at its beginning.
        response: the attempt that has just ended.
        facts: what else is known about it, the request and the model.
        policy: the limits.
        now_s: the time on the clock of `state.started_s`, in seconds.

    Returns:
        the turn's next state, and what to do.

    >>> from tenuto.core.response import Builder
    >>> from tenuto.core.signals import Ended, TextDelta
    >>> builder = Builder()
    >>> for signal in (TextDelta("All said."), Ended()):
    ...     builder.feed(signal)
    >>> _, action = step(State(), builder.build(), Facts(said="All said."), Policy(), 0.0)
    >>> action.status.value, action.reason
    ('complete', 'completed')
    """
    outcome = classify(response)
    state = _seen(state, outcome, response, facts, policy)
    view = View(state, response, facts, policy, now_s)
    rung, blocked = _choose(view, outcome)
    rung, blocked = _overridden(view, outcome, rung, blocked)
    if rung is None or rung.edits is None:
        return state, _finish(view, outcome, rung, blocked)
    edits = _with_lasting(rung.edits(view), state.last_edits)
    if edits == state.last_edits and outcome not in _MAY_BE_REPEATED:
        edits = _varied(edits)
    state = replace(state, spent=_spend(state.spent, rung.budget), last_edits=edits)
    return state, Send(edits, rung.name, rung.recovery, _wait_s(view, rung))


def _seen(
    state: State, outcome: Outcome, response: Response, facts: Facts, policy: Policy
) -> State:
    spent = state.spent
    if outcome is Outcome.DONE:
        spent = {budget: n for budget, n in spent.items() if budget not in CONSECUTIVE}
    return replace(
        state,
        attempts=state.attempts + 1,
        spent=spent,
        output_tokens=state.output_tokens + facts.output_tokens,
        base_tokens=state.base_tokens or _base_tokens(outcome, response, facts, policy),
        cut=state.cut or outcome is Outcome.TEXT_CUT,
    )


def _base_tokens(outcome: Outcome, response: Response, facts: Facts, policy: Policy) -> int | None:
    """What a first unfinished answer says about the output limit. Only one that the limit cut shows
    where it is: one that broke off after five tokens would have used more."""
    if outcome is Outcome.DONE or not facts.output_tokens:
        return None
    if response.stop.reason is StopReason.MAX_TOKENS:
        return facts.output_tokens
    return max(facts.output_tokens, policy.default_max_tokens)


def _choose(view: View, outcome: Outcome) -> tuple[Rung | None, str]:
    """The first rung that may be taken, and what stood in the way of those before it."""
    blocked = ""
    for rung in LADDERS[outcome]:
        if _may_be_taken(view, rung):
            return rung, blocked
        if not blocked and not _is_spent(view, rung.budget):
            failed = next((guard for guard in rung.guards if not guard.holds(view)), None)
            blocked = failed.ends_as if failed else ""
    return None, blocked


def _may_be_taken(view: View, rung: Rung) -> bool:
    """Whether the budget is not spent, every guard holds, and the wait ends within the time."""
    if _is_spent(view, rung.budget) or not all(guard.holds(view) for guard in rung.guards):
        return False
    return not rung.waits or _time_left(replace(view, now_s=view.now_s + _wait_s(view, rung)))


def _is_spent(view: View, budget: Budget | None) -> bool:
    return budget is not None and not view.state.left(budget, view.policy)


def _spend(spent: Mapping[Budget, int], budget: Budget | None) -> Mapping[Budget, int]:
    return spent if budget is None else {**spent, budget: spent.get(budget, 0) + 1}


def _overridden(
    view: View, outcome: Outcome, rung: Rung | None, blocked: str
) -> tuple[Rung | None, str]:
    """The policy's own word on the decision (P2). It may stop the turn or take another rung of the
    same ladder; it cannot invent one, and it cannot pass a guard or spend more than there is."""
    if view.policy.decide is None:
        return rung, blocked
    answer = view.policy.decide(decision(outcome, rung))
    if answer == "stop":
        return None, "stopped" if rung is not None and rung.edits is not None else blocked
    for other in LADDERS[outcome]:
        if other.name == answer and _may_be_taken(view, other):
            return other, blocked
    return rung, blocked


def decision(outcome: Outcome, rung: Rung | None) -> Decision:
    """The decision in words (P2): whether to go on, why, by which rule, and what helps."""
    proceed = rung is not None and rung.edits is not None
    name = rung.name if rung else ""
    why = f"{outcome.value}: {name}" if name else f"{outcome.value}: no way on is left"
    return Decision(
        outcome, name, proceed, why, "retry" if proceed else ENDINGS[outcome].suggestion
    )


def _finish(view: View, outcome: Outcome, rung: Rung | None, blocked: str) -> Finish:
    ending = ENDINGS[outcome]
    name = rung.name if rung else ""
    cut = outcome is Outcome.DONE if rung else view.state.cut and ending.hidden_by_cut
    shown = Outcome.TEXT_CUT if cut else outcome
    if rung is not None and rung.ends is not None:
        status, reason = rung.ends
        return Finish(status, reason, shown, name, rung.whole_calls_only, rung.as_received)
    status = ending.kept if view.said else ending.bare
    return Finish(status, blocked or ending.reason, shown, name)


def _wait_s(view: View, rung: Rung) -> float:
    """Seconds before the next request: what the provider asks for, within the policy, else a
    back-off that doubles with each try of the same budget."""
    if not rung.waits or rung.budget is None:
        return 0.0
    asked = view.response.fault.retry_after_s if view.response.fault else None
    if asked is not None:
        return min(max(0.0, asked), view.policy.retry_after_max_s)  # in this order NaN is 0
    tries: int = view.state.spent.get(rung.budget, 0)
    return float(min(view.policy.backoff_s * 2**tries, view.policy.backoff_max_s))
