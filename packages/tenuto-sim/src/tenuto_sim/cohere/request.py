"""Read what a request asks for. Its messages and tools are those of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tenuto_sim.asked import Asked, at, texts_of
from tenuto_sim.openai_chat.request import read as read_chat
from tenuto_sim.reply import Settings


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it. A trailing assistant message is not
    continued.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "u"}], "max_tokens": 5}
    >>> read(ask, Settings()).budget_tokens
    5
    """
    return replace(
        read_chat(body, settings),
        choices=1,
        forced=body.get("tool_choice") == "REQUIRED",
        response_format=form_of(body.get("response_format"), "json_schema"),
        thinking=at(body, "thinking", "type") == "enabled",
        stop_sequences=texts_of(body.get("stop_sequences")),
        prefill="restart",
    )


def form_of(given: Any, member: str) -> Mapping[str, Any] | None:
    """Return an answer's format as Chat Completions writes it; `member` holds its schema.

    >>> form_of({"type": "json_object"}, "schema")
    {'type': 'json_object'}
    """
    if not isinstance(given, dict):
        return None
    schema = given.get(member)
    return given | ({"json_schema": {"schema": schema}} if schema else {})
