"""How a reply is written as one document."""

from __future__ import annotations

from typing import Any

from tenuto.sim.bedrock_converse.blocks import blocks, stop_of, trace, usage
from tenuto.sim.bedrock_converse.errors import ERRORS
from tenuto.sim.case import Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.reply import Reply
from tenuto.sim.writing import decoded


def render_body(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the document that answers a request for a whole answer.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> made["output"]["message"]["content"], made["stopReason"]
    ([{'text': 'Hi.'}], 'end_turn')
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    content = blocks(reply)
    for block in content:
        if "toolUse" in block:
            block["toolUse"]["input"] = decoded(block["toolUse"]["input"])
    document = {
        "metrics": {"latencyMs": 7},
        "output": {"message": {"content": content, "role": "assistant"}},
        "stopReason": stop_of(reply, step),
        "usage": usage(reply),
    } | trace(reply)
    if not step.usage:
        del document["usage"]
    return document
