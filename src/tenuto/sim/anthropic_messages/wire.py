"""The row of Anthropic Messages."""

from __future__ import annotations

from typing import Final

from tenuto.sim.anthropic_messages.body import render_body
from tenuto.sim.anthropic_messages.errors import (
    ERRORS,
    extra,
    failure,
    stamped,
    too_many_tokens,
)
from tenuto.sim.anthropic_messages.events import STOP, render_events
from tenuto.sim.anthropic_messages.request import read
from tenuto.sim.anthropic_messages.rules import impossible, violations
from tenuto.sim.case import Framing
from tenuto.sim.envelope import dump
from tenuto.sim.framing import frame
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="anthropic-messages",
    path="/v1/messages",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=extra,
    core_keys=frozenset(
        {"model", "messages", "stream", "max_tokens", "system", "tools", "tool_choice"}
        | {"thinking", "stop_sequences", "output_config"}
    ),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: "msg_01" + key_of(key, length=22),
    headers=lambda key: {"request-id": f"req_{key}", "anthropic-organization-id": "sim"},
    stamped=stamped,
    last_event=frame([(STOP["type"], dump(STOP))], Framing.PLAIN)[0],
)
