"""Histories of Gemini that come in: which rows the provider would reject, put right.

Theory of operation
-------------------
The provider combines rows of one role that follow each other into one turn (the official SDK itself
keeps a streamed answer as several rows), so rules are held by turns: for each `functionCall` of a
model's turn there is one `functionResponse` in the user's turn behind it, as many as there are
calls. Many models give their calls no ids; results then belong to calls by name and order.
https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22)

Repairs depend on the history alone: the same history gives the same bytes each time, and what was
repaired needs no repair (H5a).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tenuto.core import hints
from tenuto.core.arguments import Finding, judge
from tenuto.core.hints import without_notice
from tenuto.wire.base import JsonObject
from tenuto.wire.gemini_generate_content import is_signed, is_text, member
from tenuto.wire.json import encode
from tenuto.wire.members import (
    listed,
    members_of,
    rows_of,
    value_of,
    with_members,
)

_CALL = ("functionCall", "function_call")
_RESULT = ("functionResponse", "function_response")


@dataclass(slots=True, eq=False)
class _Row:
    """One row: its bytes, its role, and its parts as bytes and values; `parts` is None where they
    are no list."""

    raw: bytes
    role: str
    parts: list[tuple[bytes, Any]] | None
    rebuilt: bool = False

    def bytes_of(self) -> bytes:
        if not self.rebuilt or self.parts is None:
            return self.raw
        return with_members(self.raw, {"parts": listed(raw for raw, _ in self.parts)})


def role_of(row: Any) -> str:
    """Who speaks: "model" or "user"; a row without a role is the user's.

    >>> role_of({"parts": []}), role_of({"role": "function"}), role_of({"role": "model"})
    ('user', 'user', 'model')
    """
    return "model" if isinstance(row, dict) and row.get("role") == "model" else "user"


def repair_history(rows: list[bytes]) -> tuple[list[bytes], tuple[str, ...]]:
    """Rows that the provider accepts, and what was done, in words; a valid history is returned as
    it came. Repairing twice is repairing once.

    >>> row = b'{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}'
    >>> repair_history([row])[1]
    ('unanswered_call_answered',)
    """
    done: list[str] = []
    mended = [row for raw in rows if (row := _mended_row(raw, done)) is not None]
    out = _paired(mended, done)
    return ([row.bytes_of() for row in out], tuple(dict.fromkeys(done))) if done else (rows, ())


# --- one row ----------------------------------------------------------------------------------


def _mended_row(raw: bytes, done: list[str]) -> _Row | None:
    """One row put right, None where it must go. A user's row is the user's: it stays."""
    value = value_of(raw)
    role = role_of(value)
    if not isinstance(value, dict):
        return _Row(raw, role, None)
    if private := [key for key in value if key.startswith("_")]:
        done.append("private_keys_removed")
        raw = with_members(raw, dict.fromkeys(private))
    parts = value.get("parts")
    if not isinstance(parts, list):
        if role == "model" and parts is None:
            done.append("empty_row_removed")
            return None
        return _Row(raw, role, None)
    pairs = list(zip(rows_of(members_of(raw)["parts"]), parts, strict=True))
    kept = [_mended_part(pair, role, done) for pair in pairs]
    if role == "model" and not kept:
        done.append("empty_row_removed")
        return None
    return _Row(raw, role, kept, rebuilt=kept != pairs)


def _says_something(row: _Row) -> bool:
    """Whether a row of the model's holds anything: streams end in an empty text, and the SDK keeps
    it as a row of its own."""
    return row.parts is None or any(_holds_something(part) for _, part in row.parts)


def _holds_something(part: Any) -> bool:
    if not isinstance(part, dict) or not is_text(part):
        return True
    return bool(part["text"].strip()) or is_signed(part)


def _mended_part(pair: tuple[bytes, Any], role: str, done: list[str]) -> tuple[bytes, Any]:
    raw, part = pair
    if not isinstance(part, dict):
        return pair
    changes: dict[str, bytes | None] = {key: None for key in part if key.startswith("_")}
    if changes:
        done.append("private_keys_removed")
    if (
        role == "model"
        and is_text(part)
        and (shown := without_notice(part["text"])) != part["text"]
    ):
        done.append("notice_removed")
        changes["text"] = encode(shown)
        part = part | {"text": shown}
    key = next((name for name in _CALL if isinstance(part.get(name), dict)), None)
    if key is not None and not isinstance(part[key].get("args", {}), dict | None):
        done.append("broken_arguments_replaced")
        inner = members_of(raw)[key]
        changes[key] = with_members(inner, {"args": _restored(part[key]["args"])})
    return (with_members(raw, changes), part) if changes else pair


def _restored(found: Any) -> bytes:
    """The object that a text holds, an empty one for all else (H4)."""
    judged = judge(found) if isinstance(found, str) else None
    whole = judged is not None and judged.finding is Finding.WHOLE
    return judged.text.encode("utf-8", "replace") if judged is not None and whole else b"{}"


# --- calls and results ------------------------------------------------------------------------


@dataclass(slots=True)
class _Turns:
    """A model's turn, and the user's behind it."""

    said: list[_Row]
    answers: list[_Row]

    def calls(self) -> list[JsonObject]:
        """The calls of the turn."""
        found = [part for row in self.said for _, part in row.parts or () if _is(part, _CALL)]
        return [call for part in found if isinstance(call := member(part, *_CALL), dict)]

    def results(self) -> list[tuple[bytes, JsonObject]]:
        """The parts of the user's turn that are results."""
        return [pair for row in self.answers for pair in row.parts or () if _is(pair[1], _RESULT)]


def _is(part: Any, names: Sequence[str]) -> bool:
    return isinstance(part, dict) and any(name in part for name in names)


def _paired(rows: Iterable[_Row], done: list[str]) -> list[_Row]:
    """Every call answered in the turn behind it; no result without a call."""
    exchanges = [_Turns([], [])]
    for row in rows:
        if row.role == "model":
            if exchanges[-1].answers:
                exchanges.append(_Turns([], []))
            exchanges[-1].said.append(row)
        else:
            exchanges[-1].answers.append(row)
    out: list[_Row] = []
    for turns in exchanges:
        if turns.said and not any(map(_says_something, turns.said)):
            done.append("empty_row_removed")
            turns.said = []
        calls, results = turns.calls(), turns.results()
        if not _fits(calls, results):
            _settle(turns, calls, results, done)
        out += [*turns.said, *turns.answers]
    return out


def _fits(calls: list[JsonObject], results: list[tuple[bytes, JsonObject]]) -> bool:
    """Whether there are as many results as calls, and each is for one of them."""
    given = [member(part, *_RESULT) for _, part in results]
    return len(calls) == len(given) and None not in _matched(calls, given)


def _matched(calls: Sequence[Mapping[str, Any]], results: Sequence[Any]) -> list[int | None]:
    """For each call the number of its result, by id where it has one, else by name and order.

    Results in another order are as good: the ids, or the names, tell."""
    free = list(range(len(results)))
    found: list[int | None] = []
    for call in calls:
        number = next((n for n in free if _answers(results[n], call)), None)
        found.append(number)
        if number is not None:
            free.remove(number)
    return found


def _answers(result: Any, call: Mapping[str, Any]) -> bool:
    if not isinstance(result, dict):
        return False
    if call.get("id") and result.get("id"):
        return bool(call["id"] == result["id"])
    return bool(call.get("name") == result.get("name"))


def _settle(
    turns: _Turns,
    calls: list[JsonObject],
    results: list[tuple[bytes, JsonObject]],
    done: list[str],
) -> None:
    """Put the expected results first, and say in words how the found ones differed."""
    matched = _matched(calls, [member(part, *_RESULT) for _, part in results])
    expected: list[tuple[bytes, Any]] = []
    for call, number in zip(calls, matched, strict=True):
        stub = result_of(call, hints.ORPHAN_RESULT)
        expected.append((encode(stub), stub) if number is None else results[number])
    if None in matched:
        done.append("unanswered_call_answered")
    if len(results) > len([n for n in matched if n is not None]):
        done.append("stray_result_removed")
    rest = [row for row in turns.answers if _cleared(row)]
    head = [_Row(b'{"role":"user"}', "user", expected, rebuilt=True)] if expected else []
    turns.answers = [*head, *rest]


def _cleared(row: _Row) -> bool:
    """Take the results out of a row; False where nothing is left of it."""
    others = [pair for pair in row.parts or () if not _is(pair[1], _RESULT)]
    if row.parts is None or len(others) == len(row.parts):
        return True
    row.parts, row.rebuilt = others, True
    return bool(others)


def result_of(call: Mapping[str, Any], text: str, failed: bool = True) -> JsonObject:
    """A result, named as the call is; where it failed, or was not run, an error.

    >>> result_of({"name": "f"}, "no")
    {'functionResponse': {'name': 'f', 'response': {'error': 'no'}}}
    """
    named = {key: call[key] for key in ("id", "name") if call.get(key)}
    key = "error" if failed else "output"
    return {"functionResponse": {**named, "response": {key: text}}}
