"""Each rule refuses what breaks it, in the provider's words, and lets pass what does not."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from itertools import chain
from typing import Any

import openai
import pytest

from tenuto_sim import Simulator
from tenuto_sim.errors import Failure
from tenuto_sim.openai_chat.history import PREFILL_REFUSALS, body_violations, impossible
from tenuto_sim.reply import Settings

USER: dict[str, Any] = {"role": "user", "content": "hello"}
ORPHAN_RESULT = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."
)
ORPHAN_CALL = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)
NOT_OBJECT = "invalid tool call arguments"


def call(id_: Any = "call_a", raw: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "f", "arguments": raw}} | more


def calls(*made: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)} | more


def result(id_: str = "call_a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": "ok"}


def says(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content} | more


REFUSED: dict[str, tuple[list[Any], str]] = {
    "orphan call at the end": ([USER, calls(call())], ORPHAN_CALL + "call_a"),
    "orphan call in the middle": ([USER, calls(call()), USER], ORPHAN_CALL + "call_a"),
    "one of two results missing": (
        [USER, calls(call(), call("call_b")), result("call_a"), USER],
        ORPHAN_CALL + "call_b",
    ),
    "result not directly after": (
        [USER, calls(call()), USER, result()],
        ORPHAN_CALL + "call_a",
    ),
    "orphan result": ([USER, result()], ORPHAN_RESULT),
    "result for another call": ([USER, calls(call()), result("call_x")], ORPHAN_RESULT),
    "duplicate result": ([USER, calls(call()), result(), result(), USER], ORPHAN_RESULT),
    "two calls with one id": ([USER, calls(call(), call()), result(), result()], ORPHAN_RESULT),
    "late duplicate": ([USER, calls(call()), result(), says("Done."), result()], ORPHAN_RESULT),
    "no calls in the list": (
        [USER, calls(content="x"), USER],
        "[] is too short - 'messages.1.tool_calls'",
    ),
    "private key": (
        [USER | {"_note": 1}],
        (
            "'messages.0' : for 'role:user' the following must be satisfied[('messages.0' : property "
            "'_note' is unsupported)]"
        ),
    ),
    "reasoning sent back": (
        [USER, says("x", reasoning_content="y"), USER],
        (
            "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : "
            "property 'reasoning_content' is unsupported)]"
        ),
    ),
    "null content": (
        [USER, says(None), USER],
        "Invalid value for 'content': expected a string, got null.",
    ),
    "no content": (
        [USER, {"role": "assistant"}, USER],
        "Invalid value for 'content': expected a string, got null.",
    ),
    "null user content": (
        [{"role": "user", "content": None}],
        "Invalid value for 'content': expected a string, got null.",
    ),
    "empty content": (
        [USER, says(""), USER],
        "Assistant message must have either content or tool_calls, but not none.",
    ),
    "blank content": (
        [USER, says(" \n"), USER],
        "Assistant message must have either content or tool_calls, but not none.",
    ),
    "blank part": (
        [USER, says([{"type": "text", "text": " "}]), USER],
        "Assistant message must have either content or tool_calls, but not none.",
    ),
    "content is a number": (
        [{"role": "user", "content": 7}],
        (
            "Invalid type for 'messages[0].content': expected a string or an array of objects, but got "
            "an integer instead."
        ),
    ),
    "arguments cut": ([USER, calls(call(raw='{"a": "b')), result()], NOT_OBJECT),
    "arguments empty": ([USER, calls(call(raw="")), result()], NOT_OBJECT),
    "arguments an array": ([USER, calls(call(raw="[1]")), result()], NOT_OBJECT),
    "arguments encoded twice": ([USER, calls(call(raw='"{}"')), result()], NOT_OBJECT),
    "arguments with NaN": ([USER, calls(call(raw='{"a": NaN}')), result()], NOT_OBJECT),
    "arguments null": (
        [USER, calls(call(raw=None)), result()],
        (
            "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but "
            "got null instead."
        ),
    ),
    "id too long": (
        [USER, calls(call("c" * 41)), result("c" * 41)],
        (
            "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum "
            "length 40, but got a string with length 41 instead."
        ),
    ),
    "id null": (
        [USER, calls(call(None)), result()],
        "Invalid type for 'messages[1].tool_calls[0].id': expected a string, but got null instead.",
    ),
    "type missing": (
        [USER, calls({"id": "call_a", "function": {"name": "f", "arguments": "{}"}}), result()],
        "Missing required parameter: 'messages[1].tool_calls[0].type'.",
    ),
    "index sent back": (
        [USER, calls(call(index=0)), result()],
        "Extra inputs are not permitted, field: 'messages[1].tool_calls[0].index'",
    ),
    "unknown role": (
        [{"role": "robot", "content": "x"}],
        (
            "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', "
            "'tool', and 'developer'."
        ),
    ),
    "message is a string": (
        ["hello"],
        "Invalid type for 'messages[0]': expected an object, but got a string instead.",
    ),
    "role missing": ([{"content": "x"}], "Missing required parameter: 'messages[0].role'."),
    "no messages": (
        [],
        (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
            "empty array instead."
        ),
    ),
}
ACCEPTED: dict[str, list[Any]] = {
    "calls without text": [USER, calls(call(), call("call_b")), result("call_b"), result()],
    "calls with empty text": [USER, calls(call(), content=""), result(), USER],
    "trailing assistant": [USER, says("Well, ")],
    "same id in another turn": [USER, calls(call()), result(), calls(call()), result()],
    "the SDK's own message": [
        USER,
        says("x", refusal=None, annotations=[], audio=None, function_call=None, tool_calls=None),
        USER,
    ],
    "refusal": [USER, says(None, refusal="No."), USER],
    "parts": [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
    "id of 40 characters": [USER, calls(call("c" * 40)), result("c" * 40)],
    "two users": [USER, USER],
}


def check(messages: Any, **more: Any) -> Failure | None:
    body = {"model": "sim", "messages": messages} | more
    return next(chain(impossible(body), body_violations(body, Settings())), None)


@pytest.mark.parametrize("name", REFUSED)
def test_a_history_that_breaks_a_rule_is_refused_in_the_providers_words(bare, name):
    messages, text = REFUSED[name]
    got = bare.ask(messages)
    assert isinstance(got.error, openai.BadRequestError), got.error
    error: Any = got.error.body
    assert error["message"] == text
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_history_that_breaks_none_is_answered(bare, name):
    assert bare.ask(ACCEPTED[name]).error is None


BODIES: dict[str, tuple[dict[str, Any], str]] = {
    "above the ceiling": (
        {"max_tokens": 20480},
        (
            "max_tokens is too large: 20480. This model supports at most 16384 completion tokens, "
            "whereas you provided 20480."
        ),
    ),
    "above the ceiling, new name": (
        {"max_completion_tokens": 20480},
        (
            "max_completion_tokens is too large: 20480. This model supports at most 16384 completion "
            "tokens, whereas you provided 20480."
        ),
    ),
    "both names": (
        {"max_tokens": 5, "max_completion_tokens": 5},
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    ),
    "nothing asked": (
        {"max_tokens": 0},
        (
            "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 "
            "instead."
        ),
    ),
    "a string": (
        {"max_tokens": "5"},
        "Invalid type for 'max_tokens': expected an integer, but got a string instead.",
    ),
    "private key": ({"_private": 1}, "Unrecognized request argument supplied: _private"),
    "no tools": (
        {"tools": []},
        (
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty "
            "array instead."
        ),
    ),
    "choice without tools": (
        {"tool_choice": "auto"},
        (
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified."
        ),
    ),
    "stream options without stream": (
        {"stream_options": {"include_usage": True}},
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    ),
    "messages are a string": (
        {"messages": "hello"},
        "Invalid type for 'messages': expected an array of objects, but got a string instead.",
    ),
    "no model": ({"model": ""}, "you must provide a model parameter"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_breaks_a_rule_is_refused_in_the_providers_words(name):
    more, text = BODIES[name]
    found = check(**({"messages": [USER]} | more))
    assert found is not None
    assert (found.status, found.document["error"]["message"]) == (400, text)


def post(sim: Simulator, body: bytes, **headers: str) -> tuple[int, Any]:
    request = urllib.request.Request(
        sim.base_url + "/chat/completions",
        body,
        {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff", b"null"])
def test_a_body_that_is_no_json_object_is_refused(sim, body):
    status, document = post(sim, body)
    assert status == 400
    assert "could not parse the JSON body" in document["error"]["message"]


def test_missing_messages_are_named(sim):
    status, document = post(sim, b'{"model": "sim"}')
    assert (status, document["error"]["param"]) == (400, "messages")
    assert document["error"]["message"] == "Missing required parameter: 'messages'."


def test_a_header_of_tenutos_own_is_refused(sim):
    body = json.dumps({"model": "sim", "messages": [USER]}).encode()
    status, document = post(sim, body, x_tenuto_usage="1")
    assert status == 400
    assert document["error"]["message"] == "Unrecognized request header supplied: x-tenuto-usage"


@pytest.mark.parametrize("words", PREFILL_REFUSALS)
def test_a_trailing_assistant_message_is_refused_where_the_model_takes_none(words):
    with (
        Simulator(prefill="reject", prefill_refusal=words) as sim,
        openai.OpenAI(base_url=sim.base_url, api_key="key", max_retries=0) as client,
        pytest.raises(openai.BadRequestError) as caught,
    ):
        client.chat.completions.create(model="sim", messages=[USER, says("x")])  # type: ignore[list-item]
    assert caught.value.body["message"] == PREFILL_REFUSALS[words]  # type: ignore[index]


def test_a_lax_simulator_records_what_a_strict_one_refuses():
    body = json.dumps({"model": "sim", "messages": [USER, result(), says("")]}).encode()
    with Simulator(strict=False) as sim:
        status, _ = post(sim, body, x_tenuto_usage="1")
        assert sim.requests[0].headers["x-tenuto-usage"] == "1"
    assert status == 200
