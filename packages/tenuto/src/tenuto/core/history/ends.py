"""Repair the ends of the model's turns: what may not come last in one, or last in the history.

Reasoning leads to something, so a provider refuses a turn that ends in it (Anthropic: "The final
block in an assistant message cannot be `thinking`"). A row often comes to that when what followed
was cut or left out. And a history may end in the beginning of the model's own answer, which some
providers refuse if it ends in white space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.core.history.table import Role, Row, Rules, Text, change_inside


def repair_ends(rows: list[Row], rules: Rules, words: list[str]) -> list[Row]:
    """Return the rows with the ends of turns repaired. A row of which nothing is left is
    removed."""
    kept: list[Row] = []
    for row in reversed(rows):
        is_last = not kept or kept[-1].role is not Role.MODEL
        if row.role is Role.MODEL and is_last and _cut_end(row, rules):
            words.append("orphaned_reasoning_removed")
            if not _left(row):
                words.append("empty_row_removed")
                continue
        kept.append(row)
    rows = kept[::-1]
    if rules.bare_end and rows and rows[-1].role is Role.MODEL and _strip_end(rows[-1], rules):
        words.append("trailing_space_removed")
    return rows


def _left(row: Row) -> Sequence[int]:
    return [at for at in range(row.size) if at not in row.gone]


def _cut_end(row: Row, rules: Rules) -> bool:
    """Remove the parts at the end of a row that led to nothing. Return whether there were any."""
    parts, gone = row.value.get(rules.parts) if row.size else (), set(row.gone)
    for at in reversed(_left(row)):
        part = parts[at]
        if not isinstance(part, dict) or rules.kind_of(part) not in rules.led_to:
            break
        gone.add(at)
    found = len(gone) > len(row.gone)
    row.gone = gone
    return found


def _strip_end(row: Row, rules: Rules) -> bool:
    """Remove the white space at the end of a row's last text. Return whether there was any."""
    content: Any = row.value.get(rules.content) if isinstance(row.value, dict) else None
    if isinstance(content, str):
        content = (row.changes or {}).get((rules.content,), content)
        if not isinstance(content, str) or content == content.rstrip():
            return False
        row.changes = {**(row.changes or {}), (rules.content,): content.rstrip()}
        return True
    if not (left := _left(row)) or row.joined:
        return False
    at = left[-1]
    part, shapes = content[at], rules.shapes.get(row.role, {})
    if not isinstance(part, dict) or not isinstance(shapes.get(rules.kind_of(part)), Text):
        return False
    text = ((row.inside or {}).get(at) or {}).get(("text",), part.get("text"))
    if not isinstance(text, str) or text == text.rstrip():
        return False
    change_inside(row, at, {("text",): text.rstrip()})
    return True
