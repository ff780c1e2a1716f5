"""What a turn cost is counted alike on both wires, and what of a continuation is not new."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto_sim import Simulator, Spent
from tenuto_sim.exchange import Exchange

PATHS = {"openai-chat": "/v1/chat/completions", "anthropic-messages": "/v1/messages"}
HEADERS = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
ASK = {"role": "user", "content": "What does it cost? é"}
wires = pytest.mark.parametrize("wire", PATHS)


def ask(made: Exchange, wire: str, messages: list[Any], name: str = "normal", **more: Any) -> Any:
    body = {"model": f"sim/{name}", "messages": messages, "max_tokens": 4096} | more
    raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return made.answer("POST", PATHS[wire], HEADERS, raw)


def text_of(answer: Any, wire: str) -> str:
    document = json.loads(answer.body)
    if wire == "openai-chat":
        return str(document["choices"][0]["message"]["content"])
    return str(document["content"][0]["text"])


@wires
def test_a_whole_answer_costs_what_it_would_have_cost(wire):
    made = Exchange()
    text = text_of(ask(made, wire, [ASK]), wire)
    spent = Spent(tuple(made.requests))
    assert spent.output_tokens == -(-len(text) // 4)
    assert spent.input_tokens == -(-len(json.dumps([ASK], ensure_ascii=False)) // 4)
    assert spent.uncut_tokens == spent.input_tokens + spent.output_tokens
    assert spent.recovery_tokens == 0


@wires
def test_what_a_recovery_cost_is_what_was_spent_beyond_the_whole_answer(wire):
    made = Exchange()
    begun = text_of(ask(made, wire, [ASK], "length_once"), wire).rstrip()
    history = [ASK, {"role": "assistant", "content": begun}, {"role": "user", "content": "Go on."}]
    rest = text_of(ask(made, wire, history, "length_once"), wire)
    first, second = made.requests
    spent = Spent((first, second))
    assert spent.output_tokens == first.output_tokens + second.output_tokens
    assert -(-len(begun + rest) // 4) <= spent.output_tokens <= first.uncut_output_tokens + 1
    overlap = spent.output_tokens - first.uncut_output_tokens
    assert spent.recovery_tokens == second.input_tokens + overlap
    shared = spent.shared()
    assert shared.rows_identical
    assert shared.head_identical
    row = json.dumps(ASK, ensure_ascii=False, separators=(",", ":")).encode()
    assert shared.common_bytes == len(row)
    assert shared.messages_bytes == len(second.body.split(b'"messages":[')[1].split(b"]")[0])
    assert shared.share == shared.common_bytes / shared.messages_bytes


@wires
def test_the_two_wires_count_alike(wire):
    made = {name: Exchange() for name in PATHS}
    for name in PATHS:
        ask(made[name], name, [ASK], "length_once", stream=True)
    own, other = made[wire].requests[0], made["openai-chat"].requests[0]
    assert own.input_tokens == other.input_tokens
    assert own.output_tokens == other.output_tokens
    assert own.uncut_output_tokens == other.uncut_output_tokens


@wires
def test_a_refused_request_costs_nothing_and_a_broken_stream_what_was_said(wire):
    made = Exchange()
    ask(made, wire, [ASK], "http_500_once")
    ask(made, wire, [ASK], "drop_mid_text", stream=True)
    refused, broken = made.requests
    assert (refused.status, refused.input_tokens, refused.output_tokens) == (500, 0, 0)
    assert 0 < broken.output_tokens < broken.uncut_output_tokens


@wires
def test_a_message_that_was_written_anew_is_not_identical(wire):
    made = Exchange()
    more: dict[str, Any] = {"tools": []} if wire == "anthropic-messages" else {}
    ask(made, wire, [ASK])
    first = made.requests[0].body
    anew = first.replace("é".encode(), b"\\u00e9").replace(b'"messages"', b' "messages" ')
    made.answer("POST", PATHS[wire], HEADERS, anew)
    ask(made, wire, [ASK, ASK], **more)
    spent = Spent(tuple(made.requests))
    assert not spent.shared(1).rows_identical
    assert spent.shared(1).share < 1
    assert spent.shared(2).rows_identical
    assert spent.shared(2).head_identical == (wire == "openai-chat")


def test_a_simulator_tells_conversations_apart():
    with Simulator() as sim:
        assert sim.spent().exchanges == ()
        for prompt, count in (("one", 2), ("two", 1)):
            for _ in range(count):
                ask(sim._exchange, "openai-chat", [{"role": "user", "content": prompt}])
        assert len(sim.spent("one").exchanges) == 2
        assert len(sim.spent().exchanges) == 1
        assert sim.spent().exchanges[0].prompt == "two"
        assert {request.wire for request in sim.requests} == {"openai-chat"}
