"""The row of Cohere's chat of version 1."""

from __future__ import annotations

from typing import Final

from tenuto.sim.cohere.errors import failure
from tenuto.sim.cohere_v1.errors import ERRORS, too_many_tokens, unknown_field
from tenuto.sim.cohere_v1.render import frame, render_body, render_events
from tenuto.sim.cohere_v1.request import read
from tenuto.sim.cohere_v1.rules import impossible, violations
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="cohere-v1",
    path="/v1/chat",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_field,
    core_keys=frozenset(
        {"message", "model", "chat_history", "stream", "max_tokens", "tools", "tool_results"}
        | {"response_format", "preamble"}
    ),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: key_of("answer", key, length=32),
    headers=lambda key: {"x-debug-trace-id": key},
    stamped=lambda document, _: document,
    last_event=b"",
    frame=frame,
    stream_headers={"content-type": "application/stream+json"},
)
