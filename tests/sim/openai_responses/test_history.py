"""Each rule refuses what breaks it, in the provider's words, and lets pass what does not."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from support.asking.openai_responses import CASES, TOOLS, results_for

from tenuto_sim.openai_responses.seals import cipher, item_id

USER: dict[str, Any] = {"role": "user", "content": "hello"}
CALL: dict[str, Any] = {
    "type": "function_call",
    "call_id": "call_a",
    "name": "write_file",
    "arguments": "{}",
}
RESULT: dict[str, Any] = {"type": "function_call_output", "call_id": "call_a", "output": "ok"}
RS = item_id("rs", "resp_x", 0)
THOUGHT: dict[str, Any] = {"type": "reasoning", "id": RS, "summary": []}
TIED = item_id("fc", "resp_x", 1, RS)
SAID: dict[str, Any] = {"role": "assistant", "content": "Well."}

REFUSED: dict[str, tuple[Any, str]] = {
    "unanswered call": (
        [USER, CALL, USER],
        "No tool output found for function call call_a.",
    ),
    "result without a call": (
        [USER, RESULT],
        "No tool call found for function call output with call_id call_a.",
    ),
    "a second result": (
        [USER, CALL, RESULT, RESULT],
        "No tool call found for function call output with call_id call_a.",
    ),
    "reasoning alone": (
        [USER, THOUGHT, USER],
        f"Item '{RS}' of type 'reasoning' was provided without its required following item.",
    ),
    "reasoning last": (
        [USER, THOUGHT],
        f"Item '{RS}' of type 'reasoning' was provided without its required following item.",
    ),
    "a call without its reasoning": (
        [USER, CALL | {"id": TIED}, RESULT],
        (
            f"Item '{TIED}' of type 'function_call' was provided without its required 'reasoning' "
            f"item: '{RS}'."
        ),
    ),
    "a forged reasoning": (
        [USER, THOUGHT | {"encrypted_content": "gAAA"}, SAID, USER],
        (
            f"The encrypted content for item {RS} could not be verified. Reason: Encrypted content "
            "could not be decrypted or parsed."
        ),
    ),
    "broken arguments": (
        [USER, CALL | {"arguments": '{"a'}, RESULT],
        "invalid tool call arguments",
    ),
    "private key": ([USER | {"_note": 1}], "Unknown parameter: 'input[0]._note'."),
    "an id of another kind": (
        [USER, CALL | {"id": "call_a"}, RESULT],
        "Invalid 'input[1].id': 'call_a'. Expected an ID that begins with 'fc'.",
    ),
    "input of the user's in the model's mouth": (
        [USER, {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}, USER],
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ),
    "no content": ([{"role": "user"}], "Missing required parameter: 'input[0].content'."),
    "a blank row": (
        [USER, SAID | {"content": " "}, USER],
        (
            "Invalid 'input[1].content': string too short. Expected a string with minimum length 1, "
            "but got an empty string instead."
        ),
    ),
    "a call without an id": (
        [USER, {k: v for k, v in CALL.items() if k != "call_id"}],
        "Missing required parameter: 'input[1].call_id'.",
    ),
    "the same call twice": (
        [USER, CALL, CALL, RESULT],
        "Duplicate function call with call_id call_a.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_history_that_breaks_a_rule_is_refused_in_the_providers_words(bare, name):
    items, words = REFUSED[name]
    got = bare.ask(items)
    assert isinstance(got.error, openai.BadRequestError)
    body: Any = got.error.body
    assert body["message"] == words


MEMBERS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"extra_body": {"seed": 1}}, "Unknown parameter: 'seed'."),
    "below the least": (
        {"max_output_tokens": 5},
        (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got "
            "5 instead."
        ),
    ),
    "above the most": (
        {"max_output_tokens": 99_999},
        (
            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but "
            "got 99999 instead."
        ),
    ),
    "unknown response": (
        {"previous_response_id": "resp_none"},
        "Previous response with id 'resp_none' not found.",
    ),
    "a choice without tools": (
        {"tool_choice": "required"},
        "Tool choice 'required' must be specified with 'tools' parameter.",
    ),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_breaks_a_rule_is_refused_in_the_providers_words(bare, name):
    members, words = MEMBERS[name]
    got = bare.ask([USER], **members)
    assert isinstance(got.error, openai.BadRequestError)
    body: Any = got.error.body
    assert body["message"] == words


ACCEPTED: dict[str, Any] = {
    "a text": "hello",
    "calls in a row, results behind them": [
        USER, CALL, CALL | {"call_id": "call_b"}, RESULT | {"call_id": "call_b"}, RESULT,
    ],
    "reasoning before its call": [
        USER, THOUGHT | {"encrypted_content": cipher(RS)}, CALL | {"id": TIED}, RESULT,
    ],
    "reasoning before a row without id": [USER, THOUGHT, SAID, USER],
    "a call without id needs no reasoning": [USER, CALL, RESULT],
    "a phase": [USER, SAID | {"phase": "commentary"}, USER],
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_history_that_breaks_no_rule_is_answered(bare, name):
    assert bare.ask(ACCEPTED[name]).error is None


@pytest.mark.parametrize("name", ["normal", "tool", "tools", "think_then_call", "search_cited"])
def test_an_answer_goes_back_as_it_came(bare, name, way):
    got = bare.ask_case(CASES[name], "body", way)
    after = results_for(got) or [USER]
    assert bare.ask([*got.history, *got.items, *after], tools=TOOLS).error is None


def test_a_response_that_was_not_stored_is_not_found(bare):
    got = bare.ask([USER], store=False)
    then = bare.ask([USER], previous_response_id=got.response.id)
    assert isinstance(then.error, openai.BadRequestError)


def test_a_conversation_holds_what_was_asked_and_answered(bare, sim):
    for words in ("One.", "Two."):
        bare.ask([{"role": "user", "content": words}], conversation={"id": "conv_x"})
    kept = [item.get("role") for item in sim.memory["conv_x"]]
    assert kept == ["user", "assistant", "user", "assistant"]
