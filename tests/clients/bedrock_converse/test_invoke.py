"""`invoke_model` and `invoke_model_with_response_stream`: Claude's and Nova's turns are finished, all
others are watched and handed on as they came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EventStreamError
from support.asking.bedrock_invoke import STREAM, Raw, client_at, events_in
from support.aws import failure
from support.aws_messages import chunk
from support.clouds import Bedrock
from support.far_sides import FarSide, json_answer

import tenuto
from tenuto_sim import Simulator, Step

CLAUDE = "us.anthropic.claude-sim"
NOVA = "amazon.nova-lite-v1:0"


@pytest.fixture
def cloud(sim: Simulator) -> Iterator[Bedrock]:
    with Bedrock(sim) as running:
        yield running


def claudes(**more: Any) -> bytes:
    asked = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 4096}
    return json.dumps(
        asked | {"messages": [{"role": "user", "content": "Tell me."}]} | more
    ).encode()


@pytest.mark.behaviour("C1", "P8")
def test_a_body_of_claude_is_finished_and_read_as_a_streaming_body(sim, cloud):
    sim.script([Step(keep=0.45, finish="length"), Step()])
    response = client_at(cloud.url).invoke_model(modelId=CLAUDE, body=claudes())
    body = response["body"]
    first = body.read(10)
    message = json.loads(first + body.read())
    assert message["content"] == [{"type": "text", "text": sim.answer("Tell me.")}]
    assert message["stop_reason"] == "end_turn"
    assert not cloud.refused
    assert len(cloud.seen) == 2


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("tells", [True, False])
def test_the_header_that_counts_tokens_counts_those_of_the_whole_turn(tells):
    def counted(text: str, stop: str) -> bytes:
        usage = {"usage": {"input_tokens": 3, "output_tokens": 5}} if tells else {}
        value = {"type": "message", "content": [{"type": "text", "text": text}]}
        count = "x-amzn-bedrock-output-token-count: 5"
        body = json.dumps(value | {"stop_reason": stop} | usage).encode()
        return json_answer(body, count, "x-amzn-bedrock-input-token-count: 3")

    with FarSide(counted("Half ", "max_tokens"), counted("and half.", "end_turn")) as far:
        client = client_at(far.base_url.removesuffix("/v1"))
        response = client.invoke_model(modelId=CLAUDE, body=claudes())
        assert b"Half and half." in response["body"].read()
    headers = response["ResponseMetadata"]["HTTPHeaders"]
    assert headers.get("x-amzn-bedrock-output-token-count") == ("10" if tells else None)
    assert headers["x-amzn-bedrock-input-token-count"] == "3"


@pytest.mark.behaviour("C1", "S2")
def test_a_stream_of_claude_is_finished(sim, cloud):
    sim.script([Step(keep=0.45, finish="length"), Step()])
    client = client_at(cloud.url)
    response = client.invoke_model_with_response_stream(modelId=CLAUDE, body=claudes())
    told = list(events_in(response))
    text = "".join(event.get("delta", {}).get("text", "") for event in told)
    assert text == sim.answer("Tell me.")
    assert [event["type"] for event in told].count("message_stop") == 1
    assert not cloud.refused


@pytest.mark.behaviour("P1a", "S9")
def test_an_unfinished_stream_of_claude_raises_boto3s_own_exception(sim, cloud):
    sim.script([Step(keep=0.3, finish="length")] * 9)
    client = client_at(cloud.url, on_incomplete="error", continuation_max_attempts=1)
    told: list[Any] = []
    response = client.invoke_model_with_response_stream(modelId=CLAUDE, body=claudes())
    with pytest.raises(EventStreamError, match="modelStreamErrorException"):
        told.extend(events_in(response))
    sim.script([Step(keep=0.3, finish="length")] * 9)
    with pytest.raises(client.exceptions.ModelErrorException) as raised:
        client.invoke_model(modelId=CLAUDE, body=claudes())
    assert raised.value.response["partial"]["text"]


USAGE = {"inputTokens": 5, "outputTokens": 5, "totalTokens": 10}


def novas(text: str, stop: str) -> bytes:
    content = [{"text": text}]
    output = {"message": {"content": content, "role": "assistant"}}
    return json.dumps({"output": output, "stopReason": stop, "usage": USAGE}).encode()


def novas_stream(*texts: str, stop: str) -> bytes:
    """Each piece of text is a block of its own."""
    made: list[Any] = [{"messageStart": {"role": "assistant"}}]
    for index, text in enumerate(texts):
        delta = {"delta": {"text": text}, "contentBlockIndex": index}
        made += [{"contentBlockDelta": delta}, {"contentBlockStop": {"contentBlockIndex": index}}]
    made += [{"messageStop": {"stopReason": stop}}, {"metadata": {"usage": USAGE, "metrics": {}}}]
    return b"".join(chunk(json.dumps(event).encode()) for event in made)


NOVA_ASKS = json.dumps(
    {
        "schemaVersion": "messages-v1",
        "messages": [{"role": "user", "content": [{"text": "Tell me."}]}],
        "inferenceConfig": {"max_new_tokens": 90},
    }
).encode()


@pytest.mark.behaviour("C1", "C17")
def test_a_body_of_nova_is_finished_with_the_limit_under_its_own_key(replay):
    replay.say(Raw(novas("part 1 ", "max_tokens")), Raw(novas("part 2", "end_turn")))
    response = client_at(replay.root_url).invoke_model(modelId=NOVA, body=NOVA_ASKS)
    message = json.loads(response["body"].read())
    assert message["output"]["message"]["content"] == [{"text": "part 1 part 2"}]
    assert message["usage"] == {"inputTokens": 5, "outputTokens": 10, "totalTokens": 15}
    assert replay.requests[1].json["inferenceConfig"] == {"max_new_tokens": 180}


@pytest.mark.behaviour("C1", "C14", "S2")
def test_a_stream_of_nova_is_finished_though_each_piece_is_a_block(replay):
    replay.say(
        Raw(novas_stream("The result ", "is wor", stop="max_tokens"), STREAM),
        Raw(novas_stream("is wor", "ld, ", "at last.", stop="end_turn"), STREAM),
    )
    client = client_at(replay.root_url)
    response = client.invoke_model_with_response_stream(modelId=NOVA, body=NOVA_ASKS)
    told = list(events_in(response))
    deltas = [event["contentBlockDelta"] for event in told if "contentBlockDelta" in event]
    assert "".join(d["delta"]["text"] for d in deltas) == "The result is world, at last."
    indexes = [delta["contentBlockIndex"] for delta in deltas]
    assert indexes == sorted(indexes)
    assert [next(iter(event)) for event in told][-2:] == ["messageStop", "metadata"]


TITAN = json.dumps(
    {
        "inputTextTokenCount": 3,
        "results": [{"tokenCount": 5, "outputText": "Half", "completionReason": "LENGTH"}],
    }
).encode()


@pytest.mark.behaviour("C28", "P8")
def test_what_takes_a_prompt_is_left_alone_and_told_of(replay):
    events: list[tenuto.Event] = []
    client = client_at(replay.root_url, events, on_incomplete="error")
    replay.say(Raw(TITAN))
    ask = json.dumps({"inputText": "Tell me."}).encode()
    response = client.invoke_model(modelId="amazon.titan-text-express-v1", body=ask)
    assert response["body"].read() == TITAN
    assert len(replay.requests) == 1
    assert replay.requests[0].body == ask
    (alone,) = [event.data for event in events if event.name == "left_alone"]
    assert alone == {"why": "no_messages", "outcome": "text_cut"}


@pytest.mark.behaviour("C28", "S9")
def test_an_exception_in_a_stream_that_is_left_alone_is_boto3s_own(replay):
    piece = {"generation": "Half", "prompt_token_count": 3, "stop_reason": None}
    sent = chunk(json.dumps(piece).encode()) + failure("modelTimeoutException", "Too slow.")
    replay.say(Raw(sent, STREAM))
    client = client_at(replay.root_url)
    ask = json.dumps({"prompt": "Tell me."}).encode()
    response = client.invoke_model_with_response_stream(modelId="meta.llama3-1", body=ask)
    told: list[Any] = []
    with pytest.raises(EventStreamError, match="modelTimeoutException"):
        told.extend(events_in(response))


@pytest.mark.behaviour("C7")
def test_a_body_that_is_no_json_passes_untouched(replay):
    replay.say(Raw(b"not json either"))
    client = client_at(replay.root_url)
    response = client.invoke_model(modelId="amazon.titan-text-express-v1", body=b"no json")
    assert response["body"].read() == b"not json either"
    assert replay.requests[0].body == b"no json"
    with pytest.raises(ClientError):
        client.invoke_model(modelId="amazon.titan-text-express-v1", body=b"no json")
