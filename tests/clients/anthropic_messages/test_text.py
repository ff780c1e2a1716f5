"""Text that was cut is continued: what leaves on the wire, and what the caller gets."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pydantic
import pytest
from support.asking.anthropic_messages import assert_one_message, events_of
from support.replay.anthropic_messages import (
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
    said,
    user,
)

import tenuto
from tenuto.core import hints
from tenuto.wires.anthropic_messages.wire import BODY_TOKENS, SMALL_BODY_TOKENS

# The SDK warns of models that are on their way out; these tests ask for all generations.
pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")

both = pytest.mark.parametrize("mode", ["body", "stream"])
CONTINUE = user(hints.CONTINUE)
OLD, NEW = "claude-sonnet-4-5-20250929", "claude-opus-4-7"


# --- how far a turn goes ------------------------------------------------------------------------


@pytest.mark.behaviour("C1")
@both
@pytest.mark.parametrize("on_incomplete", ["stop", "notice", "error"])
def test_two_parts_become_one_block_of_text(play, mode, way, on_incomplete):
    turn = play(R("part 1 ", MAX), R("part 2", END), on_incomplete=on_incomplete)
    got = turn.tell(mode, way)
    assert got.error is None
    assert (got.message["content"], got.stop) == ([said("part 1 part 2")], "end_turn")
    assert turn.sent == 2
    assert (turn.ending["status"], turn.ending["reason"]) == ("complete", "completed")


@pytest.mark.behaviour("S3b", "C14b")
@both
@pytest.mark.parametrize("preamble", ["", "Continuing:\n\n"])
def test_a_part_that_is_cut_within_what_it_repeats_adds_nothing(play, mode, way, preamble):
    """The end of the part is told before its stop is."""
    whole = (
        "The moon pulls the sea towards it, and the sea follows it around the earth twice a day."
    )
    turn = play(R(whole[:60], MAX), R(preamble + whole[:40], MAX))
    got = turn.tell(mode, way, max_tokens=4_000)
    assert (got.text, got.stop, turn.sent) == (whole[:60], "max_tokens", 2)


@pytest.mark.behaviour("C2")
@both
def test_four_cut_parts_are_all_there_is(play, mode, way):
    turn = play(*[R(part, MAX) for part in "ABCDE"])
    got = turn.tell(mode, way)
    assert (got.text, got.stop, turn.sent) == ("ABCD", "max_tokens", 4)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "retry_limit")
    assert turn.ending["suggestion"] == "increase_budget"


@pytest.mark.behaviour("C4", "C17")
@both
def test_four_times_the_first_limit_in_tokens_really_used_is_all_that_a_turn_may_cost(
    play, mode, way
):
    turn = play(R("A", MAX, tokens=90), R("B", MAX, tokens=200), R("C", MAX, tokens=110), R("D"))
    got = turn.tell(mode, way, max_tokens=100)
    assert turn.budgets == [100, 200, 110], "boosted, then clamped to what 4 × 100 leaves"
    assert (got.text, got.stop) == ("ABC", "max_tokens")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "budget_exhausted")


@pytest.mark.behaviour("C12")
@both
@pytest.mark.parametrize(("window", "sent"), [(1_111, 1), (1_112, 2)])
def test_without_512_free_tokens_of_the_context_window_no_continuation_starts(
    play, mode, window, sent
):
    turn = play(R("A", MAX, tokens=100, input_tokens=500), R("B"), context_window_tokens=window)
    turn.tell(mode)
    assert turn.sent == sent
    if sent == 1:
        assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "context_window")


FAILURES: dict[str, Any] = {
    "server": Refused(500),
    "overloaded": Refused(529, code="overloaded_error"),
    "forbidden": Refused(403, code="permission_error"),
    "drop": R(dropped=True),
}


@pytest.mark.behaviour("C5")
@both
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_failure_in_a_continuation_keeps_the_text(play, mode, way, failure):
    turn = play(R("kept ", MAX), failure, failure, failure)
    got = turn.tell(mode, way)
    assert (got.text, got.stop, got.error) == ("kept ", "max_tokens", None)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "provider_error")
    # A body that is lost may have been billed in full: 4,096 and then twice as much of four times
    # as much leave room for one more request (C4).
    lost_body = mode == "body" and failure == FAILURES["drop"]
    assert turn.sent == (2 if failure == FAILURES["forbidden"] else 3 if lost_body else 4)


@pytest.mark.behaviour("C5", "C28a")
@both
def test_a_timeout_in_a_continuation_keeps_the_text(play, mode, way):
    slow = R("too late", wait_s=0.6)
    turn = play(R("kept", MAX), slow, slow, slow)
    got = turn.tell(mode, way, timeout=0.2)
    assert (got.text, got.stop, got.error) == ("kept", "max_tokens", None)
    # The caller waits 0.2 s for a whole body, however many requests it takes.
    assert turn.sent == (2 if mode == "body" else 4)


@pytest.mark.behaviour("C5", "S3")
def test_a_drop_in_the_middle_of_a_continuation_goes_on_from_what_came(play, way):
    turn = play(R("One, two, ", MAX), R("three, ", dropped=True), R("four."))
    got = turn.tell("stream", way)
    assert (got.message["content"], got.stop) == ([said("One, two, three, four.")], "end_turn")
    assert turn.added(2)[0] == assistant("One, two, three,")


@pytest.mark.behaviour("C6")
@both
@pytest.mark.parametrize(
    "stop", [SAFETY, "model_context_window_exceeded", "guardrail_intervened", "weird_new"]
)
def test_what_is_not_cut_by_the_limit_is_not_continued(play, mode, way, stop):
    turn = play(R("Half a sen", stop), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.stop, turn.sent) == ("Half a sen", stop, 1)
    assert turn.ending["status"] == "partial"


@pytest.mark.behaviour("C6", "E12")
@both
def test_a_continuation_that_is_refused_is_the_last(play, mode, way):
    details = {"stop_details": {"type": "refusal", "category": "cyber", "explanation": None}}
    turn = play(R("Half ", MAX), R("a sen", SAFETY, beside=details), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.stop, turn.sent) == ("Half a sen", "refusal", 2)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "refused")


# --- what leaves --------------------------------------------------------------------------------

ODD_BODY = (
    b'{ "model":"%s","max_tokens": 64,"temperature":1.0, "top_k":123456789012345678901234567890,\n'
    b'"system" : [ {"type" : "text","text":"caf\\u00e9 \\/ \xe2\x82\xac","cache_control":{"type":'
    b'"ephemeral"}}], "messages" : [\n  {"content":[{"type":"text","text":"Hi"}], "role":"user"},'
    b' {"role" : "assistant", "content" : "Yo\\u0021"} ,{"role":"user","content":"And?", "x":1e400}'
    b' ],"stream":%s,"metadata":{"user_id" : "7"}}'
)
PIECES = (
    b'"temperature":1.0',
    b'"top_k":123456789012345678901234567890',
    b'[ {"type" : "text","text":"caf\\u00e9 \\/ \xe2\x82\xac","cache_control":{"type":"ephemeral"}}]',
    b'{"content":[{"type":"text","text":"Hi"}], "role":"user"}',
    b'{"role" : "assistant", "content" : "Yo\\u0021"}',
    b'{"role":"user","content":"And?", "x":1e400}',
    b'"metadata":{"user_id" : "7"}',
)


def post(turn: Any, body: bytes) -> Any:
    """Bytes as a caller writes them, past the SDK's own encoding."""
    headers = {"content-type": "application/json"}
    return turn.client._client.post(
        turn.replay.root_url + "/v1/messages", content=body, headers=headers
    )


@pytest.mark.behaviour("C7", "C8", "C10")
@both
@pytest.mark.parametrize("model", [OLD, NEW])
def test_a_continuation_is_the_callers_bytes_and_the_text_once(play, mode, model):
    turn = play(R("Said so far. \n\n", MAX), R("And the rest."))
    body = ODD_BODY % (model.encode(), b"true" if mode == "stream" else b"false")
    response = post(turn, body)
    if mode == "stream":
        events = events_of(response.content)
        assert_one_message(events)
        deltas = [e["delta"] for e in events if e["type"] == "content_block_delta"]
        text = "".join(delta["text"] for delta in deltas)
    else:
        (block,) = response.json()["content"]
        text = block["text"]
    assert text == "Said so far. \n\nAnd the rest."
    first, second = (asked.body for asked in turn.replay.requests)
    assert first == body
    rows = [second.index(piece) for piece in PIECES if piece in second]
    assert len(rows) == len(PIECES), "every piece of the caller's is as it was"
    assert rows[3:6] == sorted(rows[3:6]), "and the rows are in their order"
    assert second.count(b"Said so far.") == 1
    said_row = b'{"role":"assistant","content":[{"type":"text","text":"Said so far."}]}'
    ours = second[second.index(PIECES[5]) + len(PIECES[5]) :].strip().removeprefix(b",")
    assert ours.startswith(said_row)
    assert (json.dumps(hints.CONTINUE).encode()[1:-1] in ours) is (model == NEW)
    assert second.count(b'"max_tokens"') == 1
    assert turn.budgets == [64, 128]


@pytest.mark.behaviour("C7", "C22")
@both
def test_nothing_that_was_put_in_comes_back_and_nothing_is_stacked(play, mode, way):
    turn = play(R("One ", MAX), R("two ", MAX), R("three."))
    got = turn.tell(mode, way)
    assert got.message == {"role": "assistant", "content": [said("One two three.")]}
    assert turn.added(1) == [assistant("One"), CONTINUE]
    assert turn.added(2) == [assistant("One two"), CONTINUE]


@pytest.mark.behaviour("C22", "C21")
@both
def test_after_the_last_try_the_history_holds_one_row_and_neither_hint_nor_notice(play, mode, way):
    parts = [R(f"{part} ", MAX) for part in ("One", "two", "three", "four")]
    turn = play(*parts, R("Fine."), on_incomplete="notice")
    got = turn.tell(mode, way, max_tokens=1_000)
    notice = "\n\n[This answer is incomplete: retry limit.]"
    assert got.text == "One two three four " + notice
    turn.ask([ASK, got.message, {"role": "user", "content": "Go on."}], mode, way)
    rows = turn.bodies[-1]["messages"]
    assert [row["role"] for row in rows] == ["user", "assistant", "user"]
    assert "".join(block["text"] for block in rows[1]["content"]).strip() == "One two three four"


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize("body", [b"no json", b'{"model":"m"}', b'{"messages":[1]}', b"[]", b""])
def test_a_body_that_is_no_request_passes_untouched(play, body):
    turn = play(Refused(400))
    assert post(turn, body).status_code == 400
    assert [asked.body for asked in turn.replay.requests] == [body]
    assert turn.events == []


@pytest.mark.behaviour("C10", "C11")
@both
@pytest.mark.parametrize("text", ["", "  \n", "<think>half a thou", "<think>all</think>\n"])
def test_text_that_nobody_can_read_is_not_sent_back(play, mode, way, text):
    turn = play(R(text, MAX), R("The answer."))
    got = turn.tell(mode, way)
    assert got.text.endswith("The answer.")
    assert [row["role"] for row in turn.added(1)] == ["user"]


# --- prefill ------------------------------------------------------------------------------------


@pytest.mark.behaviour("C8", "C14a")
@both
@pytest.mark.parametrize(
    "model",
    ["claude-3-5-haiku-latest", "claude-3-7-sonnet-20250219", "claude-opus-4-1", OLD,
     "claude-haiku-4-5", "us.anthropic.claude-opus-4-5-20251101-v1:0"],
)  # fmt: skip
def test_models_up_to_4_5_get_the_text_as_a_prefill_and_no_hint(play, mode, model):
    turn = play(R("The first half ", MAX), R("half and the second."))
    got = turn.tell(mode, model=model)
    assert turn.added(1) == [assistant("The first half")]
    assert got.text == "The first half half and the second.", "joined exactly, nothing removed"


@pytest.mark.behaviour("C8")
@both
@pytest.mark.parametrize(
    "model",
    ["claude-opus-4-6", "claude-sonnet-4-6", NEW, "claude-sonnet-5", "claude-mythos-5", "gateway"],
)
def test_later_models_and_unknown_ones_get_a_hint(play, mode, model):
    turn = play(R("The first half ", MAX), R("and the second."))
    assert turn.tell(mode, model=model).text == "The first half and the second."
    assert turn.added(1) == [assistant("The first half"), CONTINUE]


@pytest.mark.behaviour("C8")
@both
@pytest.mark.parametrize(
    "more",
    [
        {"thinking": {"type": "enabled", "budget_tokens": 1_024}},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
    ],
    ids=["thinking", "document"],
)
def test_what_bars_a_prefill_is_continued_after_a_hint(play, mode, more):
    cut = R('{"a": ', MAX)
    turn = play(*[cut] * (2 if "output_config" in more else 1), R("1}"))
    assert turn.tell(mode, model=OLD, **more).text == '{"a": 1}'
    assert turn.added(-1)[-1]["role"] == "user"


REJECTION = Refused(
    400,
    "This model does not support assistant message prefill. "
    "The conversation must end with a user message.",
    code="invalid_request_error",
)


@pytest.mark.behaviour("C8")
@both
def test_a_rejected_prefill_is_asked_for_the_other_way_at_once_and_ever_after(play, mode, way):
    turn = play(
        *(R("A ", MAX), REJECTION, R("B")), *(R("C ", MAX), R("D")), *(R("E ", MAX), R("F")),
        prefill="always",
    )  # fmt: skip
    texts = [turn.tell(mode, way, model=model).text for model in ("one", "two", "one")]
    assert texts == ["A B", "C D", "E F"]
    lasts = [body["messages"][-1]["role"] for body in turn.bodies]
    assert lasts == ["user", "assistant", "user", "user", "assistant", "user", "user"]


@pytest.mark.behaviour("C8", "P8c")
def test_what_a_400_taught_is_told_apart_by_base_url(play):
    turn = play(R("A ", MAX), REJECTION, R("B"), R("C ", MAX), R("D"))
    assert turn.tell(model=OLD).text == "A B"
    other = turn.client.with_options(base_url=turn.replay.root_url + "/another")
    made = other.messages.create(model=OLD, messages=[ASK], max_tokens=99)
    assert made.content[0].text == "C D"
    assert turn.bodies[-1]["messages"][-1]["role"] == "assistant"


@pytest.mark.behaviour("P8c")
@both
def test_wrapping_twice_is_wrapping_once_and_no_header_of_ours_leaves(play, mode):
    turn = play(*[R("a ", MAX)] * 9)
    assert tenuto.wrap(turn.client) is turn.client
    turn.client = tenuto.wrap(turn.client, on_event=turn.events.append)
    turn.tell(mode, extra_headers={"x-tenuto-tag": "a"})
    assert turn.sent == 4, "one turn's continuations"
    assert not [
        name for asked in turn.replay.requests for name in asked.headers if "tenuto" in name
    ]


# --- thinking -----------------------------------------------------------------------------------

ENABLED: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 4_096}}


@pytest.mark.behaviour("C11")
@both
def test_where_there_is_a_budget_the_next_request_thinks_less_and_may_write_more(play, mode, way):
    turn = play(R(reasoning="hm " * 30, stop=MAX, tokens=8_000), R("The answer.", reasoning="ok"))
    got = turn.tell(mode, way, max_tokens=8_000, **ENABLED)
    assert (got.text, got.stop) == ("The answer.", "end_turn")
    assert turn.added(1) == [], "nothing is there to be continued"
    assert [b["thinking"]["budget_tokens"] for b in turn.bodies] == [4_096, 2_048]
    assert turn.budgets == [8_000, 16_000]


@pytest.mark.behaviour("C11")
@both
def test_without_a_knob_the_next_request_may_write_more_and_a_hint_asks_for_less(play, mode, way):
    turn = play(R(reasoning="hm " * 30, stop=MAX, tokens=100), R("The answer."))
    got = turn.tell(mode, way, max_tokens=100)
    assert (got.text, got.stop) == ("The answer.", "end_turn")
    assert turn.added(1) == [user(hints.REASON_LESS)]
    assert "thinking" not in turn.bodies[1]
    assert turn.budgets == [100, 200]


@pytest.mark.behaviour("C11", "P1")
@both
def test_thinking_that_takes_the_second_budget_too_ends_partial_with_advice(play, mode, way):
    turn = play(*[R(reasoning="hm " * 30, stop=MAX, tokens=2_000)] * 3)
    got = turn.tell(mode, way, max_tokens=5_000, **ENABLED)
    assert (got.text, got.stop, turn.sent) == ("", "max_tokens", 2)
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "reasoning_budget")
    assert "max_tokens" in turn.ending["advice"]


# --- the output budget --------------------------------------------------------------------------


@pytest.mark.behaviour("C17")
@both
@pytest.mark.parametrize(
    ("asked", "settings", "budgets"),
    [
        (100, {}, [100, 200, 300]),
        (20_000, {}, [20_000, 32_768, 32_768]),
        (40_000, {}, [40_000, 40_000, 40_000]),  # never below what was asked
        (100, {"boost_max_tokens": 150}, [100, 150, 150]),
        (100, {"hard_max_tokens": 120}, [100, 120, 120]),
    ],
)
def test_the_budget_stays_within_every_bound(play, mode, asked, settings, budgets):
    turn = play(R("A", MAX), R("B", MAX), R("C"), **settings)
    # A timeout of the caller's own switches off the SDK's guess of how long a body takes.
    turn.tell(mode, max_tokens=asked, timeout=60)
    whole = mode == "body"
    assert turn.budgets == [
        max(min(budget, BODY_TOKENS), asked) if whole else budget for budget in budgets
    ]


@pytest.mark.behaviour("C17")
@pytest.mark.parametrize(
    ("model", "asked", "budgets"),
    [
        ("claude-opus-4-0", 5_000, [5_000, 8_192, 8_192]),
        ("claude-opus-4-0", 9_000, [9_000, 9_000, 9_000]),
        ("claude-sonnet-5", 15_000, [15_000, 21_333, 21_333]),
    ],
)
def test_a_whole_body_is_asked_for_no_more_than_the_sdk_allows_without_streaming(
    play, way, model, asked, budgets
):
    turn = play(R("A", MAX), R("B", MAX), R("C"))
    turn.tell("body", way, model=model, max_tokens=asked, timeout=60)
    assert turn.budgets == budgets


@pytest.mark.behaviour("C17", "N13")
def test_the_sdk_still_allows_what_the_table_says():
    assert SMALL_BODY_TOKENS == anthropic._constants.MODEL_NONSTREAMING_TOKENS
    with anthropic.Anthropic(api_key="key") as client:
        client._calculate_nonstreaming_timeout(BODY_TOKENS, None)
        with pytest.raises(ValueError, match="Streaming is required"):
            client._calculate_nonstreaming_timeout(BODY_TOKENS + 1, None)


@pytest.mark.behaviour("C17", "P8")
@pytest.mark.parametrize(
    ("model", "tokens"), [("claude-opus-4-0", 8_193), ("claude-sonnet-5", 21_334)]
)
def test_a_limit_for_which_the_sdk_wants_a_stream_is_still_refused_by_it(play, model, tokens, way):
    turn = play(R("never asked for"))
    got = turn.tell("body", way, model=model, max_tokens=tokens)
    assert isinstance(got.error, ValueError)
    assert "Streaming is required" in str(got.error)
    assert turn.sent == 0


TOO_LARGE = Refused(
    400,
    "max_tokens: 200 > 150, which is the maximum allowed number of output tokens for claude-x",
    code="invalid_request_error",
)


@pytest.mark.behaviour("C18")
@both
def test_a_limit_that_a_400_names_is_obeyed(play, mode, way):
    turn = play(R("A ", MAX), TOO_LARGE, R("B"))
    got = turn.tell(mode, way, max_tokens=100)
    assert (got.text, got.stop) == ("A B", "end_turn")
    assert turn.budgets == [100, 200, 150]
    assert turn.added(2) == turn.added(1), "all else is as it was"


@pytest.mark.behaviour("C18")
@both
def test_the_callers_own_limit_is_lowered_where_the_provider_refuses_it(play, mode, way):
    turn = play(TOO_LARGE, R("All of it."))
    assert turn.tell(mode, way, max_tokens=200).text == "All of it."
    assert turn.budgets == [200, 150]


@pytest.mark.behaviour("C18")
def test_a_limit_that_is_refused_although_it_was_obeyed_is_not_tried_again(play):
    turn = play(*[TOO_LARGE] * 4)
    assert isinstance(turn.tell(max_tokens=200).error, anthropic.BadRequestError)
    assert turn.budgets == [200, 150]


@pytest.mark.behaviour("C18", "C20")
@both
def test_a_lower_limit_keeps_the_budget_for_thinking_below_it(play, mode):
    large = "max_tokens: 9000 > 4000, which is the maximum allowed number of output tokens"
    turn = play(Refused(400, large, code="invalid_request_error"), R("All of it."))
    assert turn.tell(mode, max_tokens=9_000, **ENABLED).text == "All of it."
    assert turn.budgets == [9_000, 4_000]
    assert turn.bodies[1]["thinking"]["budget_tokens"] < 4_000


# --- usage --------------------------------------------------------------------------------------


@pytest.mark.behaviour("C19")
@both
def test_the_caller_sees_the_usage_of_one_call(play, mode, way):
    searches = {"server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0}}
    turn = play(
        R("A", MAX, tokens=7, input_tokens=30, usage=searches),
        R("B", tokens=5, input_tokens=44),
    )
    usage = turn.tell(mode, way).usage
    assert (usage.input_tokens, usage.output_tokens) == (30, 12)
    assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)
    counts = ("input_tokens", "output_tokens")
    assert [{name: used[name] for name in counts} for used in turn.ending["usage"]] == [
        {"input_tokens": 30, "output_tokens": 7},
        {"input_tokens": 44, "output_tokens": 5},
    ]


@pytest.mark.behaviour("C19")
@both
def test_counts_of_later_attempts_do_not_replace_the_inputs_of_the_first(play, mode, way):
    """At its end a stream may count the input again, larger by what a search found."""
    late = {"input_tokens": 90, "cache_read_input_tokens": 8}
    turn = play(R("A", MAX, tokens=7, input_tokens=30), R("B", tokens=5, usage=late))
    usage = turn.tell(mode, way).usage
    assert (usage.input_tokens, usage.output_tokens) == (30, 12)
    assert usage.cache_read_input_tokens == 0


@pytest.mark.behaviour("C19")
def test_what_was_billed_stands_beside_the_answer(play):
    answers = (R("A", MAX, tokens=7, input_tokens=30), R("B", tokens=5, input_tokens=44))
    turn = play(*answers)
    raw = turn.client.messages.with_raw_response.create(model="m", max_tokens=99, messages=[ASK])
    report = json.loads(raw.headers["x-tenuto-usage"])
    assert report["billed_output_tokens"] == 12
    turn = play(*answers)
    body = turn.client.messages.with_raw_response.create(
        model="m", max_tokens=99, messages=[ASK], stream=True
    )
    stream = body.http_response.read().decode()
    (comment,) = [line for line in stream.splitlines() if line.startswith(":")]
    told = json.loads(comment.removeprefix(": x-tenuto-usage "))
    assert told.pop("turn") != report.pop("turn")
    assert told == report


# --- text and calls -----------------------------------------------------------------------------


@pytest.mark.behaviour("C24")
@both
def test_a_continuation_with_a_call_keeps_the_text_before_it_once(play, mode, way):
    turn = play(R("I will write ", MAX), R("it down.", TOOL, [Call()]))
    got = turn.tell(mode, way, **FILES)
    assert got.message["content"] == [
        said("I will write it down."),
        Call().block() | {"input": {"path": "a.txt", "content": "x"}},
    ]
    assert (got.stop, turn.sent) == ("tool_use", 2)


@pytest.mark.behaviour("C28a")
@both
@pytest.mark.parametrize("forced", [{"type": "any"}, {"type": "tool", "name": "write_file"}])
def test_a_continuation_lifts_a_forced_tool_choice(play, mode, forced):
    turn = play(R("I will ", MAX), R("not."))
    turn.tell(mode, **FILES, tool_choice={**forced, "disable_parallel_tool_use": True})
    assert [body["tool_choice"] for body in turn.bodies[:2]] == [
        {**forced, "disable_parallel_tool_use": True},
        {"type": "auto", "disable_parallel_tool_use": True},
    ]


@pytest.mark.behaviour("C28a")
@both
def test_each_request_has_a_key_of_its_own_and_the_first_ids_are_seen(play, mode):
    turn = play(
        R("A", MAX, id="msg_first", headers={"request-id": "req_first"}),
        R("B", id="msg_second", headers={"request-id": "req_second"}),
    )
    raw = turn.client.messages.with_raw_response.create(
        model="m", max_tokens=99, messages=[ASK], stream=mode == "stream",
        extra_headers={"Idempotency-Key": "mine"},
    )  # fmt: skip
    made = raw.parse()
    assert raw.headers["request-id"] == "req_first"
    if mode == "body":
        assert (made.id, made.content[0].text, made._request_id) == ("msg_first", "AB", "req_first")
    else:
        assert [e.message.id for e in made if e.type == "message_start"] == ["msg_first"]
    keys = [asked.headers["idempotency-key"] for asked in turn.replay.requests]
    assert keys[0] == "mine"
    assert len(set(keys)) == 2


@pytest.mark.behaviour("C28a")
@both
def test_a_restart_in_other_words_is_discarded(play, mode, way):
    text = (
        "The harbour lay quiet in the early light, and the boats that had come in at night were "
        "still unloading their catch when the bells of the old church began"
    )
    other = (
        text[:100] + " and nobody was awake but the gulls, who cried over the empty market square."
    )
    turn = play(R(text, MAX), R(other), R("never asked for"))
    got = turn.tell(mode, way)
    assert (got.text, got.stop) == (text, "max_tokens")
    assert turn.ending["status"] == "partial"


@pytest.mark.behaviour("C13")
@both
@pytest.mark.parametrize("stop", [END, MAX])
def test_a_continuation_that_says_nothing_does_not_make_a_cut_text_whole(play, mode, way, stop):
    turn = play(R("Half a sen", MAX), *[R("", stop)] * 9)
    got = turn.tell(mode, way)
    assert (got.text, got.stop) == ("Half a sen", "max_tokens")
    assert turn.ending["status"] == "partial"
    assert turn.sent <= 4


@pytest.mark.behaviour("C28")
@both
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"max_tokens": 16}, "probe"),
        ({"extra_headers": {"x-tenuto": "off"}}, "switched_off"),
        ({"extra_body": {"thread": "thread_1"}}, "thread"),
    ],
    ids=["probe", "off", "thread"],
)
def test_what_cannot_be_continued_is_left_alone_and_an_event_says_so(
    play, mode, way, more, why, on_incomplete
):
    turn = play(R("Half a ", MAX), on_incomplete=on_incomplete)
    got = turn.tell(mode, way, **more)
    assert (got.text, got.stop, turn.sent) == ("Half a ", "max_tokens", 1)
    assert turn.of("left_alone") == [{"why": why, "outcome": "text_cut"}]


# --- keys that a provider does not know (H5) ----------------------------------------------------


@pytest.mark.behaviour("H5")
@both
def test_a_hint_that_a_400_names_is_left_out_and_the_request_is_repeated_once(play, mode, way):
    words = "cache_control: Extra inputs are not permitted"
    rejection = Refused(400, words, code="invalid_request_error")
    turn = play(rejection, R("Fine."))
    assert turn.tell(mode, way, extra_body={"cache_control": {"type": "ephemeral"}}).text == "Fine."
    assert "cache_control" in turn.bodies[0]
    assert "cache_control" not in turn.bodies[1]
    assert turn.added(1) == []


# --- structured outputs (C27) -------------------------------------------------------------------


class Person(pydantic.BaseModel):
    name: str
    age: int


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
FORM = {"format": {"type": "json_schema", "schema": SCHEMA}}
CUT = R('{"name": "Zo', MAX)


@pytest.mark.behaviour("C27")
@both
def test_a_cut_document_comes_back_as_one_that_strictly_parses(play, mode, way):
    turn = play(CUT, CUT, R('é \\"Z\\"", "age": 3}'))
    got = turn.tell(mode, way, output_config={**FORM, "effort": "high"})
    assert json.loads(got.text) == {"name": 'Zoé "Z"', "age": 3}
    assert turn.bodies[0]["output_config"] == {**FORM, "effort": "high"}
    assert turn.bodies[1] == turn.bodies[0] | {"max_tokens": turn.bodies[1]["max_tokens"]}
    assert turn.bodies[2]["output_config"] == {"effort": "high"}
    assert turn.added(2) == [assistant('{"name": "Zo'), user(hints.CONTINUE_DOCUMENT)]


@pytest.mark.behaviour("C27")
@both
@pytest.mark.parametrize("rest", ["and so on.", '```json\n{"name": "Zoe"', '}"'])
def test_a_document_that_does_not_parse_in_the_end_is_partial(play, mode, way, rest):
    turn = play(CUT, CUT, *[R(rest)] * 2)
    got = turn.tell(mode, way, output_config=FORM)
    assert (got.text, got.stop) == ('{"name": "Zo', "max_tokens")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "document_invalid")


@pytest.mark.behaviour("C27", "C5")
@pytest.mark.parametrize("rest", ["", " ", '{"name": "Zo'])
@pytest.mark.parametrize("cut", [{"stop": MAX}, {"dropped": True}], ids=["limit", "break"])
def test_a_document_without_its_end_is_partial_where_nothing_more_comes(play, way, cut, rest):
    turn = play(R('{"name": "Zo', **cut), *[R(rest)] * 5)
    got = turn.tell("stream", way, output_config=FORM)
    assert (got.text, got.stop) == ('{"name": "Zo', "max_tokens")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "document_cut")


@pytest.mark.behaviour("C27")
@pytest.mark.parametrize("beta", [False, True], ids=["messages", "beta"])
@pytest.mark.parametrize("helper", ["parse", "stream"])
@pytest.mark.parametrize(
    "answers",
    [
        (CUT, CUT, R('e", "a', MAX), R('ge": 3}')),
        (CUT, CUT, R('e", "age": 3}', MAX)),
        (R('{"name": "Zoe", "age": 3}', MAX),),
    ],
    ids=["in it", "in it and behind it", "behind it"],
)
def test_the_sdks_own_helpers_parse_a_cut_document(play, way, helper, beta, answers):
    turn = play(*answers, R(""))
    given: Any = {"model": "m", "messages": [ASK], "max_tokens": 999, "output_format": Person}

    def resource(client: Any) -> Any:
        return client.beta.messages if beta else client.messages

    def sync() -> Any:
        if helper == "parse":
            return resource(turn.client).parse(**given)
        with resource(turn.client).stream(**given) as stream:
            return stream.get_final_message()

    async def run() -> Any:
        if helper == "parse":
            return await resource(turn.async_client).parse(**given)
        async with resource(turn.async_client).stream(**given) as stream:
            return await stream.get_final_message()

    parsed = sync() if way == "sync" else turn.loop.run_until_complete(run())
    assert parsed.parsed_output == Person(name="Zoe", age=3)
    assert parsed.stop_reason == "end_turn"
