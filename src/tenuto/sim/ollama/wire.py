"""The row of Ollama's `/api/chat`."""

from __future__ import annotations

from typing import Final

from tenuto.sim.ollama.errors import ERRORS, failure, too_many_tokens, unknown_key
from tenuto.sim.ollama.lines import frame, render_body, render_events
from tenuto.sim.ollama.request import located, read
from tenuto.sim.ollama.rules import impossible, violation
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="ollama",
    path="/api/chat",
    read=read,
    impossible=impossible,
    violation=violation,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_key,
    core_keys=frozenset({"model", "messages", "stream", "options", "tools", "format", "think"}),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: key,  # an answer has none
    headers=lambda _: {},
    stamped=lambda document, _: document,
    last_event=b"",
    located=located,
    frame=frame,
    stream_headers={"content-type": "application/x-ndjson"},
)
