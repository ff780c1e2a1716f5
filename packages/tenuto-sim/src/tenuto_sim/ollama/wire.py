"""The simulator's rows for Ollama's `/api/chat` and `/api/generate`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from tenuto_sim.framing import lines
from tenuto_sim.ollama import cases, errors, render, request, rules
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="ollama",
    tables=cases.TABLES,
    path="/api/chat",
    read=request.read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_key,
    core_keys=frozenset({"model", "messages", "stream", "options", "tools", "format", "think"}),
    document=render.document,
    payloads=render.payloads,
    oddities=render.ODDITIES,
    broken=("", '{"model":"sim","message":{"role":'),
    answer_id=lambda key: key,  # an answer has none
    headers=lambda _: {},
    located=request.located,
    frame=lines,
    stream_headers={"content-type": "application/x-ndjson"},
)

GENERATE: Final = replace(
    WIRE,
    path="/api/generate",
    impossible=partial(rules.impossible, say=render.in_response),
    core_keys=WIRE.core_keys | {"prompt", "raw"},
    document=partial(render.document, say=render.in_response),
    payloads=partial(render.payloads, say=render.in_response),
    located=request.located_prompt,
)
