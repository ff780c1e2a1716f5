"""What a provider says beside a stop reaches `Stop.metadata`, of bodies and of streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tenuto


def chat(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": "Hm"}, **choice}]}


def anthropic(**more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": "Hm"}]
    return {"type": "message", "role": "assistant", "content": content, **more}


def gemini(**candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": "Hm"}]}, "index": 0, **candidate}]}


RATED = [
    {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"},
    {"category": "HARM_CATEGORY_HATE_SPEECH", "probability": "HIGH", "blocked": True},
    {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "MEDIUM"},
    "no rating",
]
UNSAFE = "HARM_CATEGORY_HATE_SPEECH=HIGH, HARM_CATEGORY_DANGEROUS_CONTENT=MEDIUM"
FILTERED = {"hate": {"filtered": True, "severity": "high"}, "violence": {"filtered": False}, "x": 1}

BODIES: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        anthropic(stop_reason="refusal", stop_details={"category": "cyber", "explanation": "No."}),
        {"category": "cyber"},
    ),
    (anthropic(stop_reason="refusal", stop_details={"category": "You said: x"}), {}),
    (anthropic(stop_reason="stop_sequence", stop_sequence="###"), {"stop_sequence": "###"}),
    (anthropic(stop_reason="end_turn", stop_sequence=None), {}),
    (
        chat(finish_reason="content_filter", content_filter_results=FILTERED),
        {"content_filter": "hate"},
    ),
    (chat(finish_reason="stop", stop_reason="###"), {"stop_sequence": "###"}),
    (chat(finish_reason="stop", matched_stop=151645), {}),
    (
        chat(finish_reason="length", native_finish_reason="MAX_TOKENS"),
        {"native_finish_reason": "MAX_TOKENS"},
    ),
    (chat(finish_reason="stop"), {}),
    (gemini(finishReason="SAFETY", safetyRatings=RATED), {"safety_ratings": UNSAFE}),
    (gemini(finishReason="STOP", safetyRatings=RATED[:1]), {}),
    (
        {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": RATED}},
        {"safety_ratings": UNSAFE},
    ),
]


@pytest.mark.behaviour("N10")
@pytest.mark.parametrize(("body", "words"), BODIES)
def test_a_stop_of_a_body_has_the_providers_words(body: Any, words: dict[str, str]) -> None:
    stop = tenuto.detect(json.dumps(body).encode())
    assert stop.metadata == words
    assert stop.as_dict()["metadata"] == words


def test_a_stop_of_a_stream_has_them_too() -> None:
    begun: dict[str, Any] = {"type": "message_start", "message": anthropic(id="m", content=[])}
    delta = {"stop_reason": "refusal", "stop_details": {"category": "bio"}}
    events: list[dict[str, Any]] = [
        begun,
        {"type": "message_delta", "delta": delta},
        {"type": "message_stop"},
    ]
    stream = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    stop = tenuto.detect(stream.encode())
    assert (stop.raw, stop.metadata) == ("refusal", {"category": "bio"})


def test_words_are_bounded_and_have_one_line() -> None:
    stop = tenuto.detect(json.dumps(chat(finish_reason="stop", stop_reason="a\n" * 500)).encode())
    assert len(stop.metadata["stop_sequence"]) <= 80
    assert "\n" not in stop.metadata["stop_sequence"]
    many = [{"category": f"C{n}" * 90, "probability": "HIGH"} for n in range(900)]
    stop = tenuto.detect(json.dumps(gemini(finishReason="SAFETY", safetyRatings=many)).encode())
    assert len(stop.metadata["safety_ratings"]) <= 80
