"""The rows of Ollama's `/api/chat` and `/api/generate`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from tenuto.sim.ollama.errors import ERRORS, failure, too_many_tokens, unknown_key
from tenuto.sim.ollama.lines import frame, in_response, render_body, render_events
from tenuto.sim.ollama.request import located, located_prompt, read
from tenuto.sim.ollama.rules import impossible, violations
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="ollama",
    path="/api/chat",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_key,
    core_keys=frozenset({"model", "messages", "stream", "options", "tools", "format", "think"}),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: key,  # an answer has none
    headers=lambda _: {},
    located=located,
    frame=frame,
    stream_headers={"content-type": "application/x-ndjson"},
)

GENERATE: Final = replace(
    WIRE,
    path="/api/generate",
    impossible=partial(impossible, say=in_response),
    core_keys=WIRE.core_keys | {"prompt", "raw"},
    render_body=partial(render_body, say=in_response),
    render_events=partial(render_events, say=in_response),
    located=located_prompt,
)
