"""Which keys of the caller's a provider may name in a 400 or 422 and see left out, on every wire (H5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.one_turn import Played, events
from support.refusals import SHAPES

from tenuto.turn.drivers.scripted import Scripted

CHAT, RESPONSES, COMPLETIONS = "/v1/chat/completions", "/v1/responses", "/v1/completions"
ROWS = {"messages": [{"role": "user", "content": "Hi"}]}
ITEMS = {"input": [{"role": "user", "content": "Hi"}]}
PARTS = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
BLOCKS = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}

ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic-messages": (
        "https://api.anthropic.com/v1/messages",
        {"model": "m", "max_tokens": 99} | ROWS,
    ),
    "bedrock-converse": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova/converse",
        BLOCKS,
    ),
    "bedrock-invoke": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/qwen.qwen3/invoke",
        ROWS,
    ),
    "cohere": ("https://api.cohere.com/v2/chat", {"model": "m"} | ROWS),
    "cohere-v1": ("https://api.cohere.com/v1/chat", {"model": "m", "message": "Hi"}),
    "dashscope": (
        "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation",
        {"model": "m", "input": ROWS, "parameters": {}},
    ),
    "gemini-generate": (
        "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
        PARTS,
    ),
    "gemini-interactions": (
        "https://generativelanguage.googleapis.com/v1beta/interactions",
        {"model": "m", "input": "Hi"},
    ),
    "mistral": ("https://api.mistral.ai" + CHAT, {"model": "m"} | ROWS),
    "ollama": ("http://localhost:11434/api/chat", {"model": "m"} | ROWS),
    "openai-chat": ("https://api.openai.com" + CHAT, {"model": "m"} | ROWS),
    "openai-completions": ("https://host" + COMPLETIONS, {"model": "m", "prompt": "Hi"}),
    "openai-responses": ("https://api.openai.com" + RESPONSES, {"model": "m"} | ITEMS),
    "watsonx": ("https://host/ml/v1/text/chat?version=1", {"model_id": "m"} | ROWS),
}
NAMING: dict[str, str] = {
    "anthropic-messages": "{}: Extra inputs are not permitted",
    "bedrock-converse": "extraneous key [{}] is not permitted",
    "bedrock-invoke": "extraneous key [{}] is not permitted",
    "cohere": "unknown field: parameter '{}' is not a valid field",
    "cohere-v1": "unknown field: parameter '{}' is not a valid field",
    "gemini-generate": "Unknown name \"{}\" at 'contents': Cannot find field.",
    "gemini-interactions": "Unknown parameter '{}'",
}
"""How a wire names a key."""

OK = {"choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}]}
OKS: dict[str, Any] = {
    "anthropic-messages": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi."}],
        "stop_reason": "end_turn",
    },
    "bedrock-converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}},
        "stopReason": "end_turn",
    },
    "cohere": {
        "id": "1",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]},
        "finish_reason": "COMPLETE",
    },
    "cohere-v1": {"text": "Hi.", "generation_id": "1", "finish_reason": "COMPLETE"},
    "dashscope": {"output": {"choices": OK["choices"]}, "request_id": "1"},
    "gemini-generate": {
        "candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]
    },
    "gemini-interactions": {
        "id": "1",
        "object": "interaction",
        "status": "completed",
        "steps": [{"type": "model_output", "content": [{"type": "text", "text": "Hi."}]}],
    },
    "ollama": {
        "model": "m",
        "message": {"role": "assistant", "content": "Hi."},
        "done": True,
        "done_reason": "stop",
    },
    "openai-completions": {"choices": [{"index": 0, "text": "Hi.", "finish_reason": "stop"}]},
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Hi."}],
            }
        ],
    },
}


def naming(wire: str, key: str, status: int = 400) -> Scripted:
    text = NAMING.get(wire, "Unrecognized request argument supplied: {}").format(key)
    value = SHAPES.get(wire, SHAPES["openai-chat"])(text)
    return Scripted.body(json.dumps(value).encode(), status=status)


def fine(wire: str) -> Scripted:
    return Scripted.body(json.dumps(OKS.get(wire, OK)).encode())


def played(wire: str, key: str, value: Any, status: int = 400, **policy: Any) -> Played:
    url, body = ASKED[wire]
    return Played(url, body | {key: value}, naming(wire, key, status), fine(wire), **policy)


CONTRACT: dict[str, Any] = {
    "response_format": {"type": "json_object"},
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    "tool_choice": "required",
    "stop": ["END"],
    "n": 2,
    "system": "Be brief.",
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "guardrails": {"on": True},
    "temperature": 0.2,
    "top_p": 0.5,
    "seed": 7,
    "parallel_tool_calls": False,
    "reasoning_effort": "low",
    "logprobs": True,
    "service_tier": "flex",
    "safety_identifier": "me",
    "store": True,
    "model": "m",
}
SAYS_NOTHING: dict[str, Any] = {
    "stop": [],
    "tools": [],
    "n": 1,
    "frequency_penalty": 0,
    "presence_penalty": 0.0,
    "logprobs": False,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "response_format": {"type": "text"},
    "service_tier": "auto",
    "seed": None,
    "user": "me",
    "prompt_cache_key": "k",
    "cache_control": {"type": "ephemeral"},
}


def assert_it_is_the_clients(got: Played, key: str, status: int) -> None:
    """The key is the caller's contract, so the caller gets the error."""
    assert len(got.sent) == 1
    assert got.sent[0][key] == CONTRACT[key]
    assert got.head.status == status
    assert got.of("keys_left_out") == []
    if got.report.reason != "left_alone":
        assert got.report.status == "failed"
        (fault,) = got.of("fault")
        assert (fault["keys"], fault["setting"]) == ([key], "drop_unsupported")
        assert "drop_unsupported" in got.report.advice


def assert_it_went(got: Played, key: str, status: int) -> None:
    """The key was a hint or said nothing: it goes once, and that is told."""
    assert [key in body for body in got.sent] == [True, False], key
    assert {k: v for k, v in got.sent[0].items() if k != key} == got.sent[1]
    assert (got.report.status, got.report.left_out) == ("complete", (key,))
    assert got.of("keys_left_out") == [{"keys": [key]}]
    assert got.head.get(b"x-tenuto-left-out") == key
    assert b"Hi." in got.got


@pytest.mark.behaviour("H5")
@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    ("keys", "holds"),
    [
        pytest.param(CONTRACT, assert_it_is_the_clients, id="contract"),
        pytest.param(SAYS_NOTHING, assert_it_went, id="says-nothing"),
    ],
)
@pytest.mark.parametrize("wire", ASKED)
def test_only_keys_that_say_nothing_go_and_errors_of_all_others_are_the_clients(
    wire: str, keys: dict[str, Any], holds: Callable[[Played, str, int], None], status: int
) -> None:
    for key, value in keys.items():
        holds(played(wire, key, value, status), key, status)


# --- the settings, and further attempts ---------------------------------------------------------

URL, CHAT_BODY = ASKED["openai-chat"]
CUT = {"choices": [{"index": 0, "message": {"content": "Half of it"}, "finish_reason": "length"}]}
CHUNKS = [
    {"id": "c", "choices": [{"index": 0, "delta": {"content": "Half of it"}}]},
    {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
]
REST = [
    {"id": "c", "choices": [{"index": 0, "delta": {"content": " and the rest."}}]},
    {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]


@pytest.mark.behaviour("H5", "P3")
@pytest.mark.parametrize("wire", ASKED)
def test_a_name_that_the_policy_adds_goes_and_that_is_told(wire: str) -> None:
    opted = {"temperature", "guardrails"}
    got = played(wire, "guardrails", {"on": True}, drop_unsupported=opted)
    assert ["guardrails" in body for body in got.sent] == [True, False]
    assert got.of("keys_left_out") == [{"keys": ["guardrails"]}]
    assert [fault["setting"] for fault in got.of("fault")] == [None]
    assert got.head.get(b"x-tenuto-left-out") == "guardrails"
    assert len(played(wire, "seed", 7, drop_unsupported=opted).sent) == 1


@pytest.mark.behaviour("H5", "C5")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize("stream", [True, False])
def test_on_a_further_attempt_the_caller_keeps_its_text_partial(
    stream: bool, on_incomplete: str
) -> None:
    first = events(*CHUNKS) if stream else Scripted.body(json.dumps(CUT).encode())
    body = CHAT_BODY | {"stream": stream, "guardrails": {}}
    refused = naming("openai-chat", "guardrails")
    got = Played(URL, body, first, refused, on_incomplete=on_incomplete)
    assert [sent["guardrails"] for sent in got.sent] == [{}, {}]
    assert (got.report.status, got.report.reason) == ("partial", "provider_error")
    assert b"Half of it" in got.got
    assert (b'"error"' in got.got) is (on_incomplete == "error")
    assert (b'"finish_reason":"length"' in got.got) is (on_incomplete == "stop")


@pytest.mark.behaviour("H5", "C19")
@pytest.mark.parametrize("later", [True, False])
def test_a_stream_tells_what_went_in_its_head_or_behind_its_text(later: bool) -> None:
    refused = naming("openai-chat", "user")
    answers = [events(*CHUNKS), refused] if later else [refused, events(*CHUNKS)]
    got = Played(URL, CHAT_BODY | {"stream": True, "user": "me"}, *answers, events(*REST))
    assert ["user" in body for body in got.sent] == (
        [True, True, False] if later else [True, False, False]
    )
    assert (got.report.status, got.report.left_out) == ("complete", ("user",))
    assert got.head.get(b"x-tenuto-left-out") == ("" if later else "user")
    assert b'"left_out":["user"]' in got.got
    assert got.of("keys_left_out") == [{"keys": ["user"]}]


@pytest.mark.behaviour("H5")
def test_only_a_400_or_422_is_heeded_and_a_key_that_is_named_again_goes_to_the_client() -> None:
    for status in (401, 404, 500):
        got = played("openai-chat", "user", "me", status)
        assert "user" in got.sent[-1]
        assert got.of("keys_left_out") == []
    refused = naming("openai-chat", "user")
    got = Played(URL, CHAT_BODY | {"user": "me"}, refused, refused)
    assert ["user" in body for body in got.sent] == [True, False]
    assert (got.head.status, got.head.get(b"x-tenuto-left-out")) == (400, "user")
