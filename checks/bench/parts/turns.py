"""Whole turns through the official SDKs, bare and wrapped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from parts.figures import Figure, awake, ratio, waited_ratio
from parts.recorded import CHUNKS
from parts.replay import replaying
from parts.sides import SIDES, Side

import tenuto

TARGET = 1.1
_BODIES = 40


def _stream(side: Side, client: Any) -> Callable[[], object]:
    def work() -> None:
        seen = sum(1 for _ in side.chunks(client))
        assert seen == side.seen, seen

    return work


def _async_stream(side: Side, client: Any, loop: asyncio.AbstractEventLoop) -> Callable[[], object]:
    async def turn() -> int:
        return len([None async for _ in side.chunks_async(client)])

    def work() -> None:
        assert loop.run_until_complete(turn()) == side.seen

    return work


def _bodies(side: Side, client: Any) -> Callable[[], object]:
    def work() -> None:
        for _ in range(_BODIES):
            assert side.body(client) in ("stop", "end_turn")

    return work


def _first_chunk_s(side: Side, client: Any) -> Callable[[], float]:
    def work() -> float:
        start_s = time.perf_counter()
        chunks = side.chunks(client)
        next(chunks)
        took_s = time.perf_counter() - start_s
        for _ in chunks:  # to its end, so that the connection is used again
            pass
        return took_s

    return work


def figures() -> Iterator[Figure]:
    """The cost of a turn with Tenuto, as a multiple of its cost without."""
    with replaying() as root:
        for side in SIDES:
            yield from _of(side, root)


def _of(side: Side, root: str) -> Iterator[Figure]:
    policy = tenuto.Policy()

    def both(path: str) -> tuple[Any, Any]:
        bare = side.client(f"{root}{path}")
        return bare, tenuto.wrap(bare, policy=policy)

    for name, path, alone in (
        ("in one burst", "/burst", False),
        ("an event at a time", "/paced", True),
    ):
        bare, wrapped = both(path)
        title = f"{side.name}: stream of {CHUNKS:,} chunks, {name}"
        with awake() if alone else nullcontext():
            yield ratio(title, _stream(side, bare), _stream(side, wrapped), CHUNKS, TARGET)
    bare, wrapped = both("")
    title = f"{side.name}: whole body"
    yield ratio(title, _bodies(side, bare), _bodies(side, wrapped), _BODIES, TARGET)
    bare, wrapped = both("/short")
    title = f"{side.name}: time to the first chunk of a stream"
    yield waited_ratio(title, _first_chunk_s(side, bare), _first_chunk_s(side, wrapped), TARGET)
    loop = asyncio.new_event_loop()
    try:
        bare = side.async_client(f"{root}/burst")
        wrapped = tenuto.wrap(bare, policy=policy)
        title = f"{side.name}: async stream of {CHUNKS:,} chunks, in one burst"
        works = (_async_stream(side, bare, loop), _async_stream(side, wrapped, loop))
        yield ratio(title, *works, CHUNKS, TARGET)
        loop.run_until_complete(bare.close())
    finally:
        loop.close()
