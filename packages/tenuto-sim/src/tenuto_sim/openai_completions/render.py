"""Write a reply: like Chat's, but each choice holds its text. Events look like bodies.

The templates are OpenAI's as recorded in 2025, with their nulls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tenuto_sim.case import Step
from tenuto_sim.envelope import Envelope
from tenuto_sim.openai_chat import render as chat
from tenuto_sim.reply import Reply


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without `stream`.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("cmpl-1", "sim"))
    >>> made["choices"][0]["text"], made["object"]
    ('Hi.', 'text_completion')
    """
    return _as_text(chat.document(replace(reply, echo=""), step, envelope))


def payloads(reply: Reply, step: Step, envelope: Envelope) -> list[dict[str, Any]]:
    """Return the payloads of a stream's events.

    >>> len(payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("cmpl-1", "sim")))
    2
    """
    chunks = chat.fresh(chat.payloads(reply, step, envelope))
    return [_as_text(chunk) for chunk in chunks if not _says_who_speaks(chunk)]


def _says_who_speaks(chunk: dict[str, Any]) -> bool:
    return any("role" in choice["delta"] for choice in chunk.get("choices", ()))


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
