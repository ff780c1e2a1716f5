"""The bytes are the provider's: its SDK's types accept them, and know every key."""

from __future__ import annotations

import json
from typing import Any

import httpx
import ollama
import pytest
from pydantic import BaseModel, ValidationError
from support.asking.ollama import CASES, TOOLS, OllamaAsker

from tenuto_sim import Case, Simulator

BROKEN = {"cut_off_mid_text", "reset_mid_text", "body_short", "body_cut", "body_empty"}
"""What they hold is no JSON, or their transfer never ends in order."""
FOREIGN = {"call_array_arguments", "call_double_encoded", "call_empty_arguments_length"}
FOREIGN |= {"line_not_json"}
"""The SDK's types are what these break on purpose."""
NEWER = {"id", "index"}
"""Keys of a call that the server writes and this SDK reads over."""


def ask(sim: Simulator, case: Case, mode: str) -> list[dict[str, Any]]:
    prompt = f"bytes of {case.name} {mode}"
    body: dict[str, Any] = {"model": f"sim/{case.name}", "stream": mode == "stream"}
    body["messages"] = [{"role": "user", "content": prompt}]
    if case.after_tool_result:
        call = {"function": {"name": "write_file", "arguments": {}}}
        body["messages"].append({"role": "assistant", "content": "", "tool_calls": [call]})
        body["messages"].append({"role": "tool", "content": "ok"})
    body |= case.request
    if case.wants_tools:
        body["tools"] = TOOLS
    answer = httpx.post(f"{sim.root_url}/api/chat", json=body)
    kind = "application/x-ndjson" if mode == "stream" and answer.is_success else "application/json"
    assert answer.headers["content-type"] == kind
    return [json.loads(line) for line in answer.text.splitlines()]


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
    for mode in sorted(case.modes):
        if case.name in BROKEN:
            continue
        if case.name in FOREIGN:
            with pytest.raises((ValidationError, ValueError)):
                [ollama.ChatResponse(**told) for told in ask(coarse, case, mode)]
            continue
        for told in ask(coarse, case, mode):
            if "error" in told:
                assert told.keys() == {"error"}
            else:
                assert unknown_keys(ollama.ChatResponse(**told), told) <= NEWER


@pytest.mark.parametrize("mode", ["body", "stream"])
def test_the_sdks_own_types_know_every_key_of_what_a_prompt_is_told(
    sim: Simulator, mode: str
) -> None:
    for name in ("normal", "length_once", "think_then_text"):
        body = {"model": f"sim/{name}", "prompt": f"bytes of {mode}", "stream": mode == "stream"}
        answer = httpx.post(f"{sim.root_url}/api/generate", json=body)
        for told in map(json.loads, answer.text.splitlines()):
            assert not unknown_keys(ollama.GenerateResponse(**told), told)
            assert "response" in told


def test_a_raw_prompt_goes_on_at_its_end(sim: Simulator) -> None:
    def said(**more: Any) -> Any:
        body = {"model": "sim/normal", "stream": False, **more}
        return httpx.post(f"{sim.root_url}/api/generate", json=body).json()

    whole = said(prompt="Tell me.")["response"]
    assert said(prompt=f"Tell me.\n\n{whole[:50]}", raw=True)["response"] == whole[50:]
    assert said(prompt=f"Tell me.\n\n{whole[:50]}\n\nGo on.")["response"] == whole[50:]
    assert said()["done_reason"] == "load"
    assert "prompt of type string" in said(prompt=[])["error"]


def test_the_lines_of_a_stream_add_up_to_the_body(bare: OllamaAsker) -> None:
    for name in ("normal", "tools", "tool_with_text", "think_then_text", "cjk"):
        case = CASES[name]
        whole, told = bare.ask_case(case, "body"), bare.ask_case(case, "stream")
        assert (whole.stop, told.stop) == ("stop", "stop")
        assert whole.text == bare.wanted(whole, case)[0]
        assert told.text == bare.wanted(told, case)[0]
        assert whole.inputs == bare.wanted(whole, case)[1]
        assert told.usage["output"] > 0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"no", "invalid character"),
        ({"messages": []}, "model is required"),
        ({"model": "m", "messages": "x"}, "messages of type []api.Message"),
        ({"model": "m", "messages": ["x"]}, "messages of type api.Message"),
        ({"model": "m", "messages": [{"role": "user", "content": []}]}, "content of type string"),
        ({"model": "m", "messages": [{"role": "bot", "content": ""}]}, "must be one of"),
        ({"model": "m", "messages": [{"role": "user", "_x": ""}]}, "unknown field '_x'"),
        ({"model": "m", "messages": [{"role": "user"}], "stream": "x"}, "stream of type bool"),
        ({"model": "m", "messages": [{"role": "user"}], "options": []}, "options of type map"),
        ({"model": "m", "messages": [{"role": "user"}], "options": {"num_predict": "9"}},
         "must be of type integer"),
        ({"model": "m", "messages": [{"role": "assistant", "tool_calls": {}}]},
         "of type []api.ToolCall"),
        ({"model": "m", "messages": [
            {"role": "assistant", "tool_calls": [{"function": {"arguments": '{"a'}}]}]},
         "cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls"),
    ],
)  # fmt: skip
def test_what_the_server_would_refuse_is_refused_in_its_words(
    sim: Simulator, body: Any, says: str
) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = httpx.post(f"{sim.root_url}/api/chat", content=raw)
    assert answer.status_code == 400
    assert says in answer.json()["error"]


def test_a_model_goes_on_with_its_own_message_where_its_prompt_stays_open(
    bare: OllamaAsker,
) -> None:
    history = [{"role": "user", "content": "Tell me of prefills."}]
    whole = bare.ask(history).text
    half = [*history, {"role": "assistant", "content": whole[:50]}]
    assert bare.ask(half, model="qwen3:8b/sim/normal").text == whole[50:]
    assert bare.ask(half, model="llama3.2/sim/normal").text == whole
