"""The whole policy: LADDERS, from an outcome to its rungs, and ENDINGS, for a turn with no rung
left. The table and the state diagram in the documentation are generated from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenuto.core.deciding import edits
from tenuto.core.deciding import guards as when
from tenuto.core.deciding.actions import Edit, Recovery, Status
from tenuto.core.deciding.guards import Guard
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.view import Budget, View


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to continue a turn, taken if every guard holds and the budget is not spent.

    Attributes:
        id: its stable name, which policies, events and code use. Rungs of several ladders that do
            the same share one.
        sentence: what it does, in words, for people.
        guards: the conditions that must hold.
        edits: makes the edits of the next request; None if the turn ends.
        budget: the budget that a request spends; None for none.
        recovery: the kind of recovery that the request is, for events.
        waits: whether the request waits for the backoff, or as long as the provider asks.
        ends: the status and reason of a turn that ends; None for those of the outcome's row in
            `ENDINGS`.
        whole_calls_only: whether the caller gets only the complete calls.
        as_received: whether the caller sees the stop as received.
        without_stop: whether the caller sees no stop, since none came (S3a).
        goes_on: whether the provider goes on by itself, so that what comes next and what came are
            one answer (C30).
    """

    id: str
    sentence: str
    guards: tuple[Guard, ...]
    edits: Callable[[View], tuple[Edit, ...]] | None = None
    budget: Budget | None = None
    recovery: Recovery = Recovery.RETRY
    waits: bool = False
    ends: tuple[Status, str] | None = None
    whole_calls_only: bool = False
    as_received: bool = False
    without_stop: bool = False
    goes_on: bool = False


_Edits = Callable[[View], tuple[Edit, ...]]


def _continuation(rung: str, sentence: str, makes: _Edits, *more: Guard) -> Rung:
    guards = (*when.MAY_CONTINUE, *more)
    return Rung(rung, sentence, guards, makes, Budget.CONTINUATION, Recovery.CONTINUATION)


def _resumption(rung: str, sentence: str, makes: _Edits, *more: Guard) -> Rung:
    guards, kind = (*when.MAY_RESUME, *more), Recovery.CONTINUATION
    return Rung(rung, sentence, guards, makes, Budget.FAULT_RETRY, kind, waits=True)


_WHOLE = (Status.COMPLETE, "completed")
_LOST = (Status.PARTIAL, "provider_error")

_ACCEPT_DOCUMENT = Rung(
    "accept_whole_document",
    "accept the document, since it parses",
    (when.WHOLE_DOCUMENT, when.NOT_LEFT_ALONE),
    ends=_WHOLE,
)

_GOES_ON = Rung(
    "let_provider_go_on",
    "let the provider itself go on from where the answer broke off",
    (when.WITHIN_LIMITS, when.RETRYABLE, *when.MAY_RETRY, *when.MAY_GO_ON_BY_ITSELF),
    edits.resume_pause,
    Budget.PAUSE,
    Recovery.PAUSE,
    goes_on=True,
)
"""For an answer that broke off where the provider can go on by itself, without loss (C30)."""

_GOES_ON_HIGHER = Rung(
    "raise_limit_and_let_provider_go_on",
    "raise the output limit, and let the provider itself go on from where it cut the answer",
    (*when.MAY_SEND, *when.MAY_GO_ON_BY_ITSELF),
    edits.resume_with_higher_limit,
    Budget.CONTINUATION,
    Recovery.CONTINUATION,
    goes_on=True,
)

_BROKEN_OFF = (
    _ACCEPT_DOCUMENT,
    Rung(
        "send_again",
        "send the same request again",
        (when.WITHIN_LIMITS, when.RETRYABLE, *when.MAY_RETRY, when.NOTHING_CAME, when.NOTHING_RUN),
        edits.same_again,
        Budget.FAULT_RETRY,
        Recovery.RETRY,
        waits=True,
    ),
    _resumption(
        "ask_for_call_once_more",
        "ask for the tool call once more",
        edits.ask_once_more,
        when.CALL_ASKED_FOR,
        when.TEXT_WHOLE,
    ),
    _resumption(
        "ask_for_begun_call",
        "ask for the tool call that broke off",
        edits.ask_for_begun_call,
        when.CALL_BROKE_OFF,
    ),
    _resumption(
        "ask_for_document_once_more",
        "ask for all of the document again, which broke off",
        edits.document_once_more,
        when.DOCUMENT,
        when.NOT_ANEW,
    ),
    _resumption(
        "resume_with_prefill",
        "resume the text from a prefill",
        edits.resume_prefill,
        when.PREFILL,
        when.MAY_JOIN,
    ),
    _resumption(
        "resume_with_hint", "resume the text after a hint", edits.resume_hint, when.MAY_JOIN
    ),
)
"""For an answer that broke off."""


def _no_document(*broken: Guard) -> tuple[Rung, ...]:
    """Return the ends of a turn whose document is not whole. `broken`: the guards that show it."""
    return (
        Rung(
            "end_invalid_document",
            "end the turn, since what completed the document does not match the schema",
            (*broken, when.REFUTED, when.NOT_LEFT_ALONE),
            ends=(Status.PARTIAL, "document_invalid"),
        ),
        Rung(
            "end_cut_document",
            "end the turn, since the document is not whole",
            (*broken, when.NOT_LEFT_ALONE),
            ends=(Status.PARTIAL, "document_cut"),
        ),
    )


_REPEATS = "end_repeating_text", "end the turn, since the text repeats itself"

_OWED = (
    Rung(
        "ask_for_owed_call",
        "ask for the tool call that never arrived",
        (when.CALL_OWED, *when.MAY_SEND),
        edits.ask_for_call,
        Budget.MISSING_CALL,
        Recovery.TOOL_REPAIR,
    ),
    Rung(
        "end_without_owed_call",
        "end the turn without the tool call that never arrived",
        (when.CALL_OWED,),
        ends=(Status.PARTIAL, "tool_calls_missing"),
    ),
)
"""For an answer with words only, if a call was begun earlier and never arrived whole (T5, S3a)."""


def _unmarked_text(*more: Guard) -> Rung:
    return Rung(
        "return_unmarked_text",
        "return the text as it ended, since nothing shows whether it is whole",
        (when.ENDED_UNMARKED, *more, when.SAID, when.NOT_LEFT_ALONE),
        ends=(Status.PARTIAL, "end_unknown"),
        as_received=True,
        without_stop=True,
    )


def _after_break(
    nothing_new: tuple[Guard, ...], broken_document: tuple[Guard, ...]
) -> tuple[Rung, ...]:
    """Return the rungs for an answer that adds nothing to a text that broke off (S3a).

    Args:
        nothing_new: the guards by which an answer of this outcome adds nothing.
        broken_document: the guards by which it leaves a document that does not parse.
    """
    return (
        Rung(
            "accept_unmarked_end",
            "accept the answer, which ended without an end mark",
            (when.ENDED_UNMARKED, when.CERTAIN_ENOUGH, *nothing_new, when.NOT_LEFT_ALONE),
            ends=_WHOLE,
            without_stop=True,
        ),
        Rung(
            "accept_stopped_text",
            "accept the text, which a stop had already ended",
            (when.STOP_CAME_FIRST, *nothing_new),
            ends=_WHOLE,
        ),
        Rung(
            "ask_for_rest_in_other_words",
            "ask for the rest in other words",
            (when.AFTER_BREAK, *nothing_new, *when.MAY_RETRY, when.UNDER_OUTPUT_CAP, when.ROOM),
            edits.ask_in_other_words,
            Budget.FAULT_RETRY,
            Recovery.CONTINUATION,
        ),
        *_no_document(*broken_document),
        Rung(
            "end_without_rest",
            "end the turn without the rest of the text",
            (when.AFTER_BREAK, *nothing_new),
            ends=_LOST,
        ),
    )


def _whole_calls(reason: str) -> Rung:
    return Rung(
        "hand_on_whole_calls",
        "return the complete tool calls",
        (when.NOT_LEFT_ALONE, when.RUN_COMPLETE, when.SOME_RUNNABLE),
        ends=(Status.PARTIAL, reason),
        whole_calls_only=True,
    )


_CALLS = {
    outcome: (
        *further,
        _whole_calls(reason),
        Rung(
            "ask_for_call_again",
            "ask for the tool call again",
            when.MAY_SEND,
            ask,
            Budget.TOOL_REPAIR,
            Recovery.TOOL_REPAIR,
        ),
        Rung(
            "ask_for_rest_and_call",
            "ask for the rest of the text and the tool call",
            (when.TEXT_TORN, *when.MAY_SEND),
            edits.rest_and_call,
            Budget.TOOL_ANSWER,
            Recovery.TOOL_REPAIR,
        ),
        Rung(
            "answer_calls_as_failed",
            "answer the tool calls with failed results",
            (*when.MAY_SEND, when.HAS_CALLS),
            edits.answer_calls,
            Budget.TOOL_ANSWER,
            Recovery.TOOL_REPAIR,
        ),
        Rung(
            "answer_shrinking_calls",
            "try again while the tool call gets smaller",
            (when.SHRINKING, *when.MAY_SEND, when.HAS_CALLS, when.TEXT_WHOLE),
            edits.answer_calls,
            Budget.SHRINKING_CALL,
            Recovery.TOOL_REPAIR,
        ),
    )
    for outcome, ask, reason, further in (
        (Outcome.ARGUMENTS_CUT, edits.repeat_call, "tool_call_truncated", (_GOES_ON_HIGHER,)),
        (Outcome.ARGUMENTS_MALFORMED, edits.repair_call, "tool_call_malformed", ()),
    )
}

_CAME = (
    Rung(
        "ask_for_other_calls",
        "ask for the tool calls that did not come with the others",
        (when.SOME_CAME, *when.MAY_SEND),
        edits.ask_for_other_calls,
        Budget.MISSING_CALL,
        Recovery.TOOL_REPAIR,
    ),
    Rung(
        "hand_on_calls_of_both",
        "return the tool calls that came in several answers",
        (when.ALL_CAME,),
        ends=_WHOLE,
    ),
    Rung(
        "hand_on_calls_that_came",
        "return the tool calls that came, without those that never did",
        (when.SOME_CAME,),
        ends=(Status.PARTIAL, "tool_calls_missing"),
    ),
)
"""If several calls were owed, and not all of them came in one answer (T4a)."""

LADDERS: dict[Outcome, tuple[Rung, ...]] = {
    Outcome.DONE: (
        Rung(
            "hand_on_calls_beside_cut_text",
            "return the complete tool calls beside a text that the model left unfinished",
            (when.WHOLE_CALLS, when.TEXT_LEFT_HALF),
            ends=(Status.PARTIAL, "text_unfinished"),
        ),
        *_OWED,
        Rung(
            "ask_for_valid_document",
            "ask for a document that matches the schema",
            (when.INVALID_DOCUMENT, when.ASK_AGAIN, *when.MAY_SEND),
            edits.valid_document,
            Budget.CONTINUATION,
            Recovery.CONTINUATION,
        ),
        Rung(
            "end_unmatched_document",
            "end the turn, since the document does not match its schema",
            (when.INVALID_DOCUMENT, when.NOT_LEFT_ALONE),
            ends=(Status.PARTIAL, "document_invalid"),
        ),
        Rung(
            "continue_document",
            "continue the document, since the answer did not complete it",
            (when.BROKEN_DOCUMENT, when.DOCUMENT, when.MAY_JOIN, *when.MAY_SEND, *when.HAS_ROOM),
            edits.continue_hint,
            Budget.CONTINUATION,
            Recovery.CONTINUATION,
        ),
        *_after_break((when.NOTHING_NEW,), (when.BROKEN_DOCUMENT,)),
        Rung(
            "end_without_news",
            "end the turn, since the continuation added nothing",
            (when.NOTHING_NEW,),
            ends=(Status.PARTIAL, "runaway"),
        ),
    ),
    Outcome.TEXT_CUT: (
        _GOES_ON_HIGHER,
        _whole_calls("tool_call_truncated"),  # if the limit cut a text after them
        _ACCEPT_DOCUMENT,
        Rung(
            "ask_for_document_again",
            "ask for all of the document again, with its schema and a higher output limit",
            (when.DOCUMENT, when.SAID, when.NO_RUNAWAY, when.LIMIT_RISES, *when.MAY_SEND),
            edits.document_again,
            Budget.CONTINUATION,
            Recovery.CONTINUATION,
        ),
        _continuation(
            "continue_with_prefill",
            "continue the text from a prefill",
            edits.continue_prefill,
            when.PREFILL,
            when.MAY_JOIN,
        ),
        _continuation(
            "continue_with_hint",
            "continue the text after a hint",
            edits.continue_hint,
            when.MAY_JOIN,
        ),
        *_no_document(when.DOCUMENT, when.SAID),
    ),
    **_CALLS,
    Outcome.CALLS_MISSING: (
        *_CAME,
        Rung(
            "ask_for_missing_call",
            "ask for the missing tool call",
            when.MAY_SEND,
            edits.ask_for_call,
            Budget.MISSING_CALL,
            Recovery.TOOL_REPAIR,
        ),
    ),
    Outcome.THINKING_CUT: (
        _GOES_ON_HIGHER,
        *_no_document(when.BROKEN_DOCUMENT, when.TEXT_ASKED_FOR),
        Rung(
            "end_at_white_space",
            "end the turn, since the continuation is only white space",
            (when.NOTHING_NEW, when.NOTHING_THOUGHT),
            ends=(Status.PARTIAL, "runaway"),
        ),
        Rung(
            "lower_reasoning",
            "lower the reasoning effort",
            (*when.MAY_SEND, when.NOTHING_SAID, when.LOWER_REASONING),
            edits.lower_reasoning,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
        Rung(
            "raise_limit_and_reason_less",
            "raise the output limit and ask for less reasoning",
            (*when.MAY_SEND, when.NOTHING_SAID),
            edits.reason_less,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
    ),
    Outcome.THINKING_ONLY: (
        *_OWED,
        *_after_break(
            (when.TEXT_ASKED_FOR, when.SAID), (when.BROKEN_DOCUMENT, when.TEXT_ASKED_FOR)
        ),
        Rung(
            "continue_from_reasoning",
            "continue from the reasoning",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NOTHING_SAID, when.REASONING_PREFILL),
            edits.prefill_reasoning,
            Budget.REASONING_PREFILL,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_for_answer",
            "ask for the answer",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NOTHING_SAID),
            edits.answer_now,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_again",
            "ask again after the empty answer",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NOTHING_SAID),
            edits.ask_again,
            Budget.EMPTY_RETRY,
            Recovery.EMPTY,
            waits=True,
        ),
    ),
    Outcome.EMPTY: (
        *_OWED,
        Rung(
            "accept_stop_sequence",
            "accept the text, which a stop sequence ended where the limit had cut it",
            (when.STOP_SEQUENCE_AT_CUT,),
            ends=_WHOLE,
        ),
        *_after_break(
            (when.TEXT_ASKED_FOR, when.SAID), (when.BROKEN_DOCUMENT, when.TEXT_ASKED_FOR)
        ),
        Rung(
            "nudge_after_tool_result",
            "point the model to the tool results",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NOTHING_SAID, when.AFTER_TOOL_RESULT),
            edits.nudge,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_without_tools",
            "ask again without the tools",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NOTHING_SAID, when.TOOLS_MAY_GO),
            edits.ask_without_tools,
            Budget.WITHOUT_TOOLS,
            Recovery.EMPTY,
        ),
        Rung(
            "pass_on_empty_answer",
            "return the empty answer",
            (when.NOTHING_SAID, when.NOTHING_LACKS, when.AFTER_TOOL_RESULT, when.CLEAN_END),
            ends=(Status.PARTIAL, "empty_after_tool_result"),
            as_received=True,
        ),
        Rung(
            "ask_to_rephrase",
            "ask the model to say it in other words",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NOTHING_SAID, when.TOOLS, when.CLEAN_END),
            edits.rephrase,
            Budget.REPHRASE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_again",
            "ask again after the empty answer",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NOTHING_SAID, when.SOME_MADE),
            edits.ask_again,
            Budget.EMPTY_RETRY,
            Recovery.EMPTY,
            waits=True,
        ),
    ),
    Outcome.FAULT: (
        _GOES_ON,
        Rung(
            "lower_output_limit",
            "lower the output limit to what the provider allows",
            (when.BUDGET_TOO_LARGE, *when.MAY_SEND),
            edits.clamp,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung(
            "drop_rejected_keys",
            "leave out the keys that the provider rejected",
            (when.KEYS_REJECTED, *when.MAY_SEND),
            edits.drop_keys,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung(
            "write_rows_as_required",
            "write the added rows as the provider's error requires",
            (when.ROWS_REJECTED, *when.MAY_SEND),
            edits.same_again,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung(
            "hint_instead_of_prefill",
            "use a hint instead of a prefill",
            (when.PREFILL_REJECTED, when.PREFILLED, *when.MAY_SEND, when.SAID),
            edits.resume_hint,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung(
            "ask_instead_of_prefill",
            "ask for the answer instead of using a prefill",
            (when.PREFILL_REJECTED, when.PREFILLED_REASONING, *when.MAY_SEND),
            edits.answer_now,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung("leave_to_sdk", "leave the retry to the SDK", (when.SDK_RETRIES,)),
        Rung(
            *_REPEATS,
            (when.LOOPED, when.SAID),
            ends=(Status.PARTIAL, "runaway"),
            as_received=True,
        ),
        _unmarked_text(when.NOT_RETRYABLE),
        *_BROKEN_OFF,
    ),
    Outcome.DROPPED: (
        _GOES_ON,
        Rung(
            "accept_unmarked_end_again",
            "accept the answer, which again ended without an end mark",
            (when.ENDED_UNMARKED_AGAIN, when.CERTAIN_ENOUGH, when.NOT_LEFT_ALONE),
            ends=_WHOLE,
            without_stop=True,
        ),
        *_BROKEN_OFF,
        Rung(
            *_REPEATS,
            (when.ENDED_UNMARKED, when.RUNAWAY, when.NOT_LEFT_ALONE),
            ends=(Status.PARTIAL, "runaway"),
            as_received=True,
            without_stop=True,
        ),
        _unmarked_text(),
    ),
    Outcome.PAUSED: (
        Rung(
            "return_calls_of_pause",
            "return the tool calls of the paused turn, whose results the provider needs",
            (when.WHOLE_CALLS, when.CALLS_COME_FIRST, when.NOT_LEFT_ALONE),
            ends=_WHOLE,
        ),
        Rung(
            "send_paused_turn_back",
            "send the paused turn back to resume it",
            (
                when.SENT_BACK,
                *when.MAY_SEND,
                when.NO_CALLS,  # they would be lost: what goes back holds none
                when.HAS_CONTENT,
                when.CAN_BE_RESUMED,
            ),
            edits.resume_pause,
            Budget.PAUSE,
            Recovery.PAUSE,
            goes_on=True,
        ),
    ),
    # These end at once, each with its own reason in ENDINGS (C6, E12).
    Outcome.OVERFLOW: (),
    Outcome.BLOCKED: (),
    Outcome.REFUSED: (),
    Outcome.CANCELLED: (),
    Outcome.UNKNOWN: (),
}

SENTENCES: dict[str, str] = {
    rung.id: rung.sentence for ladder in LADDERS.values() for rung in ladder
}
"""What each rung does, in words, by its id."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends when no rung is left.

    Attributes:
        reason: the reason if no guard with a reason of its own stood in the way.
        kept: the status if text is kept; bare: if none is.
        hidden_by_cut: whether the caller sees an earlier cut by the limit instead of this outcome.
    """

    reason: str
    kept: Status
    bare: Status
    hidden_by_cut: bool = False


_P, _F = Status.PARTIAL, Status.FAILED

ENDINGS: dict[Outcome, Ending] = {
    Outcome.DONE: Ending("completed", Status.COMPLETE, Status.COMPLETE),
    Outcome.TEXT_CUT: Ending("retry_limit", _P, _P),
    Outcome.ARGUMENTS_CUT: Ending("tool_call_truncated", _P, _P),
    Outcome.ARGUMENTS_MALFORMED: Ending("tool_call_malformed", _P, _F, True),
    Outcome.CALLS_MISSING: Ending("tool_calls_missing", _P, _F, True),
    Outcome.THINKING_CUT: Ending("reasoning_budget", _P, _P, True),
    Outcome.THINKING_ONLY: Ending("empty_output", _P, _F, True),
    Outcome.EMPTY: Ending("empty_output", _P, _F, True),
    Outcome.PAUSED: Ending("paused", _P, _P),
    Outcome.OVERFLOW: Ending("context_window", _P, _F),
    Outcome.BLOCKED: Ending("safety_blocked", _P, _F),
    Outcome.REFUSED: Ending("refused", _P, _F),
    Outcome.DROPPED: Ending("provider_error", _P, _F, True),
    Outcome.FAULT: Ending("provider_error", _P, _F, True),
    Outcome.CANCELLED: Ending("cancelled", _P, _F),
    Outcome.UNKNOWN: Ending("unknown_stop", _P, _P),
}


MAY_BE_REPEATED = (Outcome.FAULT, Outcome.DROPPED)
"""Outcomes that are no evidence against the request, so that it may be sent again unchanged."""
