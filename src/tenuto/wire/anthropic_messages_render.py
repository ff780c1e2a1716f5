"""The writing side of Anthropic Messages: what the caller sees where Tenuto had to write something.

Shapes follow `anthropic/types` of anthropic-sdk-python 2.12 and are checked against its types in
the tests. A message keeps the identity of its first attempt: id, model, the usage of its input.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tenuto.core.calls import ToolCall
from tenuto.core.signals import Usage
from tenuto.wire.anthropic_messages_content import THINKING
from tenuto.wire.anthropic_messages_errors import OURS
from tenuto.wire.base import Answer, JsonObject, kept_of
from tenuto.wire.json import count, encode

_STOP_KEYS = ("stop_sequence", "stop_details", "container")
"""What belongs to a stop and stands beside it."""


def render_event(value: JsonObject) -> bytes:
    """One event, named as its object is.

    >>> render_event({"type": "ping"})
    b'event: ping\\ndata: {"type":"ping"}\\n\\n'
    """
    return b"event: %b\ndata: %b\n\n" % (value["type"].encode(), encode(value))


class MessageWriter:
    """One message as events (`wire.base.Writer`): its blocks are numbered in one row, whichever
    attempt they come from, and the block that is open is known."""

    follows_text = False

    def __init__(self, model: str) -> None:
        self._message = _bare_message(model)
        self.begun = False
        self._started = False
        self._next = 0
        self._open: int | None = None
        self._open_kind = ""
        self._cited = False
        self._numbers: dict[int | None, int | None] = {}
        self._texts = 0

    def begin(self, value: JsonObject) -> None:
        """The identity: from a `message_start`, or from a whole body."""
        message = value.get("message") if value.get("type") == "message_start" else value
        if isinstance(message, dict) and "id" in message:
            held = {key: item for key, item in message.items() if key not in _STOP_KEYS}
            self._message |= held | {"content": [], "stop_reason": None, "stop_sequence": None}
        self.begun = True

    def given(self, value: JsonObject) -> None:
        """Follow what the caller has been given: which block is open, and how many there were."""
        match value.get("type"):
            case "message_start":
                self._started = True
            case "content_block_start":
                index = _index(value)
                number = index if index is not None else self._next
                self._open, self._next = number, number + 1
                self._open_kind = _block_kind(value)
                self._cited = False
            case "content_block_delta":
                self._cited = self._cited or _delta_kind(value) == "citations_delta"
            case "content_block_stop":
                self._open = None

    def next_attempt(self, *, apart: bool) -> bytes:
        """Text goes on in the block that is open, unless the attempt stands apart or the block is
        none of plain text."""
        self._numbers, self._texts = {}, 0
        joins = self._open_kind == "text" and not self._cited
        return b"" if joins and not apart else self._close()

    def text(self, text: str) -> bytes:
        """A delta of text, in a block of text."""
        opened = self._to(("text",), {"type": "text", "text": ""})
        return opened + self._delta({"type": "text_delta", "text": text})

    def reasoning(self, text: str) -> bytes:
        """A delta of thinking. It has no signature: no provider takes it back, and none must."""
        block = {"type": "thinking", "thinking": "", "signature": ""}
        opened = self._to(("thinking",), block)
        return opened + self._delta({"type": "thinking_delta", "thinking": text})

    def parts(self, value: JsonObject) -> bool:
        """A block that stands behind the text that is open. Calls wait for the end, and thinking
        is left out there."""
        if value.get("type") != "content_block_start" or self._open_kind != "text":
            return False
        kind = _block_kind(value)
        return self._texts > 0 if kind == "text" else kind not in ("tool_use", *THINKING)

    def passed(self, value: JsonObject) -> bytes:
        """Blocks that are neither text nor calls, under our numbers; thinking, unless text is open,
        which goes on without it; citations; pings."""
        match value.get("type"):
            case "ping":
                return render_event(value)
            case "content_block_start":
                return self._pass_start(value)
            case "content_block_delta":
                return self._pass_delta(value)
            case "content_block_stop":
                number = self._numbers.get(_index(value))
                if number is None or number != self._open or self._open_kind == "text":
                    return b""  # text may go on yet
                return self._close()
        return b""

    def _pass_start(self, value: JsonObject) -> bytes:
        index, block, kind = _index(value), value.get("content_block"), _block_kind(value)
        self._numbers[index] = None
        if kind == "tool_use" or (kind in THINKING and self._open_kind == "text"):
            return b""
        if kind == "text":
            self._texts += 1
            # The provider begins a further block of text where citations part them.
            closed = self._close() if self._texts > 1 else b""
            opened = self._to(("text",), {"type": "text", "text": ""})
            self._numbers[index] = self._open
            return closed + opened
        closed = self._close()
        opened = self._to((), block if isinstance(block, dict) else {})
        self._numbers[index] = self._open
        return closed + opened

    def _pass_delta(self, value: JsonObject) -> bytes:
        number, kind = self._numbers.get(_index(value)), _delta_kind(value)
        delta = value.get("delta")
        if number is None or number != self._open or kind == "text_delta":
            return b""
        if not isinstance(delta, dict):  # half an event of a broken provider says nothing
            return b""
        self._cited = self._cited or kind == "citations_delta"
        return self._delta(delta)

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """The block that is open, calls, the stop with the usage, and `message_stop`."""
        out = [self._close()]
        for call in answer.calls:
            out += [self._to((), {**_call(call), "input": {}}), self._call_delta(call)]
            out.append(self._close())
        delta = {"stop_reason": answer.native_stop, **_beside_the_stop(answer)}
        usage = merged_usage(answer.raw_usage or {}, answer.usage)
        out.append(self._event({"type": "message_delta", "delta": delta, "usage": usage}))
        return b"".join(out) + render_event({"type": "message_stop"})

    def _call_delta(self, call: ToolCall) -> bytes:
        return self._delta({"type": "input_json_delta", "partial_json": call.arguments})

    def error(self, code: str, message: str) -> bytes:
        """An event on which the official SDK raises `APIStatusError`; nothing may follow it."""
        return render_event(_error(code, message))

    # --- blocks

    def _to(self, kinds: Sequence[str], block: JsonObject) -> bytes:
        """Be in an open block of one of these kinds; else this one begins."""
        if self._open is not None and self._open_kind in kinds:
            return b""
        closed = self._close()
        self._open, self._open_kind, self._cited = self._next, str(block.get("type")), False
        self._next += 1
        event = {"type": "content_block_start", "index": self._open, "content_block": block}
        return closed + self._event(event)

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        index, self._open, self._open_kind = self._open, None, ""
        return self._event({"type": "content_block_stop", "index": index})

    def _delta(self, delta: JsonObject) -> bytes:
        return self._event({"type": "content_block_delta", "index": self._open, "delta": delta})

    def _event(self, value: JsonObject) -> bytes:
        """An event of the message, which begins with the first of them."""
        if self._started:
            return render_event(value)
        self._started = True
        start = {"type": "message_start", "message": self._message}
        return render_event(start) + render_event(value)


def _index(value: JsonObject) -> int | None:
    return count(value.get("index"))


def _block_kind(value: JsonObject) -> str:
    block = value.get("content_block")
    return str(block.get("type")) if isinstance(block, dict) else ""


def _delta_kind(value: JsonObject) -> object:
    delta = value.get("delta")
    return delta.get("type") if isinstance(delta, dict) else None


def _bare_message(model: str) -> JsonObject:
    """The least that the official SDK's type asks for."""
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


def clean_stop(calls: Sequence[ToolCall]) -> str:
    """The value of a clean end with these calls, often none."""
    return "tool_use" if calls else "end_turn"


def _call(call: ToolCall) -> JsonObject:
    arguments = msgspec.Raw(call.arguments.encode("utf-8", "replace"))
    named = {"id": call.id, "name": call.name, "input": arguments}
    return {**(call.extra or {}), "type": "tool_use", **named}


def _beside_the_stop(answer: Answer) -> JsonObject:
    """What came beside the stop that is shown; nothing where it is another one."""
    place = answer.ending.get("delta") or answer.ending
    if not isinstance(place, dict) or place.get("stop_reason") != answer.native_stop:
        return {"stop_sequence": None}
    return {"stop_sequence": None, **{key: place[key] for key in _STOP_KEYS if key in place}}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """A whole message: the first attempt's identity, the last one's stop, the merged content."""
    kept = {key: item for key, item in first.items() if key not in (*_STOP_KEYS, "error")}
    content = [*answer.content, *map(_call, answer.calls)]
    return encode(
        {
            **_bare_message(""),
            **kept,
            "content": content,
            "stop_reason": answer.native_stop,
            **_beside_the_stop(answer),
            "usage": merged_usage(answer.raw_usage or {}, answer.usage),
        }
    )


def merged_usage(raw: JsonObject, usage: Usage | None) -> JsonObject:
    """A usage object of the whole turn: the first one's input, the output of all (C19).

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
    """An error as the provider writes its own; `type` is one that its SDK knows."""
    about = {"type": "api_error", "message": message, "code": code, "source": OURS}
    return {"type": "error", "error": about | kept_of(partial)}


def render_error(code: str, message: str, partial: Answer | None) -> bytes:
    """The body of an error. What was received stands in `partial`: nothing is lost."""
    return encode(_error(code, message, partial))
