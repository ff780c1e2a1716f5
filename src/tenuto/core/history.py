"""Plan the repairs of a history that comes in: what a provider would reject in it (H1–H5).

Theory of operation
-------------------
Each call has one result, and each result its call. What the model said is not empty, its arguments
are whole, and its reasoning is signed where the provider signs it. What the user said stays. How
rows are written, and which of the rules a provider has, stands in a wire's table (`Rules`).

`plan_repairs` looks at decoded rows only and says what becomes of each; a valid history needs no
more than that look. `wires.history` then changes the bytes, so that what no repair names keeps
them.
The plan depends on the history alone: the same history gives the same bytes each time, and a
repaired history needs no repair (H5a).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from tenuto.core.history_ids import rename_repeated_ids
from tenuto.core.history_pairs import pair_by_turns
from tenuto.core.history_rows import RowRepair, is_plain
from tenuto.core.history_table import Role, Row, Rules


def plan_repairs(
    values: Sequence[Any], rules: Rules, elsewhere: bool = False
) -> tuple[list[Row], tuple[str, ...]]:
    """Return what becomes of each row, and the repairs in words; without any the history is valid.

    Args:
        values: the rows, decoded.
        rules: the wire's table.
        elsewhere: whether the provider keeps rows before these.
    """
    if all(is_plain(value, rules) for value in values):
        roles = [value["role"] for value in values] if rules.alternates else ()
        if all(one != two for one, two in pairwise(roles)):
            return [], ()
    repair = RowRepair(rules)
    rows = _rows(values, repair, rules)
    if rules.alternates:
        repair.words += _joins_and_removals(rows, len(values))
    rename_repeated_ids(rows, rules, repair.words)
    if rules.pair is not None:
        rows = rules.pair(rows, rules, elsewhere, repair.words)
    else:
        rows = pair_by_turns(rows, rules, repair.words)
    if rules.alternates:
        rows = _alternate(rows, repair.words)
    if rules.led_by_reasoning:
        rows = _drop_orphaned_reasoning(rows, repair.words)
    if all(map(_only_instructs, rows)):
        # Nothing would be left but the instructions: of one result without a call, say. That cannot
        # be made valid. Its results stay, so that the provider's own error says what is wrong.
        repair = RowRepair(rules)
        rows = _rows(values, repair, rules)
        if rules.alternates and len(rows) < len(values):
            repair.words.append("empty_row_removed")
    return rows, tuple(dict.fromkeys(repair.words))


def _rows(values: Sequence[Any], repair: RowRepair, rules: Rules) -> list[Row]:
    """Repair each row by itself, and leave out the model's empty ones."""
    rows: list[Row] = []
    for number, value in enumerate(values):
        row = repair.row(number, value)
        if row is not None:
            rows.append(row)
        elif not rules.alternates:
            repair.words.append("empty_row_removed")
    return rows


def _only_instructs(row: Row) -> bool:
    role = row.value.get("role") if isinstance(row.value, dict) else None
    return isinstance(role, str) and role.lower() in ("system", "developer")


def _joins_and_removals(rows: Sequence[Row], count: int) -> Iterator[str]:
    """Yield what is said of joined and of removed rows together, behind the repairs of all rows."""
    if any(one.role is two.role is not Role.OTHER for one, two in pairwise(rows)):
        yield "rows_joined"
    if len(rows) < count:
        yield "empty_row_removed"


def _drop_orphaned_reasoning(rows: Sequence[Row], words: list[str]) -> list[Row]:
    """Drop reasoning that led to nothing: the row behind it was cut, or was left out."""
    kept: list[Row] = []
    follows = False
    for row in reversed(rows):
        if row.role is not Role.REASONING:
            follows = row.role is not Role.OTHER
        elif not follows:
            words.append("orphaned_reasoning_removed")
            continue
        kept.append(row)
    return kept[::-1]


def _alternate(rows: Iterable[Row], words: list[str]) -> list[Row]:
    """Join rows of one role that follow each other, and drop what a repair left empty. A blank text
    goes where it comes to stand beside another part."""
    kept = [row for row in _join_rows(rows) if not _is_left_empty(row)]
    joined = _join_rows(kept)
    if len(joined) < len(kept):
        words.append("rows_joined")
    for row in joined:
        held = [row, *row.joined]
        if any(one.blank for one in held) and any(map(_holds_more, held)):
            words.append("blank_text_removed")
            for one in held:
                one.gone = {*one.gone, *one.blank}
    return joined


def _holds_more(row: Row) -> bool:
    """Whether a row holds anything else than blank texts."""
    return bool(row.front) or row.size > len({*row.gone, *row.blank})


def _join_rows(rows: Iterable[Row]) -> list[Row]:
    joined: list[Row] = []
    for row in rows:
        last = joined[-1] if joined else None
        if last is not None and last.role is row.role is not Role.OTHER:
            last.joined = [*last.joined, row, *row.joined]
            row.joined = ()
        else:
            joined.append(row)
    return joined


def _is_left_empty(row: Row) -> bool:
    if not (row.joined or row.changes or row.gone):
        return False
    return not any(one.front or one.size > len(one.gone) for one in (row, *row.joined))
