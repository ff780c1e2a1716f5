"""The items of OpenAI Responses: the caller's calls, the provider's, and the model's text.

Types follow `openai/types/responses/response_output_item.py` of openai-python 3.54, read
2026-11-22."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenuto.wires.json import JsonObject

ARGUMENTS: Mapping[str, str] = {"function_call": "arguments", "custom_tool_call": "input"}
"""Calls whose arguments the model writes as text, and the member that holds it."""

CLIENT_CALLS = frozenset(
    {"computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"}
)
"""Further calls for the caller, which the provider decoded. Others are the caller's if they say so:
the `execution` of a `tool_search_call` is then "client"."""

MADE_BY_THE_MODEL = (
    "_call", "compaction", "program", "mcp_list_tools", "mcp_approval_request",
)  # fmt: skip
"""The ends of the types of items that a response holds, beside its messages and its reasoning."""

RESULTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "computer_call_output"}
    | {"local_shell_call_output", "shell_call_output", "apply_patch_call_output"}
    | {"mcp_approval_response", "tool_search_output"}
)
"""The types of results in the history."""

FOREIGN_CALL = "item"
"""The extra key under which a call keeps its whole item, if it is none of `ARGUMENTS`."""


SUMMARY = "summary"
"""The member with a reasoning item's summary, which is part of the place of each of its parts.
Parts whose place names no member belong to an item's content."""


def kind_of(item: object) -> str:
    """Return the type of an item. Rows without one are messages, as the reference writes them.

    >>> kind_of({"role": "user", "content": "Hi"}), kind_of({"type": "reasoning"}), kind_of(3)
    ('message', 'reasoning', '')
    """
    if not isinstance(item, dict):
        return ""
    kind = item.get("type", "message" if "role" in item else "")
    return kind if isinstance(kind, str) else ""


def is_made_by_model(item: object) -> bool:
    """Return whether an item is part of a response. Messages may be anyone's.

    >>> is_made_by_model({"type": "computer_call"}), is_made_by_model({"type": "shell_call_output"})
    (True, False)
    """
    kind = kind_of(item)
    return kind == "reasoning" or kind.endswith(MADE_BY_THE_MODEL)


def is_client_call(item: object) -> bool:
    """Return whether the caller has to run it. The provider ran all other tools itself."""
    kind = kind_of(item)
    if kind in ARGUMENTS:
        return True
    return (kind in CLIENT_CALLS and not _is_hosted(item)) or (
        kind.endswith("_call") and is_run_by_client(item)
    )


def is_run_by_client(item: Any) -> bool:
    """Return whether a tool, or a call of it, says that the caller runs it. Most say nothing.

    >>> is_run_by_client({"type": "tool_search_call", "execution": "client"})
    True
    """
    return isinstance(item, dict) and item.get("execution") == "client"


def _is_hosted(item: Any) -> bool:
    """Return whether a `shell_call` ran in the provider's container."""
    environment = item.get("environment")
    return isinstance(environment, dict) and environment.get("type") == "container_reference"


def parts_of(item: JsonObject, key: str = "content") -> list[JsonObject]:
    """Return the parts of a message's content, or of another list of parts.

    >>> parts_of({"content": "Hi"}), parts_of({"content": None})
    ([{'type': 'output_text', 'text': 'Hi'}], [])
    """
    content = item.get(key)
    if isinstance(content, str) and content:
        return [{"type": "output_text", "text": content}]
    return [p for p in content if isinstance(p, dict)] if isinstance(content, list) else []
