"""How a reply is written as one document."""

from __future__ import annotations

from typing import Any

from tenuto.sim.case import Say, Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.gemini_generate.errors import ERRORS
from tenuto.sim.gemini_generate.parts import around, call_parts, ending, usage
from tenuto.sim.reply import Reply


def render_body(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the document that answers a request without streaming.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> made["candidates"][0]["content"]
    {'parts': [{'text': 'Hi.'}], 'role': 'model'}
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    counted = {"usageMetadata": usage(reply)} if step.usage else {}
    if step.say is Say.REFUSAL:
        return blocked(reply) | counted | around(envelope)
    parts = [{"text": reply.reasoning, "thought": True}] if reply.reasoning else []
    parts += [{"text": reply.text}] if reply.text else []
    parts += call_parts(reply, step)
    content = ({"parts": parts} if parts else {}) | {"role": "model"}
    candidate = {"content": content} | ending(reply) | {"index": 0}
    return {"candidates": [candidate]} | counted | around(envelope)


def blocked(reply: Reply) -> dict[str, Any]:
    """Return what a response says of a prompt that was blocked; it has no candidates.

    >>> blocked(Reply(None, (), "stop", 3, 0))
    {'promptFeedback': {'blockReason': 'PROHIBITED_CONTENT'}}
    """
    return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
