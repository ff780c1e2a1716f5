"""How a whole request of OpenAI's Responses is written.

https://platform.openai.com/docs/api-reference/responses/create (2026-11-22)
"""

from __future__ import annotations

from tenuto.wire.base import Dialect, JsonObject
from tenuto.wire.form import Form, Opening


def members(opening: Opening, dialect: Dialect) -> JsonObject:
    """All members but the items."""
    made: JsonObject = {"model": opening.model}
    if opening.system:
        made["instructions"] = opening.system
    if opening.max_tokens is not None:
        made["max_output_tokens"] = opening.max_tokens
    if opening.tools:
        # Strict ones must name every parameter as required, which plain functions do not.
        made["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in opening.tools
        ]
    return made | ({"stream": True} if opening.stream else {})


def user(text: str) -> JsonObject:
    """An item of the user's."""
    return {"role": "user", "content": text}


def path(model: str, stream: bool) -> str:
    """Where it is sent to, below the base URL."""
    return "/responses"


FORM = Form(rows="input", members=members, user=user, path=path)
