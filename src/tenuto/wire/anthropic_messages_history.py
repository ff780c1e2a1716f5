"""Histories of Anthropic Messages that come in: which rows the provider would reject, put right.

Theory of operation
-------------------
The provider combines rows of one role that follow each other into one turn, so rules are held by
turns: each `tool_use` of an assistant's turn has one `tool_result`, and the results come first in
the user's turn behind it. Texts are not blank, thinking is signed, inputs are objects. Tools that
the provider runs itself have their results in the assistant's own turn; nothing here touches them.
https://platform.claude.com/docs/en/api/messages (docstrings of anthropic-sdk-python 2.12)

`planned` looks at decoded rows only and says which blocks stay, change or move; a history that is
right needs no more than that look. `carried_out` then does it to the bytes, so that what is not
named keeps them. The plan depends on the history alone: the same history gives the same bytes each
time, and what was repaired needs no repair (H5a).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.wire.base import JsonObject
from tenuto.wire.json import encode
from tenuto.wire.members import (
    joined,
    listed,
    members_of,
    rows_of,
    value_of,
    with_members,
    without_notice,
)

Changes = dict[str, bytes | None]
"""Members that are replaced or, for None, left out."""


@dataclass(slots=True, eq=False)
class _Block:
    """One block of a row: the caller's, by the numbers of row and block, or one of ours as bytes.

    Compared by identity: the same block may be there twice.
    """

    kind: Any
    value: Any
    row: int = 0
    number: int = 0
    changes: Changes | None = None
    made: bytes = b""

    @property
    def blank(self) -> bool:
        return bool(self.kind == "text" and _is_blank(self.value.get("text")))


_NO_BLOCK = _Block(None, None)


@dataclass(slots=True, eq=False)
class Row:
    """What becomes of one row.

    Attributes:
        number: the caller's row, None for one of ours.
        role: who speaks.
        blocks: its blocks, None where the content is no list.
        text: the content where it is a text.
        changes: members of the row that change.
        rebuilt: whether its content is put together anew from `blocks`.
    """

    number: int | None
    role: object
    blocks: list[_Block] | None = None
    text: str | None = None
    changes: Changes = field(default_factory=dict)
    rebuilt: bool = False


@dataclass(slots=True)
class _Turns:
    """Rows of one role and, where they are the assistant's, the user's rows behind them."""

    rows: list[Row]
    calls: dict[str, JsonObject]
    answers: list[Row]

    @property
    def results(self) -> list[_Block]:
        return [b for row in self.answers for b in row.blocks or () if b.kind == "tool_result"]


Plan = list[Row]
_SAID = frozenset({"role", "content"})


def repair_history(rows: list[bytes]) -> tuple[list[bytes], tuple[str, ...]]:
    """Rows that the provider accepts, and what was done, in words; a valid history is returned as
    it came. Repairing twice is repairing once.

    >>> row = b'{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}'
    >>> repair_history([row])[1]
    ('unanswered_call_answered',)
    """
    plan, words = planned([value_of(row) for row in rows])
    return (carried_out(plan, rows), words) if words else (rows, ())


def planned(values: Sequence[Any], *, signed_thinking: bool = True) -> tuple[Plan, tuple[str, ...]]:
    """What has to be done to a history, and the same in words: without any of them the history is
    right, and the plan says nothing. `signed_thinking`: whether the provider takes thinking back
    only where it signed it (C20).

    >>> planned([{"role": "assistant", "content": " "}])
    ([], ('empty_row_removed',))
    """
    if all(map(_is_said, values)):
        return [], ()
    done: list[str] = []
    mended = [_mended_row(n, value, signed_thinking, done) for n, value in enumerate(values)]
    plan = _paired([row for row in mended if row is not None], done)
    return plan, tuple(dict.fromkeys(done))


def _is_said(value: Any) -> bool:
    """Whether a row is nothing but a text of the user's: there is nothing to put right in it."""
    return (
        isinstance(value, dict)
        and value.keys() == _SAID
        and value["role"] == "user"
        and isinstance(value["content"], str)
    )


def carried_out(plan: Plan, raws: Sequence[bytes]) -> list[bytes]:
    """The rows that a plan means, made of the bytes of the rows that it was made for."""

    @cache
    def split(row: int) -> list[bytes]:
        content = members_of(raws[row])["content"]
        if not content.startswith(b'"'):
            return rows_of(content)
        return [joined({"type": b'"text"', "text": content})]

    return [_row_bytes(row, raws, split) for row in plan]


def _row_bytes(row: Row, raws: Sequence[bytes], split: Callable[[int], list[bytes]]) -> bytes:
    content: Changes = {}
    if row.rebuilt:
        content = {"content": listed(_block_bytes(b, split) for b in row.blocks or ())}
    if row.number is None:
        return with_members(b'{"role":"user"}', content)
    changes = row.changes | content
    return with_members(raws[row.number], changes) if changes else raws[row.number]


def _block_bytes(block: _Block, split: Callable[[int], list[bytes]]) -> bytes:
    if block.made:
        return block.made
    raw = split(block.row)[block.number]
    return with_members(raw, block.changes) if block.changes else raw


# --- one row ----------------------------------------------------------------------------------


def _mended_row(number: int, value: Any, signed: bool, done: list[str]) -> Row | None:
    """One row put right, None where it must go. A user's row is the user's: it stays."""
    if not isinstance(value, dict):
        return Row(number, None)
    role, content = value.get("role"), value.get("content")
    row = Row(number, role, changes=_private(value, done) or {})
    if isinstance(content, list):
        _mend_blocks(row, content, signed, done)
    elif isinstance(content, str):
        row.text = content
        if role == "assistant" and (shown := without_notice(content)) != content:
            done.append("notice_removed")
            row.text = shown
            row.changes["content"] = encode(shown)
    if role == "assistant" and _is_empty(row, content):
        done.append("empty_row_removed")
        return None
    return row


def _is_empty(row: Row, content: Any) -> bool:
    if row.blocks is not None:
        return not row.blocks
    return _is_blank(row.text) if row.text is not None else not content


def _is_blank(text: Any) -> bool:
    return isinstance(text, str) and (not text or text.isspace())


def _private(value: JsonObject, done: list[str]) -> Changes | None:
    for key in value:
        if key.startswith("_"):
            done.append("private_keys_removed")
            return {key: None for key in value if key.startswith("_")}
    return None


def _mend_blocks(row: Row, content: list[Any], signed: bool, done: list[str]) -> None:
    blocks = []
    for n, value in enumerate(content):
        kind = value.get("type") if isinstance(value, dict) else None
        blocks.append(_Block(kind, value, row.number or 0, n))
    said = row.role == "assistant"
    kept = _without_unsigned(blocks, done) if said and signed else blocks
    for block in kept:
        if isinstance(block.value, dict):
            block.changes = _private(block.value, done)
            if said:
                _mend_said(block, done)
            row.rebuilt = row.rebuilt or bool(block.changes)
    row.blocks = kept
    if said or row.role == "user":
        spoken = [block for block in kept if not block.blank]
        if len(spoken) < len(kept) and (spoken or said):
            done.append("blank_text_removed")
            row.blocks = spoken
    row.rebuilt = row.rebuilt or len(row.blocks) < len(blocks)


def _without_unsigned(blocks: list[_Block], done: list[str]) -> list[_Block]:
    """The blocks without thinking that was cut before its signature: the provider takes none."""
    kept = [b for b in blocks if b.kind != "thinking" or b.value.get("signature")]
    if len(kept) < len(blocks):
        done.append("unsigned_thinking_removed")
    return kept


def _mend_said(block: _Block, done: list[str]) -> None:
    """A text without our notice, and an input that is an object (H4)."""
    if block.kind == "text":
        text = block.value.get("text")
        if isinstance(text, str) and (shown := without_notice(text)) != text:
            done.append("notice_removed")
            block.changes = (block.changes or {}) | {"text": encode(shown)}
            block.value = block.value | {"text": shown}
    elif block.kind == "tool_use" and not isinstance(block.value.get("input"), dict):
        done.append("broken_arguments_replaced")
        restored = _restored(block.value.get("input"))
        block.changes = (block.changes or {}) | {"input": restored}


def _restored(found: Any) -> bytes:
    """The object that a text holds, an empty one for all else."""
    judged = judge(found) if isinstance(found, str) else None
    whole = judged is not None and judged.finding is Finding.WHOLE
    return judged.text.encode("utf-8", "replace") if judged is not None and whole else b"{}"


# --- calls and results ------------------------------------------------------------------------


def _paired(rows: Iterable[Row], done: list[str]) -> Plan:
    """Every call answered in the turn behind it, first, in order, once; no result without a call.

    An id names a call of its own turn only: many providers give it again to a later call."""
    exchanges = _turns(rows)
    strays: dict[object, _Block] = {}
    for turns in exchanges:
        for block in turns.results:
            if (name := _answered(block)) not in turns.calls:
                strays.setdefault(name, block)
    plan: Plan = []
    for turns in exchanges:
        plan.extend(turns.rows)
        if not _in_order(turns):
            _settle(turns, strays, done)
        plan.extend(turns.answers)
    return plan


def _answered(block: _Block) -> str:
    """The id of the call that a result answers, "" where it names none."""
    name = block.value.get("tool_use_id")
    return name if isinstance(name, str) else ""


def _turns(rows: Iterable[Row]) -> list[_Turns]:
    found = [_Turns([], {}, [])]
    for row in rows:
        last = found[-1]
        if row.role == "user":
            last.answers.append(row)
            continue
        if last.answers or row.role != "assistant" or not last.calls:
            last = _Turns([], {}, [])
            found.append(last)
        last.rows.append(row)
        if row.role == "assistant":
            last.calls |= _calls(row)
    return found


def _calls(row: Row) -> dict[str, JsonObject]:
    blocks = [block.value for block in row.blocks or () if block.kind == "tool_use"]
    return {block["id"]: block for block in blocks if isinstance(block.get("id"), str)}


def _in_order(turns: _Turns) -> bool:
    results = turns.results
    if not results and not turns.calls:
        return True
    if [_answered(block) for block in results] != list(turns.calls):
        return False
    first = [block for row in turns.answers for block in (row.blocks or [_NO_BLOCK])]
    return first[: len(results)] == results


def _settle(turns: _Turns, strays: dict[object, _Block], done: list[str]) -> None:
    """Put the expected results first, and say in words how the found ones differed."""
    found = turns.results
    own = {_answered(block): block for block in reversed(found)}
    expected = [
        own.get(name) or strays.pop(name, None) or _stub(name, call)
        for name, call in turns.calls.items()
    ]
    if any(block not in found for block in expected):
        done.append("unanswered_call_answered")
    if any(block not in expected for block in found):
        done.append("stray_result_moved_or_removed")
    if len(found) == len(expected) and all(block in found for block in expected):
        done.append("results_reordered")
    answers = turns.answers
    if expected and not (answers and _takes_blocks(answers[0])):
        answers.insert(0, Row(None, "user", []))
    head = answers[0] if expected else None
    turns.answers = [row for row in answers if _cleared(row) or row is head]
    if head is not None:
        rest = _as_blocks(head)
        spoken = [block for block in rest if not block.blank]
        if len(spoken) < len(rest):
            done.append("blank_text_removed")
        head.blocks, head.rebuilt = expected + spoken, True


def _takes_blocks(row: Row) -> bool:
    return row.blocks is not None or row.text is not None


def _as_blocks(row: Row) -> list[_Block]:
    if row.text is None:
        return row.blocks or []
    return [_Block("text", {"text": row.text}, row.number or 0)]


def _cleared(row: Row) -> bool:
    """Take the results out of a row; False where nothing is left of it."""
    others = [block for block in row.blocks or () if block.kind != "tool_result"]
    if row.blocks is None or len(others) == len(row.blocks):
        return True
    row.blocks, row.rebuilt = others, True
    return bool(others)


def _stub(name: str, call: JsonObject) -> _Block:
    family = {key: call[key] for key in ("toolset_name",) if call.get(key)}
    return _Block("tool_result", None, made=encode(result_of(name, hints.ORPHAN_RESULT) | family))


def result_of(name: str, text: str, failed: bool = True) -> JsonObject:
    """A result, which says that the call of this id was not run, or of one that was.

    >>> result_of("a", "no")["is_error"]
    True
    """
    flag = {"is_error": True} if failed else {}
    return {"type": "tool_result", "tool_use_id": name, **flag, "content": text}
