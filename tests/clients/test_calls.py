"""Tool calls that came broken: none is handed out, and the call is got whole or given up in words."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import openai
import pytest
from support.asking.openai_chat import TOOLS
from support.replay.openai_chat import ASK, END, FILES, MAX, TOOL, Call, R, Refused, played

import tenuto
from tenuto.core import hints
from tenuto_sim import Step
from tenuto_sim.case import Arguments, Kind

both = pytest.mark.parametrize("mode", ["body", "stream"])

WHOLE = Call()
CUT = Call(arguments='{"path": "a.txt", "conte')
MALFORMED = Call(arguments="{'path': 'a.txt', 'content': 'x'})")
SECOND = Call(arguments='{"path": "b.txt", "content": "y"}', id="call_b")
BROKEN = {"cut": CUT, "malformed": MALFORMED, "array": Call(arguments='["a.txt", "x"]')}
DONE = R("", TOOL, [WHOLE])


def cut(*calls: Call) -> R:
    return R("", MAX, calls or (CUT,))


# --- none is handed out -------------------------------------------------------------------------


@pytest.mark.behaviour("T1", "T16", "H4")
@both
@pytest.mark.parametrize("stop", [MAX, TOOL, END, None])
@pytest.mark.parametrize("call", BROKEN.values(), ids=BROKEN)
def test_arguments_that_do_not_parse_are_neither_handed_out_nor_replaced(
    play, mode, way, call, stop
):
    turn = play(R("", stop, [call]), DONE)
    got = turn.tell(mode, way, **FILES)
    assert got.raw_arguments == [WHOLE.arguments], "the call that came whole, and no {}"
    assert (got.finish, turn.sent) == ("tool_calls", 2)
    assert call.arguments not in str(turn.bodies[1])


@pytest.mark.behaviour("T1", "T16", "S4")
def test_no_piece_of_a_broken_call_is_in_the_stream(play):
    turn = play(R("I write. ", MAX, [CUT]), R("", TOOL, [SECOND]))
    response = turn.client.chat.completions.with_raw_response.create(
        model="m", messages=[ASK], tools=TOOLS, stream=True
    )
    stream = response.http_response.read().decode()
    events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    (call,) = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert call["function"] == {"name": "write_file", "arguments": SECOND.arguments}
    assert call["index"] == 0
    assert len({event["id"] for event in events}) == 1
    assert stream.count("[DONE]") == 1
    assert stream.count('"finish_reason":"') == 1


@pytest.mark.behaviour("T2")
@both
def test_a_cut_call_and_a_malformed_one_are_told_different_things(play, mode, way):
    told = []
    for call, stop in ((CUT, MAX), (MALFORMED, TOOL)):
        turn = play(R("", stop, [call]), R("", stop, [call]), DONE)
        turn.tell(mode, way, **FILES)
        (hint,) = turn.added(1)
        _, result = turn.added(2)
        told.append(
            (hint["content"], result["content"], turn.of("tool_payload_repair")[0]["issue"])
        )
    assert told[0] == (hints.REPEAT_CALL, hints.CALL_CUT_RESULT, "arguments_cut")
    assert told[1] == (hints.REPAIR_CALL, hints.CALL_MALFORMED_RESULT, "arguments_malformed")
    assert "output limit" in told[0][0]
    assert "output limit" not in told[1][0] + told[1][1]


# --- whole calls of a cut response --------------------------------------------------------------


@pytest.mark.behaviour("T3")
@both
def test_on_a_cut_response_even_a_whole_call_is_refused(play, mode, way):
    turn = play(cut(WHOLE), R("", TOOL, [SECOND]))
    got = turn.tell(mode, way, **FILES)
    assert got.raw_arguments == [SECOND.arguments]
    assert turn.sent == 2


NO_CONTENT = Call(arguments='{"path": "a.txt"}', id="call_c")
NUMBER = Call(arguments='{"path": 7, "content": "x"}', id="call_d")
NO_TOOL = Call("rm", "{}", id="call_e")


@pytest.mark.behaviour("T3")
@both
@pytest.mark.parametrize("invalid", [CUT, MALFORMED, NO_CONTENT, NUMBER, NO_TOOL])
def test_execute_complete_hands_on_what_is_whole_and_valid_and_nothing_else(
    play, mode, way, invalid
):
    turn = play(R("Both: ", MAX, [SECOND, invalid]), truncated_calls="execute_complete")
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.finish) == ("Both: ", "tool_calls")
    assert got.raw_arguments == [SECOND.arguments]
    assert turn.sent == 1
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "tool_call_truncated")


@pytest.mark.behaviour("T3", "C24")
@both
def test_execute_complete_hands_on_calls_of_a_continuation_after_its_text(play, mode, way):
    turn = play(
        R("I will ", MAX), R("write.", MAX, [SECOND, CUT]), truncated_calls="execute_complete"
    )
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.finish) == ("I will write.", "tool_calls")
    assert got.raw_arguments == [SECOND.arguments]
    assert turn.ending["status"] == "partial"


@pytest.mark.behaviour("T3")
@both
@pytest.mark.parametrize("invalid", [CUT, NO_CONTENT, NUMBER, NO_TOOL])
def test_execute_complete_asks_again_where_no_call_may_run(play, mode, way, invalid):
    turn = play(cut(invalid), DONE, truncated_calls="execute_complete")
    got = turn.tell(mode, way, **FILES)
    assert got.raw_arguments == [WHOLE.arguments]
    assert turn.sent == 2


@pytest.mark.behaviour("T3")
@pytest.mark.parametrize(
    ("parameters", "runs"),
    [
        ({}, True),
        ({"type": "object", "required": ["path"]}, True),
        ({"type": "object", "required": ["mode"]}, False),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, False),  # nothing is fetched
        ({"type": "no such type"}, False),
        ({"properties": {"path": {"pattern": "("}}}, False),
    ],
)
def test_a_tools_own_schema_decides_and_what_cannot_be_checked_does_not_run(play, parameters, runs):
    tools = [{"type": "function", "function": {"name": "write_file", "parameters": parameters}}]
    turn = play(cut(WHOLE), R("Else."), truncated_calls="execute_complete")
    assert bool(turn.tell(tools=tools).calls) is runs


@pytest.mark.behaviour("T3")
@pytest.mark.parametrize("package", ["jsonschema", "jsonschema_rs"])
def test_execute_complete_says_what_to_install(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not there
    client = openai.OpenAI(api_key="none")
    with pytest.raises(tenuto.PolicyError, match=r"pip install 'tenuto\[schema\]'"):
        tenuto.wrap(client, policy=tenuto.Policy(truncated_calls="execute_complete"))
    tenuto.wrap(client, policy=tenuto.Policy())


@pytest.mark.behaviour("T4")
@both
@pytest.mark.parametrize("stop", [MAX, TOOL])
def test_one_broken_call_stops_its_batch(play, mode, way, stop):
    turn = play(R("", stop, [SECOND, CUT]), R("", stop, [SECOND, CUT]), R("I give up."))
    got = turn.tell(mode, way, **FILES)
    assert (got.calls, got.text) == ([], "I give up.")
    row, *results = turn.added(2)
    assert [call["function"]["arguments"] for call in row["tool_calls"]] == [SECOND.arguments, "{}"]
    assert [result["content"] for result in results] == [
        hints.CALL_SKIPPED_RESULT,
        hints.CALL_CUT_RESULT,
    ]


@pytest.mark.behaviour("T4")
@both
def test_a_call_written_as_text_beside_a_broken_one_is_text(play, mode, way):
    said = '<tool_call>{"name": "write_file", "arguments": {"path": "a"}}</tool_call>'
    turn = play(R(said, MAX, [CUT]), R("Never mind."))
    assert turn.tell(mode, way, **FILES).calls == []


# --- the ladder ---------------------------------------------------------------------------------


@pytest.mark.behaviour("T5", "H4", "P2")
@both
def test_a_broken_call_is_asked_for_again_then_answered_twice_then_given_up(play, mode, way):
    turn = play(*[R("I will write it.", MAX, [CUT], tokens=10)] * 5)
    got = turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert turn.sent == 4
    assert (got.text, got.calls, got.finish) == ("I will write it.", [], "length")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "tool_call_truncated")
    # 1. Asked for again: the text stays, the broken call is left out, the hint is new.
    said = {"role": "assistant", "content": "I will write it."}
    assert turn.added(1) == [said, {"role": "user", "content": hints.REPEAT_CALL}]
    # 2. and 3. Answered: a valid form of the call, a failed result by its id, and no hint row.
    function = {"name": "write_file", "arguments": "{}"}
    row = said | {"tool_calls": [{"id": "call_a", "type": "function", "function": function}]}
    result = {"role": "tool", "tool_call_id": "call_a", "content": hints.CALL_CUT_RESULT}
    assert turn.added(2) == turn.added(3) == [row, result]
    assert turn.budgets[:3] == [1_000, 2_000, 3_000]
    assert 3_900 < turn.budgets[3] < 4_000, "four times the first, less what was used"
    assert [event["rung"] for event in turn.of("stop_reason_observed")] == [
        "ask_for_call_again",
        "answer_calls_as_failed",
        "answer_calls_as_failed",
        "",
    ]
    outcomes = [(e["outcome"], e["attempted"]) for e in turn.of("tool_payload_repair")]
    assert outcomes == [("sent", True)] * 3 + [("given_up", False)]


@pytest.mark.behaviour("T5", "S2")
@both
def test_a_short_text_that_comes_with_each_attempt_is_said_once(play, mode, way):
    turn = play(*[R("ok", MAX, [CUT])] * 3, R("ok", TOOL, [WHOLE]))
    got = turn.tell(mode, way, **FILES)
    assert (got.text, got.raw_arguments) == ("ok", [WHOLE.arguments])
    assert turn.sent == 4
    given_up = play(R("ok", TOOL, [MALFORMED]), R("ok"), R("ok"))
    got = given_up.tell(mode, way, **FILES)
    assert (got.text, got.calls, got.finish) == ("ok", [], "length")
    assert given_up.ending["status"] == "partial"


@pytest.mark.behaviour("T5", "T16")
@both
@pytest.mark.parametrize("broken", [R("", MAX, [CUT]), R("", TOOL, [MALFORMED]), R("", TOOL)])
def test_text_that_the_limit_cut_stays_cut_where_no_call_came_after_it(play, mode, way, broken):
    turn = play(R("I will write ", MAX), *[broken] * 5)
    got = turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert (got.text, got.calls, got.finish) == ("I will write ", [], "length")
    assert turn.ending["status"] == "partial"


@pytest.mark.behaviour("T5", "P3")
@pytest.mark.parametrize(("again", "answers"), [(0, 0), (1, 0), (0, 1), (2, 3)])
def test_each_rung_has_a_budget_of_its_own(play, again, answers):
    turn = play(
        *[cut()] * 9,
        continuation_tool_repair_attempts=again,
        tool_answer_attempts=answers,
        continuation_max_total_completion_tokens=0,
    )
    turn.tell(**FILES)
    rungs = [event["rung"] for event in turn.of("stop_reason_observed")]
    assert rungs.count("ask_for_call_again") == again
    assert rungs.count("answer_calls_as_failed") == answers
    assert turn.sent == 1 + again + answers
    assert turn.ending["reason"] == "tool_call_truncated"


@pytest.mark.behaviour("T7")
@both
def test_a_good_turn_between_two_bad_ones_resets_the_count(play, mode, way):
    """The agent's loop, in its caller's hands: MAX, TOOL, MAX, TOOL, MAX, END."""
    turn = play(
        *(cut(), DONE), *(cut(), DONE), *(cut(), R("All written.")),
        continuation_tool_repair_attempts=0, tool_answer_attempts=1,
    )  # fmt: skip
    history: list[Any] = [ASK]
    for _ in range(2):
        got = turn.ask(history, mode, way, **FILES)
        assert got.raw_arguments == [WHOLE.arguments]
        result = {"role": "tool", "tool_call_id": got.calls[0]["id"], "content": "written"}
        history += [got.message, result]
    got = turn.ask(history, mode, way, **FILES)
    assert (got.text, turn.sent) == ("All written.", 6)
    turn = play(cut(), cut(), cut(), continuation_tool_repair_attempts=0, tool_answer_attempts=2)
    turn.tell(mode, way, **FILES)
    assert (turn.sent, turn.ending["reason"]) == (3, "tool_call_truncated")


@pytest.mark.behaviour("T8")
@both
@pytest.mark.parametrize("arguments", [Arguments.CUT, Arguments.MALFORMED])
def test_what_was_given_up_leaves_a_history_that_the_provider_accepts(
    wrapped, sim, mode, way, arguments
):
    sim.script([Step(kind=Kind.PREFACE_CALL, arguments=arguments, finish="length")] * 4)
    asker = wrapped()
    got = asker.ask([ASK], mode, way, **FILES)
    assert (got.calls, asker.ending["status"]) == ([], "partial")
    sim.script([Step(kind=Kind.TEXT)])
    after = asker.ask([ASK, got.message, {"role": "user", "content": "Go on."}], mode, way, **FILES)
    assert after.error is None
    assert all(r.status == 200 for r in sim.requests), "nor was anything on the way refused"


@pytest.mark.behaviour("T10")
@both
def test_text_and_calls_spend_budgets_of_their_own_and_hints_are_replaced(play, mode, way):
    parts = [R(part, MAX, tokens=10) for part in ("One, ", "two, ", "three, ")]
    turn = play(*parts, R("four.", MAX, [CUT], tokens=10), cut(), cut(), DONE)
    got = turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert (got.text, got.raw_arguments) == ("One, two, three, four.", [WHOLE.arguments])
    assert turn.sent == 7
    for number in range(1, 7):
        contents = [row["content"] for row in turn.added(number)]
        ours = [c for c in contents if c in (hints.CONTINUE, hints.REPEAT_CALL)]
        assert len(ours) == (1 if number < 5 else 0)
        assert sum(c.startswith("One") for c in contents) == 1


# --- odd shapes ---------------------------------------------------------------------------------


@pytest.mark.behaviour("T12")
@both
@pytest.mark.parametrize("raw", ["", None, " ", "null"])
def test_empty_arguments_mean_an_empty_object_after_a_clean_stop_only(play, mode, way, raw):
    turn = play(R("", TOOL, [Call("now", raw)]))
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, turn.sent) == (["{}"], 1)
    turn = play(cut(Call("now", raw)), DONE)
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, turn.sent) == ([WHOLE.arguments], 2)


@pytest.mark.behaviour("T12")
@both
@pytest.mark.parametrize(
    ("raw", "given"),
    [
        ({"path": "a", "n": 1.5}, '{"path":"a","n":1.5}'),
        (json.dumps(WHOLE.arguments), WHOLE.arguments),
        (json.dumps(json.dumps(WHOLE.arguments)), WHOLE.arguments),
    ],
    ids=["object", "encoded twice", "encoded three times"],
)
def test_arguments_in_another_form_are_written_as_the_wire_has_them(play, mode, way, raw, given):
    turn = play(R("", TOOL, [Call(arguments=raw)]))
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, got.finish, turn.sent) == ([given], "tool_calls", 1)


@pytest.mark.behaviour("T12", "T1")
@both
@pytest.mark.parametrize("raw", ["[1]", "7", '"text"', "true", ["a"]])
def test_json_that_is_no_object_is_malformed(play, mode, way, raw):
    turn = play(R("", TOOL, [Call(arguments=raw)]), DONE)
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, turn.sent) == ([WHOLE.arguments], 2)
    assert turn.of("tool_payload_repair")[0]["issue"] == "arguments_malformed"


@pytest.mark.behaviour("T13", "E8")
@both
@pytest.mark.parametrize(
    "odd",
    [Call(type=None), Call(id=None), Call(id=""), Call(index=False), Call(type=None, index=False)],
    ids=["no type", "no id", "empty id", "no index", "neither"],
)
def test_missing_fields_of_a_call_are_put_right(play, mode, way, odd):
    turn = play(R("", TOOL, [odd]))
    got = turn.tell(mode, way, **FILES)
    (call,) = got.calls
    assert call["type"] == "function"
    assert call["id"]
    assert call["function"] == {"name": "write_file", "arguments": WHOLE.arguments}
    assert (got.finish, turn.sent) == ("tool_calls", 1)


@pytest.mark.behaviour("T13")
@both
@pytest.mark.parametrize("index", [True, False])
def test_calls_with_one_id_are_told_apart(play, mode, way, index):
    twin = Call(arguments=SECOND.arguments, id="call_a", index=index)
    turn = play(R("", TOOL, [Call(index=index), twin]))
    got = turn.tell(mode, way, **FILES)
    assert got.raw_arguments == [WHOLE.arguments, SECOND.arguments]
    assert len({call["id"] for call in got.calls}) == 2


@pytest.mark.behaviour("T13")
@pytest.mark.parametrize("case", ["calls_interleaved", "call_no_index", "call_duplicate_ids"])
def test_parallel_calls_that_mix_are_put_right(wrapped, sim, case, way):
    asker = wrapped()
    prompt = f"Tell me of {case}."
    ask = [{"role": "user", "content": prompt}]
    got = asker.ask(ask, "stream", way, model=f"sim/{case}", **FILES)
    whole = [json.loads(str(call.arguments)) for call in sim.expected(prompt, case).calls]
    assert [json.loads(raw) for raw in got.raw_arguments] == whole
    assert len({call["id"] for call in got.calls}) == 3


@pytest.mark.behaviour("T14")
@both
@pytest.mark.parametrize(
    "stop",
    ["function_call_filter: MALFORMED_FUNCTION_CALL", "malformed_tool_use", "UNEXPECTED_TOOL_CALL"],
)
def test_a_stop_that_says_malformed_asks_for_the_call_again(play, mode, way, stop):
    turn = play(R("", stop), DONE)
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, got.finish) == ([WHOLE.arguments], "tool_calls")
    assert turn.added(1) == [{"role": "user", "content": hints.REPAIR_CALL}]


@pytest.mark.behaviour("T14")
@both
def test_a_400_that_says_malformed_asks_for_the_call_again(play, mode, way):
    turn = play(Refused(400, "Failed to call a function.", code="tool_use_failed"), DONE)
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, got.finish) == ([WHOLE.arguments], "tool_calls")
    assert turn.added(1) == [{"role": "user", "content": hints.REPAIR_CALL}]


@pytest.mark.behaviour("C25", "P8", "E1")
@both
def test_a_whole_call_is_handed_on_as_it_came(play, stage, mode, way):
    base, replay = stage
    turn = played(base, replay, DONE, DONE)
    got = turn.tell(mode, way, **FILES)
    bare = base.ask([ASK], mode, way, **FILES)
    assert (got.calls, got.message, got.finish) == (bare.calls, bare.message, bare.finish)
    first, second = turn.replay.requests
    assert first.body == second.body


@pytest.mark.behaviour("N7a", "S1")
def test_whole_calls_of_a_stream_that_breaks_off_are_not_handed_out(play, way):
    """Their arguments parse, but nothing says that the batch is whole: the stop is only inferred."""
    turn = play(R("", TOOL, [WHOLE], dropped=True), R("", TOOL, [SECOND]))
    got = turn.tell("stream", way, **FILES)
    assert got.raw_arguments == [SECOND.arguments]
    assert turn.sent == 2


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
    assert (got.raw_arguments, got.finish, turn.sent) == ([WHOLE.arguments], "tool_calls", 3)
    said, asked = turn.added(2)
    torn = broken == "in_text" and mode == "stream"  # of a body that breaks off nothing is kept
    assert asked["content"] == (hints.REST_THEN_CALL if torn else hint)
    assert said["content"] == got.text.rstrip()


@pytest.mark.behaviour("T5", "C5", "P1")
@both
@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("lacking", LACKING)
def test_an_empty_answer_after_a_break_is_no_end_while_a_call_is_owed(
    play, mode, way, lacking, broken
):
    answers = (LACKING[lacking][0], BREAKS[broken], R(), R())
    turn = play(*answers, on_incomplete="error", continuation_max_total_completion_tokens=0)
    assert turn.tell(mode, way, **FILES).error is not None
    torn = broken == "in_text" and mode == "stream"
    announced = "provider_error" if torn else "empty_output"
    reason = announced if lacking == "announced" else "tool_calls_missing"
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", reason)


WORDS = {"done": "Done! I wrote the file.", "the rest of it": '"text": "b"}'}
BROKEN_BATCHES = {"cut": R("I write. ", MAX, [CUT]), "malformed": R("I write. ", TOOL, [MALFORMED])}


@pytest.mark.behaviour("T5", "T16", "P1")
@both
@pytest.mark.parametrize("broken", BROKEN_BATCHES.values(), ids=BROKEN_BATCHES)
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_words_are_no_answer_to_who_asks_for_a_broken_call_again(play, mode, way, words, broken):
    turn = play(broken, R(words), R("", TOOL, [WHOLE]))
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, got.finish, turn.sent) == ([WHOLE.arguments], "tool_calls", 3)
    said, asked = turn.added(2)
    assert (said["content"], asked["content"]) == (f"I write. {words}", hints.CALL_LOST)


@pytest.mark.behaviour("T5", "T16", "P1")
@both
@pytest.mark.parametrize("broken", BROKEN_BATCHES.values(), ids=BROKEN_BATCHES)
def test_a_broken_call_that_never_comes_again_leaves_the_turn_partial(play, mode, way, broken):
    turn = play(broken, *[R("Done! I wrote the file.")] * 2)
    got = turn.tell(mode, way, **FILES)
    assert (got.finish, got.raw_arguments, turn.sent) == ("length", [], 3)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "tool_calls_missing")


@pytest.mark.behaviour("T5")
@both
def test_words_are_an_answer_to_a_call_that_was_answered_as_failed(play, mode, way):
    turn = play(R("I write. ", MAX, [CUT]), R("", MAX, [CUT]), R("It is too large."))
    got = turn.tell(mode, way, **FILES)
    assert (got.finish, got.raw_arguments, turn.sent) == ("stop", [], 3)
    assert turn.ending["status"] == "complete"


@pytest.mark.behaviour("C5", "P1")
def test_an_empty_answer_is_no_end_where_the_break_was_in_a_call(play, way):
    turn = play(R("I write. ", dropped=True, calls=[CUT]), R(), R(), on_incomplete="error")
    assert turn.tell("stream", way, **FILES).error is not None
    assert (turn.ending["status"], turn.sent) == ("partial", 3)


@pytest.mark.behaviour("T5", "T10", "C5")
@pytest.mark.parametrize(
    ("broken", "asked"),
    [(R(dropped=True), hints.CALL_CUT_RESULT), (R("Now", dropped=True), hints.REST_THEN_CALL)],
    ids=["before any text", "in its text"],
)
def test_calls_that_were_answered_as_failed_are_still_answered_after_a_break(
    play, way, broken, asked
):
    """The rest of a text that was cut comes first (C24a)."""
    turn = play(
        *(R("I write. ", MAX, [CUT]), R("", MAX, [CUT]), broken),
        R("", TOOL, [WHOLE]),
    )
    got = turn.tell("stream", way, **FILES)
    assert (got.raw_arguments, turn.sent) == ([WHOLE.arguments], 4)
    said, result = turn.added(3)
    assert said["content"] == got.text.rstrip()
    assert result["content"] == asked


@pytest.mark.behaviour("T1", "S1", "N6")
@both
def test_a_call_in_bytes_that_are_no_utf8_is_not_run_with_a_mark_in_it(play, mode, way):
    class Garbled(R):
        def reply(self, asked: Any) -> Any:
            made = super().reply(asked)
            return replace(made, body=made.body.replace(b"important", b"import\xe6\xb5ant"))

    call = Call(arguments='{"path": "important", "content": "%s"}' % ("x" * 40))
    turn = play(Garbled("", TOOL, [call]), DONE)
    got = turn.tell(mode, way, **FILES)
    assert (got.raw_arguments, turn.sent) == ([WHOLE.arguments], 2)
