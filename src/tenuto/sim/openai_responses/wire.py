"""The row of OpenAI Responses."""

from __future__ import annotations

from typing import Final

from tenuto.sim.openai_chat.errors import failure
from tenuto.sim.openai_chat.wire import WIRE as CHAT
from tenuto.sim.openai_responses.body import render_body
from tenuto.sim.openai_responses.errors import (
    ERRORS,
    too_many_tokens,
    unknown_parameter,
)
from tenuto.sim.openai_responses.events import render_events
from tenuto.sim.openai_responses.history import impossible, violations
from tenuto.sim.openai_responses.request import read
from tenuto.sim.openai_responses.stored import kept, recalled
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="openai-responses",
    path="/v1/responses",
    read=read,
    impossible=impossible,
    violations=violations,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_parameter,
    core_keys=frozenset(
        {"model", "input", "stream", "max_output_tokens", "tools", "tool_choice", "text", "store"}
        | {"instructions", "reasoning", "include", "previous_response_id", "conversation"}
    ),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: "resp_" + key_of(key, length=48),
    headers=CHAT.headers,
    recalled=recalled,
    kept=kept,
    last_event=b"data: [DONE]\n\n",
)
