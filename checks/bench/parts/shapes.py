"""What each wire's stream and body are like, for what is measured without an SDK."""

from __future__ import annotations

from dataclasses import dataclass

from parts import (
    recorded,
    recorded_anthropic,
    recorded_bedrock,
    recorded_gemini,
    recorded_responses,
)

from tenuto.wires.anthropic_messages import wire as anthropic_messages
from tenuto.wires.base import Wire
from tenuto.wires.bedrock_converse import wire as bedrock_converse
from tenuto.wires.bedrock_invoke import wire as bedrock_invoke
from tenuto.wires.gemini_generate import wire as gemini_generate
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.openai_responses import wire as openai_responses


@dataclass(frozen=True, slots=True)
class Shape:
    """One wire.

    Attributes:
        name: the short name that titles begin with.
        wire: Tenuto's reading of it.
        events: a stream of a thousand texts, event by event, as it is sent.
        data: the data of each event.
        whole: a body.
    """

    name: str
    wire: Wire
    events: list[bytes]
    data: list[bytes]
    whole: bytes


SHAPES = (
    Shape("openai", openai_chat.WIRE, recorded.EVENTS, recorded.EVENT_DATA, recorded.BODY),
    Shape(
        "anthropic",
        anthropic_messages.WIRE,
        recorded_anthropic.EVENTS,
        recorded_anthropic.EVENT_DATA,
        recorded_anthropic.BODY,
    ),
    Shape(
        "openai-responses",
        openai_responses.WIRE,
        recorded_responses.EVENTS,
        recorded_responses.EVENT_DATA,
        recorded_responses.BODY,
    ),
    Shape(
        "gemini-generate",
        gemini_generate.WIRE,
        recorded_gemini.EVENTS,
        recorded_gemini.EVENT_DATA,
        recorded_gemini.BODY,
    ),
    Shape(
        "bedrock-converse",
        bedrock_converse.WIRE,
        recorded_bedrock.CONVERSE_EVENTS,
        recorded_bedrock.CONVERSE_DATA,
        recorded_bedrock.CONVERSE_BODY,
    ),
    Shape(
        "bedrock-invoke",
        bedrock_invoke.WIRE,
        recorded_bedrock.INVOKE_EVENTS,
        recorded_bedrock.INVOKE_DATA,
        recorded_bedrock.INVOKE_BODY,
    ),
)
