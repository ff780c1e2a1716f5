"""How Anthropic Messages writes a history, for the repairs of `core.history.plan`.

The provider combines consecutive rows of one role into one turn, so the rules apply to turns: each
`tool_use` of an assistant's turn has one `tool_result`, and the results come first in the user's
turn after it. No two calls of a history have the same id, which is made of letters, digits, `_` and
`-`. Texts are not blank, thinking is signed and leads to something, inputs are objects, and a
history does not end in white space. Tools that the provider runs itself have their results in the
assistant's own turn, or, beside calls of the caller's, in its next one; the provider rejects a
history that goes on without such a result, and a result without its call.
https://platform.claude.com/docs/en/api/messages (docstrings of anthropic-sdk-python 2.12)
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
    kind_by_type,
)
from tenuto.wires.json import JsonObject


def result_of(name: str, text: str, failed: bool = True) -> JsonObject:
    """Return the result of a call: it was not run, or it failed, unless `failed` is false.

    >>> result_of("a", "no")["is_error"]
    True
    """
    flag = {"is_error": True} if failed else {}
    return {"type": "tool_result", "tool_use_id": name, **flag, "content": text}


def _stub(call: JsonObject) -> JsonObject:
    family = {key: call[key] for key in ("toolset_name",) if call.get(key)}
    return result_of(call["id"], hints.ORPHAN_RESULT) | family


def _named(member: str, ending: str) -> Callable[[JsonObject], str | None]:
    """Return a function that returns this member of a block whose type ends so; else None."""

    def name_in(block: JsonObject) -> str | None:
        name = block.get(member) if kind_by_type(block).endswith(ending) else None
        return name if isinstance(name, str) else None

    return name_in


def _result_changes(block: JsonObject) -> tuple[Changes, str]:
    """Remove blank texts from a result, and give a failed one some text: both are refused
    ("content cannot be empty if `is_error` is true")."""
    filler = {"type": "text", "text": hints.EMPTY_RESULT}
    failed = block.get("is_error") is True
    made = repaired_result(block.get("content"), filler, is_blank_text, failed=failed)
    return ({("content",): made[0]}, made[1]) if made else ({}, "")


# `server_tool_use`, `mcp_tool_use`; `web_search_tool_result`, `mcp_tool_result`, and so on.
_SERVED = Served(_named("id", "_tool_use"), _named("tool_use_id", "_tool_result"))

RULES = Rules(
    role_of=by_role(assistant=Role.MODEL, user=Role.ANSWERS),
    stub=_stub,
    parts="content",
    shapes={
        Role.MODEL: {
            "text": Text(),
            "thinking": Reasoning(),
            "tool_use": Call(("id",), ("input",)),
        },
        Role.ANSWERS: {"text": Text(), "tool_result": Result(("tool_use_id",))},
    },
    unique_ids=True,
    signed_reasoning=True,
    private_parts=True,
    blank_texts_go=True,
    object_arguments=True,
    result_changes=_result_changes,
    bad_in_ids=re.compile(r"[^a-zA-Z0-9_-]"),
    led_to=("thinking", "redacted_thinking"),
    bare_end=True,
    served=_SERVED,
)

UNSIGNED_RULES = replace(RULES, signed_reasoning=False, led_to=(), bare_end=False)
"""For providers that accept thinking back without a signature (C20)."""
