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


def responses(**more: Any) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "output": [], **more}


AZURES = [
    {
        "blocked": False,
        "source_type": "prompt",
        "content_filter_raw": [],
        "content_filter_results": {"jailbreak": {"detected": False, "filtered": False}},
        "content_filter_offsets": {"start_offset": 0, "end_offset": 72, "check_offset": 0},
    },
    {"blocked": True, "source_type": "completion", "content_filter_results": FILTERED},
    "no filter",
]
"""As Azure lists its filters on Responses (recorded; there, none had blocked)."""


def converse(stop: str, **more: Any) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hm"}]}},
        "stopReason": stop,
        "metrics": {"latencyMs": 9},
        **more,
    }


TRACE = {
    "guardrail": {
        "actionReason": "No action.\nGuardrail masked.",
        "inputAssessment": {"gr": {"invocationMetrics": {"usage": {"topicPolicyUnits": 1}}}},
        "modelOutput": ["The capital of Italy is Rome."],
        "outputAssessments": {
            "gr": [
                {
                    "contextualGroundingPolicy": {
                        "filters": [{"action": "NONE", "score": 0.94, "type": "GROUNDING"}]
                    },
                    "sensitiveInformationPolicy": {
                        "piiEntities": [
                            {"action": "ANONYMIZED", "match": "Italy", "type": "ADDRESS"},
                            {"action": "ANONYMIZED", "match": "Rome", "type": "ADDRESS"},
                        ]
                    },
                }
            ]
        },
    }
}
"""As Converse tells it (recorded)."""
MASKED = {
    "guardrail_output": "ADDRESS=ANONYMIZED",
    "action_reason": "No action.\\nGuardrail masked.",
}

INVOKED = {
    "outputText": "Input blocked",
    "index": 0.0,
    "amazon-bedrock-guardrailAction": "INTERVENED",
    "amazon-bedrock-trace": {
        "guardrail": {
            "input": {
                "gr": {"topicPolicy": {"topics": [
                    {"name": "topic-1", "type": "DENY", "action": "BLOCKED", "detected": True}
                ]}}
            },
            "outputs": [
                {"gr": {"sensitiveInformationPolicy": {"regexes": [
                    {"name": "Account", "regex": "[0-9]+", "match": "123", "action": "ANONYMIZED"}
                ]}}},
                None,
            ],
            "actionReason": "Guardrail blocked.",
        }
    },
}  # fmt: skip
"""As InvokeModel tells it (recorded)."""

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
    (responses(content_filters=AZURES[:1]), {}),
    (
        responses(
            status="incomplete",
            incomplete_details={"reason": "content_filter"},
            content_filters=AZURES,
        ),
        {"content_filter": "hate"},
    ),
    (converse("guardrail_intervened", trace=TRACE), MASKED),
    (converse("end_turn", trace={"guardrail": {"actionReason": "No action."}}), {}),
    (
        converse("stop_sequence", additionalModelResponseFields={"stop_sequence": "###"}),
        {"stop_sequence": "###"},
    ),
    (converse("stop_sequence", additionalModelResponseFields=["###"]), {}),
    (
        INVOKED,
        {
            "guardrail_input": "topic-1=BLOCKED",
            "guardrail_output": "Account=ANONYMIZED",
            "action_reason": "Guardrail blocked.",
        },
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


@pytest.mark.behaviour("N10")
def test_a_stop_of_responses_has_them_at_the_end_of_a_stream() -> None:
    blocked = responses(
        status="incomplete",
        incomplete_details={"reason": "content_filter"},
        content_filters=AZURES,
    )
    event = {"type": "response.incomplete", "sequence_number": 1, "response": blocked}
    stream = f"event: response.incomplete\ndata: {json.dumps(event)}\n\n"
    stop = tenuto.detect(stream.encode())
    assert (stop.raw, stop.metadata) == ("content_filter", {"content_filter": "hate"})


@pytest.mark.behaviour("N10")
def test_a_stop_of_converse_has_the_words_that_come_in_the_last_event() -> None:
    told = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "{ADDRESS}"}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "guardrail_intervened"}},
        {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1}, "trace": TRACE}},
    ]
    stop = tenuto.detect(told)
    assert (stop.raw, stop.metadata) == ("guardrail_intervened", MASKED)
    assert stop.anomalies == ()


@pytest.mark.behaviour("N10", "P8")
@pytest.mark.parametrize(
    "found", [None, 7, "x", [1], {"gr": 1}, {"gr": [[]]}, {"gr": {"p": {"k": 1}}}]
)
def test_a_trace_of_another_shape_says_nothing(found: Any) -> None:
    for trace in (found, {"guardrail": {"inputAssessment": found, "outputs": found}}):
        stop = tenuto.detect(json.dumps(converse("end_turn", trace=trace)).encode())
        assert (stop.raw, stop.metadata) == ("end_turn", {})


def test_words_are_bounded_and_have_one_line() -> None:
    stop = tenuto.detect(json.dumps(chat(finish_reason="stop", stop_reason="a\n" * 500)).encode())
    assert len(stop.metadata["stop_sequence"]) <= 80
    assert "\n" not in stop.metadata["stop_sequence"]
    many = [{"category": f"C{n}" * 90, "probability": "HIGH"} for n in range(900)]
    stop = tenuto.detect(json.dumps(gemini(finishReason="SAFETY", safetyRatings=many)).encode())
    assert len(stop.metadata["safety_ratings"]) <= 80
