"""What `judge` says, and on what it rests."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.stored import ASK, DONE, EXAMPLES, FENCE, NAMES, OPEN, chat, conversation, message, sse

from tenuto import Outcome, Verdict, judge
from tenuto.judging.walk import _OF_ANY_PROGRAM
from tenuto.wires.stops import SHARED_STOPS

AGAIN = "I will now fix that bug, too. " * 40
CALL = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b"'}}
WHOLE = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {
    "type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}}}]  # fmt: skip
SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("word", sorted(SHARED_STOPS))
def test_a_stop_that_only_models_have_makes_an_answer_of_a_bare_row(word: str) -> None:
    outcome = judge({"content": "The tide comes in twi", "finish_reason": word}).outcome
    assert (outcome is Outcome.NO_ANSWER) is (word in _OF_ANY_PROGRAM)


def told(text: str, **more: Any) -> dict[str, Any]:
    """A row without a stop."""
    return {"messages": conversation(text), **more}


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    ("row", "outcome", "certain", "evidence"),
    [
        (chat(DONE, "stop"), "done", True, ("stop",)),
        (chat(), "text_cut", True, ("stop",)),
        (chat("", "stop"), "empty", True, ("stop", "empty")),
        (chat("<think>hm</think>", "stop"), "thinking_only", True, ("stop", "only_reasoning")),
        (chat("<think>hm, so the", "stop"), "thinking_only", True, ("stop", "only_reasoning")),
        (chat("", "stop", reasoning_content="hm"), "thinking_only", True, ("stop", "only_reasoning")),
        (chat("", "length", reasoning_content="hm"), "thinking_cut", True, ("stop", "only_reasoning")),
        (chat(None, "tool_calls", tool_calls=[WHOLE]), "done", True, ("stop",)),
        (chat(None, "tool_calls", tool_calls=[CALL]), "arguments_cut", True, ("stop", "call_open")),
        (chat("x", "tool_calls"), "calls_missing", True, ("stop", "calls_missing")),
        (chat("x", "content_filter"), "blocked", True, ("stop",)),
        (chat(AGAIN, "length"), "runaway", True, ("stop", "runaway")),
        (chat("<tool_call>{}</tool_call>", "stop"), "call_written", True, ("stop", "call_in_text")),
        (told(DONE), "done", False, ("no_stop",)),
        (told(FENCE), "likely_cut", False, ("no_stop", "fence_open")),
        (told('{"a": [1, 2'), "likely_cut", False, ("no_stop", "json_cut")),
        (told("Yes.\n<think>\nhm"), "likely_cut", False, ("no_stop", "think_open")),
        (told("<think>hm, so the"), "likely_cut", False, ("no_stop", "think_open")),
        (told("<thinking> is a tag."), "done", False, ("no_stop",)),
        (told("<think> is a tag.\n\nUse it well."), "done", False, ("no_stop",)),
        (chat("<think> is a tag.", "stop"), "done", True, ("stop",)),
        (chat("<think> opens a blo", "length"), "text_cut", True, ("stop",)),
        (told("<think> so the tide"), "likely_cut", False, ("no_stop", "think_open")),
        (told(OPEN), "open_end", False, ("no_stop", "open_end", "in_prose")),
        (told(""), "empty", True, ("no_stop", "empty")),
        (told(AGAIN), "runaway", False, ("no_stop", "runaway")),
        (sse().partition("data: [DONE]")[0].rpartition("data:")[0], "dropped", False, ("no_stop",)),
    ],
)  # fmt: skip
def test_an_outcome_says_what_it_rests_on_and_is_certain_only_by_a_stop_or_by_structure(
    row: Any, outcome: str, certain: bool, evidence: tuple[str, ...]
) -> None:
    verdict = judge(row)
    assert (verdict.outcome, verdict.certain, verdict.evidence) == (outcome, certain, evidence)


@pytest.mark.behaviour("J1")
def test_no_rule_on_the_text_overrules_a_stored_stop() -> None:
    for text in (FENCE, OPEN, '{"a": [1, 2', "Yes.\n<think>\nhm"):
        assert judge(chat(text, "stop")).outcome is Outcome.DONE


@pytest.mark.behaviour("J1")
def test_tokens_at_the_limit_are_likely_a_cut_where_no_stop_is_stored() -> None:
    row = {"prompt": "Why?", "generated_text": DONE, "num_generated_tokens": 20}
    assert judge(row).outcome is Outcome.DONE
    verdict = judge(row, limit=20)
    assert (verdict.outcome, verdict.certain, verdict.limit) == (Outcome.LIKELY_CUT, False, 20)
    assert verdict.evidence == ("no_stop", "tokens_at_limit")
    assert judge(row, limit=21).outcome is Outcome.DONE
    assert judge(row, request=ASK).outcome is Outcome.LIKELY_CUT
    assert judge(chat(DONE, None), limit=20).outcome is Outcome.LIKELY_CUT


@pytest.mark.behaviour("J1", "N12")
def test_a_clean_stop_at_the_limit_is_told_and_believed() -> None:
    verdict = judge(chat(DONE, "stop"), limit=20)
    assert (verdict.outcome, verdict.evidence) == (Outcome.DONE, ("stop", "tokens_at_limit"))


@pytest.mark.behaviour("J1", "T12b")
@pytest.mark.parametrize(
    ("limit", "stop", "outcome"),
    [
        (512, "tool_calls", Outcome.ARGUMENTS_MALFORMED),
        (512, "stop", Outcome.ARGUMENTS_MALFORMED),
        (41, "tool_calls", Outcome.ARGUMENTS_MALFORMED),
        (40, "tool_calls", Outcome.ARGUMENTS_CUT),
        (20, "tool_calls", Outcome.ARGUMENTS_CUT),
        (None, "tool_calls", Outcome.ARGUMENTS_CUT),
        (512, "length", Outcome.ARGUMENTS_CUT),
        (512, None, Outcome.ARGUMENTS_CUT),
    ],
)
def test_a_call_that_breaks_off_far_below_the_limit_is_broken_and_not_cut(
    limit: int | None, stop: str | None, outcome: Outcome
) -> None:
    row = chat(None, stop, tool_calls=[CALL])  # of 20 tokens
    verdict = judge(row, limit=limit)
    assert (verdict.outcome, verdict.certain) == (outcome, True)
    broken = outcome is Outcome.ARGUMENTS_MALFORMED
    assert ("below_limit" in verdict.evidence) is broken
    whole = chat(None, "tool_calls", tool_calls=[WHOLE])
    assert judge(whole, limit=limit).outcome is Outcome.DONE
    row["choices"] = [{**row["choices"][0], "index": n} for n in range(2)]
    assert judge(row, limit=limit).outcome is Outcome.ARGUMENTS_CUT, "the tokens are those of both"


def test_tokens_of_several_choices_show_no_limit() -> None:
    body = chat(DONE, None)
    body["choices"] = [{**body["choices"][0], "index": n} for n in range(3)]
    verdict = judge(body, limit=20)
    assert (verdict.outcome, verdict.output_tokens, verdict.choices) == (Outcome.DONE, None, 3)


@pytest.mark.behaviour("J1")
def test_of_several_choices_the_worst_decides() -> None:
    body = chat(DONE, "stop")
    cut = {
        "index": 1,
        "message": {"role": "assistant", "content": "The"},
        "finish_reason": "length",
    }
    body["choices"].append(cut)
    verdict = judge(
        {"custom_id": "a", "error": None, "response": {"status_code": 200, "body": body}}
    )
    assert (verdict.outcome, verdict.choice, verdict.choices) == (Outcome.TEXT_CUT, 1, 2)
    assert verdict.text == "The"


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    ("text", "schema", "outcome"),
    [
        ('{"a": 1}', SCHEMA, Outcome.DONE),
        ('{"a": "x"}', SCHEMA, Outcome.DOCUMENT_INVALID),
        ('{"b": 1}', SCHEMA, Outcome.DOCUMENT_INVALID),
        ('{"a": 1', SCHEMA, Outcome.DOCUMENT_INVALID),
        ('{"a": 1', {}, Outcome.DOCUMENT_INVALID),
        ("Sure!", {}, Outcome.DOCUMENT_INVALID),
        ('{"b": 1}', {}, Outcome.DONE),
    ],
)
def test_a_document_that_was_asked_for_is_validated(
    text: str, schema: dict[str, Any], outcome: Outcome
) -> None:
    for row in (chat(text, "stop"), told(text)):
        verdict = judge(row, schema=schema)
        assert verdict.outcome is outcome
        assert verdict.certain or outcome is Outcome.DONE
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    asked = {**ASK, "response_format": form if schema else {"type": "json_object"}}
    assert judge(chat(text, "stop"), request=asked).outcome is outcome


@pytest.mark.behaviour("J1", "T12b")
def test_a_call_that_lacks_a_required_member_is_cut_only_if_something_else_says_so() -> None:
    asked = {**ASK, "tools": TOOLS}
    lacking = chat(None, "tool_calls", tool_calls=[WHOLE])
    assert judge(lacking, request={**asked, "max_tokens": 500}).outcome is Outcome.DONE
    verdict = judge(lacking, request=asked)  # 20 tokens of 20
    assert (verdict.outcome, verdict.certain) == (Outcome.ARGUMENTS_CUT, True)


def test_a_call_in_the_text_is_told_by_the_tools_of_the_request() -> None:
    row = chat('{"name": "add", "arguments": {"a": 1}}', "stop")
    assert judge(row).outcome is Outcome.DONE
    assert judge(row, request={**ASK, "tools": TOOLS}).outcome is Outcome.CALL_WRITTEN


@pytest.mark.parametrize(
    "request_",
    [
        ASK,
        json.dumps(ASK),
        json.dumps(ASK).encode(),
        {"url": "https://api.openai.com/v1/chat/completions", "body": ASK},
        {"model": "m", "input": "Why?", "max_output_tokens": 20},
        {"contents": [], "generationConfig": {"maxOutputTokens": 20}},
        {"modelId": "m", "messages": [], "inferenceConfig": {"maxTokens": 20}},
        {"custom_id": "r1", "method": "POST", "url": "/v1/chat/completions", "body": ASK},
        {"prompt": "x", "sampling_params": {"max_tokens": 20}},
    ],
    ids=range(9),
)
def test_a_request_of_any_form_tells_the_limit(request_: Any) -> None:
    assert judge(chat(), request=request_).limit == 20
    assert judge(chat(), request=request_).can_be_finished


def test_a_given_limit_goes_before_the_others() -> None:
    assert judge(chat(), request=ASK, limit=30).limit == 30


def test_a_body_of_responses_repeats_its_limit() -> None:
    (example,) = (e for e in EXAMPLES if e.kind == "body" and e.stop == "completed")
    verdict = judge(example.row)
    assert verdict.limit == 20
    assert verdict.evidence == ("stop", "tokens_at_limit")


def test_an_object_of_an_sdk_is_judged() -> None:
    from openai.types.chat import ChatCompletion

    assert judge(ChatCompletion.model_validate(chat())).outcome is Outcome.TEXT_CUT


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_a_verdict_can_be_pickled_and_shows_no_text(example: Any) -> None:
    verdict = judge(example.row)
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    json.dumps(verdict.as_dict())
    if len(verdict.text) > 8:
        assert verdict.text not in repr(verdict) + str(verdict.as_dict())


def test_the_function_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(judge)) is judge


def test_whatever_cannot_be_finished_says_so() -> None:
    runaway = chat(AGAIN, "length")
    assert not judge(runaway, request=ASK).can_be_finished
    assert not judge(chat(DONE, "stop"), request=ASK).can_be_finished
    assert not judge(chat(), request={**ASK, "n": 2}).can_be_finished
    assert not judge(chat()).can_be_finished


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "finish_reason", "response", "body", "error", "messages",
             "role", "custom_id", "result", "type", "output", "events", "request", "candidates", "parts",
             "attributes", "epoch", "text", "tool_calls", "usage", "mapping", "resps", "chosen"]
        ),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.behaviour("J1", "N6")
@settings(max_examples=300, deadline=None)
@given(values)
def test_nothing_that_a_row_holds_raises_or_is_swallowed(row: Any) -> None:
    from tenuto.judging.judgement import _Given, _judged

    assert isinstance(_judged(row, (), _Given(None, None, None)), Verdict)


@pytest.mark.behaviour("J1", "N6")
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(EXAMPLES), st.data())
def test_rows_with_anything_in_any_place_raise_nothing(example: Any, data: st.DataObject) -> None:
    from tenuto.judging.judgement import _Given, _judged

    row = json.loads(json.dumps(example.row))
    if not isinstance(row, dict):
        return
    place, key = row, data.draw(st.sampled_from(sorted(row)))
    while isinstance(place[key], dict) and place[key] and data.draw(st.booleans()):
        place, key = place[key], data.draw(st.sampled_from(sorted(place[key])))
    place[key] = data.draw(values)
    assert isinstance(_judged(row, (), _Given(None, None, None)), Verdict)


def test_an_answer_that_raises_is_no_answer_and_a_log_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Bad(dict):  # type: ignore[type-arg]
        def __contains__(self, key: object) -> bool:
            raise RuntimeError("secret")

        def get(self, *args: Any) -> Any:
            raise RuntimeError("secret")

    assert judge(Bad(a=1)).outcome is Outcome.NO_ANSWER
    assert "secret" not in caplog.text


def test_a_message_without_a_stop_is_no_stop() -> None:
    verdict = judge(message(DONE, None))
    assert (verdict.outcome, verdict.certain, verdict.stop_is_stored) == (
        Outcome.DONE,
        False,
        False,
    )


SENT = {"url": "https://example.org/x", "method": "GET"}
BOOM = {"error": "boom"}


@pytest.mark.behaviour("J1", "N14")
@pytest.mark.parametrize(
    "row",
    [
        {"timestamp": "2025", **BOOM},
        {"host": "h", "error": {"message": "disk full"}},
        {"mine": {"error": {"message": "disk full"}, "host": "h"}},
        {"request": SENT, "response": {"status": 500, "body": BOOM}},
        {"request_body": {"q": 1}, "response_body": BOOM},
    ],
)  # fmt: skip
def test_an_error_that_any_program_may_write_is_no_answer_of_a_model(row: Any) -> None:
    assert judge(row).outcome is Outcome.NO_ANSWER


@pytest.mark.behaviour("J1", "N14")
def test_an_error_that_any_service_may_have_written_is_no_answer() -> None:
    form = {"success": False, "error": {"type": "ValidationError", "message": "x"}}
    unsure: tuple[Any, ...] = (form, BOOM, {"type": "error", "error": "disk full"})
    for row in unsure:
        verdict = judge(row)
        assert (verdict.outcome, verdict.evidence) == (Outcome.NO_ANSWER, ("any_error",))
    har = {"request": {"url": "https://shop.example/api/orders/12"}, "response": {"status": 404}}
    within = {**har, "response": {"status": 404, "body": {"error": "Order 12 not found"}}}
    assert judge(within).outcome is Outcome.NO_ANSWER
    known = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    asked = {"url": "https://api.acme.example/v1/chat/completions", "body": ASK}
    batch = {"custom_id": "a", "error": None, "response": {"status_code": 500, "body": BOOM}}
    exchange = {"request": asked, "response": {"status": 500, "body": BOOM}}
    sure: tuple[Any, ...] = (known, batch, exchange)
    for row in sure:
        verdict = judge(row)
        assert (verdict.outcome, verdict.certain) == (Outcome.FAULT, True)
    assert judge(BOOM, request=ASK).certain, "the caller says that a model was asked"
