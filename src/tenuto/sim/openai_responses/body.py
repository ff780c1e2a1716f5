"""How a reply is written as one document."""

from __future__ import annotations

from typing import Any

from tenuto.sim.case import Ending, Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.openai_responses.errors import ERRORS
from tenuto.sim.openai_responses.items import ending, items, response, usage
from tenuto.sim.reply import Reply


def render_body(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the document that answers a request without `stream`.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("resp_1", "sim"))
    >>> made["status"], len(made["output"])
    ('completed', 1)
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    document = finished(reply, step, envelope)
    if step.ending is Ending.NO_FINISH:
        del document["status"]
    return document


def finished(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the whole response, as a body or as the last event of a stream holds it.

    >>> made = finished(Reply("Hi.", (), "length", 3, 1), Step(), Envelope("resp_1", "sim"))
    >>> made["status"]
    'incomplete'
    """
    document = response(envelope) | ending(reply)
    bare = document["status"] == "failed" or reply.finish in ("queued", "in_progress")
    document["output"] = [] if bare else items(reply, step, envelope)
    document["usage"] = usage(reply) if step.usage and not bare else None
    return document
