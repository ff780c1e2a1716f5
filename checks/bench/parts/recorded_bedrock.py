"""Bytes in the shape of Amazon Bedrock's (made up after `bedrock-runtime` of botocore 1.44): events
of Converse are padded (`p`), those of InvokeModel are the model's own, here Nova's, in base64."""

from __future__ import annotations

from typing import Any

from parts.recorded import compact, words

from tenuto.frames.aws_messages import render_event, render_named

_PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_USAGE = {"inputTokens": 46, "outputTokens": 180, "totalTokens": 226}


def _values(texts: list[str]) -> list[tuple[str, dict[str, Any]]]:
    place = {"contentBlockIndex": 0}
    return [
        ("messageStart", {"role": "assistant"}),
        *(("contentBlockDelta", {**place, "delta": {"text": text}}) for text in texts),
        ("contentBlockStop", place),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"metrics": {"latencyMs": 1509}, "usage": _USAGE}),
    ]


def _message(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"text": text}]}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": _USAGE}


def _padded(texts: list[str]) -> list[bytes]:
    values = enumerate(_values(texts))
    return [compact({name: {**v, "p": _PADDING[: n * 7 % 60 + 2]}}) for n, (name, v) in values]


CONVERSE_DATA = _padded(words())
CONVERSE_EVENTS = [render_named(data) for data in CONVERSE_DATA]
CONVERSE_BODY = compact({**_message("".join(words(180)).strip()), "metrics": {"latencyMs": 1509}})

_METRICS = {
    "inputTokenCount": 46,
    "outputTokenCount": 180,
    "invocationLatency": 1509,
    "firstByteLatency": 302,
}
_NOVA = [{name: value} for name, value in _values(words())]
INVOKE_DATA = [
    *map(compact, _NOVA[:-1]),
    compact({**_NOVA[-1], "amazon-bedrock-invocationMetrics": _METRICS}),
]
INVOKE_EVENTS = [render_event(data) for data in INVOKE_DATA]
INVOKE_BODY = compact(_message("".join(words(180)).strip()))
