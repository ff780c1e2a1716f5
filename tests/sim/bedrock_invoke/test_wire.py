"""The bytes are the provider's, and what it refuses is refused in its words."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import botocore.session
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from support.asking.bedrock_invoke import CASES, METRICS
from support.asking.openai_chat import TOOLS
from support.aws import as_botocore_reads, events_of

from tenuto_sim import Bare, Simulator

RUNTIME: Any = botocore.session.get_session().get_service_model("bedrock-runtime")
GPT, MISTRAL = "openai.gpt-oss-20b-1:0", "mistral.mistral-large-2407-v1:0"
HI: dict[str, Any] = {"role": "user", "content": "Hi"}


def ask(
    sim: Simulator, model: str, given: dict[str, Any], what: str = "invoke", **headers: str
) -> tuple[int, bytes, Any]:
    url = f"{sim.root_url}/model/{urllib.parse.quote(model, safe='')}/{what}"
    sent = {"authorization": "AWS4-HMAC-SHA256 ..."} | headers
    asked = urllib.request.Request(url, json.dumps(given).encode(), sent)
    try:
        with urllib.request.urlopen(asked) as response:
            return response.status, response.read(), response.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


def streamed(sim: Simulator, model: str, given: dict[str, Any]) -> bytes:
    status, raw, headers = ask(sim, model, given, "invoke-with-response-stream")
    assert status == 200
    assert headers["content-type"] == "application/vnd.amazon.eventstream"
    return raw


@pytest.mark.parametrize("name", ["normal", "tools", "length_once"])
def test_an_answer_of_gpt_oss_is_what_openais_types_say(sim, name):
    given = {"messages": [HI], "tools": TOOLS}
    ChatCompletion.model_validate_json(ask(sim, f"{GPT}/sim/{name}", given)[1], strict=True)
    events = events_of(streamed(sim, f"{GPT}/sim/{name}", given))
    for event in events:
        ChatCompletionChunk.model_validate_json(json.dumps(event), strict=True)
    assert [METRICS in event for event in events] == [False] * (len(events) - 1) + [True]


def test_mistral_has_names_of_its_own_and_no_usage(sim):
    body = json.loads(ask(sim, f"{MISTRAL}/sim/length_once", {"messages": [HI]})[1])
    (choice,) = body["choices"]
    assert choice["stop_reason"] == "length"
    assert not {"finish_reason", "delta"} & choice.keys()
    assert not {"usage", "object"} & body.keys()
    events = events_of(streamed(sim, f"{MISTRAL}/sim/normal", {"messages": [HI]}))
    choices = [event["choices"][0] for event in events]
    assert {"message", "stop_reason"} <= choices[0].keys()
    assert not any({"finish_reason", "delta"} & choice.keys() for choice in choices)
    assert events[-1][METRICS]["outputTokenCount"] > 0


@pytest.mark.parametrize(
    "case",
    [c for c in CASES.values() if c.bare is Bare.RAISES and c.modes == {"stream"}],
    ids=lambda case: case.name,
)
def test_an_error_in_a_stream_is_an_exception_that_botocores_model_knows(sim, case):
    members = RUNTIME.shape_for("ResponseStream").members
    raw = streamed(sim, f"sim/{case.name}", {"messages": [HI]})
    headers, _ = as_botocore_reads(raw)[-1]
    assert members[headers[":exception-type"]].metadata["exception"]


CALL = {"id": "a", "type": "function", "function": {"name": "write_file", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "ok"}

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, "empty array"),
    ({"messages": [HI], "model": "another"}, "The model in the request body does not match"),
    ({"messages": [HI], "stream": True}, "The stream in the request body does not match"),
    ({"messages": [HI, CALLED], "tools": TOOLS}, "must be followed by tool messages"),
    ({"messages": [HI, RESULT], "tools": TOOLS}, "must be a response to a preceeding message"),
    ({"messages": [HI, {"role": "assistant", "content": " "}, HI]}, "either content or tool_calls"),
    ({"messages": [HI | {"note": 1}]}, "#/messages/0: extraneous key [note] is not permitted"),
    ({"messages": [HI], "max_tokens": 999_999}, "exceeds the model limit of 16384"),
    ({"messages": [HI], "max_tokens": 5, "max_completion_tokens": 5}, "at the same time"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_a_request_is_refused_in_bedrocks_envelope(sim, given, words):
    status, raw, headers = ask(sim, GPT, given)
    assert status == 400
    assert headers["x-amzn-errortype"].startswith("ValidationException:")
    document = json.loads(raw)
    assert document.keys() == {"message"}
    assert words in document["message"]


def test_what_is_right_is_answered_and_what_is_not_signed_is_not(sim):
    given = {"messages": [HI, CALLED, RESULT], "tools": TOOLS, "model": GPT, "stream": False}
    assert ask(sim, GPT, given)[0] == 200
    assert ask(sim, GPT, {"messages": [HI]}, authorization="")[0] == 403
