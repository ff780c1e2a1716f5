"""The writing side of Ollama: what the caller sees where Tenuto had to write something.

Shapes follow `ollama/_types.py` of ollama-python 0.6.3 and are checked against its types in the
tests. A message keeps the identity of its first attempt: model, time of creation.

Lines are written as server-sent events, which `frames.json_lines` makes lines of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from tenuto.core.calls import ToolCall
from tenuto.core.signals import Usage
from tenuto.wires.base import Answer, JsonObject, kept_of
from tenuto.wires.errors import OURS
from tenuto.wires.json import encode, encode_event
from tenuto.wires.members import object_in

COUNTS = ("prompt_eval_count", "eval_count")

_SAID = frozenset({"message", "response", "thinking", "tool_calls", "image", "images", "error"})
"""Members that hold what the model said."""

_TOLD_ANEW = _SAID - {"response"}
"""What a body says once for all lines; `response` tells what was asked."""

_WORDS = frozenset({"role", "content", "thinking", "tool_calls"})
"""What a message says; the rest is shown beside it: images, and what nobody knows yet."""

_IMAGES = frozenset({"image", "images"})

_OF_THE_END = frozenset(
    {"done", "done_reason", "context", "logprobs", "total_duration", "load_duration"}
    | {"prompt_eval_duration", "eval_duration", *COUNTS}
)
"""Members of what is done; the others are those of the whole message."""

_OF_ONE_ATTEMPT = frozenset({"context", "logprobs"})
"""What is true of one attempt and of no message that several are joined to."""


def clean_stop(calls: Sequence[ToolCall]) -> str:
    """The value of a clean end: the same with calls and without."""
    return "stop"


class LineWriter:
    """One message as lines (`wires.base.Writer`): each stands for itself."""

    follows_text = False

    def __init__(self, model: str) -> None:
        self._shared: JsonObject = {"model": model, "created_at": "1970-01-01T00:00:00Z"}
        self._prompted = False
        self.begun = False

    def begin(self, value: JsonObject) -> None:
        """What all lines of one message share, taken from the first of them."""
        self._shared = {k: v for k, v in value.items() if k not in _SAID | _OF_THE_END}
        self._prompted = is_prompted(value)
        self.begun = True

    def given(self, value: JsonObject) -> None:
        """Nothing follows from the lines that were given."""

    def next_attempt(self, *, apart: bool) -> bytes:
        """Nothing is said between attempts."""
        return b""

    def text(self, text: str) -> bytes:
        """A line that carries text."""
        return self._line(self._told(text))

    def reasoning(self, text: str) -> bytes:
        """A line that carries reasoning."""
        return self._line(self._told("", {"thinking": text}))

    def parts(self, value: JsonObject) -> bool:
        """Never: all text is in one part."""
        return False

    def passed(self, value: JsonObject) -> bytes:
        """Reasoning and images."""
        part = value if self._prompted else object_in(value.get("message"))
        kept = {k: item for k, item in part.items() if k in {"thinking", *_IMAGES} and item}
        return self._line(self._told("", kept)) if kept else b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Calls, and the line that is done."""
        calls = {"tool_calls": [call_of(call) for call in answer.calls]}
        told = self._line(self._told("", calls)) if answer.calls else b""
        return told + encode_event({**self._shared, **self._told(""), **end_of(answer)})

    def error(self, code: str, message: str) -> bytes:
        """A line on which the official SDK raises `ResponseError`."""
        return encode_event(_error(code, message))

    def _told(self, text: str, more: Mapping[str, Any] | None = None) -> JsonObject:
        return told(text, more or {}, prompted=self._prompted)

    def _line(self, said: JsonObject) -> bytes:
        return encode_event({**self._shared, **said, "done": False})


def is_prompted(value: JsonObject) -> bool:
    """Whether an object answers a prompt rather than messages."""
    return "response" in value and not isinstance(value.get("message"), dict)


def told(text: str, more: Mapping[str, Any], *, prompted: bool) -> JsonObject:
    """What the model said, where this API has it.

    >>> told("Hi", {}, prompted=False)
    {'message': {'role': 'assistant', 'content': 'Hi'}}
    """
    if prompted:
        return {"response": text, **more}
    return {"message": {"role": "assistant", "content": text, **more}}


def call_of(call: ToolCall) -> JsonObject:
    """A call as it stands in a message: with the id that the provider gave, if it gave any."""
    extra: Mapping[str, Any] = call.extra or {}
    arguments = msgspec.Raw(call.arguments.encode("utf-8", "replace"))
    named = {"id": call.id} if extra.get("named") else {}
    function = {**extra.get("function", {}), "name": call.name, "arguments": arguments}
    return {**extra.get("call", {}), **named, "function": function}


def end_of(answer: Answer) -> JsonObject:
    """The members of what is done: those that came, the stop, the counts of the whole turn."""
    joined = len(answer.spoken) > 1
    kept = {k: v for k, v in answer.ending.items() if k in _OF_THE_END}
    kept = {k: v for k, v in kept.items() if not joined or k not in _OF_ONE_ATTEMPT}
    counts = merged_usage(answer.raw_usage or {}, answer.usage)
    return {**kept, "done": True, "done_reason": answer.native_stop, **counts}


def body_of(events: Sequence[JsonObject]) -> JsonObject:
    """The body that lines tell (`wires.base.Wire`): the identity of the first, the end of the last.

    >>> body_of([{"model": "m", "response": "H", "done": False}, {"response": "i", "done": True}])
    {'model': 'm', 'response': 'H', 'done': True}
    """
    body: JsonObject = {}
    for event in events:
        body |= {k: v for k, v in event.items() if k in _OF_THE_END or k not in body}
    body = {k: v for k, v in body.items() if k not in _TOLD_ANEW}
    odds = [event["logprobs"] for event in events if isinstance(event.get("logprobs"), list)]
    return body | ({"logprobs": [*chain(*odds)]} if odds else {}) | beside(events)


def beside(values: Iterable[JsonObject]) -> JsonObject:
    """What answers, or lines of one, hold beside their words, where it stands; lists are joined.

    >>> beside([{"message": {"content": "H", "images": ["a"]}}, {"message": {"images": ["b"]}}])
    {'message': {'images': ['a', 'b']}}
    """
    told: JsonObject = {}
    message: JsonObject = {}
    for value in values:
        _join(told, {k: v for k, v in value.items() if k in _IMAGES})
        said = object_in(value.get("message"))
        _join(message, {k: v for k, v in said.items() if k not in _WORDS})
    return told | ({"message": message} if message else {})


def _join(told: JsonObject, more: JsonObject) -> None:
    for key, item in more.items():
        before = told.get(key)
        if isinstance(before, list) and isinstance(item, list):
            told[key] = [*before, *item]
        elif not before:
            told[key] = item


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """A whole response: the first attempt's identity, the last one's end, the merged answer, and
    what came beside it."""
    shared = {k: v for k, v in first.items() if k not in _SAID | _OF_THE_END}
    more: JsonObject = {"thinking": answer.reasoning} if answer.reasoning else {}
    if answer.calls:
        more["tool_calls"] = [call_of(call) for call in answer.calls]
    said = told(answer.text, more, prompted=is_prompted(first))
    kept = beside([one.value for one in answer.spoken if one.value] or [first])
    if message := kept.pop("message", None):
        said.setdefault("message", {}).update(message)
    return encode({**shared, **said, **kept, **end_of(answer)})


def merged_usage(raw: JsonObject, usage: Usage | None) -> JsonObject:
    """The counts of the whole turn (C19).

    >>> merged_usage({"prompt_eval_count": 5, "eval_count": 3}, Usage(5, 9))
    {'prompt_eval_count': 5, 'eval_count': 9}
    """
    merged = dict(raw)
    if usage is not None and usage.input_tokens is not None:
        merged["prompt_eval_count"] = usage.input_tokens
    if usage is not None and usage.output_tokens is not None:
        merged["eval_count"] = usage.output_tokens
    return merged


def _error(code: str, message: str) -> JsonObject:
    return {"error": message, "type": OURS, "code": code}


def render_error(code: str, message: str, partial: Answer | None) -> bytes:
    """The body of an error. What was received stands in `partial`: nothing is lost."""
    return encode(_error(code, message) | kept_of(partial))
