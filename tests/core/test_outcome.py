"""The table of outcomes, against one that is written out here from docs/behaviours.md."""

from __future__ import annotations

import itertools

import pytest

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import Stop, StopReason
from tenuto.core.deciding.outcome import (
    OF_TURNS,
    OUTCOMES,
    Batch,
    Outcome,
    Readable,
    Sign,
    classify,
    seen_text,
    worst_calls,
)

R, O = StopReason, Outcome  # noqa: E741

# Columns: calls none, whole, whole with text behind them, cut, malformed; in each: text seen, thought, blank.
TABLE: dict[StopReason, str] = {
    # An error outweighs whatever came with it (N3); so do a filter, a refusal, a full window.
    R.ERROR: "fault fault fault  fault fault fault  fault fault fault  fault fault fault  fault fault fault",
    R.SAFETY_BLOCKED: "blocked blocked blocked  blocked blocked blocked  blocked blocked blocked  blocked blocked blocked  blocked blocked blocked",
    R.REFUSAL: "refused refused refused  refused refused refused  refused refused refused  refused refused refused  refused refused refused",
    R.CONTEXT_WINDOW_EXCEEDED: "overflow overflow overflow  overflow overflow overflow  overflow overflow overflow  overflow overflow overflow  overflow overflow overflow",
    # An end without an end mark is never success, whatever came before it (S1).
    R.DROPPED: "dropped dropped dropped  dropped dropped dropped  dropped dropped dropped  dropped dropped dropped  dropped dropped dropped",
    # The provider itself says that the call cannot be read (T14).
    R.MALFORMED_TOOL_CALL: "arguments_malformed arguments_malformed arguments_malformed  arguments_malformed arguments_malformed arguments_malformed  arguments_malformed arguments_malformed arguments_malformed  arguments_malformed arguments_malformed arguments_malformed  arguments_malformed arguments_malformed arguments_malformed",
    # The limit: text goes on (C1), reasoning alone does not (C11), no call of the batch runs (T3).
    # Behind whole calls it cut the text.
    R.MAX_TOKENS: "text_cut thinking_cut thinking_cut  arguments_cut arguments_cut arguments_cut  text_cut text_cut text_cut  arguments_cut arguments_cut arguments_cut  arguments_cut arguments_cut arguments_cut",
    # A clean stop: whole calls run, broken ones never do (T1, T2); nothing to read is empty (E1).
    R.END_TURN: "done thinking_only empty  done done done  done done done  arguments_cut arguments_cut arguments_cut  arguments_malformed arguments_malformed arguments_malformed",
    R.STOP_SEQUENCE: "done thinking_only empty  done done done  done done done  arguments_cut arguments_cut arguments_cut  arguments_malformed arguments_malformed arguments_malformed",
    R.TOOL_CALL: "done thinking_only empty  done done done  done done done  arguments_cut arguments_cut arguments_cut  arguments_malformed arguments_malformed arguments_malformed",
    # A pause or a cancelling says nothing about what came: both have rules of their own (C26, C23).
    R.PAUSED: "paused paused paused  paused paused paused  paused paused paused  paused paused paused  paused paused paused",
    R.CANCELLED: "cancelled cancelled cancelled  cancelled cancelled cancelled  cancelled cancelled cancelled  cancelled cancelled cancelled  cancelled cancelled cancelled",
    # Not known: never continued (C6), and no call runs on it (N7a); broken ones are asked for again.
    R.UNKNOWN: "unknown unknown empty  unknown unknown unknown  unknown unknown unknown  arguments_cut arguments_cut arguments_cut  arguments_malformed arguments_malformed arguments_malformed",
}  # fmt: skip

FINDINGS = {
    Batch.NONE: (),
    Batch.WHOLE: (Finding.WHOLE, Finding.WHOLE),
    Batch.FOLLOWED: (Finding.WHOLE,),
    Batch.CUT: (Finding.WHOLE, Finding.TRUNCATED),
    Batch.MALFORMED: (Finding.TRUNCATED, Finding.MALFORMED, Finding.WHOLE),
}
TEXTS = {
    Readable.SEEN: ("Yes.", ""),
    Readable.THOUGHT: ("<think>hm</think>", ""),
    Readable.BLANK: (" \n", " "),
}
CELLS = [
    (reason, calls, text, word)
    for reason, row in TABLE.items()
    for (calls, text), word in zip(itertools.product(Batch, Readable), row.split(), strict=True)
]


def response(
    reason: StopReason, calls: Batch, text: str, reasoning: str = "", *anomalies: str
) -> Response:
    made = tuple(ToolCall(str(n), "tool", "", f) for n, f in enumerate(FINDINGS[calls]))
    behind = calls is Batch.FOLLOWED
    stop = Stop(reason, anomalies=anomalies)
    return Response(text, reasoning, "", made, None, stop, text_behind_calls=behind)


@pytest.mark.behaviour("T1", "T3", "T4", "E1", "C6")
@pytest.mark.parametrize(("reason", "calls", "text", "word"), CELLS)
def test_every_combination_means_what_the_behaviours_say(reason, calls, text, word) -> None:
    made = response(reason, calls, *TEXTS[text])
    assert (worst_calls(made), seen_text(made)) == (calls, text)
    assert classify(made) is Outcome(word)


def test_the_table_here_and_the_table_there_are_total() -> None:
    assert set(TABLE) == set(StopReason)
    last = OUTCOMES[-1]
    assert (last.stops, last.calls, last.text) == (None, None, None)
    used = {word for row in TABLE.values() for word in row.split()}
    assert used | {Outcome.CALLS_MISSING} == OF_TURNS


def test_every_row_decides_something() -> None:
    """No row is hidden by those before it."""
    deciding = set()
    for (reason, calls, text, _), sign in itertools.product(CELLS, Sign):
        deciding.add(
            next(n for n, row in enumerate(OUTCOMES) if row.fits(reason, calls, text, sign))
        )
    assert deciding == set(range(len(OUTCOMES)))


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("sign", [sign for sign in Sign if sign is not Sign.NONE])
def test_a_sign_changes_only_what_a_stop_leaves_open(sign: Sign) -> None:
    """What a stored answer shows never overrules a stop that speaks against it, nor a broken call."""
    graver = (R.ERROR, R.SAFETY_BLOCKED, R.REFUSAL, R.CONTEXT_WINDOW_EXCEEDED, R.DROPPED)
    for reason, calls, text, word in CELLS:
        found = classify(response(reason, calls, *TEXTS[text]), sign)
        if sign is Sign.NO_ANSWER:
            assert found is Outcome.NO_ANSWER
        elif found != word:
            assert found == Outcome(sign), "a sign has the name of its outcome"
            assert reason not in graver
            assert calls in (Batch.NONE, Batch.WHOLE, Batch.FOLLOWED)
            assert reason is not R.MAX_TOKENS or sign is Sign.RUNAWAY


@pytest.mark.behaviour("E8")
def test_announced_calls_that_did_not_come_are_an_outcome_of_their_own() -> None:
    for text in TEXTS.values():
        made = response(R.END_TURN, Batch.NONE, *text, "tool_calls_missing")
        assert classify(made) is Outcome.CALLS_MISSING


@pytest.mark.behaviour("E1")
def test_reasoning_in_a_field_of_its_own_is_thought_and_a_refusal_is_seen() -> None:
    assert seen_text(response(R.END_TURN, Batch.NONE, "", "hm")) is Readable.THOUGHT
    refused = Response("", "", "No.", (), None, Stop(R.MAX_TOKENS))
    assert seen_text(refused) is Readable.SEEN
