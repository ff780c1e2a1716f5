"""InvokeModel in the shape of OpenAI's chat: gpt-oss, Qwen, DeepSeek, Mistral's chat, Jamba.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html and
…/model-parameters-mistral-chat-completion.html (read 2026-11-22). It differs from OpenAI's chat in
four ways. The path names the model and whether to stream. Mistral names its stop, and the pieces of
a stream, differently. The last event of a stream has Bedrock's metrics, and no end mark follows it.
Errors are those of Bedrock. The wire of the address is `bedrock_invoke`, which passes such requests
to this one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from tenuto.core.answer.parts import AnySignal, Envelope, Native
from tenuto.core.answer.signals import Usage
from tenuto.core.deciding.actions import Edit
from tenuto.wires.answer import Answer, error_body
from tenuto.wires.base import Wire, never
from tenuto.wires.bedrock_invoke.makers import METRICS, read
from tenuto.wires.bedrock_like import render as bedrock_render
from tenuto.wires.bedrock_like.errors import ERRORS, parse_fault
from tenuto.wires.bedrock_like.paths import path_model
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.chat_like import render
from tenuto.wires.chat_like.request import PLAIN, ChatRequest, request_of
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject, decode_object, encode, encode_event
from tenuto.wires.members import value_at
from tenuto.wires.request import WireRequest

_BEDROCKS = "amazon-bedrock-"
"""The beginning of the members that Bedrock adds to a model's answer."""

# --- the request --------------------------------------------------------------------------------

_OTHERS = frozenset({"anthropic_version", "schemaVersion", "inferenceConfig", "toolConfig"})
"""Members of Claude's and of Nova's requests, which have messages too. They matter if the path
doesn't show whose model it is, such as that of an inference profile."""

_OUTPUT_KEYS = ((re.compile(r"(?:\A|[./])openai\."), "max_completion_tokens"),)
"""The key of the output limit, by model; `max_tokens` for all others."""


class InvokeChatRequest(ChatRequest):
    """A chat request whose model is in the path (`wires.request.WireRequest`)."""

    @property
    def wire(self) -> Wire:
        """The wire to use for it."""
        return CHAT

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """Return the bytes of the request with these edits."""
        model = self.facts.model
        key = next((key for who, key in _OUTPUT_KEYS if who.search(model)), "max_tokens")
        return super().apply(edits, replace(dialect, output_key=key))


def is_chat(body: JsonObject) -> bool:
    """Return whether a request has the shape of OpenAI's chat.

    >>> is_chat({"messages": [{"role": "user", "content": "Hi"}]})
    True
    >>> is_chat({"messages": [{"role": "user", "content": [{"text": "Hi"}]}]})
    False
    """
    rows = body.get("messages")
    if not isinstance(rows, list) or not rows or not _OTHERS.isdisjoint(body):
        return False
    return all(isinstance(row, dict) and _is_content(row.get("content")) for row in rows)


def _is_content(content: object) -> bool:
    """Return whether a content is a text, or parts with types, which Nova's parts lack."""
    if not isinstance(content, list):
        return content is None or isinstance(content, str)
    return all(isinstance(part, dict) and "type" in part for part in content)


# --- the writing side ---------------------------------------------------------------------------


def _names(value: JsonObject) -> tuple[str, str]:
    """Return the names of the message and of the stop in the choice of a body or event.

    >>> _names({"choices": [{"message": {"content": "Hi"}, "stop_reason": None}]})
    ('message', 'stop_reason')
    """
    choice = value_at(value, ("choices", 0))
    if not isinstance(choice, dict) or "finish_reason" in choice or "stop_reason" not in choice:
        return "delta", "finish_reason"
    return "delta" if "delta" in choice else "message", "stop_reason"


_NO_METRICS = {
    "inputTokenCount": 0,
    "outputTokenCount": 0,
    "invocationLatency": 0,
    "firstByteLatency": 0,
}


class InvokeChatLayout(render.ChatLayout):
    """Writes a message as chunks, the last of which has the turn's usage."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._part, self._stop = _names({})
        self._metrics: JsonObject = {}

    def begin(self, value: JsonObject) -> None:
        """Take what all chunks of one message share, and the names of their members."""
        super().begin(value)
        kept = {k: v for k, v in self.shared.items() if not k.startswith(_BEDROCKS)}
        self.shared.clear()
        self.shared.update(kept)
        self._part, self._stop = _names(value)

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write the same as on OpenAI's chat, and keep metrics for the last chunk."""
        for signal in signals:
            if isinstance(signal, Envelope):
                self._note(signal.members)
        return super().passed(signals)

    def stopped(self, answer: Answer, include_usage: bool) -> bytes:
        """Write the stop with Bedrock's additions."""
        self._note(answer.ending)
        added = {k: v for k, v in answer.ending.items() if k.startswith(_BEDROCKS)}
        added |= self._costs(answer, include_usage)
        return self.chunk({}, answer.native_stop, **added)

    def _note(self, value: Native) -> None:
        metrics = value.get(METRICS)
        self._metrics = metrics if isinstance(metrics, dict) else self._metrics

    def _costs(self, answer: Answer, include_usage: bool) -> JsonObject:
        """Return Bedrock's metrics for the last chunk, and a usage if one was received."""
        raw, usage = answer.raw_usage or {}, answer.usage or Usage()
        counts = {"inputTokenCount": usage.input_tokens, "outputTokenCount": usage.output_tokens}
        known = {key: tokens for key, tokens in counts.items() if tokens is not None}
        costs: JsonObject = {METRICS: {**_NO_METRICS, **self._metrics, **known}}
        if (include_usage or raw) and raw.keys().isdisjoint(counts):
            costs["usage"] = render.COUNTS.merged(raw, usage)
        return costs

    def error(self, code: str, message: str) -> bytes:
        """Write an exception, on which botocore raises; nothing may follow."""
        return bedrock_render.exception(code, message)

    def chunk(self, delta: JsonObject, finish: str | None = None, **more: object) -> bytes:
        choice = {"index": 0, self._part: self._led(delta), self._stop: finish}
        return encode_event({**self.shared, "choices": [choice], **more})


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole completion, with the stop under the name that the first attempt used."""
    body = render.completion(first, last, answer)
    (choice,) = body["choices"]
    _, stop = _names(first)
    choice[stop] = choice.pop("finish_reason")
    if "object" not in first:  # with one, readers would take the body for OpenAI's
        body.pop("object", None)
    return encode(body)


# --- the wire -----------------------------------------------------------------------------------


def usage_object(value: JsonObject) -> JsonObject | None:
    """Return the model's own usage object, or Bedrock's metrics."""
    metrics = value.get(METRICS)
    return chat_like.usage_object(value) or (metrics if isinstance(metrics, dict) else None)


def request(body: bytes, probe_max_tokens: int, path: str, *_: object) -> WireRequest | None:
    """Return the request, or None if the bytes are no chat request."""
    value = decode_object(body)
    if not isinstance(value, dict) or not is_chat(value):
        return None
    asked = request_of(InvokeChatRequest, body, probe_max_tokens, PLAIN)
    if asked is not None:
        model, stream = path_model(path)
        asked.facts = msgspec.structs.replace(asked.facts, model=model, stream=stream)
    return asked


CHAT = replace(
    chat_like.CHAT,
    name="bedrock-invoke",
    errors=ERRORS,
    request=request,
    read=read,
    is_terminator=never,
    usage_object=usage_object,
    parse_fault=parse_fault,
    layout=InvokeChatLayout,
    render_body=render_body,
    render_error=error_body(bedrock_render.error_of_ours),
)
"""For requests that `bedrock_invoke` passes on."""
