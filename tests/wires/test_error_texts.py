"""The words in which OpenAI-style providers refuse, literally, and what they are understood as.

The texts stand in reference/wires.md §1.1, §1.4, §1.13, §1.27, §2 (Q32 to Q35) and §3, most of them quoted
from public issues; those of §4 are a table of their own (`refusals`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.refusals import REFUSALS, SHAPES, everywhere

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.core.answer.fault import FAULT_CLASSES, FaultKind
from tenuto.core.answer.stop import StopReason
from tenuto.wires.chat_like.errors import read_fault
from tenuto.wires.openai_chat.wire import WIRE

K = FaultKind

BUDGETS = {
    "max_completion_tokens is too large: 9. This model supports at most 5 completion tokens": 5,
    "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]": 8_192,
    "Invalid max_tokens value, the valid range of max_tokens is [1, 393216]": 393_216,
    "max_tokens参数非法：限制数值范围[1,131072]": 131_072,
    "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model": 16_384,
    "max_tokens (393216) exceeds model's maximum output tokens (131072) for model kimi-k3": 131_072,
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (4096 > 4096 - 1000).": 3_096,
    "This model's maximum context length is 16384 tokens. However, you requested 22946 tokens (12946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.": 3_438,
    "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains 62466 input tokens, for a total of 128001 tokens.": 65_534,
}

WINDOWS = {
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.": 8_192,
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).": 8_192,
    "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.": 128_000,
    "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it": 8_192,
    "prompt is too long: 210000 tokens > 200000 maximum": 200_000,
    "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).": 1_048_576,
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).": 8_192,
    "Input is too long for requested model.": None,
}

KEYS = {
    "Unrecognized request arguments supplied: a_key, b_key": ("a_key", "b_key"),
    "messages.1.assistant.annotations: Extra inputs are not permitted": (
        "messages.1.assistant.annotations",
    ),
    "body.x: property 'x' is unsupported": ("x",),
}

CONTEXT = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
]


def understood(message: str, status: int | None = 400, **more: Any) -> Any:
    body = {"error": {"message": message, "type": "invalid_request_error"} | more}
    return WIRE.parse_fault(status or 400, {}, json.dumps(body).encode())


@pytest.mark.behaviour("H9", "C8", "C18", "H5")
@pytest.mark.parametrize("refusal", list(everywhere()))
def test_each_refusal_is_understood_wherever_it_comes(refusal):
    wire, kind, told, text = refusal
    shape = SHAPES.get(wire, SHAPES["openai-chat"])
    # Servers that build their prompts by a template refuse a history with status 500.
    for status in (400, 422, 500) if kind is K.INVALID_REQUEST else (400, 422):
        fault = wires()[wire].parse_fault(status, {}, json.dumps(shape(text)).encode())
        assert fault.kind is kind
        assert told == (fault.allowed_tokens if isinstance(told, int) else fault.keys)
        assert not (fault.retryable and kind is K.INVALID_REQUEST)


def test_what_no_other_parameter_mends_is_an_invalid_request():
    message = "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    assert understood(message).kind is K.INVALID_REQUEST


@pytest.mark.parametrize("message", BUDGETS)
def test_an_output_limit_is_read_out_of_the_words(message):
    fault = understood(message)
    assert (fault.kind, fault.allowed_tokens) == (K.OUTPUT_BUDGET_TOO_LARGE, BUDGETS[message])


@pytest.mark.parametrize("message", KEYS)
def test_unknown_keys_are_read_out_of_the_words(message):
    fault = understood(message)
    assert (fault.kind, fault.keys) == (K.UNKNOWN_KEY, KEYS[message])


def test_the_list_of_findings_of_a_422_names_its_keys():
    found = {
        "type": "extra_forbidden",
        "loc": ["body", "messages", 1, "assistant", "refusal"],
        "msg": "Extra inputs are not permitted",
    }
    for error in ({"object": "error", "message": {"detail": [found]}}, {"detail": [found]}):
        fault = WIRE.parse_fault(422, {}, json.dumps(error).encode())
        assert (fault.kind, fault.keys) == (K.UNKNOWN_KEY, ("messages.assistant.refusal",))


@pytest.mark.parametrize("message", WINDOWS)
def test_the_context_window_is_read_out_of_the_words(message):
    fault = understood(message)
    assert (fault.kind, fault.window_tokens) == (K.CONTEXT_OVERFLOW, WINDOWS[message])
    assert fault.allowed_tokens is None


@pytest.mark.behaviour("C8")
@pytest.mark.parametrize(
    "message", [row.text for row in REFUSALS if row.kind is K.PREFILL_REJECTED]
)
@pytest.mark.parametrize(
    "wire", ["anthropic-messages", "gemini-generate", "bedrock-converse", "openai-responses"]
)
def test_a_model_refuses_a_prefill_in_the_same_words_on_every_wire(wire, message):
    body = json.dumps({"error": {"message": message}, "message": message}).encode()
    assert wires()[wire].parse_fault(400, {}, body).kind is K.PREFILL_REJECTED


@pytest.mark.parametrize("message", CONTEXT)
def test_a_full_context_is_understood(message):
    fault = understood(message)
    assert fault.kind is K.CONTEXT_OVERFLOW
    assert FAULT_CLASSES[fault.kind].compress


BODIES: list[tuple[int, Any, FaultKind]] = [
    (400, {"error": {"message": "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.", "type": "invalid_request_error"}}, K.OUTPUT_LIMIT),
    (400, {"error": {"code": "content_filter", "message": "filtered", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, K.CONTENT_BLOCKED),
    (400, {"error": {"code": "DataInspectionFailed", "message": "Input or output data may contain inappropriate content."}}, K.CONTENT_BLOCKED),
    (400, {"error": {"code": "1301", "message": "x"}}, K.CONTENT_BLOCKED),
    (400, {"error": {"code": "invalid_prompt", "type": "invalid_request_error", "message": "flagged"}}, K.CONTENT_BLOCKED),
    (403, {"error": {"code": 403, "message": "Your chosen model requires moderation and your input was flagged"}}, K.CONTENT_BLOCKED),
    (400, {"error": {"code": "context_length_exceeded", "message": "x"}}, K.CONTEXT_OVERFLOW),
    (400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "x", "n_ctx": 8192}}, K.CONTEXT_OVERFLOW),
    (400, {"error": {"code": "tool_use_failed", "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", "failed_generation": "<x"}}, K.MALFORMED_CALL),
    (500, {"error": "error parsing tool call: raw='{\"a', err=unexpected end of JSON input"}, K.MALFORMED_CALL),
    (200, {"base_resp": {"status_code": 1039, "status_msg": "x"}}, K.RATE_LIMITED),
    (200, {"base_resp": {"status_code": 1002, "status_msg": "x"}}, K.RATE_LIMITED),
    (200, {"base_resp": {"status_code": 1026, "status_msg": "x"}}, K.CONTENT_BLOCKED),
    (429, {"error": {"code": "rate_limit_exceeded", "message": "x"}}, K.RATE_LIMITED),
    (429, {"error": {"code": "insufficient_quota", "message": "x"}}, K.PAYMENT),
    (402, {"error": {"code": 402, "message": "Insufficient Balance"}}, K.PAYMENT),
    (499, {"error": {"code": 499, "message": "x", "status": "CANCELLED"}}, K.CANCELLED),
    (401, {"error": {"code": "invalid_api_key", "message": "x"}}, K.AUTHENTICATION),
    (404, {"detail": "Not Found"}, K.INVALID_REQUEST),
    (400, [{"error": {"code": "content_filter", "message": "x"}}], K.CONTENT_BLOCKED),  # Google's compatible endpoint
    (400, {"object": "error", "type": "invalid_request_message_order", "code": "3230", "message": "Unexpected role 'user' after role 'tool'"}, K.INVALID_REQUEST),
    (503, b"<html>", K.OVERLOADED),
    (529, b"", K.OVERLOADED),
    (504, b"upstream timed out", K.TIMEOUT),
    (408, b"", K.TIMEOUT),
    (500, b"\xff", K.SERVER),
    (502, {"error": {"code": "cascade_exhausted", "message": "x"}}, K.UPSTREAM_GAVE_UP),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind"), BODIES, ids=lambda v: str(v)[:60])
def test_an_error_body_is_understood(status, body, kind):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    fault = WIRE.parse_fault(status, {"retry-after": "7"}, raw)
    assert (fault.kind, fault.status, fault.retry_after_s) == (kind, status, 7.0)


@pytest.mark.behaviour("N6")
def test_odd_errors_and_headers_are_read_without_raising():
    long = "max_tokens is too large " * 100_000 + "a" * 100_000
    odd: list[Any] = [
        None,
        5,
        [],
        {},
        {"code": 10**5_000},
        {"message": long},
        {"detail": [{"loc": 5}]},
    ]
    for error in odd:
        assert read_fault(error).kind in FaultKind
    for after in ("", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", "nan", "-1", "1e999"):
        assert WIRE.parse_fault(429, {"retry-after": after}, b"").kind is K.RATE_LIMITED


def test_every_kind_that_a_text_can_mean_is_a_stop_too():
    assert FAULT_CLASSES[K.OUTPUT_LIMIT].reason is StopReason.MAX_TOKENS
    assert set(FAULT_CLASSES) == set(FaultKind)
