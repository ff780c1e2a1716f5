"""The rows of Ollama's `/api/chat` and `/api/generate`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from tenuto.sim.framing import lines
from tenuto.sim.ollama.cases import TABLES
from tenuto.sim.ollama.errors import ERRORS, failure, too_many_tokens, unknown_key
from tenuto.sim.ollama.render import ODDITIES, document, in_response, payloads
from tenuto.sim.ollama.request import located, located_prompt, read
from tenuto.sim.ollama.rules import impossible, violation
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="ollama",
    tables=TABLES,
    path="/api/chat",
    read=read,
    impossible=impossible,
    violation=violation,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_key,
    core_keys=frozenset({"model", "messages", "stream", "options", "tools", "format", "think"}),
    document=document,
    payloads=payloads,
    oddities=ODDITIES,
    broken=("", '{"model":"sim","message":{"role":'),
    answer_id=lambda key: key,  # an answer has none
    headers=lambda _: {},
    located=located,
    frame=lines,
    stream_headers={"content-type": "application/x-ndjson"},
)

GENERATE: Final = replace(
    WIRE,
    path="/api/generate",
    impossible=partial(impossible, say=in_response),
    core_keys=WIRE.core_keys | {"prompt", "raw"},
    document=partial(document, say=in_response),
    payloads=partial(payloads, say=in_response),
    located=located_prompt,
)
