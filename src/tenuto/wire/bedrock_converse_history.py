"""Histories of Converse that come in: which rows the provider would reject, put right.

Theory of operation
-------------------
Roles must alternate, and nothing merges rows on the way, so rows of one role that follow each other
are joined here. Each `toolUse` of an assistant's row has one `toolResult` in the row behind it,
where the results come first. Texts are not blank, contents not empty, inputs are objects, and
Claude's reasoning is signed. Tools that the provider runs itself have their results in the
assistant's own row; nothing here touches them.
https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html

What is not named keeps its bytes. The outcome depends on the history alone: the same history gives
the same bytes each time, and what was repaired needs no repair (H5a).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.core.hints import without_notice
from tenuto.wire.base import JsonObject
from tenuto.wire.bedrock_converse_events import SERVER_TOOL
from tenuto.wire.json import encode
from tenuto.wire.members import listed, members_of, rows_of, value_of, with_members


@dataclass(slots=True, eq=False)
class _Block:
    """One block, as bytes and as a value. Compared by identity: the same may be there twice."""

    raw: bytes
    value: Any

    def part(self, kind: str) -> JsonObject | None:
        """What the block holds of a kind, None where it is of another."""
        part = self.value.get(kind) if isinstance(self.value, dict) else None
        return part if isinstance(part, dict) else None

    @property
    def blank(self) -> bool:
        text = self.value.get("text") if isinstance(self.value, dict) else None
        return isinstance(text, str) and (not text or text.isspace())

    @property
    def answers(self) -> str | None:
        """The id of the call that a result answers, "" where it names none; None: it is none."""
        result = self.part("toolResult")
        if result is None:
            return None
        name = result.get("toolUseId")
        return name if isinstance(name, str) else ""


@dataclass(slots=True, eq=False)
class _Row:
    raw: bytes
    role: object
    blocks: list[_Block]
    changed: bool = False

    def bytes(self) -> bytes:
        """The row; the caller's own bytes where nothing was changed."""
        if not self.changed:
            return self.raw
        private = {key: None for key in members_of(self.raw) if key.startswith("_")}
        return with_members(self.raw, {**private, "content": listed(b.raw for b in self.blocks)})


def repair_history(
    rows: list[bytes], *, signed_reasoning: bool = True
) -> tuple[list[bytes], tuple[str, ...]]:
    """Rows that the provider accepts, and what was done, in words; a valid history is returned as
    it came. Repairing twice is repairing once.

    >>> call = b'{"toolUse":{"toolUseId":"a","name":"f","input":{}}}'
    >>> repair_history([b'{"role":"assistant","content":[%b]}' % call])[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    read = [_read(raw, signed_reasoning, done) for raw in rows]
    joined = _alternating([row for row in read if row.blocks or row.role != "assistant"], done)
    if any(row.role == "assistant" and not row.blocks for row in read):
        done.append("empty_row_removed")
    _pair(joined, done)
    if not done:
        return rows, ()
    return [row.bytes() for row in joined], tuple(dict.fromkeys(done))


def is_plain(rows: Sequence[Any]) -> bool:
    """Whether there is nothing to put right in rows: texts that are not blank, in turns.

    >>> is_plain([{"role": "user", "content": [{"text": "Hi"}]}])
    True
    """
    roles = [row.get("role") for row in rows if isinstance(row, dict)]
    in_turns = all(one != other for one, other in pairwise(roles))
    return in_turns and len(roles) == len(rows) and all(map(_is_text, rows))


def _is_text(row: JsonObject) -> bool:
    content = row.get("content")
    return (
        row.keys() == {"role", "content"}
        and isinstance(content, list)
        and bool(content)
        and all(
            isinstance(block, dict)
            and block.keys() == {"text"}
            and isinstance(block["text"], str)
            and bool(block["text"].strip())
            and (row["role"] == "user" or hints.NOTICE_START not in block["text"])
            for block in content
        )
    )


# --- one row ----------------------------------------------------------------------------------


def _read(raw: bytes, signed: bool, done: list[str]) -> _Row:
    value = value_of(raw)
    role, content = (
        (value.get("role"), value.get("content")) if isinstance(value, dict) else (None, None)
    )
    if not isinstance(content, list):
        return _Row(raw, role if role != "assistant" else None, [])
    parts = rows_of(members_of(raw)["content"])
    blocks = [_Block(part, held) for part, held in zip(parts, content, strict=True)]
    row = _Row(raw, role, blocks)
    if any(key.startswith("_") for key in value):
        done.append("private_keys_removed")
        row.changed = True
    for block in blocks:
        row.changed |= _mend(block, role == "assistant", done)
    kept = [b for b in blocks if not (role == "assistant" and signed and _is_unsigned(b))]
    if len(kept) < len(blocks):
        done.append("unsigned_reasoning_removed")
    spoken = [block for block in kept if not block.blank]
    if len(spoken) < len(kept) and (spoken or role == "assistant"):
        done.append("blank_text_removed")
        kept = spoken
    row.changed |= len(kept) < len(blocks)
    row.blocks = kept
    return row


def _mend(block: _Block, said: bool, done: list[str]) -> bool:
    """A text without our notice, an input that is an object (H4), a failed result that says
    something. Whether anything changed."""
    before = block.raw
    call, result = block.part("toolUse"), block.part("toolResult")
    text = block.value.get("text") if isinstance(block.value, dict) else None
    if said and isinstance(text, str) and (shown := without_notice(text)) != text:
        done.append("notice_removed")
        _become(block, {**block.value, "text": shown})
    elif said and call is not None and not isinstance(call.get("input"), dict):
        done.append("broken_arguments_replaced")
        _become(block, {"toolUse": {**call, "input": _restored(call.get("input"))}})
    elif result is not None and result.get("status") == "error" and not result.get("content"):
        done.append("empty_result_filled")
        _become(block, {"toolResult": {**result, "content": [{"text": hints.ORPHAN_RESULT}]}})
    return block.raw is not before


def _become(block: _Block, value: JsonObject) -> None:
    block.value, block.raw = value, encode(value)


def _restored(found: Any) -> JsonObject:
    """The object that a text holds, an empty one for all else."""
    judged = judge(found) if isinstance(found, str) else None
    if judged is None or judged.finding is not Finding.WHOLE:
        return {}
    restored: JsonObject = value_of(judged.text.encode("utf-8", "replace"))
    return restored


def _is_unsigned(block: _Block) -> bool:
    """Reasoning that was cut before its signature: Claude takes none."""
    thought = (block.part("reasoningContent") or {}).get("reasoningText")
    return isinstance(thought, dict) and not thought.get("signature")


# --- turns, calls and results -----------------------------------------------------------------


def _alternating(rows: list[_Row], done: list[str]) -> list[_Row]:
    joined: list[_Row] = []
    for row in rows:
        last = joined[-1] if joined else None
        if last is not None and row.role in ("user", "assistant") and last.role == row.role:
            done.append("rows_joined")
            last.blocks, last.changed = last.blocks + row.blocks, True
        else:
            joined.append(row)
    return joined


def _calls(row: _Row) -> list[str]:
    calls = [block.part("toolUse") for block in row.blocks]
    names = [c.get("toolUseId") for c in calls if c is not None and c.get("type") != SERVER_TOOL]
    return [name for name in names if isinstance(name, str)]


def _pair(rows: list[_Row], done: list[str]) -> None:
    """Every call answered in the row behind it, first, in order, once; no result without a call."""
    at = 0
    while at < len(rows):
        row = rows[at]
        calls = list(dict.fromkeys(_calls(row))) if row.role == "assistant" else []
        before = rows[at - 1] if at else None
        if calls and not (at + 1 < len(rows) and rows[at + 1].role == "user"):
            rows.insert(at + 1, _Row(b'{"role":"user"}', "user", [], changed=True))
        if calls:
            _settle(rows[at + 1], calls, done)
        elif row.role == "user" and not (before and _calls(before) and before.role == "assistant"):
            _settle(row, [], done)
            if row.changed and not row.blocks:
                del rows[at]
                continue
        at += 1
    rows[:] = _alternating(rows, done)
    for row in rows:  # of what was joined a blank text need not stand for the whole row any more
        spoken = [block for block in row.blocks if not block.blank]
        if spoken and len(spoken) < len(row.blocks):
            done.append("blank_text_removed")
            row.blocks, row.changed = spoken, True


def _settle(row: _Row, calls: list[str], done: list[str]) -> None:
    found = [block for block in row.blocks if block.answers is not None]
    own = {block.answers: block for block in reversed(found)}
    expected = [own.get(name) or _stub(name) for name in calls]
    if row.blocks[: len(expected)] == expected and len(found) == len(expected):
        return
    if any(block not in found for block in expected):
        done.append("unanswered_call_answered")
    if any(block not in expected for block in found):
        done.append("stray_result_removed")
    if len(found) == len(expected) and all(block in found for block in expected):
        done.append("results_reordered")
    others = [block for block in row.blocks if block.answers is None]
    row.blocks, row.changed = expected + others, True


def _stub(name: str) -> _Block:
    value = result_of(name, hints.ORPHAN_RESULT)
    return _Block(encode(value), value)


def result_of(name: str, text: str, failed: bool = True) -> JsonObject:
    """A result of the call of this id; where it failed, or was not run, an error.

    >>> result_of("a", "no")["toolResult"]["status"]
    'error'
    """
    status = "error" if failed else "success"
    return {"toolResult": {"toolUseId": name, "status": status, "content": [{"text": text}]}}
