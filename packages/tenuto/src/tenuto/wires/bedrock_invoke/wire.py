"""Amazon Bedrock InvokeModel: one address for the bodies of all makers.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html (read 2026-11-22).
Claude's messages belong to `anthropic_messages`, which serves their address too. Nova's have the
form of `bedrock_converse`, and are finished here. Bodies in the shape of OpenAI's chat belong to
`chat`. The others are read but not finished: prompts follow a template that only the caller knows,
and Cohere's Command R keeps its history in a shape of its own. The makers' answers are read in
`makers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tenuto.wires.anthropic_messages import wire as anthropic_messages
from tenuto.wires.bedrock_converse import wire as bedrock_converse
from tenuto.wires.bedrock_invoke.chat import CHAT
from tenuto.wires.bedrock_invoke.form import FORM, NOVA
from tenuto.wires.bedrock_invoke.makers import (
    METRICS,
    PLACES,
    SHAPED_BY,
    STOPS,
    read,
    unpacked,
)
from tenuto.wires.bedrock_like.errors import ERRORS
from tenuto.wires.bedrock_like.guardrail import GUARDRAIL
from tenuto.wires.bedrock_like.paths import asked_at, path_model
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.members import value_at
from tenuto.wires.request import WireRequest
from tenuto.wires.watched import Watched


def request(body: bytes, probe_max_tokens: int, path: str, dialect: Dialect) -> WireRequest | None:
    """Return Nova's request, a request in the shape of OpenAI's chat, which another wire handles,
    or one that is only observed; None: the bytes are no object."""
    model, stream = path_model(path)
    value = decode_object(body)
    if not isinstance(value, dict):
        return None
    if NOVA.search(model) and isinstance(value.get("messages"), list):
        return bedrock_converse.WIRE.request(body, probe_max_tokens, path, dialect)
    chat = CHAT.request(body, probe_max_tokens, path, dialect)
    return chat or Watched(body, model, stream)


is_request: Callable[[str], bool] = asked_at(
    "/model/(?!.*(?:anthropic|claude)).+/invoke(?:-with-response-stream)?"
)
"""Whether the path is that of a model other than Claude."""


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is an answer of a maker without a wire of its own."""
    if METRICS in value or GUARDRAIL in value or unpacked(value) is not value:
        return True
    # OpenAI's own shapes name themselves. Cohere's own API adds a `meta` to Bedrock's shape.
    if isinstance(value.get("object"), str) or "meta" in value:
        return False
    if not SHAPED_BY.isdisjoint(value) and any(place.fits(value) for place in PLACES):
        return True
    choice = value_at(value, ("choices", 0))  # Mistral's chat, whose stop OpenAI's readers miss
    return isinstance(choice, dict) and "stop_reason" in choice and "finish_reason" not in choice


def signed(value: JsonObject) -> bool:
    """Return whether an object in the shape of another wire comes from InvokeModel: Claude's ids
    show it, and Converse's answers have metrics, which Nova's own answers lack.

    >>> nova = {"output": {"message": {"content": []}}}
    >>> signed({"id": "msg_bdrk_01", "type": "message"}), signed(nova)
    (True, True)
    """
    message = value.get("message") if value.get("type") == "message_start" else value
    if isinstance(message, dict) and message.get("type") == "message":
        return str(message.get("id")).startswith("msg_bdrk_")
    message = value_at(value, ("output", "message"))
    return bedrock_converse.is_message(message) and "metrics" not in value


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event. Some makers' bodies and events look alike, except that
    the last event has the metrics."""
    if unpacked(value) is not value:
        return True
    if anthropic_messages.looks_like(value):
        return anthropic_messages.is_event(value)
    if chat_like.looks_like(value):
        return chat_like.is_event(value)
    if "event_type" in value or "is_finished" in value:
        return True
    return bedrock_converse.is_event(value) or METRICS in value


WIRE = replace(
    bedrock_converse.WIRE,
    name="bedrock-invoke",
    stops=STOPS,
    errors=ERRORS,
    is_request=is_request,
    request=request,
    looks_like=looks_like,
    signed=signed,
    frame_mark=b":event-type\x07\x00\x05chunk",
    is_event=is_event,
    last_is_body=True,
    read=read,
    form=FORM,
)
