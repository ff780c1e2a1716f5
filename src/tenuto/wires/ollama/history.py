"""Say how Ollama writes a history, for the repairs of `core.history`.

The server refuses arguments that are no object; templates of models take results in the order of
their calls, directly behind them. Results have names, some ids as well, many neither, so that they
are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.core import hints
from tenuto.core.history_table import Call, Role, Row, Rules, by_role
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in


def result_of(call: Mapping[str, Any], text: str) -> JsonObject:
    """A result that says that a call was not run, named as the call is.

    >>> result_of({"function": {"name": "f"}}, "no")
    {'role': 'tool', 'content': 'no', 'tool_name': 'f'}
    """
    made: JsonObject = {"role": "tool", "content": text}
    if name := object_in(call.get("function")).get("name"):
        made["tool_name"] = name
    return made | ({"tool_call_id": call["id"]} if call.get("id") else {})


def _paired(given: Sequence[Row], rules: Rules, elsewhere: bool, words: list[str]) -> list[Row]:
    """Answer every call directly behind its row, in the order of the calls (H2), also where the
    user spoke before the result came. What answers none of them stays where it is: the server
    takes it."""
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
        if len(found) < len(calls):  # of as many results as calls, or more, none is missing
            words.append("unanswered_call_answered")
            found = _settled(calls, found)
        out += found
    return out


def _late(rows: Sequence[Row]) -> Row | None:
    """Return the result that comes before the model speaks again, None where none does."""
    next_one = next((row for row in rows if row.role is not Role.OTHER), None)
    return next_one if next_one is not None and next_one.role is Role.ANSWERS else None


def _settled(calls: Sequence[JsonObject], found: Sequence[Row]) -> list[Row]:
    """Return the results of a row's calls. Those that name one stand for it."""
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
    """Whether a result says that it is this call's, by id, else by the tool's name; one that says
    nothing is the next one's."""
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
