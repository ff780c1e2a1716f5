"""Reading Cohere's API of version 1: `/v1/chat` and `/v1/generate`, whose turns are not finished.

https://docs.cohere.com/v1/reference/chat (read through cohere-python 7.3, 2026-11-22:
`cohere/types/non_streamed_chat_response.py`, `streamed_chat_response.py`, `generation.py`). Its
streams are lines of JSON, each with an `event_type`; the last one holds the whole response again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto.core.signals import Began, CallDelta, Signal, TextDelta
from tenuto.wires.base import JsonObject
from tenuto.wires.bedrock_invoke.makers import METRICS
from tenuto.wires.json import as_text
from tenuto.wires.members import object_in

EVENT_TYPES = frozenset(
    {"stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end"}
    | {"search-queries-generation", "search-results", "citation-generation", "debug"}
)


def is_event(value: JsonObject) -> bool:
    """Whether an object is one line of a stream.

    >>> is_event({"event_type": "stream-end", "finish_reason": "COMPLETE"})
    True
    """
    kind = value.get("event_type")
    return (isinstance(kind, str) and kind in EVENT_TYPES) or _is_untyped(value)


def _is_untyped(value: JsonObject) -> bool:
    """Whether an object is a line of the streams that `/v1/generate` began with: it only says
    whether it is the last one."""
    return isinstance(value.get("is_finished"), bool) and _TYPED.isdisjoint(value)


_TYPED = frozenset({"event_type", "type", "message"})
"""Members of the events and bodies that came later."""


def is_body(value: JsonObject) -> bool:
    """Whether an object is a whole answer: a text or texts that were generated.

    >>> is_body({"text": "Hi", "generation_id": "1", "finish_reason": "COMPLETE"})
    True
    """
    if isinstance(value.get("text"), str):
        return "generation_id" in value or "response_id" in value
    generations = value.get("generations")
    return isinstance(generations, list) and "text" in object_in(next(iter(generations), None))


def told(value: JsonObject) -> tuple[list[Signal], Mapping[str, Any], Mapping[str, Any]]:
    """What a body or event says; where its stop stands, and where its usage does."""
    if is_event(value):
        signals = _said_in_event(value)
        response = object_in(value.get("response"))
        used = object_in(response.get("meta")) or _on_bedrock(value)
        if value.get("finish_reason") or not isinstance(response.get("generations"), list):
            return signals, value, used
        return signals, object_in(next(iter(response["generations"]), None)), used
    answer = value
    if "generations" in value:
        answer = object_in(next(iter(value["generations"]), None))
    return [*_text(answer), *_calls(value)], answer, object_in(value.get("meta"))


def _on_bedrock(value: JsonObject) -> JsonObject:
    """The usage of the same events on Bedrock, whose beginning does not tell whose they are."""
    metrics = object_in(value.get(METRICS))
    pairs = {"input_tokens": "inputTokenCount", "output_tokens": "outputTokenCount"}
    return {"tokens": {key: metrics.get(name) for key, name in pairs.items()}} if metrics else {}


def _said_in_event(value: JsonObject) -> list[Signal]:
    match value.get("event_type"):
        case "stream-start":
            return [Began()]
        case "text-generation":
            return _text(value)
        case "tool-calls-generation":  # all calls once more, whatever pieces came before
            return _calls(value)
        case None if _is_untyped(value):
            return _text(value)
    return []


def _text(value: JsonObject) -> list[Signal]:
    text = value.get("text")
    return [TextDelta(text)] if isinstance(text, str) and text else []


def _calls(value: JsonObject) -> list[Signal]:
    """Its calls have no ids, and their arguments came decoded."""
    calls = value.get("tool_calls")
    return [
        CallDelta(
            number,
            None,
            name if isinstance(name := call.get("name"), str) and name else None,
            None if (given := call.get("parameters")) is None else as_text(given),
            may_be_empty=True,
            may_lack_id=True,
            decoded=True,
        )
        for number, call in enumerate(calls if isinstance(calls, list) else [])
        if isinstance(call, dict)
    ]
