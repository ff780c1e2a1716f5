"""The simulator's row for Anthropic Messages."""

from __future__ import annotations

from typing import Final

from tenuto_sim.anthropic_messages import cases, errors, render, request, rules
from tenuto_sim.case import Framing
from tenuto_sim.framing import frame, named_by
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="anthropic-messages",
    tables=cases.TABLES,
    path="/v1/messages",
    read=request.read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.extra,
    core_keys=frozenset(
        {"model", "messages", "stream", "max_tokens", "system", "tools", "tool_choice"}
        | {"thinking", "stop_sequences", "output_config"}
    ),
    document=render.document,
    payloads=render.payloads,
    event=named_by("type"),
    oddities=render.ODDITIES,
    broken=render.BROKEN,
    answer_id=lambda key: "msg_01" + key_of(key, length=22),
    headers=lambda key: {"request-id": f"req_{key}", "anthropic-organization-id": "sim"},
    stamped=errors.stamped,
    last_event=frame([named_by("type")(render.STOP, 0)], Framing.PLAIN)[0],
)
