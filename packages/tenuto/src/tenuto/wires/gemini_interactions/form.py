"""Whole requests of Gemini's Interactions.

https://ai.google.dev/api/interactions-api (2026-11-22)
"""

from __future__ import annotations

from tenuto.wires.form import Form, Opening
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """Return all members except the steps. The agent keeps the history, so the service need not."""
    made: JsonObject = {"model": opening.model, "store": False}
    if opening.system:
        made["system_instruction"] = opening.system
    config: JsonObject = {}
    if opening.max_tokens is not None:
        config["max_output_tokens"] = opening.max_tokens
    if opening.tools:
        made["tools"] = [{"type": "function", **tool.told()} for tool in opening.tools]
        if opening.call_needed:
            config["tool_choice"] = "any"
    if config:
        made["generation_config"] = config
    return made | ({"stream": True} if opening.stream else {})


def user(text: str) -> JsonObject:
    """Return a user step."""
    return {"type": "user_input", "content": [{"type": "text", "text": text}]}


def path(model: str, stream: bool) -> str:
    """Return the path below the base URL."""
    return "/v1beta/interactions" + ("?alt=sse" if stream else "")


FORM = Form(rows="input", members=members, user=user, path=path)
