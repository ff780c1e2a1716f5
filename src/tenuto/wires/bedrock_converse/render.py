"""The writing side of Converse: what the caller sees where Tenuto had to write something.

Shapes follow botocore's model of bedrock-runtime and are checked against it in the tests. Events
are written as `{name: payload}`, one on a line; the relay makes messages of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tenuto.core.calls import ToolCall
from tenuto.core.signals import Usage
from tenuto.wires.base import Answer, JsonObject, kept_of
from tenuto.wires.bedrock_converse.events import SERVER_TOOL
from tenuto.wires.errors import OURS
from tenuto.wires.json import count, encode, encode_event

_BESIDE_THE_STOP = ("additionalModelResponseFields", "trace")
_BESIDE_THE_USAGE = ("metrics", "trace", "performanceConfig", "serviceTier")
_TEXT, _REASONING, _OTHER = "text", "reasoning", "other"


class MessageWriter:
    """One message as events (`wires.base.Writer`): its blocks are numbered in one row, whichever
    attempt they come from, and the block that is open is known."""

    follows_text = True

    def __init__(self, model: str) -> None:
        self.begun = False
        self._started = False
        self._next = 0
        self._open: int | None = None
        self._kind = ""
        self._cited = False
        self._numbers: dict[int | None, int | None] = {}
        self._metadata: JsonObject = {}

    def begin(self, value: JsonObject) -> None:
        """A message of this wire has no identity but that of its connection."""
        self.begun = True

    def given(self, value: JsonObject) -> None:
        """Follow what the caller has been given: which block is open, and how many there were."""
        for name, payload in value.items():
            index = _index(payload)
            match name:
                case "messageStart":
                    self._started = True
                case "contentBlockStart":
                    self._is_open(index, _OTHER)
                case "contentBlockDelta":
                    kind = _kind(payload)
                    if index != self._open or self._open is None:
                        self._is_open(index, kind)
                    self._cited = self._cited or "citation" in _delta(payload)
                case "contentBlockStop":
                    self._open = None

    def _is_open(self, index: int | None, kind: str) -> None:
        number = index if index is not None else self._next
        self._open, self._next = number, max(self._next, number + 1)
        self._kind, self._cited = kind, False

    def next_attempt(self, *, apart: bool) -> bytes:
        """Text goes on in the block that is open, unless the attempt stands apart or the block is
        none of plain text."""
        self._numbers = {}
        joins = self._kind == _TEXT and not self._cited
        return b"" if joins and not apart else self._close()

    def text(self, text: str) -> bytes:
        """A delta of text, in a block of text; none is begun by an event of its own."""
        return self._to(_TEXT) + self._write_delta({"text": text})

    def reasoning(self, text: str) -> bytes:
        """A delta of reasoning. It has no signature: no provider takes it back, and none must."""
        return self._to(_REASONING) + self._write_delta({"reasoningContent": {"text": text}})

    def parts(self, value: JsonObject) -> bool:
        """A block that stands behind the text that is open. Calls wait for the end, and reasoning
        is left out there."""
        start = value.get("contentBlockStart")
        return self._open is not None and self._kind == _TEXT and _is_passed(start)

    def passed(self, value: JsonObject) -> bytes:
        """Blocks that are neither text nor calls, under our numbers; reasoning, unless text is
        open, which goes on without it; citations."""
        out: list[bytes] = []
        for name, payload in value.items():
            match name:
                case "contentBlockStart":
                    out.append(self._pass_start(payload))
                case "contentBlockDelta":
                    out.append(self._pass_delta(payload))
                case "contentBlockStop":
                    out.append(self._pass_stop(payload))
                case "metadata" if isinstance(payload, dict):
                    self._metadata = payload
        return b"".join(out)

    def _pass_start(self, payload: Any) -> bytes:
        index = _index(payload)
        self._numbers[index] = None
        if not _is_passed(payload):
            return b""
        opened = self._to(_OTHER, new=True)
        self._numbers[index] = self._open
        start = {"start": payload["start"], "contentBlockIndex": self._open}
        return opened + self._event("contentBlockStart", start)

    def _pass_delta(self, payload: Any) -> bytes:
        index, delta = _index(payload), _delta(payload)
        if "reasoningContent" in delta:
            if self._open is not None and self._kind == _TEXT:
                return b""
            opened = self._to(_REASONING)
            self._numbers[index] = self._open
            return opened + self._write_delta(delta)
        if "citation" in delta:
            if self._open is None or self._kind != _TEXT:
                return b""
            self._cited = True
            return self._write_delta({"citation": delta["citation"]})
        number = self._numbers.get(index)
        if "text" in delta or number is None or number != self._open:
            return b""
        return self._write_delta(delta)

    def _pass_stop(self, payload: Any) -> bytes:
        if self._kind == _TEXT:  # text may go on yet, but not where it cites
            return self._close() if self._cited else b""
        number = self._numbers.get(_index(payload))
        return self._close() if number is not None and number == self._open else b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """The block that is open, calls, the stop, and the usage behind it."""
        out = [self._close()]
        for call in answer.calls:
            out.append(self._to(_OTHER, new=True))
            named = {"toolUseId": call.id, "name": call.name, **(call.extra or {})}
            start = {"start": {"toolUse": named}, "contentBlockIndex": self._open}
            out.append(self._event("contentBlockStart", start))
            out += [self._write_delta({"toolUse": {"input": call.arguments}}), self._close()]
        out.append(
            self._event("messageStop", {"stopReason": answer.native_stop, **_beside(answer)})
        )
        kept = {k: self._metadata[k] for k in _BESIDE_THE_USAGE if k in self._metadata}
        usage = merged_usage(answer.raw_usage or {}, answer.usage)
        metadata = {"usage": usage, "metrics": {"latencyMs": 0}, **kept}
        return b"".join(out) + self._event("metadata", metadata)

    def error(self, code: str, message: str) -> bytes:
        """An exception, on which botocore raises `EventStreamError`; nothing may follow it."""
        about = {"message": message, "code": code, "source": OURS}
        return b"event: error\n" + encode_event(about)

    # --- blocks

    def _to(self, kind: str, *, new: bool = False) -> bytes:
        """Be in an open block of this kind; else, or where it is to be a new one, it begins."""
        if self._open is not None and self._kind == kind and not new:
            return b""
        closed = self._close()
        self._is_open(None, kind)
        return closed

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        index, self._open, self._kind = self._open, None, ""
        return self._event("contentBlockStop", {"contentBlockIndex": index})

    def _write_delta(self, delta: JsonObject) -> bytes:
        return self._event("contentBlockDelta", {"delta": delta, "contentBlockIndex": self._open})

    def _event(self, name: str, payload: JsonObject) -> bytes:
        """An event of the message, which begins with the first of them."""
        if self._started:
            return encode_event({name: payload})
        self._started = True
        return encode_event({"messageStart": {"role": "assistant"}}) + encode_event({name: payload})


def _index(payload: Any) -> int | None:
    return count(payload.get("contentBlockIndex")) if isinstance(payload, dict) else None


def _delta(payload: Any) -> JsonObject:
    delta = payload.get("delta") if isinstance(payload, dict) else None
    return delta if isinstance(delta, dict) else {}


def _kind(payload: Any) -> str:
    delta = _delta(payload)
    if "text" in delta or "citation" in delta:
        return _TEXT
    return _REASONING if "reasoningContent" in delta else _OTHER


def _is_passed(payload: Any) -> bool:
    """Whether a block begins that is no call for the caller."""
    start = payload.get("start") if isinstance(payload, dict) else None
    if not isinstance(start, dict) or not start:
        return False
    call = start.get("toolUse")
    return not isinstance(call, dict) or call.get("type") == SERVER_TOOL


def clean_stop(calls: Sequence[ToolCall]) -> str:
    """The value of a clean end with these calls, often none."""
    return "tool_use" if calls else "end_turn"


def _call(call: ToolCall) -> JsonObject:
    arguments = msgspec.Raw(call.arguments.encode("utf-8", "replace"))
    named = {"toolUseId": call.id, "name": call.name, "input": arguments}
    return {"toolUse": {**named, **(call.extra or {})}}


def _beside(answer: Answer) -> JsonObject:
    """What came beside the stop that is shown; nothing where it is another one."""
    place = answer.ending.get("messageStop") or answer.ending
    if not isinstance(place, dict) or place.get("stopReason") != answer.native_stop:
        return {}
    return {key: place[key] for key in _BESIDE_THE_STOP if key in place}


def body_of(events: Iterable[JsonObject]) -> JsonObject:
    """The body that events tell (`wires.base.Wire`): the stop, and what the answer cost."""
    body: JsonObject = {}
    for event in events:
        for told in (event.get("messageStop"), event.get("metadata")):
            body |= told if isinstance(told, dict) else {}
    return body


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """A whole answer: the first attempt's frame, the last one's stop, the merged content."""
    kept = {k: item for k, item in first.items() if k not in (*_BESIDE_THE_STOP, "error")}
    content = [*answer.content, *map(_call, answer.calls)]
    return encode(
        {
            **kept,
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": answer.native_stop,
            **_beside(answer),
            "usage": merged_usage(answer.raw_usage or {}, answer.usage),
        }
    )


def merged_usage(raw: JsonObject, usage: Usage | None) -> JsonObject:
    """A usage object of the whole turn: the first one's input, the output of all (C19).

    >>> merged_usage({"inputTokens": 5, "outputTokens": 3, "totalTokens": 8}, Usage(5, 9))
    {'inputTokens': 5, 'outputTokens': 9, 'totalTokens': 14}
    """
    merged = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0, **raw}
    if usage is None or usage.output_tokens is None:
        return merged
    more = usage.output_tokens - (count(merged["outputTokens"]) or 0)
    merged["outputTokens"] = usage.output_tokens
    merged["totalTokens"] = (count(merged["totalTokens"]) or 0) + more
    return merged


def render_error(code: str, message: str, partial: Answer | None) -> bytes:
    """The body of an error. What was received stands in `partial`: nothing is lost."""
    return encode({"message": message, "code": code, "source": OURS} | kept_of(partial))
