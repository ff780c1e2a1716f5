"""How an Interactions request writes its steps, for the repairs of `core.history.plan`.

Every call has one result, after the model's steps around it, and every result has a call. Arguments
are objects, and thoughts go back unchanged. The provider keeps the history of
`previous_interaction_id`, so a result whose call may be there is left alone.
https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from tenuto.core import hints
from tenuto.core.history.table import Call, Entry, Result, Role, Row, Rules
from tenuto.wires.gemini_interactions.steps import (
    CALL,
    MADE_BY_THE_MODEL,
    OUTPUT,
    RESULT,
    kind_of,
    parts_of,
    text_in,
)
from tenuto.wires.json import JsonObject


def result_of(call_id: str, name: str, text: str, failed: bool = True) -> JsonObject:
    """Return a result: an error, unless `failed` is false. The service refuses one without a name,
    though its reference calls the name optional:
    https://github.com/robocurve/inspect-robots/issues/380

    >>> result_of("a", "", "no")
    {'type': 'function_result', 'call_id': 'a', 'name': 'unknown', 'is_error': True, 'result': 'no'}
    """
    named = {"call_id": call_id, "name": name or "unknown"}
    flag = {"is_error": True} if failed else {}
    return {"type": RESULT, **named, **flag, "result": text}


def _role_of(step: Any) -> Role:
    kind = kind_of(step)
    if kind in (OUTPUT, RESULT):
        return Role.MODEL if kind == OUTPUT else Role.ANSWERS
    return Role.STEP if kind.endswith(MADE_BY_THE_MODEL) else Role.OTHER


def _stub(call: JsonObject) -> JsonObject:
    name = call.get("name")
    return result_of(call["id"], name if isinstance(name, str) else "", hints.ORPHAN_RESULT)


def _show_nothing(parts: Sequence[object]) -> bool:
    texts = [text_in(part) for part in parts]
    return not any(text is None or text.strip() for text in texts)


# --- calls and results ------------------------------------------------------------------------


def _paired(rows: list[Row], rules: Rules, elsewhere: bool, words: list[str]) -> list[Row]:
    """Answer every call once, after the model's steps around it, and drop results without a call.
    `elsewhere`: the provider may hold further calls."""

    def missing(waiting: Mapping[str, Entry]) -> list[Row]:
        """Return a result for each waiting call: its own from elsewhere, or one that says there is
        none."""
        if waiting.keys() - strays.keys():
            words.append("unanswered_call_answered")
        found = {name: strays.pop(name, None) for name in waiting}
        return [
            found[name] or Row(None, rules.stub(call.value), Role.ANSWERS)
            for name, call in waiting.items()
        ]

    called = {call.id for row in rows for call in row.calls if call.id}
    in_place = _in_place(rows, called if elsewhere else None)
    # An id may be used again: a result after a call belongs to that call.
    strays = {r.id: row for row in reversed(rows) if row not in in_place for r in row.results}
    out: list[Row] = []
    waiting: dict[str, Entry] = {}
    for row in rows:
        if row.role is Role.ANSWERS:
            (result,) = row.results
            waiting.pop(result.id, None)
            if row not in in_place and (result.id in called or not elsewhere):
                words.append("stray_result_moved_or_removed")
                continue
        elif row.role is Role.OTHER or (out and out[-1].role is Role.ANSWERS):
            out += missing(waiting)
            waiting = {}
        out.append(row)
        waiting |= {call.id: call for call in row.calls if call.id}
    return out + missing(waiting)


def _in_place(rows: Sequence[Row], called: Set[str] | None) -> set[Row]:
    """Return the results that stand after the model's steps with their calls. `called`: the calls
    of these rows, if results of others stay as well; None: they go."""
    found: set[Row] = set()
    waiting: set[str] = set()
    answering = False
    for row in rows:
        for result in row.results:
            if result.id in waiting:
                waiting.discard(result.id)
                found.add(row)
                answering = True
            answering = answering or (called is not None and result.id not in called)
        if row.role is Role.OTHER or (answering and row.role is not Role.ANSWERS):
            waiting, answering = set(), False
        if kind_of(row.value) == CALL:
            waiting.update({call.id for call in row.calls} or {""})
    return found


RULES = Rules(
    role_of=_role_of,
    stub=_stub,
    rows={CALL: Call(("id",), ("arguments",)), RESULT: Result(("call_id",))},
    parts_in=lambda content: parts_of({"content": content}),
    is_empty=_show_nothing,
    object_arguments=True,
    pair=_paired,
)
