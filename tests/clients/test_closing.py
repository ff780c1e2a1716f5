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
from botocore.exceptions import ResponseStreamingError
from support.asking.bedrock_converse import async_client, given_to_a_client
from support.events import anthropic_messages as messages
from support.events import openai_chat as chat
from support.events.framing import sse
from support.far_sides import RESET, FarSide, answer
from support.replay.openai_chat import MAX, R, Refused, Replay

import tenuto
from tenuto_sim import Simulator

ANSWER = R("a word " * 140_000, piece_chars=2_000)
"""A megabyte, more than a library reads at once: what came before the close is handed on by it. Few
events hold it, as writing and reading them takes most of the time of a test."""
ASKING: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
CONVERSING: dict[str, Any] = {
    "modelId": "sim/normal",
    "messages": [{"role": "user", "content": [{"text": "Tell me."}]}],
}
LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
RECOVERING = ("wrapped", "transport")
WATCHED = pytest.mark.parametrize("kind", ["bare", *RECOVERING])
WRAPPED = pytest.mark.parametrize("kind", RECOVERING)
BEFORE_THE_END = 3


@pytest.fixture
def url() -> Iterator[str]:
    with Replay() as replay:
        replay.say(ANSWER)
        yield f"{replay.base_url}/chat/completions"


def client(library: Any, kind: str, policy: tenuto.Policy | None = None) -> Any:
    if kind == "transport":
        return library.Client(transport=tenuto.HTTPTransport(policy=policy), timeout=60)
    if kind == "wrapped":
        return tenuto.http_client(library.__name__, policy=policy)
    return library.Client()


def async_client_of(library: Any, kind: str, policy: tenuto.Policy | None = None) -> Any:
    if kind == "transport":
        return library.AsyncClient(transport=tenuto.AsyncHTTPTransport(policy=policy), timeout=60)
    if kind == "wrapped":
        return tenuto.async_http_client(library.__name__, policy=policy)
    return library.AsyncClient()


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
def test_who_closes_a_response_in_its_own_loop_is_told(url, library, kind, reading):
    with (
        client(library, kind) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):
        pieces = getattr(response, reading)()
        with pytest.raises(library.ReadError):
            read(pieces, lambda number: number == BEFORE_THE_END and response.close())


@pytest.mark.behaviour("C23")
@LIBRARIES
@WATCHED
def test_who_reads_what_another_thread_closes_is_told(url, library, kind):
    with (
        client(library, kind) as made,
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
async def test_who_closes_an_async_response_in_its_own_loop_is_told(url, library, kind, reading):
    async with (
        async_client_of(library, kind) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):

        async def close_before_the_end(number: int) -> None:
            if number == BEFORE_THE_END:
                await response.aclose()

        with pytest.raises(library.ReadError):
            await read_async(getattr(response, reading)(), close_before_the_end)


@pytest.mark.behaviour("C23")
@LIBRARIES
@WATCHED
async def test_who_reads_what_another_task_closes_is_told(url, library, kind):
    async with (
        async_client_of(library, kind) as made,
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
@WRAPPED
def test_closing_what_was_read_to_its_end_says_nothing(url, library, kind):
    with (
        client(library, kind) as made,
        made.stream("POST", url, json=ASKING | {"stream": True}) as response,
    ):
        pieces = list(response.iter_bytes())
        response.close()
        response.close()
    assert b"".join(pieces) == ANSWER.stream("m", include_usage=False)


@pytest.mark.behaviour("C23")
@LIBRARIES
@WRAPPED
async def test_closing_what_an_async_caller_read_to_its_end_says_nothing(url, library, kind):
    async with (
        async_client_of(library, kind) as made,
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
def test_a_response_that_a_hook_closes_cannot_be_read_and_is_asked_for_once(library, kind, stream):
    with Replay() as replay, client(library, kind) as made:
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
async def test_an_async_response_that_a_hook_closes_is_asked_for_once(library, kind):
    async def close(response: Any) -> None:
        await response.aclose()

    with Replay() as replay:
        replay.say(R("Hello."), R("Hello."))
        async with async_client_of(library, kind) as made:
            made.event_hooks = {"response": [close]}
            with pytest.raises(library.StreamClosed):
                await made.post(f"{replay.base_url}/chat/completions", json=ASKING)
        assert len(replay.requests) == 1


# --- where all was said ---------------------------------------------------------------------------


EVENTS = {
    "/v1/messages": sse(messages.events("All of it.")),
    "/v1/chat/completions": sse(chat.events("All of it."), done=True),
}


@pytest.mark.behaviour("C23", "P8")
@LIBRARIES
@WATCHED
@pytest.mark.parametrize("path", list(EVENTS))
def test_who_closes_a_stream_when_all_was_said_is_told_nothing(library, kind, path):
    """As the SDKs' users do at `message_stop`: the transfer's own end may still be to come."""
    said = b"".join(EVENTS[path])
    with (
        FarSide(answer(said, "content-type: text/event-stream")) as far,
        client(library, kind) as made,
    ):
        asked = ASKING | {"stream": True, "max_tokens": 100}
        with made.stream("POST", far.base_url.removesuffix("/v1") + path, json=asked) as response:
            seen = b""
            for piece in response.iter_bytes():
                seen += piece
                if len(seen) == len(said):
                    response.close()
        assert seen == said


@pytest.mark.behaviour("C23", "P8")
@LIBRARIES
@WATCHED
@pytest.mark.parametrize("path", list(EVENTS))
async def test_who_closes_an_async_stream_when_all_was_said_is_told_nothing(library, kind, path):
    said = b"".join(EVENTS[path])
    with FarSide(answer(said, "content-type: text/event-stream")) as far:
        async with async_client_of(library, kind) as made:
            asked = ASKING | {"stream": True, "max_tokens": 100}
            async with made.stream(
                "POST", far.base_url.removesuffix("/v1") + path, json=asked
            ) as response:
                seen = b""
                async for piece in response.aiter_bytes():
                    seen += piece
                    if len(seen) == len(said):
                        await response.aclose()
            assert seen == said


@pytest.mark.behaviour("C23", "P8")
@LIBRARIES
@WATCHED
def test_a_body_that_is_read_in_pieces_may_be_closed_between_them(library, kind):
    with Replay() as replay, client(library, kind) as made:
        replay.say(R("Hello."))
        url = f"{replay.base_url}/chat/completions"
        with made.stream("POST", url, json=ASKING) as response:
            seen = b""
            for piece in response.iter_bytes(16):
                seen += piece
                response.close()
        assert seen == R("Hello.").body("m")


# --- while it waits -------------------------------------------------------------------------------


@pytest.mark.behaviour("C23")
@LIBRARIES
@WRAPPED
def test_closing_from_a_thread_ends_the_wait_for_a_continuation_at_once(library, kind):
    with Replay() as replay, client(library, kind) as made:
        replay.say(R("The first half, ", MAX), R("b", wait_s=5))
        url = f"{replay.base_url}/chat/completions"
        with made.stream("POST", url, json=ASKING | {"stream": True}) as response:

            def close() -> None:
                for _ in range(200):
                    if len(replay.requests) == 2:
                        break
                    time.sleep(0.01)
                time.sleep(0.1)
                response.close()

            closing = threading.Thread(target=close)
            closing.start()
            began = time.monotonic()
            with pytest.raises(library.ReadError, match="closed"):
                read(response.iter_bytes(), lambda _: None)
            assert time.monotonic() - began < 3
            closing.join()


@pytest.mark.behaviour("C23")
@LIBRARIES
@WRAPPED
@pytest.mark.parametrize("then", ["waits", "says_nothing"])
async def test_closing_ends_the_wait_for_a_continuation_at_once(library, kind, then):
    """A wait that a provider asked for, or that for a continuation to begin."""
    slow = Refused(503, headers={"retry-after": "20"}) if then == "waits" else R("b", wait_s=3)
    with Replay() as replay:
        replay.say(R("The first half, ", MAX), slow)
        async with async_client_of(library, kind) as made:
            url = f"{replay.base_url}/chat/completions"
            async with made.stream("POST", url, json=ASKING | {"stream": True}) as response:

                async def close() -> None:
                    for _ in range(200):
                        if len(replay.requests) == 2:
                            break
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.1)
                    await response.aclose()

                closing = asyncio.create_task(close())
                with pytest.raises(library.ReadError, match="closed"):
                    await asyncio.wait_for(read_async(response.aiter_bytes(), nothing), 2)
                await closing
        assert len(replay.requests) == 2


async def nothing(_: int) -> None:
    """Read on."""


@pytest.mark.behaviour("C23")
@LIBRARIES
@WRAPPED
async def test_closing_ends_the_wait_behind_a_continuation_that_broke(library, kind):
    half = R("The first half, ", MAX).stream("m", include_usage=False)
    policy = tenuto.Policy(backoff_s=20.0, backoff_max_s=20.0)
    with FarSide(answer(half, "content-type: text/event-stream"), RESET) as far:
        async with async_client_of(library, kind, policy) as made:
            url = f"{far.base_url}/chat/completions"
            async with made.stream("POST", url, json=ASKING | {"stream": True}) as response:

                async def close() -> None:
                    await asyncio.sleep(0.5)
                    await response.aclose()

                closing = asyncio.create_task(close())
                with pytest.raises(library.ReadError, match="closed"):
                    await asyncio.wait_for(read_async(response.aiter_bytes(), nothing), 3)
                await closing
        assert len(far.requests) == 2


@pytest.mark.behaviour("C23")
async def test_closing_ends_a_wait_of_aiobotocore_at_once(sim: Simulator):
    async with async_client(given_to_a_client(sim.root_url, 0)) as bare:
        policy = tenuto.Policy(backoff_s=20.0, backoff_max_s=20.0)
        asked = CONVERSING | {"modelId": "sim/drop_mid_text"}
        stream = (await tenuto.wrap(bare, policy=policy).converse_stream(**asked))["stream"]

        async def close() -> None:
            await asyncio.sleep(0.5)
            stream.close()

        closing = asyncio.create_task(close())
        with pytest.raises(ResponseStreamingError, match="closed"):
            await asyncio.wait_for(read_async(stream, nothing), 5)
        await closing
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
