"""Requests whose `stream` is neither true nor false: some providers refuse them, others read them one way
or the other. Nobody but the provider knows which answer it will send, so they pass as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events.framing import sse
from support.events.openai_chat import events as chat_events
from support.far_sides import FarSide, json_answer, sse_answer
from support.replay.openai_chat import MAX, R

import tenuto

pytestmark = pytest.mark.behaviour("C7", "P8")

SAID: Any = [{"role": "user", "content": "Tell me."}]
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/interactions"
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-chat": ("https://host/v1/chat/completions", {"model": "m", "messages": SAID}),
    "openai-completions": ("https://host/v1/completions", {"model": "m", "prompt": "The tide"}),
    "openai-responses": ("https://host/v1/responses", {"model": "m", "input": "Tell me."}),
    "anthropic-messages": (
        "https://host/v1/messages",
        {"model": "m", "max_tokens": 900, "messages": SAID},
    ),
    "cohere": ("https://api.cohere.com/v2/chat", {"model": "m", "messages": SAID}),
    "cohere-v1": ("https://api.cohere.com/v1/chat", {"model": "m", "message": "Tell me."}),
    "mistral": ("https://api.mistral.ai/v1/chat/completions", {"model": "m", "messages": SAID}),
    "mistral-fim": ("https://api.mistral.ai/v1/fim/completions", {"model": "m", "prompt": "def"}),
    "ollama": ("http://localhost:11434/api/chat", {"model": "m", "messages": SAID}),
    "gemini-interactions": (GOOGLE, {"model": "m", "input": "Tell me."}),
}

odd = pytest.mark.parametrize("value", ["true", "false", "", 1, 0, 1.0, [], {}], ids=json.dumps)


@odd
@pytest.mark.parametrize("wire", REQUESTS)
def test_such_a_request_is_no_turn_of_any_wire(wire, value):
    url, given = REQUESTS[wire]
    for more in ({}, {"seed": 1e308 * 10}):  # a number that no double holds is read leniently
        body = json.dumps({**given, **more, "stream": value}).replace("Infinity", "1e999").encode()
        with pytest.raises(tenuto.TurnError, match="the body is no request of "):
            tenuto.sansio.Turn("POST", url, [], body, policy=tenuto.Policy())


@pytest.mark.parametrize("value", [True, False, None])
@pytest.mark.parametrize("wire", REQUESTS)
def test_true_false_and_null_are_no_odd_values(wire, value):
    url, given = REQUESTS[wire]
    body = json.dumps({**given, "stream": value}).encode()
    command = tenuto.sansio.Turn("POST", url, [], body, policy=tenuto.Policy()).next()
    assert isinstance(command, tenuto.sansio.SendRequest)
    assert command.body == body


@odd
@pytest.mark.parametrize("kind", ["body", "stream", "refusal"])
def test_whatever_answer_the_provider_has_for_it_comes_as_it_is(value, kind):
    whole = R("The first half, ", MAX).body("m")
    events = b"".join(sse(chat_events("The first half, ", stop=MAX), done=True))
    refused = b'{"error":{"message":"Invalid type for \'stream\'","type":"invalid_request_error"}}'
    sent = {"body": whole, "stream": events, "refusal": refused}[kind]
    came = {
        "body": json_answer(whole),
        "stream": sse_answer(events),
        "refusal": json_answer(refused, status="400 Bad Request"),
    }[kind]
    asked = json.dumps({"model": "m", "messages": SAID, "stream": value}).encode()
    with FarSide(came) as far, tenuto.http_client("httpx", base_url=far.base_url) as client:
        made = client.post("/chat/completions", content=asked, headers={"x-tenuto": "on"})
        assert made.content == sent
        assert made.status_code == (400 if kind == "refusal" else 200)
        [(head, body)] = far.requests
    assert body == asked
    assert b"x-tenuto" not in head.lower()
