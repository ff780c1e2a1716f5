"""`invoke_model` and `invoke_model_with_response_stream` with bodies in the shape of OpenAI's chat."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import boto3
import pytest
from support.asking.bedrock_converse import async_client, given_to_a_client
from support.asking.bedrock_invoke import METRICS, STREAM, Raw, WrappedInvoke, client_at, events_in
from support.asking.wrapping import QUICK
from support.aws import SECRET_KEY, wrong_signature
from support.aws_messages import chunk
from support.pacing.openai_chat import Pacer, answers_to, pieces

import tenuto
from tenuto_sim import Simulator, Step

GPT, MISTRAL, JAMBA = (
    "openai.gpt-oss-120b-1:0",
    "mistral.mistral-large-2407-v1:0",
    "ai21.jamba-1-5-large-v1:0",
)
ROW = {"role": "user", "content": "Tell me."}
ASKS = json.dumps({"messages": [ROW], "max_tokens": 90, "temperature": 0.5}).encode()
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


@pytest.mark.behaviour("C7", "P8")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_every_attempt_is_signed_anew_and_begins_with_the_callers_own_bytes(sim, way, mode):
    asker = WrappedInvoke(sim, tenuto.Policy(**QUICK), GPT + "/")
    with contextlib.closing(asker):
        sim.script([Step(keep=0.45, finish="length"), Step(keep=0.5, finish="length"), Step()])
        assert asker.ask([ROW], mode, way).text == sim.answer("Tell me.")
    seen = set()
    for request in sim.requests:
        url = sim.root_url + request.path
        assert not wrong_signature(
            "POST", url, request.headers, request.body, "bedrock", SECRET_KEY
        )
        assert request.json["messages"][:1] == [ROW]
        seen.add(request.headers["authorization"].rpartition("Signature=")[2])
    assert len(seen) == 3


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize("name", ["invoke_model", "invoke_model_with_response_stream"])
def test_a_normal_turn_is_the_same_bytes_in_both_directions(replay, name):
    streamed = name != "invoke_model"
    raw = stream("All ", "of it.", stop="stop") if streamed else body("All of it. é", "stop")
    answer = Raw(raw, STREAM) if streamed else Raw(raw)
    bare = boto3.client("bedrock-runtime", **given_to_a_client(replay.root_url, 0))
    got: list[Any] = []
    sent: list[Any] = []
    for client in (bare, client_at(replay.root_url)):
        replay.say(answer)
        response = getattr(client, name)(modelId=GPT, body=b" " + ASKS)
        got.append(list(response["body"]) if streamed else response["body"].read())
        sent += [(request.path, request.body) for request in replay.requests]
    assert got[0] == got[1]
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert sent[1][1] == b" " + ASKS


@pytest.mark.behaviour("P1a", "C5")
def test_an_unfinished_body_raises_boto3s_own_exception_with_what_came(replay):
    replay.say(*[Raw(body("Half of it", "length"))] * 4)
    client = client_at(replay.root_url, on_incomplete="error", continuation_max_attempts=1)
    with pytest.raises(client.exceptions.ModelErrorException) as raised:
        client.invoke_model(modelId=JAMBA, body=ASKS)
    assert raised.value.response["partial"]["text"].startswith("Half of it")


PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"
NOT_CHAT: list[tuple[str, dict[str, Any]]] = [
    (PROFILE, {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [ROW]}),
    (PROFILE, {"messages": [{"role": "user", "content": [{"text": "Tell me."}]}]}),
    (PROFILE, {"messages": [ROW], "inferenceConfig": {"maxTokens": 90}}),
    ("cohere.command-r-v1:0", {"message": "Tell me.", "chat_history": []}),
    ("meta.llama3-1", {"prompt": "Tell me."}),
    ("mistral.mistral-7b", {"prompt": "Tell me.", "messages": []}),
    ("ai21.jamba", {"messages": [ROW], "n": 2}),
]


@pytest.mark.behaviour("C28", "P8")
@pytest.mark.parametrize(("model", "ask"), NOT_CHAT)
def test_what_may_be_anothers_or_cannot_be_gone_on_with_is_left_alone(replay, model, ask):
    events: list[tenuto.Event] = []
    answer = body("Half of it", "length")
    replay.say(Raw(answer))
    client = client_at(replay.root_url, events)
    response = client.invoke_model(modelId=model, body=json.dumps(ask).encode())
    assert response["body"].read() == answer
    assert len(replay.requests) == 1
    (alone,) = [event.data for event in events if event.name == "left_alone"]
    assert alone["outcome"] == "text_cut"


@pytest.mark.behaviour("S4", "P8")
@pytest.mark.parametrize("maker", [GPT + "/", MISTRAL + "/"])
def test_every_text_event_arrives_before_the_next_one_is_sent(way, maker):
    size, events = 24, 0
    asked = {"modelId": f"{maker}sim/normal", "body": json.dumps({"messages": [ROW]})}
    policy = tenuto.Policy(**QUICK)
    with Simulator(lockstep=True, lockstep_timeout_s=4, token_chars=size) as sim:
        given = given_to_a_client(sim.root_url, 0)
        whole = sim.answer("Tell me.")
        texts = [bool(text.strip()) for text in pieces(whole, size)]
        pacer = Pacer(sim, answers_to([True, *texts, False]))
        if way == "sync":
            bare = boto3.client("bedrock-runtime", **given)
            client = tenuto.wrap(bare, policy=policy)
            for _ in client.invoke_model_with_response_stream(**asked)["body"]:
                pacer.arrived()
                events += 1
            client.close()
        else:
            events = asyncio.run(_paced(given, asked, policy, pacer))
        assert events == len(texts) + 2
        assert not sim.stalled
        assert len(sim.requests) == 1


async def _paced(given: Any, asked: Any, policy: tenuto.Policy, pacer: Pacer) -> int:
    events = 0
    async with async_client(given) as bare:
        client = tenuto.wrap(bare, policy=policy)
        response = await client.invoke_model_with_response_stream(**asked)
        async for _ in response["body"]:
            pacer.arrived()
            events += 1
    return events
