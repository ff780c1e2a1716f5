"""InvokeModel in the shape of OpenAI's chat: the quick readings, requests, and odd shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto.core.deciding.actions import AppendUser, SetOutputLimit
from tenuto.turn.stream.merger import merger
from tenuto.wires.answer import Answer
from tenuto.wires.bedrock_invoke.chat import CHAT, InvokeChatLayout
from tenuto.wires.bedrock_invoke.makers import read
from tenuto.wires.dialect import Dialect
from tenuto.wires.stream import plain_delta_in

PATH = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aimported-model%2Fx/invoke-with-response-stream"
METRICS = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}}
ACTION = {"amazon-bedrock-guardrailAction": "INTERVENED"}

PIECES: list[dict[str, Any]] = [
    {"content": "Hi"}, {"reasoning_content": "Hm"}, {"content": ""}, {"role": "assistant"},
]  # fmt: skip
ENDS: list[dict[str, Any]] = [
    {}, {"finish_reason": None}, {"stop_reason": None}, {"stop_reason": "length"},
    {"finish_reason": "stop"}, {"finish_reason": "stop", "stop_reason": "stop"},
]  # fmt: skip
MORE: list[dict[str, Any]] = [{}, METRICS, ACTION, {"usage": {"prompt_tokens": 1}}]


@pytest.mark.behaviour("C25", "N6")
@pytest.mark.parametrize("part", ["delta", "message"])
def test_the_quick_reading_of_an_event_is_the_whole_one(part):
    quick = 0
    for piece in PIECES:
        for end in ENDS:
            for more in MORE:
                event = {"choices": [{"index": 0, part: piece, **end}], **more}
                if (signal := plain_delta_in(CHAT, json.dumps(event).encode())) is not None:
                    quick += 1
                    assert CHAT.parse_object(event, event=True) == [signal]
    assert quick


ODD: list[Any] = [
    {"choices": 5}, {"choices": [5]}, {"choices": [{"message": 5, "stop_reason": None}]},
    {"choices": [{"delta": [], "stop_reason": {}}]}, {"amazon-bedrock-invocationMetrics": []},
    {"amazon-bedrock-invocationMetrics": {"inputTokenCount": "x"}, "usage": 5}, {},
]  # fmt: skip


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("value", ODD)
def test_odd_shapes_are_read_and_written_without_an_exception(value):
    CHAT.parse_object(value, event=True)
    CHAT.parse_object(value, event=False)
    usage = CHAT.usage_object(value)
    writer = merger(InvokeChatLayout("m"))
    writer.begin(value)
    writer.passed(read(value, event=True))
    answer = Answer("Hi", native_stop="stop", ending=value, raw_usage=usage)
    last = writer.text("Hi") + writer.end(answer, include_usage=True)
    assert last.count(b"amazon-bedrock-invocationMetrics") == 1
    assert json.loads(CHAT.render_body(value, value, answer))["choices"]


@pytest.mark.behaviour("C7", "C17")
def test_an_edit_leaves_every_other_byte_of_the_request_as_it_was():
    row = b'{"role":"user", "content":"Hi", "x":1.50}'
    body = b'{ "temperature":1.0,"messages":[%b],"max_tokens":7,"seed":1e3}' % row
    asked = CHAT.request(body, 0, PATH, Dialect("aws-invoke", output_key="maxTokens"))
    assert asked is not None
    assert asked.facts.model == "arn:aws:bedrock:us-east-1:1:imported-model/x"
    assert asked.facts.stream
    sent = asked.apply((AppendUser("Go on."), SetOutputLimit(14)), Dialect())
    assert row in sent
    assert b'"seed":1e3' in sent
    assert json.loads(sent).keys() == {"temperature", "messages", "max_tokens", "seed"}
    assert json.loads(sent)["max_tokens"] == 14
    assert asked.apply((), Dialect()) is body
