"""Text that was cut is continued: what leaves on the wire, and what the caller gets."""

from __future__ import annotations

import json
import re
from typing import Any

import openai
import pydantic
import pytest
from support.asking.openai_chat import TOOLS
from support.replay.openai_chat import ASK, END, FILES, MAX, SAFETY, TOOL, Call, R, Refused

from tenuto_sim import Simulator, Step
from tenuto_sim.case import Continuation

both = pytest.mark.parametrize("mode", ["body", "stream"])
WHOLE_CALL = Call()
SENTENCES = " ".join(f"Sentence {n} says {n * n} of {n + 7}." for n in range(6_000))
"""Long, and nothing in it repeats."""


# --- how far a turn goes ------------------------------------------------------------------------


@pytest.mark.behaviour("C1")
@both
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
def test_two_parts_become_one_text(play, mode, way, on_incomplete):
    turn = play(R("part 1 ", MAX), R("part 2", END), on_incomplete=on_incomplete)
    got = turn.tell(mode, way)
    assert (got.text, got.finish, got.error) == ("part 1 part 2", "stop", None)
    assert turn.sent == 2
    assert (turn.ending["status"], turn.ending["reason"]) == ("complete", "completed")


@pytest.mark.behaviour("C2")
@both
def test_four_cut_parts_are_all_there_is(play, mode, way):
    turn = play(*[R(part, MAX) for part in "ABCDE"])
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == ("ABCD", "length")
    assert turn.sent == 4
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "retry_limit")
    assert turn.ending["suggestion"] == "increase_budget"


@pytest.mark.behaviour("C2", "P3")
@pytest.mark.parametrize("attempts", [0, 1, 5])
def test_the_number_of_continuations_can_be_set(play, attempts):
    parts = "ABCDEFGH"
    turn = play(*[R(part, MAX) for part in parts], continuation_max_attempts=attempts)
    got = turn.tell(max_tokens=1_000)
    assert got.text == parts[: attempts + 1]
    assert turn.ending["reason"] == "retry_limit"


@pytest.mark.behaviour("C3")
@both
def test_beyond_the_output_cap_no_continuation_starts_and_all_text_is_delivered(play, mode, way):
    long = SENTENCES[:120_001]
    turn = play(R(long, MAX, piece_chars=4_000), R("never asked for"))
    got = turn.tell(mode, way)
    assert got.text == long
    assert turn.sent == 1
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "output_cap")


@pytest.mark.behaviour("C3")
def test_up_to_the_output_cap_a_text_goes_on_and_is_never_cut(play):
    at_the_cap = SENTENCES[:119_999] + "x"
    turn = play(R(at_the_cap, MAX), R("y" * 10, MAX), R("never asked for"))
    assert turn.tell().text == at_the_cap + "y" * 10
    assert turn.sent == 2
    assert turn.ending["reason"] == "output_cap"


@pytest.mark.behaviour("C4", "C17")
@both
def test_four_times_the_first_limit_in_tokens_really_used_is_all_that_a_turn_may_cost(
    play, mode, way
):
    turn = play(R("A", MAX, tokens=90), R("B", MAX, tokens=200), R("C", MAX, tokens=110), R("D"))
    more: Any = {"stream_options": {"include_usage": True}} if mode == "stream" else {}
    got = turn.tell(mode, way, max_tokens=100, **more)
    assert turn.budgets == [100, 200, 110], "boosted, then clamped to what 4 × 100 leaves"
    assert (got.text, got.finish) == ("ABC", "length")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "budget_exhausted")


@pytest.mark.behaviour("C4a")
@pytest.mark.parametrize(
    ("tokens", "settings", "budgets"),
    [
        (2_000, {}, [None, 8_000, 16_000, 24_000]),  # four times what came so far
        (None, {}, [None, 4_096, 4_096]),
        (50, {"continuation_max_total_completion_tokens": 70}, [None, 20]),
        (50, {"continuation_max_total_completion_tokens": 0}, [None, 4_096, 4_096, 4_096]),
    ],
)
def test_without_a_limit_of_its_own_a_turn_is_bounded_by_its_first_answer(
    play, tokens, settings, budgets
):
    parts = [SENTENCES[at : at + 300] for at in range(0, 1_500, 300)]
    turn = play(*[R(part, MAX, tokens=tokens) for part in parts], **settings)
    turn.tell()
    assert turn.budgets[: len(budgets)] == budgets


@pytest.mark.behaviour("C29")
@both
def test_a_turn_ends_when_its_time_is_up(play, mode, way):
    turn = play(R("A", MAX), R("B", wait_s=0.15), turn_timeout_s=0.1)
    got = turn.tell(mode, way)
    assert (got.text, got.finish, turn.sent) == ("A", "length", 2)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "provider_error")


@pytest.mark.behaviour("C12")
@both
@pytest.mark.parametrize(("window", "sent"), [(1_111, 1), (1_112, 2)])
def test_without_512_free_tokens_of_the_context_window_no_continuation_starts(
    play, mode, window, sent
):
    turn = play(R("A", MAX, tokens=100, input_tokens=500), R("B"), context_window_tokens=window)
    more: Any = {"stream_options": {"include_usage": True}} if mode == "stream" else {}
    turn.tell(mode, **more)
    assert turn.sent == sent
    if sent == 1:
        assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "context_window")
        assert "context window" in turn.ending["advice"]


# --- failures on the way ------------------------------------------------------------------------

FAILURES = {
    "server": Refused(500),
    "overloaded": Refused(529),
    "forbidden": Refused(403),
    "drop": R("", dropped=True),
}


@pytest.mark.behaviour("C5")
@both
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("limit", [{}, {"max_tokens": 1_000}], ids=["free", "limited"])
def test_a_failure_in_a_continuation_keeps_the_text(play, mode, way, failure, limit):
    turn = play(R("kept ", MAX), failure, failure, failure)
    got = turn.tell(mode, way, **limit)
    assert (got.text, got.finish, got.error) == ("kept ", "length", None)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "provider_error")
    # A body that is lost may have been billed in full, so it counts as all that it was allowed (C4).
    lost_body = bool(limit) and mode == "body" and failure == FAILURES["drop"]
    assert turn.sent == (2 if failure == Refused(403) else 3 if lost_body else 4)


@pytest.mark.behaviour("C5")
def test_with_no_retries_a_failure_in_a_continuation_ends_the_turn(play, way):
    turn = play(R("kept", MAX), Refused(500), R(" on"), fault_retries=0)
    assert turn.tell("body", way).text == "kept"
    assert turn.sent == 2
    assert turn.ending["reason"] == "provider_error"


@pytest.mark.behaviour("C5", "C28a")
@both
def test_a_timeout_in_a_continuation_keeps_the_text(play, mode, way):
    slow = R("too late", wait_s=0.6)
    turn = play(R("kept", MAX), slow, slow, slow)
    got = turn.tell(mode, way, timeout=0.2)
    assert (got.text, got.finish, got.error) == ("kept", "length", None)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "provider_error")
    # The caller waits 0.2 s for a whole body, however many requests it takes.
    assert turn.sent == (2 if mode == "body" else 4)


@pytest.mark.behaviour("C5")
def test_a_text_that_no_first_attempt_began_is_kept_too(play, way):
    slow = R("too late", wait_s=0.4)
    turn = play(Refused(400, TOO_LARGE), R("kept", MAX), slow)
    got = turn.tell("body", way, max_tokens=200, timeout=0.2)
    assert (got.text, got.finish, got.error) == ("kept", "length", None)


@pytest.mark.behaviour("C5", "S3")
def test_a_drop_in_the_middle_of_a_continuation_goes_on_from_what_came(play, way):
    turn = play(R("One, two, ", MAX), R("three, ", dropped=True), R("four."))
    got = turn.tell("stream", way)
    assert (got.text, got.finish) == ("One, two, three, four.", "stop")
    assert turn.added(2)[0] == {"role": "assistant", "content": "One, two, three,"}


@pytest.mark.behaviour("C6")
@both
@pytest.mark.parametrize(
    "stop",
    [SAFETY, "guardrail_intervened", "model_context_window_exceeded", "refusal", "weird_new"],
)
def test_what_is_not_cut_by_the_limit_is_not_continued(play, mode, way, stop):
    turn = play(R("Half a sen", stop), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == ("Half a sen", stop)
    assert turn.sent == 1
    assert turn.ending["status"] == "partial"


@pytest.mark.behaviour("C6", "E12", "P1a")
@both
def test_a_cut_text_whose_rest_is_refused_does_not_pass_for_whole(play, mode, way):
    turn = play(R("Half a sen", MAX), R("", refusal="I can't go on with that."))
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == ("Half a sen", SAFETY)
    assert (turn.ending["status"], turn.ending["stop"]) == ("partial", "refusal")


@pytest.mark.behaviour("C6", "E12")
@both
def test_a_continuation_that_is_blocked_is_the_last(play, mode, way):
    turn = play(R("Half ", MAX), R("a sen", SAFETY), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == ("Half a sen", SAFETY)
    assert turn.sent == 2
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "safety_blocked")


# --- what leaves --------------------------------------------------------------------------------

ODD_BODY = (
    b'{ "model":"m","temperature":1.0, "big":123456789012345678901234567890,"huge":1e400,\n'
    b'"messages" : [ {"role" : "system","content":"caf\\u00e9 \\/ \xe2\x82\xac"},\n'
    b'  {"content":[{"type":"text","text":"Hi"}], "role":"user", "x":1.50} ],"stream":%s,"seed":7}'
)


@pytest.mark.behaviour("C7", "C10")
@both
def test_a_continuation_is_the_callers_bytes_and_the_text_once_and_a_hint(play, mode):
    turn = play(R("Said so far. \n\n", MAX), R("And the rest."))
    body = ODD_BODY % (b"true" if mode == "stream" else b"false")
    response = turn.client._client.post(
        turn.replay.base_url + "/chat/completions",
        content=body,
        headers={"content-type": "application/json"},
    )
    assert "And the rest." in "".join(re.findall(r'"content":\s?"(.*?)"', response.text))
    first, second = (asked.body for asked in turn.replay.requests)
    assert first == body
    for piece in (
        b'"temperature":1.0',
        b'"big":123456789012345678901234567890',
        b'"huge":1e400',
        b'"seed":7',
        b'{"role" : "system","content":"caf\\u00e9 \\/ \xe2\x82\xac"}',
        b'{"content":[{"type":"text","text":"Hi"}], "role":"user", "x":1.50}',
    ):
        assert second.count(piece) == 1
    said, hint = turn.added(1)
    assert said == {"role": "assistant", "content": "Said so far."}
    assert hint["role"] == "user"
    assert second.count(b"Said so far.") == 1


@pytest.mark.behaviour("C7", "C22")
@both
def test_no_hint_that_was_put_into_a_request_comes_back_in_the_answer(play, mode, way):
    turn = play(R("One ", MAX), R("two ", MAX), R("three."))
    got = turn.tell(mode, way)
    assert got.message["content"] == "One two three."
    assert "[" not in json.dumps(got.message["content"])
    # Hints and text are replaced, never stacked: each request holds one row of each.
    assert [len(turn.added(n)) for n in (1, 2)] == [2, 2]
    assert turn.added(2)[0]["content"] == "One two"


@pytest.mark.behaviour("C22")
@both
def test_after_the_last_try_the_history_holds_one_row_and_no_hint(play, mode, way):
    turn = play(*[R(f"{part} ", MAX) for part in ("One", "two", "three", "four")], R("Fine."))
    got = turn.tell(mode, way, max_tokens=1_000)
    turn.ask([ASK, got.message, {"role": "user", "content": "Go on."}], mode, way)
    rows = turn.bodies[-1]["messages"]
    assert [row["role"] for row in rows] == ["user", "assistant", "user"]
    assert rows[1]["content"] == "One two three four "


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize("body", [b"no json", b'{"model":"m"}', b'{"messages":[1]}', b"[]", b""])
def test_a_body_that_is_no_request_passes_untouched(play, body):
    turn = play(Refused(400))
    response = turn.client._client.post(turn.replay.base_url + "/chat/completions", content=body)
    assert response.status_code == 400
    assert [asked.body for asked in turn.replay.requests] == [body]
    assert turn.events == []


@pytest.mark.behaviour("C9")
def test_the_hint_says_what_happened_and_what_is_wanted(play):
    turn = play(R("Half a ", MAX), R("sentence."))
    turn.tell()
    hint = turn.added(1)[1]["content"].lower()
    for fact in (
        "cut off by the output limit",
        "exactly where it stopped",
        "do not repeat",
        "finish the answer directly",
        "one complete call",
    ):
        assert fact in hint


@pytest.mark.behaviour("C10", "C11")
@both
@pytest.mark.parametrize("text", ["", "  \n", "<think>half a thou", "<think>all</think>\n"])
def test_text_that_nobody_can_read_is_not_sent_back(play, mode, way, text):
    turn = play(R(text, MAX), R("The answer."))
    got = turn.tell(mode, way)
    assert got.text.endswith("The answer.")
    assert [row["role"] for row in turn.added(1)] == ["user"]


# --- prefill ------------------------------------------------------------------------------------


@pytest.mark.behaviour("C8")
@both
def test_a_model_that_takes_a_prefill_gets_the_text_and_no_hint(play, mode, way):
    said = "The first half of the story "
    turn = play(
        R(said, MAX), R("and the second.", echo="The first half of the story"), prefill="always"
    )
    got = turn.tell(mode, way)
    assert turn.added(1) == [{"role": "assistant", "content": said.strip()}]
    assert got.text == said + "and the second.", "the echo of whole bodies is taken out"


@pytest.mark.behaviour("C4a", "C8")
@both
def test_a_repeated_prefill_counts_as_no_tokens_of_the_model(play, mode, way):
    said = "The moon pulls the sea towards it. " * 3 + "The earth turns below, and so each harbour"
    more = " has two high tides in a day, about twelve hours and a half apart from one another, most of"
    turn = play(
        R(said, MAX, tokens=19),
        R(more, MAX, echo=said, tokens=12),
        R(" the time.", echo=said + more, tokens=3),
        prefill="always",
    )
    got = turn.tell(mode, way, max_tokens=19)
    assert (got.text, got.finish) == (f"{said}{more} the time.", "stop")


@pytest.mark.behaviour("S3b", "C14a")
@both
@pytest.mark.parametrize("prefill", ["always", "never"])
@pytest.mark.parametrize("policy", ["stop", "error"])
@pytest.mark.parametrize("begin", [0, 31])
def test_an_attempt_that_only_repeats_and_breaks_off_adds_nothing(
    play, mode, way, prefill, policy, begin
):
    whole = (
        "The moon pulls the sea towards it, and the sea follows. A second bulge stands on the far "
        "side, where the pull is weakest, and the shore turns under both of them twice a day."
    )
    said = whole[:130]
    turn = play(
        R(said, MAX),
        R(said[begin : begin + 90], dropped=True),
        R(whole[130:]),
        prefill=prefill,
        on_incomplete=policy,
    )
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == (whole, "stop")
    for number in (1, 2):
        assert turn.added(number)[0] == {"role": "assistant", "content": said.strip()}


@pytest.mark.behaviour("C8")
@both
@pytest.mark.parametrize("echo", [True, False])
def test_a_prefill_is_continued_exactly(asking_a_simulator, mode, way, echo):
    sim, asker = asking_a_simulator({"prefill": "continue", "prefill_echo": echo}, prefill="always")
    sim.script([Step(keep=0.4, finish="length"), Step(keep=0.4, finish="length")])
    got = asker.ask([ASK], mode, way)
    assert (got.text, got.finish) == (sim.answer("Tell me."), "stop")
    assert [r.json["messages"][-1]["role"] for r in sim.requests] == [
        "user",
        "assistant",
        "assistant",
    ]


@pytest.mark.behaviour("C8")
@both
@pytest.mark.parametrize("words", ["anthropic", "mistral", "deepseek"])
def test_a_rejected_prefill_is_asked_for_the_other_way_at_once_and_ever_after(
    asking_a_simulator, mode, way, words
):
    settings = {"prefill": "reject", "prefill_refusal": words}
    sim, asker = asking_a_simulator(settings, prefill="always")
    for turn in range(2):
        sim.requests.clear()
        sim.script([Step(keep=0.5, finish="length")])
        got = asker.ask([ASK], mode, way)
        assert (got.text, got.finish) == (sim.answer("Tell me."), "stop")
        lasts = [r.json["messages"][-1]["role"] for r in sim.requests]
        assert lasts == (["user", "user"] if turn else ["user", "assistant", "user"])
        sim.forget()


@pytest.mark.behaviour("C8", "P8c")
def test_what_a_400_taught_is_told_apart_by_model(play):
    rejection = Refused(400, "This model does not support assistant message prefill.")
    turn = play(
        *(R("A ", MAX), rejection, R("B")), *(R("C ", MAX), R("D")), *(R("E ", MAX), R("F")),
        prefill="always",
    )  # fmt: skip
    assert turn.tell(model="old").text == "A B"
    assert turn.tell(model="new").text == "C D"
    assert turn.tell(model="old").text == "E F"
    lasts = [body["messages"][-1]["role"] for body in turn.bodies]
    assert lasts == ["user", "assistant", "user", "user", "assistant", "user", "user"]


# --- reasoning ----------------------------------------------------------------------------------


@pytest.mark.behaviour("C11")
@both
def test_where_there_is_a_knob_the_next_request_reasons_less_and_may_write_more(play, mode, way):
    turn = play(R("", MAX, reasoning="hm " * 30, tokens=100), R("The answer."))
    got = turn.tell(mode, way, max_tokens=100, reasoning_effort="high")
    assert (got.text, got.finish) == ("The answer.", "stop")
    assert turn.added(1) == [], "nothing is there to be continued"
    assert [body["reasoning_effort"] for body in turn.bodies] == ["high", "low"]
    assert turn.budgets == [100, 200]


@pytest.mark.behaviour("C11")
@both
def test_without_a_knob_the_next_request_may_write_more_and_a_hint_asks_for_less(play, mode, way):
    turn = play(R("", MAX, reasoning="hm " * 30, tokens=100), R("The answer."))
    got = turn.tell(mode, way, max_tokens=100)
    assert (got.text, got.finish) == ("The answer.", "stop")
    (hint,) = turn.added(1)
    assert "reasoning" in hint["content"]
    assert "continue" not in hint["content"].lower()
    assert "reasoning_effort" not in turn.bodies[1]
    assert turn.budgets == [100, 200]


@pytest.mark.behaviour("C11", "P1")
@both
@pytest.mark.parametrize("more", [{}, {"reasoning_effort": "high"}])
def test_reasoning_that_takes_the_second_budget_too_ends_partial_with_advice(play, mode, way, more):
    answers = [R("", MAX, reasoning="hm " * 30, tokens=20)] * 3
    turn = play(*answers)
    got = turn.tell(mode, way, max_tokens=100, **more)
    assert (got.text, got.finish, turn.sent) == ("", "length", 2)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "reasoning_budget")
    assert "max_tokens" in turn.ending["advice"]
    assert "reasoning" in turn.ending["advice"]
    turn = play(*answers, on_incomplete="error")
    error = turn.tell(mode, way, max_tokens=100, **more).error
    assert isinstance(error, openai.APIError)
    assert "max_tokens" in str(error)


@pytest.mark.behaviour("C20", "H5b")
@both
def test_reasoning_goes_back_unless_the_provider_refuses_it(play, behind, mode):
    answers = (R("Half, ", MAX, reasoning="I think. "), R("whole.", reasoning="Still. "))
    turn = behind("http://api.groq.com/openai/v1", *answers)
    turn.tell(mode)
    assert turn.added(1)[0] == {"role": "assistant", "content": "Half,"}
    turn = behind("http://api.deepseek.com/v1", *answers)
    got = turn.tell(mode)
    assert got.text == "Half, whole."
    assert turn.added(1)[0] == {
        "role": "assistant",
        "content": "Half,",
        "reasoning_content": "I think. ",
    }


# --- runaway ------------------------------------------------------------------------------------


@pytest.mark.behaviour("C13", "C5")
@both
@pytest.mark.parametrize(("stop", "why"), [(END, "empty_output"), (MAX, "runaway")])
def test_a_continuation_of_white_space_is_none(play, mode, way, stop, why):
    turn = play(R("Half said", MAX), R("\n\n  ", stop), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.finish, turn.sent) == ("Half said", "length", 2)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", why)


@pytest.mark.behaviour("C13")
@both
def test_a_continuation_that_only_repeats_ends_the_loop(play, mode, way):
    said = "Alpha is the first letter. Beta is the second letter. Gamma is the third."
    turn = play(R(said, MAX), R("Beta is the second letter. Gamma is the third.", MAX), R("never"))
    got = turn.tell(mode, way)
    assert (got.text, got.finish, turn.sent) == (said, "length", 2)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "runaway")


@pytest.mark.behaviour("C13")
@both
@pytest.mark.parametrize("stop", [END, MAX])
def test_a_continuation_that_says_nothing_does_not_make_a_cut_text_whole(play, mode, way, stop):
    turn = play(R("Half a sen", MAX), *[R("", stop)] * 9)
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == ("Half a sen", "length")
    assert turn.ending["status"] == "partial"
    assert turn.sent <= 4


@pytest.mark.behaviour("C13")
@both
def test_a_text_that_became_one_period_is_delivered_once_and_not_continued(play, mode, way):
    runaway = "Let me see. " + "I will now fix that bug, too. " * 30
    turn = play(R(runaway, MAX), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, turn.sent) == (runaway, 1)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "runaway")


@pytest.mark.behaviour("C13", "N4")
@both
@pytest.mark.parametrize("calls", [(), (WHOLE_CALL,)], ids=["text", "calls"])
def test_what_the_provider_stopped_for_repeating_itself_is_left_at_that(play, mode, way, calls):
    turn = play(R("Over and over.", "repetition", calls), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.finish, got.error) == ("Over and over.", "repetition", None)
    assert (got.calls, turn.sent) == ([], 1)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "runaway")


@pytest.mark.behaviour("C13", "S3")
def test_a_stream_that_broke_off_in_a_runaway_is_not_resumed(play):
    turn = play(R("I will now fix that bug, too. " * 30, dropped=True), R("never asked for"))
    assert turn.tell("stream").error is None  # the plain SDK shows an unmarked end so, too
    assert (turn.sent, turn.ending["status"], turn.ending["reason"]) == (1, "partial", "runaway")


@pytest.mark.behaviour("C13")
@pytest.mark.parametrize(
    "text",
    [
        "".join(f"- item {n}: value {n}\n" for n in range(40)),
        "| a | b |\n|---|---|\n" + "".join(f"| {n} | {n % 3} |\n" for n in range(60)),
        "0, 0, 0, 1, 0, 0, 1, 0, 0, 0, " * 10,
        "ha " * 30,
    ],
    ids=["list", "table", "numbers", "laughter"],
)
def test_what_merely_resembles_itself_is_continued(play, text):
    turn = play(R(text, MAX), R("The end."))
    assert turn.tell(max_tokens=1_000).text == text + "The end."


# --- the output budget --------------------------------------------------------------------------


@pytest.mark.behaviour("C17")
@both
@pytest.mark.parametrize("key", ["max_tokens", "max_completion_tokens"])
def test_the_budget_grows_in_the_key_that_the_request_uses(play, mode, way, key):
    turn = play(*[R(part, MAX, tokens=1) for part in "ABCD"])
    turn.tell(mode, way, **{key: 100})
    assert [body.get(key) for body in turn.bodies] == [100, 200, 300, 397], "100 × 4, less 3 used"
    other = {"max_tokens", "max_completion_tokens"} - {key}
    assert not any(other & body.keys() for body in turn.bodies)


@pytest.mark.behaviour("C17")
@pytest.mark.parametrize(
    ("asked", "settings", "budgets"),
    [
        (20_000, {}, [20_000, 32_768, 32_768]),
        (40_000, {}, [40_000, 40_000, 40_000]),  # never below what was asked
        (100, {"boost_max_tokens": 150}, [100, 150, 150]),
        (100, {"hard_max_tokens": 120}, [100, 120, 120]),
        (1_000, {"hard_max_tokens": 300}, [1_000, 300, 300]),  # bounds what is ours alone
    ],
)
def test_the_budget_stays_within_every_bound(play, asked, settings, budgets):
    turn = play(R("A", MAX), R("B", MAX), R("C"), **settings)
    turn.tell(max_tokens=asked)
    assert turn.budgets == budgets


@pytest.mark.behaviour("C17")
@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://api.openai.com/v1", "max_completion_tokens"),
        ("http://some.host/v1", "max_tokens"),
    ],
)
def test_a_request_without_a_limit_gets_one_in_the_providers_own_key(behind, url, key):
    turn = behind(url, R("A", MAX, tokens=50), R("B"))
    turn.tell()
    assert turn.bodies[1][key] == 4_096
    assert not {"max_tokens", "max_completion_tokens"} & turn.bodies[0].keys()


@pytest.mark.behaviour("C17a", "C28", "C19")
def test_what_a_turn_may_cost_is_bounded_by_policy_and_header_and_the_report_tells(play):
    answers = (R("A", MAX, tokens=100), R("B", MAX, tokens=150), R("C", tokens=10))
    turn = play(*answers, hard_max_tokens=150)
    raw = turn.client.chat.completions.with_raw_response.create(
        model="m", messages=[ASK], max_tokens=100
    )
    assert turn.budgets == [100, 150, 150]
    report = json.loads(raw.headers["x-tenuto-usage"])
    assert report["billed_output_tokens"] == 260
    turn = play(*answers)
    got = turn.tell(max_tokens=100, extra_headers={"X-Tenuto": "off"})
    assert (got.text, got.finish, turn.sent) == ("A", "length", 1)
    assert "x-tenuto" not in turn.replay.requests[0].headers
    assert turn.of("left_alone") == [{"why": "switched_off", "outcome": "text_cut"}]


TOO_LARGE = "max_tokens is too large: 200. This model supports at most 150 completion tokens."


@pytest.mark.behaviour("C18")
@both
def test_a_limit_that_a_400_names_is_obeyed(play, mode, way):
    turn = play(R("A ", MAX), Refused(400, TOO_LARGE), R("B"))
    got = turn.tell(mode, way, max_tokens=100)
    assert (got.text, got.finish) == ("A B", "stop")
    assert turn.budgets == [100, 200, 150]
    assert turn.added(2) == turn.added(1), "all else is as it was"


@pytest.mark.behaviour("C18")
@both
def test_the_callers_own_limit_is_lowered_where_the_provider_refuses_it(play, mode, way):
    words = "max_completion_tokens is too large: 900. This model supports at most 500 completion …"
    turn = play(Refused(400, words), R("All of it."))
    assert turn.tell(mode, way, max_completion_tokens=900).text == "All of it."
    assert turn.budgets == [900, 500]


@pytest.mark.behaviour("C18")
def test_a_limit_that_is_refused_although_it_was_obeyed_is_not_tried_again(play):
    turn = play(*[Refused(400, TOO_LARGE)] * 4)
    got = turn.tell(max_tokens=200)
    assert isinstance(got.error, openai.BadRequestError)
    assert turn.budgets == [200, 150]


# --- usage --------------------------------------------------------------------------------------


@pytest.mark.behaviour("C19")
@both
def test_the_caller_sees_the_usage_of_one_call(play, mode, way):
    turn = play(R("A", MAX, tokens=7, input_tokens=30), R("B", tokens=5, input_tokens=44))
    more: Any = {"stream_options": {"include_usage": True}} if mode == "stream" else {}
    usage = turn.tell(mode, way, **more).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (30, 12, 42)
    counts = ("input_tokens", "output_tokens")
    assert [{name: used[name] for name in counts} for used in turn.ending["usage"]] == [
        {"input_tokens": 30, "output_tokens": 7},
        {"input_tokens": 44, "output_tokens": 5},
    ]


@pytest.mark.behaviour("C19")
def test_a_stream_that_was_not_asked_for_usage_gets_none(play, way):
    turn = play(R("A", MAX), R("B"))
    assert turn.tell("stream", way).usage is None


# --- the notice ---------------------------------------------------------------------------------

NOTICE = "\n\n[This answer is incomplete: retry limit.]"


@pytest.mark.behaviour("C21")
@both
def test_the_notice_stands_once_at_the_end_of_a_partial_answer(play, mode, way):
    turn = play(*[R(part, MAX) for part in "ABCD"], on_incomplete="notice")
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == ("ABCD" + NOTICE, "length")


@pytest.mark.behaviour("C21")
@both
def test_a_notice_that_comes_back_is_taken_out(play, mode, way):
    turn = play(R("Fine."))
    said = {"role": "assistant", "content": "ABCD" + NOTICE}
    turn.ask([ASK, said, {"role": "user", "content": "Go on."}], mode, way)
    assert turn.bodies[0]["messages"] == [
        ASK,
        {"role": "assistant", "content": "ABCD"},
        {"role": "user", "content": "Go on."},
    ]
    assert turn.of("history_repaired") == [{"repairs": ["notice_removed"]}]


# --- text and calls -----------------------------------------------------------------------------


@pytest.mark.behaviour("C24")
@both
def test_a_continuation_with_a_call_keeps_the_text_before_it_once(play, mode, way):
    turn = play(R("I will write ", MAX), R("it down.", TOOL, [WHOLE_CALL]))
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.finish) == ("I will write it down.", "tool_calls")
    assert got.raw_arguments == [WHOLE_CALL.arguments]
    assert turn.sent == 2


@pytest.mark.behaviour("C24", "T10", "T5", "S2")
@both
def test_a_broken_call_in_a_continuation_is_asked_for_again_after_the_text(play, mode, way):
    cut = Call(arguments='{"path": "a.t')
    turn = play(R("I will write ", MAX), R("it down.", MAX, [cut]), R("", TOOL, [WHOLE_CALL]))
    got = turn.tell(mode, way, **FILES, max_tokens=100)
    assert (got.text, got.finish) == ("I will write it down.", "tool_calls")
    assert got.raw_arguments == [WHOLE_CALL.arguments]
    said, hint = turn.added(2)
    assert said == {"role": "assistant", "content": "I will write it down."}
    assert "tool call was cut off" in hint["content"]


@pytest.mark.behaviour("C28a")
def test_a_continuation_lifts_a_forced_tool_choice(play):
    forced = {"type": "function", "function": {"name": "write_file"}}
    turn = play(R("I will ", MAX), R("not."))
    turn.tell(tools=TOOLS, tool_choice=forced)
    assert [body["tool_choice"] for body in turn.bodies[:2]] == [forced, "auto"]


@pytest.mark.behaviour("C28a")
def test_a_continuation_keeps_a_tool_choice_of_null_that_stands_beside_no_tools(play):
    turn = play(R("I will ", MAX), R("not."))
    turn.tell(extra_body={"tools": None, "tool_choice": None})
    assert [body["tool_choice"] for body in turn.bodies] == [None, None]


@pytest.mark.behaviour("C28")
@both
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"n": 2}, "several_choices"),
        ({"logprobs": True}, "logprobs"),
        ({"modalities": ["text", "audio"]}, "audio"),
    ],
)
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
def test_what_cannot_be_continued_is_left_alone_and_an_event_says_so(
    play, mode, way, more, why, on_incomplete
):
    turn = play(R("Half a ", MAX), on_incomplete=on_incomplete)
    got = turn.tell(mode, way, **more)
    assert (got.text, got.finish, turn.sent) == ("Half a ", "length", 1)
    assert turn.of("left_alone") == [{"why": why, "outcome": "text_cut"}]


@pytest.mark.behaviour("C28a")
@both
def test_a_restart_in_other_words_is_discarded(play, mode, way):
    said = (
        "The harbour lay quiet in the early light, and the boats that had come in at night were "
        "still unloading their catch when the bells of the old church began"
    )
    other = (
        said[:100] + " and nobody was awake but the gulls, who cried over the empty market square."
    )
    turn = play(R(said, MAX), R(other), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.finish) == (said, "length")
    assert turn.ending["status"] == "partial"


@pytest.mark.behaviour("C28a")
def test_each_request_has_an_idempotency_key_of_its_own_and_the_first_id_is_seen(play):
    turn = play(R("A", MAX, id="chatcmpl-first"), R("B", id="chatcmpl-second"))
    made = turn.client.chat.completions.create(
        model="m", messages=[ASK], extra_headers={"Idempotency-Key": "mine"}
    )
    keys = [asked.headers["idempotency-key"] for asked in turn.replay.requests]
    assert keys[0] == "mine"
    assert len(set(keys)) == 2
    assert (made.id, made.choices[0].message.content) == ("chatcmpl-first", "AB")


# --- structured outputs (C27) -------------------------------------------------------------------

CUT = R('{"name": "Zo', MAX)


class Person(pydantic.BaseModel):
    name: str
    age: int


@both
def test_a_cut_document_comes_back_as_one_that_strictly_parses(play, mode, way):
    turn = play(CUT, CUT, R('é \\"Z\\"", "age": 3}'))
    form = {"type": "json_schema", "json_schema": {"name": "p", "schema": {"type": "object"}}}
    got = turn.tell(mode, way, response_format=form)
    assert json.loads(got.text) == {"name": 'Zoé "Z"', "age": 3}
    assert turn.bodies[1] == turn.bodies[0] | {"max_tokens": 4096}, "first all of it again"
    assert "response_format" not in turn.bodies[2]
    assert "JSON document" in turn.added(2)[1]["content"]


@both
@pytest.mark.parametrize("rest", ["and so on.", '```json\n{"name": "Zoe"', '}"', '"]'])
def test_a_document_that_does_not_parse_in_the_end_is_partial(play, mode, way, rest):
    turn = play(CUT, CUT, *[R(rest)] * 2)
    got = turn.tell(mode, way, response_format={"type": "json_object"})
    assert (got.text, got.finish, turn.sent) == ('{"name": "Zo', "length", 4)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "document_invalid")


@both
@pytest.mark.behaviour("C25")
def test_a_document_that_was_never_cut_passes_though_it_does_not_parse(play, mode, way):
    turn = play(R('{"name": "Zo'), on_incomplete="error")
    got = turn.tell(mode, way, response_format={"type": "json_object"})
    assert (got.error, got.text, got.finish, turn.sent) == (None, '{"name": "Zo', "stop", 1)


@pytest.mark.behaviour("C27", "C5")
@pytest.mark.parametrize("rest", ["", " ", '{"name": "Zo'])
@pytest.mark.parametrize("cut", [{"stop": MAX}, {"dropped": True}], ids=["limit", "break"])
def test_a_document_without_its_end_is_partial_where_nothing_more_comes(play, way, cut, rest):
    turn = play(R('{"name": "Zo', **cut), *[R(rest)] * 5)
    got = turn.tell("stream", way, response_format={"type": "json_object"})
    assert (got.text, got.finish) == ('{"name": "Zo', "length")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "document_cut")


@pytest.mark.behaviour("C27")
@both
@pytest.mark.parametrize("rest", ['e", "age": 3}', '{"name": "Zoe", "age": 3}'])
def test_a_document_whose_rest_comes_in_a_code_fence_parses(play, mode, way, rest):
    turn = play(CUT, CUT, R(f"Here is the rest:\n\n```json\n{rest}\n```"))
    got = turn.tell(mode, way, response_format={"type": "json_object"})
    assert (json.loads(got.text), got.finish) == ({"name": "Zoe", "age": 3}, "stop")


@pytest.mark.behaviour("C27")
@both
@pytest.mark.parametrize(
    ("cut", "rest"), [('[{"name": "Zo', 'e"}, {"name": "Al"}]'), ('"gre', 'en"')]
)
def test_a_document_that_is_no_object_is_a_document_too(play, mode, way, cut, rest):
    turn = play(R(cut, MAX), R(cut, MAX), R(rest))
    schema = {"type": ["array", "string"]}
    form = {"type": "json_schema", "json_schema": {"name": "p", "schema": schema}}
    got = turn.tell(mode, way, response_format=form)
    assert (json.loads(got.text), got.finish) == (json.loads(cut + rest), "stop")
    assert turn.ending["status"] == "complete"


def parsed(turn: Any, way: str) -> Any:
    """What the SDK's `parse` makes of a turn."""
    given: Any = {"model": "m", "messages": [ASK], "response_format": Person}
    if way == "sync":
        made = turn.client.chat.completions.parse(**given)
    else:
        made = turn.loop.run_until_complete(turn.async_client.chat.completions.parse(**given))
    return made.choices[0].message.parsed


def test_the_sdks_own_parse_succeeds_on_a_cut_document(play, way):
    turn = play(CUT, CUT, R('e", "a', MAX), R('ge": 3}'))
    assert parsed(turn, way) == Person(name="Zoe", age=3)


@pytest.mark.behaviour("C27")
@both
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
@pytest.mark.parametrize("space", ["", "\n", "\n" * 300])
def test_a_document_that_is_whole_where_the_limit_cut_is_complete(
    play, mode, way, on_incomplete, space
):
    said = '{"name": "Zoe", "age": 3}' + space
    turn = play(R(said, MAX), R("never asked for"), on_incomplete=on_incomplete)
    got = turn.tell(mode, way, response_format={"type": "json_object"})
    assert (got.text.rstrip(), got.finish, got.error) == (said.rstrip(), "stop", None)
    assert (turn.sent, turn.ending["status"], turn.ending["reason"]) == (1, "complete", "completed")
    assert turn.ending["stop"] == "max_tokens", "the report says what came"


@pytest.mark.behaviour("C27")
def test_the_sdks_own_parse_succeeds_where_the_limit_cut_behind_the_document(play, way):
    turn = play(R('{"name": "Zoe", "age": 3}', MAX), R(""))
    assert parsed(turn, way) == Person(name="Zoe", age=3)


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("cuts", [("",), ('{"name": "Zo', 'e", ')], ids=["first", "third"])
def test_the_sdks_own_stream_helper_parses_what_the_limit_cut_behind_the_document(play, cuts):
    rest = '{"name": "Zoe", "age": 3}'.removeprefix("".join(cuts))
    again = [CUT] if cuts[0] else []
    turn = play(*again, *(R(cut, MAX) for cut in cuts if cut), R(rest, MAX), R(""))
    with turn.client.chat.completions.stream(
        model="m", messages=[ASK], response_format=Person
    ) as stream:
        completion = stream.get_final_completion()
    assert completion.choices[0].message.parsed == Person(name="Zoe", age=3)


def test_the_sdks_own_stream_helper_parses_a_cut_document(play):
    turn = play(CUT, CUT, R('e", "age": 3}'))
    with turn.client.chat.completions.stream(
        model="m", messages=[ASK], response_format=Person
    ) as stream:
        completion = stream.get_final_completion()
    assert completion.choices[0].message.parsed == Person(name="Zoe", age=3)


def test_a_document_that_starts_over_is_still_one_document(wrapped, sim: Simulator):
    sim.script([Step(keep=0.5, finish="length"), Step(continuation=Continuation.RESTART)])
    form = {"type": "json_object"}
    got = wrapped().ask([ASK], response_format=form)
    assert got.text == sim.answer("Tell me.", response_format=form)
    json.loads(got.text)


# --- what a newcomer found ----------------------------------------------------------------------


@pytest.mark.behaviour("C4", "C17a")
def test_no_mixture_of_recoveries_asks_for_more_than_four_times_the_limit(play, way):
    only_reasoning = R("", MAX, reasoning="hm", tokens=100)
    turn = play(
        only_reasoning,
        R("", END, reasoning="hm", tokens=200),
        R("", END, tokens=100),
        R("", END, tokens=100),
        R("", TOOL, tokens=100),
        R("never asked for"),
        empty_retries=5,
    )
    turn.tell("body", way, max_tokens=100)
    asked = [body["max_tokens"] for body in turn.bodies]
    assert asked[:2] == [100, 200]
    assert sum(asked) <= 400, asked
    assert turn.ending["reason"] == "budget_exhausted"


@pytest.mark.behaviour("C4")
def test_a_stream_without_usage_counts_what_each_attempt_was_allowed(play, way):
    turn = play(*[R(f"{n} " + "word " * 60, MAX, tokens=None) for n in range(6)], R("end"))
    turn.tell("stream", way, max_tokens=50)
    asked = [body["max_tokens"] for body in turn.bodies]
    assert asked == [50, 100, 50]
    assert turn.ending["reason"] == "budget_exhausted"


@pytest.mark.behaviour("S3")
def test_a_stream_that_broke_behind_its_last_word_is_whole(play, way):
    turn = play(R("All was said.", None, dropped=True), R("", END))
    got = turn.tell("stream", way)
    assert (got.text, got.finish, got.error) == ("All was said.", None, None)
    assert turn.ending["status"] == "complete"
