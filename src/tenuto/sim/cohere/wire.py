"""The row of Cohere's Chat."""

from __future__ import annotations

from typing import Final

from tenuto.sim.cohere.errors import ERRORS, failure, stamped, too_many_tokens, unknown_field
from tenuto.sim.cohere.history import impossible, violations
from tenuto.sim.cohere.render import DONE, render_body, render_events
from tenuto.sim.cohere.request import read
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="cohere",
    path="/v2/chat",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_field,
    core_keys=frozenset(
        {"model", "messages", "stream", "max_tokens", "tools", "tool_choice", "response_format"}
        | {"thinking"}
    ),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: key_of("answer", key, length=32),
    headers=lambda key: {"x-debug-trace-id": key, "x-api-warning": ""},
    stamped=stamped,
    last_event=f"data: {DONE}\n\n".encode(),
)
