"""Plan the repairs of one row of a history, and find its calls and results.

The repairs remove private keys and Tenuto's notice, and blank texts and unsigned reasoning if the
provider rejects them. They replace broken arguments, and remove empty rows of the model.
"""

from __future__ import annotations

from typing import Any

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding, judge
from tenuto.core.history.table import (
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
    member,
)

_SAYING, _ASKING = ("assistant", "model"), ("user", "system", "developer")


def is_plain(value: Any, rules: Rules) -> bool:
    """Return whether a row is nothing but texts that need no repair on any wire."""
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


class RowRepair:
    """Repairs the rows of one history; `words` collects the repairs in words."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.words: list[str] = []

    def row(self, number: int, value: Any) -> Row | None:
        """Return what becomes of one row; None if it is removed. A user's row always stays."""
        rules = self._rules
        row = Row(number, value, rules.role_of(value))
        if not isinstance(value, dict):
            return row
        content = value.get(rules.content)
        if is_plain(value, rules):
            row.size = len(content) if isinstance(content, list) else 0
            return row
        changes = self._without_private_keys(value)
        if row.role is Role.MODEL:
            content = self._without_notice(content, changes)
        if rules.parts and isinstance(parts := value.get(rules.parts), list):
            if parts or row.role is not Role.MODEL or not rules.empty_lists_go:
                self._repair_parts(row, parts)
            else:
                self.words.append("empty_call_list_removed")
                changes[(rules.parts,)] = REMOVED
        if row.role is Role.MODEL and self._is_empty(row, content):
            return None
        if rules.no_empty_content and row.role is Role.MODEL and content == []:
            self.words.append("empty_content_removed")
            changes[(rules.content,)] = None
        if rules.rows and isinstance(kind := value.get(rules.row_kind), str):
            shape = rules.rows.get(kind)
            if not (type(shape) is Call and _has_none(value, shape)):
                self._note(row, 0, value, shape, changes)
        row.changes = changes
        return row

    def _without_private_keys(self, value: JsonObject) -> Changes:
        for key in value:
            if key < "`" and key.startswith("_"):  # the quick test first: "_" < "`" < "a"
                self.words.append("private_keys_removed")
                return {(key,): REMOVED for key in value if key.startswith("_")}
        return {}

    def _without_notice(self, content: Any, changes: Changes) -> Any:
        """Return the model's text without Tenuto's notice. A list of parts is repaired part by
        part."""
        if self._rules.parts_in is not None:
            content = self._rules.parts_in(content)
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

    def _repair_parts(self, row: Row, parts: list[Any]) -> None:
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
        """Return whether a text is blank without Tenuto's notice."""
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
        """Keep a call or a result for the pairing, and repair the arguments of a call."""
        if type(shape) is Result:
            row.results.append(Entry(_id_of(value, shape) or "", value, row, at, shape.id))
            lacks, word = (
                self._rules.result_changes(value) if self._rules.result_changes else ({}, "")
            )
            if lacks:
                self.words.append(word)
                changes.update(lacks)
        elif type(shape) is Call:
            arguments = member(value, shape.arguments)
            if not self._rules.object_arguments or not isinstance(arguments, dict):
                self._repair_arguments(value, arguments, shape.arguments, changes)
            name = _id_of(value, shape)
            if name or (name is not None and not self._rules.answers):
                row.calls.append(Entry(name, value, row, at, shape.id))
            elif self._rules.answers and isinstance(member(value, shape.id[:-1]), dict):
                row.calls.append(Entry("", value, row, at))

    def _repair_arguments(
        self, value: JsonObject, found: Any, path: Path, changes: Changes
    ) -> None:
        """Replace broken arguments with an empty object, and write arguments as the provider wants
        (H4)."""
        if not path or (len(path) > 1 and not isinstance(member(value, path[:-1]), dict)):
            return
        if found is None and self._rules.may_lack_arguments:
            return
        repaired = (
            Json(_whole_arguments(found)) if self._rules.object_arguments else _as_text(found)
        )
        if repaired != found:
            self.words.append("broken_arguments_replaced")
            changes[path] = repaired


def _id_of(value: JsonObject, shape: Call | Result) -> str | None:
    """Return the id of a call, also one that came as a number; "": there is none; None: it is
    nothing that identifies a call."""
    name = member(value, shape.id)
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    return "" if name is None else name if isinstance(name, str) else None


def _has_none(row: JsonObject, shape: Call) -> bool:
    """Return whether a row that may have one call in a member has none."""
    return len(shape.id) > 1 and not isinstance(member(row, shape.id[:-1]), dict)


def _is_unsigned(part: JsonObject, shape: Reasoning) -> bool:
    """Return whether reasoning was cut before its signature."""
    held = member(part, shape.inside)
    return isinstance(held, dict) and not held.get("signature")


def _as_text(arguments: Any) -> str | JsonText:
    return JsonText(arguments) if isinstance(arguments, dict) else _whole_arguments(arguments)


def _whole_arguments(arguments: Any) -> str:
    """Return arguments as text if they are complete, otherwise an empty object."""
    judged = judge(arguments) if isinstance(arguments, str) else None
    return judged.text if judged is not None and judged.finding is Finding.WHOLE else "{}"
