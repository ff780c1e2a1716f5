"""The writing side of Cohere's chat of version 1: what the caller sees where Tenuto had to write.

Shapes follow `cohere/types` of cohere-python 7.3 and are checked against its types in the tests. A
message keeps the identity of its first attempt. The last event of a stream says all of it once
more, and so does `chat_history`, which programs send back with their next request: it holds the
caller's own rows and the merged answer, and none of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenuto.core.calls import ToolCall
from tenuto.core.parts import Kind
from tenuto.core.signals import Usage
from tenuto.wires.base import Answer, JsonObject
from tenuto.wires.calls import object_of
from tenuto.wires.errors import OURS
from tenuto.wires.json import count_of_decimal, encode, encode_named_event
from tenuto.wires.members import object_in
from tenuto.wires.openai_chat.citations import joined_annotations
from tenuto.wires.openai_chat.render import ChatLayout as OpenAIChatLayout

COUNTED = ("tokens", "billed_units")
"""The members of `meta` that count tokens; what is billed may be less than what is counted."""

TOLD = frozenset({"text", "tool_calls", "citations", "meta", "finish_reason", "error", "message"})
"""Members of an answer that are merged over the attempts of a turn."""


def call_of(call: ToolCall) -> JsonObject:
    """Return a call as a message holds it: it has no id."""
    return {**(call.extra or {}), "name": call.name, "parameters": object_of(call)}


class ChatLayout(OpenAIChatLayout):
    """How one message is written as events (`wires.base.FlatLayout`). As on OpenAI Chat, citations
    of further attempts wait for the end, when all text is there.

    Args:
        asked: the rows that the answer follows.
    """

    def __init__(self, model: str, asked: Sequence[JsonObject] = ()) -> None:
        super().__init__(model)
        self._asked = asked

    def begin(self, value: JsonObject) -> None:
        """Take the ids from the first event, or from a whole body."""
        ids = ("generation_id", "response_id")
        self._shared = {key: value[key] for key in ids if key in value}

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text; reasoning has no place here."""
        return _event("text-generation", text=text) if kind is Kind.TEXT else b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the citations and calls, and the event that says all once more."""
        first = answer.spoken[0].message if answer.spoken else None
        whole = answered({**(first.said if first else {}), **self._shared}, answer, self._asked)
        out = b""
        if cited := _citations(joined_annotations(answer.spoken, self._given)):
            out += _event("citation-generation", citations=cited)
        if answer.calls:
            calls = whole["tool_calls"]
            out += _event("tool-calls-generation", text=answer.text, tool_calls=calls)
        return out + _event("stream-end", response=whole, finish_reason=answer.native_stop)

    def error(self, code: str, message: str) -> bytes:
        """Write the end of a generation that failed, and why. The official SDK raises on nothing
        that stands in a stream. What was said is not known here; the caller has it."""
        whole = {"text": "", **self._shared, "finish_reason": "ERROR"}
        why = f"{OURS}: {code}: {message}"
        return _event("stream-end", response=whole, finish_reason="ERROR", error=why)


def _event(kind: str, **members: object) -> bytes:
    told = {"is_finished": kind == "stream-end", "event_type": kind, **members}
    return encode_named_event(told, "event_type")


def answered(first: JsonObject, answer: Answer, asked: Sequence[JsonObject]) -> JsonObject:
    """Return a whole answer to these rows: the first attempt's members, the merged content."""
    called = {"tool_calls": [call_of(call) for call in answer.calls]} if answer.calls else {}
    said = {"role": "CHATBOT", "message": answer.text, **called}
    cited = _citations(joined_annotations(answer.spoken))
    body = {"text": answer.text} | {k: v for k, v in first.items() if k not in TOLD} | called
    body |= {"citations": cited} if cited else {}
    body |= {"chat_history": [*asked, said], "finish_reason": answer.native_stop}
    if answer.usage is not None:
        body["meta"] = merged_usage(answer.raw_usage or {}, answer.usage)
    return body


def render_body(
    first: JsonObject, last: JsonObject, answer: Answer, asked: Sequence[JsonObject] = ()
) -> bytes:
    """Return the bytes of a whole answer."""
    return encode(answered(first, answer, asked))


def error_of_ours(code: str, message: str) -> JsonObject:
    """Return an error as the provider writes its own."""
    return {"message": message, "type": OURS, "code": code}


# --- usage and citations


def counted_in(meta: JsonObject, name: str) -> int | None:
    """Return a number of tokens, None where none is told.

    >>> counted_in({"tokens": {"output_tokens": 9.0}}, "output_tokens"), counted_in({}, "x")
    (9, None)
    """
    counts = next((told for key in COUNTED if (told := object_in(meta.get(key)))), {})
    return count_of_decimal(counts.get(name))


def merged_usage(meta: JsonObject, usage: Usage) -> JsonObject:
    """Return `meta` of the whole turn: the first one, with the output of all attempts. What is
    billed grows by as much as what is counted.

    >>> merged_usage({"billed_units": {"output_tokens": 2.0}, "tokens": {"output_tokens": 3}},
    ...              Usage(5, 9))
    {'billed_units': {'output_tokens': 8}, 'tokens': {'output_tokens': 9}}
    """
    if usage.output_tokens is None:
        return meta
    more = usage.output_tokens - (counted_in(meta, "output_tokens") or 0)
    merged = dict(meta)
    for name in COUNTED:
        told = object_in(meta.get(name))
        own = count_of_decimal(told.get("output_tokens"))
        merged |= {} if own is None else {name: told | {"output_tokens": own + more}}
    return merged


def as_annotations(cited: Iterable[JsonObject]) -> list[JsonObject]:
    """Return citations as Chat Completions has them, whose readers know how positions move."""
    return [{"start_index": c.get("start"), "end_index": c.get("end"), "cited": c} for c in cited]


def _citations(found: Iterable[Any]) -> list[JsonObject]:
    return [c["cited"] | {"start": c["start_index"], "end": c["end_index"]} for c in found]
