"""A text and calls as the events and as the body of each wire, and its framing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from support.events import (
    anthropic_messages,
    bedrock_converse,
    cohere,
    framing,
    gemini_generate,
    gemini_interactions,
    ollama,
    openai_chat,
    openai_responses,
)
from support.events.framing import Event

SSE, LINES = "text/event-stream", "application/x-ndjson"
AWS = "application/vnd.amazon.eventstream"


class Wire(NamedTuple):
    """What makes a stream's events, what makes a body, and how events become bytes."""

    events: Callable[..., list[Event]]
    body: Callable[..., Event]
    framed: Callable[[list[Event]], list[bytes]] = framing.sse
    content_type: str = SSE


def _of(module: Any) -> Wire:
    return Wire(module.events, module.body)


WIRES = {
    "anthropic-messages": _of(anthropic_messages),
    "bedrock-converse": Wire(bedrock_converse.events, bedrock_converse.body, framing.messages, AWS),
    "bedrock-invoke": Wire(openai_chat.events, openai_chat.body, framing.chunks, AWS),
    "cohere": _of(cohere),
    "cohere-v1": Wire(cohere.v1_events, cohere.v1_body, framing.lines, LINES),
    "gemini-generate": _of(gemini_generate),
    "gemini-interactions": _of(gemini_interactions),
    "mistral": Wire(openai_chat.mistral_events, openai_chat.mistral_body),
    "ollama": Wire(ollama.events, ollama.body, framing.lines, LINES),
    "openai-chat": _of(openai_chat),
    "openai-responses": _of(openai_responses),
}
