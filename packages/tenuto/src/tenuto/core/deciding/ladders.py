"""The policy: LADDERS, from an outcome to its rungs. The table and the state diagram in the
documentation are generated from it, and from ENDINGS (`endings.py`)."""

from __future__ import annotations

from tenuto.core.deciding import edits
from tenuto.core.deciding import guards as when
from tenuto.core.deciding.actions import Recovery, Status
from tenuto.core.deciding.guards import Guard
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.rung import COMPLETED, Edits, Rung
from tenuto.core.deciding.shared_rungs import (
    ACCEPT_DOCUMENT,
    BROKEN_OFF,
    GOES_ON,
    GOES_ON_HIGHER,
    PENDING_CALL,
    REPEATS,
    after_break,
    no_document,
    unmarked_text,
    whole_calls,
)
from tenuto.core.deciding.view import Budget


def _continuation(rung: str, sentence: str, makes: Edits, *more: Guard) -> Rung:
    guards = (*when.MAY_CONTINUE, *more)
    return Rung(rung, sentence, guards, makes, Budget.CONTINUATION, Recovery.CONTINUATION)


_CALLS = {
    outcome: (
        *further,
        whole_calls(reason),
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
        (Outcome.ARGUMENTS_CUT, edits.repeat_call, "tool_call_truncated", (GOES_ON_HIGHER,)),
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
        ends=COMPLETED,
    ),
    Rung(
        "hand_on_calls_that_came",
        "return the tool calls that came, without those that never did",
        (when.SOME_CAME,),
        ends=(Status.PARTIAL, "tool_calls_missing"),
    ),
)
"""If several calls were still to come, and not all of them came in one answer (T4a)."""

LADDERS: dict[Outcome, tuple[Rung, ...]] = {
    Outcome.DONE: (
        Rung(
            "hand_on_calls_beside_cut_text",
            "return the complete tool calls beside a text that the model left unfinished",
            (when.WHOLE_CALLS, when.TEXT_LEFT_HALF),
            ends=(Status.PARTIAL, "text_unfinished"),
        ),
        *PENDING_CALL,
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
        *after_break((when.NOTHING_NEW,), (when.BROKEN_DOCUMENT,)),
        Rung(
            "end_without_news",
            "end the turn, since the continuation added nothing",
            (when.NOTHING_NEW,),
            ends=(Status.PARTIAL, "runaway"),
        ),
    ),
    Outcome.TEXT_CUT: (
        GOES_ON_HIGHER,
        whole_calls("tool_call_truncated"),  # if the limit cut a text after them
        ACCEPT_DOCUMENT,
        Rung(
            "ask_for_document_again",
            "ask for all of the document again, with its schema and a higher output limit",
            (when.DOCUMENT, when.HAS_TEXT, when.NO_RUNAWAY, when.LIMIT_RISES, *when.MAY_SEND),
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
        *no_document(when.DOCUMENT, when.HAS_TEXT),
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
        GOES_ON_HIGHER,
        *no_document(when.BROKEN_DOCUMENT, when.TEXT_ASKED_FOR),
        Rung(
            "end_at_white_space",
            "end the turn, since the continuation is only white space",
            (when.NOTHING_NEW, when.NOTHING_THOUGHT),
            ends=(Status.PARTIAL, "runaway"),
        ),
        Rung(
            "lower_reasoning",
            "lower the reasoning effort",
            (*when.MAY_SEND, when.NO_TEXT, when.LOWER_REASONING),
            edits.lower_reasoning,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
        Rung(
            "raise_limit_and_reason_less",
            "raise the output limit and ask for less reasoning",
            (*when.MAY_SEND, when.NO_TEXT),
            edits.reason_less,
            Budget.THINKING,
            Recovery.EMPTY,
        ),
    ),
    Outcome.THINKING_ONLY: (
        *PENDING_CALL,
        *after_break(
            (when.TEXT_ASKED_FOR, when.HAS_TEXT), (when.BROKEN_DOCUMENT, when.TEXT_ASKED_FOR)
        ),
        Rung(
            "continue_from_reasoning",
            "continue from the reasoning",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NO_TEXT, when.REASONING_PREFILL),
            edits.prefill_reasoning,
            Budget.REASONING_PREFILL,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_for_answer",
            "ask for the answer",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NO_TEXT),
            edits.answer_now,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_again",
            "ask again after the empty answer",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NO_TEXT),
            edits.ask_again,
            Budget.EMPTY_RETRY,
            Recovery.EMPTY,
            waits=True,
        ),
    ),
    Outcome.EMPTY: (
        *PENDING_CALL,
        Rung(
            "accept_stop_sequence",
            "accept the text, which a stop sequence ended where the limit had cut it",
            (when.STOP_SEQUENCE_AT_CUT,),
            ends=COMPLETED,
        ),
        *after_break(
            (when.TEXT_ASKED_FOR, when.HAS_TEXT), (when.BROKEN_DOCUMENT, when.TEXT_ASKED_FOR)
        ),
        Rung(
            "nudge_after_tool_result",
            "point the model to the tool results",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NO_TEXT, when.AFTER_TOOL_RESULT),
            edits.nudge,
            Budget.NUDGE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_without_tools",
            "ask again without the tools",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NO_TEXT, when.TOOLS_MAY_GO),
            edits.ask_without_tools,
            Budget.WITHOUT_TOOLS,
            Recovery.EMPTY,
        ),
        Rung(
            "pass_on_empty_answer",
            "return the empty answer",
            (when.NO_TEXT, when.NO_CALL_MISSING, when.AFTER_TOOL_RESULT, when.CLEAN_END),
            ends=(Status.PARTIAL, "empty_after_tool_result"),
            as_received=True,
        ),
        Rung(
            "ask_to_rephrase",
            "ask the model to say it in other words",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NO_TEXT, when.TOOLS, when.CLEAN_END),
            edits.rephrase,
            Budget.REPHRASE,
            Recovery.EMPTY,
        ),
        Rung(
            "ask_again",
            "ask again after the empty answer",
            (*when.MAY_SEND, when.EMPTY_RECOVERY, when.NO_TEXT, when.SOME_MADE),
            edits.ask_again,
            Budget.EMPTY_RETRY,
            Recovery.EMPTY,
            waits=True,
        ),
    ),
    Outcome.FAULT: (
        GOES_ON,
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
            (when.PREFILL_REJECTED, when.PREFILLED, *when.MAY_SEND, when.HAS_TEXT),
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
            *REPEATS,
            (when.LOOPED, when.HAS_TEXT),
            ends=(Status.PARTIAL, "runaway"),
            as_received=True,
        ),
        unmarked_text(when.NOT_RETRYABLE),
        *BROKEN_OFF,
    ),
    Outcome.DROPPED: (
        GOES_ON,
        Rung(
            "accept_unmarked_end_again",
            "accept the answer, which again ended without an end mark",
            (when.ENDED_UNMARKED_AGAIN, when.CERTAIN_ENOUGH, when.NOT_LEFT_ALONE),
            ends=COMPLETED,
            without_stop=True,
        ),
        *BROKEN_OFF,
        Rung(
            *REPEATS,
            (when.ENDED_UNMARKED, when.RUNAWAY, when.NOT_LEFT_ALONE),
            ends=(Status.PARTIAL, "runaway"),
            as_received=True,
            without_stop=True,
        ),
        unmarked_text(),
    ),
    Outcome.PAUSED: (
        Rung(
            "return_calls_of_pause",
            "return the tool calls of the paused turn, whose results the provider needs",
            (when.WHOLE_CALLS, when.NEEDS_CALL_RESULTS, when.NOT_LEFT_ALONE),
            ends=COMPLETED,
        ),
        Rung(
            "send_paused_turn_back",
            "send the paused turn back to resume it",
            (
                when.NOT_IN_BACKGROUND,
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

MAY_BE_REPEATED = (Outcome.FAULT, Outcome.DROPPED)
"""Outcomes that are no evidence against the request, so that it may be sent again unchanged."""
