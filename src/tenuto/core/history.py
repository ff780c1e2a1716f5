"""Plan the repairs of a history that comes in: what a provider would reject in it (H1–H5).

Theory of operation
-------------------
Each call has one result, and each result its call. What the model said is not empty, its arguments
are whole, and its reasoning is signed where the provider signs it. What the user said stays. How
rows are written, and which of the rules a provider has, stands in a wire's table (`Rules`).

`plan_repairs` looks at decoded rows only and says what becomes of each; a valid history needs no
more than that look. `wire.history` then changes the bytes, so that what no repair names keeps them.
The plan depends on the history alone: the same history gives the same bytes each time, and a
repaired history needs no repair (H5a).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.core.history_pairs import pair_anywhere, pair_by_turns
from tenuto.core.history_table import (
    REMOVED,
    Call,
    Changes,
    Entry,
    Json,
    JsonObject,
    JsonText,
    Path,
    Reasoning,
    Result,
    Role,
    Row,
    Rules,
    Shape,
    Text,
)

_SAYING, _ASKING = ("assistant", "model"), ("user", "system", "developer")


def plan_repairs(
    values: Sequence[Any], rules: Rules, elsewhere: bool = False
) -> tuple[list[Row], tuple[str, ...]]:
    """Return what becomes of each row, and the repairs in words; without any the history is valid.

    Args:
        values: the rows, decoded.
        rules: the wire's table.
        elsewhere: whether the provider keeps rows before these.
    """
    if all(_is_plain(value, rules) for value in values):
        roles = [value["role"] for value in values] if rules.alternates else ()
        if all(one != two for one, two in pairwise(roles)):
            return [], ()
    repair = _Repair(rules)
    mended = (repair.row(number, value) for number, value in enumerate(values))
    rows = [row for row in mended if row is not None]
    if rules.alternates and _stands_twice(rows):
        repair.words.append("rows_joined")
    if rules.in_place:
        elsewhere = elsewhere or any(row.role is Role.UNSEEN for row in rows)
        rows = pair_anywhere(rows, rules, elsewhere, repair.words)
    else:
        rows = pair_by_turns(rows, rules, repair.words)
    if rules.alternates:
        rows = _alternate(rows, repair.words)
    if rules.led_by_reasoning:
        rows = _drop_orphaned_reasoning(rows, repair.words)
    return rows, tuple(dict.fromkeys(repair.words))


def _is_plain(value: Any, rules: Rules) -> bool:
    """Whether a row is nothing but texts that need no repair on any wire."""
    if not isinstance(value, dict) or len(value) != 2:
        return False
    role, content = value.get("role"), value.get(rules.content)
    said = role in _SAYING
    if not said and role not in _ASKING:
        return False
    if isinstance(content, str):
        return not said or _shows_something(content)
    return isinstance(content, list) and bool(content) and all(map(_is_plain_text, content))


def _is_plain_text(part: Any) -> bool:
    if not isinstance(part, dict) or not isinstance(text := part.get("text"), str):
        return False
    if len(part) > 1 and (len(part) > 2 or part.get("type") != "text"):
        return False
    return _shows_something(text)


def _shows_something(text: str) -> bool:
    return bool(text) and not text.isspace() and hints.NOTICE_START not in text


def _stands_twice(rows: Iterable[Row]) -> bool:
    """Whether two rows of the user's or of the model's follow each other."""
    return any(one.role is two.role is not Role.OTHER for one, two in pairwise(rows))


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


class _Repair:
    """The repair of one history, row by row. `words` collects what was done."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.words: list[str] = []

    def row(self, number: int, value: Any) -> Row | None:
        """Return what becomes of one row, None where it goes. A user's row always stays."""
        rules = self._rules
        row = Row(number, value, rules.role_of(value))
        if not isinstance(value, dict):
            return row
        content = value.get(rules.content)
        if _is_plain(value, rules):
            row.size = len(content) if isinstance(content, list) else 0
            return row
        changes = self._without_private_keys(value)
        if row.role is Role.MODEL:
            content = self._without_notice(content, changes)
        if rules.parts and isinstance(parts := value.get(rules.parts), list):
            if parts or row.role is not Role.MODEL or not rules.empty_lists_go:
                self._mend_parts(row, parts)
            else:
                self.words.append("empty_call_list_removed")
                changes[(rules.parts,)] = REMOVED
        if row.role is Role.MODEL and self._is_empty(row, content):
            self.words.append("empty_row_removed")
            return None
        if rules.rows and isinstance(kind := value.get(rules.row_kind), str):
            self._note(row, 0, value, rules.rows.get(kind), changes)
        row.changes = changes
        return row

    def _without_private_keys(self, value: JsonObject) -> Changes:
        for key in value:
            if key < "`" and key.startswith("_"):  # the quick test first: "_" < "`" < "a"
                self.words.append("private_keys_removed")
                return {(key,): REMOVED for key in value if key.startswith("_")}
        return {}

    def _without_notice(self, content: Any, changes: Changes) -> Any:
        """Return the model's text without our notice. A list of parts is mended part by part."""
        shown = content
        if isinstance(content, str):
            shown = hints.without_notice(content)
        elif isinstance(content, list) and self._rules.parts != self._rules.content:
            shown = [
                part | {"text": hints.without_notice(part["text"])}
                if isinstance(part, dict) and isinstance(part.get("text"), str)
                else part
                for part in content
            ]
        if shown is not content and shown != content:
            self.words.append("notice_removed")
            changes[(self._rules.content,)] = shown
        return shown

    def _is_empty(self, row: Row, content: Any) -> bool:
        if isinstance(content, list) and self._rules.parts == self._rules.content:
            return len(row.gone) == len(content)
        beside = any(row.value.get(key) for key in self._rules.beside)
        return not beside and self._rules.is_empty(content)

    def _mend_parts(self, row: Row, parts: list[Any]) -> None:
        rules, said, before = self._rules, row.role is Role.MODEL, len(self.words)
        kind_of, shapes = rules.kind_of, rules.shapes.get(row.role, {})
        unsigned: list[int] = []
        removal = ""
        blank: list[int] = []
        inside: dict[int, Changes] = {}
        for at, part in enumerate(parts):
            if not isinstance(part, dict):
                continue
            shape = shapes.get(kind_of(part))
            if type(shape) is Reasoning and rules.signed_reasoning and _is_unsigned(part, shape):
                unsigned.append(at)
                removal = shape.removal
                continue
            changes = self._without_private_keys(part) if rules.private_parts else {}
            if type(shape) is Text:
                if self._shows_nothing(part, shape, said, changes):
                    blank.append(at)
            elif shape is not None:
                self._note(row, at, part, shape, changes)
            if changes:
                inside[at] = changes
        if unsigned:
            self.words.insert(before, removal)
        row.size, row.inside, row.blank, row.gone = len(parts), inside, blank, unsigned
        if blank and rules.blank_texts_go and (said or len(unsigned) + len(blank) < len(parts)):
            self.words.append("blank_text_removed")
            row.gone = unsigned + blank

    def _shows_nothing(self, part: JsonObject, shape: Text, said: bool, changes: Changes) -> bool:
        """Return whether a text is blank, once our notice is out of it."""
        text = part.get("text")
        if not isinstance(text, str):
            return False
        if said and hints.NOTICE_START in text and (shown := hints.without_notice(text)) != text:
            self.words.append("notice_removed")
            changes[("text",)] = text = shown
        return not text.strip() and not any(part.get(name) for name in shape.signatures)

    def _note(
        self, row: Row, at: int, value: JsonObject, shape: Shape | None, changes: Changes
    ) -> None:
        """Keep a call or a result for the pairing, and mend the arguments of a call."""
        if type(shape) is Result:
            name = _member(value, shape.id)
            row.results.append(Entry(name if isinstance(name, str) else "", value, row, at))
            if self._rules.result_changes and (lacks := self._rules.result_changes(value)):
                self.words.append("empty_result_filled")
                changes.update(lacks)
        elif type(shape) is Call:
            arguments = _member(value, shape.arguments)
            if not self._rules.object_arguments or not isinstance(arguments, dict):
                self._mend_arguments(value, arguments, shape.arguments, changes)
            name = _member(value, shape.id)
            if isinstance(name, str):
                row.calls.append(Entry(name, value, row, at))
            elif self._rules.answers and isinstance(_member(value, shape.id[:-1]), dict):
                row.calls.append(Entry("", value, row, at))

    def _mend_arguments(self, value: JsonObject, found: Any, path: Path, changes: Changes) -> None:
        """Make arguments whole, in the form that the provider wants (H4)."""
        if not path or (len(path) > 1 and not isinstance(_member(value, path[:-1]), dict)):
            return
        if found is None and self._rules.may_lack_arguments:
            return
        mended = Json(_whole(found)) if self._rules.object_arguments else _as_text(found)
        if mended != found:
            self.words.append("broken_arguments_replaced")
            changes[path] = mended


def _is_unsigned(part: JsonObject, shape: Reasoning) -> bool:
    """Whether reasoning was cut before its signature."""
    held = _member(part, shape.inside)
    return isinstance(held, dict) and not held.get("signature")


def _as_text(arguments: Any) -> str | JsonText:
    return JsonText(arguments) if isinstance(arguments, dict) else _whole(arguments)


def _whole(arguments: Any) -> str:
    """Return the text of whole arguments, and that of an empty object for all else."""
    judged = judge(arguments) if isinstance(arguments, str) else None
    return judged.text if judged is not None and judged.finding is Finding.WHOLE else "{}"


def _member(value: Any, path: Path) -> Any:
    """Return what stands at the end of a path, None where it leads nowhere."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
