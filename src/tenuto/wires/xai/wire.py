"""xAI's own protocol: the messages of its SDK as plain values (`MessageToDict`).

https://docs.x.ai (read through xai-sdk, `xai_sdk/proto/v6/sample_pb2.pyi`, 2026-11-22). Responses
are only read, since the SDK uses gRPC. They are Chat Completions with other member names, in either
spelling of protocol buffers.
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.core.parts import AnySignal
from tenuto.core.signals import StopSeen
from tenuto.core.stop import StopReason
from tenuto.wires.base import no_request, unasked
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.stops import StopTable, stop_reader

STOPS: StopTable = {
    "reason_max_len": (StopReason.MAX_TOKENS, None),
    "reason_max_context": (StopReason.CONTEXT_WINDOW_EXCEEDED, None),
    "reason_stop": (StopReason.END_TURN, None),
    "reason_tool_calls": (StopReason.TOOL_CALL, None),
    "reason_time_limit": (StopReason.ERROR, "time_limit"),
}
"""Values in the order of the enumeration, in lower case."""

_read_stop = stop_reader(STOPS)

_NOT_FINISHED = "REASON_INVALID"
"""Its first value, which is left out of plain values."""

_NAMES = {
    "finishReason": "finish_reason",
    "toolCalls": "tool_calls",
    "reasoningContent": "reasoning_content",
    "promptTokens": "prompt_tokens",
    "completionTokens": "completion_tokens",
}


def _renamed(value: JsonObject) -> JsonObject:
    return {_NAMES.get(key, key): item for key, item in value.items()}


def _outputs(value: JsonObject) -> list[JsonObject]:
    return [_renamed(object_in(output)) for output in list_in(value.get("outputs"))]


def _stop(output: JsonObject) -> StopSeen | None:
    given = output.get("finish_reason")
    found = None if given == _NOT_FINISHED else _read_stop(given, "finish_reason")
    return found and replace(found, field=f"outputs[{output.get('index', 0)}].finish_reason")


def _choice(output: JsonObject) -> JsonObject:
    said = output.get("message") or output.get("delta")
    return {"index": output.get("index"), "delta": _renamed(object_in(said))}


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a response, or of one chunk; none for an object of another shape."""
    if not isinstance(value, dict) or not isinstance(value.get("outputs"), list):
        return []
    outputs = _outputs(value)
    usage = _renamed(object_in(value.get("usage")))
    told = {"choices": list(map(_choice, outputs)), "usage": usage or None}
    return [*openai_chat.read(told, event=event), *filter(None, map(_stop, outputs))]


def _first(value: JsonObject) -> JsonObject:
    return next(iter(_outputs(value)), {})


def is_event(value: JsonObject) -> bool:
    """Return whether an object is a chunk, or not finished."""
    first = _first(value)
    return "delta" in first or _stop(first) is None


WIRE = replace(
    openai_chat.WIRE,
    name="xai",
    stops=STOPS,
    is_request=unasked,
    request=no_request,
    looks_like=lambda value: bool({"message", "delta"} & _first(value).keys()),
    is_event=is_event,
    read=read,
)
