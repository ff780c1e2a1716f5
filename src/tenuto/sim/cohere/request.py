"""What a request asks for: its messages and tools are those of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tenuto.sim.asked import Asked, texts_of
from tenuto.sim.openai_chat.request import read as read_chat
from tenuto.sim.reply import Settings


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for, which `impossible` let pass. A trailing message of the
    assistant's is not gone on with.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "u"}], "max_tokens": 5}
    >>> read(ask, Settings()).budget_tokens
    5
    """
    thinking = body.get("thinking")
    return replace(
        read_chat(body, settings),
        choices=1,
        forced=body.get("tool_choice") == "REQUIRED",
        response_format=_format(body.get("response_format")),
        thinking=isinstance(thinking, dict) and thinking.get("type") == "enabled",
        stop_sequences=texts_of(body.get("stop_sequences")),
        prefill="restart",
    )


def _format(given: Any) -> Mapping[str, Any] | None:
    if not isinstance(given, dict):
        return None
    schema = given.get("json_schema")
    return given | ({"json_schema": {"schema": schema}} if schema else {})
