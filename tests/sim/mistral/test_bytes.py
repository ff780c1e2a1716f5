"""The bytes are the provider's: its SDK's types accept them, and know every key; and what breaks its
rules is refused in its words."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from mistralai.client.models import ChatCompletionResponse, CompletionChunk
from pydantic import BaseModel
from support.asking.mistral import CASES, TOOLS

from tenuto_sim import Case, Simulator

BROKEN = {"cut_off_mid_text", "reset_mid_text", "body_short", "body_cut", "body_empty"}
"""What they hold is no JSON, or their transfer never ends in order."""
FOREIGN = {"call_null_arguments", "event_not_json", "body_error_only", "call_no_id"}
FOREIGN |= {"error_chunk_mid_text", "error_chunk_then_done"}
"""The SDK's types are what these break on purpose."""
NEWER = {"p", "closed", "cached_tokens", "prompt_tokens_details"}
"""Keys that the service writes and this SDK reads over, or keeps without knowing them."""
ASK: Any = {"model": "sim", "messages": [{"role": "user", "content": "Hi"}]}
CALL: Any = {"id": "D681PevKs", "type": "function", "index": 0}
CALL |= {"function": {"name": "f", "arguments": "{}"}}
CALLED: Any = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT: Any = {"role": "tool", "tool_call_id": "D681PevKs", "name": "f", "content": "ok"}


def post(sim: Simulator, body: Any) -> httpx.Response:
    return httpx.post(f"{sim.root_url}/mistral/v1/chat/completions", json=body)


def unknown_keys(model: Any, value: Any) -> set[str]:
    """The keys of a document that the SDK's type does not have, below it as well."""
    if isinstance(value, list):
        pairs = zip(model, value, strict=True)
        return set().union(*(unknown_keys(inner, item) for inner, item in pairs))
    if not isinstance(model, BaseModel) or not isinstance(value, dict):
        return set()
    known = type(model).model_fields.keys()
    inner = (unknown_keys(getattr(model, key), value[key]) for key in known & value.keys())
    return set(value.keys() - known).union(*inner)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_the_sdks_own_types_know_every_key(coarse: Simulator, case: Case) -> None:
    if case.name in BROKEN | FOREIGN:
        return
    for mode in sorted(case.modes):
        messages = [{"role": "user", "content": f"bytes of {case.name} {mode}"}]
        messages += [CALLED, RESULT] if case.after_tool_result else []
        body = {"model": f"sim/{case.name}", "messages": messages, "stream": mode == "stream"}
        body |= dict(case.request) | ({"tools": TOOLS} if case.wants_tools else {})
        answer = post(coarse, body)
        if not answer.is_success:
            assert answer.json().keys() == {"object", "message", "type", "param", "code"}
        elif mode == "body":
            told = answer.json()
            assert unknown_keys(ChatCompletionResponse.model_validate(told), told) <= NEWER
        else:
            lines = answer.text.lstrip("\ufeff").splitlines()
            if case.name == "data_lines":
                continue
            for line in lines:
                data = line.removeprefix("data:").strip()
                if line.startswith("data:") and data != "[DONE]":
                    event = json.loads(data)
                    if event["choices"]:
                        assert unknown_keys(CompletionChunk.model_validate(event), event) <= NEWER


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([CALLED], "Not the same number of function calls and responses"),
        ([CALLED, RESULT, RESULT], "Not the same number of function calls and responses"),
        ([CALLED, RESULT, ASK["messages"][0]], "Unexpected role 'user' after role 'tool'"),
        ([RESULT], "Unexpected role 'tool' after role 'user'"),
        ([{"role": "assistant", "content": "Half"}], "Expected last role User or Tool (or"),
        ([{"role": "assistant", "content": " "}, ASK["messages"][0]], "must have either content"),
        ([CALLED | {"tool_calls": [CALL | {"id": "call_1"}]}, RESULT | {"tool_call_id": "call_1"}],
         "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
        ([{"role": "assistant", "content": "x", "prefix": True}, ASK["messages"][0]],
         "Prefix is only allowed for the last assistant message"),
    ],
)  # fmt: skip
def test_a_history_that_breaks_a_rule_is_refused_in_mistrals_words(
    sim: Simulator, rows: list[Any], said: str
) -> None:
    answer = post(sim, ASK | {"messages": [*ASK["messages"], *rows]})
    assert answer.status_code == 400
    assert said in answer.json()["message"]


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"stream_options": {}}, ["body", "stream_options"]),
        ({"max_completion_tokens": 9}, ["body", "max_completion_tokens"]),
        ({"messages": [{"role": "user", "content": "Hi", "reasoning": ""}]},
         ["body", "messages", 0, "user", "reasoning"]),
    ],
)  # fmt: skip
def test_a_key_that_it_does_not_know_is_refused_by_the_way_to_it(
    sim: Simulator, changed: dict[str, Any], place: list[Any]
) -> None:
    answer = post(sim, ASK | changed)
    (found,) = answer.json()["message"]["detail"]
    assert (answer.status_code, found["loc"]) == (422, place)
