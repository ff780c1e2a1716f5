"""Write OpenAI Chat: what the caller sees when Tenuto writes something itself.

Shapes follow `openai/types/chat` of openai-python 3.54 and are checked against its types in the
tests. A message keeps the identity of its first attempt: id, created, model.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import AnySignal, Kind, Message, Piece, Said
from tenuto.wires.answer import Answer, WriteError, error_body
from tenuto.wires.chat_like.citations import annotations_of, joined_annotations
from tenuto.wires.citations import is_one
from tenuto.wires.errors import openai_error
from tenuto.wires.json import JsonObject, encode, encode_event
from tenuto.wires.layout import FlatLayout
from tenuto.wires.members import object_in
from tenuto.wires.usage import Counts

DONE = b"data: [DONE]\n\n"
"""The end mark of a stream."""

LEGACY_CALL_ID = "function_call"
"""Stands for the id of a deprecated `function_call`, which has none."""

_OF_CHUNKS = frozenset({"object", "choices", "usage", "error"})
"""Members that differ between a chunk and a body."""

_NOT_SHARED = frozenset({"choices", "usage", "error", "x_groq", "timings", "moderation"})


_MERGED = frozenset(
    {
        *("role", "content", "refusal", "annotations", "tool_calls", "function_call", "audio"),
        *("reasoning", "reasoning_content"),
    }
)
"""Members of a message that are merged in ways of their own."""

COUNTS = Counts(
    input="prompt_tokens",
    output="completion_tokens",
    total="total_tokens",
    reasoning="reasoning_tokens",
    details="completion_tokens_details",
    # After the details: DeepSeek, Kimi, Mistral.
    cached=(
        "prompt_tokens_details.cached_tokens",
        "prompt_cache_hit_tokens",
        "cached_tokens",
        "num_cached_tokens",
    ),
)


def clean_stop(calls: Sequence[ToolCall]) -> str:
    """Return the value of a clean end with these calls, often none."""
    if any(call.id == LEGACY_CALL_ID for call in calls):
        return "function_call"
    return "tool_calls" if calls else "stop"


class ChatLayout(FlatLayout):
    """Writes a message as chunks (`wires.layout.FlatLayout`)."""

    def __init__(self, model: str) -> None:
        # The minimum that the official SDK's chunk type requires.
        kind = "chat.completion.chunk"
        self.shared: JsonObject = {"id": "chatcmpl-tenuto", "object": kind, "created": 0}
        self.shared["model"] = model
        self.cited: list[Any] = []  # annotations that were passed on
        self.begun: bool = False  # whether the caller has a chunk of the message, with its role

    def begin(self, value: JsonObject) -> None:
        """Take what all chunks of one message share from the first of them."""
        self.shared = {key: item for key, item in value.items() if key not in _NOT_SHARED}
        if self.shared.get("object") == "chat.completion":  # a body that is written as events
            self.shared["object"] = "chat.completion.chunk"

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text, or reasoning in the field that most dialects use."""
        return self.chunk({"content" if kind is Kind.TEXT else "reasoning_content": text})

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Note annotations, which are not repeated at the end, and whether the message began."""
        for signal in signals:
            match signal:
                case Said():
                    self.begun = True
                case Piece(_, _, None, {"annotations": [*annotations]}):
                    self.cited += annotations

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write reasoning in any field, a refusal, images, audio. Annotations wait for the end,
        when the whole text is known."""
        other: JsonObject = {}
        for signal in signals:
            match signal:
                case Piece((str(name),), _, str(text)) if text and name != "content":
                    other[name] = text
                case Piece((str(name),), _, _, adds) if adds and name != "content":
                    other |= {key: item for key, item in adds.items() if item}
        return self.chunk(other) if other else b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the annotations and calls, and the end of the message."""
        calls = [self.chunk(call_delta(n, call)) for n, call in enumerate(answer.calls)]
        return self._cited(answer) + b"".join(calls) + self.stopped(answer, include_usage)

    def error(self, code: str, message: str) -> bytes:
        """Write a chunk on which the official SDK raises `APIError`, and the end mark."""
        return encode_event({"error": openai_error(code, message)}) + DONE

    def stopped(self, answer: Answer, include_usage: bool) -> bytes:
        """Write the stop, the usage if the request asks for it, and `[DONE]`."""
        beside = usage_beside_stop(answer)
        out = self.chunk({}, answer.native_stop, **beside)
        if include_usage and answer.usage is not None and "usage" not in beside:
            usage = COUNTS.merged(answer.raw_usage, answer.usage)
            out += encode_event({**self.shared, "choices": [], "usage": usage})
        return out + DONE

    def _cited(self, answer: Answer) -> bytes:
        """Write the annotations that were not passed on with the first attempt."""
        told = joined_annotations(answer.spoken, self.cited)
        return self.chunk({"annotations": told}) if told else b""

    def chunk(self, delta: JsonObject, finish: str | None = None, **beside: object) -> bytes:
        choice = {"index": 0, "delta": self._led(delta), "finish_reason": finish}
        return encode_event({**self.shared, "choices": [choice], **beside})

    def _led(self, delta: JsonObject) -> JsonObject:
        """Return a delta, with the role in the first one: the SDK's message has the role of its
        deltas, and a request with a message without one is refused."""
        begun, self.begun = self.begun, True
        return delta if begun else {"role": "assistant", **delta}


def usage_beside_stop(answer: Answer) -> JsonObject:
    """Return the usage as a member of the chunk with the stop, if the provider told it there: its
    SDK, and programs that expect a choice in every chunk, look for it nowhere else. Groq's streams
    have it in `x_groq`."""
    usage = COUNTS.merged(answer.raw_usage, answer.usage)
    if answer.usage is None or not usage:
        return {}
    made: JsonObject = {"usage": usage} if answer.ending.get("usage") else {}
    groq = object_in(answer.ending.get("x_groq"))
    if groq.get("usage"):
        kept = {key: item for key, item in groq.items() if key != "error"}
        made["x_groq"] = kept | {"usage": usage}
    return made


def call_delta(number: int, call: ToolCall) -> JsonObject:
    """Return the delta of a chunk with a whole call."""
    if call.id == LEGACY_CALL_ID:
        return {"function_call": legacy_call_of(call)}
    return {"tool_calls": [{"index": number, **call_of(call)}]}


def legacy_call_of(call: ToolCall) -> JsonObject:
    """Return a call in the deprecated form, for callers that use it."""
    return {"name": call.name, "arguments": call.arguments}


def call_of(call: ToolCall) -> JsonObject:
    """Return a call, or a custom one, as in a message."""
    extra = dict(call.extra or {})
    inside = object_in(extra.pop("function", None))
    if call.free:
        custom = {**inside, "name": call.name, "input": call.arguments}
        return {**extra, "id": call.id, "type": "custom", "custom": custom}
    function = {**inside, **legacy_call_of(call)}
    return {**extra, "id": call.id, "type": "function", "function": function}


def as_body(message: Message) -> JsonObject:
    """Return the completion of a message (`Wire.as_body`).

    >>> from tenuto.core.answer.parts import Envelope, Kind, Piece, Said
    >>> message = Message()
    >>> said = Piece(("refusal",), Kind.REFUSAL, "I can't.", holds="refusal")
    >>> _ = message.take([Envelope({"id": "c"}), Said({"finish_reason": "stop"}), said])
    >>> as_body(message)
    {'id': 'c', 'choices': [{'finish_reason': 'stop', 'message': {'refusal': "I can't."}}]}
    """
    return envelope(message) | {"choices": [choice_of(message)]}


def envelope(message: Message, others: Container[str] = _OF_CHUNKS) -> JsonObject:
    """Return the members that identify the answer: all except the `others`."""
    return {key: item for key, item in message.envelope.items() if key not in others}


def choice_of(message: Message) -> JsonObject:
    """Return the choice of a message's completion."""
    told: JsonObject = {}
    for part in message.parts:
        told |= part.whole()
    told.pop("content", None)
    return message.said | {"message": told}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole completion as bytes."""
    return encode(completion(first, last, answer))


def completion(first: JsonObject, last: JsonObject, answer: Answer) -> JsonObject:
    """Return a whole completion: the first attempt's identity, the last choice, the merged
    answer."""
    choice = dict(first_choice(last) or first_choice(first))
    given = choice.get("message")
    message: JsonObject = {"role": "assistant", **object_in(given), **_beside_text(answer)}
    message["content"] = answer.text or None
    reasoning_key = "reasoning" if "reasoning" in message else "reasoning_content"
    _set_or_drop(message, reasoning_key, answer.reasoning)
    if any(map(annotations_of, answer.spoken)) and not is_one(answer.spoken):
        message["annotations"] = joined_annotations(answer.spoken)
    _set_or_drop(
        message, "tool_calls", [call_of(c) for c in answer.calls if c.id != LEGACY_CALL_ID]
    )
    legacy = next((c for c in answer.calls if c.id == LEGACY_CALL_ID), None)
    _set_or_drop(message, "function_call", legacy_call_of(legacy) if legacy else None)
    for key in ("native_finish_reason", "finish_details"):
        choice.pop(key, None)
    choice.update(index=0, message=message, finish_reason=answer.native_stop)
    body = {"object": "chat.completion", **first, "choices": [choice]}
    body.pop("error", None)
    if answer.usage is not None:
        body["usage"] = COUNTS.merged(answer.raw_usage, answer.usage)
    return body


def _beside_text(answer: Answer) -> JsonObject:
    """Return the members of all attempts' messages beside what is merged in its own way. Lists are
    joined, such as OpenRouter's images and Groq's executed tools."""
    told: JsonObject = {}
    for one in answer.spoken:
        message = object_in(first_choice(one.value or {}).get("message"))
        for key, item in message.items():
            before = told.get(key)
            if isinstance(before, list) and isinstance(item, list):
                told[key] = [*before, *item]
            elif key not in _MERGED and (item or not before):
                told[key] = item
    return told


def first_choice(value: JsonObject) -> JsonObject:
    """Return the first choice of a body or a chunk; {}: it has none."""
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _set_or_drop(target: JsonObject, key: str, value: object) -> None:
    if value:
        target[key] = value
    else:
        target.pop(key, None)


render_error: WriteError = error_body(openai_error, within="error")
"""Writes the body of an error."""
