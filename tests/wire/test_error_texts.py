"""The words in which OpenAI-style providers refuse, literally, and what they are understood as.

The texts stand in reference/wires.md §1.1, §1.4, §1.13, §1.27, §2 (Q32 to Q35), §3 and §4, most of them quoted
from public issues.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto.core.fault import FAULT_CLASSES, FaultKind
from tenuto.core.stop import StopReason
from tenuto.wire.openai_chat import WIRE
from tenuto.wire.openai_chat_errors import read_fault
from tenuto.wire.registry import wires

K = FaultKind

PREFILL = {
    "Anthropic": "This model does not support assistant message prefill. The conversation must end with a user message.",
    "Anthropic, variant": "Prefilling assistant messages is not supported for this model.",
    "DeepSeek": "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on (refer to https://api-docs.deepseek.com/guides/chat_prefix_completion).",
    "Mistral": "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    "llama.cpp thinking": "Assistant response prefill is incompatible with enable_thinking.",
    "llama.cpp two": "Cannot have 2 or more assistant messages at the end of the list.",
    "Gemini": "Requests ending with a model turn are not supported.",
    "Llama on Bedrock": "conversation must end with user",
    "Gemini, older": "Please ensure that multiturn requests ends with a user role or a function response",
}

BUDGETS = {
    "max_tokens is too large: 20480. This model supports at most 16384 completion tokens, whereas you provided 20480.": 16_384,
    "max_completion_tokens is too large: 9. This model supports at most 5 completion tokens": 5,
    "max_tokens: 70000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4": 64_000,
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
    "Unrecognized request argument supplied: reasoning_effort": ("reasoning_effort",),
    "Unrecognized request arguments supplied: a_key, b_key": ("a_key", "b_key"),
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.": (
        "max_tokens",
    ),
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported, did you mean 'role'?)]": (
        "reasoning",
    ),
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]": (
        "reasoning_content",
    ),
    "Extra inputs are not permitted, field: 'messages[1].reasoning_details'": (
        "messages[1].reasoning_details",
    ),
    "messages.1.assistant.annotations: Extra inputs are not permitted": (
        "messages.1.assistant.annotations",
    ),
    "body.x: property 'x' is unsupported": ("x",),
}

PAIRING = [
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    '<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[532].role',
    "Not the same number of function calls and responses",
    "Unexpected role 'user' after role 'tool'",
    "Unexpected role 'tool' after role 'user'",
    "Tool call id was X but must be a-z, A-Z, 0-9, with a length of 9.",
    "Assistant message must have either content or tool_calls, but not none.",
    "tool_call_id  is not found",
    "Invalid value for 'content': expected a string, got null.",
    "[] is too short - 'messages.3.tool_calls'",
    "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 60 instead.",
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    "After the optional system message, conversation roles must alternate user and assistant roles.",
    "invalid tool call arguments",
]

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


@pytest.mark.parametrize("message", PREFILL.values(), ids=list(PREFILL))
def test_a_refused_prefill_is_understood(message):
    assert understood(message).kind is K.PREFILL_REJECTED


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


@pytest.mark.parametrize("message", PAIRING)
def test_a_history_that_is_refused_is_an_invalid_request(message):
    fault = understood(message)
    assert fault.kind is K.INVALID_REQUEST
    assert not fault.retryable


@pytest.mark.parametrize("message", WINDOWS)
def test_the_context_window_is_read_out_of_the_words(message):
    fault = understood(message)
    assert (fault.kind, fault.window_tokens) == (K.CONTEXT_OVERFLOW, WINDOWS[message])
    assert fault.allowed_tokens is None


OF_OTHER_WIRES = {
    "anthropic-messages": [
        "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        "messages.27: Did not find 1 `tool_result` block(s) at the beginning of this message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks.",
        "messages.38.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
        "messages.5: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
        "messages.5: `tool_use` ids must be unique",
        "messages: text content blocks must be non-empty",
        "messages: text content blocks must contain non-whitespace text",
        "messages.3: all messages must have non-empty content except for the optional final assistant message",
        "messages: final assistant content cannot end with trailing whitespace",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        "messages.3.content.0: Invalid `signature` in `thinking` block",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
        "The `content[].thinking` in the thinking mode must be passed back to the API.",
    ],
    "openai-responses": [
        "No tool output found for function call call_1.",
        "No tool call found for function call output with call_id call_1.",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "Item 'ws_1' of type 'web_search_call' was provided without its required 'reasoning' item: 'rs_1'.",
    ],
    "gemini-generate": [
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "Please ensure that function response turn comes immediately after a function call turn.",
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.",
        "Unable to submit request because it must have a text parameter.",
        "contents.parts must not be empty.",
        "Corrupted thought signature.",
    ],
    "bedrock-converse": [
        "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1",
        "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.",
        "messages.4.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
        "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.",
        "The text field in the ContentBlock object at messages.1.content.0 is blank. Add text to the text field, and try again.",
        "The content field in the Message object at messages.1 is empty. Add a ContentBlock object to the content field and try again.",
        "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    ],
    "openai-chat": [
        *PAIRING,
        "invalid request: all elements in history must have a message.",
        "invalid request: cannot specify message if the last entry in chat history contains tool results",
        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
    ],
}


@pytest.mark.behaviour("H9")
@pytest.mark.parametrize(
    ("wire", "message"), [(wire, m) for wire, all_of in OF_OTHER_WIRES.items() for m in all_of]
)
def test_a_history_that_is_refused_is_not_sent_again_whatever_the_status(wire, message):
    statuses = (400, 422) if "reasoning_effort" in message else (400, 422, 500)
    for status in statuses:
        body = json.dumps({"error": {"message": message}, "message": message}).encode()
        fault = wires()[wire].parse_fault(status, {}, body)
        assert fault.kind is K.INVALID_REQUEST
        assert not fault.retryable


@pytest.mark.behaviour("C8")
@pytest.mark.parametrize("message", PREFILL.values(), ids=list(PREFILL))
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
    (200, {"base_resp": {"status_code": 1039, "status_msg": "x"}}, K.CONTEXT_OVERFLOW),
    (200, {"base_resp": {"status_code": 1002, "status_msg": "x"}}, K.RATE_LIMITED),
    (200, {"base_resp": {"status_code": 1026, "status_msg": "x"}}, K.CONTENT_BLOCKED),
    (429, {"error": {"code": "rate_limit_exceeded", "message": "x"}}, K.RATE_LIMITED),
    (429, {"error": {"code": "insufficient_quota", "message": "x"}}, K.AUTHENTICATION),
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
