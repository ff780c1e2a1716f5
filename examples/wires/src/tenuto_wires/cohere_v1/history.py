"""How Cohere's chat version 1 writes a history, for the repairs of `core.history.plan`.

A model row (`CHATBOT`) may hold calls; their results are the list of a `TOOL` row directly after
it. Calls have no ids: a result repeats its call and belongs to the next call of that name. Every
row has a message, except rows with calls. Roles need not alternate.
https://docs.cohere.com/v1/docs/multi-step-tool-use (read 2026-11-24)
"""

from __future__ import annotations

from typing import Any

from tenuto.wire_kit import (
    ORPHAN_RESULT,
    Call,
    JsonObject,
    Result,
    Role,
    Rules,
    by_role,
    object_in,
)

PARTS = "tool_calls"
"""Rules know one member for a row's parts, so in a plan results are where calls are."""


def _stub(call: Any) -> JsonObject:
    given = call.get("parameters")  # if it is no object, it is replaced in the call too
    named = {"name": call.get("name"), "parameters": given if isinstance(given, dict) else {}}
    return {"call": named, "outputs": [{"text": ORPHAN_RESULT}]}


RULES = Rules(
    role_of=by_role(CHATBOT=Role.MODEL, TOOL=Role.ANSWERS),
    stub=_stub,
    content="message",
    parts=PARTS,
    kind_of=lambda part: "result" if "call" in part else "call",
    shapes={
        Role.MODEL: {"call": Call(("name",), ("parameters",))},
        Role.ANSWERS: {"result": Result(("call", "name"))},
    },
    beside=(PARTS,),
    answers=lambda result, call: object_in(result.get("call")).get("name") == call.get("name"),
    ordered=False,
    turns=False,
    object_arguments=True,
)
