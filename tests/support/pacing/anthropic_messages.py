"""Reading streams of Anthropic Messages in lockstep (see `pacing`): the ways of its SDK.

A ping is seen by no program, so that its acknowledgement is given with that of the event before.
Each door yields the text of every event that its reader sees, "" for one without.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from support.pacing.openai_chat import Document, Door, answers_to

OPENING = (True, True, False)
"""The start of the message, that of the block, and a ping."""
CLOSING = (False, False, False)
"""The end of the block, the stop with the usage, and the end of the message are held."""


def ahead_of(texts: list[str]) -> list[int]:
    """The acknowledgements for a message of one text."""
    return answers_to([*OPENING, *(bool(text.strip()) for text in texts), *CLOSING])


_RAW = ("message_start", "content_block_start", "content_block_delta", "message_delta")


def _text(event: Any) -> str:
    return getattr(event.delta, "text", "") if event.type == "content_block_delta" else ""


def by_create(client: Any, **given: Any) -> Iterator[str]:
    yield from map(_text, client.messages.create(stream=True, **given))


def by_beta(client: Any, **given: Any) -> Iterator[str]:
    yield from map(_text, client.beta.messages.create(stream=True, **given))


def by_raw_response(client: Any, **given: Any) -> Iterator[str]:
    yield from map(_text, client.messages.with_raw_response.create(stream=True, **given).parse())


def by_streaming_response(client: Any, **given: Any) -> Iterator[str]:
    with client.messages.with_streaming_response.create(stream=True, **given) as response:
        yield from map(_text, response.parse())


def _helped(messages: Any, given: dict[str, Any]) -> Iterator[str]:
    with messages.stream(**given) as stream:
        yield from (_text(event) for event in stream if event.type in _RAW)
        text = stream.get_final_text()
        assert stream.get_final_message().content[0].text == text


def by_helper(client: Any, **given: Any) -> Iterator[str]:
    yield from _helped(client.messages, given)


def by_beta_helper(client: Any, **given: Any) -> Iterator[str]:
    yield from _helped(client.beta.messages, given)


def by_parsing_helper(client: Any, **given: Any) -> Iterator[str]:
    with client.messages.stream(output_format=Document, **given) as stream:
        yield from (_text(event) for event in stream if event.type in _RAW)
        assert isinstance(stream.get_final_message().parsed_output, Document)


def by_text_stream(client: Any, **given: Any) -> Iterator[str]:
    with client.messages.stream(**given) as stream:
        yield from ("", "")  # what opens the message has no text
        yield from stream.text_stream


async def by_create_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async for event in await client.messages.create(stream=True, **given):
        yield _text(event)


async def by_beta_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async for event in await client.beta.messages.create(stream=True, **given):
        yield _text(event)


async def by_raw_response_async(client: Any, **given: Any) -> AsyncIterator[str]:
    raw = await client.messages.with_raw_response.create(stream=True, **given)
    async for event in await raw.parse():
        yield _text(event)


async def by_streaming_response_async(client: Any, **given: Any) -> AsyncIterator[str]:
    made = client.messages.with_streaming_response
    async with made.create(stream=True, **given) as response:
        async for event in await response.parse():
            yield _text(event)


async def _helped_async(messages: Any, given: dict[str, Any]) -> AsyncIterator[str]:
    async with messages.stream(**given) as stream:
        async for event in stream:
            if event.type in _RAW:
                yield _text(event)
        text = await stream.get_final_text()
        assert (await stream.get_final_message()).content[0].text == text


async def by_helper_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async for text in _helped_async(client.messages, given):
        yield text


async def by_beta_helper_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async for text in _helped_async(client.beta.messages, given):
        yield text


async def by_parsing_helper_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async with client.messages.stream(output_format=Document, **given) as stream:
        async for event in stream:
            if event.type in _RAW:
                yield _text(event)
        assert isinstance((await stream.get_final_message()).parsed_output, Document)


async def by_text_stream_async(client: Any, **given: Any) -> AsyncIterator[str]:
    async with client.messages.stream(**given) as stream:
        for opening in ("", ""):
            yield opening
        async for text in stream.text_stream:
            yield text


DOORS: tuple[tuple[Door, Door], ...] = (
    (by_create, by_create_async),
    (by_beta, by_beta_async),
    (by_helper, by_helper_async),
    (by_beta_helper, by_beta_helper_async),
    (by_parsing_helper, by_parsing_helper_async),
    (by_text_stream, by_text_stream_async),
    (by_raw_response, by_raw_response_async),
    (by_streaming_response, by_streaming_response_async),
)
"""The ways of the SDK to read a stream, sync and async."""
