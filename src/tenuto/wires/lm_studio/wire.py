"""LM Studio's own API: results of its SDKs, as plain values.

https://lmstudio.ai/docs/typescript/api-reference/llm-prediction-stats (read through lmstudio,
`lmstudio/_sdk_models`, 2026-11-22). Results are read, and that is all: the SDKs speak over a
WebSocket. Why one ended stands in its `stats`, also in those of the compatible endpoints.
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.core.signals import Signal, TextDelta, Usage, UsageSeen
from tenuto.core.stop import StopReason
from tenuto.wires.base import JsonObject, no_request, unasked
from tenuto.wires.json import count
from tenuto.wires.members import object_in
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.stops import StopTable, look_up

STOPS: StopTable = {
    "userstopped": (StopReason.CANCELLED, None),
    "modelunloaded": (StopReason.ERROR, "model_unloaded"),
    "failed": (StopReason.ERROR, None),
    "eosfound": (StopReason.END_TURN, None),
    "stopstringfound": (StopReason.STOP_SEQUENCE, None),
    "toolcalls": (StopReason.TOOL_CALL, None),
    "maxpredictedtokensreached": (StopReason.MAX_TOKENS, None),
    "contextlengthreached": (StopReason.CONTEXT_WINDOW_EXCEEDED, None),
}
"""In the order of the reference, in small letters."""

_NAMES = ("stopReason", "stop_reason")


def parse_object(value: object, *, event: bool) -> list[Signal]:
    """The signals of a result; an object of another shape has none."""
    if not isinstance(value, dict):
        return []
    signals: list[Signal] = []
    text, stats = value.get("content"), object_in(value.get("stats"))
    if isinstance(text, str) and text:
        signals.append(TextDelta(text))
    stops = (look_up(stats.get(name), f"stats.{name}", STOPS) for name in _NAMES)
    signals += filter(None, stops)
    if stats:
        counted = [
            next((n for key in keys if (n := count(stats.get(key))) is not None), None)
            for keys in _COUNTS
        ]
        signals.append(UsageSeen(Usage(*counted)))
    return signals


_COUNTS = (
    ("promptTokensCount", "prompt_tokens_count"),
    ("predictedTokensCount", "predicted_tokens_count"),
)
"""Of input and output, in the words of either SDK."""


def looks_like(value: JsonObject) -> bool:
    """Whether an object is a result of this API."""
    stats = object_in(value.get("stats"))
    return "choices" not in value and any(name in stats for name in _NAMES)


WIRE = replace(
    openai_chat.WIRE,
    name="lm-studio",
    stops=STOPS,
    is_request=unasked,
    request=no_request,
    looks_like=looks_like,
    is_event=lambda _: False,
    read=parse_object,
    usage_object=lambda value: object_in(value.get("stats")) or None,
)
