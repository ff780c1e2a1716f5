"""Filters that are told as errors, in the words of the vendors, on every wire; and errors with similar
words that are none (E12a). The texts stand in public issues and the vendors' lists of errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.refusals import SHAPES

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.core.answer.fault import FaultKind

K = FaultKind

TEXTS = [
    "Content violates usage guidelines. ",
    "Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO",
    "Content Exists Risk",
    "input new_sensitive (1026)",
    "output new_sensitive (1027)",
    "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.",
    "Output data may contain inappropriate content.",
    "The request was rejected because it was considered high risk",
    "[1301][系统检测到输入或生成内容可能包含不安全或敏感内容]",
    "System detected potentially unsafe or sensitive content in input or generation.",
    "The request failed because the input text may contain sensitive information. Request id: 1",
    "The content you provided or machine outputted is blocked.",
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
    "Your request was rejected as a result of our safety system.",
    "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt",
    "Invalid prompt: we've limited access to this content for safety reasons.",
    "This content was flagged for possible cybersecurity risk. If this seems wrong, try rephrasing your request.",
    "Opus 4.6 has safety measures that flagged this message for a cybersecurity topic.",
    "Output blocked by content filtering policy",
    "The generated text has been blocked by our content filters.",
    "Request blocked by guardrail policy",
    "The guardrail intervened in this request",
    "Violated guardrail policy",
    "Violated OpenAI moderation policy",
    "Violated content safety policy",
    "litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - filtered",
    "Content blocked: denied_insults category keyword detected",
    "The prompt is blocked due to prohibited content",
    "The response was blocked due to SAFETY",
    "PROHIBITED_CONTENT",
    "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
    "Your chosen model requires moderation and your input was flagged for violence",
    "Prompt blocked due to security configurations",
    "blocked output: the generation violates our usage guidelines",
    "您的问题涉嫌违规，请更换话题",
    "本次会话内容有涉及违规信息的倾向 (sid: cha000b0b7f)",
    "输入内容包含违规信息，请修改后重试",
    "请求内容存在安全风险，请检查后重试",
    "Blocked entity detected: CREDIT_CARD by Guardrail: presidio-pre-guard. This entity is not allowed to be used in this request.",
    "prompt pattern is blocked",
    "Response filtered by Cortex Guard",
    "Content moderation failed",
    "Your request was blocked because it may contain content that is not allowed under the AWS Responsible AI Policy",
    "The guardrail checks defined in the config failed. You can find more information in the `hook_results` object.",
    "input_guardrail_triggered",
]

CODES = [
    "content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation", "content_violation",
    "DataInspectionFailed", "data_inspection_failed", "InternalError.Algo.DataInspectionFailed",
    "invalid_prompt", "1301", "1026", "1027", "censorship_blocked", "guardrail", "guardrails",
    "guardrail_violation", "GuardrailIntervened", "moderation_blocked", "cyber_policy", "bio_policy",
    "misalignment_policy_violation", "image_content_policy_violation", "SensitiveContentDetected",
    "InputTextSensitiveContentDetected", "OutputTextSensitiveContentDetected.SevereViolation",
    "prohibited_content", "safety", "sensitive", "hooks_failed",
]  # fmt: skip

OTHERS = [
    (403, "User: arn:aws:sts::1:assumed-role/r is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:::foundation-model/m because no identity-based policy allows the bedrock:InvokeModel action", K.AUTHENTICATION),
    (403, "User: u is not authorized to perform: bedrock:ApplyGuardrail on resource: arn:aws:bedrock:us-east-1:1:guardrail/abc", K.AUTHENTICATION),
    (403, "with an explicit deny in a service control policy", K.AUTHENTICATION),
    (403, "This account has been deactivated for violating our usage policies", K.AUTHENTICATION),
    (401, "Your organization was suspended because it violated the acceptable use policy", K.AUTHENTICATION),
    (403, "Access to the chat endpoint is denied", K.AUTHENTICATION),
    (429, "Rate limit reached for requests. See our rate limit policy.", K.RATE_LIMITED),
    (429, "Your usage pattern does not comply with the Fair Usage Policy, and your request frequency has been limited.", K.RATE_LIMITED),
    (429, "You have violated the fair usage policy; slow down", K.RATE_LIMITED),
    (400, "Invalid value for 'content': expected a string.", K.INVALID_REQUEST),
    (400, "The guardrail identifier or version provided in the request does not exist.", K.INVALID_REQUEST),
    (400, "Request blocked by CORS policy", K.INVALID_REQUEST),
    (400, "The guardrail config failed to load", K.INVALID_REQUEST),
    (400, "pattern: the regular expression is blocked by nothing and too long", K.INVALID_REQUEST),
    (503, "The content service is overloaded", K.OVERLOADED),
    (404, "No endpoints found matching your data policy", K.INVALID_REQUEST),
]  # fmt: skip

EVERYWHERE = sorted(
    name for name, wire in wires().items() if not wire.only_read and name != "anthropic-usage"
)


def understood(wire: str, status: int, text: str, code: str = "") -> Any:
    shape = SHAPES.get(wire, SHAPES["openai-chat"])
    body = shape(text)
    if code:
        place = body["error"] if isinstance(body.get("error"), dict) else body
        place["code"] = code
    return wires()[wire].parse_fault(status, {}, json.dumps(body).encode())


@pytest.mark.behaviour("E12a")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("wire", EVERYWHERE)
def test_a_filter_is_known_by_its_words_with_any_status(wire: str, text: str) -> None:
    for status in (400, 403, 422, 500):
        fault = understood(wire, status, text)
        assert (fault.kind, fault.retryable) == (K.CONTENT_BLOCKED, False), status


@pytest.mark.behaviour("E12a")
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "mistral", "dashscope"])
def test_a_filter_is_known_by_its_code(wire: str, code: str) -> None:
    assert understood(wire, 400, "x", code).kind is K.CONTENT_BLOCKED


@pytest.mark.behaviour("E12a")
@pytest.mark.parametrize(("status", "text", "kind"), OTHERS, ids=lambda v: str(v)[:40])
@pytest.mark.parametrize("wire", EVERYWHERE)
def test_similar_words_are_no_filter(wire: str, status: int, text: str, kind: FaultKind) -> None:
    if wire == "anthropic-messages" and status == 429:  # the shape of the table names another type
        status = 529
        kind = understood(wire, 400, "x").kind
        assert understood(wire, 400, text).kind is kind
        return
    found = understood(wire, status, text).kind
    assert found is kind or (found is not K.CONTENT_BLOCKED and kind is not K.AUTHENTICATION)


@pytest.mark.behaviour("E12a")
@pytest.mark.parametrize(
    "error",
    [
        {"code": "permission-denied", "error": "Content violates usage guidelines."},
        {"error": {"code": 403, "message": "Provider returned error",
                   "metadata": {"reasons": ["violence"], "flagged_input": "…"}}},
        {"error": {"code": 400, "message": "Provider returned error", "metadata": {
            "provider_name": "x", "raw": json.dumps({"error": {"message": "Content Exists Risk"}})}}},
        {"error": {"code": 400, "message": "Provider returned error",
                   "metadata": {"raw": json.dumps({"error": {"code": "content_filter"}})}}},
        {"error": {"message": {"error": "Violated guardrail policy"}, "code": "400"}},
        {"code": "900514", "type": "Status report", "message": "Runtime Error",
         "description": "Violation of PIIMasking detected."},
        {"base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}},
    ],
)  # fmt: skip
def test_a_filter_is_known_wherever_its_words_stand(error: dict[str, Any]) -> None:
    status = 446 if error.get("code") == "900514" else 403
    fault = wires()["openai-chat"].parse_fault(status, {}, json.dumps(error).encode())
    assert fault.kind is K.CONTENT_BLOCKED


UNREADABLE = [
    "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 18144: syntax error while parsing value",
    "Failed to parse input at pos 184: <tool_call>write",
    "The model produced output that does not match the expected peg-native format",
    "error parsing tool call: raw='{\"a', err=unexpected end of JSON input",
    "XML syntax error on line 3: element <function> closed by </parameter>",
    "Failed to parse tool call: unexpected end of JSON input",
    "litellm.InternalServerError: InternalServerError: Custom_openaiException - Failed to parse tool call arguments as JSON: x",
    "1 validation error for list[function-wrap[__log_extra_fields__()]]\n  Invalid JSON: EOF while parsing a string",
]  # fmt: skip


@pytest.mark.behaviour("T2")
@pytest.mark.parametrize("text", UNREADABLE)
@pytest.mark.parametrize(
    "wire", ["openai-chat", "openai-responses", "anthropic-messages", "ollama"]
)
def test_a_call_that_the_server_cannot_read_is_a_malformed_call(wire: str, text: str) -> None:
    for status in (400, 500):
        assert understood(wire, status, text).kind is K.MALFORMED_CALL


@pytest.mark.parametrize(
    "wire", ["openai-chat", "openai-responses", "anthropic-messages", "ollama"]
)
def test_what_the_caller_wrote_wrongly_is_no_call_of_the_models(wire: str) -> None:
    for text in ("Failed to parse tools: type must be string, but is null", "Failed to parse body"):
        assert understood(wire, 400, text).kind is K.INVALID_REQUEST
