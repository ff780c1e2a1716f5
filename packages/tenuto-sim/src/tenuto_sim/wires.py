"""The wires that a simulator serves, by name and by path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote

from tenuto_sim.anthropic_messages import wire as anthropic_messages
from tenuto_sim.bedrock_converse import wire as bedrock_converse
from tenuto_sim.bedrock_invoke import nova
from tenuto_sim.bedrock_invoke import wire as bedrock_invoke
from tenuto_sim.cohere import wire as cohere
from tenuto_sim.gemini_generate import wire as gemini_generate
from tenuto_sim.gemini_interactions import wire as gemini_interactions
from tenuto_sim.mistral import wire as mistral
from tenuto_sim.ollama import wire as ollama
from tenuto_sim.openai_chat import wire as openai_chat
from tenuto_sim.openai_completions import wire as openai_completions
from tenuto_sim.openai_responses import wire as openai_responses
from tenuto_sim.wire import Wire

_SPOKEN: Final = (
    *(openai_chat.WIRE, anthropic_messages.WIRE, openai_completions.WIRE, openai_responses.WIRE),
    *(gemini_generate.WIRE, gemini_interactions.WIRE, bedrock_converse.WIRE, bedrock_invoke.WIRE),
    *(cohere.WIRE, ollama.WIRE, mistral.WIRE),
)

WIRES: Final[dict[str, Wire]] = {wire.name: wire for wire in _SPOKEN}
"""The wires by name. `cases.add_wire` adds others."""

_AT: Final = (nova.NOVA, *_SPOKEN, ollama.GENERATE)
"""A row for each path of a wire; the first match wins. Wires that were added come last."""


def wire_at(path: str, query: str = "", dialect: str = "") -> tuple[Wire, Mapping[str, str]] | None:
    """Return the wire of a path, with what the path and query say, or None. `dialect` is the
    version of
    Chat Completions, "" for OpenAI's.

    >>> wire_at("/v1/messages", "beta=true")[1]
    {'beta': 'true'}
    """
    spoken = (openai_chat.IN_DIALECTS[dialect],) if dialect else ()
    for wire in (*spoken, *_AT, *WIRES.values()):
        if (match := re.fullmatch(wire.path, path)) is not None:
            said = {name: unquote(text) for name, text in match.groupdict().items() if text}
            return wire, dict(parse_qsl(query)) | said
    return None
