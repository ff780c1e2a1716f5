"""Claude's settings for thinking, in the requests of every provider that has them."""

from __future__ import annotations

from tenuto.wires.json import JsonObject

LEAST_THINKING_TOKENS = 1024
"""The smallest `thinking.budget_tokens`."""

EFFORTS_ABOVE_LOW = ("medium", "high", "xhigh", "max")
"""`output_config.effort`: the values that can be lowered."""


def less_budget(budget: object) -> int | None:
    """Return half a thinking budget; None: it is the smallest already.

    >>> less_budget(9000), less_budget(1500), less_budget(1024)
    (4500, 1024, None)
    """
    if type(budget) is not int or budget <= LEAST_THINKING_TOKENS:
        return None
    return max(budget // 2, LEAST_THINKING_TOKENS)


def less_thinking(thinking: JsonObject, *, tools: bool) -> JsonObject | None:
    """Return enabled thinking with half its budget, or turned off if the budget is the smallest
    already. None: with `tools` of the caller it can't be turned off, because thinking is enabled in
    the caller's request with a call's result too, and requires thinking before the call:
    https://platform.claude.com/docs/en/build-with-claude/extended-thinking

    >>> less_thinking({"type": "enabled", "budget_tokens": 9000}, tools=True)
    {'type': 'enabled', 'budget_tokens': 4500}
    >>> less_thinking({"type": "enabled", "budget_tokens": 1024}, tools=False)
    {'type': 'disabled'}
    >>> less_thinking({"type": "enabled", "budget_tokens": 1024}, tools=True) is None
    True
    """
    less = less_budget(thinking.get("budget_tokens"))
    if less is not None:
        return {**thinking, "budget_tokens": less}
    return None if tools else {"type": "disabled"}


def least_tokens(thinking: JsonObject, limit: int | None, *, tools: bool) -> int:
    """Return the smallest output limit of a further request: above the smallest thinking budget if
    thinking must stay on, as `less_thinking` says, but no more than the caller's own limit, since
    other providers allow less.

    >>> on = {"type": "enabled", "budget_tokens": 9000}
    >>> least_tokens(on, 9999, tools=True), least_tokens(on, 9999, tools=False)
    (1025, 1)
    """
    least = LEAST_THINKING_TOKENS + 1 if tools and thinking.get("type") == "enabled" else 1
    return min(least, limit or least)


def fitting_budget(max_tokens: int) -> int | None:
    """Return a thinking budget that fits an output limit; None: there is no room for one.

    >>> fitting_budget(4000), fitting_budget(1024)
    (2000, None)
    """
    less = max(LEAST_THINKING_TOKENS, max_tokens // 2)
    return less if less < max_tokens else None
