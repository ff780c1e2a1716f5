"""Tool calls that came broken: none is handed out, and the call is got whole or given up in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.anthropic_messages import assert_one_message, events_of
from support.replay.anthropic_messages import ASK, END, FILES, MAX, TOOL, Call, R, assistant, user
from support.replay.openai_chat import Refused

from tenuto.core import hints

both = pytest.mark.parametrize("mode", ["body", "stream"])

WHOLE = Call()
CUT = Call(arguments='{"path": "a.txt", "conte')
MALFORMED = Call(arguments="{'path': 'a.txt', 'content': 'x'})")
SECOND = Call(arguments='{"path": "b.txt", "content": "y"}', id="toolu_b")
BROKEN = {"cut": CUT, "malformed": MALFORMED, "array": Call(arguments='["a.txt", "x"]')}
DONE = R("", TOOL, [WHOLE])
GIVEN = {"path": "a.txt", "content": "x"}
GIVEN_SECOND = {"path": "b.txt", "content": "y"}


def failed(*calls: tuple[str, str]) -> dict[str, Any]:
    """The row that answers calls as failed."""
    results = [
        {"type": "tool_result", "tool_use_id": name, "is_error": True, "content": text}
        for name, text in calls
    ]
    return {"role": "user", "content": results}


def empty(call: Call) -> dict[str, Any]:
    return call.block() | {"input": {}}


@pytest.mark.behaviour("T1", "T16", "H4")
@both
@pytest.mark.parametrize("stop", [MAX, TOOL, END, None])
@pytest.mark.parametrize("call", BROKEN.values(), ids=BROKEN)
def test_arguments_that_do_not_parse_are_neither_handed_out_nor_replaced(
    play, mode, way, call, stop
):
    turn = play(R("", stop, [call]), DONE)
    got = turn.tell(mode, way, **FILES)
    if mode == "body" and call is CUT and stop is not MAX:
        # The provider closed it, and nothing but a missing member shows a cut (T12b).
        assert (got.inputs, turn.sent) == ([{"path": "a.txt"}], 1)
        return
    assert got.inputs == [GIVEN], "the call that came whole, and no {}"
    assert (got.stop, turn.sent) == ("tool_use", 2)
    assert 'conte"' not in str(turn.bodies[1]["messages"])
    assert call.arguments not in str(turn.bodies[1])


@pytest.mark.behaviour("T1", "T16", "S4")
def test_no_piece_of_a_broken_call_is_in_the_stream(play):
    turn = play(R("I write. ", MAX, [CUT]), R("", TOOL, [SECOND]))
    raw = turn.client.messages.with_raw_response.create(
        model="m", messages=[ASK], max_tokens=999, stream=True, **FILES
    )
    stream = raw.http_response.read()
    events = events_of(stream)
    assert_one_message(events)
    (call,) = [e for e in events if e.get("content_block", {}).get("type") == "tool_use"]
    assert call["index"] == 1
    assert call["content_block"]["id"] == "toolu_b"
    assert b"a.txt" not in stream
    assert b"toolu_a" not in stream


@pytest.mark.behaviour("T2", "T5")
@both
def test_a_cut_call_and_a_malformed_one_are_told_different_things(play, mode, way):
    told = []
    for call, stop in ((CUT, MAX), (MALFORMED, TOOL)):
        turn = play(*[R("", stop, [call])] * 2, DONE)
        turn.tell(mode, way, **FILES)
        told.append((turn.added(1), turn.added(2)))
    (cut, cut_answer), (malformed, malformed_answer) = told
    assert cut == [user(hints.REPEAT_CALL)]
    assert malformed == [user(hints.REPAIR_CALL)]
    row = assistant(empty(WHOLE))
    assert cut_answer == [row, failed(("toolu_a", hints.CALL_CUT_RESULT))]
    assert malformed_answer == [row, failed(("toolu_a", hints.CALL_MALFORMED_RESULT))]


@pytest.mark.behaviour("T3")
@both
def test_on_a_cut_response_even_a_whole_call_is_refused(play, mode, way):
    turn = play(R("", MAX, [WHOLE]), R("", TOOL, [SECOND]))
    assert turn.tell(mode, way, **FILES).inputs == [GIVEN_SECOND]
    assert turn.sent == 2


NO_CONTENT = Call(arguments='{"path": "a.txt"}', id="toolu_c")
NUMBER = Call(arguments='{"path": 7, "content": "x"}', id="toolu_d")
NO_TOOL = Call("rm", "{}", id="toolu_e")


@pytest.mark.behaviour("T3")
@both
@pytest.mark.parametrize("invalid", [CUT, NO_CONTENT, NUMBER, NO_TOOL])
def test_execute_complete_hands_on_what_is_whole_and_valid_and_nothing_else(
    play, mode, way, invalid
):
    turn = play(R("Both: ", MAX, [SECOND, invalid]), truncated_calls="execute_complete")
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.inputs, got.stop) == ("Both: ", [GIVEN_SECOND], "tool_use")
    assert turn.sent == 1
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "tool_call_truncated")


@pytest.mark.behaviour("T3", "T1")
@both
def test_the_last_call_of_a_cut_body_is_not_proved_complete(play, mode, way):
    """A body holds what the provider made of a call, whose arguments may have been cut."""
    turn = play(R("Both: ", MAX, [SECOND, WHOLE]), truncated_calls="execute_complete")
    proved = [GIVEN_SECOND] if mode == "body" else [GIVEN_SECOND, GIVEN]
    assert turn.tell(mode, way, **FILES).inputs == proved


@pytest.mark.behaviour("T4")
@both
@pytest.mark.parametrize("stop", [MAX, TOOL])
def test_one_broken_call_stops_its_batch(play, mode, way, stop):
    if mode == "body" and stop is TOOL:
        pytest.skip("the provider closed the call, so that it is the model's own (T12b)")
    turn = play(*[R("", stop, [SECOND, CUT])] * 2, R("I give up."))
    got = turn.tell(mode, way, **FILES)
    assert (got.calls, got.text) == ([], "I give up.")
    row, results = turn.added(2)
    # A body holds what the decoder made of the cut call: that nothing is missing is not proved.
    assert [block["input"] for block in row["content"]] == [GIVEN_SECOND, {}]
    answers = [hints.CALL_SKIPPED_RESULT, hints.CALL_CUT_RESULT]
    assert [block["content"] for block in results["content"]] == answers


@pytest.mark.behaviour("T5", "H4", "P2")
@both
def test_a_broken_call_is_asked_for_again_then_answered_twice_then_given_up(play, mode, way):
    turn = play(*[R("I will write it.", MAX, [CUT], tokens=10)] * 5)
    got = turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert turn.sent == 4
    assert (got.text, got.calls, got.stop) == ("I will write it.", [], "max_tokens")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "tool_call_truncated")
    said = "I will write it."
    assert turn.added(1) == [assistant(said), user(hints.REPEAT_CALL)]
    row = assistant(said, empty(WHOLE))
    assert turn.added(2) == turn.added(3) == [row, failed(("toolu_a", hints.CALL_CUT_RESULT))]
    assert turn.budgets[:3] == [1_000, 2_000, 3_000]


@pytest.mark.behaviour("T7")
@both
def test_a_good_turn_between_two_bad_ones_resets_the_count(play, mode, way):
    cut = R("", MAX, [CUT])
    turn = play(
        *(cut, DONE), *(cut, DONE), *(cut, R("All written.")),
        continuation_tool_repair_attempts=0, tool_answer_attempts=1,
    )  # fmt: skip
    history: list[Any] = [ASK]
    for _ in range(2):
        got = turn.ask(history, mode, way, **FILES)
        assert got.inputs == [GIVEN]
        result = {"type": "tool_result", "tool_use_id": "toolu_a", "content": "written"}
        history += [got.message, {"role": "user", "content": [result]}]
    got = turn.ask(history, mode, way, **FILES)
    assert (got.text, turn.sent) == ("All written.", 6)


@pytest.mark.behaviour("T8", "H2", "H3")
@both
def test_a_history_with_a_broken_end_is_put_right_and_stays_the_same_bytes(play, mode, way):
    """What another client left: an unanswered call, a blank row, thinking without a signature."""
    history = [
        ASK,
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "h", "signature": ""},
                                          WHOLE.block() | {"input": GIVEN}]},
        {"role": "assistant", "content": " "},
        {"role": "user", "content": "Go on."},
    ]  # fmt: skip
    turn = play(R("Fine."), R("Fine."))
    for _ in range(2):
        assert turn.ask(history, mode, way, **FILES).text == "Fine."
    first, second = turn.replay.requests
    assert first.body == second.body
    rows = turn.bodies[0]["messages"]
    assert rows[1]["content"] == [WHOLE.block() | {"input": GIVEN}]
    assert rows[2]["content"][0]["content"] == hints.ORPHAN_RESULT
    assert rows[2]["content"][1:] == [{"type": "text", "text": "Go on."}]
    assert turn.of("history_repaired")


@pytest.mark.behaviour("T10")
@both
def test_text_and_calls_spend_budgets_of_their_own_and_hints_are_replaced(play, mode, way):
    parts = [R(part, MAX, tokens=10) for part in ("One, ", "two, ", "three, ")]
    cut = R("", MAX, [CUT], tokens=10)
    turn = play(*parts, R("four.", MAX, [CUT], tokens=10), cut, cut, DONE)
    got = turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert (got.text, got.inputs) == ("One, two, three, four.", [GIVEN])
    assert turn.sent == 7
    for number in range(1, 7):
        sent = json.dumps(turn.added(number))
        hinted = [hint for hint in (hints.CONTINUE, hints.REPEAT_CALL) if hint in sent]
        assert len(hinted) == (1 if number < 5 else 0)
        assert sent.count("One,") == 1


@pytest.mark.behaviour("T12")
@both
def test_an_empty_input_means_an_empty_object_after_a_clean_stop_only(play, mode, way):
    turn = play(R("", TOOL, [Call("now", "{}" if mode == "body" else "")]))
    got = turn.tell(mode, way, **FILES)
    assert (got.inputs, got.stop, turn.sent) == ([{}], "tool_use", 1)
    turn = play(R("", MAX, [Call("now", "{}" if mode == "body" else "")]), DONE)
    assert turn.tell(mode, way, **FILES).inputs == [GIVEN]


@pytest.mark.behaviour("T12")
@both
def test_arguments_that_were_encoded_twice_are_written_as_the_wire_has_them(play, mode, way):
    turn = play(R("", TOOL, [Call(arguments=json.dumps(WHOLE.arguments))]))
    got = turn.tell(mode, way, **FILES)
    assert (got.inputs, got.stop, turn.sent) == ([GIVEN], "tool_use", 1)


@pytest.mark.behaviour("T13")
@both
@pytest.mark.parametrize("id_", [None, ""])
def test_a_call_without_an_id_gets_one(play, mode, way, id_):
    turn = play(R("", TOOL, [Call(id=id_)]))
    (call,) = turn.tell(mode, way, **FILES).calls
    assert call["id"]
    assert (call["input"], turn.sent) == (GIVEN, 1)


@pytest.mark.behaviour("T13")
@both
def test_calls_with_one_id_are_told_apart(play, mode, way):
    turn = play(R("", TOOL, [WHOLE, Call(arguments=SECOND.arguments)]))
    got = turn.tell(mode, way, **FILES)
    assert got.inputs == [GIVEN, GIVEN_SECOND]
    assert len({call["id"] for call in got.calls}) == 2


@pytest.mark.behaviour("N7a", "S1")
def test_whole_calls_of_a_stream_that_breaks_off_are_not_handed_out(play, way):
    turn = play(R("", TOOL, [WHOLE], dropped=True), R("", TOOL, [SECOND]))
    assert turn.tell("stream", way, **FILES).inputs == [GIVEN_SECOND]
    assert turn.sent == 2


@pytest.mark.behaviour("C25", "P8", "E1")
@both
def test_a_whole_call_is_handed_on_as_it_came(play, stage, mode, way):
    base, replay = stage
    turn = play(DONE, DONE)
    got = turn.tell(mode, way, **FILES)
    bare = base.ask([ASK], mode, way, **FILES)
    assert (got.calls, got.message, got.stop) == (bare.calls, bare.message, bare.stop)
    first, second = replay.requests
    assert first.body == second.body


# --- a break while a call is owed ---------------------------------------------------------------

LACKING = {
    "cut": (R("I write. ", MAX, [CUT]), hints.REPEAT_CALL),
    "malformed": (R("I write. ", TOOL, [MALFORMED]), hints.REPAIR_CALL),
    "announced": (R("I write. ", TOOL), hints.CALL_MISSING),
}
BREAKS = {"refused": Refused(500), "nothing": R(dropped=True), "in_text": R("Now", dropped=True)}


@pytest.mark.behaviour("T5", "C5")
@both
@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("lacking", LACKING)
def test_a_call_that_was_asked_for_is_asked_for_again_after_a_break(
    play, mode, way, lacking, broken
):
    first, hint = LACKING[lacking]
    turn = play(first, BREAKS[broken], DONE)
    got = turn.tell(mode, way, **FILES)
    assert (got.inputs, got.stop, turn.sent) == ([GIVEN], "tool_use", 3)
    torn = broken == "in_text" and mode == "stream"  # of a body that breaks off nothing is kept
    assert turn.added(2)[-1] == user(hints.REST_THEN_CALL if torn else hint)
    assert "".join(block["text"] for block in turn.added(2)[0]["content"]) == got.text.rstrip()


@pytest.mark.behaviour("T5", "C5", "P1")
@both
@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("lacking", LACKING)
def test_an_empty_answer_after_a_break_is_no_end_while_a_call_is_owed(
    play, mode, way, lacking, broken
):
    turn = play(LACKING[lacking][0], BREAKS[broken], R(), R(), on_incomplete="error")
    assert turn.tell(mode, way, **FILES).error is not None
    torn = broken == "in_text" and mode == "stream"
    announced = "provider_error" if torn else "empty_output"
    reason = announced if lacking == "announced" else "tool_calls_missing"
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", reason)


@pytest.mark.behaviour("C5", "P1")
def test_an_empty_answer_is_no_end_where_the_break_was_in_a_call(play, way):
    turn = play(R("I write. ", dropped=True, calls=[CUT]), R(), R(), on_incomplete="error")
    assert turn.tell("stream", way, **FILES).error is not None
    assert (turn.ending["status"], turn.sent) == ("partial", 3)
