"""Decide what follows from an attempt: collect the facts, ask the machine, and learn from errors.

Only this module changes the turn's `state` (and `turn.receiving.fetching` the budgets in it),
`left_alone` and `ceiling_tokens`, what is learned about a model, and the stop of an attempt that
ended without a mark.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.closing import ends_its_format
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.response import Response
from tenuto.core.answer.runaway import is_runaway
from tenuto.core.answer.stop import Confidence, Stop, StopReason
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    DropKeys,
    Edit,
    Finish,
    Recovery,
    Send,
    Status,
    reasoning_in,
)
from tenuto.core.deciding.edits import asked_tokens
from tenuto.core.deciding.machine import act, complete_at_once, in_turn, so_far
from tenuto.core.deciding.outcome import Outcome, classify
from tenuto.core.deciding.view import Facts, State, View
from tenuto.core.errors import PolicyError
from tenuto.providers.learned import UNMARKED_TURNS
from tenuto.providers.models import output_tokens as output_tokens_of
from tenuto.schema import checking
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.record.usage import output_tokens, without_echo
from tenuto.wires.members import path_of

log: logging.Logger = logging.getLogger("tenuto")

_SEVERAL = "several_choices"

_PREFILL, _REASONING = "prefill", "reasoning_prefill"
_OUTPUT, _WINDOW = "output_tokens", "window_tokens"
"""What errors teach about a model."""


def decide(turn: TurnRecord, attempt: Attempt) -> tuple[Send | Finish, Outcome, Facts]:
    """Return what to do after an attempt, what the attempt means, and the facts behind that. Only
    this function changes the turn's state and `left_alone`."""
    context, state = turn.context, turn.state
    response = so_far(state, attempt.response)
    # The caller has not asked for several choices: they are a gateway's own default.
    alone = attempt is turn.first or attempt.new_chars == len(turn.kept_text)
    several = response.several and alone and not turn.client_stream.writing
    if several and turn.open is turn.facts.stream and not turn.left_alone:
        turn.left_alone = _SEVERAL  # it has the form that was requested, and is passed on unchanged
    outcome = attempt.outcome = classify(response)
    if _NOTHING_BESIDE in turn.taught and response.fault is None:  # it was what the error meant
        _learn(turn, (_NOTHING_BESIDE,))
    used_tokens = _output_tokens(turn, attempt)
    if context is not None:
        context.output_tokens += used_tokens
    action: Send | Finish
    going, now_s = None, 0.0  # not needed if the turn is settled
    _note_invalid(turn, attempt)
    strict = turn.document is not None and turn.policy.invalid_documents != "pass"
    if turn.policy.decide is None and not strict and (finish := complete_at_once(state, outcome)):
        action, facts = finish, Facts(kept_text=turn.kept_text)
    else:
        left_alone = turn.left_alone or turn.facts.sent_once or (_SEVERAL if several else "")
        left_alone = left_alone or _finished_upstream(turn, attempt, outcome)
        going = _may_go(turn, attempt)
        differ = going is None and _teach(turn, attempt)
        facts = _facts(turn, attempt, outcome, used_tokens, left_alone, droppable=going is not None)
        facts = replace(facts, rows_differ=differ)
        outcome = in_turn(outcome, state, response, facts)
        now_s = turn.environment.now()
        try:
            turn.state, action = _act(turn, response, outcome, facts, now_s)
        except PolicyError:
            turn.log.undecided(attempt, outcome)
            raise
        if context is not None:
            context.last_text = response.text
    turn.log.observed(attempt, outcome, action, len(turn.kept_text))
    if isinstance(action, Finish):
        if action.without_stop and action.status is Status.COMPLETE:
            _ends_unmarked(turn, attempt)
        if facts.left_alone and outcome is not Outcome.DONE and turn.events is not None:
            turn.events.left_alone(facts.left_alone, outcome)
        return action, outcome, facts
    turn.resumed = turn.resumed or turn.upstream is not None
    left = View(turn.state, response, facts, turn.policy, now_s).tokens_left
    turn.log.sending(action, outcome, turn.state, facts, left)
    if context is not None and action.recovery is Recovery.TOOL_REPAIR:
        context.unsure_chars = len(turn.kept_text)
    for edit in action.edits:
        if isinstance(edit, AppendCalls) and context is not None:
            context.on_calls_answered([answer for answer in edit.answers if answer[2]])
        if isinstance(edit, DropKeys) and facts.droppable:
            turn.log.leaving_out(going or ())
            if _has_rows(turn):
                _learn(turn, _refused(facts.droppable))
    return action, outcome, facts


def _note_invalid(turn: TurnRecord, attempt: Attempt) -> None:
    """Note that a document came whole and does not match its schema (C27a)."""
    document, response = turn.document, attempt.response
    if document is None or attempt.outcome is not Outcome.DONE or response.calls:
        return
    watched = turn.events is not None or turn.policy.invalid_documents != "pass"
    if not watched or turn.left_alone or document.fits(turn.kept_text) is not False:
        return  # the rest of a document is none by itself
    if document.fits(response.text) is False:
        stop = response.stop
        told = replace(stop, anomalies=(*stop.anomalies, "document_invalid"))
        attempt.response = replace(response, stop=told)


FINISHED_UPSTREAM = "finished_upstream"
"""Why an answer of another Tenuto is left alone."""


def _finished_upstream(turn: TurnRecord, attempt: Attempt, outcome: Outcome) -> str:
    """Return why an answer that another Tenuto gave is left alone; "" if there is no such reason.
    If it broke off on its way here, it may be resumed once (E9a)."""
    mark = turn.upstream
    if mark is None:
        return ""
    cut = outcome is Outcome.DROPPED and (mark.marks_end or not attempt.response.unmarked)
    broke = cut or attempt.lost is not None or attempt.unread
    return "" if broke and not turn.resumed else FINISHED_UPSTREAM


def _ends_unmarked(turn: TurnRecord, attempt: Attempt) -> None:
    """Complete a turn whose end has no mark: infer its stop, and learn that there is no mark. Only
    an answer counts of which something says that it is whole, since a proxy that cuts each stream
    would teach the same (S3a, S3c)."""
    reason = StopReason.TOOL_CALL if attempt.response.calls else StopReason.END_TURN
    stop = Stop(reason, confidence=Confidence.MEDIUM, anomalies=("no_stop",))
    attempt.response = replace(attempt.response, stop=stop, fault=None)
    turn.log.last = attempt.response
    now_s, learned = turn.environment.now(), turn.environment.learned
    if learned.marks_ends(*turn.model, now_s):
        return  # the further request has shown a mark
    counted = any(kept.attempt.response.counted for kept in turn.kept)
    if not (attempt.response.calls or counted or ends_its_format(turn.kept_text)):
        return
    if learned.ended_unmarked(*turn.model, now_s) and turn.events is not None:
        turn.events.no_end_mark_learned(UNMARKED_TURNS)


def _act(
    turn: TurnRecord, response: Response, outcome: Outcome, facts: Facts, now_s: float
) -> tuple[State, Send | Finish]:
    try:
        return act(turn.state, response, outcome, facts, turn.policy, now_s)
    except PolicyError:  # it returned something that is no rung: a mistake to fix at once
        raise
    except Exception:  # `decide` is somebody else's code: it must not cost an answer
        log.exception("decide raised")
        policy = replace(turn.policy, decide=None)
        return act(turn.state, response, outcome, facts, policy, now_s)


def _facts(
    turn: TurnRecord,
    attempt: Attempt,
    outcome: Outcome,
    used_tokens: int,
    left_alone: str,
    *,
    droppable: bool,
) -> Facts:
    response, request = attempt.response, turn.facts
    broke = outcome in (Outcome.TEXT_CUT, Outcome.DROPPED, Outcome.FAULT)
    prefill = _takes_prefill(turn)
    dialect, document = turn.provider.dialect, turn.document
    return Facts(
        kept_text=turn.kept_text,
        content=turn.content(turn.contributions(turn.kept_text)),
        content_beside=turn.wire.content_beside,
        checkpoint=attempt.message is not None and bool(attempt.message.checkpoint),
        reasoning="".join(turn.reasoning),
        new_chars=attempt.new_chars,
        runaway=broke and is_runaway(turn.kept_text),
        output_tokens=used_tokens,
        input_tokens=response.usage.input_tokens if response.usage else None,
        max_tokens=request.max_tokens,
        least_tokens=request.least_tokens,
        ceiling_tokens=_ceiling_tokens(turn),
        window_tokens=_learned(turn, _WINDOW) or dialect.window_tokens or None,
        prefill=prefill,
        # Some models that continue a text do not continue after their own reasoning.
        reasoning_prefill=prefill
        and dialect.reasoning_prefill
        and _learned(turn, _REASONING) is None,
        goes_on=request.goes_on,
        lower_reasoning=request.lower_reasoning,
        structured=request.structured,
        one_of_words=request.one_of_words,
        fits=document.fits(turn.kept_text) if document is not None else None,
        checkable=document is None or document.is_checkable,
        refuted=turn.refuted,
        shown=bool(turn.given),
        begun=request.begun,
        marks_ends=turn.marks_ends,
        tools=request.tools,
        call_forced=request.call_forced,
        tools_may_go=turn.policy.empty_without_tools > 0 and turn.parsed.tools_may_go,
        after_tool_result=request.after_tool_result,
        runnable=_runnable(turn, response),
        http_error=attempt.http_error and turn.context is None,
        droppable=response.fault.keys if droppable and response.fault is not None else (),
        call_hints=turn.context.hints if turn.context is not None else {},
        runs_calls=turn.context is not None,
        left_alone=left_alone,
        timeout_s=turn.timeout_s(),
        patience_s=turn.request.timeout_s,
        provider=dialect.name,
        model=request.model,
    )


def _runnable(turn: TurnRecord, response: Response) -> tuple[ToolCall, ...]:
    """Return the calls of a cut response that may run (T3). The last one is not among them if the
    limit may have cut it without a trace."""
    calls = response.calls
    if turn.policy.truncated_calls != "execute_complete" or not calls:
        return ()
    cut = response.stop.reason is StopReason.MAX_TOKENS and not response.text_behind_calls
    if cut and calls[-1].decoded:
        calls = calls[:-1]
    return checking.runnable(calls, turn.parsed.tool_parameters())


def _may_go(turn: TurnRecord, attempt: Attempt) -> tuple[str, ...] | None:
    """Return the members of the caller's request that are removed with the keys that an error
    names; None if they may not be removed."""
    fault = attempt.response.fault
    if fault is None or not fault.keys or not attempt.http_error:
        return None
    if fault.status not in _NAMES_KEYS:
        return None
    return turn.unsupported.may_go(turn.body(turn.state.last_edits), fault.keys)


def _teach(turn: TurnRecord, attempt: Attempt) -> bool:
    """Note what an error says of the rows that Tenuto wrote: a member that they lack, or one that
    is refused. If it says nothing that explains it, they may hold nothing of what the provider
    gave. Return whether this changes the last request."""
    fault, edits = attempt.response.fault, turn.state.last_edits
    if fault is None or not attempt.http_error or fault.status not in _NAMES_KEYS:
        return False
    if fault.kind not in (FaultKind.INVALID_REQUEST, FaultKind.UNKNOWN_KEY) or not _has_rows(turn):
        return False
    before, taught = turn.body(edits), turn.taught
    refused = [_refused(fault.keys), {_NOTHING_BESIDE}]
    for words in [{f"+{fault.wanted}"}] if fault.wanted else refused:
        turn.taught = taught | words
        if turn.body(edits) != before:
            _learn(turn, words - {_NOTHING_BESIDE})
            return True
    turn.taught = taught
    return False


_NOTHING_BESIDE = "-"
"""Says that rows may hold nothing of what the provider gave beside text and calls. It is learned
when the request without it is answered."""


def _refused(keys: Sequence[str]) -> set[str]:
    """Return the words for members that an error names."""
    return {"-" + name for key in keys for name in path_of(key)[-1:]}


def _learn(turn: TurnRecord, words: Iterable[str]) -> None:
    for word in words:
        turn.environment.learned.deny(*turn.model, word, turn.environment.now())


def _has_rows(turn: TurnRecord) -> bool:
    """Return whether Tenuto wrote rows of the last request: those of a recovery, or all of a
    loop."""
    return turn.context is not None or any(map(_adds_row, turn.state.last_edits))


def _adds_row(edit: Edit) -> bool:
    return isinstance(edit, AppendAssistant | AppendCalls)


_NAMES_KEYS = (400, 422)
"""Statuses with which providers reject a request because of one of its keys."""


def _ceiling_tokens(turn: TurnRecord) -> int | None:
    """Return the model's output ceiling: what the provider said, otherwise what its row or the
    model's says. For a body, the wire's limit counts too. Only what the provider said may be lower
    than the request's own limit."""
    request, dialect = turn.facts, turn.provider.dialect
    told = turn.ceiling_tokens or _learned(turn, _OUTPUT)
    bears = None if request.stream else turn.wire.body_ceiling_tokens(request.model)
    known = None if told else dialect.output_tokens or output_tokens_of(request.model)
    least = request.max_tokens or 0
    bounds = [max(n, least) for n in (bears, known) if n is not None]
    return min([told, *bounds] if told else bounds, default=None)


def _learned(turn: TurnRecord, what: str) -> int | None:
    environment = turn.environment
    return environment.learned.tokens(*turn.model, what, environment.now())


def _output_tokens(turn: TurnRecord, attempt: Attempt) -> int:
    """Return the output tokens of an attempt; for a body that was lost, all that it was allowed."""
    asked = asked_tokens(turn.state.last_edits, turn.facts.max_tokens)
    told = attempt.response.usage.output_tokens if attempt.response.usage is not None else None
    if turn.upstream is not None and told is not None:
        return told  # of several attempts, perhaps, of which some text was removed
    if attempt.unread and asked is not None and attempt.response.usage is None:
        return asked
    response = without_echo(attempt.response, turn.state.last_edits)
    return output_tokens(response, asked if turn.facts.max_tokens is not None else None)


def _takes_prefill(turn: TurnRecord) -> bool:
    if turn.facts.goes_on:  # a prompt that the model extends is no prefill
        return True
    wanted = turn.policy.prefill
    if turn.facts.prefill_barred or wanted == "never":
        return False
    if wanted != "always" and not turn.provider.dialect.takes_prefill(turn.facts.model):
        return False
    return _learned(turn, _PREFILL) is None


def _prefilled(turn: TurnRecord) -> str:
    """Return what the last request's prefill shows about the model."""
    return _REASONING if reasoning_in(turn.state.last_edits) else _PREFILL


def learn(turn: TurnRecord, fault: Fault) -> None:
    """Remember what an error says about the model, for this turn and later ones."""
    learned, now_s = turn.environment.learned, turn.environment.now()
    if fault.kind is FaultKind.PREFILL_REJECTED:
        learned.deny(*turn.model, _prefilled(turn), now_s)
    if fault.allowed_tokens:
        turn.ceiling_tokens = fault.allowed_tokens
    if fault.window_tokens:  # the allowed tokens are only what this prompt leaves
        learned.limit(*turn.model, _WINDOW, fault.window_tokens, now_s)
    elif fault.allowed_tokens:
        learned.limit(*turn.model, _OUTPUT, fault.allowed_tokens, now_s)


def took_prefill(turn: TurnRecord) -> None:
    """Remember that the model accepted a prefill."""
    turn.environment.learned.allow(*turn.model, _prefilled(turn))
