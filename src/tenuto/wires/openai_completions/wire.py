"""OpenAI's Completions, the one before Chat, and all who speak like it.

https://platform.openai.com/docs/api-reference/completions (read through openai-python 3.54,
2026-11-22: `openai/types/completion.py`, `completion_choice.py`). Chat Completions in all but two
things: a choice holds its `text` itself, and a request is a prompt. So it is read, and written, as
Chat is; the request's side stands in `request`.

A body and an event look alike. The model goes on at the end of the prompt by itself: a cut text is
continued exactly.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tenuto.core.parts import AnySignal, Message
from tenuto.wires.answer import Answer
from tenuto.wires.json import JsonObject, encode, encode_event
from tenuto.wires.members import object_in
from tenuto.wires.openai_chat import render as chat
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.openai_completions.request import parse_request
from tenuto.wires.stops import StopTable

STOPS: StopTable = {word: openai_chat.STOPS[word] for word in ("stop", "length", "content_filter")}
"""OpenAI's own values, in the order and spelling of the reference."""

KIND = "text_completion"
KINDS = (KIND, "text.completion", "completion.chunk")
"""OpenAI's word for what it is, and Together's two."""


# --- reading ----------------------------------------------------------------------------------


def _as_chat(value: Any) -> Any:
    """The same as Chat Completions says it."""
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list):
        return value
    return {**value, "choices": [_choice_as_chat(choice) for choice in choices]}


def _choice_as_chat(choice: object) -> object:
    """Some say the text as Chat does, or in both ways at once (Together). Of calls nobody knows."""
    if not isinstance(choice, dict):
        return choice
    ways = (choice.get("text"), *(object_in(choice.get(k)).get("content") for k in _AS_CHAT))
    return {**choice, "message": None, "delta": {"content": next(filter(None, ways), None)}}


_AS_CHAT = ("delta", "message")


def read(value: object, *, event: bool) -> list[AnySignal]:
    """The signals of a body, or of one event; an object of another shape has none."""
    return openai_chat.read(_as_chat(value), event=event)


def looks_like(value: JsonObject) -> bool:
    """Whether an object is a completion, or one of its events."""
    return value.get("object") in KINDS or isinstance(chat.first_choice(value).get("text"), str)


def is_event(value: JsonObject) -> bool:
    """Whether an object is an event: it says whether there is a stop, and counts no tokens. A body
    that counts none is read alike."""
    return "finish_reason" in chat.first_choice(value) and openai_chat.usage_object(value) is None


_other_path = re.compile(r"(?:/chat|/fim|/agents)/completions\Z").search
"""Where Chat is spoken, or Mistral's form of it."""


def is_request(path: str) -> bool:
    """Whether the path is the completions endpoint, below whatever base URL.

    >>> is_request("/v1/completions"), is_request("/v1/chat/completions")
    (True, False)
    """
    path = path.rstrip("/")
    return path.endswith("/completions") and not _other_path(path)


# --- writing ----------------------------------------------------------------------------------


class CompletionsLayout(chat.ChatLayout):
    """How one message is written as events: text is all that has a place."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._shared |= {"id": "cmpl-tenuto", "object": KIND}

    def _chunk(self, delta: JsonObject, finish: str | None = None) -> bytes:
        text = delta.get("content", "")
        if not text and finish is None:
            return b""
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
        return encode_event({**self._shared, "choices": [choice]})


def as_body(message: Message) -> JsonObject:
    """The completion that a message tells (`wires.base.Wire`).

    >>> message = Message()
    >>> event = {"id": "c", "choices": [{"text": "Hi", "finish_reason": "stop"}]}
    >>> _ = message.take(read(event, event=True))
    >>> as_body(message)
    {'id': 'c', 'choices': [{'text': 'Hi', 'finish_reason': 'stop'}]}
    """
    return chat.envelope(message) | {"choices": [message.said]}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """The bytes of a whole completion: the first attempt's identity, the last's choice."""
    choice = dict(chat.first_choice(last) or chat.first_choice(first))
    choice.pop("finish_details", None)
    choice |= {"index": 0, "text": answer.text, "finish_reason": answer.native_stop}
    body = {"object": KIND, **first, "choices": [choice]}
    body.pop("error", None)
    if answer.usage is not None:
        body["usage"] = chat.COUNTS.merged(answer.raw_usage, answer.usage)
    return encode(body)


WIRE = replace(
    openai_chat.WIRE,
    form=None,  # a prompt has no tools
    name="openai-completions",
    stops=STOPS,
    is_request=is_request,
    request=parse_request,
    looks_like=looks_like,
    is_event=is_event,
    read=read,
    layout=CompletionsLayout,
    as_body=as_body,
    render_body=render_body,
)
