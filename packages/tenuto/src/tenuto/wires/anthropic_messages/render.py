"""Write Anthropic Messages: what the caller sees when Tenuto writes something itself.

Shapes follow `anthropic/types` of anthropic-sdk-python 2.12 and are checked against its types in
the tests. A message keeps the identity of its first attempt: id, model, and input usage.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Kind, Native, Part
from tenuto.core.answer.signals import Usage
from tenuto.wires.answer import Answer, kept_of
from tenuto.wires.anthropic_messages.content import blocks_in
from tenuto.wires.calls import object_of
from tenuto.wires.errors import OURS
from tenuto.wires.json import JsonObject, encode, encode_named_event
from tenuto.wires.layout import Layout

_STOP_KEYS = ("stop_sequence", "stop_details", "container")
"""Members beside a stop that belong to it."""


class MessageLayout(Layout):
    """Writes a message as events (`wires.layout.Layout`): blocks begin, grow by deltas, and end."""

    def __init__(self, model: str) -> None:
        self._message = bare_message(model)

    def begin(self, value: JsonObject) -> None:
        """Take the identity from a `message_start`, or from a whole body."""
        message = value.get("message") if value.get("type") == "message_start" else value
        if isinstance(message, dict) and "id" in message:
            held = {key: item for key, item in message.items() if key not in _STOP_KEYS}
            self._message |= held | {"content": [], "stop_reason": None, "stop_sequence": None}

    def goes_on(self, part: Part) -> bool:
        """Return whether text can continue: after a citation the provider begins another block."""
        return "citations" not in part.grown

    def native(self, kind: Kind) -> JsonObject:
        """Return an empty block. Thinking has no signature, so it can't be sent back to a
        provider."""
        if kind is Kind.TEXT:
            return {"type": "text", "text": ""}
        return {"type": "thinking", "thinking": "", "signature": ""}

    def start(self) -> bytes:
        """Write the `message_start`."""
        return encode_named_event({"type": "message_start", "message": self._message})

    def opened(self, part: Part) -> bytes:
        """Write a `content_block_start`."""
        event = {"type": "content_block_start", "index": part.place[0]}
        return encode_named_event({**event, "content_block": part.native})

    def said(self, part: Part, text: str) -> bytes:
        """Write a delta of text or of thinking."""
        member = "text" if part.kind is Kind.TEXT else "thinking"
        return self.passed(part, {"type": f"{member}_delta", member: text})

    def passed(self, part: Part, raw: Native) -> bytes:
        """Write a delta."""
        event = {"type": "content_block_delta", "index": part.place[0], "delta": raw}
        return encode_named_event(event)

    def closed(self, part: Part, answer: Answer | None = None) -> bytes:
        """Write a `content_block_stop`."""
        return encode_named_event({"type": "content_block_stop", "index": part.place[0]})

    def called(self, call: ToolCall, unled: bool) -> JsonObject:
        """Return a block that begins without arguments."""
        return {**_call(call), "input": {}}

    def call(self, part: Part, call: ToolCall) -> bytes:
        """Write a block whose arguments come in one delta."""
        arguments = {"type": "input_json_delta", "partial_json": call.arguments}
        return self.opened(part) + self.passed(part, arguments) + self.closed(part)

    def end(self, answer: Answer, items: Sequence[Part], *, include_usage: bool) -> bytes:
        """Write the stop with the usage, and `message_stop`."""
        delta = {"stop_reason": answer.native_stop, **_beside_the_stop(answer)}
        usage = merged_usage(answer.raw_usage or {}, answer.usage)
        stop = encode_named_event({"type": "message_delta", "delta": delta, "usage": usage})
        return stop + encode_named_event({"type": "message_stop"})

    def beside(self, raw: Native) -> bytes:
        """Write a `ping`."""
        return encode_named_event(dict(raw))

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises `APIStatusError`; nothing may follow."""
        return encode_named_event(_error(code, message))


def bare_message(model: str) -> JsonObject:
    """Return the minimum that the official SDK's type requires."""
    return {
        "id": "msg_tenuto",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _call(call: ToolCall) -> JsonObject:
    named = {"id": call.id, "name": call.name, "input": object_of(call)}
    return {**(call.extra or {}), "type": "tool_use", **named}


def _beside_the_stop(answer: Answer) -> JsonObject:
    """Return what came beside the stop, if that stop is the one shown."""
    place = answer.ending.get("delta") or answer.ending
    if not isinstance(place, dict) or place.get("stop_reason") != answer.native_stop:
        return {"stop_sequence": None}
    return {"stop_sequence": None, **{key: place[key] for key in _STOP_KEYS if key in place}}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole message: the first attempt's identity, the last stop, the merged content."""
    kept = {key: item for key, item in first.items() if key not in (*_STOP_KEYS, "error")}
    content = [*blocks_in(answer.content), *map(_call, answer.calls)]
    return encode(
        {
            **bare_message(""),
            **kept,
            "content": content,
            "stop_reason": answer.native_stop,
            **_beside_the_stop(answer),
            "usage": merged_usage(answer.raw_usage or {}, answer.usage),
        }
    )


def merged_usage(raw: JsonObject, usage: Usage | None) -> JsonObject:
    """Return a usage object for the whole turn: the first one's input, the output of all (C19).

    >>> merged_usage({"input_tokens": 5, "output_tokens": 3}, Usage(5, 9))
    {'input_tokens': 5, 'output_tokens': 9}
    """
    merged = {**raw} if "output_tokens" in raw else {**raw, "output_tokens": 0}
    if usage is None:
        return merged
    if usage.output_tokens is not None:
        merged["output_tokens"] = usage.output_tokens
    details = merged.get("output_tokens_details")
    if usage.reasoning_tokens is not None and isinstance(details, dict):
        thinking = {"thinking_tokens": usage.reasoning_tokens}
        merged["output_tokens_details"] = {**details, **thinking}
    return merged


def _error(code: str, message: str, partial: Answer | None = None) -> JsonObject:
    """Return an error in the provider's shape. Its SDK knows the `type`."""
    about = {"type": "api_error", "message": message, "code": code, "source": OURS}
    return {"type": "error", "error": about | kept_of(partial)}


def render_error(code: str, message: str, partial: Answer | None) -> bytes:
    """Return the body of an error. `partial` holds what was received, so nothing is lost."""
    return encode(_error(code, message, partial))
