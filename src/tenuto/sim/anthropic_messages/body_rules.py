"""Which requests are refused before their messages are read, and in which words.

Texts that are in quotes in the provider's documentation or in public reports are those; the others
follow the form that the provider's validation gives to all of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto.sim.anthropic_messages.errors import extra, failure, required, too_many_tokens
from tenuto.sim.anthropic_messages.request import thinks
from tenuto.sim.errors import Failure
from tenuto.sim.shapes import from_us, others

KEYS: Final = frozenset(
    {"model", "messages", "max_tokens", "stream", "system", "temperature", "top_k", "top_p"}
    | {"stop_sequences", "metadata", "tools", "tool_choice", "thinking", "service_tier"}
    | {"container", "output_config", "cache_control", "inference_geo", "speed", "diagnostics"}
    | {"user_profile_id", "workspace_id", "context_management", "mcp_servers"}
)
NOT_JSON: Final = "The request body is not valid JSON: expected value at line 1 column 1"
LEAST_THINKING_TOKENS: Final = 1024

Violations = Iterator[Failure]


def impossible(body: Any) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all.

    >>> impossible({"model": "sim"}).document["error"]["message"]
    'messages: Field required'
    """
    if not isinstance(body, dict):
        return failure(NOT_JSON)
    return next(_shape(body), None)


def _shape(body: Mapping[str, Any]) -> Violations:
    if "model" not in body:
        yield required("model")
    elif not isinstance(body["model"], str):
        yield failure("model: Input should be a valid string")
    elif not body["model"]:
        yield failure("model: String should have at least 1 character")
    if "messages" not in body:
        yield required("messages")
    elif not isinstance(body["messages"], list):
        yield failure("messages: Input should be a valid array")
    elif not body["messages"]:
        yield failure("messages: at least one message is required")
    else:
        for i, message in enumerate(body["messages"]):
            if not isinstance(message, dict):
                yield failure(f"messages.{i}: Input should be an object")
            elif not isinstance(message.get("role"), str):
                yield failure(f"messages.{i}.role: Input should be 'user' or 'assistant'")
    if not isinstance(body.get("stream", False), bool):
        yield failure("stream: Input should be a valid boolean")


def header_violations(headers: Mapping[str, str]) -> Violations:
    """Yield what is wrong with the headers of a request.

    >>> next(header_violations({"x-api-key": "key"})).document["error"]["message"]
    'anthropic-version: header is required'
    """
    yield from from_us(headers, lambda name: failure(f"{name}: unexpected header"))
    bearer = headers.get("authorization", "").lower().startswith("bearer ")
    if not headers.get("x-api-key") and not bearer:
        yield failure("x-api-key header is required", status=401)
    if not headers.get("anthropic-version"):
        yield failure("anthropic-version: header is required")


def body_violations(body: Mapping[str, Any], ceiling_tokens: int) -> Violations:
    """Yield what is wrong with the keys of a request, its messages aside.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "x"}]}
    >>> next(body_violations(ask, 100)).document["error"]["message"]
    'max_tokens: Field required'
    """
    yield from _max_tokens(body, ceiling_tokens)
    yield from others(body, KEYS, extra)
    yield from _tools(body)
    yield from _thinking(body)
    stops = body.get("stop_sequences", [])
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
        yield failure("stop_sequences: Input should be a valid array")
    elif not all(stop.strip() for stop in stops):
        yield failure("stop_sequences: each stop sequence must contain non-whitespace")
    if not isinstance(body.get("system", ""), str | list):
        yield failure("system: Input should be a valid array")


def _max_tokens(body: Mapping[str, Any], ceiling_tokens: int) -> Violations:
    if "max_tokens" not in body:
        yield required("max_tokens")
        return
    value = body["max_tokens"]
    if isinstance(value, bool) or not isinstance(value, int):
        yield failure("max_tokens: Input should be a valid integer")
    elif value < 0:
        yield failure("max_tokens: Input should be greater than or equal to 0")
    elif value > ceiling_tokens:
        yield too_many_tokens("max_tokens", value, ceiling_tokens, body["model"])


def _tools(body: Mapping[str, Any]) -> Violations:
    tools = body.get("tools", [])
    if not isinstance(tools, list):
        yield failure("tools: Input should be a valid array")
        return
    for i, tool in enumerate(tools):
        if not isinstance(tool, dict):
            yield failure(f"tools.{i}: Input should be an object")
        elif tool.get("type", "custom") == "custom":
            for name in ("name", "input_schema"):
                if name not in tool:
                    yield required(f"tools.{i}.custom.{name}")
            if not isinstance(tool["name"], str):
                yield failure(f"tools.{i}.custom.name: Input should be a valid string")
            if not isinstance(tool["input_schema"], dict):
                yield failure(f"tools.{i}.custom.input_schema: Input should be an object")
    if body.get("tool_choice") is not None and not tools:
        yield failure("tool_choice: `tool_choice` may only be specified while providing `tools`.")


def _thinking(body: Mapping[str, Any]) -> Violations:
    if thinks(body) is None:
        return
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        yield failure("Thinking may not be enabled when tool_choice forces tool use.")
    if thinks(body) != "enabled":
        return
    budget = body["thinking"].get("budget_tokens")
    if isinstance(budget, bool) or not isinstance(budget, int):
        yield failure("thinking.enabled.budget_tokens: Field required")
        return
    if budget < LEAST_THINKING_TOKENS:
        yield failure(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to "
            f"{LEAST_THINKING_TOKENS}"
        )
    if budget >= body["max_tokens"]:
        yield failure(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
            "documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
            "#max-tokens-and-context-window-size"
        )
