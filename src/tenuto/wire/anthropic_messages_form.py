"""How a whole request of Anthropic Messages is written.

https://platform.claude.com/docs/en/api/messages (2026-11-22)
"""

from __future__ import annotations

from tenuto.wire.base import Dialect, JsonObject
from tenuto.wire.form import Form, Opening

DEFAULT_MAX_TOKENS = 8192
"""A limit must be given; this many tokens every model that is served takes."""


def members(opening: Opening, dialect: Dialect) -> JsonObject:
    """All members but the rows."""
    limit = opening.max_tokens if opening.max_tokens is not None else DEFAULT_MAX_TOKENS
    made: JsonObject = {"model": opening.model, "max_tokens": limit}
    if opening.system:
        made["system"] = opening.system
    if opening.tools:
        made["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in opening.tools
        ]
    return made | ({"stream": True} if opening.stream else {})


def user(text: str) -> JsonObject:
    """A row of the user's."""
    return {"role": "user", "content": text}


def path(model: str, stream: bool) -> str:
    """Where it is sent to, below the base URL."""
    return "/v1/messages"


FORM = Form(
    rows="messages",
    members=members,
    user=user,
    path=path,
    headers={"anthropic-version": "2023-06-01"},
)
