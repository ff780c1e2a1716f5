"""The simulator's row for OpenAI Responses."""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import Odd
from tenuto_sim.openai_chat.errors import failure
from tenuto_sim.openai_chat.render import DONE
from tenuto_sim.openai_chat.wire import WIRE as CHAT
from tenuto_sim.openai_responses import cases, errors, history, render, request, stored
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="openai-responses",
    tables=cases.TABLES,
    path="/v1/responses",
    read=request.read,
    impossible=history.impossible,
    violations=history.violations,
    refuse=failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_parameter,
    core_keys=frozenset(
        {"model", "input", "stream", "max_output_tokens", "tools", "tool_choice", "text", "store"}
        | {"instructions", "reasoning", "include", "previous_response_id", "conversation"}
    ),
    document=render.document,
    payloads=render.payloads,
    event=render.event,
    oddities=render.ODDITIES,
    broken=render.BROKEN,
    done=DONE,
    # Some proxies add it.
    marks=lambda step: 2 if step.odd is Odd.DOUBLE_DONE else 0,
    answer_id=lambda key: "resp_" + key_of(key, length=48),
    headers=CHAT.headers,
    recalled=stored.recalled,
    kept=stored.kept,
    last_event=CHAT.last_event,
)
