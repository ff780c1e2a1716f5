"""Empty, thinking-only and missing answers: asked for again in another way, then truthfully given up."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import openai
import pytest
from support.replay.openai_chat import (
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
    played,
)

from tenuto.core import hints

both = pytest.mark.parametrize("mode", ["body", "stream"])

EMPTY = R("")
HINT = {"role": "user", "content": hints.EMPTY}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.mark.behaviour("E1")
@both
@pytest.mark.parametrize(
    "text", ["", " \n\t", "<think>all</think>", "<think>never closed", "\u00a0"]
)
def test_what_nobody_can_read_is_empty(play, mode, way, text):
    turn = play(R(text), R("The answer."))
    got = turn.tell(mode, way)
    assert got.text.endswith("The answer.")
    assert (got.finish, turn.sent) == ("stop", 2)
    assert turn.of("empty_recovery")


@pytest.mark.behaviour("E1")
@both
@pytest.mark.parametrize(
    "answer", [R("", TOOL, [Call()]), R("<think>a</think>b"), R("0"), R("", refusal="No.")]
)
def test_a_call_alone_and_any_readable_text_is_an_answer(play, mode, way, answer):
    turn = play(answer)
    turn.tell(mode, way, **FILES)
    assert turn.sent == 1
    assert turn.of("empty_recovery") == []


# --- which question is asked (E2, E3, E4) -------------------------------------------------------


@pytest.mark.behaviour("E2")
@both
def test_empty_with_tools_attached_is_asked_to_rephrase_or_call_or_answer(play, mode, way):
    turn = play(EMPTY, R("The answer."))
    assert turn.tell(mode, way, **FILES).text == "The answer."
    note, hint = turn.added(1)
    assert note == {"role": "assistant", "content": hints.EMPTY_WITH_TOOLS_NOTE}
    assert hint == user(hints.EMPTY_WITH_TOOLS)
    for fact in ("other words", "by its name", "plain text"):
        assert fact in hint["content"]
    turn = play(*[EMPTY] * 9, empty_retries=3)
    turn.tell(mode, way, **FILES)
    assert str(turn.bodies).count(hints.EMPTY_WITH_TOOLS) == 1, "once per turn"


@pytest.mark.behaviour("E2")
@pytest.mark.parametrize(
    ("answer", "messages", "more", "settings"),
    [
        (R("Said."), [ASK], FILES, {}),  # not empty
        (R("", reasoning="hm"), [ASK], FILES, {}),  # reasoning
        (R("", MAX), [ASK], FILES, {}),  # not a clean end
        (EMPTY, AFTER_RESULT, FILES, {}),  # a tool result just before
        (EMPTY, [ASK], {}, {}),  # no tools
        (EMPTY, [ASK], FILES, {"empty_recovery": False}),
        (EMPTY, [ASK], FILES, {"empty_nudges": 0}),
    ],
)
def test_each_condition_of_that_question_negated_does_not_ask_it(
    play, answer, messages, more, settings
):
    turn = play(answer, R("The answer."), **settings)
    turn.ask(messages, **more)
    assert hints.EMPTY_WITH_TOOLS not in str(turn.bodies)


@pytest.mark.behaviour("E3")
@both
def test_empty_after_a_tool_result_is_nudged_once(play, mode, way):
    turn = play(EMPTY, R("The answer."))
    got = turn.ask(AFTER_RESULT, mode, way, **FILES)
    assert (got.text, got.finish) == ("The answer.", "stop")
    assert turn.added(1) == [user(hints.AFTER_TOOL_RESULT)]
    turn = play(*[EMPTY] * 9, empty_retries=3)
    turn.ask(AFTER_RESULT, mode, way, **FILES)
    assert str(turn.bodies).count(hints.AFTER_TOOL_RESULT) == 1


@both
@pytest.mark.parametrize(
    "thought", [R("", reasoning="hm"), R("<think>hm</think>")], ids=["field", "tags"]
)
def test_thinking_alone_is_asked_for_the_answer_and_never_the_same_again(play, mode, way, thought):
    turn = play(thought, R("The answer."))
    assert turn.tell(mode, way).text.endswith("The answer.")
    assert turn.added(1) == [user(hints.ANSWER_NOW)]
    first, second = turn.replay.requests
    assert first.body != second.body


# --- and then -----------------------------------------------------------------------------------


@pytest.mark.behaviour("E5", "P1")
@both
@pytest.mark.parametrize(
    ("more", "settings", "sent"),
    [
        ({}, {}, 2),
        (FILES, {}, 3),
        ({}, {"empty_retries": 3}, 4),
        ({}, {"empty_retries": 0}, 1),
        (FILES, {"empty_recovery": False}, 1),
    ],
)
def test_tries_at_an_empty_answer_end_in_a_typed_empty_result(
    play, mode, way, more, settings, sent
):
    turn = play(*[EMPTY] * 9, **settings)
    got = turn.tell(mode, way, **more)
    assert isinstance(got.error, openai.APIError)
    assert got.error.code == "empty_output"
    assert turn.sent == sent
    assert (turn.ending["status"], turn.ending["reason"]) == ("failed", "empty_output")


@pytest.mark.behaviour("E5")
def test_the_wait_before_an_empty_retry_is_a_jittered_back_off(play):
    turn = play(*[EMPTY] * 3, empty_retries=2, backoff_s=0.1)
    turn.tell()
    times = [asked.at_s for asked in turn.replay.requests]
    first, second = times[1] - times[0], times[2] - times[1]
    assert 0.07 <= first < 0.3
    assert 0.14 <= second < 0.5


@pytest.mark.behaviour("E5")
def test_blank_and_thinking_answers_in_turns_are_bounded_too(play, way):
    turn = play(*[EMPTY, R("", reasoning="hm"), R(" "), R("", MAX, reasoning="hm")] * 4)
    got = turn.tell("body", way, **FILES)
    assert turn.ending["status"] != "complete"
    assert turn.sent <= 6
    assert got.error is not None or got.finish == "length"


@pytest.mark.behaviour("E8")
@both
def test_a_stop_that_names_calls_without_any_is_asked_once_for_the_call(play, mode, way):
    turn = play(R("Let me look.", TOOL), R("", TOOL, [Call()]))
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.finish) == ("Let me look.", "tool_calls")
    assert got.raw_arguments == [Call().arguments]
    said = {"role": "assistant", "content": "Let me look."}
    assert turn.added(1) == [said, user(hints.CALL_MISSING)]
    turn = play(*[R("Let me look.", TOOL)] * 3)
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.calls, turn.sent) == ("Let me look.", [], 2)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "tool_calls_missing")


@pytest.mark.behaviour("E8")
@both
def test_a_call_that_an_sdk_would_drop_for_want_of_a_type_is_found(play, mode, way):
    """…and the stop is that of a call."""
    turn = play(R("", END, [Call(type=None)]))
    got = turn.tell(mode, way, **FILES)
    assert got.raw_arguments == [Call().arguments]
    assert (got.finish, turn.sent) == ("tool_calls", 1)


@pytest.mark.behaviour("E8")
def test_that_recovery_stays_on_where_empty_answers_are_not_recovered(play):
    turn = play(R("", TOOL), R("", TOOL, [Call()]), empty_recovery=False)
    assert turn.tell(**FILES).raw_arguments == [Call().arguments]


@pytest.mark.behaviour("E11")
@both
@pytest.mark.parametrize("on_incomplete", ["stop", "notice"])
def test_a_second_empty_answer_after_a_tool_result_is_passed_on(play, mode, way, on_incomplete):
    turn = play(EMPTY, EMPTY, R("never asked for"), on_incomplete=on_incomplete)
    got = turn.ask(AFTER_RESULT, mode, way, **FILES)
    assert (got.error, got.finish, turn.sent) == (None, "stop", 2)
    assert turn.ending["status"] == "partial"
    if on_incomplete == "stop":
        assert got.text == ""


@pytest.mark.behaviour("E11", "C28", "C25")
@both
@pytest.mark.parametrize("answer", [EMPTY, R("Ye", MAX), R("", MAX, reasoning="h")])
@pytest.mark.parametrize("key", ["max_tokens", "max_completion_tokens"])
def test_a_probe_of_a_few_tokens_is_not_touched(play, mode, way, answer, key):
    turn = play(answer)
    got = turn.tell(mode, way, **{key: 16})
    assert (got.text, got.finish, turn.sent) == (answer.text, answer.stop, 1)
    assert turn.of("left_alone")[0]["why"] == "probe"


@pytest.mark.behaviour("E10")
@both
@pytest.mark.parametrize(
    ("answer", "messages", "more"),
    [
        (EMPTY, [ASK], {}),
        (EMPTY, [ASK], FILES),
        (EMPTY, AFTER_RESULT, FILES),
        (R("", reasoning="hm"), [ASK], FILES),
        (R("<think>hm</think>"), [ASK], {}),
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
    assert got.raw_arguments == [Call().arguments]
    assert turn.added(1) == [user(hints.CALL_MISSING)]
    assert "_note" not in str(turn.bodies)


# --- text that came is used (E7) ----------------------------------------------------------------


@pytest.mark.behaviour("E7")
def test_the_text_of_a_stream_that_broke_is_gone_on_with(play, way):
    turn = play(R("The first half, ", dropped=True), R("and the second."))
    got = turn.tell("stream", way)
    assert (got.text, got.finish) == ("The first half, and the second.", "stop")
    assert turn.added(1)[0] == {"role": "assistant", "content": "The first half,"}


@pytest.mark.behaviour("E7")
@pytest.mark.parametrize(
    "later", [R("", dropped=True), R("", reasoning="hm", stop=MAX), Refused(500)]
)
def test_the_text_of_a_stream_that_broke_is_kept_where_nothing_follows(play, later):
    turn = play(R("The first half, ", dropped=True), *[later] * 9)
    given: Any = {"model": "m", "messages": [ASK], "stream": True}
    stream, shown = turn.client.chat.completions.create(**given), ""
    try:
        for chunk in stream:
            shown += "".join(choice.delta.content or "" for choice in chunk.choices)
    except openai.APIError as error:
        assert error.code != "empty_output"  # noqa: PT017 - either way the text was shown
    assert shown.strip() == "The first half,"
    # A further stream without a word or a mark shows nothing (S3c).
    assert turn.ending["status"] == "partial"


# --- an upstream that gave up (E9) --------------------------------------------------------------


class GaveUp(R):
    """An error as the body of a 200, or as a chunk behind the first words of a stream."""

    def body(self, model: str) -> bytes:
        return Refused(200, code="cascade_exhausted").body()

    def stream(self, model: str, *, include_usage: bool) -> bytes:
        words = super().stream(model, include_usage=include_usage).split(b"\n\n")
        return b"\n\n".join([*words[:2], b"data: " + self.body(model), b"data: [DONE]", b""])


@pytest.mark.behaviour("E9")
@both
@pytest.mark.parametrize("words", ["", "Half"])
def test_an_upstream_that_gave_up_is_not_asked_again(play, mode, way, words):
    turn = play(GaveUp(words), *[R("never asked for")] * 9)
    turn.tell(mode, way, **FILES)
    assert turn.sent == 1
    assert turn.ending["status"] != "complete"


@pytest.mark.behaviour("E9")
@both
def test_what_another_tenuto_gave_up_is_not_asked_again(stage, mode, way):
    """Its error, as the SDK got it, is what the next one meets; no layer tries on."""
    base, replay = stage
    inner = played(base, replay, *[R("")] * 9)
    error = inner.tell(mode, way).error
    assert isinstance(error, openai.APIError)
    about = {"message": error.message, "type": error.type, "param": None, "code": error.code}
    assert about["type"] == "tenuto_incomplete"
    outer = played(base, replay, Verbatim({"error": about}), *[R("never asked for")] * 9)
    got = outer.tell(mode, way)
    assert isinstance(got.error, openai.APIError)
    assert outer.sent == 1


@dataclass(frozen=True)
class Verbatim(R):
    """A document as it is, or as the only event."""

    document: Any = None

    def __init__(self, document: Any) -> None:
        super().__init__()
        object.__setattr__(self, "document", document)

    def body(self, model: str) -> bytes:
        return json.dumps(self.document).encode()

    def stream(self, model: str, *, include_usage: bool) -> bytes:
        return b"data: " + self.body(model) + b"\n\n"


# --- reasoning stays reasoning (E13) ------------------------------------------------------------


@pytest.mark.behaviour("E13")
@both
def test_reasoning_of_a_continuation_stays_out_of_the_text(play, mode, way):
    turn = play(R("Half, ", MAX, reasoning="I think. "), R("whole.", reasoning="Still. "))
    assert turn.tell(mode, way).text == "Half, whole."
    row = {"role": "assistant", "content": "Half,", "reasoning_content": "I think. "}
    assert turn.added(1)[0] == row


@pytest.mark.behaviour("E13")
@both
@pytest.mark.parametrize("first", [R("", reasoning="hm"), R("", MAX, reasoning="hm"), EMPTY])
def test_reasoning_before_an_answer_is_no_part_of_its_text(play, mode, way, first):
    turn = play(first, R("The answer.", reasoning="Ah. "))
    assert turn.tell(mode, way).text == "The answer."


@pytest.mark.behaviour("E13")
@both
@pytest.mark.parametrize("first", [R("<think>hm"), R("<think>hm</think>"), R("<think>hm", MAX)])
def test_an_answer_stands_outside_of_the_think_block_before_it(play, mode, way, first):
    turn = play(first, R("The answer."))
    text = turn.tell(mode, way).text
    assert re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL).strip() == "The answer."


@pytest.mark.behaviour("E13")
@both
@pytest.mark.parametrize("before", ["", "<think>Moon.</think>\n\n"])
@pytest.mark.parametrize("rest", ["th turns.", "The tides come, since the earth turns."])
def test_what_is_thought_before_a_continuation_tears_no_word_apart(play, mode, way, before, rest):
    cut = "The tides come, since the ear"
    turn = play(R(before + cut, MAX), R(f"<think>I go on with it.</think>\n\n{rest}"))
    assert turn.tell(mode, way).text == before + "The tides come, since the earth turns."


@pytest.mark.behaviour("E13", "C11")
@both
def test_a_continuation_that_only_thinks_leaves_the_cut_text_as_it_was(play, mode, way):
    turn = play(R("The ear", MAX), R("<think>I go on with", MAX))
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == ("The ear", "length")
    assert turn.ending["reason"] == "reasoning_budget"


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


# --- blocked and refused ------------------------------------------------------------------------


@pytest.mark.behaviour("E12")
@both
@pytest.mark.parametrize("text", ["", "Half a sen"])
def test_what_a_filter_stopped_is_not_tried_again(play, mode, way, text):
    turn = play(R(text, SAFETY))
    got = turn.tell(mode, way)
    assert (got.text, got.finish, turn.sent) == (text, SAFETY, 1)
    assert turn.ending["reason"] == "safety_blocked"
    assert turn.ending["suggestion"] == "modify_prompt"


@pytest.mark.behaviour("E12")
@both
def test_a_refusal_is_not_tried_again_and_its_words_are_handed_on(play, mode, way):
    turn = play(R("", refusal="I cannot help with that."))
    got = turn.tell(mode, way)
    assert got.message["refusal"] == "I cannot help with that."
    assert (turn.sent, turn.ending["reason"]) == (1, "refused")


@pytest.mark.behaviour("E12", "C6")
@both
def test_a_refusal_in_a_continuation_keeps_the_text_and_its_words(play, mode, way):
    turn = play(R("Half ", MAX), R("", refusal="I cannot go on."), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.message["refusal"]) == ("Half ", "I cannot go on.")
    assert (turn.sent, turn.ending["status"], turn.ending["reason"]) == (2, "partial", "refused")


@pytest.mark.behaviour("E12")
@both
def test_a_prompt_that_a_filter_refuses_shows_the_providers_own_words(play, mode, way):
    words = "The response was filtered due to the prompt."
    turn = play(Refused(400, words, code="content_filter"))
    got = turn.tell(mode, way)
    assert isinstance(got.error, openai.BadRequestError)
    assert words in str(got.error)
    assert (turn.sent, turn.ending["reason"]) == (1, "safety_blocked")


# --- what is told of it -------------------------------------------------------------------------


@pytest.mark.behaviour("E14")
@both
@pytest.mark.parametrize(
    ("answer", "messages", "more", "shape"),
    [
        (EMPTY, [ASK], {}, ([], 0, 0, "end_turn", False, False)),
        (R(" \n ", END), [ASK], FILES, (["text"], 3, 0, "end_turn", True, False)),
        (R("", reasoning="SECRET"), [ASK], {}, (["reasoning"], 0, 6, "end_turn", False, False)),
        (EMPTY, AFTER_RESULT, FILES, ([], 0, 0, "end_turn", True, True)),
    ],
)
def test_the_event_of_an_empty_answer_tells_its_shape_and_no_content(
    play, mode, way, answer, messages, more, shape
):
    turn = play(answer, R("The answer."))
    turn.ask(messages, mode, way, **more)
    event: dict[str, Any] = turn.of("empty_recovery")[0]
    names = ("text_chars", "reasoning_chars", "stop", "tools", "after_tool_result")
    keys = [key for key in event["keys"] if key != "usage"]
    assert (keys, *(event[name] for name in names)) == shape
    told = str([event.as_dict() for event in turn.events])
    assert not any(word in told for word in ("SECRET", "Tell me", "The answer", "written"))
