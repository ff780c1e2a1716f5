"""How OpenAI Chat writes a history, for the repairs of `core.history.plan`.

A separate row answers each call. The results stand directly after the row with the calls, in their
order. No row and no list of calls is empty, and arguments are complete. `function_call` is the
deprecated form of a call: it has no id, and its result is not a tool row.
https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.core import hints
from tenuto.core.history.table import Call, Changes, Result, Role, Rules, by_role
from tenuto.wires.chat_like.signing import sign
from tenuto.wires.dialect import Dialect
from tenuto.wires.json import JsonObject


def rules_for(rules: Rules, dialect: Dialect, model: str) -> Rules:
    """Return a wire's rules for a provider, which may limit ids, and for a model, which may have to
    sign its calls."""
    most, signs = dialect.most_id_chars or None, dialect.signs_calls(model)
    if most is None and not signs:
        return rules
    key = (id(rules), most, signs)
    if key not in _adapted:
        _adapted[key] = replace(rules, most_id_chars=most, sign=sign if signs else None)
    return _adapted[key]


_adapted: dict[tuple[int, int | None, bool], Rules] = {}
"""Rules for what a provider requires, made once for each; rules themselves live forever."""


def _result_changes(row: JsonObject) -> tuple[Changes, str]:
    """Give a result without content an empty text: null and an empty list are refused."""
    filled = row.get("content") in (None, [])
    return ({("content",): ""}, "empty_result_filled") if filled else ({}, "")


RULES = Rules(
    role_of=by_role(assistant=Role.MODEL, tool=Role.ANSWERS),
    stub=lambda call: {
        "role": "tool",
        "tool_call_id": call["id"],
        "content": hints.ORPHAN_RESULT,
    },
    parts="tool_calls",
    kind_of=lambda _: "call",
    shapes={Role.MODEL: {"call": Call(("id",), ("function", "arguments"))}},
    row_kind="role",
    rows={
        "assistant": Call(arguments=("function_call", "arguments")),
        "tool": Result(("tool_call_id",)),
    },
    beside=("tool_calls", "function_call", "audio", "refusal"),
    turns=False,
    result_rows=True,
    empty_lists_go=True,
    result_changes=_result_changes,
    no_empty_content=True,
)
