"""The rules for requests, and the provider's error messages. `history` has those for messages.

Quoted texts come from the provider's documentation or from public reports. The others have the form
of the provider's validation errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.anthropic_messages.errors import (
    WORDS,
    extra,
    failure,
    mistyped,
    required,
    too_many_tokens,
)
from tenuto_sim.anthropic_messages.history import history_violations
from tenuto_sim.anthropic_messages.request import thinks
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Shape, Violations, from_us, lacking, others

KEYS: Final = frozenset(
    {"model", "messages", "max_tokens", "stream", "system", "temperature", "top_k", "top_p"}
    | {"stop_sequences", "metadata", "tools", "tool_choice", "thinking", "service_tier"}
    | {"container", "output_config", "cache_control", "inference_geo", "speed", "diagnostics"}
    | {"user_profile_id", "workspace_id", "context_management", "mcp_servers"}
)
NOT_JSON: Final = "The request body is not valid JSON: expected value at line 1 column 1"
LEAST_THINKING_TOKENS: Final = 1024

_TOOL: Final = Shape.of("name input_schema", None, {"name": str, "input_schema": dict})

Body = Mapping[str, Any]


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({"model": "sim"})).document["error"]["message"]
    'messages: Field required'
    """
    if not isinstance(body, dict):
        yield failure(NOT_JSON)
    yield from lacking(body, ("model", "messages"), required)
    yield from WORDS.of_types(body, {"model": str, "messages": list, "stream": bool})
    if not body["model"]:
        yield failure("model: String should have at least 1 character")
    if not body["messages"]:
        yield failure("messages: at least one message is required")
    for i, message in enumerate(body["messages"]):
        if not isinstance(message, dict):
            yield mistyped(f"messages.{i}", dict)
        if not isinstance(message.get("role"), str):
            yield failure(f"messages.{i}.role: Input should be 'user' or 'assistant'")


def violations(headers: Mapping[str, str], body: Body, settings: Settings) -> Violations:
    """Yield the other violations of a request.

    >>> next(violations({"x-api-key": "key"}, {}, Settings())).document["error"]["message"]
    'anthropic-version: header is required'
    """
    yield from from_us(headers, lambda name: failure(f"{name}: unexpected header"))
    bearer = headers.get("authorization", "").lower().startswith("bearer ")
    if not headers.get("x-api-key") and not bearer:
        yield failure("x-api-key header is required", status=401)
    if not headers.get("anthropic-version"):
        yield failure("anthropic-version: header is required")
    yield from _max_tokens(body, settings.max_output_tokens)
    yield from others(body, KEYS, extra)
    yield from _tools(body)
    yield from _thinking(body)
    stops = body.get("stop_sequences", [])
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
        yield mistyped("stop_sequences", list)
    if not all(stop.strip() for stop in stops):
        yield failure("stop_sequences: each stop sequence must contain non-whitespace")
    yield from WORDS.of_types(body, {"system": str | list})
    yield from history_violations(body, settings.prefill)


def _max_tokens(body: Body, ceiling_tokens: int) -> Violations:
    yield from lacking(body, ["max_tokens"], required)
    value = body["max_tokens"]
    if type(value) is not int:
        yield mistyped("max_tokens", int)
    if value < 0:
        yield failure("max_tokens: Input should be greater than or equal to 0")
    if value > ceiling_tokens:
        yield too_many_tokens("max_tokens", value, ceiling_tokens, body["model"])


def _tools(body: Body) -> Violations:
    yield from WORDS.of_types(body, {"tools": list})
    for i, tool in enumerate(body.get("tools", [])):
        if not isinstance(tool, dict):
            yield mistyped(f"tools.{i}", dict)
        if tool.get("type", "custom") == "custom":
            yield from _TOOL.violations(f"tools.{i}.custom", tool, WORDS)
    if body.get("tool_choice") is not None and not body.get("tools"):
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
    if type(budget) is not int:
        yield required("thinking.enabled.budget_tokens")
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
