"""Repair a history by a wire's table, as its requests do."""

from __future__ import annotations

from tenuto.core.history.plan import plan_repairs
from tenuto.core.history.table import Rules
from tenuto.wires.history import apply_repairs
from tenuto.wires.json import decode_object


def repair_history(
    rows: list[bytes], rules: Rules, elsewhere: bool = False
) -> tuple[list[bytes], tuple[str, ...]]:
    """Return rows that the provider accepts, and the repairs in words; valid rows as they came."""
    plan, words = plan_repairs([decode_object(row) for row in rows], rules, elsewhere)
    return (apply_repairs(plan, rows, rules), words) if words else (rows, ())
