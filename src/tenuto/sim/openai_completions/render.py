"""How a reply is written: as Chat's, but each choice holds its text. An event looks as a body does.

The templates are OpenAI's as recorded in 2025: nulls and all.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tenuto.sim.case import Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.openai_chat import render as chat
from tenuto.sim.reply import Reply


def render_body(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the document that answers a request without `stream`.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("cmpl-1", "sim"))
    >>> made["choices"][0]["text"], made["object"]
    ('Hi.', 'text_completion')
    """
    return _as_text(chat.render_body(replace(reply, echo=""), step, envelope))


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the payloads of the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("cmpl-1", "sim"))
    >>> len(made), made[-1]
    (3, ('', '[DONE]'))
    """
    return [
        (name, payload if payload == chat.DONE else dump(_as_text(json.loads(payload))))
        for name, payload in chat.render_events(reply, step, envelope)
        if '"role":"assistant"' not in payload
    ]


def _as_text(made: dict[str, Any]) -> dict[str, Any]:
    if not made.get("choices") and made.get("object") != "chat.completion.chunk":
        return made
    made = {key: value for key, value in made.items() if key != "service_tier"}
    for choice in made["choices"]:
        said = choice.pop("delta", None) or choice.pop("message", None) or {}
        choice["text"] = said.get("content") or ""
    if isinstance(made.get("usage"), dict):
        made["usage"] = {key: made["usage"][key] for key in _COUNTS}
    return made | {"object": "text_completion"}


_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
