"""Whole requests of Ollama's chat.

https://docs.ollama.com/api/chat (2026-11-22)
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.wires.chat_like import form as openai_chat_form
from tenuto.wires.form import Opening, at
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """Return all members except the messages."""
    # It has no choice of tools.
    asked = replace(opening, max_tokens=None, call_needed=False)
    made = openai_chat_form.without_stream_options(asked)
    made["stream"] = opening.stream  # by default it streams
    if opening.max_tokens is not None:
        made["options"] = {"num_predict": opening.max_tokens}
    return made


FORM = replace(openai_chat_form.FORM, members=members, path=at("/api/chat"))
