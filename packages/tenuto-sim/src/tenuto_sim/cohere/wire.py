"""The simulator's row for Cohere's Chat."""

from __future__ import annotations

from typing import Final

from tenuto_sim.case import Framing
from tenuto_sim.cohere import cases, errors, history, render, request
from tenuto_sim.framing import frame, named_by
from tenuto_sim.openai_chat.render import DONE
from tenuto_sim.prose import key_of
from tenuto_sim.wire import Wire

WIRE: Final = Wire(
    name="cohere",
    tables=cases.TABLES,
    path="/v2/chat",
    read=request.read,
    impossible=history.impossible,
    violations=history.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.unknown_field,
    core_keys=frozenset(
        {"model", "messages", "stream", "max_tokens", "tools", "tool_choice", "response_format"}
        | {"thinking"}
    ),
    document=render.document,
    payloads=render.payloads,
    event=named_by("type"),
    oddities=render.ODDITIES,
    broken=render.BROKEN,
    done=DONE,
    answer_id=lambda key: key_of("answer", key, length=32),
    headers=lambda key: {"x-debug-trace-id": key, "x-api-warning": ""},
    stamped=errors.stamped,
    last_event=frame([DONE], Framing.PLAIN)[0],
)
