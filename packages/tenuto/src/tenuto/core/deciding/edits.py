"""What each rung sends: edits of the caller's own request, made from a `View`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding, without_cut_number
from tenuto.core.answer.calls import NEVER_CAME, ToolCall
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendReasoning,
    AppendUser,
    DropConstraint,
    DropKeys,
    DropTools,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
    holds_prefill,
)
from tenuto.core.deciding.view import View


def _set_budget(view: View, boosts: int) -> tuple[Edit, ...]:
    tokens = view.output_limit(boosts)
    return () if tokens is None else (SetOutputLimit(tokens),)


def _lifted(view: View) -> tuple[Edit, ...]:
    return (FreeToolChoice(), *((DropConstraint(),) if view.facts.structured else ()))


def _go_on(view: View, *, prefill: bool, boosts: int) -> tuple[Edit, ...]:
    hint = AppendUser(hints.CONTINUE_DOCUMENT if view.is_document else hints.CONTINUE)
    hint = _REST_THEN_CALL if view.torn and is_call_due(view) else hint
    text = view.kept_text if prefill else _kept(view)
    answer = AppendAssistant(text, prefill, view.facts.reasoning, view.facts.content)
    rows: tuple[Edit, ...] = (answer,) if prefill else (answer, hint)
    return (*rows, *_set_budget(view, boosts), *_lifted(view))


def _kept(view: View) -> str:
    """Return the kept text for a request that asks for its rest in words."""
    return without_cut_number(view.kept_text).rstrip() if view.is_document else view.kept_text


_REST_THEN_CALL = AppendUser(hints.REST_THEN_CALL, for_call=True, for_rest=True)


def is_call_due(view: View) -> bool:
    """Return whether a call is still to come, or the last request asked for one."""
    asked = any(isinstance(edit, AppendUser) and edit.for_call for edit in view.state.last_edits)
    return view.state.call_pending or asked


def continue_prefill(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=True, boosts=view.boosts + 1)


def continue_hint(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=False, boosts=view.boosts + 1)


def resume_prefill(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=True, boosts=view.boosts)


def resume_hint(view: View) -> tuple[Edit, ...]:
    return _go_on(view, prefill=False, boosts=view.boosts)


def document_limit(view: View) -> int | None:
    """Return the output limit for all of a document: what C4 leaves of the turn's tokens, since a
    smaller one may cut it again."""
    return view.output_limit(3)


def document_again(view: View) -> tuple[Edit, ...]:
    tokens = document_limit(view)
    return () if tokens is None else (SetOutputLimit(tokens),)


def document_once_more(view: View) -> tuple[Edit, ...]:
    return _set_budget(view, view.boosts)


def valid_document(view: View) -> tuple[Edit, ...]:
    return _after_kept_text(
        view, AppendUser(hints.DOCUMENT_INVALID), *_set_budget(view, view.boosts)
    )


def _after_kept_text(view: View, *edits: Edit) -> tuple[Edit, ...]:
    facts = view.facts
    answer = AppendAssistant(view.kept_text, reasoning=facts.reasoning, content=facts.content)
    return (answer, *edits) if view.kept_text else edits


def _for_call(view: View, hint: str, *edits: Edit) -> tuple[Edit, ...]:
    """Ask for a call behind the kept text: after the rest of that, if it was cut (C24a)."""
    if view.torn:
        return _after_kept_text(view, _REST_THEN_CALL, *edits, *_lifted(view))
    return _after_kept_text(view, AppendUser(hint, for_call=True), *edits)


def resume_pause(view: View) -> tuple[Edit, ...]:
    # What the provider goes on with by itself is the last request, whatever that was.
    same = without_resumption(view.state.last_edits) if view.facts.checkpoint else ()
    return (*same, AppendContent(view.facts.content))


def resume_with_higher_limit(view: View) -> tuple[Edit, ...]:
    tokens = view.output_limit(view.boosts + 1)
    same = tuple(edit for edit in resume_pause(view) if not isinstance(edit, SetOutputLimit))
    return same if tokens is None else (*same, SetOutputLimit(tokens, view.going_tokens))


def without_resumption(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the edits of the request that the provider was asked to go on with."""
    return tuple(edit for edit in edits if not isinstance(edit, AppendContent))


def repeat_call(view: View) -> tuple[Edit, ...]:
    broken = [call for call in view.response.calls if call.finding is not Finding.WHOLE]
    if broken and all(call.detail == NEVER_CAME for call in broken):
        return _call_again(view, hints.FILL_CALL, hints.FILL_CALLS)
    return _call_again(view, hints.REPEAT_CALL, hints.REPEAT_CALLS)


def repair_call(view: View) -> tuple[Edit, ...]:
    if not (view.facts.tools or view.response.calls):  # the same would be refused again
        hint = AppendUser(hints.ANSWER_IN_WORDS, for_call=bool(view.kept_text))
        return _after_kept_text(view, hint, *_set_budget(view, view.boosts + 1))
    return _call_again(view, hints.REPAIR_CALL, hints.REPAIR_CALLS)


def _call_again(view: View, one: str, several: str) -> tuple[Edit, ...]:
    hint = several if len(view.response.calls) > 1 else one
    return _for_call(view, hint, *_set_budget(view, view.boosts + 1))


def rest_and_call(view: View) -> tuple[Edit, ...]:
    return _after_kept_text(
        view, _REST_THEN_CALL, *_set_budget(view, view.boosts + 1), *_lifted(view)
    )


_NO_HINTS: Mapping[str, str] = MappingProxyType({})

_RESULTS = {
    Finding.WHOLE: hints.CALL_SKIPPED_RESULT,
    Finding.EMPTY: hints.CALL_CUT_RESULT,
    Finding.TRUNCATED: hints.CALL_CUT_RESULT,
    Finding.MALFORMED: hints.CALL_MALFORMED_RESULT,
}


def failed_results(
    calls: tuple[ToolCall, ...], call_hints: Mapping[str, str] = _NO_HINTS
) -> tuple[str, ...]:
    """Return a failed result for every call of a broken batch, in the order of the calls (T5). For
    a call that was cut, `call_hints` may have a text for its tool (T6)."""
    broken = any(call.finding is not Finding.WHOLE for call in calls)
    general = [
        hints.CALL_EMPTY_RESULT
        if call.detail == NEVER_CAME
        else _RESULTS[call.finding]
        if broken
        else hints.CALL_CUT_RESULT
        for call in calls
    ]
    return tuple(
        call_hints.get(call.name, text) if text == hints.CALL_CUT_RESULT else text
        for call, text in zip(calls, general, strict=True)
    )


def answer_calls(view: View) -> tuple[Edit, ...]:
    calls, facts = view.response.calls, view.facts
    results = failed_results(calls, facts.call_hints)
    rows = AppendCalls(view.kept_text, calls, results, facts.reasoning, facts.content)
    return (rows, *_set_budget(view, view.boosts + 1))


def ask_for_other_calls(view: View) -> tuple[Edit, ...]:
    """Ask for the calls of a batch that did not come, behind those that came (T4a)."""
    calls, facts = view.state.came_calls, view.facts
    waits, failed = (hints.CALL_WAITS_RESULT,) * len(calls), (False,) * len(calls)
    rows = AppendCalls(view.kept_text, calls, waits, facts.reasoning, facts.content, failed)
    return (rows, *_set_budget(view, view.boosts))


def lower_reasoning(view: View) -> tuple[Edit, ...]:
    return (LowerReasoning(), *_set_budget(view, view.boosts + 1))


def reason_less(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.REASON_LESS), *_set_budget(view, view.boosts + 1))


def prefill_reasoning(view: View) -> tuple[Edit, ...]:
    # Lower reasoning only with a known setting: the provider may reject an unknown one.
    lower = (LowerReasoning(),) if view.facts.lower_reasoning else ()
    return (*lower, AppendReasoning(view.facts.reasoning.strip()))


def answer_now(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.ANSWER_NOW),)


def nudge(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.AFTER_TOOL_RESULT),)


def rephrase(view: View) -> tuple[Edit, ...]:
    return (AppendAssistant(hints.EMPTY_WITH_TOOLS_NOTE), AppendUser(hints.EMPTY_WITH_TOOLS))


def ask_without_tools(view: View) -> tuple[Edit, ...]:
    return (DropTools(), AppendUser(hints.EMPTY))


def ask_again(view: View) -> tuple[Edit, ...]:
    return (AppendUser(hints.EMPTY),)


def ask_for_call(view: View) -> tuple[Edit, ...]:
    hint = hints.CALL_LOST if view.state.call_pending else hints.CALL_MISSING
    if view.facts.call_forced:  # the choice was freed for the rest already, and is forced again
        return _after_kept_text(view, AppendUser(hints.CALL_PENDING, for_call=True))
    return _for_call(view, hint)


def ask_once_more(view: View) -> tuple[Edit, ...]:
    """Repeat the last request, which asked for a call, with the text that has come since."""
    before, facts = view.state.last_edits, view.facts
    if not any(isinstance(edit, AppendCalls) for edit in before):
        return _after_kept_text(view, *(e for e in before if not isinstance(e, AppendAssistant)))
    return tuple(
        replace(edit, text=view.kept_text, reasoning=facts.reasoning, content=facts.content)
        if isinstance(edit, AppendCalls)
        else edit
        for edit in before
    )


def ask_for_begun_call(view: View) -> tuple[Edit, ...]:
    several = len(view.response.calls) > 1
    hint = hints.CALLS_BROKEN_OFF if several else hints.CALL_BROKEN_OFF
    return _for_call(view, hint, *_set_budget(view, view.boosts))


def ask_in_other_words(view: View) -> tuple[Edit, ...]:
    hint = AppendUser(hints.BROKEN_OFF_DOCUMENT if view.is_document else hints.BROKEN_OFF)
    answer = AppendAssistant(
        _kept(view), reasoning=view.facts.reasoning, content=view.facts.content
    )
    rows = (answer, hint) if view.kept_text else (hint,)
    return (*rows, *_set_budget(view, view.boosts), *_lifted(view))


def same_again(view: View) -> tuple[Edit, ...]:
    before = view.state.last_edits
    return without_resumption(before) if view.refused_to_go_on else before


def clamp(view: View) -> tuple[Edit, ...]:
    fault = view.response.fault
    allowed = (fault.allowed_tokens if fault else None) or view.policy.default_max_tokens
    kept = tuple(e for e in view.state.last_edits if not isinstance(e, SetOutputLimit))
    return (*kept, SetOutputLimit(view.bounded(allowed)))


def drop_keys(view: View) -> tuple[Edit, ...]:
    named = [*_dropped_keys(view.state.last_edits), *view.facts.droppable]
    kept = tuple(e for e in view.state.last_edits if not isinstance(e, DropKeys))
    return (*kept, DropKeys(tuple(dict.fromkeys(named))))


def _dropped_keys(edits: tuple[Edit, ...]) -> tuple[str, ...]:
    return tuple(key for edit in edits if isinstance(edit, DropKeys) for key in edit.keys)


def with_lasting(edits: tuple[Edit, ...], before: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return edits with those of the last request that hold for the rest of the turn: the provider
    would reject the same key again, and the same reasoning would use up the next limit too."""
    kinds = {type(edit) for edit in edits}
    lasting = (e for e in before if isinstance(e, DropKeys | LowerReasoning))
    return (*edits, *(edit for edit in lasting if type(edit) not in kinds))


def within(view: View, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return edits with an output limit no larger than what the turn may still use (C4). If nobody
    set one, only the policy's own limit is left, and holds for each request of ours (C4a).

    A limit that Tenuto set stays within every other bound too, since the model's ceiling may have
    become known since the last request (C17). The caller's own limit stays as low as in the last
    request, since the provider would reject a larger one again."""
    goes_on = view.facts.checkpoint and any(isinstance(edit, AppendContent) for edit in edits)
    counted = view.going_tokens if goes_on else 0
    total, left = _total_tokens(edits, view.facts.max_tokens), view.tokens_left
    if total is None:
        hard = view.policy.hard_max_tokens
        return (*edits, SetOutputLimit(view.bounded(hard), counted)) if edits and hard else edits
    asked = total - counted
    others = tuple(edit for edit in edits if not isinstance(edit, SetOutputLimit))
    ours = len(others) < len(edits)
    most = view.bounded(asked) if ours else asked if left is None else min(asked, left)
    if not ours and not goes_on:
        most = min(most, asked_tokens(view.state.last_edits, most) or most)
    return edits if asked <= most else (*others, SetOutputLimit(view.bounded(most), counted))


def asks_for_call(edits: tuple[Edit, ...]) -> bool:
    """Return whether a request with these edits asks for a call rather than for more text.

    >>> asks_for_call((AppendUser("Call it.", for_call=True),)), asks_for_call((AppendUser("On."),))
    (True, False)
    """
    return any(
        isinstance(edit, AppendCalls)
        or (isinstance(edit, AppendUser) and edit.for_call and not edit.for_rest)
        for edit in edits
    )


def asked_tokens(edits: tuple[Edit, ...], max_tokens: int | None) -> int | None:
    """Return how many tokens a request with these edits allows; None if it sets no limit."""
    return next((edit.tokens for edit in edits if isinstance(edit, SetOutputLimit)), max_tokens)


def _total_tokens(edits: tuple[Edit, ...], max_tokens: int | None) -> int | None:
    """Return the number that a request with these edits has as its limit."""
    limits = (edit for edit in edits if isinstance(edit, SetOutputLimit))
    return next((edit.tokens + edit.counted for edit in limits), max_tokens)


def varied(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the same edits in other words: an identical request would fail the same way (E4).

    Nothing may follow the beginning of the model's own answer. In other words, that is what it
    wrote before, and a hint asks for the rest.

    >>> varied((AppendAssistant("Half", prefill=True),))[0].prefill
    False
    """
    hint = next((e for e in edits if isinstance(e, AppendUser)), None)
    if hint is None and holds_prefill(edits):
        edits = tuple(e for e in edits if not isinstance(e, AppendReasoning))
        answer = [e for e in edits if isinstance(e, AppendAssistant)]
        edits = tuple(replace(e, prefill=False) if e in answer else e for e in edits)
        edits = (*edits, hint := AppendUser(hints.CONTINUE if answer else hints.ANSWER_NOW))
    others = tuple(e for e in edits if e is not hint)
    again = replace(hint, text=f"{hint.text} {hints.AGAIN}") if hint else AppendUser(hints.AGAIN)
    return (*others, again)
