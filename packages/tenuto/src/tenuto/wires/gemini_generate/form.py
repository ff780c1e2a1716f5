"""Whole requests of Gemini's generateContent.

https://ai.google.dev/api/generate-content (2026-11-22)
"""

from __future__ import annotations

from urllib.parse import quote

from tenuto.wires.form import Form, Opening
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """Return all members except the contents."""
    made: JsonObject = {}
    if opening.system:
        made["systemInstruction"] = {"parts": [{"text": opening.system}]}
    if opening.max_tokens is not None:
        made["generationConfig"] = {"maxOutputTokens": opening.max_tokens}
    if opening.tools:
        declared = [tool.told("parametersJsonSchema") for tool in opening.tools]
        made["tools"] = [{"functionDeclarations": declared}]
        if opening.call_needed:
            made["toolConfig"] = {"functionCallingConfig": {"mode": "ANY"}}
    return made


def user(text: str) -> JsonObject:
    """Return a user row."""
    return {"role": "user", "parts": [{"text": text}]}


def path(model: str, stream: bool) -> str:
    """Return the path below the base URL.

    >>> path("gemini-x", True)
    '/v1beta/models/gemini-x:streamGenerateContent?alt=sse'
    """
    asked = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"/v1beta/models/{quote(model, safe='')}:{asked}"


UNSIGNED = {"part": {"thoughtSignature": "skip_thought_signature_validator"}}
"""Calls must be signed by the model that made them. Calls of other models say that they have no
signature: https://ai.google.dev/gemini-api/docs/thought-signatures"""

FORM = Form(rows="contents", members=members, user=user, path=path, foreign_call=UNSIGNED)
