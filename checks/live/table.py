"""What is printed: a table for people, and the same as JSON for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from checks.live.asking import Budget
from checks.live.checks import Check, Found, Verdict
from checks.live.providers import Target

Results = Sequence[tuple[Target, Sequence[tuple[Check, Found]]]]
_WIDEST_CHARS = 44


def plan(targets: Iterable[Target], checks: Sequence[Check], budget: Budget) -> str:
    """What would be asked, and the most that it may use.

    >>> print(plan([], [], Budget(10)))
    At most 0 output tokens would be used, of a budget of 10.
    """
    lines, most = [], 0
    for target in targets:
        rows = [(c.name, c.says(target), str(c.most_tokens)) for c in checks]
        lines += [_title(target), *_columns(("check", "the row says", "most tokens"), rows), ""]
        most += sum(check.most_tokens for check in checks)
    lines.append(f"At most {most:,} output tokens would be used, of a budget of {budget.tokens:,}.")
    return "\n".join(lines)


def results(found: Results, budget: Budget) -> str:
    """What each service did, beside what the rows say."""
    lines = []
    for target, made in found:
        rows = [(c.name, c.says(target), f.seen, str(f.tokens), str(f.verdict)) for c, f in made]
        head = ("check", "the row says", "the service", "tokens", "verdict")
        lines += [_title(target), *_columns(head, rows), ""]
    counts = {
        verdict: sum(f.verdict is verdict for _, m in found for _, f in m) for verdict in Verdict
    }
    sums = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    used = f"{budget.used_tokens:,} of {budget.tokens:,} output tokens used"
    return "\n".join([*lines, f"{sums or 'nothing was asked'}; {used}."])


def as_json(found: Results, budget: Budget) -> dict[str, Any]:
    """The same for a program."""
    providers = [
        {
            "provider": target.name,
            "model": target.model,
            "wire": target.row.wire,
            "checks": [
                {
                    "check": check.name,
                    "row": check.says(target),
                    "seen": outcome.seen,
                    "tokens": outcome.tokens,
                    "verdict": str(outcome.verdict),
                }
                for check, outcome in made
            ],
        }
        for target, made in found
    ]
    used = {"budget_tokens": budget.tokens, "used_tokens": budget.used_tokens}
    return {**used, "providers": providers}


def plan_as_json(
    targets: Iterable[Target], checks: Sequence[Check], budget: Budget
) -> dict[str, Any]:
    """What would be asked, for a program."""
    asked = [
        {
            "provider": target.name,
            "model": target.model,
            "wire": target.row.wire,
            "checks": [
                {"check": c.name, "row": c.says(target), "most_tokens": c.most_tokens}
                for c in checks
            ],
        }
        for target in targets
    ]
    most = len(asked) * sum(check.most_tokens for check in checks)
    return {"budget_tokens": budget.tokens, "most_tokens": most, "would_ask": asked}


def _title(target: Target) -> str:
    where = f" at {target.base_url}" if target.elsewhere else ""
    return f"{target.name}, {target.model} ({target.row.wire}){where}"


def _columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay rows out in columns; a long cell goes on below itself.

    >>> _columns(("a", "b"), [("one", "two")])
    ['  a    b', '  one  two']
    """
    cells = [[textwrap.wrap(cell, _WIDEST_CHARS) or [""] for cell in row] for row in (head, *rows)]
    widths = [
        max(len(line) for cell in column for line in cell) for column in zip(*cells, strict=True)
    ]
    lines = []
    for row in cells:
        for number in range(max(map(len, row))):
            parts = (
                (cell[number] if number < len(cell) else "").ljust(width)
                for cell, width in zip(row, widths, strict=True)
            )
            lines.append("  " + "  ".join(parts).rstrip())
    return lines
