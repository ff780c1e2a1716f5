"""Whole turns through the official SDK, bare and wrapped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import openai
from parts.figures import Figure, ratio
from parts.recorded import CHUNKS, EVENT_DATA, MESSAGES
from parts.replay import replaying

import tenuto

STREAM_TARGET = 1.2
BODY_TARGET = 1.15
_BODIES = 40


def _client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="none", max_retries=0)


def _stream(client: openai.OpenAI) -> Callable[[], object]:
    def work() -> None:
        chunks = client.chat.completions.create(
            model="gpt-4o", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )  # type: ignore[call-overload]
        seen = sum(1 for _ in chunks)
        assert seen == len(EVENT_DATA) - 1, seen

    return work


def _async_stream(
    client: openai.AsyncOpenAI, loop: asyncio.AbstractEventLoop
) -> Callable[[], object]:
    async def turn() -> int:
        chunks = await client.chat.completions.create(
            model="gpt-4o", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )  # type: ignore[call-overload]
        return len([None async for _ in chunks])

    def work() -> None:
        assert loop.run_until_complete(turn()) == len(EVENT_DATA) - 1

    return work


def _bodies(client: openai.OpenAI) -> Callable[[], object]:
    def work() -> None:
        for _ in range(_BODIES):
            answer = client.chat.completions.create(model="gpt-4o", messages=MESSAGES)  # type: ignore[arg-type]
            assert answer.choices[0].finish_reason == "stop"

    return work


def figures() -> Iterator[Figure]:
    """The cost of a turn with Tenuto, as a multiple of its cost without."""
    policy = tenuto.Policy()
    with replaying() as root:
        for name, path in (("in one burst", "burst"), ("an event at a time", "paced")):
            bare = _client(f"{root}/{path}/v1")
            wrapped = tenuto.wrap(bare, policy=policy)
            title = f"stream of {CHUNKS:,} chunks, {name}"
            yield ratio(title, _stream(bare), _stream(wrapped), CHUNKS, STREAM_TARGET)
        bare = _client(f"{root}/v1")
        wrapped = tenuto.wrap(bare, policy=policy)
        yield ratio("whole body", _bodies(bare), _bodies(wrapped), _BODIES, BODY_TARGET)
        loop = asyncio.new_event_loop()
        try:
            bare_async = openai.AsyncOpenAI(
                base_url=f"{root}/burst/v1", api_key="none", max_retries=0
            )
            yield ratio(
                f"async stream of {CHUNKS:,} chunks, in one burst",
                _async_stream(bare_async, loop),
                _async_stream(tenuto.wrap(bare_async, policy=policy), loop),
                CHUNKS,
                STREAM_TARGET,
            )
            loop.run_until_complete(bare_async.close())
        finally:
            loop.close()
