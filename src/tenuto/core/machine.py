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

from collections.abc import Callable
from dataclasses import replace
from math import isnan

from tenuto.core import edits
from tenuto.core.actions import Action, Finish, FreeToolChoice, Send, Status
from tenuto.core.errors import PolicyError
from tenuto.core.guards import TIME_LEFT
from tenuto.core.ladders import ENDINGS, LADDERS, MAY_BE_REPEATED, SENTENCES, Rung
from tenuto.core.outcome import Outcome, classify
from tenuto.core.policy import Decision, Policy
from tenuto.core.response import Response, is_visible
from tenuto.core.rule import shown
from tenuto.core.stop import NO_STOP_BUT_FAULT, StopReason
from tenuto.core.view import CONSECUTIVE, Facts, State, View, call_chars


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

    >>> from tenuto.core.builder import Builder
    >>> from tenuto.core.signals import Ended, TextDelta
    >>> builder = Builder()
    >>> for signal in (TextDelta("All said."), Ended()):
    ...     builder.feed(signal)
    >>> _, action = step(State(), builder.build(), Facts(said="All said."), Policy(), 0.0)
    >>> action.status.value, action.reason
    ('complete', 'completed')
    """
    return act(
        state, response, in_turn(classify(response), state, response, facts), facts, policy, now_s
    )


def act(
    state: State,
    response: Response,
    outcome: Outcome,
    facts: Facts,
    policy: Policy,
    now_s: float,
) -> tuple[State, Send | Finish]:
    """Do the same for a response that is classified: `in_turn` says what it means."""
    state = _seen(state, outcome, response, facts, policy)
    if state.attempts == 1:
        state = replace(state, answered_s=now_s)
    view = View(state, response, facts, policy, now_s)
    # What the next response is compared with.
    state = replace(state, call_chars=call_chars(response))
    rung, blocked = _choose(view, outcome)
    overridden = ""
    if policy.decide is not None:
        rung, blocked, overridden = _overridden(policy.decide, view, outcome, rung, blocked)
    if rung is None or rung.edits is None:
        finish = _finish(view, outcome, rung, blocked)
        return state, replace(finish, overridden=overridden) if overridden else finish
    made = edits.within(view, edits.with_lasting(rung.edits(view), state.last_edits))
    if made == state.last_edits and outcome not in MAY_BE_REPEATED:
        made = edits.varied(made)
    spent = state.spent
    if rung.budget is not None:
        spent = {**spent, rung.budget: spent.get(rung.budget, 0) + 1}
    state = replace(state, spent=spent, last_edits=made)
    told = rung.waits and _told_wait_s(view) is not None
    return state, Send(made, rung.id, rung.recovery, _wait_s(view, rung), told, overridden)


def in_turn(outcome: Outcome, state: State, response: Response, facts: Facts) -> Outcome:
    """Return what a response means within its turn. A request that goes on from what was said
    leaves it to the model what to call (C28a): where the caller demanded a call, the turn owes it
    still.

    Args:
        outcome: what the response means by itself.
    """
    if not facts.call_forced or outcome not in _SAY_NO_MORE or response.calls:
        return outcome
    freed = any(isinstance(edit, FreeToolChoice) for edit in state.last_edits)
    owed = freed or edits.asks_for_call(state.last_edits)
    return Outcome.CALLS_MISSING if owed else outcome


_SAY_NO_MORE = (Outcome.DONE, Outcome.EMPTY, Outcome.THINKING_ONLY)

WHOLE = Finish(Status.COMPLETE, ENDINGS[Outcome.DONE].reason, Outcome.DONE)


def settled(state: State, outcome: Outcome) -> Finish | None:
    """What `step` would answer, where no fact can change it: nearly every turn is done with its
    first response, and every rung for that outcome asks for a continuation. None: ask `step`.

    >>> settled(State(), Outcome.DONE).reason
    'completed'
    """
    return WHOLE if outcome is Outcome.DONE and not state.attempts else None


def _seen(
    state: State, outcome: Outcome, response: Response, facts: Facts, policy: Policy
) -> State:
    """Return what is known of the turn once this response has been seen."""
    spent, usage, calls = state.spent, response.usage, bool(response.calls)
    if outcome is Outcome.DONE:
        spent = {budget: n for budget, n in spent.items() if budget not in CONSECUTIVE}
    fault = outcome is Outcome.FAULT
    stopped = fault and response.stop.field != NO_STOP_BUT_FAULT
    # Without text the request is sent again as it was, and the model answers anew.
    broke = (outcome is Outcome.DROPPED or (fault and not stopped)) and is_visible(facts.said)
    unmarked = state.unmarked + (response.unmarked and _anything(response))
    missing = outcome in (Outcome.ARGUMENTS_MALFORMED, Outcome.CALLS_MISSING)
    # An empty answer that provably is all that there was: another try gives the same (E6).
    made_nothing = outcome is Outcome.EMPTY and usage is not None and usage.output_tokens == 0
    # Only an answer that the limit cut, and whose usage was told, shows where the limit is: one
    # that broke off after five tokens would have used more, and of one that nobody counted the
    # visible text may be the least part.
    cut = response.stop.reason is StopReason.MAX_TOKENS
    used_tokens = (usage.output_tokens or 0) if cut and usage is not None else 0
    base_tokens = state.base_tokens
    if not base_tokens and outcome is not Outcome.DONE and (cut or facts.output_tokens):
        base_tokens = used_tokens or max(facts.output_tokens, policy.default_max_tokens)
    return replace(
        state,
        attempts=state.attempts + 1,
        spent=spent,
        output_tokens=state.output_tokens + facts.output_tokens,
        base_tokens=base_tokens,
        used_tokens=used_tokens if state.base_tokens is None else state.used_tokens,
        cut=state.cut or outcome is Outcome.TEXT_CUT,
        lacking=state.lacking or missing or calls,
        owed=(state.owed and not calls) or (calls and (broke or outcome is Outcome.TEXT_CUT)),
        broke=state.broke or broke,
        stopped=state.stopped or stopped,
        cut_off=state.cut_off or _cut_off(outcome, response) or bool(unmarked and facts.marks_ends),
        unmarked=unmarked,
        paused=outcome is Outcome.PAUSED or (state.paused and not _anything(response)),
        nothing_made=state.nothing_made + 1 if made_nothing else 0,
    )


def _cut_off(outcome: Outcome, response: Response) -> bool:
    """Whether more was on its way when the response broke off (S3a): the connection, an event, a
    part or a call shows it, or a fault that came in place of the stop."""
    if outcome is Outcome.PAUSED:
        return response.other  # what the provider runs itself may have no result yet
    if outcome is Outcome.DROPPED:
        return (not response.unmarked or response.other) and _anything(response)
    broken_off = outcome is Outcome.FAULT and response.stop.field == NO_STOP_BUT_FAULT
    return broken_off and _anything(response)


def _anything(response: Response) -> bool:
    return bool(response.text or response.reasoning or response.calls or response.other)


def _choose(view: View, outcome: Outcome) -> tuple[Rung | None, str]:
    """Return the first rung that may be taken, and what stood in the way of those before it."""
    blocked = ""
    for rung in LADDERS[outcome]:
        hindrance = _hindrance(view, rung)
        if hindrance is None:
            return rung, blocked
        blocked = blocked or hindrance
    return None, blocked


def _hindrance(view: View, rung: Rung) -> str | None:
    """Return what stands in the way of a rung, as the reason of the turn's end: "" where it is no
    reason, such as a budget that is spent. None where the rung may be taken."""
    if rung.budget is not None and not view.state.left(rung.budget, view.policy):
        return ""
    for guard in rung.guards:
        if not guard.holds(view):
            return guard.ends_as
    if not rung.waits:
        return None
    # A wait that the provider names is kept whole or not begun (P5), and ends within the time.
    wait_s = _wait_s(view, rung)
    longest = (view.policy.retry_after_max_s, view.facts.patience_s)
    if _told_wait_s(view) is not None and any(s is not None and wait_s > s for s in longest):
        return ""
    return None if TIME_LEFT.holds(replace(view, now_s=view.now_s + wait_s)) else ""


def _overridden(
    decide: Callable[[Decision], str | None],
    view: View,
    outcome: Outcome,
    rung: Rung | None,
    blocked: str,
) -> tuple[Rung | None, str, str]:
    """Return the rung that the policy's own `decide` leaves (P2), what then stands in the way, and
    what `decide` changed: "stop", the id of a rung, or "". It may stop the turn or take another
    rung of the same ladder; it cannot invent one, and it cannot pass a guard or spend more than
    there is.

    Raises:
        PolicyError: it answers with what is no rung of any ladder."""
    offered = decision(view, outcome, rung)
    answer = decide(offered)
    if answer == "stop":
        went_on = rung is not None and rung.edits is not None
        return None, "stopped" if went_on else blocked, "stop" if rung is not None else ""
    if answer is None or answer == offered.rung:
        return rung, blocked, ""
    # A rung of another outcome's ladder is allowed and changes nothing, so that a `decide` may
    # always name the same one.
    if answer not in tuple(SENTENCES):  # what it answers may be anything
        ladder = ", ".join(repr(other.id) for other in LADDERS[outcome])
        raise PolicyError(
            f"decide returned {shown(answer)} for the outcome {outcome.value!r}, but it must "
            f"return None, 'stop', or a rung of its ladder: {ladder or 'it has none'}"
        )
    for other in LADDERS[outcome]:
        if other.id == answer and _hindrance(view, other) is None:
            return other, blocked, other.id
    return rung, blocked, ""


def decision(view: View, outcome: Outcome, rung: Rung | None) -> Decision:
    """The decision in words (P2): whether to go on, why, by which rule, what helps, and what it was
    made from."""
    proceed = rung is not None and rung.edits is not None
    why = f"{outcome.value}: {rung.sentence if rung else 'no way on is left'}"
    return Decision(
        outcome,
        rung.id if rung else "",
        proceed,
        why,
        "retry" if proceed else ENDINGS[outcome].suggestion,
        stop=view.response.stop,
        provider=view.facts.provider,
        model=view.facts.model,
        attempts=view.state.attempts,
        input_tokens=view.facts.input_tokens,
        output_tokens=view.state.output_tokens,
        chars=len(view.facts.said),
        elapsed_s=max(0.0, view.now_s - view.state.started_s),
    )


def _finish(view: View, outcome: Outcome, rung: Rung | None, blocked: str) -> Finish:
    ending = ENDINGS[outcome]
    name = rung.id if rung else ""
    # What a rung ends with text is text that lacks its end, even where nothing more came.
    unended = outcome is Outcome.DONE or (outcome is Outcome.EMPTY and bool(view.said))
    cut = unended if rung else view.state.cut and ending.hidden_by_cut
    owed = outcome is Outcome.CALLS_MISSING and view.facts.call_forced
    cut = cut or (owed and bool(view.said))
    shown = Outcome.TEXT_CUT if cut else outcome
    if rung is not None and rung.ends is not None:
        status, reason = rung.ends
        if reason == ENDINGS[Outcome.DROPPED].reason and not view.state.cut:
            shown = Outcome.DROPPED  # what was lost is no matter of the output limit
        shown = Outcome.DONE if status is Status.COMPLETE else shown
        return Finish(
            status, reason, shown, name, rung.whole_calls_only, rung.as_received, rung.without_stop
        )
    if view.state.paused and ending.hidden_by_cut:
        shown = Outcome.PAUSED  # the caller can send it back as well as we could
    status = ending.kept if view.said or view.state.paused else ending.bare
    return Finish(status, blocked or ending.reason, shown, name)


def _wait_s(view: View, rung: Rung) -> float:
    """Seconds before the next request: what the provider asks for, else a back-off that doubles
    with each try of the same budget."""
    if not rung.waits or rung.budget is None:
        return 0.0
    told = _told_wait_s(view)
    if told is not None:
        return told
    tries: int = view.state.spent.get(rung.budget, 0)
    return float(min(view.policy.backoff_s * 2**tries, view.policy.backoff_max_s))


def _told_wait_s(view: View) -> float | None:
    """Seconds that the provider asks to wait, None where it asks for none."""
    told = view.response.fault.retry_after_s if view.response.fault else None
    return None if told is None or isnan(told) else max(0.0, told)
