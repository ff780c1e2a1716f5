"""The knobs for reasoning in a Converse request: each maker's own, in its own words.

Claude has a budget of tokens under `thinking` (formerly `reasoning_config`), Nova an effort under
`reasoningConfig`, gpt-oss one under `reasoning_effort`; all in `additionalModelRequestFields`.
`outputConfig.effort` is Bedrock's own.
https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html,
https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html (2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto.wires.json import encode
from tenuto.wires.members import object_in, value_of, with_members

FIELDS = "additionalModelRequestFields"
BUDGETS = ("thinking", "reasoning_config")
EFFORTS = (("reasoning_effort",), ("reasoningConfig", "maxReasoningEffort"),
           ("output_config", "effort"))  # fmt: skip
EFFORTS_ABOVE_LOW = ("medium", "high", "xhigh", "max")
LEAST_BUDGET_TOKENS = 1024
"""A budget may not be lower."""


def is_on(members: Mapping[str, bytes]) -> bool:
    """Whether the model is asked to think, with which no prefill goes together.

    >>> is_on({FIELDS: b'{"thinking":{"type":"enabled","budget_tokens":2000}}'})
    True
    """
    fields = object_in(value_of(members.get(FIELDS)))
    kinds = [object_in(fields.get(key)).get("type") for key in (*BUDGETS, "reasoningConfig")]
    return any(kind not in (None, "disabled") for kind in kinds)


def can_be_lowered(members: Mapping[str, bytes]) -> bool:
    """Whether the request could ask for less."""
    fields = object_in(value_of(members.get(FIELDS)))
    efforts = [_at(fields, path) for path in EFFORTS]
    efforts.append(object_in(value_of(members.get("outputConfig"))).get("effort"))
    budgets = [object_in(fields.get(key)).get("type") for key in BUDGETS]
    return "enabled" in budgets or any(effort in EFFORTS_ABOVE_LOW for effort in efforts)


def lower(members: dict[str, bytes]) -> None:
    """Half the budget, no reasoning where that was the least already; low effort."""
    fields = object_in(value_of(members.get(FIELDS)))
    changes: dict[str, bytes | None] = {}
    for key in BUDGETS:
        knob = object_in(fields.get(key))
        if knob.get("type") == "enabled":
            changes[key] = encode(_less(knob))
    for first, *rest in EFFORTS:
        if _at(fields, (first, *rest)) in EFFORTS_ABOVE_LOW:
            knob = fields[first]
            changes[first] = encode({**knob, rest[0]: "low"} if rest else "low")
    if changes:
        members[FIELDS] = with_members(members[FIELDS], changes)
    config = object_in(value_of(members.get("outputConfig")))
    if config.get("effort") in EFFORTS_ABOVE_LOW:
        members["outputConfig"] = with_members(members["outputConfig"], {"effort": b'"low"'})


def _less(knob: Mapping[str, Any]) -> Mapping[str, Any]:
    budget = knob.get("budget_tokens")
    less = max(budget // 2, LEAST_BUDGET_TOKENS) if type(budget) is int else 0
    if type(budget) is int and less < budget:
        return {**knob, "budget_tokens": less}
    return {"type": "disabled"}


def fit(members: dict[str, bytes], max_tokens: int) -> None:
    """The budget must stay below the output limit, else the request is rejected."""
    fields = object_in(value_of(members.get(FIELDS)))
    for key in BUDGETS:
        knob = object_in(fields.get(key))
        budget = knob.get("budget_tokens")
        if type(budget) is not int or budget < max_tokens:
            continue
        less = max(LEAST_BUDGET_TOKENS, max_tokens // 2)
        fitting = encode({**knob, "budget_tokens": less}) if less < max_tokens else None
        members[FIELDS] = with_members(members[FIELDS], {key: fitting})


def _at(fields: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = fields
    for step in path:
        value = object_in(value).get(step)
    return value
