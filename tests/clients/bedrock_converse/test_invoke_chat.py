"""`invoke_model` and `invoke_model_with_response_stream` with bodies in the shape of OpenAI's chat."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asking_invoke import STREAM, Raw, client_at, events_in
from aws import chunk

import tenuto

GPT, MISTRAL, JAMBA = (
    "openai.gpt-oss-120b-1:0",
    "mistral.mistral-large-2407-v1:0",
    "ai21.jamba-1-5-large-v1:0",
)
ROW = {"role": "user", "content": "Tell me."}
ASKS = json.dumps({"messages": [ROW], "max_tokens": 90, "temperature": 0.5}).encode()
METRICS = "amazon-bedrock-invocationMetrics"
COUNTED = {
    "inputTokenCount": 5,
    "outputTokenCount": 7,
    "invocationLatency": 900,
    "firstByteLatency": 90,
}


def body(text: str, stop: str, key: str = "finish_reason", **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, key: stop}
    return json.dumps({"id": "c1", "choices": [choice], **more}).encode()


def stream(*texts: str, stop: str, part: str = "delta", key: str = "finish_reason") -> bytes:
    """Whatever the model wrote, with the metrics in the last event and no end mark behind it."""
    said = [{"index": 0, part: {"role": "assistant", "content": text}, key: None} for text in texts]
    made: list[Any] = [{"id": "c1", "choices": [choice]} for choice in said]
    made.append({"id": "c1", "choices": [{"index": 0, part: {"content": ""}, key: stop}]})
    made[-1][METRICS] = COUNTED
    return b"".join(chunk(json.dumps(event).encode()) for event in made)


@pytest.mark.behaviour("C1", "C17", "C19")
@pytest.mark.parametrize(
    ("model", "limit"), [(GPT, "max_completion_tokens"), (JAMBA, "max_tokens")]
)
def test_a_body_is_finished_with_the_limit_under_the_makers_key(replay, model, limit):
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    replay.say(
        Raw(body("The first part, ", "length", usage=usage)),
        Raw(body("and the rest.", "stop", usage=usage)),
    )
    ask = json.dumps({"messages": [ROW]}).encode()
    response = client_at(replay.root_url).invoke_model(modelId=model, body=ask)
    message = json.loads(response["body"].read())
    (choice,) = message["choices"]
    assert choice["message"]["content"] == "The first part, and the rest."
    assert choice["finish_reason"] == "stop"
    assert message["usage"] == {"prompt_tokens": 5, "completion_tokens": 14, "total_tokens": 19}
    sent = replay.requests[1].json
    assert sent.keys() == {"messages", limit}
    assert sent["messages"][:2] == [ROW, {"role": "assistant", "content": "The first part,"}]


@pytest.mark.behaviour("C1", "N2")
def test_a_body_of_mistrals_keeps_its_own_name_for_the_stop(replay):
    replay.say(
        Raw(body("The first part, ", "length", "stop_reason")),
        Raw(body("and the rest.", "stop", "stop_reason")),
    )
    response = client_at(replay.root_url).invoke_model(modelId=MISTRAL, body=ASKS)
    said = response["body"].read()
    assert json.loads(said) == json.loads(
        body("The first part, and the rest.", "stop", "stop_reason")
    )
    assert tenuto.detect(json.loads(said)).reason == "end_turn"
    assert replay.requests[1].json["max_tokens"] == 180


@pytest.mark.behaviour("C1", "C19", "S2")
@pytest.mark.parametrize(
    ("part", "key"),
    [("delta", "finish_reason"), ("delta", "stop_reason"), ("message", "stop_reason")],
)
def test_a_stream_is_finished_in_its_own_words_and_has_no_end_mark(replay, part, key):
    names = {"part": part, "key": key}
    replay.say(
        Raw(stream("The first ", "part, ", stop="length", **names), STREAM),
        Raw(stream("and ", "the rest.", stop="stop", **names), STREAM),
    )
    client = client_at(replay.root_url)
    response = client.invoke_model_with_response_stream(modelId=MISTRAL, body=ASKS)
    told = list(events_in(response))
    choices = [event["choices"][0] for event in told]
    assert "".join(c[part].get("content", "") for c in choices) == "The first part, and the rest."
    assert [choice[key] for choice in choices if choice[key]] == ["stop"]
    assert {frozenset(choice) for choice in choices} == {frozenset({"index", part, key})}
    assert {event["id"] for event in told} == {"c1"}
    assert [METRICS in event for event in told] == [False] * (len(told) - 1) + [True]
    assert told[-1][METRICS] == COUNTED | {"outputTokenCount": 14}
