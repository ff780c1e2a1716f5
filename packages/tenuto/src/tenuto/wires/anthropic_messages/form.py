"""Whole requests of Anthropic Messages.

https://platform.claude.com/docs/en/api/messages (2026-11-22)
"""

from __future__ import annotations

from tenuto.wires.form import Form, Opening, at
from tenuto.wires.json import JsonObject

DEFAULT_MAX_TOKENS = 8192
"""A limit is required, and every model that is served accepts this many tokens."""


def members(opening: Opening) -> JsonObject:
    """Return all members except the rows."""
    limit = opening.max_tokens if opening.max_tokens is not None else DEFAULT_MAX_TOKENS
    made: JsonObject = {"model": opening.model, "max_tokens": limit}
    if opening.system:
        made["system"] = opening.system
    if opening.tools:
        made["tools"] = [tool.told("input_schema") for tool in opening.tools]
        if opening.call_needed:
            made["tool_choice"] = {"type": "any"}
    return made | ({"stream": True} if opening.stream else {})


FORM = Form(
    rows="messages",
    members=members,
    path=at("/v1/messages"),
    headers={"anthropic-version": "2023-06-01"},
)
