"""aiobotocore's client as boto3's: it stays as it is, its bodies are read in pieces, its exceptions
are its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiobotocore.config import AioConfig
from aiobotocore.httpxsession import HttpxSession
from botocore.exceptions import EventStreamError
from support.asking.bedrock_converse import async_client, given_to_a_client
from support.asking.wrapping import QUICK
from support.clouds import Bedrock

import tenuto
from tenuto.core.errors import UnsupportedClient
from tenuto_sim import Step

LENGTH = Step(keep=0.45, finish="length")
ASK = [{"role": "user", "content": [{"text": "Tell me."}]}]
CLAUDE = "us.anthropic.claude-sim"
CLAUDES = json.dumps(
    {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "Tell me."}],
    }
)


def with_client(url: str, use: Callable[[Any], Awaitable[Any]], **more: Any) -> Any:
    async def run() -> Any:
        given = given_to_a_client(url, 0) | more
        async with async_client(given) as client:
            return await use(client)

    return asyncio.run(run())


def wrap(client: Any, **settings: Any) -> Any:
    return tenuto.wrap(client, policy=tenuto.Policy(**(QUICK | settings)))


@pytest.mark.behaviour("P8")
def test_the_async_client_that_is_given_stays_as_it_is(sim):
    async def use(bare: Any) -> None:
        before = (vars(bare).copy(), type(bare._endpoint), vars(bare.meta).copy())
        made = wrap(bare)
        assert tenuto.wrap(made) is made
        assert isinstance(made, type(bare))
        assert (vars(bare), type(bare._endpoint), vars(bare.meta)) == before
        for client, stop in ((bare, "max_tokens"), (made, "end_turn")):
            sim._exchange.conversations.script.clear()
            sim.script([LENGTH, Step()])
            answer = await client.converse(modelId="sim", messages=ASK)
            assert answer["stopReason"] == stop

    with_client(sim.root_url, use)


@pytest.mark.behaviour("C1")
def test_a_streaming_body_of_claude_is_finished_and_read_in_pieces(sim):
    async def use(bare: Any) -> Any:
        sim.script([LENGTH, Step()])
        response = await wrap(bare).invoke_model(modelId=CLAUDE, body=CLAUDES)
        async with response["body"] as body:
            first = await body.read(10)
            return first + b"".join([piece async for piece in body.iter_chunks(64)])

    with Bedrock(sim) as cloud:
        message = json.loads(with_client(cloud.url, use))
        assert message["content"][0]["text"] == sim.answer("Tell me.")
        assert not cloud.refused


@pytest.mark.behaviour("C1", "P1a", "S9")
def test_a_stream_of_claude_is_finished_or_raises_the_sdks_own_exception(sim):
    async def use(bare: Any) -> str:
        text = ""
        client = wrap(bare, on_incomplete="error", continuation_max_attempts=1)
        response = await client.invoke_model_with_response_stream(modelId=CLAUDE, body=CLAUDES)
        async for event in response["body"]:
            text += json.loads(event["chunk"]["bytes"]).get("delta", {}).get("text", "")
        return text

    with Bedrock(sim) as cloud:
        sim.script([LENGTH, Step()])
        assert with_client(cloud.url, use) == sim.answer("Tell me.")
        sim.script([Step(keep=0.2, finish="length")] * 5)
        with pytest.raises(EventStreamError):
            with_client(cloud.url, use)


@pytest.mark.behaviour("P1a", "C5")
def test_an_unfinished_async_body_raises_with_what_came(sim):
    async def use(bare: Any) -> Any:
        client = wrap(bare, on_incomplete="error")
        sim.script([LENGTH] + [Step(error="model_error")] * 9)
        with pytest.raises(client.exceptions.ModelErrorException) as raised:
            await client.converse(modelId="sim", messages=ASK)
        return raised.value.response["partial"]["text"]

    assert sim.answer("Tell me.").startswith(with_client(sim.root_url, use))


def test_a_client_on_httpx_cannot_be_wrapped(sim):
    async def use(bare: Any) -> None:
        with pytest.raises(UnsupportedClient, match="httpx"):
            wrap(bare)

    config = AioConfig(http_session_cls=HttpxSession)
    with_client(sim.root_url, use, config=config)


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize("listens", [True, False])
def test_an_answer_over_aiohttp_names_its_turn_where_somebody_may_look_for_it(sim, listens):
    heard: list[tenuto.Event] = []

    async def use(bare: Any) -> list[str | None]:
        policy, told = tenuto.Policy(**QUICK), []
        client = tenuto.wrap(bare, policy=policy, on_event=heard.append if listens else None)
        for steps in ([Step()], [LENGTH, Step()]):
            sim.script(steps)
            body = await client.converse(modelId="sim", messages=ASK)
            sim.script(steps)
            stream = await client.converse_stream(modelId="sim", messages=ASK)
            assert [event async for event in stream["stream"]]
            told += [answer["ResponseMetadata"]["HTTPHeaders"] for answer in (body, stream)]
        return [headers.get("x-tenuto-turn") for headers in told]

    named = with_client(sim.root_url, use)
    if listens:
        assert named == [*dict.fromkeys(event.turn for event in heard)]
        return
    healthy, stream, recovered, recovered_stream = named
    assert recovered
    # When the head of a stream leaves, nobody knows that a second attempt will follow.
    assert [healthy, stream, recovered_stream] == [None] * 3
