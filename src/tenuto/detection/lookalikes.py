"""Objects of other programs that have the outline of an answer, and something no answer has.

A wire reads every object of its own outline, also from servers that write it freely. Whoever gives
an object without naming a wire may have found it anywhere, so here it must have what only the
wire's answers have (N14). An answer that a wire was named for, and the events of a stream that has
begun, are not asked.
"""

from __future__ import annotations

from collections.abc import Callable

from tenuto.core.answer.stop import StopReason
from tenuto.wires.cohere_v1 import wire as cohere_v1
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in
from tenuto.wires.stops import stop_reader

_read_stop = stop_reader({})

_SIGNED = frozenset(
    {"id", "model", "object", "created", "usage", "usageMetadata", "usage_metadata"}
    | {"modelVersion", "model_version", "responseId", "response_id"}
)
"""What bodies have beside their answers. With any of it, an odd answer is still one."""


def is_lookalike(value: JsonObject) -> bool:
    """Return whether an object looks like an answer and is none.

    >>> is_lookalike({"choices": [{"message": {"title": "x"}, "finish_reason": "stop"}]})
    True
    >>> is_lookalike({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})
    False
    """
    return any(name in value and alike(value) for name, alike in _ALIKE.items())


def _choices(value: JsonObject) -> bool:
    choice = object_in(next(iter(list_in(value["choices"])), None))
    said = object_in(choice.get("message") or choice.get("delta"))
    return bool(said) and _OF_MESSAGES.isdisjoint(said) and _SIGNED.isdisjoint(value)


_OF_MESSAGES = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "audio", "annotations", "images"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking"}
)


def _candidates(value: JsonObject) -> bool:
    candidate = object_in(next(iter(list_in(value["candidates"])), None))
    odd = any(name.replace("_", "").lower() not in _OF_CANDIDATES for name in candidate)
    return odd and "content" not in candidate and _SIGNED.isdisjoint(value)


_OF_CANDIDATES = frozenset(
    {"content", "finishreason", "finishmessage", "index", "safetyratings", "citationmetadata"}
    | {"tokencount", "avglogprobs", "logprobsresult", "groundingmetadata", "urlcontextmetadata"}
    | {"groundingattributions", "urlretrievalmetadata"}
)
"""Members of a candidate of Gemini, in any spelling: https://ai.google.dev/api/generate-content
(read 2026-11-28)."""


def _typed(value: JsonObject) -> bool:
    """Return whether it has a type of Anthropic's, and a member of that type otherwise than there:
    https://platform.claude.com/docs/en/api/messages (read 2026-11-28)."""
    kind = value["type"]
    if kind == "message":
        if "stop_reason" not in value and "usage" not in value:
            return False
        listed = isinstance(value.get("content"), list | None)  # some servers write a text
        told = listed or _is_stop(value.get("stop_reason")) or not _SIGNED.isdisjoint(value)
        return value.get("role", "assistant") != "assistant" or not told
    if kind == "message_delta":
        delta, used = value.get("delta"), value.get("usage")
        known = isinstance(delta, dict) and (not delta or not _OF_DELTAS.isdisjoint(delta))
        return not known or not isinstance(used, dict | None)
    return False


_OF_DELTAS = frozenset({"stop_reason", "stop_sequence", "stop_details", "container"})


def _is_finished(value: JsonObject) -> bool:
    """Return whether it says `is_finished` otherwise than Cohere's version 1, whose last event has
    a reason or the whole answer."""
    if not isinstance(value["is_finished"], bool) or not _ELSEWHERE.isdisjoint(value):
        return False
    if "event_type" in value or not cohere_v1.is_event(value):
        return not cohere_v1.is_event({"event_type": value.get("event_type")})
    return value["is_finished"] and "finish_reason" not in value and "response" not in value


_ELSEWHERE = frozenset({"choices", "candidates", "content", "output", "message", "generation_id"})


def _output(value: JsonObject) -> bool:
    """Return whether it has an output of DashScope's, with a stop that no API has, and no usage:
    https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-dashscope (read 2026-11-28)."""
    output = object_in(value["output"])
    if not isinstance(output.get("text"), str) or "choices" in output:
        return False
    told = output.get("finish_reason")
    return told != "null" and not _is_stop(told) and _SIGNED.isdisjoint(value)


def _is_stop(told: object) -> bool:
    """Return whether some API has this stop."""
    seen = _read_stop(told, "")
    return seen is not None and seen.reason is not StopReason.UNKNOWN


_ALIKE: dict[str, Callable[[JsonObject], bool]] = {
    "choices": _choices,
    "candidates": _candidates,
    "type": _typed,
    "is_finished": _is_finished,
    "output": _output,
}
"""What each outline has to be looked at for, by the member that it has."""
