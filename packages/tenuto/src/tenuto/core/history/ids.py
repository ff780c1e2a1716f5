"""Give each call an id of its own, and its result the same.

Some hosts use no ids. OpenAI rejects such a history ("Missing required parameter"), and without ids
it is not certain which result belongs to which call.

Some models give two calls of one answer the same id. Providers reject such a history (Anthropic:
"`tool_use` ids must be unique", OpenAI: "Duplicate value for 'tool_call_id'"), and a result could
belong to either call. The first call keeps its id, and results are assigned to the calls in order.
Most providers accept the same id in a later turn; `Rules.unique_ids` marks those that don't.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tenuto.core.history.table import (
    Changes,
    Entry,
    Path,
    Role,
    Row,
    Rules,
    change_inside,
    member,
)

_LONGEST_ID_CHARS = 40
"""OpenAI rejects longer ids of calls."""

_LONGEST_END_CHARS = 4
"""Room for what makes an id differ from others."""

_NEW_ID = "call{:05}"
"""Mistral rejects ids other than nine letters and digits."""


@dataclass(slots=True)
class _Group:
    """The calls of consecutive rows of the model, and the results after them."""

    calls: list[Entry] = field(default_factory=list)
    results: list[Entry] = field(default_factory=list)


def repair_ids(rows: Sequence[Row], rules: Rules, words: list[str]) -> None:
    """Give each call without an id one, each call that shares one another, and each result that of
    its call. Give ids a valid form."""
    if rules.answers is not None:
        return
    if rules.bad_in_ids is not None or rules.most_id_chars is not None:
        _put_in_form(rows, rules, words)
    if not any(map(_lacks_id, _entries(rows))):
        _rename_repeated_ids(rows, rules, words)
        return
    unnamed = _add_missing_ids(rows)
    _rename_repeated_ids(rows, rules, words)
    named = [_name_results(group, unnamed) for group in _groups(rows)]
    if unnamed or any(named):
        words.append("missing_call_id_added")


def _put_in_form(rows: Sequence[Row], rules: Rules, words: list[str]) -> None:
    """Rename calls whose id has characters that the provider refuses, or too many, and their
    results. The same id always gets the same new one."""
    most, bad = rules.most_id_chars, rules.bad_in_ids
    made: dict[str, str] = {}
    taken = {entry.id for entry in _entries(rows)}
    for call in (call for row in rows for call in row.calls):
        name = bad.sub("_", call.id) if bad is not None else call.id
        name = name[:most]
        if name != call.id and call.id not in made:
            room = None if most is None else most - _LONGEST_END_CHARS
            made[call.id] = name if name not in taken else _free_id(name[:room], taken)
            taken.add(made[call.id])
    if not made:
        return
    for entry in _entries(rows):
        _rename(entry, made.get(entry.id, entry.id))
    words.append("call_ids_renamed")


def _add_missing_ids(rows: Sequence[Row]) -> list[Entry]:
    """Give an id to each call without one, and return these calls."""
    taken = {entry.id for entry in _entries(rows)}
    free_ids = (name for number in count(1) if (name := _NEW_ID.format(number)) not in taken)
    unnamed = [call for row in rows for call in row.calls if _lacks_id(call)]
    for call in unnamed:
        _rename(call, next(free_ids))
    return unnamed


def _name_results(group: _Group, unnamed: Sequence[Entry]) -> bool:
    """Give the results without an id those of the calls that they follow, and return whether there
    were any: of calls that had none either, or of the last row with calls, if these are enough. A
    result may name its tool; otherwise the order decides.

    Args:
        unnamed: the calls that had no id.
    """
    results = [result for result in group.results if _lacks_id(result)]
    answered = {result.id for result in group.results}
    free = [call for call in group.calls if call.id not in answered]
    for narrower in (unnamed, [call for call in free if call.row is free[-1].row]):
        kept = [call for call in free if call in narrower]
        free = kept if len(kept) >= len(results) else free
    named = False
    for result in results:
        tool = _tool(result)
        call = next((call for call in free if tool and _tool(call) == tool), next(iter(free), None))
        if call is not None:
            free.remove(call)
            _rename(result, call.id)
            named = True
    return named


def _entries(rows: Iterable[Row]) -> Iterator[Entry]:
    return (entry for row in rows for entry in (*row.calls, *row.results))


def _lacks_id(entry: Entry) -> bool:
    """Return whether an entry has no id. Mistral's SDK writes "null" for a missing one."""
    return member(entry.value, entry.named_at) in (None, "null")


def _tool(entry: Entry) -> object:
    """Return the name of the tool that a call or a result names; None if it names none."""
    value = member(entry.value, entry.named_at[:-1])
    return value.get("name") or member(value, ("function", "name"))


def _rename_repeated_ids(rows: Sequence[Row], rules: Rules, words: list[str]) -> None:
    """Rename calls whose id an earlier call has, and the results that belong to them."""
    every = [call.id for row in rows for call in row.calls]
    if len(set(every)) == len(every):
        return
    rename = _rename_anywhere if rules.pair is not None else _rename_by_turns
    if rename(rows, rules):
        words.append("repeated_call_id_renamed")


def _rename_by_turns(rows: Sequence[Row], rules: Rules) -> bool:
    renamed = False
    seen: set[str] = set()
    unanswered: dict[str, list[Entry]] = {}
    groups = _groups(rows)
    if not rules.turns:
        groups = [part for group in groups for part in _by_rows(group)]
    for group in groups:
        unanswered |= _by_id(group.calls)
        given = _by_id(group.results)
        taken: set[str] = seen if rules.unique_ids else set()
        for call in group.calls:
            if call.id in taken:
                _rename(call, _free_id(call.id, seen))
                renamed = True
            taken.add(call.id)
            seen.add(call.id)
        for name, results in given.items():
            calls = unanswered.get(name, [])
            for call, result in zip(calls, results, strict=False):
                _rename(result, call.id)
            unanswered[name] = calls[len(results) :]
    return renamed


def _rename_anywhere(rows: Sequence[Row], rules: Rules) -> bool:
    """Rename a call if an earlier one with its id still waits for a result."""
    renamed = False
    seen: set[str] = set()
    waiting: dict[str, list[Entry]] = {}
    for row in rows:
        for call in row.calls:
            if not call.id:  # it cannot be answered
                continue
            calls = waiting.setdefault(call.id, [])
            calls.append(call)
            if len(calls) > 1:
                _rename(call, _free_id(call.id, seen))
                renamed = True
            seen.add(call.id)
        for result in row.results:
            if waiting.get(result.id):
                _rename(result, waiting[result.id].pop(0).id)
    return renamed


def _groups(rows: Iterable[Row]) -> list[_Group]:
    groups = [_Group()]
    was_the_models = False
    for row in rows:
        is_the_models = row.role is Role.MODEL
        if is_the_models and not was_the_models:
            groups.append(_Group())
        was_the_models = is_the_models
        groups[-1].calls += row.calls
        if not is_the_models:
            groups[-1].results += row.results
    return groups


def _by_rows(group: _Group) -> list[_Group]:
    """Split a group if each row is a turn of its own, unless more results follow the last row than
    it has calls."""
    rows = list(dict.fromkeys(call.row for call in group.calls))
    parts = [_Group([call for call in group.calls if call.row is row]) for row in rows]
    if len(parts) < 2:
        return [group]
    called, last = _by_id(group.calls), _by_id(parts[-1].calls)
    for name, results in _by_id(group.results).items():
        if len(last.get(name, ())) < min(len(results), len(called.get(name, ()))):
            return [group]
    parts[-1].results = group.results
    return parts


def _by_id(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.id, []).append(entry)
    return found


def _free_id(name: str, taken: Container[str]) -> str:
    """Return the id with the first number after it that makes it unused.

    >>> _free_id("call", {"call", "call_2"})
    'call_3'
    """
    ends = (f"_{number}" for number in count(2))
    if len(name) > _LONGEST_ID_CHARS:  # then it is no id of OpenAI's
        return next(made for end in ends if (made := name + end) not in taken)
    made_ids = (name[: _LONGEST_ID_CHARS - len(end)] + end for end in ends)
    return next(made for made in made_ids if made not in taken)


def _rename(entry: Entry, name: str) -> None:
    row = entry.row
    change: Changes = {entry.named_at: name}
    if row is None or name == entry.id:
        return
    if entry.value is row.value:
        row.changes = {**(row.changes or {}), **change}
    else:
        change_inside(row, entry.at, change)
    entry.id, entry.value = name, _with(entry.value, entry.named_at, name)


def _with(value: Any, path: Path, name: str) -> Any:
    if not path:
        return name
    return value | {path[0]: _with(value.get(path[0]), path[1:], name)}
