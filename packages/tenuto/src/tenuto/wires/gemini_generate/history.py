"""How Gemini writes a history, for the repairs of `core.history.plan`.

The provider combines consecutive rows of one role into one turn (the official SDK itself keeps a
streamed answer as several rows). Each `functionCall` of a model's turn has one `functionResponse`
in the user's turn after it, in any order. Many models give their calls no ids; then a result
belongs to a call by name and order. Streams end in an empty text, which the SDK keeps as a row of
its own.
https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tenuto.core import hints
from tenuto.core.history.signed import STAND_IN, sign_calls
from tenuto.core.history.table import Call, Changes, Result, Role, Row, Rules, Text
from tenuto.wires.gemini_generate.content import SIGNATURES, is_signed, member
from tenuto.wires.json import JsonObject

_CALL = ("functionCall", "function_call")
_RESULT = ("functionResponse", "function_response")


def role_of(row: Any) -> str:
    """Return the role of a row, "model" or "user". A row without a role is the user's.

    >>> role_of({"parts": []}), role_of({"role": "function"}), role_of({"role": "model"})
    ('user', 'user', 'model')
    """
    return "model" if isinstance(row, dict) and row.get("role") == "model" else "user"


def result_of(call: Mapping[str, Any], text: str, failed: bool = True) -> JsonObject:
    """Return the result of a call: an error, unless `failed` is false.

    >>> result_of({"name": "f"}, "no")
    {'functionResponse': {'name': 'f', 'response': {'error': 'no'}}}
    """
    named = {key: call[key] for key in ("id", "name") if call.get(key)}
    key = "error" if failed else "output"
    return {"functionResponse": {**named, "response": {key: text}}}


def _kind_of(part: JsonObject) -> str:
    for name in (*_CALL, *_RESULT):
        if name in part:
            return name
    return "" if part.get("thought") is True else "text"


def _answers(result: JsonObject, call: JsonObject) -> bool:
    """Compare ids if both have one, else names."""
    given, made = member(result, *_RESULT), member(call, *_CALL)
    if not isinstance(given, dict):
        return False
    if made.get("id") and given.get("id"):
        return bool(made["id"] == given["id"])
    return bool(made.get("name") == given.get("name"))


_CALLS = {name: Call((name, "id"), (name, "args")) for name in _CALL}


def _lacking(part: JsonObject) -> Changes:
    return {} if is_signed(part) else {(SIGNATURES[0],): STAND_IN}


def _speaks(row: Row) -> bool:
    """Return whether a row is the user's and holds anything besides results of calls."""
    if row.role is Role.MODEL or not isinstance(row.value, dict):
        return False
    parts = row.value.get("parts")
    given = parts if isinstance(parts, list) else [parts]
    return any(not isinstance(part, dict) or _kind_of(part) not in _RESULT for part in given)


def signed_part(part: JsonObject) -> JsonObject:
    """Return a call with a signature: its own, or the stand-in."""
    return part if is_signed(part) else {**part, SIGNATURES[0]: STAND_IN}


RULES = Rules(
    role_of=lambda row: Role.MODEL if role_of(row) == "model" else Role.ANSWERS,
    stub=lambda call: result_of(member(call, *_CALL), hints.ORPHAN_RESULT),
    content="parts",
    parts="parts",
    kind_of=_kind_of,
    shapes={
        Role.MODEL: {"text": Text(SIGNATURES), **_CALLS},
        Role.ANSWERS: {**_CALLS, **{name: Result((name, "id")) for name in _RESULT}},
    },
    is_empty=lambda parts: parts is None,
    answers=_answers,
    ordered=False,
    moves=False,
    own_row=True,
    private_parts=True,
    empty_turns_go=True,
    object_arguments=True,
    may_lack_arguments=True,
)

SIGNED_RULES = replace(RULES, sign=lambda rows: sign_calls(rows, _speaks, _lacking))
"""For models that refuse a call of the current turn without a signature."""
