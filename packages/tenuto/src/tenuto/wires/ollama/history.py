"""How Ollama writes a history, for the repairs of `core.history.plan`.

The server refuses arguments that are no object. Models' templates expect results in the order of
their calls, directly after them. Results have names, some also ids, and many neither, so they are
matched by count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.core import hints
from tenuto.core.history.table import Call, Role, Row, Rules, by_role
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in


def result_of(call: Mapping[str, Any], text: str) -> JsonObject:
    """Return a result that says that a call was not run, with the call's name.

    >>> result_of({"function": {"name": "f"}}, "no")
    {'role': 'tool', 'content': 'no', 'tool_name': 'f'}
    """
    made: JsonObject = {"role": "tool", "content": text}
    if name := object_in(call.get("function")).get("name"):
        made["tool_name"] = name
    return made | ({"tool_call_id": call["id"]} if call.get("id") else {})


def _paired(given: Sequence[Row], rules: Rules, elsewhere: bool, words: list[str]) -> list[Row]:
    """Answer every call directly after its row, in the order of the calls (H2), even if the user
    spoke before the result came. Results without a call stay, since the server accepts them."""
    rows, out = list(given), []
    while rows:
        out.append(rows.pop(0))
        is_the_models = out[-1].role is Role.MODEL
        calls = [*map(object_in, list_in(out[-1].value.get("tool_calls")))] if is_the_models else []
        found: list[Row] = []
        while calls and rows and rows[0].role is Role.ANSWERS:
            found.append(rows.pop(0))
        while len(found) < len(calls) and (late := _late(rows)) is not None:
            rows.remove(late)
            found.append(late)
            words.append("late_result_moved")
        if len(found) < len(calls):  # with as many results as calls, or more, none is missing
            words.append("unanswered_call_answered")
            found = _settled(calls, found)
        out += found
    return out


def _late(rows: Sequence[Row]) -> Row | None:
    """Return the result that comes before the model speaks again; None: there is none."""
    next_one = next((row for row in rows if row.role is not Role.OTHER), None)
    return next_one if next_one is not None and next_one.role is Role.ANSWERS else None


def _settled(calls: Sequence[JsonObject], found: Sequence[Row]) -> list[Row]:
    """Return the results of a row's calls. A result goes to the call that it names."""
    free = list(found)
    expected: list[Row] = []
    for call in calls:
        named = next((row for row in free if _names(row.value, call)), None)
        if named is None:
            expected.append(Row(None, result_of(call, hints.ORPHAN_RESULT)))
        else:
            free.remove(named)
            expected.append(named)
    return [*expected, *free]


def _names(result: JsonObject, call: JsonObject) -> bool:
    """Return whether a result names this call, by id or else by the tool's name. A result without
    either belongs to the next call."""
    if result.get("tool_call_id"):
        return bool(result["tool_call_id"] == call.get("id"))
    name = result.get("tool_name") or result.get("name")
    return not name or bool(name == object_in(call.get("function")).get("name"))


RULES = Rules(
    role_of=by_role(assistant=Role.MODEL, tool=Role.ANSWERS),
    stub=lambda call: result_of(call, hints.ORPHAN_RESULT),
    parts="tool_calls",
    kind_of=lambda _: "call",
    shapes={Role.MODEL: {"call": Call(arguments=("function", "arguments"))}},
    is_empty=lambda content: not (content.strip() if isinstance(content, str) else content),
    beside=("tool_calls", "images"),
    object_arguments=True,
    pair=_paired,
)
