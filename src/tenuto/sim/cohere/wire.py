"""The row of Cohere's Chat."""

from __future__ import annotations

from typing import Final

from tenuto.sim.case import Framing
from tenuto.sim.cohere.cases import TABLES
from tenuto.sim.cohere.errors import ERRORS, failure, stamped, too_many_tokens, unknown_field
from tenuto.sim.cohere.history import impossible, violation
from tenuto.sim.cohere.render import BROKEN, ODDITIES, document, event, payloads
from tenuto.sim.cohere.request import read
from tenuto.sim.framing import frame
from tenuto.sim.openai_chat.render import DONE
from tenuto.sim.prose import key_of
from tenuto.sim.wire import Wire

WIRE: Final = Wire(
    name="cohere",
    tables=TABLES,
    path="/v2/chat",
    read=read,
    impossible=impossible,
    violation=violation,
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=unknown_field,
    core_keys=frozenset(
        {"model", "messages", "stream", "max_tokens", "tools", "tool_choice", "response_format"}
        | {"thinking"}
    ),
    document=document,
    payloads=payloads,
    event=event,
    oddities=ODDITIES,
    broken=BROKEN,
    done=DONE,
    answer_id=lambda key: key_of("answer", key, length=32),
    headers=lambda key: {"x-debug-trace-id": key, "x-api-warning": ""},
    stamped=stamped,
    last_event=frame([DONE], Framing.PLAIN)[0],
)
