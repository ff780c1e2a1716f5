"""Empty and thinking-only answers on Anthropic's wire: asked for again in another way, then given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anthropic
import pytest
from support.replay.anthropic_messages import (
    AFTER_RESULT,
    ASK,
    END,
    FILES,
    MAX,
    TOOL,
    Call,
    R,
    Refused,
    assistant,
    said,
    thought,
    user,
)

from tenuto.core import hints
from tenuto.wires.anthropic_messages.render import render_error

both = pytest.mark.parametrize("mode", ["body", "stream"])

EMPTY = R("")


@pytest.mark.behaviour("E2")
@both
def test_empty_with_tools_attached_is_asked_once_to_rephrase_or_call_or_answer(play, mode, way):
    turn = play(EMPTY, R("The answer."))
    assert turn.tell(mode, way, **FILES).text == "The answer."
    assert turn.added(1) == [
        assistant(hints.EMPTY_WITH_TOOLS_NOTE),
        user(hints.EMPTY_WITH_TOOLS),
    ]
    turn = play(*[EMPTY] * 9, empty_retries=3)
    turn.tell(mode, way, **FILES)
    assert str(turn.bodies).count(hints.EMPTY_WITH_TOOLS) == 1


@pytest.mark.behaviour("E2")
@both
@pytest.mark.parametrize(
    ("answer", "messages", "more", "settings"),
    [
        (R("Said."), [ASK], FILES, {}),  # not empty
        (R(reasoning="hm"), [ASK], FILES, {}),  # reasoning
        (R("", MAX), [ASK], FILES, {}),  # not a clean end
        (EMPTY, AFTER_RESULT, FILES, {}),  # a tool result just before
        (EMPTY, [ASK], {}, {}),  # no tools
        (EMPTY, [ASK], FILES, {"empty_recovery": False}),
        (EMPTY, [ASK], FILES, {"empty_nudges": 0}),
    ],
)
def test_each_condition_of_that_question_negated_does_not_ask_it(
    play, mode, answer, messages, more, settings
):
    turn = play(answer, R("The answer."), **settings)
    turn.ask(messages, mode, **more)
    assert hints.EMPTY_WITH_TOOLS not in str(turn.bodies)


@pytest.mark.behaviour("E3", "E11")
@both
def test_empty_after_a_tool_result_is_nudged_once(play, mode, way):
    turn = play(EMPTY, R("The answer."))
    assert turn.ask(AFTER_RESULT, mode, way, **FILES).text == "The answer."
    assert turn.added(1) == [user(hints.AFTER_TOOL_RESULT)]
    turn = play(EMPTY, EMPTY, R("never asked for"))
    got = turn.ask(AFTER_RESULT, mode, way, **FILES)
    assert (got.error, got.text, got.stop, turn.sent) == (None, "", "end_turn", 2)


@both
@pytest.mark.parametrize(
    "answer", [R(reasoning="hm"), R("<think>hm</think>")], ids=["blocks", "tags"]
)
def test_thinking_alone_is_asked_for_the_answer_and_never_the_same_again(play, mode, way, answer):
    turn = play(answer, R("The answer."))
    assert turn.tell(mode, way).text.endswith("The answer.")
    assert turn.added(1) == [user(hints.ANSWER_NOW)]


# --- text that came is used (E7) ----------------------------------------------------------------


@pytest.mark.behaviour("E7")
def test_the_text_of_a_stream_that_broke_is_gone_on_with(play, way):
    turn = play(R("The first half, ", dropped=True), R("and the second."))
    got = turn.tell("stream", way)
    assert (got.text, got.stop) == ("The first half, and the second.", "end_turn")
    assert "The first half," in str(turn.added(1))


@pytest.mark.behaviour("E7")
@pytest.mark.parametrize("later", [R("", dropped=True), R(reasoning="hm"), Refused(500)])
def test_the_text_of_a_stream_that_broke_is_kept_where_nothing_follows(play, way, later):
    turn = play(R("The first half, ", dropped=True), *[later] * 9)
    turn.tell("stream", way)
    shown = "".join(event.text for event in turn.told if event.type == "text")
    assert shown.strip() == "The first half,"
    assert turn.ending["status"] == "partial"


# --- an upstream that gave up (E9) --------------------------------------------------------------


class GaveUp(R):
    """An error as the body of a 200, or as an event behind the first words of a stream."""

    def body(self, model: str) -> bytes:
        return Refused(200, code="cascade_exhausted").body()

    def stream(self, model: str) -> bytes:
        return super().stream(model).partition(b"event: message_delta")[0] + (
            b"event: error\ndata: " + self.body(model) + b"\n\n"
        )


@pytest.mark.behaviour("E9")
@both
@pytest.mark.parametrize("words", ["", "Half a sen"])
def test_an_upstream_that_gave_up_is_not_asked_again(play, mode, way, words):
    turn = play(GaveUp(words), *[R("never asked for")] * 9)
    got = turn.tell(mode, way, **FILES)
    assert turn.sent == 1
    assert turn.ending["status"] != "complete"
    assert got.error is not None or got.text == words


@dataclass(frozen=True)
class AnothersError(R):
    """What another Tenuto answers in the end, as a body and as the only event."""

    def body(self, model: str) -> bytes:
        return render_error("empty_output", "The answer stayed empty.", None)

    def stream(self, model: str) -> bytes:
        return b"event: error\ndata: " + self.body(model) + b"\n\n"


@pytest.mark.behaviour("E9")
@both
def test_what_another_tenuto_gave_up_is_not_asked_again(play, mode, way):
    turn = play(AnothersError(), *[R("never asked for")] * 9)
    got = turn.tell(mode, way)
    assert isinstance(got.error, anthropic.APIError)
    assert turn.sent == 1


# --- switched off (E10) -------------------------------------------------------------------------


@pytest.mark.behaviour("E10")
@both
@pytest.mark.parametrize(
    ("answer", "messages", "more"),
    [
        (EMPTY, [ASK], {}),
        (EMPTY, [ASK], FILES),
        (EMPTY, AFTER_RESULT, FILES),
        (R(reasoning="hm"), [ASK], FILES),
        (R(" \n"), [ASK], {}),
    ],
)
def test_empty_answers_are_asked_once_where_their_recovery_is_off(
    play, mode, way, answer, messages, more
):
    turn = play(answer, R("never asked for"), empty_recovery=False)
    turn.ask(messages, mode, way, **more)
    assert turn.sent == 1
    assert len(turn.of("empty_recovery")) == 1, "told of, and no more"
    assert turn.ending["status"] != "complete"


@pytest.mark.behaviour("E10", "E8", "H1")
@both
def test_missing_calls_and_private_keys_are_seen_to_all_the_same(play, mode, way):
    turn = play(R("", TOOL), R("", TOOL, [Call()]), empty_recovery=False)
    got = turn.ask([ASK | {"_note": "ours"}], mode, way, **FILES)
    assert [call["name"] for call in got.calls] == ["write_file"]
    assert [row["content"][0]["text"] for row in turn.bodies[1]["messages"][1:]] == [
        hints.CALL_MISSING
    ]
    assert "_note" not in str(turn.bodies)


# --- reasoning stays reasoning (E13) ------------------------------------------------------------


@pytest.mark.behaviour("E13")
@both
def test_thoughts_of_a_continuation_stay_out_of_the_text(play, mode, way):
    turn = play(R("Half, ", MAX, reasoning="I think. "), R("whole.", reasoning="Still. "))
    got = turn.tell(mode, way)
    assert got.text == "Half, whole."
    texts = [b for row in turn.added(1) for b in row["content"] if b["type"] == "text"]
    assert "I think" not in str(texts)


@pytest.mark.behaviour("E13")
@both
@pytest.mark.parametrize("first", [R(reasoning="hm"), R(reasoning="hm", stop=MAX), EMPTY])
def test_thoughts_before_an_answer_are_no_part_of_its_text(play, mode, way, first):
    turn = play(first, R("The answer.", reasoning="Ah. "))
    assert turn.tell(mode, way).text == "The answer."


@pytest.mark.behaviour("E13", "P8")
@both
@pytest.mark.parametrize("text", ["<think>hm</think>Yes.", "Yes. <think>but", "a <thinker> b"])
def test_a_normal_answer_with_think_tags_in_it_passes_unchanged(play, mode, way, text):
    turn = play(R(text))
    assert (turn.tell(mode, way).text, turn.sent) == (text, 1)


# --- tags in pieces (S7) ------------------------------------------------------------------------


@pytest.mark.behaviour("S7")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("closed", ["</think>", ""])
def test_think_tags_in_pieces_are_recognized(play, way, size, closed):
    turn = play(R(f"<think>hm{closed}", piece_chars=size), R("The answer."))
    assert turn.tell("stream", way).text.endswith("The answer.")
    assert turn.added(1) == [user(hints.ANSWER_NOW)]
    turn = play(R("<think>hm</think>\nYes.", piece_chars=size))
    assert turn.tell("stream", way).text == "<think>hm</think>\nYes."
    assert turn.sent == 1


@pytest.mark.behaviour("E1")
@both
def test_a_call_alone_is_an_answer(play, mode, way):
    turn = play(R([thought("hm")], TOOL, [Call()]))
    assert turn.tell(mode, way, **FILES).stop == "tool_use"
    assert turn.sent == 1


@pytest.mark.behaviour("E5")
@both
def test_tries_end_in_a_typed_empty_result(play, mode, way):
    turn = play(*[R([said(" ")], END)] * 9)
    got: Any = turn.tell(mode, way)
    assert isinstance(got.error, anthropic.APIError)
    assert turn.sent == 2
    assert (turn.ending["status"], turn.ending["reason"]) == ("failed", "empty_output")
