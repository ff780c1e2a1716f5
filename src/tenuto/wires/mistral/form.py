"""How a whole request of Mistral's chat is written.

https://docs.mistral.ai/api (2026-11-22)
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.wires.base import Dialect, JsonObject
from tenuto.wires.form import Opening
from tenuto.wires.openai_chat import form as openai_chat_form


def members(opening: Opening, dialect: Dialect) -> JsonObject:
    """All members but the messages: every stream tells its usage, asked for or not."""
    made = openai_chat_form.members(opening, dialect)
    made.pop("stream_options", None)
    return made


FORM = replace(openai_chat_form.FORM, members=members)
