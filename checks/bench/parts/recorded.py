"""Bytes in the shape of OpenAI's own (made up after `openai/types/chat` of openai-python 3.54)."""

from __future__ import annotations

import json
from typing import Any

CHUNKS = 1_000

_WORDS = (
    " the", " river", " bends", " toward", " a", " quiet", " town", ",", " where", " lamps",
    " are", " lit", " before", " dusk", ".", "\n", "It", " is", " said", " “so”",
)  # fmt: skip
_SHARED: dict[str, Any] = {
    "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
    "object": "chat.completion.chunk",
    "created": 1741570283,
    "model": "gpt-4o-2024-08-06",
    "service_tier": "default",
    "system_fingerprint": "fp_fc9f1d7035",
}
_USAGE: dict[str, Any] = {
    "prompt_tokens": 46,
    "completion_tokens": CHUNKS,
    "total_tokens": CHUNKS + 46,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 0,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}


def compact(value: object) -> bytes:
    """JSON without white space."""
    return json.dumps(value, separators=(",", ":")).encode()


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return compact({**_SHARED, "choices": [choice], "usage": None, "obfuscation": "kR3fTq"})


def words(count: int = CHUNKS) -> list[str]:
    """Text in pieces of the size of a token."""
    return [_WORDS[number * 7 % len(_WORDS)] for number in range(count)]


def events(texts: list[str]) -> list[bytes]:
    """The events of a stream that says these texts."""
    data = [
        _event({"role": "assistant", "content": "", "refusal": None}),
        *(_event({"content": text}) for text in texts),
        _event({}, "stop"),
        compact({**_SHARED, "choices": [], "usage": _USAGE, "obfuscation": "Q"}),
        b"[DONE]",
    ]
    return [b"data: " + one + b"\n\n" for one in data]


def calls(texts: list[str], name: str, arguments: list[str]) -> list[bytes]:
    """The events of a stream that says these texts and calls a function."""
    said = [event[6:-2] for event in events(texts)]
    function = {"name": name, "arguments": ""}
    begun = {"index": 0, "id": "call_1", "type": "function", "function": function}
    data = [
        *said[:-3],
        _event({"tool_calls": [begun]}),
        *(_event({"tool_calls": [{"index": 0, "function": {"arguments": a}}]}) for a in arguments),
        _event({}, "tool_calls"),
        *said[-2:],
    ]
    return [b"data: " + one + b"\n\n" for one in data]


def body(text: str, name: str = "", arguments: str = "") -> bytes:
    """A whole body that says this text and, where a function is named, calls it."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    message["annotations"] = []
    finish = "stop"
    if name:
        function = {"name": name, "arguments": arguments}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
        finish = "tool_calls"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    usage = {**_USAGE, "completion_tokens": 180, "total_tokens": 226}
    return compact({**_SHARED, "object": "chat.completion", "choices": [choice], "usage": usage})


EVENTS = events(words())
EVENT_DATA = [event[6:-2] for event in EVENTS]
SEEN = CHUNKS + 3
"""Chunks that the SDK hands on: all but the end mark."""

BODY = body("".join(words(180)).strip())

MESSAGES: list[dict[str, str]] = [
    {"role": "system", "content": "You are a patient assistant. " + "".join(words(60))},
    {"role": "user", "content": "Tell me about the town." + "".join(words(20))},
]
