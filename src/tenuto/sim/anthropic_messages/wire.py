"""The row of Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenuto.sim.anthropic_messages.body_rules import (
    body_violations,
    header_violations,
    impossible,
)
from tenuto.sim.anthropic_messages.cases import TABLES
from tenuto.sim.anthropic_messages.errors import (
    ERRORS,
    extra,
    failure,
    stamped,
    too_many_tokens,
)
from tenuto.sim.anthropic_messages.history import history_violations
from tenuto.sim.anthropic_messages.render import BROKEN, ODDITIES, STOP, document, event, payloads
from tenuto.sim.anthropic_messages.request import read
from tenuto.sim.case import Framing
from tenuto.sim.errors import Failure
from tenuto.sim.framing import frame
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Settings
from tenuto.sim.wire import Body, Headers, Wire, first_of


def _rules(headers: Headers, body: Body, settings: Settings) -> Iterator[Failure]:
    yield from header_violations(headers)
    yield from body_violations(body, settings.max_output_tokens)
    yield from history_violations(body, settings.prefill)


WIRE: Final = Wire(
    name="anthropic-messages",
    tables=TABLES,
    path="/v1/messages",
    read=read,
    impossible=impossible,
    violation=first_of(_rules),
    refuse=failure,
    errors=ERRORS,
    too_many_tokens=too_many_tokens,
    unknown_key=extra,
    core_keys=frozenset(
        {"model", "messages", "stream", "max_tokens", "system", "tools", "tool_choice"}
        | {"thinking", "stop_sequences", "output_config"}
    ),
    document=document,
    payloads=payloads,
    event=event,
    oddities=ODDITIES,
    broken=BROKEN,
    answer_id=lambda key: "msg_01" + key_of(key, length=22),
    headers=lambda key: {"request-id": f"req_{key}", "anthropic-organization-id": "sim"},
    stamped=stamped,
    last_event=frame([event(STOP, 0)], Framing.PLAIN)[0],
)
