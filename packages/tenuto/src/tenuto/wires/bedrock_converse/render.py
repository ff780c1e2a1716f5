"""Write Converse: what the caller sees when Tenuto writes something itself.

Shapes follow botocore's model of bedrock-runtime and are checked against it in the tests. Events
are written as `{name: payload}`, one per line; the turn makes messages of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import Kind, Native, Part
from tenuto.core.answer.signals import Usage
from tenuto.wires.answer import Answer
from tenuto.wires.bedrock_like.render import exception
from tenuto.wires.calls import object_of
from tenuto.wires.json import JsonObject, count, encode, encode_event
from tenuto.wires.layout import Layout

_BESIDE_THE_STOP = ("additionalModelResponseFields", "trace")
_BESIDE_THE_USAGE = ("metrics", "trace", "performanceConfig", "serviceTier")


class MessageLayout(Layout):
    """Writes a message as events (`wires.layout.Layout`): blocks begin, grow by deltas, and end.
    Text and reasoning begin with their first delta."""

    def __init__(self, model: str) -> None:
        self._metadata: JsonObject = {}

    def begin(self, value: JsonObject) -> None:
        """Do nothing: a message of this wire has no identity apart from its connection."""

    def goes_on(self, part: Part) -> bool:
        """Return whether text can continue: not in a block with citations."""
        return "citations" not in part.grown

    def native(self, kind: Kind) -> JsonObject:
        """Return {}: a block of text or of reasoning is not announced."""
        return {}

    def start(self) -> bytes:
        """Write the `messageStart`."""
        return encode_event({"messageStart": {"role": "assistant"}})

    def opened(self, part: Part) -> bytes:
        """Write a `contentBlockStart`, if the block has one."""
        if not part.native:
            return b""
        return _event("contentBlockStart", {"start": part.native}, part)

    def said(self, part: Part, text: str) -> bytes:
        """Write a delta of text or of reasoning. Reasoning has no signature, so it can't be sent
        back to a provider."""
        said: JsonObject = {"text": text}
        return self.passed(part, said if part.kind is Kind.TEXT else {"reasoningContent": said})

    def passed(self, part: Part, raw: Native) -> bytes:
        """Write a delta."""
        return _event("contentBlockDelta", {"delta": raw}, part)

    def closed(self, part: Part, answer: Answer | None = None) -> bytes:
        """Write a `contentBlockStop`."""
        return _event("contentBlockStop", {}, part)

    def called(self, call: ToolCall, unled: bool) -> JsonObject:
        """Return a block that begins without its input."""
        return {"toolUse": {"toolUseId": call.id, "name": call.name, **(call.extra or {})}}

    def call(self, part: Part, call: ToolCall) -> bytes:
        """Write a block whose input comes in one delta."""
        said = self.passed(part, {"toolUse": {"input": call.arguments}})
        return self.opened(part) + said + self.closed(part)

    def end(self, answer: Answer, items: Sequence[Part], *, include_usage: bool) -> bytes:
        """Write the stop, then the usage."""
        stop = {"stopReason": answer.native_stop, **_beside(answer)}
        kept = {k: self._metadata[k] for k in _BESIDE_THE_USAGE if k in self._metadata}
        usage = merged_usage(answer.raw_usage or {}, answer.usage)
        metadata = {"usage": usage, "metrics": {"latencyMs": 0}, **kept}
        return encode_event({"messageStop": stop}) + encode_event({"metadata": metadata})

    def beside(self, raw: Native) -> bytes:
        """Keep what stands beside the usage for the end of the message."""
        self._metadata = raw["metadata"]
        return b""

    def error(self, code: str, message: str) -> bytes:
        """Write an exception, on which botocore raises; nothing may follow."""
        return exception(code, message)


def _event(name: str, payload: JsonObject, part: Part) -> bytes:
    return encode_event({name: {**payload, "contentBlockIndex": part.place[0]}})


def _call(call: ToolCall) -> JsonObject:
    named = {"toolUseId": call.id, "name": call.name, "input": object_of(call)}
    return {"toolUse": {**named, **(call.extra or {})}}


def _beside(answer: Answer) -> JsonObject:
    """Return what came beside the stop, if that stop is the one shown."""
    place = answer.ending.get("messageStop") or answer.ending
    if not isinstance(place, dict) or place.get("stopReason") != answer.native_stop:
        return {}
    return {key: place[key] for key in _BESIDE_THE_STOP if key in place}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole answer: the first attempt's frame, the last stop, the merged content."""
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
    """Return a usage object for the whole turn: the first one's input, the output of all (C19).

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
