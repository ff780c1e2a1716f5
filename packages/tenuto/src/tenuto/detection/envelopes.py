"""The lines of batch APIs, which hold an answer as a part.

https://platform.openai.com/docs/api-reference/batch/request-output,
https://docs.anthropic.com/en/docs/build-with-claude/batch-processing,
https://ai.google.dev/gemini-api/docs/batch-api,
https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini and
https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html
(read 2026-11-28).
"""

from __future__ import annotations

from tenuto.wires.json import JsonObject
from tenuto.wires.members import object_in

_MARKS = frozenset({"custom_id", "key", "recordId", "request", "response"})
"""The members by which batch APIs name a request, or repeat it, or hold the answer. Every line has
one of them."""


_OF_GEMINI = frozenset({"key", "error", "response", "metadata"})
"""The members of a line of Gemini. A line of a log with an error has more."""


def out_of_batch(value: JsonObject) -> JsonObject:
    """Return the answer or the error that a line of a batch holds; {} if it holds neither. Any
    other object is returned as it is.

    >>> out_of_batch({"key": "a", "response": {"candidates": []}})
    {'candidates': []}
    >>> out_of_batch({"custom_id": "1", "result": {"type": "canceled"}})
    {}
    """
    if _MARKS.isdisjoint(value):  # fast, since every object is asked
        return value
    if "custom_id" in value and "result" in value:  # Anthropic
        result = object_in(value["result"])
        return object_in(result.get("message")) or object_in(result.get("error"))
    if "custom_id" in value and "response" in value:  # OpenAI, and those that follow it
        response = object_in(value["response"])
        if response.get("type") == "message":  # Anthropic's on Vertex
            return response
        return object_in(response.get("body")) or _error_in(value)
    if "key" in value and isinstance(value.get("response"), dict):  # Gemini
        return object_in(value["response"])
    if value.keys() <= _OF_GEMINI:  # Gemini's, also without a key, as google-genai has them
        if _is_of_gemini(response := object_in(value.get("response"))):
            return response
        named = "key" in value or "metadata" in value
        return (_error_in(value) if named and not value.get("response") else {}) or value
    if "request" in value and isinstance(value.get("response"), dict):  # Vertex
        told = value.get("status")
        if isinstance(told, str) and told and "processed_time" in value and not value["response"]:
            return {"error": {"message": told}}
        return value["response"] if _is_of_gemini(value["response"]) else value
    if "recordId" in value and ("modelOutput" in value or "modelInput" in value):  # Bedrock
        return object_in(value.get("modelOutput")) or _error_of_bedrock(value)
    return value


def _is_of_gemini(value: JsonObject) -> bool:
    return "candidates" in value or "promptFeedback" in value


def _error_in(value: JsonObject) -> JsonObject:
    return {"error": value["error"]} if object_in(value.get("error")) else {}


def _error_of_bedrock(value: JsonObject) -> JsonObject:
    """Return the error of a line of Bedrock, whose members have names of their own, as one."""
    told = object_in(value.get("error"))
    if "errorCode" in told or "errorMessage" in told:
        told = {"code": told.get("errorCode"), "message": told.get("errorMessage")}
    return {"error": told} if told else {}
