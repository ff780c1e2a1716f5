"""Whole requests of Bedrock's Converse.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11-22)
"""

from __future__ import annotations

from urllib.parse import quote

from tenuto.wires.form import Form, Opening
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """Return all members except the messages. The model is in the path."""
    made: JsonObject = {}
    if opening.system:
        made["system"] = [{"text": opening.system}]
    if opening.max_tokens is not None:
        made["inferenceConfig"] = {"maxTokens": opening.max_tokens}
    if opening.tools:
        # A description must not be empty here.
        config: JsonObject = {
            "tools": [
                {
                    "toolSpec": {
                        "name": tool.name,
                        "description": tool.description or tool.name,
                        "inputSchema": {"json": tool.parameters},
                    }
                }
                for tool in opening.tools
            ]
        }
        if opening.call_needed:
            config["toolChoice"] = {"any": {}}
        made["toolConfig"] = config
    return made


def user(text: str) -> JsonObject:
    """Return a user row."""
    return {"role": "user", "content": [{"text": text}]}


def path(model: str, stream: bool) -> str:
    """Return the path below the base URL.

    >>> path("amazon.nova-lite-v1:0", False)
    '/model/amazon.nova-lite-v1%3A0/converse'
    """
    return f"/model/{quote(model, safe='')}/" + ("converse-stream" if stream else "converse")


FORM = Form(rows="messages", members=members, user=user, path=path)
