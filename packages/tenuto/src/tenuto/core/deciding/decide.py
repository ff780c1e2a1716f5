"""`decide()`: what the machine would do about a stop, without a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import CALLS_MISSING, WITHOUT_END, Confidence, Stop, StopReason
from tenuto.core.deciding.machine import decided
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.view import Budget, Facts, State
from tenuto.core.errors import PolicyError
from tenuto.core.settings.names import not_known, refuses_unknown
from tenuto.core.settings.policy import Decision, Policy

_FAULTS = frozenset(FaultKind)


@refuses_unknown(PolicyError)
@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What `decide` needs to know about an answer and its request, besides the stop. The default of
    each field is what is true of a first plain answer without text.

    Attributes:
        text: the text of the answer, with what earlier attempts added.
        reasoning: the model's reasoning, if it came in a field of its own.
        calls: the names of the answer's tool calls, in order; () for one call without a name, if
            the stop says that there is one. If `Stop.broken` is set, the last call is broken.
        tools: whether the request offers tools.
        after_tool_result: whether the request ends in results of tools.
        document: whether the output should be a JSON document.
        prefill: whether the model continues a trailing assistant message.
        max_tokens: the output limit of the request; None if it sets none.
        input_tokens: the tokens of the request; None if they are not known.
        output_tokens: the tokens of all answers so far, 0 if they are not known.
        window_tokens: the model's context window; None if it is not known.
        spent: the further requests that were sent already, by budget, such as
            {"continuation": 2}. docs/ladders.md names the budgets.
        retry_after_s: how long the provider asks to wait, in seconds; None if it does not.
        elapsed_s: seconds since the first request.
        provider: the provider's name; "" if it is not known. Only the policy's own `decide` uses
            it, and the model's name.
        model: the model that the request names.

    Raises:
        PolicyError: a field or a budget has a name that is not known.

    >>> Context(text="The tide comes in twi", spent={"continuation": 1}).spent
    {'continuation': 1}
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[str, ...] = ()
    tools: bool = False
    after_tool_result: bool = False
    document: bool = False
    prefill: bool = False
    max_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int = 0
    window_tokens: int | None = None
    spent: Mapping[str, int] = field(default_factory=dict, hash=False)
    retry_after_s: float | None = None
    elapsed_s: float = 0.0
    provider: str = ""
    model: str = ""

    def __post_init__(self) -> None:
        for name in self.spent:
            if name not in tuple(Budget):
                raise PolicyError(not_known(name, map(str, Budget), "a budget"))


def decide(stop: Stop, context: Context | None = None, policy: Policy | None = None) -> Decision:
    """Tell what a turn would do about an answer that ended with this stop: continue or retry, by
    which rung, or end. Nothing is sent.

    Args:
        stop: why the answer ended, from `detect` or made by yourself.
        context: what else is known; None: a first answer without text. A cut answer without text
            is one whose reasoning used up the limit.
        policy: the limits; None: the defaults. Its own `decide` is asked, as in a turn.

    Returns:
        the decision; for what is no answer, several answers, or not read, to stop, and for what is
        empty or broke off, to ask again. A turn that knows more, such as what an error says about
        the request, may find a way on that this does not.

    >>> cut = Stop(StopReason.MAX_TOKENS, raw="length")
    >>> told = decide(cut, Context(text="The tide comes in twi", max_tokens=100))
    >>> told.proceed, told.rung, told.why
    (True, 'continue_with_hint', 'text_cut: continue the text after a hint')
    >>> spent = Context(text="The tide comes in twi", spent={"continuation": 3})
    >>> told = decide(cut, spent)
    >>> told.proceed, told.suggestion
    (False, 'increase_budget')
    """
    context = context or Context()
    state = State(
        attempts=sum(context.spent.values()),
        spent={Budget(name): count for name, count in context.spent.items()},
        output_tokens=0,
    )
    facts = Facts(
        kept_text=context.text,
        new_chars=len(context.text),
        output_tokens=context.output_tokens,
        input_tokens=context.input_tokens,
        max_tokens=context.max_tokens,
        window_tokens=context.window_tokens,
        prefill=context.prefill,
        structured=context.document,
        tools=context.tools or bool(context.calls),
        after_tool_result=context.after_tool_result,
        provider=context.provider,
        model=context.model,
    )
    response = _response(stop, context)
    told = decided(state, response, facts, policy or Policy(), context.elapsed_s)
    if stop.detail in WITHOUT_END:  # another request changes nothing about what it is
        unknown, why = Outcome.UNKNOWN, f"{Outcome.UNKNOWN}: {stop.message}"
        return replace(told, outcome=unknown, rung="", proceed=False, why=why, suggestion="stop")
    return replace(told, suggestion="stop") if _is_untold(stop) and not told.proceed else told


def _is_untold(stop: Stop) -> bool:
    """Return whether an error has a code that says nothing to anybody, as `detect` tells it: that
    the same request would fare better is no more likely than that it would not."""
    untold = stop.detail is None and stop.confidence is Confidence.MEDIUM
    return untold and stop.reason is StopReason.ERROR


def _response(stop: Stop, context: Context) -> Response:
    broken = Finding(stop.broken) if stop.broken is not None else None
    promised = stop.reason is StopReason.TOOL_CALL and CALLS_MISSING not in stop.anomalies
    called = promised or broken is not None
    names = context.calls or ("",) * called
    calls = tuple(
        ToolCall(f"call{number}", name, "{}", broken or Finding.WHOLE)
        if number == len(names)
        else ToolCall(f"call{number}", name, "{}", Finding.WHOLE)
        for number, name in enumerate(names, 1)
    )
    usage = Usage(context.input_tokens, context.output_tokens or None)
    fault = None
    if stop.reason is StopReason.ERROR:
        other = FaultKind.INVALID_REQUEST if _is_untold(stop) else FaultKind.SERVER
        kind = FaultKind(stop.detail) if stop.detail in _FAULTS else other
        fault = Fault(kind, stop.raw or "", retry_after_s=context.retry_after_s)
    return Response(context.text, context.reasoning, "", calls, usage, stop, fault)
