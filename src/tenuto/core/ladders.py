"""The whole policy of the system: LADDERS, from an outcome to its rungs, and ENDINGS, for what is
left when no rung is. The documentation's table and state diagram are drawn from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenuto.core import edits
from tenuto.core.actions import (
    Edit,
    Recovery,
    Status,
)
from tenuto.core.guards import (
    AFTER_BREAK,
    AFTER_TOOL_RESULT,
    BROKEN_DOCUMENT,
    BUDGET_TOO_LARGE,
    CALL_ASKED_FOR,
    CALL_BROKE_OFF,
    CALL_OWED,
    CAN_BE_RESUMED,
    CLEAN_END,
    EMPTY_RECOVERY,
    ENDED_UNMARKED,
    ENDED_UNMARKED_AGAIN,
    HAS_CALLS,
    HAS_CONTENT,
    KEYS_REJECTED,
    LOOPED,
    LOWER_REASONING,
    MAY_CONTINUE,
    MAY_RETRY,
    MAY_SEND,
    NO_RUNAWAY,
    NOT_LEFT_ALONE,
    NOT_RETRYABLE,
    NOTHING_CAME,
    NOTHING_LACKS,
    NOTHING_NEW,
    NOTHING_RUN,
    NOTHING_SAID,
    NOTHING_THOUGHT,
    PREFILL,
    PREFILL_REJECTED,
    PREFILLED,
    PREFILLED_REASONING,
    REASONING_PREFILL,
    RETRYABLE,
    ROOM,
    RUN_COMPLETE,
    SAID,
    SDK_RETRIES,
    SENT_BACK,
    SHRINKING,
    SOME_MADE,
    SOME_RUNNABLE,
    STOP_CAME_FIRST,
    TEXT_ASKED_FOR,
    TOOLS,
    UNDER_OUTPUT_CAP,
    WHOLE_DOCUMENT,
    WITHIN_LIMITS,
    Guard,
)
from tenuto.core.outcome import Outcome
from tenuto.core.view import Budget, Suggestion, View


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to go on: taken when every guard holds and the budget is not spent.

    Attributes:
        id: its stable name, by which policies, events and code refer to it. Rungs of several
            ladders that do the same have the same.
        sentence: the same in words, for people.
        guards: what must hold.
        edits: makes the edits of the next request; None: the turn ends.
        budget: what a request spends; None: nothing.
        recovery: what kind of recovery the request is, for events.
        waits: whether the request waits for the backoff, or as long as the provider asks.
        ends: the status and reason of a turn that ends; None: those of the outcome's row in
            `ENDINGS`.
        whole_calls_only: whether the caller gets the whole calls alone.
        as_received: whether the caller sees the stop that came.
        without_stop: whether the caller sees no stop, since none came (S3a).
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


def _continuation(
    rung: str, sentence: str, edits: Callable[[View], tuple[Edit, ...]], *more: Guard
) -> Rung:
    guards = (*MAY_CONTINUE, *more)
    return Rung(rung, sentence, guards, edits, Budget.CONTINUATION, Recovery.CONTINUATION)


def _resumption(
    rung: str, sentence: str, edits: Callable[[View], tuple[Edit, ...]], *more: Guard
) -> Rung:
    guards = (WITHIN_LIMITS, RETRYABLE, *MAY_RETRY, SAID, NO_RUNAWAY, UNDER_OUTPUT_CAP, ROOM, *more)
    return Rung(
        rung, sentence, guards, edits, Budget.FAULT_RETRY, Recovery.CONTINUATION, waits=True
    )


_WHOLE = (Status.COMPLETE, "completed")
_LOST = (Status.PARTIAL, "provider_error")

_BROKEN_OFF = (
    Rung(
        "accept_whole_document",
        "take a document that parses for whole",
        (WHOLE_DOCUMENT, NOT_LEFT_ALONE),
        ends=_WHOLE,
    ),
    Rung(
        "send_again",
        "send again",
        (WITHIN_LIMITS, RETRYABLE, *MAY_RETRY, NOTHING_CAME, NOTHING_RUN),
        edits.same_again,
        Budget.FAULT_RETRY,
        Recovery.RETRY,
        waits=True,
    ),
    _resumption(
        "ask_for_call_once_more", "ask for the call once more", edits.ask_once_more, CALL_ASKED_FOR
    ),
    _resumption(
        "ask_for_begun_call",
        "ask for the call that was begun",
        edits.ask_for_begun_call,
        CALL_BROKE_OFF,
    ),
    _resumption("resume_with_prefill", "resume after a prefill", edits.resume_prefill, PREFILL),
    _resumption("resume_with_hint", "resume after a hint", edits.resume_hint),
)
"""For an answer that broke off."""

_NO_DOCUMENT = "end_broken_document", "end a document that does not parse"

_OWED = (
    Rung(
        "ask_for_owed_call",
        "ask for the call that is owed",
        (CALL_OWED, *MAY_SEND),
        edits.ask_for_call,
        Budget.MISSING_CALL,
        Recovery.TOOL_REPAIR,
    ),
    Rung(
        "end_without_owed_call",
        "end without the call that is owed",
        (CALL_OWED,),
        ends=(Status.PARTIAL, "tool_calls_missing"),
    ),
)
"""For an answer of words where a call was begun before a break (S3a)."""


def _after_break(
    nothing_new: tuple[Guard, ...], broken_document: tuple[Guard, ...]
) -> tuple[Rung, ...]:
    """For an answer that adds nothing to a text that broke off (S3a).

    Args:
        nothing_new: when an answer of this outcome adds nothing.
        broken_document: when it leaves a document that does not parse.
    """
    return (
        Rung(
            "accept_unmarked_end",
            "take for whole what ended without a mark",
            (ENDED_UNMARKED, *nothing_new, NOT_LEFT_ALONE),
            ends=_WHOLE,
            without_stop=True,
        ),
        Rung(
            "accept_stopped_text",
            "take what a stop had ended for whole",
            (STOP_CAME_FIRST, *nothing_new),
            ends=_WHOLE,
        ),
        Rung(
            "ask_for_rest_in_other_words",
            "ask in other words for what broke off",
            (AFTER_BREAK, *nothing_new, *MAY_RETRY, UNDER_OUTPUT_CAP, ROOM),
            edits.ask_in_other_words,
            Budget.FAULT_RETRY,
            Recovery.CONTINUATION,
        ),
        Rung(*_NO_DOCUMENT, broken_document, ends=(Status.PARTIAL, "document_broken")),
        Rung(
            "end_without_rest",
            "end what broke off without its rest",
            (AFTER_BREAK, *nothing_new),
            ends=_LOST,
        ),
    )


def _whole_calls(reason: str) -> Rung:
    return Rung(
        "hand_on_whole_calls",
        "hand on the whole calls",
        (NOT_LEFT_ALONE, RUN_COMPLETE, SOME_RUNNABLE),
        ends=(Status.PARTIAL, reason),
        whole_calls_only=True,
    )


_CALLS = {
    outcome: (
        _whole_calls(reason),
        Rung(
            "ask_for_call_again",
            "ask for the call again",
            MAY_SEND,
            ask,
            Budget.TOOL_REPAIR,
            Recovery.TOOL_REPAIR,
        ),
        Rung(
            "answer_calls_as_failed",
            "answer the calls as failed",
            (*MAY_SEND, HAS_CALLS),
            edits.answer_calls,
            Budget.TOOL_ANSWER,
            Recovery.TOOL_REPAIR,
        ),
        Rung(
            "answer_shrinking_calls",
            "go on while the call gets smaller",
            (SHRINKING, *MAY_SEND, HAS_CALLS),
            edits.answer_calls,
            Budget.SHRINKING_CALL,
            Recovery.TOOL_REPAIR,
        ),
    )
    for outcome, ask, reason in (
        (Outcome.ARGUMENTS_CUT, edits.repeat_call, "tool_call_truncated"),
        (Outcome.ARGUMENTS_MALFORMED, edits.repair_call, "tool_call_malformed"),
    )
}

LADDERS: dict[Outcome, tuple[Rung, ...]] = {
    Outcome.DONE: (
        *_OWED,
        *_after_break((NOTHING_NEW,), (BROKEN_DOCUMENT,)),
        Rung(
            "end_without_news",
            "end a continuation without news",
            (NOTHING_NEW,),
            ends=(Status.PARTIAL, "runaway"),
        ),
    ),
    Outcome.TEXT_CUT: (
        _whole_calls("tool_call_truncated"),  # where the limit cut a text behind them
        _continuation(
            "continue_with_prefill", "continue after a prefill", edits.continue_prefill, PREFILL
        ),
        _continuation("continue_with_hint", "continue after a hint", edits.continue_hint),
    ),
    **_CALLS,
    Outcome.CALLS_MISSING: (
        Rung(
            "ask_for_missing_call",
            "ask for the missing call",
            MAY_SEND,
            edits.ask_for_call,
            Budget.MISSING_CALL,
            Recovery.TOOL_REPAIR,
        ),
    ),
    Outcome.THINKING_CUT: (
        Rung(
            "end_at_white_space",
            "end a continuation of white space",
            (NOTHING_NEW, NOTHING_THOUGHT),
            ends=(Status.PARTIAL, "runaway"),
        ),
        Rung(
            "lower_reasoning",
            "lower the reasoning",
            (*MAY_SEND, NOTHING_SAID, LOWER_REASONING),
            edits.lower_reasoning,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
        Rung(
            "raise_limit_and_reason_less",
            "raise the limit and ask for less reasoning",
            (*MAY_SEND, NOTHING_SAID),
            edits.reason_less,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
    ),
    Outcome.THINKING_ONLY: (
        *_OWED,
        *_after_break((TEXT_ASKED_FOR, SAID), (BROKEN_DOCUMENT, TEXT_ASKED_FOR)),
        Rung(
            "continue_from_reasoning",
            "go on from the reasoning",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID, REASONING_PREFILL),
            edits.prefill_reasoning,
            Budget.REASONING_PREFILL,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_for_answer",
            "ask for the answer",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID),
            edits.answer_now,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_again",
            "ask again",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID),
            edits.ask_again,
            Budget.EMPTY_RETRY,
            Recovery.EMPTY,
            waits=True,
        ),
    ),
    Outcome.EMPTY: (
        *_OWED,
        *_after_break((TEXT_ASKED_FOR, SAID), (BROKEN_DOCUMENT, TEXT_ASKED_FOR)),
        Rung(
            "nudge_after_tool_result",
            "nudge after a tool result",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID, AFTER_TOOL_RESULT),
            edits.nudge,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
        Rung(
            "pass_on_empty_answer",
            "pass the empty answer on",
            (NOTHING_SAID, NOTHING_LACKS, AFTER_TOOL_RESULT, CLEAN_END),
            ends=(Status.PARTIAL, "empty_after_tool_result"),
            as_received=True,
        ),
        Rung(
            "ask_to_rephrase",
            "ask for other words",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID, TOOLS, CLEAN_END),
            edits.rephrase,
            Budget.REPHRASE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_again",
            "ask again",
            (*MAY_SEND, EMPTY_RECOVERY, NOTHING_SAID, SOME_MADE),
            edits.ask_again,
            Budget.EMPTY_RETRY,
            Recovery.EMPTY,
            waits=True,
        ),
    ),
    Outcome.FAULT: (
        Rung(
            "lower_output_limit",
            "ask for the output that is allowed",
            (BUDGET_TOO_LARGE, *MAY_SEND),
            edits.clamp,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung(
            "drop_rejected_keys",
            "leave the rejected keys out",
            (KEYS_REJECTED, *MAY_SEND),
            edits.drop_keys,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung(
            "hint_instead_of_prefill",
            "ask with a hint instead of a prefill",
            (PREFILL_REJECTED, PREFILLED, *MAY_SEND, SAID),
            edits.resume_hint,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung(
            "ask_instead_of_prefill",
            "ask for the answer instead of a prefill",
            (PREFILL_REJECTED, PREFILLED_REASONING, *MAY_SEND),
            edits.answer_now,
            Budget.PARAMETER,
            Recovery.REQUEST_REPAIR,
        ),
        Rung("leave_to_sdk", "leave it to the SDK", (SDK_RETRIES,)),
        Rung(
            "end_repeating_text",
            "leave a text that repeats itself",
            (LOOPED, SAID),
            ends=(Status.PARTIAL, "runaway"),
            as_received=True,
        ),
        Rung(
            "accept_without_asking",
            "take for whole what cannot be asked on",
            (ENDED_UNMARKED, NOT_RETRYABLE, SAID, NOT_LEFT_ALONE),
            ends=_WHOLE,
            without_stop=True,
        ),
        *_BROKEN_OFF,
    ),
    Outcome.DROPPED: (
        Rung(
            "accept_unmarked_end_again",
            "take for whole what ended without a mark again",
            (ENDED_UNMARKED_AGAIN, NOT_LEFT_ALONE),
            ends=_WHOLE,
            without_stop=True,
        ),
        *_BROKEN_OFF,
    ),
    Outcome.PAUSED: (
        Rung(
            "send_paused_turn_back",
            "send the paused turn back",
            (SENT_BACK, *MAY_SEND, HAS_CONTENT, CAN_BE_RESUMED),
            edits.resume_pause,
            Budget.PAUSE,
            Recovery.PAUSE,
        ),
    ),
    # These end at once, each for its own reason in ENDINGS (C6, E12).
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
    Outcome.DONE: Ending("completed", Status.COMPLETE, Status.COMPLETE, "none"),
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


MAY_BE_REPEATED = (Outcome.FAULT, Outcome.DROPPED)
"""Outcomes that say nothing against the request, which may be sent again as it was."""
