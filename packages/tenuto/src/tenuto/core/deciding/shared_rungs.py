"""Rungs that several ladders share, each with what it is for."""

from __future__ import annotations

from tenuto.core.deciding import edits
from tenuto.core.deciding import guards as when
from tenuto.core.deciding.actions import Recovery, Status
from tenuto.core.deciding.guards import Guard
from tenuto.core.deciding.rung import COMPLETED, LOST, Edits, Rung
from tenuto.core.deciding.view import Budget


def _resumption(rung: str, sentence: str, makes: Edits, *more: Guard) -> Rung:
    guards, kind = (*when.MAY_RESUME, *more), Recovery.CONTINUATION
    return Rung(rung, sentence, guards, makes, Budget.FAULT_RETRY, kind, waits=True)


ACCEPT_DOCUMENT = Rung(
    "accept_whole_document",
    "accept the document, since it parses",
    (when.WHOLE_DOCUMENT, when.NOT_LEFT_ALONE),
    ends=COMPLETED,
)

GOES_ON = Rung(
    "let_provider_go_on",
    "let the provider itself go on from where the answer broke off",
    (when.WITHIN_LIMITS, when.RETRYABLE, *when.MAY_RETRY, *when.MAY_GO_ON_BY_ITSELF),
    edits.resume_pause,
    Budget.PAUSE,
    Recovery.PAUSE,
    goes_on=True,
)
"""For an answer that broke off where the provider can go on by itself, without loss (C30)."""

GOES_ON_HIGHER = Rung(
    "raise_limit_and_let_provider_go_on",
    "raise the output limit, and let the provider itself go on from where it cut the answer",
    (*when.MAY_SEND, *when.MAY_GO_ON_BY_ITSELF),
    edits.resume_with_higher_limit,
    Budget.CONTINUATION,
    Recovery.CONTINUATION,
    goes_on=True,
)

BROKEN_OFF = (
    ACCEPT_DOCUMENT,
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


def no_document(*broken: Guard) -> tuple[Rung, ...]:
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


REPEATS = "end_repeating_text", "end the turn, since the text repeats itself"

PENDING_CALL = (
    Rung(
        "ask_for_owed_call",
        "ask for the tool call that never arrived",
        (when.CALL_PENDING, *when.MAY_SEND),
        edits.ask_for_call,
        Budget.MISSING_CALL,
        Recovery.TOOL_REPAIR,
    ),
    Rung(
        "end_without_owed_call",
        "end the turn without the tool call that never arrived",
        (when.CALL_PENDING,),
        ends=(Status.PARTIAL, "tool_calls_missing"),
    ),
)
"""For an answer with words only, if a call was begun earlier and never arrived whole (T5, S3a)."""


def unmarked_text(*more: Guard) -> Rung:
    return Rung(
        "return_unmarked_text",
        "return the text as it ended, since nothing shows whether it is whole",
        (when.ENDED_UNMARKED, *more, when.HAS_TEXT, when.NOT_LEFT_ALONE),
        ends=(Status.PARTIAL, "end_unknown"),
        as_received=True,
        without_stop=True,
    )


def after_break(
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
            ends=COMPLETED,
            without_stop=True,
        ),
        Rung(
            "accept_stopped_text",
            "accept the text, which a stop had already ended",
            (when.STOP_CAME_FIRST, *nothing_new),
            ends=COMPLETED,
        ),
        Rung(
            "ask_for_rest_in_other_words",
            "ask for the rest in other words",
            (when.AFTER_BREAK, *nothing_new, *when.MAY_RETRY, when.UNDER_OUTPUT_CAP, when.ROOM),
            edits.ask_in_other_words,
            Budget.FAULT_RETRY,
            Recovery.CONTINUATION,
        ),
        *no_document(*broken_document),
        Rung(
            "end_without_rest",
            "end the turn without the rest of the text",
            (when.AFTER_BREAK, *nothing_new),
            ends=LOST,
        ),
    )


def whole_calls(reason: str) -> Rung:
    return Rung(
        "hand_on_whole_calls",
        "return the complete tool calls",
        (when.NOT_LEFT_ALONE, when.RUN_COMPLETE, when.SOME_RUNNABLE),
        ends=(Status.PARTIAL, reason),
        whole_calls_only=True,
    )
