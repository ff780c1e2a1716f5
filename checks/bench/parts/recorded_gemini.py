"""Bytes in the shape of Gemini's (made up after `google/genai/types.py` of google-genai 3.4): each
event says as well what has been used so far."""

from __future__ import annotations

import json
from typing import Any

from parts.recorded import words


def _spaced(value: object) -> bytes:
    """JSON as Google writes it."""
    return json.dumps(value, separators=(",", ": "), ensure_ascii=False).encode()


def _response(text: str, tokens: int, finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": [{"text": text}], "role": "model"}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {
        "candidates": [{**candidate, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 46,
            "candidatesTokenCount": tokens,
            "totalTokenCount": 173 + tokens,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 46}],
            "thoughtsTokenCount": 127,
        },
        "modelVersion": "gemini-2.5-flash",
        "responseId": "Th-jaIKZKbCMqsMP3O2RkAo",
    }


def events(texts: list[str]) -> list[bytes]:
    """The events of a stream that says these texts."""
    values = [_response(text, number, None) for number, text in enumerate(texts, 1)]
    values.append(_response("", len(texts), "STOP"))
    # Google ends lines as HTTP does.
    return [b"data: " + _spaced(value) + b"\r\n\r\n" for value in values]


EVENTS = events(words())
EVENT_DATA = [event[6:-4] for event in EVENTS]
BODY = _spaced(_response("".join(words(180)).strip(), 180, "STOP"))
