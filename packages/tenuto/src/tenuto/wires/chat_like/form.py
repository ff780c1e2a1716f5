"""Whole requests of Chat Completions.

https://platform.openai.com/docs/api-reference/chat/create (2026-11-22)
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.wires.form import Form, Opening, at
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """Return all members except the rows. The system prompt is a row here: see `system`."""
    made: JsonObject = {"model": opening.model}
    if opening.max_tokens is not None:
        made[opening.output_key] = opening.max_tokens
    if opening.tools:
        made["tools"] = [{"type": "function", "function": tool.told()} for tool in opening.tools]
        if opening.call_needed:
            made["tool_choice"] = "required"
    if opening.stream:
        made |= {"stream": True, "stream_options": {"include_usage": True}}
    return made


def system(text: str) -> JsonObject:
    """Return the system row, which comes before all others."""
    return {"role": "system", "content": text}


FORM = Form(rows="messages", members=members, system=system, path=at("/chat/completions"))


def without_stream_options(opening: Opening) -> JsonObject:
    """Return the same for providers whose streams always end with the usage."""
    made = members(opening)
    made.pop("stream_options", None)
    return made


USAGE_ALWAYS = replace(FORM, members=without_stream_options)
"""The form for such providers."""
