"""How a Responses request writes its items, for the repairs of `core.history.plan`.

Each call has one result, anywhere. Arguments are complete, and reasoning stands directly before the
item that it led to. The provider may keep earlier items: those of `previous_response_id`, of
`conversation` and of item references.
https://platform.openai.com/docs/guides/conversation-state
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tenuto.core import hints
from tenuto.core.history.pairs import pair_anywhere
from tenuto.core.history.table import Call, Changes, Result, Role, Rules
from tenuto.wires.json import JsonObject
from tenuto.wires.openai_responses.items import MADE_BY_THE_MODEL, kind_of

_ANSWERS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
"""Calls that Tenuto can answer, and the types of their results."""

_ROLES = {
    "reasoning": Role.REASONING,
    "item_reference": Role.UNSEEN,
    "": Role.UNKNOWN,
}


def _role_of(item: Any) -> Role:
    kind = kind_of(item)
    if kind == "message" and item.get("role") == "assistant":
        return Role.MODEL
    return _ROLES.get(kind, Role.STEP if kind.endswith(MADE_BY_THE_MODEL) else Role.OTHER)


def _result_changes(item: JsonObject) -> tuple[Changes, str]:
    """Give a result without an output an empty text: null is refused."""
    filled = item.get("output") is None
    return ({("output",): ""}, "empty_result_filled") if filled else ({}, "")


RULES = Rules(
    role_of=_role_of,
    stub=lambda call: {
        "type": _ANSWERS[kind_of(call)],
        "call_id": call["call_id"],
        "output": hints.ORPHAN_RESULT,
    },
    rows={
        "function_call": Call(("call_id",), ("arguments",)),
        "custom_tool_call": Call(("call_id",)),
        "function_call_output": Result(("call_id",)),
        "custom_tool_call_output": Result(("call_id",)),
    },
    pair=pair_anywhere,
    led_by_reasoning=True,
    result_changes=_result_changes,
)

MOST_ID_CHARS = 64
"""OpenAI refuses a longer `call_id`: "string too long. Expected a string with maximum length 64"
(https://github.com/AnswerDotAI/fastllm/issues/45, read 2026-11-28)."""

LIMITED_RULES = replace(RULES, most_id_chars=MOST_ID_CHARS)
"""For providers that limit the ids of calls."""
