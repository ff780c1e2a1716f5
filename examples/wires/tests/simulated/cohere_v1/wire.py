"""The simulator's row for Cohere's chat of version 1."""

from __future__ import annotations

from typing import Final

from examples.wires.tests.simulated.cohere_v1 import cases, errors, render, request, rules
from tenuto_sim.cohere.errors import failure
from tenuto_sim.framing import lines
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="cohere-v1",
    tables=cases.TABLES,
    path="/v1/chat",
    read=request.read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_field,
    core_keys=frozenset(
        {"message", "model", "chat_history", "stream", "max_tokens", "tools", "tool_results"}
        | {"response_format", "preamble"}
    ),
    document=render.document,
    payloads=render.payloads,
    oddities=render.ODDITIES,
    broken=("", '{"is_finished":false,"event_type":'),
    answer_id=lambda key: key_of("answer", key, length=32),
    headers=lambda key: {"x-debug-trace-id": key},
    frame=lines,
    stream_headers={"content-type": "application/stream+json"},
)
