"""Which requests are refused before their messages are read, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto.sim.bedrock_converse.errors import extra, failure, too_many_tokens
from tenuto.sim.bedrock_converse.request import blocks_of, member
from tenuto.sim.errors import Failure
from tenuto.sim.shapes import others

KEYS: Final = frozenset(
    {"messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig", "outputConfig"}
    | {"additionalModelRequestFields", "additionalModelResponseFieldPaths", "requestMetadata"}
    | {"promptVariables", "performanceConfig", "serviceTier", "model", "stream"}
)
INFERENCE_KEYS: Final = frozenset({"maxTokens", "temperature", "topP", "stopSequences"})
LEAST_BUDGET_TOKENS: Final = 1024

Violations = Iterator[Failure]


def impossible(body: Any) -> Failure | None:
    """Return what is wrong with a body that could not be answered at all.

    >>> impossible({"model": "sim"}).document["message"].startswith("1 validation error")
    True
    """
    if not isinstance(body, dict):
        return failure("Malformed input request, please reformat your input and try again.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return _invalid("messages", "Member must not be null")
    for i, message in enumerate(messages, start=1):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            return _invalid(
                f"messages.{i}.member.role",
                "Member must satisfy enum value set: [user, assistant]",
            )
    return None


def _invalid(place: str, constraint: str) -> Failure:
    return failure(
        f"1 validation error detected: Value at '{place}' failed to satisfy constraint: "
        f"{constraint}"
    )


def header_violations(headers: Mapping[str, str]) -> Violations:
    """Yield what is wrong with the headers of a request.

    >>> next(header_violations({})).document["message"]
    'Missing Authentication Token'
    """
    for name in headers:
        if name.startswith("x-tenuto"):
            yield failure(f"{name}: unexpected header")
    if not headers.get("authorization"):
        yield failure(
            "Missing Authentication Token", status=403, kind="MissingAuthenticationTokenException"
        )


def body_violations(body: Mapping[str, Any], ceiling_tokens: int) -> Violations:
    """Yield what is wrong with the keys of a request, its messages aside.

    >>> next(body_violations({"inferenceConfig": {"maxTokens": 0}}, 100)).status
    400
    """
    yield from others(body, KEYS, extra)
    config = member(body, "inferenceConfig")
    yield from others(config, INFERENCE_KEYS, extra)
    yield from _max_tokens(config, body, ceiling_tokens)
    yield from _tools(body)
    yield from _thinking(config, body)


def _max_tokens(config: Mapping[str, Any], body: Mapping[str, Any], ceiling: int) -> Violations:
    value = config.get("maxTokens")
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        yield _invalid(
            "inferenceConfig.maxTokens", "Member must have value greater than or equal to 1"
        )
    elif value > ceiling:
        yield too_many_tokens("maxTokens", value, ceiling, body["model"])


def _tools(body: Mapping[str, Any]) -> Violations:
    blocks = [block for message in body.get("messages", ()) for block in blocks_of(message)]
    if "toolConfig" not in body:
        if any("toolUse" in block or "toolResult" in block for block in blocks):
            yield failure(
                "The toolConfig field must be defined when using toolUse and toolResult content "
                "blocks."
            )
        return
    tools = member(body, "toolConfig").get("tools")
    if not isinstance(tools, list) or not tools:
        yield _invalid("toolConfig.tools", "Member must have length greater than or equal to 1")


def _thinking(config: Mapping[str, Any], body: Mapping[str, Any]) -> Violations:
    thinking = member(member(body, "additionalModelRequestFields"), "thinking")
    if thinking.get("type") != "enabled":
        return
    budget = thinking.get("budget_tokens")
    said = "The model returned the following errors: "
    if not isinstance(budget, int) or budget < LEAST_BUDGET_TOKENS:
        yield failure(
            f"{said}thinking.enabled.budget_tokens: Input should be greater than or equal to "
            f"{LEAST_BUDGET_TOKENS}"
        )
    elif budget >= config.get("maxTokens", budget + 1):
        yield failure(f"{said}`max_tokens` must be greater than `thinking.budget_tokens`.")
