"""How a whole request of Chat Completions is written.

https://platform.openai.com/docs/api-reference/chat/create (2026-11-22)
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.wires.form import Form, Opening, at
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """All members but the rows behind the system's word, which is a row here: see `system`."""
    made: JsonObject = {"model": opening.model}
    if opening.max_tokens is not None:
        made[opening.output_key] = opening.max_tokens
    if opening.tools:
        made["tools"] = [{"type": "function", "function": tool.told()} for tool in opening.tools]
    if opening.stream:
        made |= {"stream": True, "stream_options": {"include_usage": True}}
    return made


def system(text: str) -> JsonObject:
    """The row that comes before all others."""
    return {"role": "system", "content": text}


FORM = Form(rows="messages", members=members, system=system, path=at("/chat/completions"))


def without_stream_options(opening: Opening) -> JsonObject:
    """The same of who tells the usage at the end of every stream, asked for or not."""
    made = members(opening)
    made.pop("stream_options", None)
    return made


USAGE_ALWAYS = replace(FORM, members=without_stream_options)
"""Of such a one."""
