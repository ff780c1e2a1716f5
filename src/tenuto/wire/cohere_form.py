"""How a whole request of Cohere's chat is written.

https://docs.cohere.com/reference/chat (2026-11-22)
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.wire import openai_chat_form
from tenuto.wire.base import Dialect, JsonObject
from tenuto.wire.form import Opening, at


def members(opening: Opening, dialect: Dialect) -> JsonObject:
    """All members but the messages: those of Chat Completions, without what is its own."""
    made = openai_chat_form.members(opening, dialect)
    made.pop("stream_options", None)
    return made


FORM = replace(openai_chat_form.FORM, members=members, path=at("/v2/chat"))
