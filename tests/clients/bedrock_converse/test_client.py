"""What is boto3's own stays boto3's own: the client that is given, signatures, handlers, retries,
and exceptions."""

from __future__ import annotations

import io
import json
from collections import deque
from typing import Any

import boto3
import botocore.awsrequest
import pytest
import urllib3
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError
from support.asking.bedrock_converse import Assembled, given_to_a_client
from support.asking.wrapping import QUICK
from support.aws import SECRET_KEY, wrong_signature

import tenuto
from tenuto.core.errors import UnsupportedClient
from tenuto_sim import Case, Simulator, Step

LENGTH = Step(keep=0.45, finish="length")
ASK = [{"role": "user", "content": [{"text": "Tell me."}]}]


def client_for(sim: Simulator, retries: int = 0, **more: Any) -> Any:
    return boto3.client("bedrock-runtime", **given_to_a_client(sim.root_url, retries) | more)


def wrap(client: Any, **settings: Any) -> Any:
    return tenuto.wrap(client, policy=tenuto.Policy(**(QUICK | settings)))


def handlers_of(client: Any) -> list[Any]:
    names = [
        f"{event}.bedrock-runtime.Converse"
        for event in ("before-sign", "request-created", "before-send", "needs-retry", "before-call")
    ]
    emitter = client.meta.events._emitter
    return [list(emitter._handlers.prefix_search(name)) for name in names]


@pytest.mark.behaviour("P8")
def test_the_client_that_is_given_stays_as_it_is(sim):
    bare = client_for(sim)
    before = (vars(bare).copy(), handlers_of(bare), type(bare._endpoint), vars(bare.meta).copy())
    made = wrap(bare)
    assert isinstance(made, type(bare))
    assert (vars(bare), handlers_of(bare), type(bare._endpoint), vars(bare.meta)) == before
    made.meta.events.register("before-call.bedrock-runtime", lambda **_: 1 / 0)
    bare.converse(modelId="sim", messages=ASK)
    assert bare._endpoint.http_session is made._endpoint.http_session
    sim.script([LENGTH])
    assert bare.converse(modelId="sim", messages=ASK)["stopReason"] == "max_tokens"


@pytest.mark.behaviour("P8")
def test_wrapping_twice_is_wrapping_once_and_a_second_policy_replaces_the_first(sim):
    once = wrap(client_for(sim), continuation_max_attempts=0)
    assert tenuto.wrap(once) is once
    twice = wrap(once)
    for client, requests in ((once, 1), (twice, 2)):
        sim.script([LENGTH, Step()])
        before = len(sim.requests)
        client.converse(modelId="sim", messages=ASK)
        assert len(sim.requests) - before == requests
        sim._exchange.conversations.script.clear()


def test_only_clients_of_bedrocks_runtime_can_be_wrapped(sim):
    with pytest.raises(UnsupportedClient, match="bedrock-runtime"):
        tenuto.wrap(boto3.client("sts", **given_to_a_client(sim.root_url, 0)))


@pytest.mark.behaviour("C7", "P8")
def test_every_attempt_is_signed_by_botocore_anew(wrapped, way):
    asker = wrapped()
    asker.sim.script([LENGTH, LENGTH, Step()])
    said = asker.ask(ASK, "stream", way)
    assert said.text == asker.sim.answer("Tell me.")
    assert len(asker.sim.requests) == 3
    seen = set()
    for request in asker.sim.requests:
        url = asker.sim.root_url + request.path
        assert not wrong_signature(
            "POST", url, request.headers, request.body, "bedrock", SECRET_KEY
        )
        seen.add(request.headers["authorization"].rpartition("Signature=")[2])
    assert len(seen) == 3
    bodies = [request.json for request in asker.sim.requests]
    assert all(body["messages"][:1] == ASK for body in bodies)
    assert [row["role"] for row in bodies[1]["messages"]] == ["user", "assistant", "user"]
    assert bodies[1]["inferenceConfig"]["maxTokens"] > 0


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_normal_turn_costs_one_request_with_the_callers_own_bytes(wrapped, way, mode):
    asker = wrapped()
    plain = client_for(asker.sim)
    given = {"modelId": "sim", "messages": ASK, "system": [{"text": "Be brief. é"}]}
    plain.converse(**given) if mode == "body" else list(plain.converse_stream(**given)["stream"])
    asker.ask(ASK, mode, way, system=given["system"])
    one, other = asker.sim.requests
    assert one.body == other.body
    assert one.path == other.path


@pytest.mark.behaviour("C19")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_the_usage_is_that_of_one_call(wrapped, way, mode):
    asker = wrapped()
    asker.sim.script([LENGTH, Step()])
    usage = asker.ask(ASK, mode, way).usage
    first, second = asker.sim.requests
    assert usage["inputTokens"] == first.input_tokens
    assert usage["outputTokens"] == first.output_tokens + second.output_tokens
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]


@pytest.mark.behaviour("C17a", "P8c")
def test_a_header_switches_it_off_for_one_request_and_is_not_sent(sim):
    client = wrap(client_for(sim))

    def off(params: Any, **_: Any) -> None:
        params["headers"]["x-tenuto"] = "off"

    client.meta.events.register("before-call.bedrock-runtime", off)
    sim.script([LENGTH])
    assert client.converse(modelId="sim", messages=ASK)["stopReason"] == "max_tokens"
    client.meta.events.unregister("before-call.bedrock-runtime", off)

    def off_when_made(request: Any, **_: Any) -> None:
        request.headers["X-Tenuto"] = "off"

    client.meta.events.register_first("request-created.bedrock-runtime", off_when_made)
    sim.script([LENGTH])
    assert client.converse(modelId="sim", messages=ASK)["stopReason"] == "max_tokens"
    assert [request.status for request in sim.requests] == [200, 200], "the simulator is strict"


@pytest.mark.behaviour("P3", "P8c")
def test_a_header_changes_the_policy_of_one_request(sim):
    client, said = wrap(client_for(sim)), ["continuation_max_attempts=0", "empty_retries=99"]

    def say(params: Any, **_: Any) -> None:
        params["headers"]["x-tenuto"] = said.pop(0)

    client.meta.events.register("before-call.bedrock-runtime", say)
    sim.script([LENGTH])
    assert client.converse(modelId="sim", messages=ASK)["stopReason"] == "max_tokens"
    with pytest.raises(tenuto.PolicyError, match=r"^header x-tenuto: empty_retries is 99"):
        client.converse(modelId="sim", messages=ASK)
    assert [request.status for request in sim.requests] == [200]


class Handler:
    """A handler of `before-send` that answers in place of the network, from a request on."""

    def __init__(self, text: str, begins: int) -> None:
        self.text, self.begins, self.seen = text, begins, 0

    def __call__(self, request: Any, **_: Any) -> Any:
        self.seen += 1
        if self.seen <= self.begins:
            return None
        body = {
            "output": {"message": {"role": "assistant", "content": [{"text": self.text}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        }
        raw = urllib3.HTTPResponse(io.BytesIO(json.dumps(body).encode()), preload_content=False)
        return botocore.awsrequest.AWSResponse(request.url, 200, {}, raw)


@pytest.mark.behaviour("P8")
def test_a_handler_may_answer_any_attempt_in_place_of_the_network(sim):
    whole = sim.answer("Tell me.")
    bare = client_for(sim)
    handler = Handler(whole[-5:], begins=1)
    bare.meta.events.register("before-send.bedrock-runtime", handler)
    sim.script([LENGTH])
    response = wrap(bare).converse(modelId="sim", messages=ASK)
    (block,) = response["output"]["message"]["content"]
    assert block["text"].endswith(whole[-5:])
    assert (len(sim.requests), handler.seen) == (1, 2)
    alone = Handler("All.", begins=0)
    bare.meta.events.register_first("before-send.bedrock-runtime", alone)
    response = wrap(bare).converse(modelId="sim", messages=ASK)
    assert response["output"]["message"]["content"] == [{"text": "All."}]
    assert len(sim.requests) == 1


@pytest.mark.behaviour("P1b")
def test_before_any_answer_the_retries_are_boto3s_and_after_it_they_are_not_multiplied(sim):
    client = wrap(client_for(sim, retries=2), fault_retries=1)
    sim.script([Step(error="overloaded"), Step()])
    answer = client.converse(modelId="sim", messages=ASK)
    assert answer["ResponseMetadata"]["RetryAttempts"] == 1
    before = len(sim.requests)
    sim.script([Step(keep=0, say="nothing")] * 20)  # type: ignore[arg-type]
    with pytest.raises(ClientError):
        client.converse(modelId="sim", messages=ASK)
    assert len(sim.requests) - before <= 8


@pytest.mark.behaviour("P1a", "C5")
def test_an_unfinished_body_raises_boto3s_own_exception_with_what_came(sim):
    client = wrap(client_for(sim, retries=2), on_incomplete="error")
    sim.script([Step(keep=0.45, finish="length")] + [Step(error="model_error")] * 20)
    before = len(sim.requests)
    with pytest.raises(client.exceptions.ModelErrorException) as raised:
        client.converse(modelId="sim", messages=ASK)
    response = raised.value.response
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 424
    assert "could not finish" in response["Error"]["Message"]
    assert sim.answer("Tell me.").startswith(response["partial"]["text"])
    assert len(response["partial"]["text"]) > 100
    assert len(sim.requests) - before <= 5


@pytest.mark.behaviour("P1a", "S9")
def test_an_unfinished_stream_raises_boto3s_own_exception_behind_what_came(sim):
    client = wrap(client_for(sim), on_incomplete="error", continuation_max_attempts=1)
    sim.script([Step(keep=0.2, finish="length")] * 3)
    told = Assembled()
    stream = client.converse_stream(modelId="sim", messages=ASK)["stream"]
    with pytest.raises(EventStreamError, match="modelStreamErrorException"):
        deque(map(told.add, stream))
    text = told.blocks[0]["text"]
    assert sim.answer("Tell me.").startswith(text.rstrip())
    assert len(text) > 100


@pytest.mark.behaviour("C28a")
def test_the_clients_read_timeout_is_the_turns(sim):
    config = Config(read_timeout=7, retries={"total_max_attempts": 1})
    seen: list[Any] = []
    client = wrap(client_for(sim, config=config))
    client.meta.events.register(
        "before-send.bedrock-runtime",
        lambda request, **_: seen.append(request.context.get("read_timeout")),
    )
    sim.script([LENGTH, Step()])
    client.converse(modelId="sim", messages=ASK)
    assert seen[0] is None
    assert 0 < seen[1] <= 7


@pytest.mark.behaviour("C8", "C10")
@pytest.mark.parametrize(
    ("model", "last"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "assistant"),
        ("global.anthropic.claude-opus-4-6-v1", "user"),
        ("amazon.nova-pro-v1:0", "user"),
        ("meta.llama3-3-70b-instruct-v1:0", "user"),
        ("mistral.mistral-large-2407-v1:0", "user"),
    ],
)
def test_each_model_is_asked_to_go_on_in_the_way_that_it_takes(wrapped, way, model, last):
    asker = wrapped()
    said = asker.ask(ASK, "body", way, modelId=f"{model}/sim/length_once")
    assert said.text == asker.sim.answer("Tell me.")
    assert [request.status for request in asker.sim.requests] == [200, 200]
    assert asker.sim.requests[1].json["messages"][-1]["role"] == last


@pytest.mark.behaviour("E3", "H3")
@pytest.mark.parametrize("model", ["mistral.mistral-large-2407-v1:0", "amazon.nova-pro-v1:0"])
def test_between_two_rows_of_the_user_the_assistant_speaks(wrapped, model):
    asker = wrapped()
    case = Case("empty_after_tool_result", (), "", wants_tools=True, after_tool_result=True)
    said = asker.ask_case(case, "body", modelId=f"{model}/sim/empty_after_tool_result")
    assert said.error is None, said.error
    assert said.text
    rows = asker.sim.requests[-1].json["messages"]
    assert [row["role"] for row in rows] == ["user", "assistant"] * 2 + ["user"]
    assert rows[:3] == said.history


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize("listens", [True, False])
def test_an_answer_names_its_turn_where_somebody_may_look_for_it(sim, listens):
    heard: list[tenuto.Event] = []
    on_event = heard.append if listens else None
    client = tenuto.wrap(client_for(sim), policy=tenuto.Policy(**QUICK), on_event=on_event)
    told = []
    for steps in ([Step()], [LENGTH, Step()]):
        sim.script(steps)
        told.append(client.converse(modelId="sim", messages=ASK))
        sim.script(steps)
        told.append(client.converse_stream(modelId="sim", messages=ASK))
        assert list(told[-1]["stream"])
    named = [answer["ResponseMetadata"]["HTTPHeaders"].get("x-tenuto-turn") for answer in told]
    if listens:
        assert named == [*dict.fromkeys(event.turn for event in heard)]
        return
    healthy, stream, recovered, recovered_stream = named
    assert recovered
    # When the head of a stream leaves, nobody knows that a second attempt will follow.
    assert [healthy, stream, recovered_stream] == [None] * 3
