"""How a reply is written as one document."""

from __future__ import annotations

from typing import Any

from tenuto.sim.case import Ending, Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.gemini_interactions.errors import ERRORS
from tenuto.sim.gemini_interactions.steps import (
    CREATED,
    ending,
    interaction,
    steps,
    usage,
)
from tenuto.sim.reply import Reply
from tenuto.sim.writing import decoded


def render_body(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the document that answers a request without `stream`.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("v1_1", "sim"))
    >>> made["status"], len(made["steps"])
    ('completed', 1)
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    document = finished(reply, step, envelope) | {"steps": steps(reply, envelope)}
    for made in document["steps"]:
        if made["type"] == "function_call":
            raw = made["arguments"]
            made["arguments"] = {} if raw is None else decoded(raw)
    if document["status"] in ("queued", "in_progress") and not reply.text:
        del document["steps"]
    if step.ending is Ending.NO_FINISH:
        del document["status"]
    return document


def finished(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the interaction as the last event of a stream holds it, which is without its steps.

    >>> finished(Reply("Hi.", (), "length", 3, 1), Step(), Envelope("v1_1", "sim"))["status"]
    'incomplete'
    """
    times = {"created": CREATED, "updated": CREATED}
    counted = {"usage": usage(reply)} if step.usage else {}
    return interaction(envelope) | ending(reply, envelope) | times | counted
