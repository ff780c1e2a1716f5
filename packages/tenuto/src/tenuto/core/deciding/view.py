"""What the machine reads: budgets, the state of a turn, the facts about it, and a `View` of them
all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from tenuto.core.answer.arguments import is_document
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.response import Response, is_visible
from tenuto.core.deciding.actions import ROWS, AppendAssistant, AppendContent, Content, Edit
from tenuto.core.seam.seam import trailing_space
from tenuto.core.settings.policy import Policy

_BRACKETS = ("{", "[")


class Budget(StrEnum):
    """The counters of a turn. The policy field that `LIMITS` names bounds each of them."""

    CONTINUATION = "continuation"
    TOOL_REPAIR = "tool_repair"
    TOOL_ANSWER = "tool_answer"
    NUDGE = "nudge"
    REPHRASE = "rephrase"
    REASONING_PREFILL = "reasoning_prefill"
    WITHOUT_TOOLS = "without_tools"
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
    Budget.WITHOUT_TOOLS: "empty_without_tools",
    Budget.EMPTY_RETRY: "empty_retries",
    Budget.THINKING: "thinking_retries",
    Budget.MISSING_CALL: "missing_call_retries",
    Budget.FAULT_RETRY: "fault_retries",
    Budget.PARAMETER: "parameter_fixes",
    Budget.PAUSE: "pause_resumes",
    Budget.SHRINKING_CALL: "tool_shrink_attempts",
}

CONSECUTIVE = frozenset({Budget.TOOL_ANSWER})
"""Budgets that count attempts in a row: a good response with calls restores them (T7)."""

BOOSTING = (
    Budget.CONTINUATION,
    Budget.TOOL_REPAIR,
    Budget.TOOL_ANSWER,
    Budget.SHRINKING_CALL,
    Budget.THINKING,
)
"""Budgets whose requests allow more output than the one before (C17)."""


def _nothing_spent() -> Mapping[Budget, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class State:
    """What a turn has used so far.

    Attributes:
        started_s: when the turn began, in seconds of any steady clock.
        answered_s: when the first attempt ended, on the same clock; 0 before.
        attempts: the number of responses so far.
        spent: attempts used, by budget; 0 for a budget that is not in it.
        output_tokens: output tokens of all attempts so far.
        base_tokens: output tokens of the first unfinished answer; 0 before it (C4).
        limited: whether an output limit cut an answer of this turn, in whatever it was saying. If
            the request sets no limit, that of the provider did (C4a).
        cut: whether the output limit has cut text of this turn.
        call_missing: whether a call was begun or announced. An answer that adds nothing is then not
            the end of the turn.
        call_pending: whether a call was cut, malformed, or begun before a break, and has not come
            since. Words alone then don't end the turn.
        broke: whether an answer broke off after text that is kept, in whatever way.
        stopped: whether a clean stop came before the fault that broke a response off.
        cut_off: whether it is known that more was on its way when a response broke off (S3a).
        torn: whether the kept text ends where it was cut, by the limit or a break, rather than
            before a call or a stop, and no text has come since (C24a).
        unmarked: the number of responses that ended with nothing to show whether they were
            complete.
        paused: whether nothing came since the provider paused the turn, or was asked to go on by
            itself. What was sent for that then goes back unchanged.
        going: the answer so far, if the provider was asked to go on with it by itself (C30). It and
            the next response are one answer. None if that is an answer of its own.
        going_tokens: the output tokens of that answer so far, which the provider counts towards the
            limit of the next request.
        went_on: the numbers of the attempts, from 0, with which the provider went on by itself.
        last_edits: the edits of the request that this response answers.
        begun_calls: the largest batch of calls that was broken or broke off; () if none was.
        came_calls: the complete calls that came since then (T4a).
        first_calls: the calls that came whole in a first answer that was not, and gave a stop. They
            are not lost, whatever comes in between (P10).
        calls: the number of calls in the response before this one.
        call_chars: characters of the arguments of the broken calls before this response; None if
            there were none (T11).
        miscounts: whether the provider counted zero tokens for an answer with content.
        nothing_made: empty answers in a row for which the provider made no token at all (E6).
    """

    started_s: float = 0.0
    answered_s: float = 0.0
    attempts: int = 0
    spent: Mapping[Budget, int] = field(default_factory=_nothing_spent)
    output_tokens: int = 0
    base_tokens: int = 0
    limited: bool = False
    cut: bool = False
    call_missing: bool = False
    call_pending: bool = False
    broke: bool = False
    stopped: bool = False
    cut_off: bool = False
    torn: bool = False
    unmarked: int = 0
    paused: bool = False
    going: Response | None = None
    going_tokens: int = 0
    went_on: tuple[int, ...] = ()
    last_edits: tuple[Edit, ...] = ()
    begun_calls: tuple[ToolCall, ...] = ()
    came_calls: tuple[ToolCall, ...] = ()
    first_calls: tuple[ToolCall, ...] = ()
    calls: int = 0
    call_chars: int | None = None
    miscounts: bool = False
    nothing_made: int = 0

    @property
    def continuing(self) -> bool:
        """Whether the request that this response answers continued text that was kept."""
        return any(isinstance(edit, AppendAssistant) for edit in self.last_edits)

    @property
    def apart(self) -> bool:
        """Whether the text of the response is separate from the kept text, since it continues after
        a pause."""
        return any(isinstance(edit, AppendContent) for edit in self.last_edits)

    @property
    def anew(self) -> bool:
        """Whether the response answers the caller's own conversation, to which nothing was added.
        It had the schema then, and does not continue what is kept (C27a)."""
        return not any(isinstance(edit, ROWS) for edit in self.last_edits)

    def left(self, budget: Budget, policy: Policy) -> int:
        """Return the attempts of a budget that are not spent."""
        limit: int = getattr(policy, LIMITS[budget])
        return max(0, limit - self.spent.get(budget, 0))


@dataclass(frozen=True, slots=True)
class Facts:
    """Inputs of a decision that the response does not contain.

    Attributes:
        kept_text: all text that is kept, including this response's, as the caller sees or will see
            it.
        content: all that is kept in the wire's own form, part by part; () if the wire has none.
        content_beside: whether `content` is only what comes beside the text.
        checkpoint: whether the provider gave, with this response, what it needs to go on from here
            by itself, and `content` holds it (C30).
        reasoning: all reasoning that came in a field of its own, for providers that want it back.
        new_chars: how many characters of `kept_text` this response added.
        runaway: whether that text has become one passage repeated up to its end (C13).
        output_tokens: output tokens of this response, measured or estimated.
        input_tokens: its input tokens; None if not known.
        max_tokens: the output limit of the caller's request; None if it set none.
        least_tokens: the smallest output limit that the wire accepts.
        ceiling_tokens: the model's known output ceiling; None if not known.
        window_tokens: the context window, if the provider named it; None otherwise.
        prefill: whether the model continues a trailing assistant message.
        reasoning_prefill: whether the model continues with the answer after its own reasoning.
        goes_on: whether the model continues at the end of the request by itself. It would take a
            hint there for part of the text.
        lower_reasoning: whether the request has a setting for less reasoning.
        structured: whether the request constrains the output.
        one_of_words: whether that is not a document, but one of a few words.
        fits: whether `kept_text` is a document as the request asks for it; None if nothing can
            check it (C27a).
        checkable: whether a document can be checked, so that one may be put together.
        refuted: whether what completed a document does not fit.
        shown: whether the caller has received some of the text already.
        begun: the first words of the answer, if the request ends in them. They are not part of
            `kept_text`.
        marks_ends: whether this provider marks the end of a stream, by a stop or an end mark; None
            while that is unknown (S3a).
        tools: whether the request has tools.
        call_forced: whether the request demands a call of one of them.
        tools_may_go: whether it may be sent without them; only set if the policy allows it.
        after_tool_result: whether the request ends in a tool result.
        runnable: the calls of this response that are complete and satisfy their tool's parameters;
            only set if the policy runs calls of a cut response (T3).
        http_error: whether this response is an HTTP error status, which an SDK can retry itself.
        droppable: the keys that its error names, if all of them may be left out (H5).
        rows_differ: whether the last request looks different after its error, because that says
            what the rows that Tenuto added must or must not hold (H5b).
        call_hints: the failed results for calls that were cut, by the tool's name. Other tools get
            the general one (T6).
        runs_calls: whether the caller is a loop of Tenuto's own, which runs the calls that it gets.
        left_alone: why the request must not be recovered (C28); "" if it may be.
        timeout_s: the caller's own limit for the turn in seconds; None for none.
        patience_s: how long the caller waits for the next bytes, in seconds; None for ever. Tenuto
            doesn't keep a longer wait that the provider asks for.
        provider: the provider's name, as far as it is known; "" otherwise. Only the policy's own
            `decide` uses it.
        model: the model's name in the request; only `decide` uses it, too.
    """

    kept_text: str = ""
    content: Content = ()
    content_beside: bool = False
    checkpoint: bool = False
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
    fits: bool | None = None
    checkable: bool = True
    refuted: bool = False
    shown: bool = False
    begun: str = ""
    marks_ends: bool | None = None
    tools: bool = False
    call_forced: bool = False
    tools_may_go: bool = False
    after_tool_result: bool = False
    runnable: tuple[ToolCall, ...] = ()
    http_error: bool = False
    droppable: tuple[str, ...] = ()
    rows_differ: bool = False
    call_hints: Mapping[str, str] = field(default_factory=dict)
    runs_calls: bool = False
    left_alone: str = ""
    timeout_s: float | None = None
    patience_s: float | None = None
    provider: str = ""
    model: str = ""

    @property
    def adds_nothing(self) -> bool:
        """Whether the response added nothing but white space to the kept text."""
        return not self.kept_text[len(self.kept_text) - self.new_chars :].strip()


def call_chars(response: Response) -> int | None:
    """Return the size of a response's calls, in characters of argument text; None if it has
    none."""
    return sum(len(call.arguments) for call in response.calls) if response.calls else None


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a guard or an edit may use."""

    state: State
    response: Response
    facts: Facts
    policy: Policy
    now_s: float

    @property
    def kept_text(self) -> str:
        """The kept text as a request may carry it: without white space at its end (C7), and "" if
        nobody could read it (C10, a think block alone)."""
        return trailing_space(self.facts.kept_text)[0] if is_visible(self.facts.kept_text) else ""

    @property
    def going_tokens(self) -> int:
        """The output tokens that the provider counts towards the limit of the next request, if it
        goes on by itself."""
        return self.state.going_tokens + self.facts.output_tokens

    @property
    def refused_to_go_on(self) -> bool:
        """Whether the provider refused to go on by itself. Tenuto can still ask in words."""
        fault = self.response.fault
        return self.state.going is not None and fault is not None and not fault.retryable

    @property
    def torn(self) -> bool:
        """Whether the kept text was cut at its end, so that a call comes behind its rest (C24a)."""
        return self.state.torn and bool(self.kept_text)

    @property
    def is_document(self) -> bool:
        """Whether the output should be a JSON document."""
        return self.facts.structured and not self.facts.one_of_words

    @property
    def document(self) -> str:
        """The kept text as the start of a document, behind the caller's first words if they begin
        it."""
        begun = self.facts.begun.lstrip()
        return begun + self.facts.kept_text if begun[:1] in _BRACKETS else self.kept_text.lstrip()

    @property
    def is_whole_document(self) -> bool:
        """Whether a JSON document is wanted, and the kept text completes one. A text that ends in a
        digit does not: another digit may be missing."""
        kept_text = self.kept_text
        whole = bool(kept_text) and not kept_text[-1:].isdigit() and is_document(self.document)
        return self.is_document and whole and self.facts.fits is not False

    @property
    def is_half_document(self) -> bool:
        """Whether a JSON document is wanted, and the kept text begins one that does not parse."""
        return self.is_document and self.document[:1] in _BRACKETS and not self._parses

    @property
    def holds_document(self) -> bool:
        """Whether the kept text is a whole document as the request asks for it; if nothing can
        check that, whether it parses."""
        fits = self.facts.fits
        return self._parses if fits is None else fits

    @property
    def _parses(self) -> bool:
        """Whether the kept text is JSON, by itself or behind the caller's first words. Some models
        write it anew in spite of those."""
        return is_document(self.facts.kept_text) or is_document(self.document)

    @property
    def tokens_left(self) -> int | None:
        """Output tokens that the turn may still use (C4); None for no limit.

        A turn whose caller set no limit gets four times the largest limit that a boost sets, so
        that the total never makes a limit where the provider has none (C4a)."""
        total = self.policy.continuation_max_total_completion_tokens
        if total is None:
            unset = max(self.policy.boost_max_tokens, self.state.base_tokens)
            total = 4 * (self.facts.max_tokens or unset)
        return None if total == 0 else total - self.state.output_tokens

    def output_limit(self, boosts: int) -> int | None:
        """Return the output limit of the next request, within every bound; None if it has none.

        If the caller set a limit, it is that × (boosts + 1) (C17). If not, only an answer that the
        provider's own limit cut shows that one is needed: four times what came (C4a)."""
        facts, policy, state = self.facts, self.policy, self.state
        if facts.max_tokens is not None:
            wanted = min(facts.max_tokens * (boosts + 1), policy.boost_max_tokens)
            wanted = max(wanted, facts.max_tokens)
        elif state.limited:
            wanted = max(4 * state.output_tokens, policy.default_max_tokens)
            wanted = min(wanted, policy.boost_max_tokens)
        else:
            return None
        return self.bounded(max(wanted, facts.least_tokens))

    def bounded(self, tokens: int) -> int:
        """Return an output limit within the policy's hard cap, what C4 leaves, and the model's
        ceiling."""
        bounds = (self.tokens_left, self.policy.hard_max_tokens, self.facts.ceiling_tokens)
        return min([tokens, *(bound for bound in bounds if bound is not None)])

    @property
    def boosts(self) -> int:
        """The number of boosted requests that the turn has sent."""
        return sum(self.state.spent.get(budget, 0) for budget in BOOSTING)
