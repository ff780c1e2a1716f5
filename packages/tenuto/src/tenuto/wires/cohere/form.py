"""How Cohere's requests are written: as those of Chat Completions, but for its word for a call that
the model has to make."""

from __future__ import annotations

from dataclasses import replace

from tenuto.wires.chat_like.form import USAGE_ALWAYS, without_stream_options
from tenuto.wires.form import Opening, at
from tenuto.wires.json import JsonObject


def members(opening: Opening) -> JsonObject:
    """Return all members except the rows."""
    made = without_stream_options(opening)
    return made | ({"tool_choice": "REQUIRED"} if "tool_choice" in made else {})


FORM = replace(USAGE_ALWAYS, members=members, path=at("/v2/chat"))
