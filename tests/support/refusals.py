"""The words in which providers refuse a history, a limit or a key, each with the wire that it comes on and
what it means: a prefill that is not taken, the output tokens that are allowed, the keys that are not
known, or a history that breaks a rule, which is not sent again. Most are quoted from public issues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tenuto.core.answer.fault import FaultKind

K = FaultKind


class Refusal(NamedTuple):
    """`told`: the number or the keys that the words name."""

    wire: str
    kind: FaultKind
    told: Any
    text: str


SHAPES: Mapping[str, Callable[[str], Any]] = {
    "anthropic-messages": lambda text: {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": text},
    },
    "bedrock-converse": lambda text: {"message": text},
    "bedrock-invoke": lambda text: {"message": text},
    "cohere": lambda text: {"id": "0", "message": text},
    "dashscope": lambda text: {"code": "InvalidParameter", "message": text, "request_id": "0"},
    "gemini-generate": lambda text: {
        "error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}
    },
    "mistral": lambda text: {
        "object": "error",
        "message": text,
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    },
    "ollama": lambda text: {"error": text},
    "openai-chat": lambda text: {
        "error": {"message": text, "type": "invalid_request_error", "param": None, "code": None}
    },
    "openai-responses": lambda text: {
        "error": {"message": text, "type": "invalid_request_error", "param": "input", "code": None}
    },
    "watsonx": lambda text: {
        "errors": [{"code": "invalid_input_argument", "message": text}],
        "trace": "0",
        "status_code": 400,
    },
}
"""How a wire says that it refuses."""

_HISTORY: Mapping[str, Sequence[str]] = {
    "anthropic-messages": (
        "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        "messages.27: Did not find 1 `tool_result` block(s) at the beginning of this message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks.",
        "messages.38.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
        "messages.5: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
        "messages.5: `tool_use` ids must be unique",
        "messages: text content blocks must be non-empty",
        "messages: text content blocks must contain non-whitespace text",
        "messages.3: all messages must have non-empty content except for the optional final assistant message",
        "messages: final assistant content cannot end with trailing whitespace",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.",
        "messages.3.content.0: Invalid `signature` in `thinking` block",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
        "The `content[].thinking` in the thinking mode must be passed back to the API.",
    ),
    "openai-chat": (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        '<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[532].role',
        "tool_call_id  is not found",
        "Invalid value for 'content': expected a string, got null.",
        "[] is too short - 'messages.3.tool_calls'",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 60 instead.",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "After the optional system message, conversation roles must alternate user and assistant roles (user/assistant/user/assistant/...).",
        "invalid tool call arguments",
    ),
    "openai-responses": (
        "No tool output found for function call call_1.",
        "No tool call found for function call output with call_id call_1.",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.",
        "Item 'ws_1' of type 'web_search_call' was provided without its required 'reasoning' item: 'rs_1'.",
    ),
    "dashscope": (
        '<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[532].role',
    ),
    "mistral": (
        "Not the same number of function calls and responses",
        "Unexpected role 'user' after role 'tool'",
        "Unexpected role 'tool' after role 'user'",
        "Tool call id was X but must be a-z, A-Z, 0-9, with a length of 9.",
        "Assistant message must have either content or tool_calls, but not none.",
    ),
    "gemini-generate": (
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "Please ensure that function response turn comes immediately after a function call turn.",
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:Bash` , position 2.",
        "Unable to submit request because it must have a text parameter.",
        "contents.parts must not be empty.",
        "Corrupted thought signature.",
    ),
    "bedrock-converse": (
        "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1",
        "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.",
        "messages.4.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
        "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.",
        "The text field in the ContentBlock object at messages.1.content.0 is blank. Add text to the text field, and try again.",
        "The content field in the Message object at messages.1 is empty. Add a ContentBlock object to the content field and try again.",
        "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    ),
    "cohere": (
        "invalid request: An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
        "invalid request: all elements in history must have a message.",
        "invalid request: cannot specify message if the last entry in chat history contains tool results",
    ),
    "ollama": (
        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
    ),
}

_PREFILLS: Mapping[str, Sequence[str]] = {
    "anthropic-messages": (
        "This model does not support assistant message prefill. The conversation must end with a user message.",
        "Prefilling assistant messages is not supported for this model.",
    ),
    "openai-chat": (
        "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on (refer to https://api-docs.deepseek.com/guides/chat_prefix_completion).",
        "Assistant response prefill is incompatible with enable_thinking.",
        "Cannot have 2 or more assistant messages at the end of the list.",
        "continue_final_message is set but the final message does not appear in the chat after applying the chat template!",
        "chat_template is not supported for Mistral tokenizers.",
    ),
    "mistral": (
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    ),
    "gemini-generate": (
        "Requests ending with a model turn are not supported.",
        "Requests ending with a model turn are not supported unless the last part is a function response.",
        "Please ensure that multiturn requests ends with a user role or a function response",
        "Please ensure that single turn requests end with a user role or the role field is empty.",
    ),
    "bedrock-converse": ("conversation must end with user",),
}

_LIMITS: Mapping[str, Mapping[str, int]] = {
    "anthropic-messages": {
        "max_tokens: 70000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4": 64_000,
    },
    "openai-chat": {
        "max_tokens is too large: 20480. This model supports at most 16384 completion tokens, whereas you provided 20480.": 16_384,
    },
}

_KEYS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "anthropic-messages": {"seed: Extra inputs are not permitted": ("seed",)},
    "openai-chat": {
        "Unrecognized request argument supplied: seed": ("seed",),
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
        "body.messages.1.assistant: property 'refusal' is unsupported": ("refusal",),
    },
}

PASSED_ON = {
    "anthropic-messages": ("bedrock-converse", "bedrock-invoke", "openai-chat"),
    "openai-chat": ("watsonx", "openai-responses", "openai-completions"),
    "mistral": ("openai-chat",),
    "bedrock-converse": ("bedrock-invoke",),
    "cohere": ("openai-chat",),
    "ollama": ("openai-chat",),
    "gemini-generate": ("openai-chat",),
}
"""Where the words of a wire come as well: clouds and gateways that serve its models."""


def _tables() -> Iterator[Refusal]:
    for wire, texts in _HISTORY.items():
        yield from (Refusal(wire, K.INVALID_REQUEST, (), text) for text in texts)
    for wire, texts in _PREFILLS.items():
        yield from (Refusal(wire, K.PREFILL_REJECTED, (), text) for text in texts)
    for wire, limits in _LIMITS.items():
        for text, limit in limits.items():
            yield Refusal(wire, K.OUTPUT_BUDGET_TOO_LARGE, limit, text)
    for wire, keys in _KEYS.items():
        yield from (Refusal(wire, K.UNKNOWN_KEY, told, text) for text, told in keys.items())


REFUSALS = tuple(_tables())


def everywhere() -> Iterator[Refusal]:
    """Each on its own wire, and where its models are served too: by Amazon with a word before it."""
    for row in REFUSALS:
        yield row
        for wire in PASSED_ON.get(row.wire, ()):
            foreign = wire.startswith("bedrock") and not row.wire.startswith("bedrock")
            before = "The model returned the following errors: " if foreign else ""
            yield row._replace(wire=wire, text=before + row.text)
