"""How Converse writes a history, for the repairs of `core.history.plan`.

Roles must alternate, and the provider joins no rows. Each `toolUse` of an assistant row has one
`toolResult` in the row after it, where the results come first. Texts are not blank, contents are
not empty, inputs are objects, and Claude's reasoning is signed. Tools that the provider runs itself
have their results in the assistant's own row.
https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html
"""

from __future__ import annotations

import re
from dataclasses import replace

from tenuto.core import hints
from tenuto.core.history.results import is_blank_text, repaired_result
from tenuto.core.history.table import (
    Call,
    Changes,
    Reasoning,
    Result,
    Role,
    Rules,
    Served,
    Text,
    by_role,
)
from tenuto.wires.bedrock_converse.events import SERVER_TOOL
from tenuto.wires.json import JsonObject
from tenuto.wires.members import object_in


def result_of(name: str, text: str, failed: bool = True) -> JsonObject:
    """Return the result of the call with this id: an error, unless `failed` is false.

    >>> result_of("a", "no")["toolResult"]["status"]
    'error'
    """
    status = "error" if failed else "success"
    return {"toolResult": {"toolUseId": name, "status": status, "content": [{"text": text}]}}


def _kind_of(block: JsonObject) -> str:
    if object_in(block.get("toolUse")).get("type") == SERVER_TOOL:
        return SERVER_TOOL
    kinds = ("toolUse", "toolResult", "reasoningContent")
    return next((kind for kind in kinds if isinstance(block.get(kind), dict)), "text")


def _result_changes(block: JsonObject) -> tuple[Changes, str]:
    """Remove blank texts from a result, and give a failed one some text; both are refused."""
    result = object_in(block.get("toolResult"))
    failed = result.get("status") == "error"
    filler = {"text": hints.ORPHAN_RESULT if failed else hints.EMPTY_RESULT}
    made = repaired_result(result.get("content"), filler, is_blank_text, failed=failed)
    return ({("toolResult", "content"): made[0]}, made[1]) if made else ({}, "")


def _served_call(block: JsonObject) -> str | None:
    call = object_in(block.get("toolUse"))
    name = call.get("toolUseId") if call.get("type") == SERVER_TOOL else None
    return name if isinstance(name, str) else None


def _served_result(block: JsonObject) -> str | None:
    name = object_in(block.get("toolResult")).get("toolUseId")
    return name if isinstance(name, str) else None


_INPUT = ("toolUse", "input")
_RESULT = Result(("toolResult", "toolUseId"))

RULES = Rules(
    role_of=by_role(assistant=Role.MODEL, user=Role.ANSWERS),
    stub=lambda call: result_of(call["toolUse"]["toolUseId"], hints.ORPHAN_RESULT),
    parts="content",
    kind_of=_kind_of,
    shapes={
        Role.MODEL: {
            "text": Text(),
            "reasoningContent": Reasoning(
                ("reasoningContent", "reasoningText"), "unsigned_reasoning_removed"
            ),
            "toolUse": Call(("toolUse", "toolUseId"), _INPUT),
            SERVER_TOOL: Call(arguments=_INPUT),
            "toolResult": _RESULT,
        },
        Role.ANSWERS: {"text": Text(), "toolResult": _RESULT},
    },
    moves=False,
    signed_reasoning=True,
    blank_texts_go=True,
    object_arguments=True,
    alternates=True,
    result_changes=_result_changes,
    bad_in_ids=re.compile(r"[^a-zA-Z0-9_-]"),
    most_id_chars=64,
    led_to=("reasoningContent",),
    bare_end=True,
    served=Served(_served_call, _served_result),
)

UNSIGNED_RULES = replace(RULES, signed_reasoning=False, led_to=(), bare_end=False)
"""For models that accept reasoning back without a signature, or not at all."""
