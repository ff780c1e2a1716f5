"""LM Studio's own API: results of its SDKs, as plain values.

https://lmstudio.ai/docs/typescript/api-reference/llm-prediction-stats (read through lmstudio,
`lmstudio/_sdk_models`, 2026-11-22). Results are only read, since the SDKs use a WebSocket. Their
`stats` say why they ended, also on the compatible endpoints.
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.core.parts import AnySignal
from tenuto.core.signals import Usage, UsageSeen
from tenuto.core.stop import StopReason
from tenuto.wires.base import no_request, unasked
from tenuto.wires.json import JsonObject, count_of_decimal
from tenuto.wires.members import object_in
from tenuto.wires.one_text import OneText
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.stops import StopTable, stop_reader

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
"""Values in the order of the reference, in lower case."""


_read_stop = stop_reader(STOPS)

_STOPS = ("stopReason", "stop_reason")
_COUNTS = (
    ("promptTokensCount", "prompt_tokens_count"),
    ("predictedTokensCount", "predicted_tokens_count"),
)
"""The stop, and the input and output tokens, in the names of either SDK."""

_RESULT = OneText(("stats",), "content", tuple(f"stats.{name}" for name in _STOPS))


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a result; none for an object of another shape."""
    result = object_in(value)
    if not _RESULT.fits(result):
        return []
    stats = object_in(result["stats"])
    told = [[count_of_decimal(stats.get(name)) for name in names] for names in _COUNTS]
    used = Usage(*(next((n for n in counts if n is not None), None) for counts in told))
    counted = [UsageSeen(used)] if used != Usage() else []
    return [*_RESULT.signals(result, _read_stop), *counted]


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a result of this API."""
    stats = object_in(value.get("stats"))
    return "choices" not in value and any(name in stats for name in _STOPS)


WIRE = replace(
    openai_chat.WIRE,
    name="lm-studio",
    stops=STOPS,
    is_request=unasked,
    request=no_request,
    looks_like=looks_like,
    is_event=lambda _: False,
    read=read,
    usage_object=lambda value: object_in(value.get("stats")) or None,
)
