"""The simulator refuses what Bedrock refuses, in its words and under its kinds."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest
from support.asking.bedrock_converse import TOOLS

from tenuto_sim import Simulator


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def call(name: str = "a") -> dict[str, Any]:
    return {"toolUse": {"toolUseId": name, "name": "write_file", "input": {}}}


def result(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": name, "content": [{"text": "ok"}]} | more}


HI, X = user({"text": "Hi"}), {"text": "x"}
CLAUDE, NEW, META = (
    "anthropic.claude-3-haiku-20240307-v1:0",
    "anthropic.claude-opus-4-6-v1",
    "meta.llama3-8b-instruct-v1:0",
)

REFUSED: list[tuple[str, list[Any], str]] = [
    ("sim", [said(X)], "A conversation must start with a user message."),
    ("sim", [HI, HI], "A conversation must alternate between user and assistant roles."),
    ("sim", [user()], "The content field in the Message object at messages.0 is empty."),
    ("sim", [user({"text": " \n"})],
     "The text field in the ContentBlock object at messages.0.content.0 is blank."),
    ("sim", [user({"text": "a", "image": {}})], "must set one of the following keys"),
    ("sim", [HI, said(call()), user(X)],
     "Expected toolResult blocks at messages.2.content for the following Ids: a"),
    ("sim", [HI, said(call())], "Expected toolResult blocks"),
    ("sim", [HI, said(X), user(result())],
     "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks"),
    ("sim", [HI, said(call()), user(result(), result("b"))],
     "The number of toolResult blocks at messages.2.content exceeds"),
    ("sim", [HI, said(call()), user(result(status="error", content=[]))],
     "toolResult cannot be empty when status value is error."),
    ("sim", [HI, said(call("a b")), user(result("a b"))], "regular expression pattern"),
    ("sim", [HI, said({"toolUse": {"toolUseId": "a", "name": "f", "input": "{}"}}), user(result())],
     "Provide a json object"),
    ("sim", [HI, said({"reasoningContent": {"reasoningText": {"text": "Hm."}}}, X), HI],
     "Invalid `signature` in `thinking` block"),
    (CLAUDE, [HI, said({"text": "x "})], "cannot end with trailing whitespace"),
    (NEW, [HI, said(X)], "This model does not support assistant message prefill."),
    (META, [HI, said(X)], "The conversation must end with a user message."),
    (META, [HI, said(call()), user(result(), X)],
     "Conversation blocks and tool result blocks cannot be provided in the same turn."),
]  # fmt: skip

ACCEPTED: list[tuple[str, list[Any]]] = [
    (CLAUDE, [HI, said(X)]),
    ("us.amazon.nova-pro-v1:0", [HI, said(X)]),
    (CLAUDE, [HI, said(call()), user(result(), X)]),
    (META, [HI, said(call(), call("b")), user(result(), result("b"))]),
]


@pytest.fixture(scope="module")
def answer() -> Any:
    with Simulator() as sim:

        def ask(model: str, body: Any, **headers: str) -> tuple[int, str, str]:
            given = {"authorization": "AWS4-HMAC-SHA256 ..."} | headers
            url = f"{sim.root_url}/model/{urllib.parse.quote(model, safe='')}/converse"
            try:
                asked = urllib.request.Request(url, json.dumps(body).encode(), given)
                with urllib.request.urlopen(asked) as response:
                    return response.status, "", ""
            except urllib.error.HTTPError as error:
                with error:
                    kind = error.headers["x-amzn-errortype"].partition(":")[0]
                    return error.code, kind, json.loads(error.read())["message"]

        yield ask


@pytest.mark.parametrize(("model", "messages", "words"), REFUSED, ids=[r[2][:90] for r in REFUSED])
def test_a_history_is_refused_in_bedrocks_words(answer, model, messages, words):
    status, kind, message = answer(model, {"messages": messages, "toolConfig": TOOLS})
    assert (status, kind) == (400, "ValidationException")
    assert words in message


@pytest.mark.parametrize(
    ("model", "messages"), ACCEPTED, ids=["prefill", "nova", "claude", "llama"]
)
def test_a_valid_history_is_answered(answer, model, messages):
    assert answer(model, {"messages": messages, "toolConfig": TOOLS})[0] == 200


def test_a_request_with_a_wrong_configuration_is_refused_in_converses_words(answer):
    asked = {"messages": [HI, said(call()), user(result())]}
    assert "toolConfig field must be defined" in answer("sim", asked)[2]
    for config, words in (
        ({"maxTokens": 0}, "greater than or equal to 1"),
        ({"maxTokens": 999_999}, "exceeds the model limit of 16384"),
        ({"seed": 1}, "extraneous key [seed]"),
    ):
        assert words in answer("sim", {"messages": [HI], "inferenceConfig": config})[2]
    assert answer("sim", {"messages": [HI]}, authorization="")[1:] == (
        "MissingAuthenticationTokenException",
        "Missing Authentication Token",
    )
    assert answer("sim", {"messages": []})[0] == 400
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 2000}}
    fields = {"additionalModelRequestFields": thinking, "inferenceConfig": {"maxTokens": 1000}}
    assert "must be greater than" in answer("sim", {"messages": [HI]} | fields)[2]
