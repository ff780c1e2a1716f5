"""Gateways that stream every answer, also where a whole body was asked for: the SDK is given the
body that the events make, and what is broken in it is mended as in any other."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from support.asking.wrapping import QUICK
from support.events import openai_chat as chat
from support.events.framing import sse
from support.far_sides import FarSide, event, json_answer, sse_answer

import tenuto

ROWS: list[Any] = [{"role": "user", "content": "Hi"}]
DONE = b"data: [DONE]\n\n"


def chunk(delta: Any, finish: str | None = None, **more: Any) -> bytes:
    return sse([chat.chunk(delta, beside={"finish_reason": finish}) | more])[0]


def asked(far: FarSide, **more: Any) -> Any:
    with openai.OpenAI(base_url=far.base_url, api_key="key", max_retries=0) as bare:
        client = tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))
        return client.chat.completions.create(model="m", messages=ROWS, **more)


@pytest.mark.behaviour("N6", "C19")
def test_a_stream_in_the_place_of_a_body_is_handed_out_as_the_body():
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    noted = [{"type": "file", "file": {"hash": "x"}}]
    call: dict[str, Any] = {"index": 0, "id": "call_1", "type": "function"}
    pieces = (
        chunk({"role": "assistant", "content": "All "}, system_fingerprint="fp"),
        chunk({"content": "said.", "reasoning_content": "Hm.", "annotations": noted}),
        chunk({"tool_calls": [{**call, "function": {"name": "f", "arguments": '{"a"'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}),
        chunk({}, "tool_calls", usage=usage),
        DONE,
    )
    with FarSide(sse_answer(b"".join(pieces))) as far:
        made = asked(far)
        assert len(far.requests) == 1
    message = made.choices[0].message
    assert (made.id, made.object, made.system_fingerprint) == ("c1", "chat.completion", "fp")
    assert (message.content, message.reasoning_content) == ("All said.", "Hm.")
    assert [(c.function.name, c.function.arguments) for c in message.tool_calls] == [
        ("f", '{"a": 1}')
    ]
    assert message.to_dict()["annotations"] == noted
    assert made.choices[0].finish_reason == "tool_calls"
    assert made.usage.completion_tokens == 5


CUT = event(b"Half of it, ") + event(b"", b'"length"') + DONE
REST = event(b"and the rest.") + event(b"", b'"stop"') + DONE


@pytest.mark.behaviour("C1", "C5", "S3")
@pytest.mark.parametrize("first", [CUT, event(b"Half of it, ")], ids=["cut", "ended early"])
def test_one_that_was_cut_goes_on_and_comes_as_one_body(first):
    with FarSide(sse_answer(first), sse_answer(REST)) as far:
        made = asked(far)
        assert "Half of it," in json.loads(far.requests[1][1])["messages"][1]["content"]
        assert len(far.requests) == 2
    assert made.choices[0].message.content == "Half of it, and the rest."
    assert made.choices[0].finish_reason == "stop"


@pytest.mark.behaviour("C1")
def test_a_body_that_goes_on_in_a_stream_stays_a_body():
    choice = {"index": 0, "message": {"role": "assistant", "content": "Half of it, "}}
    body = {"id": "c0", "object": "chat.completion", "created": 1, "model": "m"}
    cut = json.dumps(body | {"choices": [{**choice, "finish_reason": "length"}]}).encode()
    with FarSide(json_answer(cut), sse_answer(REST)) as far:
        made = asked(far)
        assert len(far.requests) == 2
    assert (made.id, made.choices[0].message.content) == ("c0", "Half of it, and the rest.")


@pytest.mark.behaviour("C28", "P8")
def test_a_turn_that_is_left_alone_is_handed_on_as_it_came():
    with FarSide(sse_answer(REST)) as far:
        assert asked(far, extra_headers={"x-tenuto": "off"}) == REST.decode()


@pytest.mark.behaviour("P8")
def test_a_stream_that_was_asked_for_in_other_words_stays_one():
    with FarSide(sse_answer(REST)) as far:
        chunks = list(asked(far, stream=1))
    assert [c.choices[0].delta.content for c in chunks] == ["and the rest.", ""]
