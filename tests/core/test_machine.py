"""The machine alone: every rung, every guard, every budget, and that a turn always ends."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.response import Response, visible
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    FaultSeen,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    TransferEnded,
    UsageSeen,
)
from tenuto.core.answer.signals import Usage as Tokens
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendReasoning,
    AppendUser,
    DropConstraint,
    DropKeys,
    Finish,
    FreeToolChoice,
    LowerReasoning,
    Recovery,
    Send,
    SetOutputLimit,
    Status,
)
from tenuto.core.deciding.edits import failed_results
from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.guards import Guard
from tenuto.core.deciding.ladders import LADDERS, SENTENCES
from tenuto.core.deciding.machine import complete_at_once, step
from tenuto.core.deciding.outcome import OF_TURNS, Outcome, classify
from tenuto.core.deciding.rung import Rung
from tenuto.core.deciding.view import LIMITS, Budget, Facts, State, View
from tenuto.core.errors import PolicyError
from tenuto.core.events.advice import ADVICE, advice_on
from tenuto.core.settings.policy import RULES, Decision, Policy

R = StopReason


def stop(reason: StopReason) -> StopSeen:
    return StopSeen(reason.value, "finish_reason", reason)


def fault(kind: FaultKind, **more: Any) -> FaultSeen:
    return FaultSeen(Fault(kind, **more))


TEXT = TextDelta("Half a sentence")
THOUGHT = ReasoningDelta("Let me think.")
WHOLE_CALL = CallDelta(0, "call_1", "write", '{"path": "a"}')
CUT_CALL = CallDelta(1, "call_2", "write", '{"path": "b')
BAD_CALL = CallDelta(1, "call_2", "write", '{"path": b}')
MAX, END, TOOL = stop(R.MAX_TOKENS), stop(R.END_TURN), stop(R.TOOL_CALL)
SEQUENCE = stop(R.STOP_SEQUENCE)


def respond(*signals: Signal) -> Response:
    builder = Builder()
    for signal in signals:
        builder.feed(signal)
    return builder.build()


class Turn:
    """A turn of the machine: hears a response, and keeps state and text as a driver does."""

    def __init__(self, policy: Policy | None = None, **facts: Any) -> None:
        self.policy = policy or Policy()
        self.facts = Facts(**facts)
        self.state = State()
        self.kept_text = ""
        self.now_s = 0.0

    def hear(self, *signals: Signal, **facts: Any) -> Any:
        response = respond(*signals)
        new = facts.pop("new", response.text)
        self.kept_text += new
        given: dict[str, Any] = {"kept_text": self.kept_text, "new_chars": len(new)} | facts
        told = replace(self.facts, **given)
        self.state, action = step(self.state, response, told, self.policy, self.now_s)
        return action


def kinds(action: Send) -> list[type]:
    return [type(edit) for edit in action.edits]


def one(action: Send, kind: type) -> Any:
    (found,) = [edit for edit in action.edits if isinstance(edit, kind)]
    return found


def tokens_asked(action: Send) -> int:
    asked: int = one(action, SetOutputLimit).tokens
    return asked


# --- every rung and every guard ---------------------------------------------------------------


@dataclass(frozen=True)
class Situation:
    """All that `step` is given, so that one rung is taken."""

    signals: tuple[Signal, ...]
    facts: Facts = Facts()
    policy: Policy = Policy()
    state: State = field(default_factory=State)

    def __add__(self, other: dict[str, Any]) -> Situation:
        """The same, but for some facts, settings and parts of the state."""
        return Situation(
            other.get("signals", self.signals),
            replace(self.facts, **other.get("facts", {})),
            replace(self.policy, **other.get("policy", {})),
            replace(self.state, **other.get("state", {})),
        )

    def response(self) -> Response:
        return respond(*self.signals)

    def act(self) -> Send | Finish:
        return step(self.state, self.response(), self.facts, self.policy, 0.0)[1]

    def view(self) -> View:
        state = replace(self.state, attempts=self.state.attempts + 1)
        return View(state, self.response(), self.facts, self.policy, 0.0)


SAID = Facts(kept_text="Half a sentence", new_chars=15)
TAKES_PREFILL = replace(SAID, prefill=True)
BY_ITSELF = replace(SAID, content=({"token": "t"},), checkpoint=True)
MALFORMED_CALL = ToolCall("call_1", "write", '{"path": "a"}', Finding.WHOLE)
RUNS_WHOLE_CALLS: dict[str, Any] = {
    "facts": {"runnable": (MALFORMED_CALL,)},
    "policy": {"truncated_calls": "execute_complete"},
}
REPAIRED_ONCE = State(spent={Budget.TOOL_REPAIR: 1})
TORN = Facts(kept_text="Half a sentence")
"""An attempt that adds no text leaves the end of the text as it was."""
TORN_ONCE = replace(REPAIRED_ONCE, torn=True)
SHRINKS = State(spent={Budget.TOOL_REPAIR: 1, Budget.TOOL_ANSWER: 2}, call_chars=1_000)
PREFILLED = State(attempts=1, last_edits=(AppendAssistant("Half a sentence", prefill=True),))
CONTINUING = State(attempts=1, last_edits=(AppendAssistant("Half a sentence"),))
ANSWERED = AppendCalls("Half", (MALFORMED_CALL,), ("Error.",))
REPAIRING = State(attempts=1, last_edits=(AppendUser(hints.REPEAT_CALL, for_call=True),))
CUT_TWICE = ToolCall("call_2", "write", '{"path": "b', Finding.TRUNCATED)
ONE_OF_TWO = State(attempts=2, begun_calls=(CUT_TWICE, CUT_TWICE), came_calls=(MALFORMED_CALL,))
TWO = replace(
    ONE_OF_TWO,
    begun_calls=(replace(MALFORMED_CALL, name="read"), CUT_TWICE),
    spent={Budget.MISSING_CALL: 1},
)
SERVER_FAULT = fault(FaultKind.SERVER)
CUT_BATCH = Situation((WHOLE_CALL, CUT_CALL, MAX))
BAD_BATCH = Situation((WHOLE_CALL, BAD_CALL, END))
EMPTY = Situation((END,))
SPENT_REPHRASE = State(spent={Budget.REPHRASE: 1, Budget.NUDGE: 1})

BROKE = State(attempts=1, broke=True, last_edits=(AppendAssistant("Half a sentence"),))
STOPPED = replace(BROKE, broke=False, stopped=True)
BROKE_AGAIN = replace(BROKE, spent={Budget.FAULT_RETRY: 2})
OWES = Situation((TEXT, END), SAID, state=State(attempts=1, call_pending=True))
OWES_STILL = State(attempts=1, call_pending=True, spent={Budget.MISSING_CALL: 1})
UNMARKED = State(attempts=1, unmarked=1, broke=True, last_edits=BROKE.last_edits)
JUST_ENDED = (TransferEnded(),)

HALF = Facts(kept_text='{"half": "a sentence', structured=True)
REFUTED = replace(HALF, refuted=True)
AT_CEILING: dict[str, Any] = {"max_tokens": 100, "ceiling_tokens": 100}
"""The output limit can't be raised, so that a document is continued at once."""
NO_MORE = replace(CONTINUING, spent={Budget.CONTINUATION: 3})
UNMATCHED = Facts(kept_text='{"a": 1}', new_chars=8, structured=True, fits=False)

SITUATIONS: dict[tuple[Outcome, str], Situation] = {
    (Outcome.DONE, "hand_on_calls_beside_cut_text"): Situation(
        (WHOLE_CALL, END), TORN, state=TORN_ONCE
    ),
    (Outcome.DONE, "ask_for_owed_call"): OWES,
    (Outcome.DONE, "end_without_owed_call"): replace(OWES, state=OWES_STILL),
    (Outcome.DONE, "ask_for_valid_document"): Situation(
        (TEXT, END), UNMATCHED, Policy(invalid_documents="ask_again")
    ),
    (Outcome.DONE, "end_unmatched_document"): Situation(
        (TEXT, END), UNMATCHED, Policy(invalid_documents="error")
    ),
    (Outcome.DONE, "continue_document"): Situation(
        (TEXT, END), replace(HALF, new_chars=1), state=CONTINUING
    ),
    (Outcome.DONE, "accept_unmarked_end"): Situation(
        (TEXT, END), replace(SAID, new_chars=0), state=UNMARKED
    ),
    (Outcome.DONE, "accept_stopped_text"): Situation(
        (TEXT, END), replace(SAID, new_chars=0), state=STOPPED
    ),
    (Outcome.DONE, "ask_for_rest_in_other_words"): Situation(
        (TEXT, END), Facts(kept_text="Half a sentence"), state=BROKE
    ),
    (Outcome.DONE, "end_invalid_document"): Situation((TEXT, END), REFUTED, state=NO_MORE),
    (Outcome.DONE, "end_cut_document"): Situation((TEXT, END), HALF, state=NO_MORE),
    (Outcome.DONE, "end_without_rest"): Situation(
        (TEXT, END), Facts(kept_text="Half a sentence"), state=BROKE_AGAIN
    ),
    (Outcome.DONE, "end_without_news"): Situation(
        (TEXT, END), Facts(kept_text="Half a sentence"), state=CONTINUING
    ),
    (Outcome.TEXT_CUT, "raise_limit_and_let_provider_go_on"): Situation((TEXT, MAX), BY_ITSELF),
    (Outcome.TEXT_CUT, "hand_on_whole_calls"): Situation((WHOLE_CALL, TEXT, MAX), SAID)
    + RUNS_WHOLE_CALLS,
    (Outcome.TEXT_CUT, "accept_whole_document"): Situation(
        (TEXT, MAX), Facts(kept_text='{"a": 1}', structured=True)
    ),
    (Outcome.TEXT_CUT, "ask_for_document_again"): Situation(
        (TEXT, MAX), replace(HALF, max_tokens=10)
    ),
    (Outcome.TEXT_CUT, "continue_with_prefill"): Situation((TEXT, MAX), TAKES_PREFILL),
    (Outcome.TEXT_CUT, "continue_with_hint"): Situation((TEXT, MAX), SAID),
    (Outcome.TEXT_CUT, "end_invalid_document"): Situation((TEXT, MAX), REFUTED, state=NO_MORE),
    (Outcome.TEXT_CUT, "end_cut_document"): Situation((TEXT, MAX), HALF, state=NO_MORE),
    (Outcome.ARGUMENTS_CUT, "raise_limit_and_let_provider_go_on"): Situation(
        (WHOLE_CALL, MAX), BY_ITSELF
    ),
    (Outcome.ARGUMENTS_CUT, "hand_on_whole_calls"): CUT_BATCH + RUNS_WHOLE_CALLS,
    (Outcome.ARGUMENTS_CUT, "ask_for_call_again"): CUT_BATCH,
    (Outcome.ARGUMENTS_CUT, "ask_for_rest_and_call"): replace(
        CUT_BATCH, facts=TORN, state=TORN_ONCE
    ),
    (Outcome.ARGUMENTS_CUT, "answer_calls_as_failed"): replace(CUT_BATCH, state=REPAIRED_ONCE),
    (Outcome.ARGUMENTS_CUT, "answer_shrinking_calls"): replace(CUT_BATCH, state=SHRINKS),
    (Outcome.ARGUMENTS_MALFORMED, "hand_on_whole_calls"): BAD_BATCH + RUNS_WHOLE_CALLS,
    (Outcome.ARGUMENTS_MALFORMED, "ask_for_call_again"): BAD_BATCH,
    (Outcome.ARGUMENTS_MALFORMED, "ask_for_rest_and_call"): replace(
        BAD_BATCH, facts=TORN, state=TORN_ONCE
    ),
    (Outcome.ARGUMENTS_MALFORMED, "answer_calls_as_failed"): replace(
        BAD_BATCH, state=REPAIRED_ONCE
    ),
    (Outcome.ARGUMENTS_MALFORMED, "answer_shrinking_calls"): replace(BAD_BATCH, state=SHRINKS),
    (Outcome.CALLS_MISSING, "ask_for_other_calls"): Situation((TEXT, TOOL), SAID, state=ONE_OF_TWO),
    (Outcome.CALLS_MISSING, "hand_on_calls_of_both"): Situation((TEXT, TOOL), SAID, state=TWO),
    (Outcome.CALLS_MISSING, "hand_on_calls_that_came"): Situation(
        (TEXT, TOOL), SAID, state=replace(ONE_OF_TWO, spent={Budget.MISSING_CALL: 1})
    ),
    (Outcome.CALLS_MISSING, "ask_for_missing_call"): Situation((TEXT, TOOL), SAID),
    (Outcome.THINKING_CUT, "raise_limit_and_let_provider_go_on"): Situation(
        (THOUGHT, MAX), BY_ITSELF
    ),
    (Outcome.THINKING_CUT, "end_invalid_document"): Situation((MAX,), REFUTED, state=CONTINUING),
    (Outcome.THINKING_CUT, "end_cut_document"): Situation((MAX,), HALF, state=CONTINUING),
    (Outcome.THINKING_CUT, "end_at_white_space"): Situation(
        (MAX,), Facts(kept_text="Half a sentence"), state=CONTINUING
    ),
    (Outcome.THINKING_CUT, "lower_reasoning"): Situation(
        (THOUGHT, MAX), Facts(lower_reasoning=True)
    ),
    (Outcome.THINKING_CUT, "raise_limit_and_reason_less"): Situation((THOUGHT, MAX)),
    (Outcome.THINKING_ONLY, "ask_for_owed_call"): replace(OWES, signals=(THOUGHT, END)),
    (Outcome.THINKING_ONLY, "end_without_owed_call"): replace(
        OWES, signals=(THOUGHT, END), state=OWES_STILL
    ),
    (Outcome.THINKING_ONLY, "accept_unmarked_end"): Situation(
        (THOUGHT, END), replace(SAID, new_chars=0), state=UNMARKED
    ),
    (Outcome.THINKING_ONLY, "accept_stopped_text"): Situation(
        (THOUGHT, END), replace(SAID, new_chars=0), state=STOPPED
    ),
    (Outcome.THINKING_ONLY, "ask_for_rest_in_other_words"): Situation(
        (THOUGHT, END), SAID, state=BROKE
    ),
    (Outcome.THINKING_ONLY, "end_invalid_document"): Situation(
        (THOUGHT, END), REFUTED, state=CONTINUING
    ),
    (Outcome.THINKING_ONLY, "end_cut_document"): Situation((THOUGHT, END), HALF, state=CONTINUING),
    (Outcome.THINKING_ONLY, "end_without_rest"): Situation((THOUGHT, END), SAID, state=BROKE_AGAIN),
    (Outcome.THINKING_ONLY, "continue_from_reasoning"): Situation(
        (THOUGHT, END), Facts(reasoning_prefill=True, reasoning="Hm")
    ),
    (Outcome.THINKING_ONLY, "ask_for_answer"): Situation((THOUGHT, END)),
    (Outcome.THINKING_ONLY, "ask_again"): Situation(
        (THOUGHT, END), state=State(spent={Budget.NUDGE: 1})
    ),
    (Outcome.EMPTY, "ask_for_owed_call"): replace(OWES, signals=(END,)),
    (Outcome.EMPTY, "end_without_owed_call"): replace(OWES, signals=(END,), state=OWES_STILL),
    (Outcome.EMPTY, "accept_stop_sequence"): Situation(
        (SEQUENCE,), replace(SAID, new_chars=0), state=replace(PREFILLED, cut=True)
    ),
    (Outcome.EMPTY, "accept_unmarked_end"): Situation(
        (END,), replace(SAID, new_chars=0), state=UNMARKED
    ),
    (Outcome.EMPTY, "accept_stopped_text"): Situation(
        (END,), replace(SAID, new_chars=0), state=STOPPED
    ),
    (Outcome.EMPTY, "ask_for_rest_in_other_words"): replace(EMPTY, facts=SAID, state=BROKE),
    (Outcome.EMPTY, "end_invalid_document"): replace(EMPTY, facts=REFUTED, state=CONTINUING),
    (Outcome.EMPTY, "end_cut_document"): replace(EMPTY, facts=HALF, state=CONTINUING),
    (Outcome.EMPTY, "end_without_rest"): replace(EMPTY, facts=SAID, state=BROKE_AGAIN),
    (Outcome.EMPTY, "nudge_after_tool_result"): EMPTY + {"facts": {"after_tool_result": True}},
    (Outcome.EMPTY, "ask_without_tools"): replace(
        EMPTY + {"facts": {"tools": True, "tools_may_go": True}},
        policy=Policy(empty_without_tools=1),
    ),
    (Outcome.EMPTY, "pass_on_empty_answer"): replace(EMPTY, state=SPENT_REPHRASE)
    + {"facts": {"after_tool_result": True}},
    (Outcome.EMPTY, "ask_to_rephrase"): EMPTY + {"facts": {"tools": True}},
    (Outcome.EMPTY, "ask_again"): EMPTY,
    (Outcome.FAULT, "let_provider_go_on"): Situation((TEXT, SERVER_FAULT), BY_ITSELF),
    (Outcome.FAULT, "lower_output_limit"): Situation(
        (fault(FaultKind.OUTPUT_BUDGET_TOO_LARGE, allowed_tokens=100),)
    ),
    (Outcome.FAULT, "drop_rejected_keys"): Situation(
        (fault(FaultKind.UNKNOWN_KEY, keys=("user",)),), Facts(droppable=("user",))
    ),
    (Outcome.FAULT, "write_rows_as_required"): Situation(
        (fault(FaultKind.INVALID_REQUEST, wanted="reasoning_content"),), Facts(rows_differ=True)
    ),
    (Outcome.FAULT, "hint_instead_of_prefill"): Situation(
        (fault(FaultKind.PREFILL_REJECTED),), SAID, state=PREFILLED
    ),
    (Outcome.FAULT, "ask_instead_of_prefill"): Situation(
        (fault(FaultKind.PREFILL_REJECTED),), state=State(last_edits=(AppendReasoning("Hm"),))
    ),
    (Outcome.FAULT, "leave_to_sdk"): Situation((SERVER_FAULT,), Facts(http_error=True)),
    (Outcome.FAULT, "end_repeating_text"): Situation(
        (TEXT, StopSeen("repetition", "finish_reason", R.ERROR, "repetition")), SAID
    ),
    (Outcome.FAULT, "return_unmarked_text"): Situation(
        (fault(FaultKind.AUTHENTICATION),), replace(SAID, new_chars=0), state=UNMARKED
    ),
    (Outcome.FAULT, "accept_whole_document"): Situation(
        (TEXT, SERVER_FAULT), Facts(kept_text='{"a": 1}', structured=True)
    ),
    (Outcome.FAULT, "send_again"): Situation((SERVER_FAULT,)),
    (Outcome.FAULT, "ask_for_call_once_more"): Situation(
        (TEXT, SERVER_FAULT), TORN, state=REPAIRING
    ),
    (Outcome.FAULT, "ask_for_begun_call"): Situation((TEXT, CUT_CALL, SERVER_FAULT), SAID),
    (Outcome.FAULT, "ask_for_document_once_more"): Situation((TEXT, SERVER_FAULT), HALF),
    (Outcome.FAULT, "resume_with_prefill"): Situation((TEXT, SERVER_FAULT), TAKES_PREFILL),
    (Outcome.FAULT, "resume_with_hint"): Situation((TEXT, SERVER_FAULT), SAID),
    (Outcome.DROPPED, "let_provider_go_on"): Situation((TEXT,), BY_ITSELF),
    (Outcome.DROPPED, "accept_unmarked_end_again"): Situation(
        (TEXT, *JUST_ENDED), replace(SAID, new_chars=0), state=UNMARKED
    ),
    (Outcome.DROPPED, "accept_whole_document"): Situation(
        (TEXT,), Facts(kept_text='{"a": 1}', structured=True)
    ),
    (Outcome.DROPPED, "send_again"): Situation(()),
    (Outcome.DROPPED, "ask_for_call_once_more"): Situation((TEXT,), TORN, state=REPAIRING),
    (Outcome.DROPPED, "ask_for_begun_call"): Situation((TEXT, CUT_CALL), SAID),
    (Outcome.DROPPED, "ask_for_document_once_more"): Situation((TEXT,), HALF),
    (Outcome.DROPPED, "resume_with_prefill"): Situation((TEXT,), TAKES_PREFILL),
    (Outcome.DROPPED, "resume_with_hint"): Situation((TEXT,), SAID),
    (Outcome.DROPPED, "end_repeating_text"): Situation(
        JUST_ENDED, replace(SAID, new_chars=0, runaway=True), state=UNMARKED
    ),
    (Outcome.DROPPED, "return_unmarked_text"): Situation(
        JUST_ENDED,
        replace(SAID, new_chars=0),
        state=replace(UNMARKED, spent={Budget.FAULT_RETRY: 2}),
    ),
    (Outcome.PAUSED, "return_calls_of_pause"): Situation((TEXT, WHOLE_CALL, stop(R.PAUSED))),
    (Outcome.PAUSED, "send_paused_turn_back"): Situation(
        (TEXT, stop(R.PAUSED)), Facts(kept_text="Half", content=({"type": "text", "text": "Half"},))
    ),
}

NOT_SO: dict[str, dict[str, Any]] = {
    "the turn may be recovered": {"facts": {"left_alone": "logprobs"}},
    "time is left": {"facts": {"timeout_s": 0.0}},
    "time is left to try again": {"facts": {"timeout_s": 0.0}},
    "output tokens are left": {"state": {"output_tokens": 10**9}},
    "output tokens are left to try again": {"state": {"output_tokens": 10**9}},
    "the text is within the character limit": {"policy": {"continuation_max_output_chars": 14}},
    "the context window has room": {
        "facts": {"input_tokens": 0},
        "policy": {"context_window_tokens": 511},
    },
    "the text makes progress": {"facts": {"runaway": True}},
    "the text does not end in a repetition": {"facts": {"runaway": True}},
    "the text ends in a repetition": {"facts": {"runaway": False}},
    "the provider stopped the model because it repeated itself": {"signals": (TEXT, SERVER_FAULT)},
    "the provider gave what it needs to go on from here by itself": {
        "facts": {"checkpoint": False}
    },
    "no tool call of the answer is broken": {"signals": (WHOLE_CALL, CUT_CALL, MAX)},
    "there is text so far": {"facts": {"kept_text": " "}},
    "the text so far was not cut at its end": {
        "facts": {"kept_text": "Half a sentence", "new_chars": 0},
        "state": {"torn": True},
    },
    "the text so far was cut at its end": {"state": {"torn": False}},
    "the text so far was cut inside a sentence, and the answer adds none": {
        "facts": {"kept_text": "A whole sentence."}
    },
    "there is text so far, or no refusal": {
        "signals": (RefusalDelta("I can"), MAX),
        "facts": {"kept_text": ""},
    },
    "there is text so far, or nothing that the provider ran": {
        "signals": (OtherSeen(), MAX),
        "facts": {"kept_text": ""},
    },
    "there is no text so far": {"facts": {"kept_text": "kept"}},
    "there is no text so far, or nothing came since a pause": {"facts": {"kept_text": "kept"}},
    "the answer holds nothing that the provider ran": {"signals": (OtherSeen(),)},
    "the model accepts a prefill": {"facts": {"prefill": False}},
    "the last request used a prefill": {"state": {"last_edits": (AppendAssistant("Half"),)}},
    "the provider rejected the prefill": {"signals": (SERVER_FAULT,)},
    "the provider waits for the paused turn to come back": {
        "signals": (TEXT, StopSeen("queued", "status", R.PAUSED, "background"))
    },
    "there is content to send back": {"facts": {"content": ()}},
    "the paused answer added something, or the text does not end in white space": {
        "facts": {"kept_text": "Half ", "new_chars": 0}
    },
    "the answer holds no tool calls": {"signals": (TEXT, WHOLE_CALL, stop(R.PAUSED))},
    "the answer holds tool calls, and all are complete": {
        "signals": (TEXT, CUT_CALL, stop(R.PAUSED))
    },
    "the provider takes the paused turn back only with the results of its calls": {
        "signals": (
            TEXT,
            WHOLE_CALL,
            StopSeen("CONTINUATION", "finishReason", R.PAUSED, "resumable"),
        )
    },
    "the answer holds tool calls": {"signals": (stop(R.MALFORMED_TOOL_CALL),)},
    "the answer ends in tool calls": {"signals": (WHOLE_CALL, TEXT, SERVER_FAULT)},
    "the broken tool call is smaller than the one before": {"state": {"call_chars": 1}},
    "the last two answers were not both counted as zero tokens": {
        "signals": (UsageSeen(Tokens(1, 0)), END),
        "state": {"nothing_made": 2},
    },
    "the policy allows complete tool calls of a cut answer": {
        "policy": {"truncated_calls": "refuse"}
    },
    "some tool calls are complete and valid": {"facts": {"runnable": ()}},
    "the model can continue from its reasoning, and there is new reasoning": {
        "facts": {"reasoning": " "}
    },
    "the last request used reasoning as a prefill": {"state": {"last_edits": ()}},
    "the request has a setting for less reasoning": {"facts": {"lower_reasoning": False}},
    "the policy recovers empty answers, and the model can be told so": {
        "policy": {"empty_recovery": False}
    },
    "the request ends in a tool result": {"facts": {"after_tool_result": False}},
    "the request offers tools": {"facts": {"tools": False}},
    "the request demands no call, and the provider accepts it without the tools that it offers": {
        "facts": {"tools_may_go": False}
    },
    "the answer ended cleanly": {"signals": (Ended(),)},
    "no limit of the policy was exceeded": {"signals": (fault(FaultKind.LIMIT),)},
    "a retry can help": {"signals": (fault(FaultKind.AUTHENTICATION),)},
    "a retry cannot help": {"signals": (SERVER_FAULT,)},
    "the first attempt failed with an HTTP status": {"facts": {"http_error": False}},
    "the provider names an output limit that was not tried yet": {
        "signals": (fault(FaultKind.OUTPUT_BUDGET_TOO_LARGE),)
    },
    "all keys that the provider rejected may be left out": {"facts": {"droppable": ()}},
    "the error says what the added rows must or must not hold": {"facts": {"rows_differ": False}},
    "the continuation added nothing": {"facts": {"new_chars": 1}},
    "there is no reasoning": {"signals": (THOUGHT, MAX)},
    "the last request asked for a tool call": {"state": {"last_edits": (AppendUser(hints.EMPTY),)}},
    "the last request asked for text": {"state": {"last_edits": (ANSWERED,)}},
    "an answer ended without an end mark, and it is not known whether this provider sends one": {
        "facts": {"marks_ends": True}
    },
    "a stop came before the answer broke off": {"state": {"stopped": False}},
    "the text broke off earlier": {"state": {"broke": False}},
    "a tool call was begun earlier and never arrived": {"state": {"call_pending": False}},
    "another answer ended without an end mark and added nothing": {"facts": {"marks_ends": True}},
    "the text ends with a closing mark, or the policy does not ask for certainty": {
        "policy": {"on_incomplete": "error"}
    },
    "the request wants a document, and the text is a whole one": {
        "facts": {"kept_text": '{"a": 1'}
    },
    "the answer to a request for more of a cut text is only a stop sequence": {"signals": (END,)},
    "some of several tool calls that were owed came": {"state": {"came_calls": ()}},
    "the tool calls that were owed came in several answers": {
        "state": {"begun_calls": ONE_OF_TWO.begun_calls}
    },
    "nothing is known to be missing": {"state": {"call_missing": True}},
    "the text is not the document that the request asks for": {
        "facts": {"kept_text": '{"half": "a"}'}
    },
    "the request wants a document": {"facts": {"one_of_words": True}},
    "the policy does not pass on documents that do not match their schema, and this one doesn't": {
        "policy": {"invalid_documents": "pass"}
    },
    "the policy asks for such documents again, and the caller has none of it yet": {
        "facts": {"shown": True}
    },
    "the output limit can be raised, and was not raised for a continuation": {
        "facts": {"max_tokens": 100, "ceiling_tokens": 100}
    },
    "the document was not requested again just now": {"state": {"attempts": 1}},
    "the answer is no document, or one that can be checked": {
        "facts": {"structured": True, "checkable": False}
    },
    "what completed the document does not match the schema": {"facts": {"refuted": False}},
}
"""What makes each guard fail, by its name."""

NEVER_FAILS = {
    # A drop carries no fault, so nothing says that a retry cannot help: the rungs are shared.
    (Outcome.DROPPED, "a retry can help"),
    (Outcome.DROPPED, "no limit of the policy was exceeded"),
    # Without calls only a stop of the provider's own says malformed.
    (Outcome.ARGUMENTS_CUT, "the answer holds tool calls"),
}

RUNGS = [(outcome, rung) for outcome, ladder in LADDERS.items() for rung in ladder]
GUARDS = [
    (outcome, rung, guard)
    for outcome, rung in RUNGS
    for guard in rung.guards
    if (outcome, guard.name) not in NEVER_FAILS
]


def test_there_is_a_situation_for_every_rung_and_a_failure_for_every_guard() -> None:
    assert [(outcome, rung.id) for outcome, rung in RUNGS] == list(SITUATIONS)
    assert {guard.name for _, rung in RUNGS for guard in rung.guards} == set(NOT_SO)


def name_of(value: Any) -> str:
    """Names an outcome, a rung or a guard in the name of a test."""
    return str(getattr(value, "id", getattr(value, "name", value)))


@pytest.mark.parametrize(("outcome", "rung"), RUNGS, ids=name_of)
def test_every_rung_is_taken_in_its_situation(outcome: Outcome, rung: Rung) -> None:
    situation = SITUATIONS[outcome, rung.id]
    assert classify(situation.response()) is outcome
    action = situation.act()
    assert action.rung == rung.id
    assert isinstance(action, Finish if rung.edits is None else Send)


@pytest.mark.parametrize(("outcome", "rung", "guard"), GUARDS, ids=name_of)
def test_no_rung_is_taken_where_one_of_its_guards_fails(
    outcome: Outcome, rung: Rung, guard: Guard
) -> None:
    situation = SITUATIONS[outcome, rung.id]
    assert guard.holds(situation.view())
    changed = situation + NOT_SO[guard.name]
    assert not guard.holds(changed.view())
    assert changed.act().rung != rung.id


@pytest.mark.parametrize(("outcome", "rung"), RUNGS, ids=name_of)
def test_no_rung_is_taken_when_its_budget_is_spent_or_set_to_0(
    outcome: Outcome, rung: Rung
) -> None:
    if rung.budget is None:
        return
    situation, key = SITUATIONS[outcome, rung.id], LIMITS[rung.budget]
    limit = getattr(situation.policy, key)
    spent = {**situation.state.spent, rung.budget: limit}
    assert (situation + {"state": {"spent": spent}}).act().rung != rung.id
    assert (situation + {"policy": {key: 0}}).act().rung != rung.id


def test_every_outcome_has_a_ladder_and_an_ending_and_every_budget_a_setting() -> None:
    assert set(LADDERS) == set(ENDINGS) == OF_TURNS
    assert set(LIMITS) == set(Budget)
    assert all(RULES[key].kind is int and RULES[key].least == 0 for key in LIMITS.values())
    assert {rung.budget for _, rung in RUNGS} - {None} == set(Budget)
    names = [rung.id for _, rung in RUNGS]
    assert len({rung.sentence for _, rung in RUNGS}) == len(SENTENCES), "an id says one thing"
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", name) for name in names)
    for ladder in LADDERS.values():
        assert len({rung.id for rung in ladder}) == len(ladder)
    assert "stop" not in names, "the word by which `decide` ends a turn"


def test_every_reason_has_its_advice() -> None:
    reasons = {ending.reason for ending in ENDINGS.values()}
    reasons |= {rung.ends[1] for _, rung in RUNGS if rung.ends}
    reasons |= {guard.ends_as for _, rung in RUNGS for guard in rung.guards if guard.ends_as}
    assert reasons | {"stopped"} <= set(ADVICE)


# --- text -------------------------------------------------------------------------------------


@pytest.mark.behaviour("C1")
def test_cut_text_is_continued_to_a_complete_turn() -> None:
    turn = Turn()
    sent = turn.hear(TextDelta("part 1 "), MAX)
    assert kinds(sent) == [AppendAssistant, AppendUser, SetOutputLimit, FreeToolChoice]
    assert one(sent, AppendAssistant).text == "part 1"
    assert one(sent, AppendUser).text == hints.CONTINUE
    done = turn.hear(TextDelta("part 2"), END)
    assert (done.status, done.reason, done.shown) == (Status.COMPLETE, "completed", Outcome.DONE)
    assert turn.state.attempts == 2


@pytest.mark.behaviour("C1", "C6", "P1")
@pytest.mark.parametrize(
    ("came", "reason"),
    [
        (RefusalDelta("I can"), "refused"),
        (OtherSeen(), "tool_call_truncated"),
    ],
    ids=["refusal", "search"],
)
def test_what_was_cut_before_any_text_is_not_told_as_tried_again(came: Any, reason: str) -> None:
    done = Turn().hear(came, MAX)
    assert (done.status, done.reason, done.shown) == (Status.PARTIAL, reason, Outcome.TEXT_CUT)
    assert kinds(Turn().hear(came, TextDelta("Half a "), MAX))[0] is AppendAssistant


@pytest.mark.behaviour("C2")
def test_after_three_continuations_the_turn_is_partial() -> None:
    turn = Turn(max_tokens=1_000)
    for text in "ABC":
        assert isinstance(turn.hear(TextDelta(text), MAX, output_tokens=10), Send)
    end = turn.hear(TextDelta("D"), MAX, output_tokens=10)
    assert (end.status, end.reason, end.shown) == (
        Status.PARTIAL,
        "retry_limit",
        Outcome.TEXT_CUT,
    )
    assert turn.kept_text == "ABCD"


@pytest.mark.behaviour("C3")
def test_beyond_the_output_cap_no_continuation_starts() -> None:
    policy = Policy(continuation_max_output_chars=10)
    assert isinstance(Turn(policy).hear(TextDelta("x" * 10), MAX), Send)
    end = Turn(policy).hear(TextDelta("x" * 11), MAX)
    assert (end.status, end.reason) == (Status.PARTIAL, "output_cap")
    assert isinstance(
        Turn(Policy(continuation_max_output_chars=0)).hear(TextDelta("xy" * 99_999), MAX), Send
    )
    assert Turn().hear(TextDelta("x" * 120_001), MAX).reason == "output_cap"


@pytest.mark.behaviour("C4", "C17")
def test_boosted_limits_are_multiples_of_the_base_within_what_is_left() -> None:
    turn = Turn(max_tokens=1_000)
    asked = [
        tokens_asked(turn.hear(TextDelta(t), MAX, output_tokens=n))
        for t, n in (("A", 1_000), ("B", 100), ("C", 100))
    ]
    assert asked == [2_000, 2_900, 2_800], "base × 2, × 3 and × 4, clamped to 4 × 1,000 in all"
    turn = Turn(max_tokens=1_000)
    assert tokens_asked(turn.hear(TextDelta("A"), MAX, output_tokens=1_000)) == 2_000
    assert tokens_asked(turn.hear(TextDelta("B"), MAX, output_tokens=2_000)) == 1_000
    end = turn.hear(TextDelta("C"), MAX, output_tokens=1_000)
    assert (end.status, end.reason) == (Status.PARTIAL, "budget_exhausted")


@pytest.mark.behaviour("C17", "C4a")
@pytest.mark.parametrize(
    ("facts", "policy", "used", "wanted"),
    [
        ({"max_tokens": 1_000}, {}, 900, 2_000),
        ({}, {}, 900, 4_096),  # without a limit, the larger of 4,096
        ({}, {}, 1_025, 4_100),  # and of 4 × what came
        ({}, {}, 0, 4_096),
        ({}, {"default_max_tokens": 50}, 0, 50),
        ({}, {}, 65_536, 32_768),  # and no more than this
        ({}, {"boost_max_tokens": 500}, 900, 500),
        ({}, {"hard_max_tokens": 20_000}, 65_536, 20_000),
        ({"ceiling_tokens": 20_000}, {}, 65_536, 20_000),
        ({}, {"continuation_max_total_completion_tokens": 80_000}, 65_536, 14_464),
        ({"max_tokens": 30_000}, {}, 900, 32_768),
        ({"max_tokens": 50_000}, {}, 900, 50_000),  # never below what was asked
        ({"least_tokens": 16}, {"default_max_tokens": 6}, 1, 16),  # no less than the wire accepts
        ({"max_tokens": 1_000}, {"boost_max_tokens": 1_500}, 900, 1_500),
        ({"max_tokens": 1_000}, {"hard_max_tokens": 800}, 500, 800),
        ({"max_tokens": 1_000, "ceiling_tokens": 1_200}, {}, 900, 1_200),
        ({"max_tokens": 1_000}, {"continuation_max_total_completion_tokens": 950}, 900, 50),
        ({"max_tokens": 1_000}, {"continuation_max_total_completion_tokens": 0}, 9_999, 2_000),
    ],
)
def test_the_next_output_limit(facts, policy, used, wanted) -> None:
    turn = Turn(Policy(**policy), **facts)
    told = (UsageSeen(Tokens(9, used)),) if used else ()
    assert tokens_asked(turn.hear(TEXT, MAX, *told, output_tokens=used)) == wanted


@pytest.mark.behaviour("C4a")
def test_without_a_limit_each_cut_allows_four_times_what_came_so_far() -> None:
    turn = Turn()
    assert tokens_asked(turn.hear(TEXT, MAX, output_tokens=2_000)) == 8_000
    assert tokens_asked(turn.hear(TextDelta("and more"), MAX, output_tokens=5_000)) == 28_000
    assert tokens_asked(turn.hear(TextDelta("and on"), MAX, output_tokens=28_000)) == 32_768


@pytest.mark.behaviour("C4a")
@pytest.mark.parametrize("came", [(TEXT,), (CUT_CALL, TOOL), (BAD_CALL, TOOL)])
def test_where_no_limit_cut_the_answer_the_next_request_has_none(came) -> None:
    for tokens in (5, 9_000):
        action = Turn().hear(*came, output_tokens=tokens)
        assert action.edits
        assert SetOutputLimit not in kinds(action)
        bounded = Turn(Policy(hard_max_tokens=700)).hear(*came, output_tokens=tokens)
        assert tokens_asked(bounded) == 700, "the policy's own limit holds"


@pytest.mark.behaviour("C4a")
def test_once_the_providers_limit_has_cut_a_break_is_resumed_within_a_larger_one() -> None:
    turn = Turn()
    turn.hear(TEXT, MAX, output_tokens=20)
    assert tokens_asked(turn.hear(TextDelta("and more"), output_tokens=10)) == 4_096


@pytest.mark.behaviour("C4a", "C4")
def test_a_turn_without_a_limit_is_over_when_its_total_is_spent() -> None:
    turn = Turn(Policy(boost_max_tokens=1_000))
    assert isinstance(turn.hear(TEXT, output_tokens=3_999), Send)
    turn = Turn(Policy(continuation_max_total_completion_tokens=500))
    assert turn.hear(TEXT, MAX, output_tokens=500).reason == "budget_exhausted"


@pytest.mark.behaviour("E6", "C4a")
def test_a_provider_that_counts_zero_for_words_proves_no_answer_empty() -> None:
    zero = UsageSeen(Tokens(9, 0))
    turn = Turn(Policy(empty_retries=5, fault_retries=5))
    turn.hear(ReasoningDelta("Hm."), zero, END, output_tokens=1)
    for _ in range(3):
        assert isinstance(turn.hear(zero, END), Send)


@pytest.mark.behaviour("C5", "S3")
def test_a_fault_in_a_continuation_is_resumed_and_then_keeps_the_text() -> None:
    turn = Turn()
    turn.hear(TextDelta("Kept. "), MAX)
    for number in range(2):
        sent = turn.hear(SERVER_FAULT)
        assert (sent.rung, sent.recovery) == ("resume_with_hint", Recovery.CONTINUATION), number
        assert one(sent, AppendAssistant).text == "Kept."
    end = turn.hear(SERVER_FAULT)
    assert (end.status, end.reason) == (Status.PARTIAL, "provider_error")
    assert end.shown is Outcome.TEXT_CUT, "a native stop for it exists: the text was cut before"


@pytest.mark.behaviour("C6", "E12")
@pytest.mark.parametrize(
    ("reason", "ended_as"),
    [
        (R.SAFETY_BLOCKED, "safety_blocked"),
        (R.REFUSAL, "refused"),
        (R.CONTEXT_WINDOW_EXCEEDED, "context_window"),
        (R.UNKNOWN, "unknown_stop"),
        (R.CANCELLED, "cancelled"),
    ],
)
def test_what_is_never_continued_ends_at_once(reason, ended_as) -> None:
    end = Turn(prefill=True, tools=True).hear(TEXT, stop(reason))
    assert (end.status, end.reason) == (Status.PARTIAL, ended_as)


@pytest.mark.behaviour("C7", "C10")
def test_white_space_at_the_end_and_blank_text_are_left_out_of_the_request() -> None:
    sent = Turn(prefill=True).hear(TextDelta("def f():\n    "), MAX)
    assert one(sent, AppendAssistant) == AppendAssistant("def f():", prefill=True)
    for said in ("", " \n", "<think>hm</think>\n", "<think>hm"):
        sent = Turn().hear(CUT_CALL, MAX, new=said)
        assert AppendAssistant not in kinds(sent)
        assert Turn().hear(new=said).rung == "send_again"


@pytest.mark.behaviour("C11")
def test_reasoning_that_used_the_whole_limit_is_lowered_once_and_stays_low() -> None:
    turn = Turn(lower_reasoning=True, max_tokens=100)
    sent = turn.hear(THOUGHT, MAX, output_tokens=100)
    assert kinds(sent) == [SetOutputLimit, LowerReasoning] or kinds(sent) == [
        LowerReasoning,
        SetOutputLimit,
    ]
    assert tokens_asked(sent) == 200
    after = turn.hear(TEXT, MAX, output_tokens=100)
    assert one(after, LowerReasoning) == LowerReasoning(), "it would use up the next limit as well"
    turn = Turn(lower_reasoning=True)
    turn.hear(THOUGHT, MAX)
    end = turn.hear(THOUGHT, MAX)
    assert (end.status, end.reason) == (Status.PARTIAL, "reasoning_budget")
    assert "reasoning" in ADVICE[end.reason].sentence.lower()
    assert one(Turn().hear(THOUGHT, MAX), AppendUser).text == hints.REASON_LESS


@pytest.mark.behaviour("C12")
def test_no_continuation_where_the_context_window_is_nearly_full() -> None:
    def end(window: int, policy: Policy | None = None) -> Any:
        turn = Turn(replace(policy or Policy(), context_window_tokens=window), input_tokens=900)
        return turn.hear(TEXT, MAX, output_tokens=100)

    assert isinstance(end(1_512), Send)
    assert (end(1_511).status, end(1_511).reason) == (Status.PARTIAL, "context_window")
    assert isinstance(end(1_000, Policy(context_min_free_tokens=0)), Send)


@pytest.mark.behaviour("C13")
def test_text_that_is_runaway_or_adds_nothing_is_not_continued() -> None:
    assert Turn().hear(TEXT, MAX, runaway=True).reason == "runaway"
    for last in (MAX, END):
        turn = Turn()
        turn.hear(TEXT, MAX)
        end = turn.hear(TEXT, TEXT, last, new="")
        assert (end.status, end.reason, end.shown) == (
            Status.PARTIAL,
            "runaway",
            Outcome.TEXT_CUT,
        )
    assert "without adding anything new" in advice_on("runaway", None), "nothing repeats itself"


@pytest.mark.behaviour("C24")
def test_a_continuation_may_come_back_with_calls() -> None:
    turn = Turn()
    turn.hear(TextDelta("A whole sentence."), MAX)
    assert turn.hear(WHOLE_CALL, TOOL).status is Status.COMPLETE
    turn = Turn()
    turn.hear(TEXT, MAX)
    end = turn.hear(WHOLE_CALL, TOOL)  # beside half a sentence (C24a)
    assert (end.status, len(end.calls)) == (Status.PARTIAL, 1)
    turn = Turn()
    turn.hear(TEXT, MAX)
    sent = turn.hear(CUT_CALL, MAX)
    assert sent.recovery is Recovery.TOOL_REPAIR
    assert one(sent, AppendAssistant).text == "Half a sentence"


@pytest.mark.behaviour("C28")
def test_what_is_left_alone_is_never_sent_again() -> None:
    for situation in SITUATIONS.values():
        end = (situation + {"facts": {"left_alone": "several_choices"}}).act()
        assert isinstance(end, Finish)
    end = Turn(left_alone="logprobs").hear(TEXT, MAX)
    assert (end.status, end.reason) == (Status.PARTIAL, "left_alone")


@pytest.mark.behaviour("C29")
def test_a_turn_has_a_limit_by_the_clock() -> None:
    turn = Turn(Policy(turn_timeout_s=60))
    turn.now_s = 100.0  # the time of the first attempt is its caller's matter (C29a)
    assert isinstance(turn.hear(TEXT, MAX), Send)
    turn.now_s = 159.9
    assert isinstance(turn.hear(TEXT, MAX), Send)
    turn.now_s = 160
    end = turn.hear(TEXT, MAX)
    assert (end.status, end.reason) == (Status.PARTIAL, "time_limit")
    turn = Turn(Policy(turn_timeout_s=0), timeout_s=None)
    turn.now_s = 1e9
    assert isinstance(turn.hear(TEXT, MAX), Send)
    turn = Turn(timeout_s=5.0)
    turn.now_s = 5.0
    assert turn.hear(TEXT, MAX).reason == "time_limit"


@pytest.mark.behaviour("C29", "P5")
def test_a_wait_that_would_pass_the_limit_is_not_begun() -> None:
    slow = fault(FaultKind.RATE_LIMITED, retry_after_s=30.0)
    assert Turn(Policy(turn_timeout_s=31)).hear(slow).wait_s == 30
    end = Turn(Policy(turn_timeout_s=30)).hear(slow)
    assert (end.status, end.reason) == (Status.FAILED, "provider_error")


def test_structured_output_is_continued_without_its_constraint() -> None:
    sent = Turn(structured=True, **AT_CEILING).hear(TextDelta('{"a": [1,'), MAX)
    assert kinds(sent)[-2:] == [FreeToolChoice, DropConstraint]
    assert one(sent, AppendUser).text == hints.CONTINUE_DOCUMENT


# --- calls ------------------------------------------------------------------------------------


@pytest.mark.behaviour("T3", "T4", "T5")
def test_a_broken_batch_is_asked_for_again_then_answered_then_given_up() -> None:
    turn = Turn(max_tokens=100)
    again = turn.hear(TEXT, WHOLE_CALL, CUT_CALL, MAX, output_tokens=10)
    assert kinds(again) == [AppendAssistant, AppendUser, SetOutputLimit]
    assert (one(again, AppendUser).text, tokens_asked(again)) == (hints.REPEAT_CALLS, 200)
    for budget in (300, 370):
        failed = turn.hear(WHOLE_CALL, CUT_CALL, MAX, output_tokens=10)
        assert kinds(failed) == [AppendCalls, SetOutputLimit]
        rows = one(failed, AppendCalls)
        assert [call.id for call in rows.calls] == ["call_1", "call_2"]
        assert rows.results == (hints.CALL_SKIPPED_RESULT, hints.CALL_CUT_RESULT)
        assert tokens_asked(failed) == budget
    end = turn.hear(WHOLE_CALL, CUT_CALL, MAX, output_tokens=10)
    assert (end.status, end.reason) == (Status.PARTIAL, "tool_call_truncated")
    assert not end.whole_calls_only


@pytest.mark.behaviour("T2", "T14")
def test_a_malformed_call_is_told_so_in_other_words() -> None:
    for signals in ((BAD_CALL, TOOL), (BAD_CALL, END), (stop(R.MALFORMED_TOOL_CALL),)):
        sent = Turn(tools=True).hear(*signals)
        assert one(sent, AppendUser).text == hints.REPAIR_CALL
    assert one(Turn().hear(CUT_CALL, TOOL), AppendUser).text == hints.REPEAT_CALL
    bad = respond(BAD_CALL, TOOL).calls
    assert failed_results(bad) == (hints.CALL_MALFORMED_RESULT,)
    malformed = fault(FaultKind.MALFORMED_CALL)
    assert Turn().hear(malformed).rung == "ask_for_call_again"


@pytest.mark.behaviour("T2")
def test_without_tools_a_refused_call_is_answered_by_a_request_for_words() -> None:
    for signal in (stop(R.MALFORMED_TOOL_CALL), fault(FaultKind.MALFORMED_CALL)):
        asked = one(Turn().hear(signal), AppendUser)
        assert (asked.text, asked.for_call) == (hints.ANSWER_IN_WORDS, False)


@pytest.mark.behaviour("T3")
def test_whole_calls_of_a_batch_that_the_limit_cut_do_not_run() -> None:
    sent = Turn().hear(WHOLE_CALL, MAX)
    assert one(sent, AppendUser).text == hints.REPEAT_CALL
    policy = Policy(continuation_tool_repair_attempts=0)
    rows = one(Turn(policy).hear(WHOLE_CALL, MAX), AppendCalls)
    assert rows.results == (hints.CALL_CUT_RESULT,)


@pytest.mark.behaviour("T3")
def test_execute_complete_hands_on_what_may_run() -> None:
    policy = Policy(truncated_calls="execute_complete")
    runnable = (MALFORMED_CALL,)
    end = Turn(policy).hear(WHOLE_CALL, CUT_CALL, MAX, runnable=runnable)
    assert (end.status, end.reason) == (Status.PARTIAL, "tool_call_truncated")
    assert end.whole_calls_only
    end = Turn(policy).hear(WHOLE_CALL, BAD_CALL, TOOL, runnable=runnable)
    assert (end.reason, end.whole_calls_only) == ("tool_call_malformed", True)
    assert isinstance(Turn(policy).hear(WHOLE_CALL, CUT_CALL, MAX), Send), "none fits its tool"


@pytest.mark.behaviour("T7")
def test_a_good_turn_gives_back_the_tries_that_count_in_a_row() -> None:
    broken, good = (CUT_CALL, MAX), (WHOLE_CALL, TOOL)
    policy = Policy(continuation_tool_repair_attempts=0)
    turn = Turn(policy)
    for signals in (broken, good, broken, good, broken):
        action = turn.hear(*signals)
        assert isinstance(action, Send) == (signals is broken)
        assert not isinstance(action, Finish) or action.status is Status.COMPLETE
    assert turn.hear(TextDelta("Done."), END).status is Status.COMPLETE
    turn = Turn(policy)
    assert [type(turn.hear(*broken)) for _ in range(3)] == [Send, Send, Finish]


@pytest.mark.behaviour("T10")
def test_text_and_calls_have_budgets_of_their_own() -> None:
    policy = Policy(
        continuation_max_attempts=1, continuation_tool_repair_attempts=1, tool_answer_attempts=0
    )
    turn = Turn(policy, max_tokens=100)
    first = turn.hear(TEXT, MAX)
    second = turn.hear(CUT_CALL, MAX)
    assert (first.recovery, second.recovery) == (Recovery.CONTINUATION, Recovery.TOOL_REPAIR)
    assert [edit.text for edit in second.edits if isinstance(edit, AppendUser)] == [
        hints.REST_THEN_CALL
    ], "a hint is replaced, not stacked; the text is still without its rest"
    assert tokens_asked(second) == 300
    assert turn.state.spent == {Budget.CONTINUATION: 1, Budget.TOOL_REPAIR: 1}


@pytest.mark.behaviour("E8")
def test_a_call_that_was_announced_and_did_not_come_is_asked_for_once() -> None:
    turn = Turn()
    sent = turn.hear(TEXT, TOOL)
    assert one(sent, AppendUser).text == hints.CALL_MISSING
    end = turn.hear(TOOL)
    assert (end.status, end.reason) == (Status.PARTIAL, "tool_calls_missing")
    assert isinstance(Turn(Policy(empty_recovery=False)).hear(TOOL), Send)


# --- empty answers ----------------------------------------------------------------------------


@pytest.mark.behaviour("E1", "E5")
@pytest.mark.parametrize("text", ["", " \n", "<think>hm</think>", "<think>hm"])
def test_an_empty_answer_is_asked_for_again_and_is_never_complete(text) -> None:
    turn = Turn(Policy(empty_retries=3, empty_nudges=3))
    before: Any = ()
    for _ in range(6 if "think" in text else 3):  # behind reasoning the nudges come first
        sent = turn.hear(TextDelta(text), END, new="")
        assert sent.recovery is Recovery.EMPTY
        assert sent.edits != before, "a retry must differ"
        before = sent.edits
    end = turn.hear(TextDelta(text), END, new="")
    assert (end.status, end.reason) == (Status.FAILED, "empty_output")
    assert Turn().hear(WHOLE_CALL, TOOL).status is Status.COMPLETE


@pytest.mark.behaviour("E11")
def test_a_second_empty_answer_to_a_tool_result_is_passed_on() -> None:
    turn = Turn(after_tool_result=True, tools=True)
    assert one(turn.hear(END), AppendUser).text == hints.AFTER_TOOL_RESULT
    end = turn.hear(END)
    assert (end.status, end.reason) == (Status.PARTIAL, "empty_after_tool_result")
    assert end.as_received


def test_an_empty_answer_with_tools_attached_is_asked_for_in_other_words() -> None:
    sent = Turn(tools=True).hear(END)
    assert sent.edits == (
        AppendAssistant(hints.EMPTY_WITH_TOOLS_NOTE),
        AppendUser(hints.EMPTY_WITH_TOOLS),
    )


def test_empty_recovery_is_switched_off_as_a_group() -> None:
    policy = Policy(empty_recovery=False)
    for signals in ((END,), (THOUGHT, END)):
        end = Turn(policy, tools=True).hear(*signals)
        assert (end.status, end.reason) == (Status.FAILED, "empty_output")


# --- faults -----------------------------------------------------------------------------------


@pytest.mark.behaviour("P5")
def test_waits_double_up_to_their_limit_and_retry_after_is_honoured() -> None:
    def waits(count: int, *signals: Signal, **policy: Any) -> list[float]:
        turn = Turn(Policy(**policy))
        return [turn.hear(*signals).wait_s for _ in range(count)]

    assert waits(4, SERVER_FAULT, fault_retries=4, backoff_max_s=3.0) == [0.5, 1.0, 2.0, 3.0]
    assert waits(2) == [0.5, 1.0]
    assert waits(1, SERVER_FAULT, backoff_s=0) == [0.0]
    for asked, waited in ((5.0, 5.0), (119.0, 119.0), (120.0, 120.0), (0.0, 0.0), (-1.0, 0.0)):
        assert waits(1, fault(FaultKind.RATE_LIMITED, retry_after_s=asked)) == [waited]
    assert waits(1, fault(FaultKind.RATE_LIMITED, retry_after_s=float("nan"))) == [0.5]
    assert waits(1, END) == [0.5], "an empty answer"
    assert waits(1, THOUGHT, END) == [0.0]


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize(
    ("asked", "policy"),
    [
        (120.5, {}),
        (500.0, {}),
        (float("inf"), {}),
        (9.0, {"retry_after_max_s": 2.0}),
        (0.5, {"retry_after_max_s": 0.0}),
    ],
)
def test_a_wait_that_is_told_beyond_the_cap_is_not_begun(asked, policy) -> None:
    slow = fault(FaultKind.RATE_LIMITED, retry_after_s=asked)
    end = Turn(Policy(**policy)).hear(slow)
    assert (end.status, end.reason) == (Status.FAILED, "provider_error")
    turn = Turn(Policy(**policy))
    turn.hear(TEXT, MAX)
    end = turn.hear(slow)
    assert (end.status, end.reason) == (Status.PARTIAL, "provider_error")


@pytest.mark.behaviour("P5")
def test_a_wait_that_is_told_is_kept_as_it_is_and_a_back_off_is_not() -> None:
    assert Turn().hear(fault(FaultKind.RATE_LIMITED, retry_after_s=3.0)).told
    assert not Turn().hear(SERVER_FAULT).told


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize("kind", list(FaultKind))
def test_only_faults_that_a_retry_can_help_are_sent_again(kind) -> None:
    action = Turn().hear(fault(kind))
    seen = Fault(kind)
    if seen.retryable:
        assert (action.rung, action.edits) == ("send_again", ())
    elif classify(respond(fault(kind))) is Outcome.FAULT:
        why = "limit_passed" if kind is FaultKind.LIMIT else "provider_error"
        assert (action.status, action.reason) == (Status.FAILED, why)


@pytest.mark.behaviour("C6", "T3", "T5", "S3a")
@pytest.mark.parametrize("ends", [(MAX,), (), (SERVER_FAULT,)], ids=["limit", "drop", "fault"])
def test_text_that_was_cut_behind_a_whole_call_goes_on_and_the_call_is_owed(ends) -> None:
    turn = Turn(tools=True)
    action = turn.hear(WHOLE_CALL, TEXT, *ends)
    assert kinds(action)[:2] == [AppendAssistant, AppendUser]
    assert action.rung in ("continue_with_hint", "resume_with_hint")
    assert turn.hear(TextDelta(" and the rest."), END).rung == "ask_for_owed_call"
    end = turn.hear(WHOLE_CALL, TOOL)
    assert (end.status, end.reason) == (Status.COMPLETE, "completed")


@pytest.mark.behaviour("C17")
def test_an_output_limit_that_is_kept_comes_within_a_ceiling_that_was_learned_since() -> None:
    turn = Turn(max_tokens=4_000)
    assert tokens_asked(turn.hear(TEXT, MAX, kept_text="Half of")) == 8_000
    refused = fault(FaultKind.UNKNOWN_KEY, keys=("user",))
    kept = turn.hear(refused, kept_text="Half of", droppable=("user",), ceiling_tokens=5_000)
    assert kept.rung == "drop_rejected_keys"
    assert tokens_asked(kept) == 5_000


@pytest.mark.behaviour("P5")
def test_a_parameter_that_was_put_right_stays_right() -> None:
    turn = Turn(Policy(hard_max_tokens=300), max_tokens=200)
    refused = fault(FaultKind.UNKNOWN_KEY, keys=("seed",))
    first = turn.hear(refused, http_error=True, droppable=("seed",))
    assert first.edits == (DropKeys(("seed",)),)
    refused = fault(FaultKind.UNKNOWN_KEY, keys=("user",))
    second = turn.hear(refused, http_error=True, droppable=("user",))
    assert second.edits == (DropKeys(("seed", "user")),)
    assert one(turn.hear(TEXT, MAX), DropKeys).keys == ("seed", "user")
    turn = Turn(Policy(hard_max_tokens=300), max_tokens=9_999)
    too_large = fault(FaultKind.OUTPUT_BUDGET_TOO_LARGE, allowed_tokens=500)
    assert turn.hear(too_large, http_error=True).edits == (SetOutputLimit(300),)


@pytest.mark.behaviour("E5", "P1b")
def test_a_first_status_is_left_to_the_sdk_and_later_ones_are_not() -> None:
    turn = Turn()
    end = turn.hear(SERVER_FAULT, http_error=True)
    assert (end.rung, end.status, end.reason) == (
        "leave_to_sdk",
        Status.FAILED,
        "provider_error",
    )
    turn = Turn()
    turn.hear(END)
    assert turn.hear(SERVER_FAULT, http_error=True).rung == "send_again"


def test_a_fault_that_cannot_be_helped_is_the_reason_whatever_else_stands_in_the_way() -> None:
    for facts in ({"left_alone": "probe"}, {"timeout_s": 0.0}):
        end = Turn(**facts).hear(fault(FaultKind.AUTHENTICATION), http_error=True)
        assert end.reason == "provider_error"


# --- somebody else's word (P2) ----------------------------------------------------------------


@pytest.mark.behaviour("P2")
def test_a_decision_says_what_why_and_what_helps() -> None:
    seen: list[Decision] = []
    turn = Turn(Policy(decide=seen.append, continuation_max_attempts=1))
    turn.hear(TEXT, MAX)
    turn.hear(TEXT, MAX)
    turn.hear(TextDelta("x"), stop(R.SAFETY_BLOCKED))
    assert [(d.outcome, d.rung, d.proceed, d.suggestion) for d in seen] == [
        ("text_cut", "continue_with_hint", True, "retry"),
        ("text_cut", "", False, "increase_budget"),
        ("blocked", "", False, "modify_prompt"),
    ]
    assert seen[0].why == "text_cut: continue the text after a hint"
    assert Turn(Policy(decide=seen.append)).hear(TEXT, END).status is Status.COMPLETE
    assert (seen[-1].proceed, seen[-1].suggestion) == (False, "none")


@pytest.mark.behaviour("P2")
def test_a_callback_may_stop_a_turn() -> None:
    end = Turn(Policy(decide=lambda d: "stop")).hear(TEXT, MAX)
    assert (end.status, end.reason, end.shown) == (Status.PARTIAL, "stopped", Outcome.TEXT_CUT)
    end = Turn(Policy(decide=lambda d: "stop")).hear(TEXT, END)
    assert (end.status, end.reason) == (Status.COMPLETE, "completed")


@pytest.mark.behaviour("P2")
def test_a_callback_may_take_another_rung_but_pass_no_guard_and_overspend_nothing() -> None:
    def choosing(name: str, **policy: Any) -> Policy:
        return Policy(decide=lambda d: name, **policy)

    hint = "continue_with_hint"
    assert Turn(choosing(hint), prefill=True).hear(TEXT, MAX).rung == hint
    assert Turn(choosing("continue_with_prefill")).hear(TEXT, MAX).rung == hint
    assert Turn(choosing("send_again")).hear(TEXT, MAX).rung == hint
    turn = Turn(choosing("ask_for_call_again"))
    rungs = [turn.hear(CUT_CALL, MAX).rung for _ in range(4)]
    assert rungs == [
        "ask_for_call_again",
        "answer_calls_as_failed",
        "answer_calls_as_failed",
        "",
    ]
    assert Turn(choosing(hint), left_alone="audio").hear(TEXT, MAX).reason == "left_alone"


@pytest.mark.behaviour("P2")
def test_an_action_says_what_a_callback_chose_in_place_of_the_table() -> None:
    def overridden(name: str | None, *signals: Any, **facts: Any) -> Any:
        action = Turn(Policy(decide=lambda d: name), **facts).hear(*signals)
        return str(action.overridden)

    hint = "continue_with_hint"
    assert overridden("stop", TEXT, MAX) == "stop"
    assert overridden(hint, TEXT, MAX, prefill=True) == hint
    assert overridden(hint, TEXT, MAX) == "", "it is what the table does"
    assert overridden("continue_with_prefill", TEXT, MAX) == "", "a guard stands in its way"
    assert overridden("stop", TEXT, END) == "", "the turn ends anyway"
    assert overridden(None, TEXT, MAX) == ""


@pytest.mark.behaviour("P2")
def test_a_decision_counts_tokens_and_attempts_over_the_turn() -> None:
    seen: list[Decision] = []
    turn = Turn(Policy(decide=seen.append), model="m", provider="p", output_tokens=7)
    turn.hear(TEXT, MAX)
    turn.hear(TEXT, MAX)
    assert [(d.attempts, d.output_tokens) for d in seen] == [(1, 7), (2, 14)]
    assert (seen[0].provider, seen[0].model, seen[0].chars > 0) == ("p", "m", True)


@pytest.mark.behaviour("P2")
@pytest.mark.parametrize("answer", ["no such rung", "", "Stop", True, 3, [], {}, Decision])
def test_a_callback_that_names_no_rung_is_told_which_there_are(answer: Any) -> None:
    with pytest.raises(PolicyError) as caught:
        Turn(Policy(decide=lambda d: answer)).hear(TEXT, MAX)
    assert str(caught.value) == (
        f"decide returned {answer!r} for the outcome 'text_cut', but it must return None, 'stop', or a "
        "rung of its ladder: 'raise_limit_and_let_provider_go_on', 'hand_on_whole_calls', "
        "'accept_whole_document', 'ask_for_document_again', 'continue_with_prefill', 'continue_with_hint', 'end_invalid_document', 'end_cut_document'"
    )
    with pytest.raises(PolicyError, match="of its ladder: it has none"):
        Turn(Policy(decide=lambda d: "go on")).hear(TextDelta("x"), stop(R.SAFETY_BLOCKED))


@pytest.mark.behaviour("P2")
def test_what_a_callback_raises_is_its_callers() -> None:
    def broken(decision: Decision) -> str | None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Turn(Policy(decide=broken)).hear(TEXT, MAX)


# --- whatever comes ---------------------------------------------------------------------------

texts = st.sampled_from(["", " ", "Said. ", "more\n", "<think>hm", "<think>a</think>", "}\ufffd"])
few = st.none() | st.integers(0, 60)
faults = st.builds(
    Fault,
    st.sampled_from(FaultKind),
    status=st.none() | st.just(400),
    allowed_tokens=st.none() | st.integers(1, 50_000),
    keys=st.sampled_from([(), ("seed",), ("seed", "user")]),
    retry_after_s=st.none() | st.floats(),
)
signals = st.one_of(
    texts.map(TextDelta),
    texts.map(ReasoningDelta),
    texts.map(RefusalDelta),
    st.builds(
        CallDelta,
        st.none() | st.integers(0, 2),
        st.sampled_from([None, "a", "b"]),
        st.sampled_from([None, "write"]),
        st.sampled_from([None, "", "null", "{}", '{"a": 1', '{"a": b}', '"{}"', "[1]"]),
    ),
    st.sampled_from(StopReason).map(stop),
    st.builds(Tokens, few, few).map(UsageSeen),
    faults.map(FaultSeen),
    st.just(Ended()),
)
all_facts = st.builds(
    Facts,
    kept_text=texts,  # what this response adds: the turn below puts the whole together
    runaway=st.booleans(),
    output_tokens=st.integers(0, 5_000),
    input_tokens=st.none() | st.integers(0, 5_000),
    max_tokens=st.none() | st.integers(1, 60_000),
    ceiling_tokens=st.none() | st.integers(1, 60_000),
    prefill=st.booleans(),
    lower_reasoning=st.booleans(),
    structured=st.booleans(),
    tools=st.booleans(),
    after_tool_result=st.booleans(),
    http_error=st.booleans(),
    left_alone=st.sampled_from(["", "", "", "", "probe"]),
    timeout_s=st.none() | st.floats(0, 900),
)
policies = st.builds(
    Policy,
    **{key: st.integers(0, 2) for key in set(LIMITS.values())},
    continuation_max_output_chars=st.sampled_from([0, 20, 120_000]),
    continuation_max_total_completion_tokens=st.none() | st.integers(0, 9_000),
    truncated_calls=st.sampled_from(["refuse", "execute_complete"]),
    empty_recovery=st.booleans(),
    hard_max_tokens=st.none() | st.integers(1, 9_000),
    turn_timeout_s=st.sampled_from([0.0, 30.0, 600.0]),
    backoff_s=st.floats(0, 60),
    decide=st.sampled_from([None, lambda d: "send_again", lambda d: "continue_with_prefill"]),
)


# Ends that are complete by evidence, whatever the last response said.
TAKEN_AS_WHOLE = {
    "accept_unmarked_end_again",
    "accept_whole_document",
    "accept_unmarked_end",
    "accept_stop_sequence",
    "return_calls_of_pause",  # all are whole, and the provider waits for their results
}


@pytest.mark.behaviour("C4", "C7", "C10", "C17", "T5", "T10")
@given(
    st.lists(st.tuples(st.lists(signals, max_size=5), all_facts), min_size=1, max_size=6),
    policies,
    st.floats(0, 20),
)
@example(
    [([], Facts()), ([TextDelta("Said. "), Ended()], Facts(kept_text="Said. ", structured=True))],
    Policy(fault_retries=2, continuation_max_attempts=1, backoff_s=0.0),
    0.0,
)
@example(
    [([], Facts()), ([TextDelta("Said. "), Ended()], Facts(kept_text=" ", structured=True))],
    Policy(fault_retries=2, continuation_max_attempts=1, backoff_s=0.0),
    0.0,
)
@settings(max_examples=150)
def test_whatever_comes_a_turn_ends_within_its_budgets(attempts, policy, pace_s) -> None:
    budgets = {budget: getattr(policy, key) for budget, key in LIMITS.items()}
    most = 1 + sum(budgets.values())
    state, kept_text, now_s, rungs = State(), "", 0.0, 0
    good_turns, certain = 0, 0
    while True:
        heard, facts = attempts[rungs % len(attempts)]
        rungs += 1
        response = respond(*heard)
        new = facts.kept_text
        kept_text += new
        facts = replace(facts, kept_text=kept_text, new_chars=len(new))
        before = state
        state, action = step(state, response, facts, policy, now_s)
        done = classify(response) is Outcome.DONE
        good_turns += done
        # A document without a stop that does not parse may be half of one, and is continued.
        certain += done and not (facts.structured and "no_stop" in response.stop.anomalies)
        assert all(0 <= n <= budgets[budget] for budget, n in state.spent.items())
        assert state.attempts == rungs
        if isinstance(action, Finish):
            whole = classify(response) is Outcome.DONE or action.rung in TAKEN_AS_WHOLE
            assert (action.status is Status.COMPLETE) <= whole
            assert action.reason in ADVICE
            assert before.spent == state.spent or good_turns
            break
        assert rungs < most
        assert sum(state.spent.values()) - sum(before.spent.values()) == 1, "one rung a response"
        check_edits(action, before, View(state, response, facts, policy, now_s))
        assert 0 <= action.wait_s <= max(policy.backoff_max_s, policy.retry_after_max_s)
        limit = min(policy.turn_timeout_s or 1e9, facts.timeout_s or 1e9)
        now_s += action.wait_s
        assert now_s < limit or not action.wait_s
        now_s += pace_s
    assert certain <= 1


def check_edits(action: Send, before: State, view: View) -> None:
    assert len(set(kinds(action))) == len(action.edits), "nothing is stacked"
    for edit in action.edits:
        if isinstance(edit, AppendAssistant):
            assert visible(edit.text)
            assert edit.text == edit.text.rstrip()
            # What white space follows was not cut there.
            if view.facts.kept_text.endswith(edit.text):
                assert not edit.text.endswith("\ufffd")
        if isinstance(edit, AppendCalls):
            assert edit.calls
            assert len(edit.calls) == len(edit.results)
        if isinstance(edit, SetOutputLimit) and action.rung != "send_again":
            bounds = (view.tokens_left, view.policy.hard_max_tokens, view.facts.ceiling_tokens)
            assert 1 <= edit.tokens <= min(b for b in (*bounds, 60_000) if b is not None)
    broke = classify(view.response) in (Outcome.FAULT, Outcome.DROPPED)
    assert broke or action.edits != before.last_edits, "a retry differs unless a fault is retried"


@pytest.mark.behaviour("P8", "C25")
@given(outcomes=st.sampled_from(sorted(OF_TURNS)), told=st.data())
@settings(max_examples=50)
def test_what_is_settled_at_once_is_what_the_engine_would_answer(
    outcomes: Outcome, told: Any
) -> None:
    finish = complete_at_once(State(), outcomes)
    assert (finish is not None) == (outcomes is Outcome.DONE)
    facts = told.draw(all_facts)
    _, action = step(State(), respond(TEXT, END), facts, Policy(), 0.0)
    assert action == complete_at_once(State(), Outcome.DONE)


def test_no_rung_of_a_finished_response_is_taken_for_the_first_one() -> None:
    for situation in SITUATIONS.values():
        passes = situation.policy.invalid_documents == "pass"
        if passes and classify(situation.response()) is Outcome.DONE:
            assert not replace(situation, state=State()).act().rung


@pytest.mark.behaviour("T11")
def test_a_call_that_shrinks_is_tried_on_and_one_that_does_not_is_given_up() -> None:
    def given_up_after(sizes: list[int]) -> int:
        turn = Turn(max_tokens=100_000)
        for number, size in enumerate(sizes, 1):
            call = CallDelta(0, "call_1", "write", '{"content": "' + "x" * size)
            if isinstance(turn.hear(call, MAX, output_tokens=1), Finish):
                return number
        raise AssertionError("never given up")

    assert given_up_after([900] * 20) == 4
    assert given_up_after([900, 800, 700, 600, 500, 400, 400]) == 7
    assert given_up_after(list(range(900, 100, -50))) == 9, "five further tries at most"
    assert given_up_after([100, 200, 300, 400, 500]) == 4


@pytest.mark.behaviour("E6")
def test_two_answers_of_no_tokens_at_all_end_the_retries() -> None:
    def tries(made: int | None) -> int:
        turn = Turn(Policy(empty_retries=5, empty_nudges=0))
        for number in range(1, 20):
            end = turn.hear(UsageSeen(Tokens(3, made)), END)
            if isinstance(end, Finish):
                return number
        raise AssertionError("never given up")

    assert (tries(0), tries(1), tries(None)) == (2, 6, 6)


# --- what is known to lack ----------------------------------------------------------------------

NO_NEWS: dict[str, tuple[tuple[Signal, ...], dict[str, Any]]] = {
    "empty": ((END,), {}),
    "said again": ((TEXT, END), {"new": ""}),
}
GOES_ON = pytest.mark.parametrize("news", NO_NEWS)


@pytest.mark.behaviour("C5", "P1")
@GOES_ON
@pytest.mark.parametrize(
    "broken",
    [
        (TEXT, SERVER_FAULT),
        (TEXT, fault(FaultKind.GARBAGE)),
        (TEXT, CUT_CALL),
        (TEXT, OtherSeen(1)),
    ],
    ids=["fault", "hole", "in_a_call", "in_a_search"],
)
def test_nothing_new_behind_a_break_is_no_end_where_more_was_to_come(broken, news) -> None:
    turn = Turn()
    assert turn.hear(*broken).recovery in (Recovery.CONTINUATION, Recovery.TOOL_REPAIR)
    signals, told = NO_NEWS[news]
    assert turn.hear(*signals, **told).rung.startswith("ask_")
    assert turn.hear(*signals, **told).status is Status.PARTIAL


@pytest.mark.behaviour("S3", "N6", "C5")
@GOES_ON
def test_nothing_new_behind_garbage_that_follows_a_stop_is_the_end(news) -> None:
    turn = Turn()
    turn.hear(TEXT, END, fault(FaultKind.GARBAGE))
    signals, told = NO_NEWS[news]
    assert turn.hear(*signals, **told).status is Status.COMPLETE


@pytest.mark.behaviour("S3a")
def test_what_nothing_here_marks_the_end_of_is_asked_for_once_and_whole() -> None:
    turn = Turn()
    assert turn.hear(TEXT, TransferEnded()).rung == "resume_with_hint"
    end = turn.hear(TEXT, TransferEnded(), new="")
    assert (end.status, end.reason, end.without_stop) == (Status.COMPLETE, "completed", True)


@pytest.mark.behaviour("S3c")
def test_a_further_answer_without_a_word_or_a_mark_shows_nothing() -> None:
    turn = Turn()
    turn.hear(TEXT, TransferEnded())
    assert turn.hear(TransferEnded(), new="").rung == "resume_with_hint"
    end = turn.hear(TransferEnded(), new="")
    assert (end.status, end.reason, end.without_stop) == (Status.PARTIAL, "end_unknown", True)


@pytest.mark.behaviour("S3a")
def test_what_just_ended_was_cut_where_this_provider_marks_ends() -> None:
    turn = Turn(marks_ends=True)
    turn.hear(TEXT, TransferEnded())
    turn.hear(TransferEnded(), new="")
    end = turn.hear(END)
    assert (end.status, end.reason, end.shown) == (
        Status.PARTIAL,
        "provider_error",
        Outcome.DROPPED,
    )


@pytest.mark.behaviour("S3a")
def test_what_goes_on_behind_an_end_without_a_mark_is_taken_and_asked_on() -> None:
    turn = Turn()
    turn.hear(TEXT, TransferEnded())
    assert turn.hear(TextDelta(" goes on."), TransferEnded()).rung == "resume_with_hint"
    end = turn.hear(TextDelta(" And ends."), END)
    assert (end.status, turn.kept_text) == (Status.COMPLETE, "Half a sentence goes on. And ends.")


@pytest.mark.behaviour("S3c")
@GOES_ON
def test_a_stream_that_went_on_once_has_proved_that_its_first_end_was_a_cut(news: str) -> None:
    turn = Turn()
    turn.hear(TEXT, TransferEnded())
    turn.hear(TextDelta(" goes on."), TransferEnded())
    signals, told = NO_NEWS[news]
    end = turn.hear(*signals, **told)
    if not hasattr(end, "status"):
        end = turn.hear(*signals, **told)
    assert (end.status, turn.kept_text) == (Status.PARTIAL, "Half a sentence goes on.")


@pytest.mark.behaviour("S3a", "T4")
@pytest.mark.parametrize("text", [(), (TEXT,)], ids=["alone", "behind_text"])
def test_whole_calls_that_come_twice_without_an_end_mark_are_handed_on(text) -> None:
    turn = Turn()
    turn.hear(*text, WHOLE_CALL, TransferEnded())
    end = turn.hear(WHOLE_CALL, TransferEnded())
    assert (end.status, end.without_stop) == (Status.COMPLETE, True)


@pytest.mark.behaviour("S3a", "T4")
def test_fewer_calls_than_before_do_not_confirm_that_these_were_all() -> None:
    turn = Turn()
    turn.hear(WHOLE_CALL, CallDelta(1, "call_2", "write", '{"path": "b"}'), TransferEnded())
    assert isinstance(turn.hear(WHOLE_CALL, TransferEnded()), Send)


@pytest.mark.behaviour("S3a")
@pytest.mark.parametrize("words", [(TextDelta(" Never mind."), END), (END,)], ids=["words", "none"])
def test_words_do_not_end_a_turn_that_owes_a_call(words) -> None:
    turn = Turn(prefill=True)
    asked = turn.hear(TEXT, CUT_CALL)
    assert one(asked, AppendUser).text == hints.CALL_BROKEN_OFF
    assert not one(asked, AppendAssistant).prefill
    assert turn.hear(*words).rung == "ask_for_owed_call"
    end = turn.hear(*words)
    assert (end.status, end.reason) == (Status.PARTIAL, "tool_calls_missing")


@pytest.mark.behaviour("S3a")
def test_a_call_that_is_owed_ends_the_turn_where_it_comes() -> None:
    turn = Turn()
    turn.hear(TEXT, CUT_CALL)
    turn.hear(TextDelta(" One moment."), END)
    assert turn.hear(WHOLE_CALL, END).status is Status.COMPLETE


@pytest.mark.behaviour("S3a", "C27")
@pytest.mark.parametrize(
    ("text", "whole"), [('{"a": 1}', True), ("[1]", True), ("12", False), ('{"a": 1', False)]
)
@pytest.mark.parametrize("broken", [(), (SERVER_FAULT,), (TransferEnded(),), (MAX,)], ids=str)
def test_a_document_that_parses_is_whole_however_it_ended(text, whole, broken) -> None:
    action = Turn(structured=True).hear(TextDelta(text), *broken)
    assert isinstance(action, Finish) is whole
    assert not whole or action.status is Status.COMPLETE


@pytest.mark.behaviour("C27")
def test_a_document_that_the_limit_cut_before_its_last_digit_goes_on() -> None:
    turn = Turn(structured=True, **AT_CEILING)
    assert turn.hear(TextDelta("12"), MAX).rung == "continue_with_hint"
    assert turn.hear(END).status is Status.PARTIAL
    turn = Turn(structured=True, **AT_CEILING)
    assert isinstance(turn.hear(TextDelta('{"a": [1'), MAX), Send)
    assert turn.hear(TextDelta("]}"), MAX).rung == "accept_whole_document"
    forced = Turn(structured=True, tools=True, call_forced=True).hear(TextDelta("{}"), MAX)
    assert isinstance(forced, Send), "the call is missing"
    alone = Turn(structured=True, left_alone="probe").hear(TextDelta("{}"), MAX)
    assert (alone.status, alone.reason) == (Status.PARTIAL, "left_alone")


@pytest.mark.behaviour("C27")
def test_a_document_begins_with_the_first_words_of_the_caller() -> None:
    whole = Turn(structured=True, begun="{").hear(TextDelta('"a": 1, "b": []}'), MAX)
    assert whole.rung == "accept_whole_document"
    inner = Turn(structured=True, begun='{"all": [', **AT_CEILING)
    assert isinstance(inner.hear(TextDelta('{"a": 1}'), MAX), Send)
    assert inner.hear(TextDelta("]}"), END).status is Status.COMPLETE
    anew = Turn(structured=True, begun="Here: ").hear(TextDelta('{"a": 1}'), MAX)
    assert anew.rung == "accept_whole_document"
    once = Policy(continuation_max_attempts=1)
    broken = Turn(once, structured=True, begun="{", **AT_CEILING)
    assert isinstance(broken.hear(TextDelta('"a": "b'), MAX), Send)
    assert broken.hear(TextDelta(" and"), END).reason == "document_cut"


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("facts", [{}, {"structured": True, "one_of_words": True}], ids=str)
def test_a_text_that_only_looks_like_a_document_goes_on(facts) -> None:
    assert isinstance(Turn(**facts).hear(TextDelta('{"a": 1}'), MAX), Send)


def after_a_stop_sequence(*cut: Signal, prefill: bool = True, structured: bool = False) -> Any:
    """The end of a turn whose continuation is only a stop sequence."""
    turn = Turn(Policy(fault_retries=1), structured=structured, prefill=prefill)
    assert isinstance(turn.hear(*cut), Send)
    return turn.hear(SEQUENCE)


@pytest.mark.behaviour("C14")
def test_a_stop_sequence_where_the_limit_cut_is_the_end_behind_a_prefill() -> None:
    end = after_a_stop_sequence(TEXT, MAX)
    assert (end.status, end.rung) == (Status.COMPLETE, "accept_stop_sequence")
    hinted = after_a_stop_sequence(TEXT, MAX, prefill=False)
    assert hinted.reason == "empty_output", "the model may begin with any of them"


@pytest.mark.behaviour("C14", "C27", "S3a")
def test_a_stop_sequence_is_no_end_of_half_a_document_nor_of_what_broke_off() -> None:
    half = after_a_stop_sequence(TextDelta('{"a": "b'), MAX, structured=True, prefill=False)
    assert half.reason == "document_cut"
    assert after_a_stop_sequence(TEXT, SERVER_FAULT).reason == "provider_error"


@pytest.mark.behaviour("C14")
def test_a_stop_sequence_with_nothing_but_reasoning_before_it_is_no_end() -> None:
    turn = Turn()
    turn.hear(TEXT, MAX)
    assert turn.hear(THOUGHT, SEQUENCE).reason == "empty_output"
    assert Turn().hear(SEQUENCE).rung == "ask_again", "nothing was cut before it"


@pytest.mark.behaviour("C27")
@GOES_ON
def test_nothing_new_behind_half_a_document_is_not_its_end(news) -> None:
    turn = Turn(structured=True)
    turn.hear(TextDelta('{"half": "a'))
    signals, told = NO_NEWS[news]
    sent: list[Send] = []
    while isinstance(end := turn.hear(*signals, **told), Send):
        sent.append(end)
    assert one(sent[-1], AppendUser).text == hints.BROKEN_OFF_DOCUMENT
    assert len(sent) <= 4
    assert (end.status, end.reason, end.shown) == (
        Status.PARTIAL,
        "document_cut",
        Outcome.TEXT_CUT,
    )


@pytest.mark.behaviour("C27", "C26")
def test_a_document_is_judged_behind_a_pause() -> None:
    content = ({"type": "text", "text": "x"},)

    def ends(before: str, after: str) -> Any:
        turn = Turn(Policy(continuation_max_attempts=0), structured=True, content=content)
        turn.hear(TextDelta(before), stop(R.PAUSED))
        return turn.hear(TextDelta(after), END)

    assert ends('{"a": ', "1").reason == "document_cut"
    assert ends('{"a": ', "1}").status is Status.COMPLETE
    assert ends("I look. ", '{"a": 1}').status is Status.COMPLETE


@pytest.mark.behaviour("C27")
def test_half_a_document_that_comes_as_a_second_answer_is_judged_where_no_stop_ends_it() -> None:
    def ends(*signals: Signal) -> Any:
        turn = Turn(Policy(continuation_max_attempts=0), structured=True)
        turn.hear(SERVER_FAULT)
        return turn.hear(TextDelta('{"a": "b'), *signals)

    assert ends(Ended()).reason == "document_cut"
    assert ends(END).status is Status.COMPLETE, "the model's own word"


@pytest.mark.behaviour("C27", "T5")
def test_a_document_is_judged_behind_calls_that_were_answered() -> None:
    policy = Policy(continuation_tool_repair_attempts=0, continuation_max_attempts=0)
    turn = Turn(policy, structured=True)
    assert AppendCalls in kinds(turn.hear(TextDelta('{"a": 1, '), BAD_CALL, END))
    end = turn.hear(TextDelta('{"b": 2}'), END)
    assert (end.status, end.reason) == (Status.PARTIAL, "document_cut")


@pytest.mark.behaviour("C27", "E2")
def test_what_came_in_one_piece_after_an_empty_answer_is_the_models_own() -> None:
    turn = Turn(structured=True, tools=True)
    assert turn.hear(END).rung == "ask_to_rephrase"
    assert turn.hear(TextDelta('Sure: {"a": 1}'), END).status is Status.COMPLETE
    turn = Turn(tools=True)
    turn.hear(END)
    assert turn.hear(OtherSeen(), END).status is Status.COMPLETE


@pytest.mark.behaviour("E3", "T5")
def test_an_empty_answer_to_a_tool_result_is_not_passed_on_while_a_call_is_owed() -> None:
    turn = Turn(after_tool_result=True)
    turn.hear(CUT_CALL, MAX)
    assert turn.hear(END).rung == "nudge_after_tool_result"
    assert turn.hear(END).rung != "pass_on_empty_answer"


@pytest.mark.behaviour("T4", "T5")
@pytest.mark.parametrize(
    ("broken", "hints_of"),
    [
        ((CUT_CALL, MAX), (hints.REPEAT_CALL, hints.REPEAT_CALLS)),
        ((BAD_CALL, END), (hints.REPAIR_CALL, hints.REPAIR_CALLS)),
    ],
    ids=["cut", "malformed"],
)
def test_all_calls_of_a_batch_are_asked_for_again(broken, hints_of) -> None:
    for before, hint in zip(((), (WHOLE_CALL,)), hints_of, strict=True):
        assert one(Turn().hear(*before, *broken), AppendUser).text == hint
