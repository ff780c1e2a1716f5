"""A turn of InvokeModelWithResponseStream in the shape of OpenAI's chat, message by message: what needs
nothing leaves as the bytes that came, and what is written is one message in the maker's own words."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from support.aws import as_botocore_reads, events_of, failure
from support.aws_messages import chunk

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine

URL = "https://host/model/{}/invoke-with-response-stream"
GPT, MISTRAL = "openai.gpt-oss-120b-1%3A0", "mistral.pixtral-large"
BODY = b'{"messages":[{"role":"user","content":"Hi"}]}'
AWS = ((b"content-type", b"application/vnd.amazon.eventstream"),)
METRICS = "amazon-bedrock-invocationMetrics"
COUNTED = {"inputTokenCount": 3, "outputTokenCount": 5, "invocationLatency": 9}
NAMES = {GPT: ("delta", "finish_reason"), MISTRAL: ("message", "stop_reason")}


def event(model: str, part: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    named, stop = NAMES[model]
    choice = {"index": 0, named: part, stop: finish}
    made = {"id": "c1", "choices": [choice]} | more
    return chunk(json.dumps(made, ensure_ascii=False).encode())


def said(model: str, *texts: str, stop: str = "stop") -> list[bytes]:
    return [
        event(model, {"role": "assistant", "content": ""}),
        *(event(model, {"content": text}) for text in texts),
        event(model, {"content": ""}, stop, **{METRICS: COUNTED}),
    ]


def turn(
    model: str, *answers: Scripted, body: bytes = BODY, **settings: Any
) -> tuple[bytes, Script]:
    script = Script(*answers)
    asked = Request("POST", URL.format(model), (), body)
    run = Engine(Policy(**({"backoff_s": 0.0} | settings))).begin(asked)
    assert run is not None
    out = list(Drive(run, script.connect).pieces())
    return b"".join(piece for piece in out[1:] if isinstance(piece, bytes)), script


def streamed(*pieces: Any) -> Scripted:
    return Scripted(Head(200, AWS), pieces)


def text_of(model: str, events: list[Any]) -> str:
    named, _ = NAMES[model]
    return "".join(e["choices"][0][named].get("content") or "" for e in events)


both = pytest.mark.parametrize("model", NAMES)


@both
@pytest.mark.behaviour("P8", "S8")
def test_a_normal_stream_comes_out_byte_for_byte_however_it_was_cut(model):
    raw = b"".join(said(model, "Hel", "lo \n", " ", "wörld", "."))
    rng = random.Random("cuts")
    for _ in range(40):
        places = sorted(rng.sample(range(1, len(raw)), rng.randint(0, 20)))
        pieces = [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]
        out, script = turn(model, streamed(*pieces))
        assert out == raw
        assert [sent.body for sent in script.transmitted] == [BODY]


@both
@pytest.mark.behaviour("C1", "S2", "S8")
def test_a_continuation_is_the_same_message_wherever_the_first_stream_was_cut(model):
    whole = b"".join(said(model, "One two ", "three", stop="length"))
    for at in range(1, len(whole), 3):
        rest = ["One two three four."] if at < len(said(model)[0]) else [" four."]
        out, _ = turn(model, streamed(whole[:at], lost()), streamed(*said(model, *rest)))
        events = events_of(out)
        assert text_of(model, events).endswith(" four.")
        stop = NAMES[model][1]
        assert [e["choices"][0][stop] for e in events if e["choices"][0][stop]] == ["stop"]
        assert [METRICS in e for e in events] == [False] * (len(events) - 1) + [True]
        assert b"[DONE]" not in out


@both
@pytest.mark.behaviour("T1", "T5", "C19")
def test_a_call_that_was_cut_is_asked_for_again_and_comes_whole(model):
    def call(arguments: str) -> bytes:
        function = {"name": "f", "arguments": arguments}
        made = {"index": 0, "id": "call_1", "type": "function", "function": function}
        return event(model, {"tool_calls": [made]})

    first = [call('{"a": '), event(model, {}, "length", **{METRICS: COUNTED})]
    second = [call('{"a": 1}'), event(model, {}, "tool_calls", **{METRICS: COUNTED})]
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    body = json.dumps(json.loads(BODY) | {"tools": [tool]}).encode()
    out, script = turn(model, streamed(*first), streamed(*second), body=body)
    named, stop = NAMES[model]
    choices = [e["choices"][0] for e in events_of(out)]
    calls = [made for choice in choices for made in choice[named].get("tool_calls") or ()]
    assert [made["function"] for made in calls] == [{"name": "f", "arguments": '{"a": 1}'}]
    assert choices[-1][stop] == "tool_calls"
    assert events_of(out)[-1][METRICS] == {"firstByteLatency": 0, **COUNTED, "outputTokenCount": 10}
    rows = json.loads(script.transmitted[1].body)["messages"]
    assert [row["role"] for row in rows] == ["user", "user"], "no half of a call goes back"


@both
@pytest.mark.behaviour("C5", "P1a", "S9")
def test_what_cannot_be_finished_ends_as_cut_or_in_an_exception_as_the_caller_wants(model):
    cut = [streamed(*said(model, "One two", stop="length"))] * 9
    out, _ = turn(model, *cut, continuation_max_attempts=1)
    assert events_of(out)[-1]["choices"][0][NAMES[model][1]] == "length"
    broken = [streamed(*said(model, "One two")[:2], failure("modelTimeoutException"))] * 9
    for answers, wanted in ((broken, "stop"), (cut, "error")):
        given: dict[str, Any] = {"on_incomplete": wanted, "fault_retries": 1}
        out, _ = turn(model, *answers, continuation_max_attempts=1, **given)
        headers, payload = as_botocore_reads(out)[-1]
        assert headers[":exception-type"] == "modelStreamErrorException"
        assert "could not finish" in json.loads(payload)["message"]
        assert b"[DONE]" not in out


@pytest.mark.behaviour("C6", "E12")
def test_the_word_of_a_guardrail_is_a_block_and_stays_in_the_last_event():
    action = {"amazon-bedrock-guardrailAction": "INTERVENED"}
    last = event(GPT, {}, "stop", **action, **{METRICS: COUNTED})
    second = [event(GPT, {"content": " three."}), last]
    first = streamed(*said(GPT, "One two", stop="length"))
    out, script = turn(GPT, first, streamed(*second))
    assert len(script.transmitted) == 2, "nobody asks again behind a block"
    assert action.items() <= events_of(out)[-1].items()
    plain = [*said(GPT, "No.")[:2], last]
    out, script = turn(GPT, streamed(*plain))
    assert (out, len(script.transmitted)) == (b"".join(plain), 1)
