"""The model's calls, as a history that Tenuto writes contains them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.wires.members import object_in


def valid_call(call: ToolCall, *, free: bool = False) -> ToolCall:
    """Return a call in a form that the provider accepts back (T5). Broken arguments become an empty
    object and are never sent back (H4). `free`: arguments may be any text.

    >>> valid_call(ToolCall("1", "", '{"a":', Finding.TRUNCATED)).arguments
    '{}'
    """
    kept = free if call.free else call.finding is Finding.WHOLE
    arguments = call.arguments if kept else "{}"
    return replace(call, name=call.name or "unknown", arguments=arguments)


def object_of(call: ToolCall) -> msgspec.Raw:
    """Return the arguments as an object, parsed from their text."""
    return msgspec.Raw(call.arguments.encode("utf-8", "replace"))


def accepted_ids(calls: Sequence[ToolCall], most_chars: int | None = None) -> list[str]:
    """Return the calls' ids, unique, and made of letters, digits, `_` and `-`.

    >>> accepted_ids([ToolCall("a.b", "f", "{}", Finding.WHOLE)])
    ['a_b']
    """
    ids: list[str] = []
    for number, call in enumerate(calls):
        made = re.sub("[^a-zA-Z0-9_-]", "_", call.id)[:most_chars] or "call"
        ids.append(made if made not in ids else f"{made}_{number}")
    return ids


def schemas_in(tools: Iterable[Any], member: str = "parameters") -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each function that has a name; {} for one without a schema.

    >>> schemas_in([{"name": "f", "parameters": {"type": "object"}}, {"name": "g"}, None])
    {'f': {'type': 'object'}, 'g': {}}
    """
    return {
        tool["name"]: object_in(tool.get(member))
        for tool in tools
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    }
