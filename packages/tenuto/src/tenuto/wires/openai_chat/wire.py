"""OpenAI Chat Completions, and every API in this format: `chat_like.chat`, with a short path."""

from __future__ import annotations

from dataclasses import replace

from tenuto.wires.chat_like.chat import CHAT
from tenuto.wires.openai_chat import short
from tenuto.wires.short import ShortPath

WIRE = replace(
    CHAT, short=ShortPath(CHAT.request, CHAT.read, short.asks, short.ids_if_whole, short.event)
)
