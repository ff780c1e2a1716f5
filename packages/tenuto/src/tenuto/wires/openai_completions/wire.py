"""OpenAI's Completions, the predecessor of Chat, and every API in this format.

https://platform.openai.com/docs/api-reference/completions (read through openai-python 3.54,
2026-11-22: `openai/types/completion.py`, `completion_choice.py`). They differ from Chat Completions
in two ways: a choice holds its `text` itself, and a request has a prompt. So they are read and
written like Chat. Requests are in `request`.

A body and an event look alike. The model continues at the end of the prompt by itself, so a cut
text is continued exactly.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tenuto.core.answer.parts import AnySignal, Message
from tenuto.wires.answer import Answer
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.chat_like import render as chat
from tenuto.wires.json import JsonObject, encode, encode_event
from tenuto.wires.members import object_in
from tenuto.wires.openai_completions.request import CompletionRequest, parse_request
from tenuto.wires.request_edits import key_at
from tenuto.wires.stops import StopTable

STOPS: StopTable = {word: chat_like.STOPS[word] for word in ("stop", "length", "content_filter")}
"""OpenAI's own values, in the order and spelling of the reference."""

KIND = "text_completion"
KINDS = (KIND, "text.completion", "completion.chunk")
"""The `object` of OpenAI's answers, and the two of Together's."""


# --- reading ----------------------------------------------------------------------------------


def _as_chat(value: Any) -> Any:
    """Return the same in the form of Chat Completions."""
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list):
        return value
    return {**value, "choices": [_choice_as_chat(choice) for choice in choices]}


def _choice_as_chat(choice: object) -> object:
    """Return a choice in Chat's form. Some send the text in that form too (Together). No calls are
    known."""
    if not isinstance(choice, dict):
        return choice
    ways = (choice.get("text"), *(object_in(choice.get(k)).get("content") for k in _AS_CHAT))
    return {**choice, "message": None, "delta": {"content": next(filter(None, ways), None)}}


_AS_CHAT = ("delta", "message")


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    return chat_like.read(_as_chat(value), event=event)


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a completion, or one of its events."""
    if value.get("object") in KINDS:
        return True
    choice = chat.first_choice(value)  # those of a questionnaire have a text too
    told = "finish_reason" in choice or "usage" in value or "model" in value
    return told and isinstance(choice.get("text"), str)


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event: it has a stop member, and counts no tokens. A body
    without a count is read the same way."""
    return "finish_reason" in chat.first_choice(value) and chat_like.usage_object(value) is None


_other_path = re.compile(r"(?:/chat|/fim|/agents)/completions\Z").search
"""The paths of Chat, and of Mistral's form of it."""


def is_request(path: str) -> bool:
    """Return whether the path is the completions endpoint, below any base URL.

    >>> is_request("/v1/completions"), is_request("/v1/chat/completions")
    (True, False)
    """
    path = path.rstrip("/")
    return path.endswith("/completions") and not _other_path(path)


# --- writing ----------------------------------------------------------------------------------


class CompletionsLayout(chat.ChatLayout):
    """Writes a message as events, which have a place only for text."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.shared.update({"id": "cmpl-tenuto", "object": KIND})

    def chunk(self, delta: JsonObject, finish: str | None = None, **beside: object) -> bytes:
        text = delta.get("content", "")
        if not text and finish is None:
            return b""
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
        return encode_event({**self.shared, "choices": [choice], **beside})


def as_body(message: Message) -> JsonObject:
    """Return the completion of a message (`Wire.as_body`).

    >>> message = Message()
    >>> event = {"id": "c", "choices": [{"text": "Hi", "finish_reason": "stop"}]}
    >>> _ = message.take(read(event, event=True))
    >>> as_body(message)
    {'id': 'c', 'choices': [{'text': 'Hi', 'finish_reason': 'stop'}]}
    """
    return chat.envelope(message) | {"choices": [message.said]}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole completion: the first attempt's identity, the last choice."""
    choice = dict(chat.first_choice(last) or chat.first_choice(first))
    choice.pop("finish_details", None)
    choice |= {"index": 0, "text": answer.text, "finish_reason": answer.native_stop}
    body = {"object": KIND, **first, "choices": [choice]}
    body.pop("error", None)
    if answer.usage is not None:
        body["usage"] = chat.COUNTS.merged(answer.raw_usage, answer.usage)
    return encode(body)


WIRE = replace(
    chat_like.CHAT,
    form=None,  # a prompt has no tools
    name="openai-completions",
    stops=STOPS,
    is_request=is_request,
    request=parse_request,
    limit_key=lambda _: key_at(CompletionRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=is_event,
    last_is_body=True,
    read=read,
    layout=CompletionsLayout,
    as_body=as_body,
    render_body=render_body,
)
