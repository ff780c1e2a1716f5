"""The wires that one simulator serves, by name and by path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote

from tenuto.sim import (
    anthropic_messages,
    bedrock_converse,
    bedrock_invoke,
    cohere,
    cohere_v1,
    dashscope,
    gemini_generate,
    gemini_interactions,
    mistral,
    ollama,
    openai_chat,
    openai_completions,
    openai_responses,
    tgi,
)
from tenuto.sim.wire import Wire

_SPOKEN: Final = (
    *(openai_chat.WIRE, anthropic_messages.WIRE, openai_completions.WIRE, openai_responses.WIRE),
    *(gemini_generate.WIRE, gemini_interactions.WIRE, bedrock_converse.WIRE, bedrock_invoke.WIRE),
    *(cohere.WIRE, cohere_v1.WIRE, ollama.WIRE, mistral.WIRE, tgi.WIRE, dashscope.WIRE),
)

WIRES: Final[Mapping[str, Wire]] = {wire.name: wire for wire in _SPOKEN}

_AT: Final = (bedrock_invoke.NOVA, *_SPOKEN, ollama.GENERATE, *tgi.ELSEWHERE)
"""One wire may have several paths, each a row; the first that fits counts."""


def wire_at(path: str, query: str = "", dialect: str = "") -> tuple[Wire, Mapping[str, str]] | None:
    """Return the wire whose requests go there, with what path and query say, or None; `dialect` is
    that of Chat Completions, "" for OpenAI's.

    >>> wire_at("/v1/messages", "beta=true")[1]
    {'beta': 'true'}
    """
    spoken = (openai_chat.IN_DIALECTS[dialect],) if dialect else ()
    for wire in (*spoken, *_AT):
        if (match := re.fullmatch(wire.path, path)) is not None:
            said = {name: unquote(text) for name, text in match.groupdict().items() if text}
            return wire, dict(parse_qsl(query)) | said
    return None
