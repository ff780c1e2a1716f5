"""The rules for requests, and the provider's error messages. `history` has those for messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_sim.asked import at, object_at
from tenuto_sim.bedrock_converse.errors import (
    RETURNED,
    extra,
    failure,
    invalid,
    too_many_tokens,
)
from tenuto_sim.bedrock_converse.history import history_violations
from tenuto_sim.bedrock_converse.request import blocks_of
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations, from_us, others

KEYS: Final = frozenset(
    {"messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig", "outputConfig"}
    | {"additionalModelRequestFields", "additionalModelResponseFieldPaths", "requestMetadata"}
    | {"promptVariables", "performanceConfig", "serviceTier", "model", "stream"}
)
INFERENCE_KEYS: Final = frozenset({"maxTokens", "temperature", "topP", "stopSequences"})
LEAST_BUDGET_TOKENS: Final = 1024

Body = Mapping[str, Any]


def impossible(body: Any) -> Violations:
    """Yield the violations of a body that can't be answered at all.

    >>> next(impossible({"model": "sim"})).document["message"].startswith("1 validation error")
    True
    """
    if not isinstance(body, dict):
        yield failure("Malformed input request, please reformat your input and try again.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield invalid("messages", "Member must not be null")
    for i, message in enumerate(body["messages"], start=1):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            yield invalid(
                f"messages.{i}.member.role",
                "Member must satisfy enum value set: [user, assistant]",
            )


def header_violations(headers: Mapping[str, str]) -> Violations:
    """Yield the violations in the headers of a request.

    >>> next(header_violations({})).document["message"]
    'Missing Authentication Token'
    """
    yield from from_us(headers, lambda name: failure(f"{name}: unexpected header"), "x-tenuto")
    if not headers.get("authorization"):
        yield failure(
            "Missing Authentication Token", status=403, kind="MissingAuthenticationTokenException"
        )


def violations(headers: Mapping[str, str], body: Body, settings: Settings) -> Violations:
    """Yield the other violations of a request."""
    yield from header_violations(headers)
    yield from history_violations(body, settings.prefill)
    yield from others(body, KEYS, extra)
    config = object_at(body, "inferenceConfig")
    yield from others(config, INFERENCE_KEYS, extra)
    budget = config.get("maxTokens")
    if budget is not None and (type(budget) is not int or budget < 1):
        yield invalid(
            "inferenceConfig.maxTokens", "Member must have value greater than or equal to 1"
        )
    if budget is not None and budget > settings.max_output_tokens:
        yield too_many_tokens("maxTokens", budget, settings.max_output_tokens, body["model"])
    yield from _tools(body)
    yield from _thinking(config, body)


def _tools(body: Body) -> Violations:
    blocks = [block for message in body["messages"] for block in blocks_of(message)]
    if "toolConfig" not in body:
        if any("toolUse" in block or "toolResult" in block for block in blocks):
            yield failure(
                "The toolConfig field must be defined when using toolUse and toolResult content "
                "blocks."
            )
        return
    tools = at(body, "toolConfig", "tools")
    if not isinstance(tools, list) or not tools:
        yield invalid("toolConfig.tools", "Member must have length greater than or equal to 1")


def _thinking(config: Body, body: Body) -> Violations:
    thinking = object_at(body, "additionalModelRequestFields", "thinking")
    if thinking.get("type") != "enabled":
        return
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < LEAST_BUDGET_TOKENS:
        yield failure(
            f"{RETURNED}thinking.enabled.budget_tokens: Input should be greater than or equal to "
            f"{LEAST_BUDGET_TOKENS}"
        )
    elif budget >= config.get("maxTokens", budget + 1):
        yield failure(f"{RETURNED}`max_tokens` must be greater than `thinking.budget_tokens`.")
