"""Requests of Ollama: what is read of them, what an edit makes of them, and how histories are mended."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.paths import wire_for_path
from support.repairing import repair_history

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import FaultKind
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendUser,
    DropConstraint,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.providers.table import by_url
from tenuto.wires.dialect import Dialect
from tenuto.wires.ollama.errors import read_fault
from tenuto.wires.ollama.history import RULES
from tenuto.wires.ollama.wire import WIRE
from tenuto_sim.ollama.wire import WIRE as SIMULATED
from tenuto_sim.reply import Settings

USER = {"role": "user", "content": "Hi"}
CALL = {"function": {"name": "write", "arguments": {"path": "a"}}}


def parsed(body: Any, path: str = "/api/chat") -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WIRE.request(raw, 16, path, Dialect())


def asked(**more: Any) -> Any:
    return parsed({"model": "m", "messages": [USER], **more})


def edited(request: Any, *edits: Any) -> Any:
    return json.loads(request.apply(edits, Dialect()))


def repaired(*rows: Any) -> tuple[list[Any], tuple[str, ...]]:
    out, done = repair_history([json.dumps(row).encode() for row in rows], RULES)
    again, nothing = repair_history(out, RULES)
    assert (again, nothing) == (out, ())
    body = {"model": "m", "stream": True, "messages": [json.loads(row) for row in out]}
    assert list(SIMULATED.violations({}, body, Settings())) == []
    return [json.loads(row) for row in out], done


@pytest.mark.behaviour("N4")
@pytest.mark.parametrize(
    ("given", "streams"), [({}, True), ({"stream": None}, True), ({"stream": False}, False)]
)
def test_a_request_streams_unless_it_says_otherwise(given: Any, streams: bool) -> None:
    assert asked(**given).facts.stream is streams


@pytest.mark.behaviour("C28", "C7")
@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"logprobs": True}, "logprobs"),
        ({"top_logprobs": 2}, "logprobs"),
        ({"options": {"num_predict": 16}}, "probe"),
        ({"options": {"num_predict": -1}}, ""),
        ({"options": 7}, ""),
    ],
)
def test_what_cannot_be_continued_is_left_alone(given: Any, why: str) -> None:
    assert asked(**given).facts.left_alone == why


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize(
    "body",
    [
        {"model": "m", "messages": []},
        {"model": "m"},
        {"messages": [USER]},
        {"id": "x", "messages": [USER], "trigger": "submit"},
        {"model": "m", "messages": ["x"]},
        {"model": 5, "messages": [USER]},
        b"[]",
        b"no json",
        b'{"model":"m","messages":[{"role":"user","content":"\xff"}]}',
    ],
)
def test_what_asks_a_model_nothing_is_no_request(body: Any) -> None:
    assert parsed(body) is None


def test_a_prompt_that_asks_nothing_loads_the_model_and_is_no_request() -> None:
    for prompt in ({}, {"prompt": ""}, {"prompt": "  "}, {"prompt": None}):
        assert parsed({"model": "m", **prompt}, "/api/generate") is None
    assert parsed({"model": "m", "prompt": "Hi"}, "/api/generate") is not None


def test_the_paths_of_this_api_are_its_own() -> None:
    for path in ("/api/chat", "/api/generate", "/proxy/api/chat/"):
        assert wire_for_path(path) is WIRE
    for path in ("/api/embed", "/api/pull", "/v1/chat/completions", "/api/chat/history"):
        assert wire_for_path(path) is not WIRE


@pytest.mark.behaviour("C17")
def test_the_output_limit_stands_among_the_options_whose_bytes_stay() -> None:
    raw = b'{"model":"m","options":{"temperature": 1.0,"num_predict": 50, "seed":1e400},"messages":[ {"role":"user","content":"Hi"}]}'
    request = parsed(raw)
    assert request.facts.max_tokens == 50
    made = request.apply([SetOutputLimit(100)], Dialect())
    assert b'"temperature":1.0' in made
    assert b'"seed":1e400' in made
    assert json.loads(made)["options"]["num_predict"] == 100
    assert edited(asked(), SetOutputLimit(9))["options"] == {"num_predict": 9}


@pytest.mark.behaviour("C9", "C27", "C11")
def test_edits_change_what_they_name_and_nothing_else() -> None:
    request = asked(format={"type": "object"}, think="high", keep_alive="5m")
    assert request.facts.structured
    assert request.facts.lower_reasoning
    said = [AppendAssistant("Half", reasoning="hm"), AppendUser("Go on.")]
    made = edited(request, *said, DropConstraint(), LowerReasoning())
    said_back = {"role": "assistant", "content": "Half", "thinking": "hm"}
    rows = [said_back, {"role": "user", "content": "Go on."}]
    assert made == {
        "model": "m", "think": "low", "keep_alive": "5m", "messages": [USER, *rows]
    }  # fmt: skip
    assert edited(asked(think=True), LowerReasoning())["think"] is False
    assert not asked(think=False).facts.lower_reasoning
    assert not asked(think="low").facts.lower_reasoning


@pytest.mark.behaviour("T5", "H4")
def test_broken_calls_go_back_as_objects_each_with_its_failed_result() -> None:
    calls = (
        ToolCall("t0", "write", '{"path":"a"}', Finding.WHOLE),
        ToolCall("c1", "write", '{"pa', Finding.TRUNCATED, extra={"named": True, "function": {}}),
    )
    rows = edited(asked(), AppendCalls("I write.", calls, ("no", "cut")))["messages"]
    assert rows[1]["tool_calls"] == [
        {"function": {"name": "write", "arguments": {"path": "a"}}},
        {"id": "c1", "function": {"name": "write", "arguments": {}}},
    ]
    assert rows[2:] == [
        {"role": "tool", "content": "no", "tool_name": "write"},
        {"role": "tool", "content": "cut", "tool_name": "write", "tool_call_id": "c1"},
    ]
    body = {"model": "m", "stream": True, "messages": rows}
    assert list(SIMULATED.violations({}, body, Settings())) == []


def test_a_prompt_has_no_tools() -> None:
    body = {"model": "m", "prompt": "Tell.", "tools": [{"function": {"name": "f"}}]}
    assert parsed(body, "/api/generate").tool_parameters() == {}


@pytest.mark.behaviour("C9", "C14a")
def test_a_prompt_goes_on_behind_its_own_words_and_a_raw_one_at_its_end() -> None:
    said = (AppendAssistant("Half"), AppendUser("Go on."))
    plain = parsed({"model": "m", "prompt": "Tell."}, "/api/generate")
    assert plain.facts.prefill_barred
    assert edited(plain, *said)["prompt"] == "Tell.\n\nHalf\n\nGo on."
    raw = parsed({"model": "m", "prompt": "[INST]Tell[/INST]", "raw": True}, "/api/generate")
    assert not raw.facts.prefill_barred
    assert edited(raw, *said)["prompt"] == "[INST]Tell[/INST]Half"
    assert edited(raw, AppendUser("Answer."))["prompt"] == "[INST]Tell[/INST]\n\nAnswer."
    between = parsed({"model": "m", "prompt": "def f", "suffix": "return"}, "/api/generate")
    assert between.facts.left_alone == "fill_in"


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize(
    ("model", "takes"),
    [
        ("qwen3:14b", True),
        ("qwen3.5", True),
        ("olmo-3:7b", True),
        ("llama3.2", False),
        ("gemma3", False),
        ("someone/qwen3-tuned", False),
        ("hf.co/x/Qwen3-8B-GGUF", False),
    ],
)
def test_a_prefill_is_for_models_whose_prompt_the_server_writes(model: str, takes: bool) -> None:
    for host in ("localhost:11434", "gpu.lab:8000"):
        provider = by_url(f"http://{host}/api/chat", "ollama")
        assert provider.dialect.takes_prefill(model) is takes


@pytest.mark.behaviour("H4", "H5a")
@pytest.mark.parametrize(
    ("given", "made"),
    [('{"path":"a"}', {"path": "a"}), ('{"path":"a', {}), ("", {}), (None, {}), ([1], {})],
)
def test_arguments_that_are_no_object_become_one(given: Any, made: Any) -> None:
    call = {"id": "x", "function": {"name": "write", "arguments": given, "index": 0}}
    row = {"role": "assistant", "content": "", "tool_calls": [call, CALL]}
    results = [{"role": "tool", "content": "ok"}] * 2
    rows, done = repaired(USER, row, *results)
    assert rows[1]["tool_calls"][0]["function"]["arguments"] == made
    assert rows[1]["tool_calls"][1] == CALL
    assert done == ("broken_arguments_replaced",)


@pytest.mark.behaviour("H1", "H3", "C21")
def test_rows_that_say_nothing_go_and_our_own_words_are_taken_out() -> None:
    notice = {"role": "assistant", "content": "Half" + hints.NOTICE.format(reason="cut")}
    private = {"role": "user", "content": "More", "_id": 5}
    empty = [{"role": "assistant", "content": " "}, {"role": "assistant", "thinking": "hm"}]
    rows, done = repaired(USER, notice, private, *empty, USER)
    more = {"role": "user", "content": "More"}
    assert rows == [USER, {"role": "assistant", "content": "Half"}, more, USER]
    assert set(done) == {"notice_removed", "private_keys_removed", "empty_row_removed"}


@pytest.mark.behaviour("H2", "H5a")
@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([], ["stub", "stub"]),
        ([{"content": "one"}], ["one", "stub"]),
        ([{"content": "two", "tool_name": "read"}], ["stub", "two"]),
        ([{"content": "two", "tool_call_id": "c2"}], ["stub", "two"]),
        ([{"content": "one"}, {"content": "two"}], ["one", "two"]),
        ([{"content": "one"}, {"content": "two"}, {"content": "three"}], ["one", "two", "three"]),
    ],
)
def test_every_call_is_answered_in_the_order_of_the_calls(results: Any, told: Any) -> None:
    read = {"id": "c2", "function": {"name": "read", "arguments": {}}}
    row = {"role": "assistant", "content": "", "tool_calls": [CALL, read]}
    rows, done = repaired(USER, row, *({"role": "tool", **r} for r in results), USER)
    found = [hints.ORPHAN_RESULT if text == "stub" else text for text in told]
    assert [r["content"] for r in rows if r["role"] == "tool"] == found
    assert rows[-1] == USER
    assert done == (("unanswered_call_answered",) if "stub" in told else ())


@pytest.mark.behaviour("H5a")
def test_a_valid_history_keeps_its_bytes() -> None:
    row = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    body = json.dumps({"model": "m", "messages": [USER, row, {"role": "tool", "content": "ok"}]})
    assert parsed(body.encode()).apply((), Dialect()) == body.encode()


K = FaultKind
TEXTS = {
    "error parsing tool call: raw='{\"a', err=unexpected end of JSON input": (
        500,
        K.MALFORMED_CALL,
    ),
    "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments": (
        400,
        K.INVALID_REQUEST,
    ),
    "registry.ollama.ai/library/gemma3:latest does not support tools": (400, K.INVALID_REQUEST),
    '"llama3" does not support thinking': (400, K.INVALID_REQUEST),
    "model 'nope' not found": (404, K.INVALID_REQUEST),
    "model requires more system memory (48.2 GiB) than is available (30.1 GiB)": (
        500,
        K.SERVER,
    ),
    "the input length exceeds the context length": (400, K.CONTEXT_OVERFLOW),
    "input length exceeds maximum context length": (400, K.CONTEXT_OVERFLOW),
    "prompt too long; exceeded max context length by 12 tokens": (400, K.CONTEXT_OVERFLOW),
    "server busy, please try again.  maximum pending requests exceeded": (503, K.OVERLOADED),
    "Server overloaded, please retry shortly (ref: aaa65c70)": (503, K.OVERLOADED),
    "model runner has unexpectedly stopped, this may be due to resource limitations": (
        500,
        K.SERVER,
    ),
    "llama runner process has terminated: exit status 2": (500, K.SERVER),
    "unauthorized": (401, K.AUTHENTICATION),
    "too many concurrent requests": (429, K.RATE_LIMITED),
}


@pytest.mark.behaviour("P5", "S9")
@pytest.mark.parametrize("text", TEXTS)
def test_what_the_server_says_is_understood(text: str) -> None:
    status, kind = TEXTS[text]
    fault = WIRE.parse_fault(status, {}, json.dumps({"error": text}).encode())
    assert (fault.kind, fault.message, fault.status) == (kind, text, status)


@pytest.mark.behaviour("E9")
def test_an_error_of_ours_is_known_as_one() -> None:
    body = WIRE.render_error("empty_output", "Tenuto could not finish this turn.", None)
    assert WIRE.parse_fault(502, {}, body).kind is K.UPSTREAM_GAVE_UP
    assert read_fault("tenuto").kind is K.SERVER
