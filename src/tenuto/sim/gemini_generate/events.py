"""How a reply is written as a stream: responses that hold what is new, the stop in the last one.

Oddities are small functions over the list of events, chosen by name, so that each stands for
itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.case import Odd, Say, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.gemini_generate.body import blocked
from tenuto.sim.gemini_generate.errors import ERRORS
from tenuto.sim.gemini_generate.parts import around, call_parts, ending, usage
from tenuto.sim.reply import Reply
from tenuto.sim.writing import in_the_middle, pieces

Payload = dict[str, Any]


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> len(made), '"finishReason":"STOP"' in made[-1][1]
    (1, True)
    """
    payloads = _payloads(reply, step, envelope)
    if step.odd in _ODDITIES:
        payloads = _ODDITIES[step.odd](payloads)
    if step.error:
        payloads.append(dict(ERRORS[step.error].document))
    events = [("", dump(payload)) for payload in payloads]
    if step.odd is Odd.NOT_JSON:
        events = in_the_middle(events, ("", '{"candidates": [{"content": '))
    return events


def _payloads(reply: Reply, step: Step, envelope: Envelope) -> list[Payload]:
    if step.say is Say.REFUSAL:
        return [blocked(reply) | {"usageMetadata": usage(reply)} | around(envelope)]
    said, out = 0, list[Payload]()
    for part in _pieces(reply, step, step.event_chars or envelope.token_chars):
        if "thought" not in part:
            said += math.ceil(len(part.get("text") or "") / envelope.token_chars)
        content = {"parts": [part], "role": "model"}
        counted = {"usageMetadata": usage(reply, said)} if step.usage else {}
        out.append({"candidates": [{"content": content, "index": 0}]} | counted | around(envelope))
    if step.error:
        return out
    if not out:
        out.append({"candidates": [{"content": {"role": "model"}, "index": 0}]} | around(envelope))
    out[-1]["candidates"][0] |= ending(reply)
    if step.usage and reply.finish is not None:
        out[-1]["usageMetadata"] = usage(reply)
    return out


def _pieces(reply: Reply, step: Step, size: int) -> Iterator[dict[str, Any]]:
    thoughts, text = reply.reasoning, reply.text or ""
    # Thoughts are told in summaries, a paragraph each.
    if thoughts:
        yield {"text": thoughts, "thought": True}
    yield from ({"text": piece} for piece in pieces(text, size))
    yield from call_parts(reply, step)


def _again(payloads: list[Payload], **changed: Any) -> list[Payload]:
    last = payloads[-1]
    candidate = {"content": {"role": "model"}, "finishReason": "STOP", "index": 0} | changed
    return [*payloads, last | {"candidates": [candidate]}]


def _late_content(payloads: list[Payload]) -> list[Payload]:
    """The stop comes in the last event but two; of a shorter stream, in the first."""
    stop = payloads[-1]["candidates"][0].pop("finishReason")
    payloads[-3:][0]["candidates"][0]["finishReason"] = stop
    return payloads


def _late_usage(payloads: list[Payload]) -> list[Payload]:
    counted = payloads[-1].pop("usageMetadata")
    return [*payloads, {"usageMetadata": counted, "modelVersion": payloads[-1]["modelVersion"]}]


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Payload]], list[Payload]]]] = {
    Odd.FINISH_REPEATED: _again,
    Odd.FINISH_CONFLICT: lambda payloads: _again(payloads, finishReason="MAX_TOKENS"),
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.USAGE_AFTER_FINISH: _late_usage,
    Odd.EMPTY_CHOICES: lambda payloads: [
        {key: item for key, item in payloads[0].items() if key != "candidates"},
        *payloads,
    ],
}
