"""The two wires whose whole turns are measured: how a client is made, asked, and read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
from parts import recorded, recorded_anthropic
from parts.recorded import MESSAGES

from tenuto.wires.anthropic_messages import wire as anthropic_messages
from tenuto.wires.base import Wire
from tenuto.wires.openai_chat import wire as openai_chat

_BARE: dict[str, Any] = {"api_key": "none", "max_retries": 0}


@dataclass(frozen=True, slots=True)
class Side:
    """One wire.

    Attributes:
        name: the short name that titles begin with.
        path: where its requests go.
        wire: Tenuto's reading of it.
        client, async_client: the official SDK for a root URL.
        stream: asks for a stream, as either client.
        body: asks for a whole body and returns its stop.
        data: the data of each event of the recorded stream; `seen` of these reach the caller.
        whole: the recorded body.
        events, said: the events of a stream, and the body, that say a text.
    """

    name: str
    path: str
    wire: Wire
    client: Callable[[str], Any]
    async_client: Callable[[str], Any]
    stream: Callable[[Any], Any]
    body: Callable[[Any], str | None]
    data: list[bytes]
    seen: int
    whole: bytes
    events: Callable[[list[str]], list[bytes]]
    said: Callable[[str], bytes]

    def chunks(self, client: Any) -> Iterator[Any]:
        """The chunks of a stream."""
        return iter(self.stream(client))

    async def chunks_async(self, client: Any) -> AsyncIterator[Any]:
        """The same for async callers."""
        async for chunk in await self.stream(client):
            yield chunk


def _chat_stream(client: Any) -> Any:
    options = {"include_usage": True}
    return client.chat.completions.create(
        model="gpt-4o", messages=MESSAGES, stream=True, stream_options=options
    )


def _chat_body(client: Any) -> Any:
    answer = client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
    return answer.choices[0].finish_reason


_ASK: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "system": MESSAGES[0]["content"],
    "messages": MESSAGES[1:],
}


def _messages_stream(client: Any) -> Any:
    return client.messages.create(**_ASK, stream=True)


def _messages_body(client: Any) -> Any:
    return client.messages.create(**_ASK).stop_reason


SIDES = (
    Side(
        name="openai",
        path="/v1/chat/completions",
        wire=openai_chat.WIRE,
        client=lambda root: openai.OpenAI(base_url=f"{root}/v1", **_BARE),
        async_client=lambda root: openai.AsyncOpenAI(base_url=f"{root}/v1", **_BARE),
        stream=_chat_stream,
        body=_chat_body,
        data=recorded.EVENT_DATA,
        seen=recorded.SEEN,
        whole=recorded.BODY,
        events=recorded.events,
        said=recorded.body,
    ),
    Side(
        name="anthropic",
        path="/v1/messages",
        wire=anthropic_messages.WIRE,
        client=lambda root: anthropic.Anthropic(base_url=root, **_BARE),
        async_client=lambda root: anthropic.AsyncAnthropic(base_url=root, **_BARE),
        stream=_messages_stream,
        body=_messages_body,
        data=recorded_anthropic.EVENT_DATA,
        seen=recorded_anthropic.SEEN,
        whole=recorded_anthropic.BODY,
        events=recorded_anthropic.events,
        said=recorded_anthropic.body,
    ),
)
