"""Empty, thinking-only and missing answers: asked for again in another way, then truthfully given up."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from support.replay.anthropic_messages import (
    AFTER_RESULT,
    ASK,
    END,
    FILES,
    MAX,
    SAFETY,
    TOOL,
    Call,
    R,
    Refused,
    assistant,
    found,
    searching,
    user,
)

from tenuto.core import hints

both = pytest.mark.parametrize("mode", ["body", "stream"])
EMPTY = R("")


@pytest.mark.behaviour("E1")
@both
@pytest.mark.parametrize("text", ["", " \n\t", "<think>all</think>", "<think>never closed"])
def test_what_nobody_can_read_is_empty(play, mode, way, text):
    turn = play(R(text), R("The answer."))
    got = turn.tell(mode, way)
    assert got.text.endswith("The answer.")
    assert (got.stop, turn.sent) == ("end_turn", 2)


@pytest.mark.behaviour("E1")
@both
@pytest.mark.parametrize(
    "answer", [R("", TOOL, [Call()]), R("<think>a</think>b"), R("0"), R([searching(), found()])]
)
def test_a_call_alone_a_search_and_any_readable_text_is_an_answer(play, mode, way, answer):
    turn = play(answer)
    turn.tell(mode, way, **FILES)
    assert turn.sent == 1
    assert turn.of("empty_recovery") == []


@pytest.mark.behaviour("E2")
@both
def test_empty_with_tools_attached_is_asked_to_rephrase_or_call_or_answer(play, mode, way):
    turn = play(EMPTY, R("The answer."))
    assert turn.tell(mode, way, **FILES).text == "The answer."
    note = assistant(hints.EMPTY_WITH_TOOLS_NOTE)
    assert turn.added(1) == [note, user(hints.EMPTY_WITH_TOOLS)]


@pytest.mark.behaviour("E2")
@pytest.mark.parametrize(
    ("answer", "messages", "more", "settings"),
    [
        (R("Said."), [ASK], FILES, {}),  # not empty
        (R("", reasoning="hm"), [ASK], FILES, {}),  # thinking
        (R("", MAX), [ASK], FILES, {}),  # not a clean end
        (EMPTY, AFTER_RESULT, FILES, {}),  # a tool result just before
        (EMPTY, [ASK], {}, {}),  # no tools
        # None that the caller runs:
        (EMPTY, [ASK], {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, {}),
        (EMPTY, [ASK], FILES, {"empty_recovery": False}),
    ],
)
def test_each_condition_of_that_question_negated_does_not_ask_it(
    play, answer, messages, more, settings
):
    turn = play(answer, R("The answer."), **settings)
    turn.ask(messages, **more)
    assert hints.EMPTY_WITH_TOOLS not in str(turn.bodies)


@pytest.mark.behaviour("E3", "E11")
@both
def test_empty_after_a_tool_result_is_nudged_once_and_then_passed_on(play, mode, way):
    turn = play(EMPTY, R("The answer."))
    got = turn.ask(AFTER_RESULT, mode, way, **FILES)
    assert (got.text, got.stop) == ("The answer.", "end_turn")
    assert turn.added(1) == [user(hints.AFTER_TOOL_RESULT)]
    turn = play(EMPTY, EMPTY, R("never asked for"))
    got = turn.ask(AFTER_RESULT, mode, way, **FILES)
    assert (got.error, got.text, got.stop, turn.sent) == (None, "", "end_turn", 2)
    assert turn.ending["status"] == "partial"


@both
def test_thinking_alone_is_asked_for_the_answer_and_never_the_same_again(play, mode, way):
    turn = play(R("", reasoning="hm"), R("The answer."))
    assert turn.tell(mode, way).text == "The answer."
    assert turn.added(1) == [user(hints.ANSWER_NOW)]


@pytest.mark.behaviour("E5", "P1")
@both
@pytest.mark.parametrize(
    ("more", "settings", "sent"),
    [({}, {}, 2), (FILES, {}, 3), ({}, {"empty_retries": 0}, 1)],
)
def test_tries_at_an_empty_answer_end_in_a_typed_empty_result(
    play, mode, way, more, settings, sent
):
    turn = play(*[EMPTY] * 9, **settings)
    got = turn.tell(mode, way, **more)
    assert isinstance(got.error, anthropic.APIStatusError)
    assert "empty_output" in str(got.error.body)
    assert turn.sent == sent
    assert (turn.ending["status"], turn.ending["reason"]) == ("failed", "empty_output")


@pytest.mark.behaviour("E8")
@both
def test_a_stop_that_names_calls_without_any_is_asked_once_for_the_call(play, mode, way):
    turn = play(R("Let me look.", TOOL), R("", TOOL, [Call()]))
    got = turn.tell(mode, way, **FILES)
    assert (got.text, len(got.calls), got.stop) == ("Let me look.", 1, "tool_use")
    assert turn.added(1) == [assistant("Let me look."), user(hints.CALL_MISSING)]
    turn = play(*[R("Let me look.", TOOL)] * 3)
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.calls, got.stop, turn.sent) == ("Let me look.", [], "end_turn", 2)


@pytest.mark.behaviour("E8")
@both
def test_a_call_beside_another_clean_stop_is_seen(play, mode, way):
    turn = play(R("Half ", MAX), R("done.", END, [Call()]))
    got = turn.tell(mode, way, **FILES)
    assert (len(got.calls), got.stop) == (1, "tool_use")


@pytest.mark.behaviour("E11", "C28", "C25")
@both
@pytest.mark.parametrize("answer", [EMPTY, R("Ye", MAX), R("", MAX, reasoning="h")])
@pytest.mark.parametrize("tokens", [0, 16])
def test_a_probe_of_a_few_tokens_is_not_touched(play, mode, way, answer, tokens):
    turn = play(answer)
    got = turn.tell(mode, way, max_tokens=tokens)
    assert (got.text, got.stop, turn.sent) == (answer.text, answer.stop, 1)
    assert turn.of("left_alone")[0]["why"] == ("probe" if tokens else "prewarm")


@pytest.mark.behaviour("E12", "N4")
@both
@pytest.mark.parametrize("text", ["", "Half a sen"])
def test_a_refusal_is_not_tried_again_and_its_explanation_is_handed_on(play, mode, way, text):
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    turn = play(R(text, SAFETY, beside={"stop_details": details}), R("never asked for"))
    given: Any = {"model": "m", "messages": [ASK], "max_tokens": 999}
    if mode == "body":
        made = turn.client.messages.create(**given)
    else:
        with turn.client.messages.stream(**given) as stream:
            made = stream.get_final_message()
    assert (made.stop_reason, made.stop_details.explanation) == ("refusal", "Not this.")
    assert (turn.sent, turn.ending["reason"]) == (1, "refused")
    assert turn.of("stop_reason_observed")[0]["detail"] == "cyber"
    assert "Not this" not in str([event.as_dict() for event in turn.events])


@pytest.mark.behaviour("E12")
@both
def test_a_prompt_that_a_filter_refuses_shows_the_providers_own_words(play, mode, way):
    words = "Output blocked by content filtering policy"
    turn = play(Refused(400, words, code="invalid_request_error"))
    got = turn.tell(mode, way)
    assert isinstance(got.error, anthropic.BadRequestError)
    assert words in str(got.error)
    assert (turn.sent, turn.ending["reason"]) == (1, "safety_blocked")
