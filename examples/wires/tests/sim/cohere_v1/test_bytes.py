"""The bytes are the provider's: its SDK's types accept them, and streams are lines."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx
import pytest
from cohere.types import NonStreamedChatResponse, StreamedChatResponse
from pydantic import BaseModel, TypeAdapter

from examples.wires.tests.asking.cohere_v1 import CASES, TOOLS, CohereV1Asker
from tenuto_sim import Case, Simulator

EVENT: TypeAdapter[Any] = TypeAdapter(StreamedChatResponse)
# The SDK's types are what these break on purpose.
FOREIGN = {
    "done_no_finish", "body_cut", "body_empty", "unknown_event",
    "line_not_json", "body_short", "cut_off_mid_text", "reset_mid_text",
    "call_empty_arguments_length",
}  # fmt: skip
ADDED = {"is_finished", "error"}
"""Members that the API writes and these types do not have."""
_number = itertools.count(1)


def unknown_keys(value: Any) -> set[str]:
    """The keys that the SDK's models do not know, at every depth."""
    if isinstance(value, list):
        return {key for item in value for key in unknown_keys(item)}
    if not isinstance(value, BaseModel):
        return set()
    inner = {key for name in type(value).model_fields for key in unknown_keys(getattr(value, name))}
    return (set(value.model_extra or ()) | inner) - ADDED


def ask(sim: Simulator, case: Case, mode: str) -> httpx.Response:
    prompt = f"bytes of {case.name}, take {next(_number)}"
    given = {"model": f"sim/{case.name}", "message": prompt, "stream": mode == "stream"}
    more = {"tools": TOOLS} if case.wants_tools else {}
    return httpx.post(f"{sim.root_url}/v1/chat", json=given | more | dict(case.request))


ORDERLY = [c for c in CASES.values() if c.name not in FOREIGN and c.bare != "raises"]


@pytest.mark.parametrize("case", ORDERLY, ids=lambda case: case.name)
def test_what_a_case_sends_is_valid_to_the_sdks_types(coarse: Simulator, case: Case) -> None:
    for mode in case.modes:
        response = ask(coarse, case, mode)
        assert response.status_code == 200
        if mode == "body":
            made = NonStreamedChatResponse.model_validate_json(response.text)
            assert unknown_keys(made) == set()
            continue
        for document in map(json.loads, response.text.splitlines()):
            event = EVENT.validate_python(document)
            assert event.event_type == document["event_type"]
            assert unknown_keys(event) == set()


def test_a_stream_is_lines_and_the_last_one_says_all_again(sim: Simulator) -> None:
    response = ask(sim, CASES["tool_with_text"], "stream")
    assert response.headers["content-type"] == "application/stream+json"
    told = [json.loads(line) for line in response.text.splitlines()]
    kinds = [kind for kind, _ in itertools.groupby(event["event_type"] for event in told)]
    assert kinds == ["stream-start", "tool-calls-chunk", "tool-calls-generation", "stream-end"]
    assert [event["is_finished"] for event in told][-2:] == [False, True]
    pieces = "".join(event.get("text", "") for event in told if event["event_type"] == kinds[1])
    whole = told[-1]["response"]
    assert whole["text"] == pieces == told[-2]["text"]
    assert whole["tool_calls"] == told[-2]["tool_calls"]
    deltas = [event.get("tool_call_delta", {}) for event in told]
    raw = "".join(delta.get("parameters", "") for delta in deltas)
    assert [json.loads(raw)] == [call["parameters"] for call in whole["tool_calls"]]


def test_the_lines_of_a_stream_add_up_to_the_body(bare: CohereV1Asker) -> None:
    for name in ("normal", "tools", "tool_with_text", "cjk"):
        case = CASES[name]
        for said in (bare.ask_case(case, "body"), bare.ask_case(case, "stream")):
            assert (said.text, said.inputs) == bare.wanted(said, case)
            assert said.history[0] == {"role": "USER", "message": said.prompt}
            assert said.history[-1]["message"] == said.text
            assert said.usage.tokens.output_tokens > 0
