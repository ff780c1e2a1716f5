"""Apply the repairs that `core.history.plan` plans to the bytes of a history.

A row is split into its parts only if a repair needs that. Whatever no repair names keeps its bytes
(C7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from tenuto.core.history.table import REMOVED, Changes, Entry, Json, JsonText, Row, Rules
from tenuto.wires.json import encode
from tenuto.wires.members import joined, listed, members_of, rows_of, with_members


def apply_repairs(plan: Iterable[Row], raws: Sequence[bytes], rules: Rules) -> list[bytes]:
    """Return the planned rows, built from the bytes of the original rows."""

    @cache
    def split(number: int) -> list[bytes]:
        content = members_of(raws[number]).get(rules.parts, b"[]")
        if content.startswith(b'"'):
            return [joined({"type": b'"text"', "text": content})]
        return rows_of(content) if content.startswith(b"[") else []

    return [_row(row, raws, rules, split) for row in plan]


def _row(
    row: Row, raws: Sequence[bytes], rules: Rules, split: Callable[[int], list[bytes]]
) -> bytes:
    raw = encode(row.value) if row.number is None else raws[row.number]
    if row.changes:
        raw = _changed(raw, row.changes)
    if row.front or row.joined or row.gone or row.inside:
        raw = with_members(raw, {rules.parts: listed(_parts(row, split))})
    return raw


def _parts(row: Row, split: Callable[[int], list[bytes]]) -> Iterator[bytes]:
    for entry in row.front:
        yield _entry(entry, split)
    own = [] if row.number is None else split(row.number)
    for at, raw in enumerate(own):
        if at not in row.gone:
            yield _part(row, at, raw)
    for behind in row.joined:
        yield from _parts(behind, split)


def _entry(entry: Entry, split: Callable[[int], list[bytes]]) -> bytes:
    row = entry.row
    if row is None or row.number is None:
        return encode(entry.value)
    return _part(row, entry.at, split(row.number)[entry.at])


def _part(row: Row, at: int, raw: bytes) -> bytes:
    changes = row.inside.get(at) if row.inside else None
    return _changed(raw, changes) if changes else raw


def _changed(raw: bytes, changes: Changes) -> bytes:
    members = members_of(raw)
    new: dict[str, bytes | None] = {}
    for (key, *inner), value in changes.items():
        if inner:
            new[key] = _changed(new.get(key) or members[key], {tuple(inner): value})
        else:
            new[key] = _json(value)
    return with_members(raw, new)


def _json(value: object) -> bytes | None:
    if value is REMOVED:
        return None
    if isinstance(value, Json):
        return value.text.encode("utf-8", "replace")
    return encode(encode(value.value).decode() if isinstance(value, JsonText) else value)
