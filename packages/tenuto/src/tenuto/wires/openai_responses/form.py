"""Whole requests of OpenAI's Responses.

https://platform.openai.com/docs/api-reference/responses/create (2026-11-22)
"""

from __future__ import annotations

from tenuto.wires.form import Form, Opening, at
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """Return all members except the items."""
    made: JsonObject = {"model": opening.model}
    if opening.system:
        made["instructions"] = opening.system
    if opening.max_tokens is not None:
        made["max_output_tokens"] = opening.max_tokens
    if opening.tools:
        # Strict tools must require every parameter, which plain functions do not.
        made["tools"] = [
            {"type": "function", **tool.told(), "strict": False} for tool in opening.tools
        ]
        if opening.call_needed:
            made["tool_choice"] = "required"
    return made | ({"stream": True} if opening.stream else {})


FORM = Form(rows="input", members=members, path=at("/responses"))
