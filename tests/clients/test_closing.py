"""A response that is closed before its end, while somebody reads it, does not look like one that
was read to its end: it raises, as it does without Tenuto."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator
from typing import Any

import boto3
import httpx
import httpx2
import pytest
from asking_bedrock import async_client, given_to_a_client
from botocore.exceptions import ResponseStreamingError
from replay import R, Replay

import tenuto
from tenuto.sim import Simulator

ANSWER = R("a word " * 4_000)
"""More than a library reads at once: what came before the close is handed on by it."""
ASKING: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
CONVERSING: dict[str, Any] = {
    "modelId": "sim/normal",
    "messages": [{"role": "user", "content": [{"text": "Tell me."}]}],
}
LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
WATCHED = pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])
BEFORE_THE_END = 3


@pytest.fixture
def url() -> Iterator[str]:
    with Replay() as replay:
        replay.say(ANSWER)
        yield f"{replay.base_url}/chat/completions"


def client(library: Any, wrapped: bool) -> Any:
    return tenuto.http_client(library.__name__) if wrapped else library.Client()


def async_client_of(library: Any, wrapped: bool) -> Any:
    return tenuto.async_http_client(library.__name__) if wrapped else library.AsyncClient()


def read(pieces: Iterable[Any], then: Callable[[int], object]) -> None:
    """Read to the end; `then` is called with the number of each piece."""
    for number, _ in enumerate(pieces):
        then(number)


async def read_async(pieces: AsyncIterable[Any], then: Callable[[int], Awaitable[object]]) -> None:
    number = 0
    async for _ in pieces:
        await then(number)
        number += 1


@pytest.mark.behaviour("C23")
@LIBRARIES
@WATCHED
@pytest.mark.parametrize("reading", ["iter_bytes", "iter_raw", "iter_text", "iter_lines"])
def test_who_closes_a_response_in_its_own_loop_is_told(url, library, wrapped, reading):
    with (
        client(library, wrapped) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):
        pieces = getattr(response, reading)()
        with pytest.raises(library.ReadError):
            read(pieces, lambda number: number == BEFORE_THE_END and response.close())


@pytest.mark.behaviour("C23")
@LIBRARIES
@WATCHED
def test_who_reads_what_another_thread_closes_is_told(url, library, wrapped):
    with (
        client(library, wrapped) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):
        closing = threading.Timer(0.1, response.close)
        closing.start()
        with pytest.raises(library.ReadError):
            read(response.iter_bytes(), lambda _: time.sleep(0.02))
        closing.join()


@pytest.mark.behaviour("C23")
@LIBRARIES
@WATCHED
@pytest.mark.parametrize("reading", ["aiter_bytes", "aiter_raw", "aiter_text", "aiter_lines"])
async def test_who_closes_an_async_response_in_its_own_loop_is_told(url, library, wrapped, reading):
    async with (
        async_client_of(library, wrapped) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):

        async def close_at_third(number: int) -> None:
            if number == BEFORE_THE_END:
                await response.aclose()

        with pytest.raises(library.ReadError):
            await read_async(getattr(response, reading)(), close_at_third)


@pytest.mark.behaviour("C23")
@LIBRARIES
@WATCHED
async def test_who_reads_what_another_task_closes_is_told(url, library, wrapped):
    async with (
        async_client_of(library, wrapped) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):

        async def close() -> None:
            await asyncio.sleep(0.05)
            await response.aclose()

        closing = asyncio.create_task(close())
        with pytest.raises(library.ReadError):
            await read_async(response.aiter_bytes(), lambda _: asyncio.sleep(0.02))
        await closing


@pytest.mark.behaviour("C23")
@LIBRARIES
def test_closing_what_was_read_to_its_end_says_nothing(url, library):
    with (
        client(library, wrapped=True) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):
        pieces = list(response.iter_bytes())
        response.close()
        response.close()
    assert b"".join(pieces) == ANSWER.stream("m", include_usage=False)


@pytest.mark.behaviour("C23")
@LIBRARIES
async def test_closing_what_an_async_caller_read_to_its_end_says_nothing(url, library):
    async with (
        async_client_of(library, wrapped=True) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):
        pieces = [piece async for piece in response.aiter_bytes()]
        await response.aclose()
        await response.aclose()
    assert b"".join(pieces) == ANSWER.stream("m", include_usage=False)


@pytest.mark.behaviour("C23")
def test_who_closes_a_stream_of_boto3_in_its_own_loop_is_told(sim: Simulator):
    bare = boto3.client("bedrock-runtime", **given_to_a_client(sim.root_url, 0))
    stream = tenuto.wrap(bare).converse_stream(**CONVERSING)["stream"]
    with pytest.raises(ResponseStreamingError, match="closed"):
        read(stream, lambda _: stream.close())
    bare.close()


@pytest.mark.behaviour("C23")
async def test_who_closes_a_stream_of_aiobotocore_in_its_own_loop_is_told(sim: Simulator):
    async with async_client(given_to_a_client(sim.root_url, 0)) as bare:
        stream = (await tenuto.wrap(bare).converse_stream(**CONVERSING))["stream"]

        async def close(_: int) -> None:
            stream.close()
            await asyncio.sleep(0)

        with pytest.raises(ResponseStreamingError, match="closed"):
            await read_async(stream, close)


@pytest.mark.behaviour("P8")
@LIBRARIES
@WATCHED
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
def test_a_response_that_a_hook_closes_cannot_be_read_and_is_asked_for_once(
    library, wrapped, stream
):
    with Replay() as replay, client(library, wrapped) as made:
        replay.say(R("Hello."), R("Hello."))
        made.event_hooks = {"response": [lambda response: response.close()]}
        url = f"{replay.base_url}/chat/completions"
        with pytest.raises(library.StreamClosed):
            read(whole_or_stream(made, url, stream), lambda _: None)
        assert len(replay.requests) == 1


def whole_or_stream(made: Any, url: str, stream: bool) -> Iterator[bytes]:
    if not stream:
        yield made.post(url, json=ASKING).content
        return
    with made.stream("POST", url, json=ASKING | {"stream": True}) as response:
        yield from response.iter_bytes()


@pytest.mark.behaviour("P8")
@LIBRARIES
@WATCHED
async def test_an_async_response_that_a_hook_closes_is_asked_for_once(library, wrapped):
    async def close(response: Any) -> None:
        await response.aclose()

    with Replay() as replay:
        replay.say(R("Hello."), R("Hello."))
        async with async_client_of(library, wrapped) as made:
            made.event_hooks = {"response": [close]}
            with pytest.raises(library.StreamClosed):
                await made.post(f"{replay.base_url}/chat/completions", json=ASKING)
        assert len(replay.requests) == 1
