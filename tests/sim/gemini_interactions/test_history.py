"""Each rule refuses what breaks it, in the provider's words, and lets pass what does not."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from google.genai._gaos.lib import compat_errors
from support.asking.gemini_interactions import CASES, TOOLS, asks, results_for

from tenuto_sim.gemini_interactions.seals import signature, token

USER = asks("Hello.")
CALL: dict[str, Any] = {"type": "function_call", "id": "a", "name": "write_file", "arguments": {}}
RESULT: dict[str, Any] = {"type": "function_result", "call_id": "a", "name": "write_file"}
RESULT["result"] = "ok"
B, TO_B = {"id": "b"}, {"call_id": "b"}
SAID: dict[str, Any] = {"type": "model_output", "content": [{"type": "text", "text": "Well."}]}
THOUGHT = {"type": "thought", "signature": signature("v1_x")}
COUNTS = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
RESULT_PLACE = (
    "Please ensure that function response turn comes immediately after a function call turn. Got "
    "function response with name 'write_file'."
)
STEPS = (
    "'user_input', 'model_output', 'thought', 'function_call', 'function_result', "
    "'google_search_call', 'google_search_result'"
)


def without(step: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in step.items() if name != key}


REFUSED: dict[str, tuple[Any, str]] = {
    "an unanswered call": ([USER, CALL], COUNTS),
    "a call that is answered too late": ([USER, CALL, USER, RESULT], COUNTS),
    "one of two calls unanswered": ([USER, CALL, CALL | B, RESULT], COUNTS),
    "one of two answered too late": (
        [USER, CALL, CALL | B, RESULT, SAID, RESULT | TO_B],
        COUNTS,
    ),
    "a second result": ([USER, CALL, RESULT, RESULT], COUNTS),
    "the result of another call": ([USER, CALL, RESULT | TO_B], COUNTS),
    "the result of another function": ([USER, CALL, RESULT | {"name": "f"}], COUNTS),
    "the same call twice": ([USER, CALL, CALL, RESULT, RESULT], COUNTS),
    "a result without a call": ([USER, RESULT], RESULT_PLACE),
    "a result before its call": ([USER, RESULT, CALL], RESULT_PLACE),
    "a call before anybody asked": (
        [CALL, RESULT],
        ("Please ensure that function call turn comes immediately after a user turn or after a "
         "function response turn."),
    ),
    "a result without a name": ([USER, CALL, without(RESULT, "name")], "Invalid input received."),
    "a result of nothing": (
        [USER, CALL, RESULT | {"result": None}],
        "Invalid value at 'input[2].result'.",
    ),
    "arguments as text": (
        [USER, CALL | {"arguments": "{}"}, RESULT],
        "Invalid value at 'input[1].arguments'.",
    ),
    "an id that is no text": ([USER, CALL | {"id": 5}, RESULT], "Invalid value at 'input[1].id'."),
    "a call without an id": ([USER, without(CALL, "id"), RESULT], "'id' is required at 'input[1]'."),
    "a private key": ([USER | {"_note": 1}], "Unknown parameter: 'input[0]._note'."),
    "a signature where none belongs": (
        [USER, CALL | {"signature": signature("v1_x")}, RESULT],
        "Unknown parameter: 'input[1].signature'.",
    ),
    "a forged thought": (
        [USER, THOUGHT | {"signature": "gA=="}, SAID, USER],
        "Thought signature is not valid at 'input[1]'.",
    ),
    "an unknown step": (
        [USER, {"type": "zzz"}],
        f"The value 'zzz' is not supported for 'type' at 'input[1]'. Supported values: {STEPS}.",
    ),
    "a part among steps": (
        [{"type": "text", "text": "x"}, USER],
        f"The value 'text' is not supported for 'type' at 'input[0]'. Supported values: {STEPS}.",
    ),
    "an empty output": (
        [USER, SAID | {"content": []}, USER],
        "'content' must hold at least one part at 'input[1]'.",
    ),
    "a blank text": ([USER, asks(" ")], "'text' must not be empty at 'input[1].content[0]'."),
    "an unknown part": (
        [USER | {"content": [{"type": "input_text", "text": "x"}]}],
        ("The value 'input_text' is not supported for 'type' at 'input[0].content[0]'. Supported "
         "values: 'text', 'image', 'audio', 'video', 'document'."),
    ),
}  # fmt: skip


def refusal(sim: Any, **body: Any) -> Any:
    """The words with which a request is refused. No SDK is between: it would refuse much by itself,
    and put right some."""
    response = httpx.post(f"{sim.root_url}/v1beta/interactions", json={"model": "sim"} | body)
    assert response.status_code == 400
    return response.json()["error"]["message"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_history_that_breaks_a_rule_is_refused_in_the_providers_words(sim, name):
    steps, words = REFUSED[name]
    assert refusal(sim, input=steps) == words


def config(**members: Any) -> dict[str, Any]:
    return {"generation_config": members}


RANGE = (
    "Unable to submit request because it has a {} value of {} but the supported range is from {}. "
    "Update the value and try again."
)
ONE_OF = "The value '{}' is not supported for '{}' at '{}'. Supported values: {}."
CHOICES = "'auto', 'any', 'none', 'validated'"
FORMATS = (
    "'image', 'object', 'audio', 'string', 'video', 'number', 'integer', 'boolean', 'text', 'array'"
)
MEMBERS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"seed": 1}, "Unknown parameter: 'seed'."),
    "unknown in the configuration": (config(top_k=1), "Unknown parameter: 'generation_config.top_k'."),
    "below the least": (
        config(max_output_tokens=0),
        RANGE.format("maxOutputTokens", 0, "1 (inclusive) to 16385 (exclusive)"),
    ),
    "above the most": (
        config(max_output_tokens=99_999),
        RANGE.format("maxOutputTokens", 99_999, "1 (inclusive) to 16385 (exclusive)"),
    ),
    "no number": (
        config(max_output_tokens="9"),
        "Invalid value at 'generation_config.max_output_tokens'.",
    ),
    "too hot": (
        config(temperature=2.5),
        RANGE.format("temperature", 2.5, "0 (inclusive) to 2 (inclusive)"),
    ),
    "more than all": (config(top_p=1.5), RANGE.format("topP", 1.5, "0 (inclusive) to 1 (inclusive)")),
    "a level that is none": (
        config(thinking_level="most"),
        ONE_OF.format("most", "thinking_level", "generation_config",
                      "'minimal', 'low', 'medium', 'high', 'xhigh'"),
    ),
    "a choice that is none": (
        config(tool_choice="required"),
        ONE_OF.format("required", "tool_choice", "generation_config", CHOICES),
    ),
    "a mode that is none": (
        config(tool_choice={"allowed_tools": {"mode": "required"}}),
        ONE_OF.format("required", "tool_choice", "generation_config", CHOICES),
    ),
    "a choice without tools": (
        config(tool_choice="any"),
        "'tools' is required where 'tool_choice' asks for a call.",
    ),
    "a tool that is none": (
        {"tools": [{"type": "zzz"}]},
        ONE_OF.format("zzz", "type", "tools[0]", "'function', 'code_execution', 'mcp_server', "
                      "'google_maps', 'google_search', 'computer_use', 'file_search', "
                      "'url_context', 'retrieval', 'tool_search'"),
    ),
    "a function without a name": (
        {"tools": [{"type": "function"}]},
        "'name' is required at 'tools[0]'.",
    ),
    "a form of Chat Completions": (
        {"response_format": {"type": "json_schema"}},
        ONE_OF.format("json_schema", "type", "response_format", FORMATS),
    ),
    "a form in a list": (
        {"response_format": [{"type": "text"}, {"type": "json"}]},
        ONE_OF.format("json", "type", "response_format[1]", FORMATS),
    ),
    "a background that is not stored": (
        {"background": True, "store": False},
        "'store=false' is incompatible with 'background=true'.",
    ),
    "a forged token": (
        {"continuation_token": "gA=="},
        "The continuation_token is not valid for this interaction.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_breaks_a_rule_is_refused_in_the_providers_words(sim, name):
    members, words = MEMBERS[name]
    assert refusal(sim, input=[USER], **members) == words


def test_the_sdk_raises_for_a_refusal_as_the_api_says_it(bare):
    error = bare.ask([USER, RESULT]).error
    assert isinstance(error, compat_errors.BadRequestError)
    assert error.body == {"error": {"message": RESULT_PLACE, "code": "invalid_request"}}


ACCEPTED: dict[str, Any] = {
    "a text": "Hello.",
    "a part": {"type": "text", "text": "Hello."},
    "parts": [{"type": "text", "text": "Hello."}, {"type": "text", "text": "You."}],
    "calls in a row, results behind them": [USER, CALL, CALL | B, RESULT | TO_B, RESULT],
    "results, then a question": [USER, CALL, RESULT, USER],
    "calls in turns, by the same id": [USER, CALL, RESULT, CALL, RESULT],
    "words among calls": [USER, CALL, SAID, THOUGHT, CALL | B, RESULT, RESULT | TO_B],
    "a thought without a signature": [USER, without(THOUGHT, "signature"), SAID, USER],
    "a result that is an object": [
        USER,
        CALL,
        RESULT | {"result": {"ok": True}, "is_error": False},
    ],
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_history_that_breaks_no_rule_is_answered(bare, name):
    assert bare.ask(ACCEPTED[name]).error is None


@pytest.mark.parametrize("name", ["normal", "tool", "tools", "think_then_call", "search_cited"])
def test_an_answer_goes_back_as_it_came(bare, name, way):
    got = bare.ask_case(CASES[name], "body", way)
    after = results_for(got) or [USER]
    assert bare.ask([*got.history, *got.steps, *after], tools=TOOLS).error is None


def test_an_interaction_that_was_not_stored_is_not_found(bare):
    got = bare.ask([USER], store=False)
    error = bare.ask([USER], previous_interaction_id=got.id).error
    assert isinstance(error, compat_errors.NotFoundError)
    assert f"Interaction '{got.id}' was not found." in str(error.body)


def test_results_are_for_the_calls_that_are_stored(bare, sim):
    got = bare.ask_case(CASES["tools"], "body", store=True)
    more = {"previous_interaction_id": got.id}
    whole = results_for(got)
    assert refusal(sim, input=whole[:-1], **more) == COUNTS
    assert refusal(sim, input=[USER], **more) == COUNTS
    then = bare.ask(whole, store=True, **more)
    assert then.error is None
    assert refusal(sim, input=[RESULT], previous_interaction_id=then.id) == RESULT_PLACE


def test_a_token_goes_on_from_its_own_interaction_and_without_input(bare, sim):
    one, other = (bare.ask([USER], store=True).id for _ in range(2))
    more = {"previous_interaction_id": one, "continuation_token": token("Well", other)}
    words = "The continuation_token is not valid for this interaction."
    assert refusal(sim, **more) == words
    more["continuation_token"] = token("Well", one)
    words = "'input' must not be set when an interaction is continued."
    assert refusal(sim, input=[USER], **more) == words
    assert bare.ask(None, **more).error is None
