"""How a reply is written as one document."""

from __future__ import annotations

from typing import Any

from tenuto.sim.anthropic_messages.blocks import blocks, ending, message
from tenuto.sim.anthropic_messages.errors import ERRORS
from tenuto.sim.case import Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.reply import Reply
from tenuto.sim.writing import decoded


def render_body(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the document that answers a request without `stream`.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("msg_1", "sim"))
    >>> made["content"], made["stop_reason"]
    ([{'type': 'text', 'text': 'Hi.'}], 'end_turn')
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    content = blocks(reply, envelope)
    for block in content:
        if block["type"] == "tool_use":
            block["input"] = decoded(block["input"])
    document = message(reply, envelope) | {"content": content} | ending(reply, step)
    if not step.usage:
        del document["usage"]
    return document
