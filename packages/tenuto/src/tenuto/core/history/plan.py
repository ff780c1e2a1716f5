"""Plan the repairs of an incoming history: what a provider would reject in it (H1–H5).

Theory of operation
-------------------
In a valid history, each call has one result, and each result has its call. The model's rows are not
empty, their arguments are complete, and their reasoning is signed if the provider signs it. The
user's rows stay. A wire's table (`Rules`) says how rows are written, and which of the rules its
provider has.

`plan_repairs` only reads decoded rows, and returns what becomes of each. For a valid history, this
is all that is needed. `wires.history` then changes the bytes, and keeps those of everything that no
repair names. The plan depends only on the history: the same history gives the same bytes each time,
and a repaired history needs no repair (H5a).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from tenuto.core.history.ends import repair_ends
from tenuto.core.history.ids import repair_ids
from tenuto.core.history.pairs import pair_by_turns
from tenuto.core.history.rows import RowRepair, is_plain
from tenuto.core.history.served import drop_unfinished
from tenuto.core.history.table import Role, Row, Rules


def plan_repairs(
    values: Sequence[Any], rules: Rules, elsewhere: bool = False
) -> tuple[list[Row], tuple[str, ...]]:
    """Return what becomes of each row, and the repairs in words. No repairs: the history is valid.

    Args:
        values: the rows, decoded.
        rules: the wire's table.
        elsewhere: whether the provider keeps rows that come before these.
    """
    if all(is_plain(value, rules) for value in values) and not _ends_bare(values, rules):
        roles = [value["role"] for value in values] if rules.alternates else ()
        if all(one != two for one, two in pairwise(roles)):
            return [], ()
    repair = RowRepair(rules)
    rows = _rows(values, repair, rules)
    if rules.alternates:
        repair.words += _joins_and_removals(rows, len(values))
    repair_ids(rows, rules, repair.words)
    if rules.pair is not None:
        rows = rules.pair(rows, rules, elsewhere, repair.words)
    else:
        rows = pair_by_turns(rows, rules, repair.words)
    if rules.served is not None:
        rows = drop_unfinished(rows, rules, rules.served, repair.words)
    if rules.led_to or rules.bare_end:
        rows = repair_ends(rows, rules, repair.words)
    if rules.sign is not None:
        repair.words += rules.sign(rows)
    if rules.alternates:
        rows = _alternate(rows, repair.words)
    if rules.led_by_reasoning:
        rows = _drop_orphaned_reasoning(rows, repair.words)
    if all(map(_only_instructs, rows)):
        # Only the instructions would be left, such as after a result without a call. No repair can
        # make that valid, so the results stay, and the provider's own error says what is wrong.
        repair = RowRepair(rules)
        rows = _rows(values, repair, rules)
        if rules.alternates and len(rows) < len(values):
            repair.words.append("empty_row_removed")
    return rows, tuple(dict.fromkeys(repair.words))


def _ends_bare(values: Sequence[Any], rules: Rules) -> bool:
    """Return whether the history ends in text of the model that may have to lose its last space."""
    return rules.bare_end and bool(values) and rules.role_of(values[-1]) is Role.MODEL


def _rows(values: Sequence[Any], repair: RowRepair, rules: Rules) -> list[Row]:
    """Repair each row by itself, and leave out empty rows of the model."""
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
    """Yield the words for joined and removed rows, after the repairs of all rows."""
    if any(one.role is two.role is not Role.OTHER for one, two in pairwise(rows)):
        yield "rows_joined"
    if len(rows) < count:
        yield "empty_row_removed"


def _drop_orphaned_reasoning(rows: Sequence[Row], words: list[str]) -> list[Row]:
    """Drop reasoning that led to nothing, since the row after it was cut or left out."""
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
    """Join consecutive rows of one role, and drop what a repair left empty. A blank text is removed
    if it ends up next to another part."""
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
    """Return whether a row holds anything other than blank texts."""
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
    if not (row.joined or row.gone):
        return False
    return not any(one.front or one.size > len(one.gone) for one in (row, *row.joined))
