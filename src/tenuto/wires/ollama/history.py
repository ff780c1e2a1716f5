"""Repairs of a history of Ollama (H1-H5).

The server refuses arguments that are no object; templates of models take results in the order of
their calls, directly behind them. Results have names, some ids as well, many neither. The repairs
depend on the history alone, so the same history gives the same bytes each time (H5a).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.core.hints import without_notice
from tenuto.wires.base import JsonObject
from tenuto.wires.json import encode
from tenuto.wires.members import (
    listed,
    members_of,
    object_in,
    rows_of,
    value_of,
    with_members,
)

Row = tuple[bytes, JsonObject]
"""As it came or was put right, and as it was read."""


def repair_history(rows: list[bytes]) -> tuple[list[bytes], tuple[str, ...]]:
    """Rows that the provider accepts, and what was done, in words; a valid history is returned as
    it came. Repairing twice is repairing once.

    >>> row = b'{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]}'
    >>> repair_history([row])[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    kept: list[Row] = []
    for raw in rows:
        value = object_in(value_of(raw))
        try:
            mended = _mended(raw, value, done)
        except (msgspec.DecodeError, UnicodeDecodeError):
            mended = raw  # the provider will say what it thinks of it
        if mended is not None:
            kept.append((mended, value))
    out = _answered(kept, done)
    return (out, tuple(dict.fromkeys(done))) if done else (rows, ())


def _mended(raw: bytes, value: JsonObject, done: list[str]) -> bytes | None:
    """One row put right, the same bytes where nothing was wrong, None where it must go."""
    changes: dict[str, bytes | None] = {key: None for key in value if key.startswith("_")}
    if changes:
        done.append("private_keys_removed")
    if value.get("role") == "assistant":
        content, calls = value.get("content"), value.get("tool_calls")
        if isinstance(content, str) and (shown := without_notice(content)) != content:
            done.append("notice_removed")
            content, changes["content"] = shown, encode(shown)
        says = content.strip() if isinstance(content, str) else content
        if not (says or calls or value.get("images")):
            done.append("empty_row_removed")
            return None
        if isinstance(calls, list):
            changes |= _mended_calls(raw, calls, done)
    return with_members(raw, changes) if changes else raw


def _mended_calls(raw: bytes, calls: list[Any], done: list[str]) -> dict[str, bytes | None]:
    """The calls, where the arguments of one are no object (H4)."""
    rows = rows_of(members_of(raw)["tool_calls"])
    changed = False
    for number, call in enumerate(calls):
        function = object_in(call).get("function")
        if isinstance(function, dict) and not isinstance(function.get("arguments"), dict):
            inner = members_of(rows[number])["function"]
            arguments = _object_in_text(function.get("arguments"))
            mended = with_members(inner, {"arguments": arguments})
            rows[number], changed = with_members(rows[number], {"function": mended}), True
    if changed:
        done.append("broken_arguments_replaced")
    return {"tool_calls": listed(rows)} if changed else {}


def _object_in_text(given: object) -> bytes:
    """The object that a text holds, an empty one for all else."""
    found = judge(given) if isinstance(given, str) else None
    whole = found is not None and found.finding is Finding.WHOLE
    return found.text.encode("utf-8", "replace") if found is not None and whole else b"{}"


def _answered(rows: Sequence[Row], done: list[str]) -> list[bytes]:
    """Every call answered directly behind its row, in the order of the calls (H2), also where the
    user spoke before the result came. What answers none of them stays where it is: the server
    takes it."""
    rows = list(rows)
    out: list[bytes] = []
    at = 0
    while at < len(rows):
        raw, value = rows[at]
        at += 1
        out.append(raw)
        given = value.get("tool_calls") if value.get("role") == "assistant" else None
        calls = [object_in(call) for call in given] if isinstance(given, list) else []
        found: list[Row] = []
        while calls and at < len(rows) and rows[at][1].get("role") == "tool":
            found.append(rows[at])
            at += 1
        while len(found) < len(calls) and (late := _late(rows, at)) is not None:
            found.append(rows.pop(late))
            done.append("late_result_moved")
        out += _settled(calls, found, done)
    return out


def _late(rows: Sequence[Row], at: int) -> int | None:
    """Where a result stands before the model speaks again, None where none does."""
    for number in range(at, len(rows)):
        if (role := rows[number][1].get("role")) in ("tool", "assistant"):
            return number if role == "tool" else None
    return None


def _settled(calls: Sequence[JsonObject], found: Sequence[Row], done: list[str]) -> list[bytes]:
    """The results of a row's calls. Those that name one stand for it; where there are as many
    results as calls, or more, none is missing."""
    rows = [raw for raw, _ in found]
    if len(found) >= len(calls):
        return rows
    free = list(found)
    expected: list[bytes] = []
    for call in calls:
        named = next((row for row in free if _names(row[1], call)), None)
        if named is None:
            expected.append(encode(result_of(call, hints.ORPHAN_RESULT)))
        else:
            free.remove(named)
            expected.append(named[0])
    done.append("unanswered_call_answered")
    return [*expected, *(raw for raw, _ in free)]


def _names(result: JsonObject, call: JsonObject) -> bool:
    """Whether a result says that it is this call's, by id, else by the tool's name; one that says
    nothing is the next one's."""
    if result.get("tool_call_id"):
        return bool(result["tool_call_id"] == call.get("id"))
    name = result.get("tool_name") or result.get("name")
    return not name or bool(name == object_in(call.get("function")).get("name"))


def result_of(call: Mapping[str, Any], text: str) -> JsonObject:
    """A result that says that a call was not run, named as the call is.

    >>> result_of({"function": {"name": "f"}}, "no")
    {'role': 'tool', 'content': 'no', 'tool_name': 'f'}
    """
    made: JsonObject = {"role": "tool", "content": text}
    if name := object_in(call.get("function")).get("name"):
        made["tool_name"] = name
    return made | ({"tool_call_id": call["id"]} if call.get("id") else {})
