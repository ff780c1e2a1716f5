"""The machine: from the meaning of a response to the next action.

Theory of operation
-------------------
`step(state, response, facts, policy, now_s)` is total and pure. It looks up the response's outcome
in `LADDERS`, and takes the first rung whose guards hold and whose budget is not spent. A rung
either sends the caller's request again with edits, or ends the turn. If no rung is left, the turn
ends with the reason of the first guard that failed and has one, or otherwise as `ENDINGS`
says. A rung whose budget is spent gives no reason.

Nothing else makes decisions. `Facts` say what the model can do and what the caller has seen. The
only counters are the budgets in `State`, and one line of `act` spends them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isnan

from tenuto.core.answer.batch import (
    all_that_came,
    broken_batch,
    filled_up,
    lost_calls,
    never_came,
    surely_whole,
)
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.response import Response, is_visible, visible
from tenuto.core.answer.stop import CLEAN, NO_STOP_BUT_FAULT, StopReason
from tenuto.core.deciding import edits
from tenuto.core.deciding.actions import Action, Finish, FreeToolChoice, Send, Status
from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.guards import TIME_LEFT
from tenuto.core.deciding.ladders import LADDERS, MAY_BE_REPEATED, SENTENCES
from tenuto.core.deciding.outcome import Batch, Outcome, classify, worst_calls
from tenuto.core.deciding.rung import Rung
from tenuto.core.deciding.view import CONSECUTIVE, Facts, State, View, call_chars
from tenuto.core.errors import PolicyError
from tenuto.core.events.advice import suggestion_on
from tenuto.core.seam.small_talk import confirms_end
from tenuto.core.settings.policy import Decision, Policy
from tenuto.core.settings.rule import shown


def step(
    state: State, response: Response, facts: Facts, policy: Policy, now_s: float
) -> tuple[State, Action]:
    """Take one response, and return one action.

    Args:
        state: the turn so far; `State(started_s=…)` at its beginning.
        response: the attempt that has just ended.
        facts: further facts about the attempt, the request and the model.
        policy: the limits.
        now_s: the current time in seconds, on the same clock as `state.started_s`.

    Returns:
        The turn's next state, and the action.

    >>> from tenuto.core.answer.builder import Builder
    >>> from tenuto.core.answer.signals import Ended, TextDelta
    >>> builder = Builder()
    >>> for signal in (TextDelta("All kept_text."), Ended()):
    ...     builder.feed(signal)
    >>> _, action = step(State(), builder.build(), Facts(kept_text="All kept_text."), Policy(), 0.0)
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
    """Do the same as `step` for a response with a known outcome, which `in_turn` returned."""
    before = state
    state = _seen(before, outcome, response, facts)
    if state.attempts == 1:
        state = replace(state, answered_s=now_s)
    view = View(state, response, facts, policy, now_s)
    # The next response is compared with this one.
    state = replace(state, calls=len(response.calls), call_chars=call_chars(response))
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
    if rung.goes_on and facts.checkpoint:
        state = _going_on(before, state, response, facts)
    elif state.paused and state.going is not None and not view.refused_to_go_on:
        state = replace(state, went_on=(*state.went_on, state.attempts))  # the same once more
    else:
        state = replace(state, going=None, going_tokens=0)
    state = replace(state, spent=spent, last_edits=made)
    told = rung.waits and _told_wait_s(view) is not None
    return state, Send(made, rung.id, rung.recovery, _wait_s(view, rung), told, overridden)


def so_far(state: State, response: Response) -> Response:
    """Return the answer that a response ends: the response alone, or together with what the
    provider went on with by itself (C30)."""
    before = state.going
    if before is None:
        return response
    behind = response.text_behind_calls
    if before.calls and not response.calls:
        behind = before.text_behind_calls or bool(response.text.strip())
    return replace(
        response,
        text=before.text + response.text,
        reasoning=before.reasoning + response.reasoning,
        refusal=before.refusal + response.refusal,
        calls=(*before.calls, *response.calls),
        other=before.other or response.other,
        text_behind_calls=behind,
    )


def _going_on(before: State, state: State, response: Response, facts: Facts) -> State:
    """Return the state of a turn whose answer the provider goes on with by itself. That it broke
    off is no evidence of anything then, as with a pause."""
    going_tokens = (before.going_tokens if before.going else 0) + facts.output_tokens
    return replace(
        _seen(before, Outcome.PAUSED, response, facts),
        answered_s=state.answered_s,
        cut=state.cut,
        unmarked=before.unmarked,
        first_calls=state.first_calls,
        calls=state.calls,
        call_chars=state.call_chars,
        going=response,
        going_tokens=going_tokens,
        went_on=(*before.went_on, state.attempts),
    )


def decided(
    state: State, response: Response, facts: Facts, policy: Policy, now_s: float
) -> Decision:
    """Return what `step` would do about a response, in words."""
    outcome = in_turn(classify(response), state, response, facts)
    state = _seen(state, outcome, response, facts)
    view = View(state, response, facts, policy, now_s)
    rung, blocked = _choose(view, outcome)
    if policy.decide is not None:
        rung, _, _ = _overridden(policy.decide, view, outcome, rung, blocked)
    return decision(view, outcome, rung, blocked)


def in_turn(outcome: Outcome, state: State, response: Response, facts: Facts) -> Outcome:
    """Return what a response means within its turn. A continuation frees the tool choice (C28a), so
    if the caller demanded a call, the turn still owes it. If several calls were begun, and fewer
    came, it owes the others (T4a).

    Args:
        outcome: what the response means by itself.
    """
    if _calls_are_left(outcome, state, response):
        return Outcome.CALLS_MISSING
    if not facts.call_forced or outcome not in _SAY_NO_MORE or response.calls:
        return outcome
    freed = any(isinstance(edit, FreeToolChoice) for edit in state.last_edits)
    pending = freed or edits.asks_for_call(state.last_edits)
    return Outcome.CALLS_MISSING if pending else outcome


def _calls_are_left(outcome: Outcome, state: State, response: Response) -> bool:
    """Return whether this answer leaves calls of a broken batch missing, although others of it
    came."""
    came = _came_calls(state, response)
    if not came or outcome in _MAY_COME_YET:
        return False
    if outcome is Outcome.DONE and response.calls:
        return bool(never_came(state.begun_calls, came))
    return True


def _came_calls(state: State, response: Response) -> tuple[ToolCall, ...]:
    """Return the complete calls that came since a batch of calls was broken; () before."""
    begun, came = state.begun_calls, state.came_calls
    whole = worst_calls(response) in (Batch.WHOLE, Batch.FOLLOWED)
    if not begun or not whole or response.stop.reason not in CLEAN:
        return came
    return all_that_came(begun, came, response.calls)


_MAY_COME_YET = (Outcome.DROPPED, Outcome.FAULT, Outcome.PAUSED, Outcome.CANCELLED)

_SAY_NO_MORE = (Outcome.DONE, Outcome.EMPTY, Outcome.THINKING_ONLY)

WHOLE = Finish(Status.COMPLETE, ENDINGS[Outcome.DONE].reason, Outcome.DONE)


def complete_at_once(state: State, outcome: Outcome) -> Finish | None:
    """Return what `step` would return, if no fact can change it; None: use `step`. This covers
    nearly every turn: its first response completes it, and the rungs for that outcome need an
    earlier one.

    >>> complete_at_once(State(), Outcome.DONE).reason
    'completed'
    """
    return WHOLE if outcome is Outcome.DONE and not state.attempts else None


def _seen(state: State, outcome: Outcome, response: Response, facts: Facts) -> State:
    """Return the state of the turn once this response has been seen."""
    spent, usage, calls = state.spent, response.usage, bool(response.calls)
    if outcome is Outcome.DONE:
        spent = {budget: n for budget, n in spent.items() if budget not in CONSECUTIVE}
    fault = outcome is Outcome.FAULT
    # The stop of a fault is no end: half a text may come before it.
    stopped = fault and response.stopped
    # Without text, the request is sent again unchanged, and the model answers anew.
    broke = (outcome is Outcome.DROPPED or (fault and not stopped)) and is_visible(facts.kept_text)
    came = _anything_since(state.going, response)
    unmarked = state.unmarked + (response.unmarked and came)
    # Without tools in the request, words may be a call as text, which the caller reads. A call that
    # the provider itself refused, such as one of an unknown tool, may be answered in words.
    refused = response.stop.reason is StopReason.MALFORMED_TOOL_CALL
    broken_call = outcome in (Outcome.ARGUMENTS_CUT, Outcome.ARGUMENTS_MALFORMED) and not refused
    lost_call = outcome is Outcome.TEXT_CUT or (broken_call and facts.tools)
    missing = outcome in (Outcome.ARGUMENTS_MALFORMED, Outcome.CALLS_MISSING)
    # Without text, an answer that broke off is asked for anew, and may hold other calls.
    begun = broken_batch(response) if broke or lost_call else ()
    came_calls = _came_calls(state, response)
    # An empty answer that is provably complete: another try gives the same (E6). A provider that
    # counts zero for whatever it says proves nothing.
    zero = usage is not None and usage.output_tokens == 0
    miscounts = state.miscounts or (zero and facts.output_tokens > 0)
    made_nothing = outcome is Outcome.EMPTY and zero and not miscounts
    base_tokens = state.base_tokens
    if not base_tokens and outcome is not Outcome.DONE:
        base_tokens = facts.output_tokens
    return replace(
        state,
        attempts=state.attempts + 1,
        spent=spent,
        output_tokens=state.output_tokens + facts.output_tokens,
        base_tokens=base_tokens,
        limited=state.limited or response.stop.reason is StopReason.MAX_TOKENS,
        cut=state.cut or outcome is Outcome.TEXT_CUT,
        call_missing=state.call_missing or missing or calls,
        call_pending=(state.call_pending and (not calls or outcome in _MAY_COME_YET))
        or (calls and (broke or lost_call)),
        broke=state.broke or broke,
        stopped=state.stopped or stopped,
        cut_off=state.cut_off
        or _cut_off(outcome, response)
        or bool(state.unmarked and state.continuing and not facts.adds_nothing)  # it went on
        or bool(unmarked and facts.marks_ends)
        or bool(state.unmarked and _contradicts_end(outcome, response, facts)),
        torn=_torn(state, outcome, response, facts),
        unmarked=unmarked,
        begun_calls=max(state.begun_calls, begun if not came_calls else (), key=len),
        came_calls=came_calls,
        first_calls=state.first_calls if state.attempts else _told_calls(outcome, response),
        paused=outcome is Outcome.PAUSED or (state.paused and not came),
        miscounts=miscounts,
        nothing_made=state.nothing_made + 1 if made_nothing else 0,
    )


def _told_calls(outcome: Outcome, response: Response) -> tuple[ToolCall, ...]:
    """Return the calls that came whole in an answer that did not, if the caller's SDK would show
    them. On a fault, it raises (P1c)."""
    told = outcome in _TELLS_CALLS and response.fault is None
    return surely_whole(response) if told else ()


_TELLS_CALLS = (
    *(Outcome.ARGUMENTS_CUT, Outcome.ARGUMENTS_MALFORMED, Outcome.TEXT_CUT, Outcome.FAULT),
    *(Outcome.OVERFLOW, Outcome.BLOCKED, Outcome.REFUSED),
)


def _torn(state: State, outcome: Outcome, response: Response, facts: Facts) -> bool:
    """Return whether the kept text ends where it was cut (C24a). Text before a call is whole, and
    an attempt that adds no text leaves the end as it was."""
    if facts.adds_nothing:
        return state.torn
    cut = outcome in (Outcome.TEXT_CUT, Outcome.DROPPED, Outcome.FAULT) and not response.stopped
    return cut and (not response.calls or response.text_behind_calls)


def _cut_off(outcome: Outcome, response: Response) -> bool:
    """Return whether more was on its way when the response broke off (S3a). The evidence is the
    connection, an event, a part or a call, or a fault that came instead of the stop."""
    if outcome is Outcome.PAUSED:
        return response.other  # a tool that the provider runs may have no result yet
    if outcome is Outcome.DROPPED:
        return (not response.unmarked or response.other) and _anything(response)
    broken_off = outcome is Outcome.FAULT and response.stop.field == NO_STOP_BUT_FAULT
    return broken_off and _anything(response)


def _contradicts_end(outcome: Outcome, response: Response, facts: Facts) -> bool:
    """Return whether an answer to the request for the rest adds nothing, and still shows that the
    text was cut (S3a)."""
    if not facts.adds_nothing or response.calls:
        return False
    text = visible(response.text)
    if outcome is Outcome.DROPPED and not text and (response.text.strip() or response.reasoning):
        return True  # it broke off while it was reasoning
    return not confirms_end(text, visible(facts.kept_text))


def _anything(response: Response) -> bool:
    return bool(response.text or response.reasoning or response.calls or response.other)


def _anything_since(before: Response | None, answer: Response) -> bool:
    """Return whether anything came of an answer since the provider was asked to go on with it."""
    if before is None:
        return _anything(answer)
    return any(
        getattr(answer, name) != getattr(before, name)
        for name in ("text", "reasoning", "calls", "other")
    )


def _choose(view: View, outcome: Outcome) -> tuple[Rung | None, str]:
    """Return the first rung that may be taken, and why those before it were skipped."""
    blocked = ""
    for rung in LADDERS[outcome]:
        hindrance = _hindrance(view, rung)
        if hindrance is None:
            return rung, blocked
        blocked = blocked or hindrance
    return None, blocked


def _hindrance(view: View, rung: Rung) -> str | None:
    """Return why a rung may not be taken, as a reason for the turn's end; "" if that is no reason,
    such as a spent budget. Return None if the rung may be taken."""
    if rung.budget is not None and not view.state.left(rung.budget, view.policy):
        return ""
    for guard in rung.guards:
        if not guard.holds(view):
            return guard.ends_as
    if not rung.waits:
        return None
    # If the provider names a wait, it is kept in full or not begun (P5), and must end within the
    # time.
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
    """Return the rung that the policy's own `decide` chooses (P2), which guard then fails, and
    what `decide` changed: "stop", the id of a rung, or "". It may stop the turn or take another
    rung of the same ladder. It can't invent a rung, pass a guard, or exceed a budget.

    Raises:
        PolicyError: it returned something that is no rung of any ladder."""
    offered = decision(view, outcome, rung)
    answer = decide(offered)
    if answer == "stop":
        went_on = rung is not None and rung.edits is not None
        return None, "stopped" if went_on else blocked, "stop" if rung is not None else ""
    if answer is None or answer == offered.rung:
        return rung, blocked, ""
    # A rung of another outcome's ladder is allowed and changes nothing, so that a `decide` may
    # always return the same one.
    if answer not in tuple(SENTENCES):  # the answer may be of any type
        ladder = ", ".join(repr(other.id) for other in LADDERS[outcome])
        raise PolicyError(
            f"decide returned {shown(answer)} for the outcome {outcome.value!r}, but it must "
            f"return None, 'stop', or a rung of its ladder: {ladder or 'it has none'}"
        )
    for other in LADDERS[outcome]:
        if other.id == answer and _hindrance(view, other) is None:
            return other, blocked, other.id
    return rung, blocked, ""


def decision(view: View, outcome: Outcome, rung: Rung | None, blocked: str = "") -> Decision:
    """Return the decision in words (P2): whether the turn continues, why, by which rule, what
    helps, and the facts behind it. `blocked`: the guard that failed; "" if that is no
    reason of its own."""
    proceed = rung is not None and rung.edits is not None
    why = f"{outcome.value}: {rung.sentence if rung else 'no way on is left'}"
    ending = rung.ends[1] if rung is not None and rung.ends else blocked or ENDINGS[outcome].reason
    return Decision(
        outcome,
        rung.id if rung else "",
        proceed,
        why,
        "retry" if proceed else suggestion_on(ending, view.response.stop.detail),
        stop=view.response.stop,
        provider=view.facts.provider,
        model=view.facts.model,
        attempts=view.state.attempts,
        input_tokens=view.facts.input_tokens,
        output_tokens=view.state.output_tokens,
        chars=len(view.facts.kept_text),
        elapsed_s=max(0.0, view.now_s - view.state.started_s),
    )


def _finish(view: View, outcome: Outcome, rung: Rung | None, blocked: str) -> Finish:
    ending = ENDINGS[outcome]
    name = rung.id if rung else ""
    # A rung that ends the turn with text leaves that text without its end, even if nothing more
    # came.
    unended = outcome is Outcome.DONE or (outcome is Outcome.EMPTY and bool(view.kept_text))
    cut = unended if rung else view.state.cut and ending.hidden_by_cut
    pending = outcome is Outcome.CALLS_MISSING and view.facts.call_forced
    cut = cut or (pending and bool(view.kept_text))
    shown = Outcome.TEXT_CUT if cut else outcome
    if rung is not None and rung.ends is not None:
        status, reason = rung.ends
        if reason == ENDINGS[Outcome.DROPPED].reason and not view.state.cut:
            shown = Outcome.DROPPED  # the loss has nothing to do with the output limit
        shown = Outcome.DONE if status is Status.COMPLETE else shown
        finish = Finish(
            status, reason, shown, name, rung.whole_calls_only, rung.as_received, rung.without_stop
        )
        return _with_calls(view, outcome, finish)
    if view.state.paused and view.state.going is None and ending.hidden_by_cut:
        shown = Outcome.PAUSED  # the caller can send it back as well as Tenuto could
    status = ending.kept if view.kept_text or view.state.paused else ending.bare
    return _with_calls(view, outcome, Finish(status, blocked or ending.reason, shown, name))


def _with_calls(view: View, outcome: Outcome, finish: Finish) -> Finish:
    """Return the end of a turn with the calls of all its answers (T4a)."""
    begun, came = view.state.begun_calls, view.state.came_calls
    if not came and view.state.going is not None and finish.status is Status.COMPLETE:
        return replace(finish, calls=view.response.calls)
    if not came:
        # The calls of an answer that is done are complete, whatever else the turn lacks.
        done = outcome is Outcome.DONE and finish.status is Status.PARTIAL
        calls = view.response.calls if done else ()
        return replace(finish, calls=calls) if calls else _with_first_calls(view, finish)
    names = tuple(call.name for call in lost_calls(begun, came))
    finish = replace(finish, calls=filled_up(begun, came), never_came=names)
    if finish.status is Status.COMPLETE:
        return finish
    return replace(finish, status=Status.PARTIAL, shown=Outcome.TEXT_CUT)


def _with_first_calls(view: View, finish: Finish) -> Finish:
    """Return the end of an unfinished turn with the calls that came whole in the first answer
    (P10). Tenuto's own loop would run them, which it doesn't beside a cut (T3)."""
    whole, raises = view.state.first_calls, view.policy.on_incomplete == "error"
    ended = finish.status is Status.COMPLETE or finish.whole_calls_only
    if not whole or ended or raises or view.facts.runs_calls:
        return finish
    return replace(
        finish,
        status=Status.PARTIAL,
        as_received=False,
        without_stop=False,
        calls=whole,
        never_came=tuple(call.name for call in never_came(view.state.begun_calls, whole)),
        beside_cut=True,
    )


def _wait_s(view: View, rung: Rung) -> float:
    """Return the seconds before the next request: what the provider asks for, otherwise a backoff
    that doubles with each try of the same budget."""
    if not rung.waits or rung.budget is None:
        return 0.0
    told = _told_wait_s(view)
    if told is not None:
        return told
    tries: int = view.state.spent.get(rung.budget, 0)
    return float(min(view.policy.backoff_s * 2**tries, view.policy.backoff_max_s))


def _told_wait_s(view: View) -> float | None:
    """Return the seconds that the provider asks to wait; None if it asks for none."""
    told = view.response.fault.retry_after_s if view.response.fault else None
    return None if told is None or isnan(told) else max(0.0, told)
