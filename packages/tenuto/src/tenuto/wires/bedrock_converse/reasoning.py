"""Reasoning settings in a Converse request. Each maker has its own.

Claude has a budget of tokens under `thinking` (formerly `reasoning_config`), Nova an effort under
`reasoningConfig`, gpt-oss one under `reasoning_effort`; all in `additionalModelRequestFields`.
`outputConfig.effort` is Bedrock's own.
https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html,
https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html (2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto.wires.claude_like.thinking import (
    EFFORTS_ABOVE_LOW,
    fitting_budget,
    least_tokens,
    less_thinking,
)
from tenuto.wires.json import encode
from tenuto.wires.members import object_in, value_of, with_members

FIELDS = "additionalModelRequestFields"
BUDGETS = ("thinking", "reasoning_config")
EFFORTS = (("reasoning_effort",), ("reasoningConfig", "maxReasoningEffort"),
           ("output_config", "effort"))  # fmt: skip


def is_on(members: Mapping[str, bytes]) -> bool:
    """Return whether reasoning is turned on, which excludes a prefill.

    >>> is_on({FIELDS: b'{"thinking":{"type":"enabled","budget_tokens":2000}}'})
    True
    """
    fields = object_in(value_of(members.get(FIELDS)))
    kinds = [object_in(fields.get(key)).get("type") for key in (*BUDGETS, "reasoningConfig")]
    return any(kind not in (None, "disabled") for kind in kinds)


def can_be_lowered(members: Mapping[str, bytes]) -> bool:
    """Return whether the request can ask for less reasoning."""
    return bool(lowered(members))


def lowered(members: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the members that ask for less: half the budget, or no reasoning if it is the smallest
    already and no call can come; a low effort.

    >>> lowered({FIELDS: b'{"thinking":{"type":"enabled","budget_tokens":1024}}'})
    {'additionalModelRequestFields': b'{"thinking":{"type":"disabled"}}'}
    """
    fields = object_in(value_of(members.get(FIELDS)))
    changes: dict[str, bytes | None] = {}
    for key in BUDGETS:
        knob = object_in(fields.get(key))
        if knob.get("type") == "enabled":
            less = less_thinking(knob, tools=_may_call(members, fields))
            if less is not None:
                changes[key] = encode(less)
    for first, *rest in EFFORTS:
        if _at(fields, (first, *rest)) in EFFORTS_ABOVE_LOW:
            knob = fields[first]
            changes[first] = encode({**knob, rest[0]: "low"} if rest else "low")
    less_of = {FIELDS: with_members(members[FIELDS], changes)} if changes else {}
    config = object_in(value_of(members.get("outputConfig")))
    if config.get("effort") in EFFORTS_ABOVE_LOW:
        less_of["outputConfig"] = with_members(members["outputConfig"], {"effort": b'"low"'})
    return less_of


def least_limit(members: Mapping[str, bytes], limit: int | None) -> int:
    """Return the smallest output limit of a further request, whose caller's limit is this.

    >>> fields = b'{"thinking":{"type":"enabled","budget_tokens":2000}}'
    >>> members = {FIELDS: fields, "toolConfig": b"{}"}
    >>> least_limit({FIELDS: fields}, 9999), least_limit(members, 9999)
    (1, 1025)
    """
    fields = object_in(value_of(members.get(FIELDS)))
    tools = _may_call(members, fields)
    return max(least_tokens(object_in(fields.get(key)), limit, tools=tools) for key in BUDGETS)


def _may_call(members: Mapping[str, bytes], fields: Mapping[str, Any]) -> bool:
    """Return whether the request has tools, Bedrock's or Claude's own."""
    return "toolConfig" in members or "tools" in fields


def fit(members: dict[str, bytes], max_tokens: int) -> None:
    """Keep the budget below the output limit; the provider requires this."""
    fields = object_in(value_of(members.get(FIELDS)))
    for key in BUDGETS:
        knob = object_in(fields.get(key))
        budget = knob.get("budget_tokens")
        if type(budget) is int and budget >= max_tokens:
            less = fitting_budget(max_tokens)
            fitting = None if less is None else encode({**knob, "budget_tokens": less})
            members[FIELDS] = with_members(members[FIELDS], {key: fitting})


def _at(fields: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = fields
    for step in path:
        value = object_in(value).get(step)
    return value
