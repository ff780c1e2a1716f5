"""The simulator's row for Mistral's chat: that of Chat Completions, below a path of its own, since
one simulator serves both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto_sim.asked import Asked
from tenuto_sim.mistral import cases, errors, render, rules
from tenuto_sim.openai_chat.request import read as read_chat
from tenuto_sim.openai_chat.wire import WIRE as CHAT
from tenuto_sim.prose import key_of
from tenuto_sim.reply import Settings


def _read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for. A row with `prefix` is the beginning of the answer, and "any"
    demands a call."""
    begun = body["messages"][-1].get("prefix") is True
    asked = read_chat(body, settings)
    forced = asked.forced or body.get("tool_choice") == "any"
    return replace(asked, forced=forced, prefill="continue" if begun else None)


WIRE: Final = replace(
    CHAT,
    name="mistral",
    tables=cases.TABLES,
    path="/mistral/v1/chat/completions",
    read=_read,
    impossible=rules.impossible,
    violations=rules.violations,
    refuse=errors.failure,
    errors=errors.ERRORS,
    too_many_tokens=errors.too_many_tokens,
    unknown_key=errors.not_allowed,
    core_keys=CHAT.core_keys - {"max_completion_tokens", "stream_options"},
    document=render.document,
    payloads=render.payloads,
    event=render.event,
    broken=("", '{"id":'),
    answer_id=lambda key: key_of(key, length=32),
    headers=lambda key: {"mistral-correlation-id": key, "x-kong-request-id": key},
)
