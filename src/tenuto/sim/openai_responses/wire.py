"""The row of OpenAI Responses."""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import Odd
from tenuto.sim.openai_chat.errors import failure
from tenuto.sim.openai_chat.render import DONE
from tenuto.sim.openai_chat.wire import WIRE as CHAT
from tenuto.sim.openai_responses.cases import TABLES
from tenuto.sim.openai_responses.errors import (
    ERRORS,
    too_many_tokens,
    unknown_parameter,
)
from tenuto.sim.openai_responses.history import impossible, violation
from tenuto.sim.openai_responses.render import BROKEN, ODDITIES, document, event, payloads
from tenuto.sim.openai_responses.request import read
from tenuto.sim.openai_responses.stored import kept, recalled
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="openai-responses",
    tables=TABLES,
    path="/v1/responses",
    read=read,
    impossible=impossible,
    violation=violation,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_parameter,
    core_keys=frozenset(
        {"model", "input", "stream", "max_output_tokens", "tools", "tool_choice", "text", "store"}
        | {"instructions", "reasoning", "include", "previous_response_id", "conversation"}
    ),
    document=document,
    payloads=payloads,
    event=event,
    oddities=ODDITIES,
    broken=BROKEN,
    done=DONE,
    # Some proxies add it.
    marks=lambda step: 2 if step.odd is Odd.DOUBLE_DONE else 0,
    answer_id=lambda key: "resp_" + key_of(key, length=48),
    headers=CHAT.headers,
    recalled=recalled,
    kept=kept,
    last_event=CHAT.last_event,
)
