"""Reading streams in lockstep: the simulator sends an event when the one before it was seen.

A relay that held an event back for no reason would wait for ever, and the simulator would give up
(`sim.stalled`). Events that must be held (white space alone, everything from the stop on) would
stall as well: their acknowledgements are given ahead, together with that of the event before them,
and `ahead_of` says how many these are.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pydantic

from tenuto_sim import Simulator


class Document(pydantic.BaseModel):
    """What structured answers are to hold."""

    title: str
    text: str


def pieces(text: str, size: int) -> list[str]:
    """The text as the simulator cuts it into events."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def answers_to(seen: Sequence[bool]) -> list[int]:
    """For each event that is seen as it comes, how many acknowledgements it is answered with: so
    many that the next one that is seen comes, and behind the last one all that are left.

    >>> answers_to([True, True, False, True, False, False])
    [1, 2, 2]
    """
    places = [place for place, is_seen in enumerate(seen) if is_seen]
    return [after - before for before, after in pairwise([*places, len(seen) - 1])]


def ahead_of(texts: list[str], closing: int) -> list[int]:
    """The same for a stream of texts, with the role first. Texts of white space alone are held, and
    so are the `closing` events behind them: the stop, the usage where it was asked for, the
    terminator.

    >>> ahead_of(["a", "\\n", "b"], 2)
    [1, 2, 2]
    """
    return answers_to([True, *(bool(text.strip()) for text in texts), *[False] * closing])


class Pacer:
    """Acknowledges what arrives, as `answers` says."""

    def __init__(self, sim: Simulator, answers: list[int]) -> None:
        self._sim = sim
        self._answers = iter(answers)

    def arrived(self) -> None:
        for _ in range(next(self._answers, 0)):
            self._sim.acknowledge()


# Each door yields the text of every event, "" for one without.


def _chunk_text(chunk: Any) -> str:
    return (chunk.choices[0].delta.content or "") if chunk.choices else ""


def by_create(client: Any, **given: Any) -> Iterator[str]:
    for chunk in client.chat.completions.create(stream=True, **given):
        yield _chunk_text(chunk)


def by_helper(client: Any, **given: Any) -> Iterator[str]:
    with client.chat.completions.stream(**given) as stream:
        for event in stream:
            if event.type == "chunk":
                yield _chunk_text(event.chunk)


def by_parsing_helper(client: Any, **given: Any) -> Iterator[str]:
    with client.chat.completions.stream(response_format=Document, **given) as stream:
        for event in stream:
            if event.type == "chunk":
                yield _chunk_text(event.chunk)
        final = stream.get_final_completion()
        assert isinstance(final.choices[0].message.parsed, Document)


def by_raw_response(client: Any, **given: Any) -> Iterator[str]:
    raw = client.chat.completions.with_raw_response.create(stream=True, **given)
    for chunk in raw.parse():
        yield _chunk_text(chunk)


def by_streaming_response(client: Any, **given: Any) -> Iterator[str]:
    made = client.chat.completions.with_streaming_response
    with made.create(stream=True, **given) as response:
        for chunk in response.parse():
            yield _chunk_text(chunk)


async def by_create_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async for chunk in await client.chat.completions.create(stream=True, **given):
        yield _chunk_text(chunk)


async def by_helper_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async with client.chat.completions.stream(**given) as stream:
        async for event in stream:
            if event.type == "chunk":
                yield _chunk_text(event.chunk)


async def by_parsing_helper_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async with client.chat.completions.stream(response_format=Document, **given) as stream:
        async for event in stream:
            if event.type == "chunk":
                yield _chunk_text(event.chunk)
        final = await stream.get_final_completion()
        assert isinstance(final.choices[0].message.parsed, Document)


async def by_raw_response_async(client: Any, **given: Any) -> AsyncIterator[str]:
    raw = await client.chat.completions.with_raw_response.create(stream=True, **given)
    async for chunk in raw.parse():
        yield _chunk_text(chunk)


async def by_streaming_response_async(client: Any, **given: Any) -> AsyncIterator[str]:
    made = client.chat.completions.with_streaming_response
    async with made.create(stream=True, **given) as response:
        async for chunk in await response.parse():
            yield _chunk_text(chunk)


Door = Callable[..., Any]

DOORS: tuple[tuple[Door, Door], ...] = (
    (by_create, by_create_async),
    (by_helper, by_helper_async),
    (by_parsing_helper, by_parsing_helper_async),
    (by_raw_response, by_raw_response_async),
    (by_streaming_response, by_streaming_response_async),
)
"""The ways of the SDK to read a stream, sync and async."""
