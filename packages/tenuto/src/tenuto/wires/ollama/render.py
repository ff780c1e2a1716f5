"""Write Ollama: what the caller sees when Tenuto writes something itself.

Shapes follow `ollama/_types.py` of ollama-python 0.6.3 and are checked against its types in the
tests. A message keeps the identity of its first attempt: model, time of creation.

Lines are written as server-sent events, which `frames.json_lines` converts to lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import AnySignal, Kind, Message, Piece
from tenuto.core.answer.signals import Usage
from tenuto.wires.answer import Answer
from tenuto.wires.calls import object_of
from tenuto.wires.errors import OURS
from tenuto.wires.json import JsonObject, encode, encode_event
from tenuto.wires.layout import FlatLayout

COUNTS = ("prompt_eval_count", "eval_count")

_SAID = frozenset({"message", "response", "thinking", "tool_calls", "image", "images", "error"})
"""Members that hold the model's content."""

_OF_LINES = _SAID - {"response"}
"""Members that differ between a body and its lines; `response` shows which request it answers."""

WORDS = frozenset({"role", "content", "thinking", "tool_calls"})
"""Members of a message that the layout writes. Others are passed on: images, and unknown ones."""

IMAGES = frozenset({"image", "images"})

OF_THE_END = frozenset(
    {"done", "done_reason", "context", "logprobs", "total_duration", "load_duration"}
    | {"prompt_eval_duration", "eval_duration", *COUNTS}
)
"""Members of the last line; the others belong to the whole message."""

_OF_ONE_ATTEMPT = frozenset({"context", "logprobs"})
"""Members that are true for one attempt, but not for a joined message."""


class LineLayout(FlatLayout):
    """Writes a message as lines (`wires.layout.FlatLayout`)."""

    def __init__(self, model: str) -> None:
        self._shared: JsonObject = {"model": model, "created_at": "1970-01-01T00:00:00Z"}
        self._prompted = False

    def begin(self, value: JsonObject) -> None:
        """Take what all lines of one message share from the first of them."""
        self._shared = {k: v for k, v in value.items() if k not in _SAID | OF_THE_END}
        self._prompted = is_prompted(value)

    def said(self, kind: Kind, text: str) -> bytes:
        """Write a line with text or reasoning."""
        if kind is Kind.TEXT:
            return self._line(self._told(text))
        return self._line(self._told("", {"thinking": text}))

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write reasoning and images."""
        kept: JsonObject = {}
        for signal in signals:
            match signal:
                case Piece((name,), Kind.REASONING, text):
                    kept[str(name)] = text
                case Piece(_, Kind.OTHER, _, adds) if adds:
                    kept |= adds
        return self._line(self._told("", kept)) if kept else b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the calls, and the last line. If the server sent none, and the answer is given as
        it ended (S3a), none is written: `done` would be an end mark."""
        calls = {"tool_calls": [call_of(call) for call in answer.calls]}
        told = self._line(self._told("", calls)) if answer.calls else b""
        if answer.native_stop is None and not answer.ending.get("done"):
            return told
        return told + encode_event({**self._shared, **self._told(""), **end_of(answer)})

    def error(self, code: str, message: str) -> bytes:
        """Write a line on which the official SDK raises `ResponseError`."""
        return encode_event(error_of_ours(code, message))

    def _told(self, text: str, more: Mapping[str, Any] | None = None) -> JsonObject:
        return told(text, more or {}, prompted=self._prompted)

    def _line(self, said: JsonObject) -> bytes:
        return encode_event({**self._shared, **said, "done": False})


def is_prompted(value: JsonObject) -> bool:
    """Return whether an object answers a prompt rather than messages."""
    return "response" in value and not isinstance(value.get("message"), dict)


def told(text: str, more: Mapping[str, Any], *, prompted: bool) -> JsonObject:
    """Return the model's content in the form of this API.

    >>> told("Hi", {}, prompted=False)
    {'message': {'role': 'assistant', 'content': 'Hi'}}
    """
    if prompted:
        return {"response": text, **more}
    return {"message": {"role": "assistant", "content": text, **more}}


def call_of(call: ToolCall) -> JsonObject:
    """Return a call as in a message, with the id that the provider gave, if any."""
    extra: Mapping[str, Any] = call.extra or {}
    named = {"id": call.id} if extra.get("named") else {}
    function = {**extra.get("function", {}), "name": call.name, "arguments": object_of(call)}
    return {**extra.get("call", {}), **named, "function": function}


def end_of(answer: Answer) -> JsonObject:
    """Return the members of the last line: those received, the stop, the counts of the whole
    turn."""
    joined = len(answer.spoken) > 1
    kept = {k: v for k, v in answer.ending.items() if k in OF_THE_END}
    kept = {k: v for k, v in kept.items() if not joined or k not in _OF_ONE_ATTEMPT}
    counts = merged_usage(answer.raw_usage or {}, answer.usage)
    return {**kept, "done": True, "done_reason": answer.native_stop, **counts}


def as_body(message: Message) -> JsonObject:
    """Return the body of a message (`Wire.as_body`): the first line's identity, the last line's
    end.

    >>> from tenuto.core.answer.parts import Envelope, Said
    >>> message = Message()
    >>> _ = message.take([Envelope({"model": "m", "response": "H"}), Said({"done": True})])
    >>> as_body(message)
    {'model': 'm', 'response': 'H', 'done': True}
    """
    told = message.envelope.items()
    return {k: v for k, v in told if k not in _OF_LINES | OF_THE_END} | message.said


def beside(messages: Iterable[Message]) -> JsonObject:
    """Return what answers hold beside their text, in its place. Lists are joined.

    >>> messages = [Message(), Message()]
    >>> for message, image in zip(messages, "ab", strict=True):
    ...     place = ("message", "images")
    ...     _ = message.take([Piece(place, Kind.OTHER, "", {"images": [image]}, holds="")])
    >>> beside(messages)
    {'message': {'images': ['a', 'b']}}
    """
    told: JsonObject = {}
    for part in chain.from_iterable(message.parts for message in messages):
        if part.kind in (Kind.OTHER, Kind.NOTE):
            in_message = part.place[0] == "message"
            _join(told.setdefault("message", {}) if in_message else told, part.whole())
    return told


def _join(told: JsonObject, more: JsonObject) -> None:
    for key, item in more.items():
        before = told.get(key)
        if isinstance(before, list) and isinstance(item, list):
            told[key] = [*before, *item]
        elif not before:
            told[key] = item


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole response: the first attempt's identity, the last one's end, the merged answer,
    and what was received beside it."""
    shared = {k: v for k, v in first.items() if k not in _SAID | OF_THE_END}
    more: JsonObject = {"thinking": answer.reasoning} if answer.reasoning else {}
    if answer.calls:
        more["tool_calls"] = [call_of(call) for call in answer.calls]
    said = told(answer.text, more, prompted=is_prompted(first))
    kept = beside(one.message for one in answer.spoken if one.message is not None)
    if message := kept.pop("message", None):
        said.setdefault("message", {}).update(message)
    return encode({**shared, **said, **kept, **end_of(answer)})


def merged_usage(raw: JsonObject, usage: Usage | None) -> JsonObject:
    """Return the counts of the whole turn (C19).

    >>> merged_usage({"prompt_eval_count": 5, "eval_count": 3}, Usage(5, 9))
    {'prompt_eval_count': 5, 'eval_count': 9}
    """
    usage = usage or Usage()
    counts = zip(COUNTS, (usage.input_tokens, usage.output_tokens), strict=True)
    return raw | {key: tokens for key, tokens in counts if tokens is not None}


def error_of_ours(code: str, message: str) -> JsonObject:
    """Return an error in the server's shape."""
    return {"error": message, "type": OURS, "code": code}
