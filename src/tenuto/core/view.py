"""What the machine looks at: budgets, the state of a turn, the facts that it is told, and all of
them together as a `View`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from tenuto.core.actions import AppendAssistant, AppendContent, Content, Edit
from tenuto.core.arguments import is_document
from tenuto.core.calls import ToolCall
from tenuto.core.policy import Policy
from tenuto.core.response import Response, is_visible
from tenuto.core.seam import trailing_space

Suggestion = Literal["retry", "modify_prompt", "increase_budget", "stop", "none"]


class Budget(StrEnum):
    """The counters of a turn. Each is bounded by the policy field that `LIMITS` names."""

    CONTINUATION = "continuation"
    TOOL_REPAIR = "tool_repair"
    TOOL_ANSWER = "tool_answer"
    NUDGE = "nudge"
    REPHRASE = "rephrase"
    REASONING_PREFILL = "reasoning_prefill"
    EMPTY_RETRY = "empty_retry"
    THINKING = "thinking"
    MISSING_CALL = "missing_call"
    FAULT_RETRY = "fault_retry"
    PARAMETER = "parameter"
    PAUSE = "pause"
    SHRINKING_CALL = "shrinking_call"


LIMITS: dict[Budget, str] = {
    Budget.CONTINUATION: "continuation_max_attempts",
    Budget.TOOL_REPAIR: "continuation_tool_repair_attempts",
    Budget.TOOL_ANSWER: "tool_answer_attempts",
    Budget.NUDGE: "empty_nudges",
    Budget.REPHRASE: "empty_nudges",
    Budget.REASONING_PREFILL: "reasoning_prefills",
    Budget.EMPTY_RETRY: "empty_retries",
    Budget.THINKING: "thinking_retries",
    Budget.MISSING_CALL: "missing_call_retries",
    Budget.FAULT_RETRY: "fault_retries",
    Budget.PARAMETER: "parameter_fixes",
    Budget.PAUSE: "pause_resumes",
    Budget.SHRINKING_CALL: "tool_shrink_attempts",
}

CONSECUTIVE = frozenset({Budget.TOOL_ANSWER})
"""Budgets that count in a row: a good response with calls gives them back (T7)."""

BOOSTING = (
    Budget.CONTINUATION,
    Budget.TOOL_REPAIR,
    Budget.TOOL_ANSWER,
    Budget.SHRINKING_CALL,
    Budget.THINKING,
)
"""Budgets whose requests ask for more output than the one before (C17)."""


def _nothing_spent() -> Mapping[Budget, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class State:
    """What a turn has used so far.

    Attributes:
        started_s: when the turn began, in seconds of any steady clock.
        answered_s: when the first attempt had ended, on the same clock; 0 before.
        attempts: responses seen.
        spent: tries used, by budget; what is not named is 0.
        output_tokens: output tokens of all attempts so far.
        base_tokens: the output limit that boosts multiply where the request sets none: what the
            first unfinished answer used, None before it (C17).
        used_tokens: output tokens that the first cut answer used, as its provider told; 0 where it
            did not. Where the request sets no limit no further one asks for less (C17).
        cut: True once text was cut by the output limit: the truth about all text that is kept.
        lacking: True once a call was begun or announced: an answer without news is not its end
            then.
        owed: True where a call was begun before a break, or before a text that the limit cut, and
            has not come since: words alone do not end the turn.
        broke: True once the answer broke off behind text that is kept, in whatever way.
        stopped: True once a stop stood before the fault that broke a response off.
        cut_off: True once it is known that more was on its way when it broke off (S3a).
        unmarked: how many responses just ended, with nothing that says whether they were whole.
        paused: True while nothing came since the provider paused the turn: what is kept goes back
            as it is.
        last_edits: the edits of the request that is being answered.
        call_chars: characters of the arguments of the broken calls before this response, None where
            it was none (T11).
        nothing_made: empty answers in a row for which the provider made no token at all (E6).
    """

    started_s: float = 0.0
    answered_s: float = 0.0
    attempts: int = 0
    spent: Mapping[Budget, int] = field(default_factory=_nothing_spent)
    output_tokens: int = 0
    base_tokens: int | None = None
    used_tokens: int = 0
    cut: bool = False
    lacking: bool = False
    owed: bool = False
    broke: bool = False
    stopped: bool = False
    cut_off: bool = False
    unmarked: int = 0
    paused: bool = False
    last_edits: tuple[Edit, ...] = ()
    call_chars: int | None = None
    nothing_made: int = 0

    @property
    def continuing(self) -> bool:
        """Whether the request that is being answered went on from text that was kept."""
        return any(isinstance(edit, AppendAssistant) for edit in self.last_edits)

    @property
    def apart(self) -> bool:
        """Whether the text of the response stands apart from what was kept: it goes on behind a
        pause."""
        return any(isinstance(edit, AppendContent) for edit in self.last_edits)

    def left(self, budget: Budget, policy: Policy) -> int:
        """Tries of a budget that are not spent."""
        limit: int = getattr(policy, LIMITS[budget])
        return max(0, limit - self.spent.get(budget, 0))


@dataclass(frozen=True, slots=True)
class Facts:
    """What the machine is told and never finds out by itself.

    Attributes:
        said: all text that is kept, this response's included, as the caller sees or will see it.
        content: all that is kept in the wire's own form, part by part; () where the wire has none.
        reasoning: all reasoning that came in a field of its own, for providers that want it back.
        new_chars: how many characters of it this response added.
        runaway: True where that text has become one passage repeated up to its end (C13).
        output_tokens: output tokens of this response, measured or estimated.
        input_tokens: its input tokens, None where not known.
        max_tokens: the output limit of the caller's request, None where it set none.
        least_tokens: the smallest output limit that the wire accepts.
        ceiling_tokens: the model's known output ceiling, None where not known.
        window_tokens: the context window as far as the provider named it, None where it did not.
        prefill: whether the model goes on with a trailing assistant message.
        reasoning_prefill: whether it goes on with the answer behind reasoning of its own.
        goes_on: whether it goes on at the end of the request by itself: nothing can be asked of it
            there, which it would take for the text.
        lower_reasoning: whether the request has a knob for less reasoning.
        structured: whether the request constrains the output.
        one_of_words: whether that is no document, but one of some words.
        marks_ends: whether this provider marks the end of a stream, by a stop or an end mark; None
            where nobody knows yet (S3a).
        tools: whether tools are attached.
        call_forced: whether the request demands a call of one of them.
        after_tool_result: whether the request ends in a tool result.
        runnable: the calls of this response that are whole and satisfy their tool's parameters;
            told only where the policy runs calls of a cut response (T3).
        http_error: whether this response is an HTTP error status, which an SDK can retry itself.
        droppable: the keys that its error names, where all of them may be left out (H5).
        call_hints: what a call that was cut is answered with, by its tool's name; the general hint
            where it names none (T6).
        left_alone: why the request must not be recovered (C28), "" where it may be.
        timeout_s: the caller's own limit for the turn in seconds, None for none.
        patience_s: how long the caller waits for the next bytes, in seconds, None for ever: no
            longer wait that the provider asks for is kept.
        provider: the provider's name as far as it is known, "" where it is not; nothing but the
            policy's own `decide` looks at it.
        model: as the request says it; the same.
    """

    said: str = ""
    content: Content = ()
    reasoning: str = ""
    new_chars: int = 0
    runaway: bool = False
    output_tokens: int = 0
    input_tokens: int | None = None
    max_tokens: int | None = None
    least_tokens: int = 1
    ceiling_tokens: int | None = None
    window_tokens: int | None = None
    prefill: bool = False
    reasoning_prefill: bool = False
    goes_on: bool = False
    lower_reasoning: bool = False
    structured: bool = False
    one_of_words: bool = False
    marks_ends: bool | None = None
    tools: bool = False
    call_forced: bool = False
    after_tool_result: bool = False
    runnable: tuple[ToolCall, ...] = ()
    http_error: bool = False
    droppable: tuple[str, ...] = ()
    call_hints: Mapping[str, str] = field(default_factory=dict)
    left_alone: str = ""
    timeout_s: float | None = None
    patience_s: float | None = None
    provider: str = ""
    model: str = ""


def call_chars(response: Response) -> int | None:
    """The size of a response's calls, in characters of argument text; None where it has none."""
    return sum(len(call.arguments) for call in response.calls) if response.calls else None


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
        return trailing_space(self.facts.said)[0] if is_visible(self.facts.said) else ""

    @property
    def is_document(self) -> bool:
        """Whether the output is to be a document of JSON."""
        return self.facts.structured and not self.facts.one_of_words

    @property
    def is_whole_document(self) -> bool:
        """Whether a document of JSON is wanted, and all that is kept is one. Of a number nobody
        knows whether a digit is missing."""
        said = self.said
        return self.is_document and not said[-1:].isdigit() and is_document(said)

    @property
    def is_half_document(self) -> bool:
        """Whether a document of JSON is wanted, and what is kept begins one that does not parse."""
        said = self.said.lstrip()
        return self.is_document and said[:1] in ("{", "[") and not is_document(said)

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

    def output_limit(self, boosts: int) -> int:
        """The output limit of the next request: base × (boosts + 1) within every bound (C17)."""
        least = max(self.facts.max_tokens or self.state.used_tokens, self.facts.least_tokens)
        return self.bounded(
            max(min(self.base_tokens * (boosts + 1), self.policy.boost_max_tokens), least)
        )

    def bounded(self, tokens: int) -> int:
        """An output limit within the policy's hard cap, what C4 leaves, and the model's ceiling."""
        bounds = (self.tokens_left, self.policy.hard_max_tokens, self.facts.ceiling_tokens)
        return min([tokens, *(bound for bound in bounds if bound is not None)])

    @property
    def boosts(self) -> int:
        """How many boosted requests the turn has sent."""
        return sum(self.state.spent.get(budget, 0) for budget in BOOSTING)
