"""How a reply is written as a stream of named events.

Oddities are small functions over the list of events, chosen by name, so that each stands for
itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.case import Ending, Odd, Shape, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.gemini_interactions.body import finished
from tenuto.sim.gemini_interactions.errors import ERRORS
from tenuto.sim.gemini_interactions.steps import Made, interaction, steps
from tenuto.sim.reply import Reply
from tenuto.sim.writing import CUT_SHORT, in_the_middle, pieces, place, together

DONE: Final = ("done", "[DONE]")


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("v1_1", "sim"))
    >>> [name for name, _ in made][:2], made[-2][0]
    (['interaction.created', 'interaction.status_update'], 'interaction.completed')
    """
    payloads = list(_payloads(reply, step, envelope))
    if step.odd in _ODDITIES:
        payloads = _ODDITIES[step.odd](payloads)
    events = [(payload["event_type"], dump(payload)) for payload in payloads]
    if step.odd is Odd.NOT_JSON:
        events = in_the_middle(events, ("step.delta", '{"event_type":"step.del'))
    if step.ending in CUT_SHORT:
        return events
    ends = {Odd.DOUBLE_DONE: 2}.get(step.odd, 1) if step.odd else 1
    return [*events, *([DONE] * (0 if step.ending is Ending.NO_DONE else ends))]


def _payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Made]:
    yield _event("interaction.created", interaction=interaction(envelope))
    told = {"interaction_id": envelope.id, "status": "in_progress"}
    yield _event("interaction.status_update", **told)
    size = step.event_chars or envelope.token_chars
    nothing = bool(step.error) and not reply.text
    written = [
        list(_step(index, made, size, reply.shape))
        for index, made in enumerate([] if nothing else steps(reply, envelope))
    ]
    if written and (step.ending in CUT_SHORT or step.error or reply.finish is None):
        written[-1] = [p for p in written[-1] if p["event_type"] != "step.stop"]
    yield from together(written, reply.shape)
    if step.error:
        yield _event("error", **dict(ERRORS[step.error].document))
    elif step.ending not in CUT_SHORT and step.ending is not Ending.NO_FINISH:
        yield _event("interaction.completed", interaction=finished(reply, step, envelope))


def _event(kind: str, **members: Any) -> Made:
    return {**members, "event_type": kind}


def _step(index: int, made: Made, size: int, shape: Shape) -> Iterator[Made]:
    at = place("index", index, shape)
    opening, deltas = _OPENED[made["type"]](made, size)
    yield _event("step.start", **at, step=opening)
    for delta in deltas:
        yield _event("step.delta", **at, delta=delta)
    yield _event("step.stop", **at)


Opened = tuple[Made, list[Made]]


def _output(made: Made, size: int) -> Opened:
    part = made["content"][0]
    deltas: list[Made] = [{"type": "text", "text": p} for p in pieces(part["text"], size)]
    if "annotations" in part:
        deltas.append({"type": "text_annotation_delta", "annotations": part["annotations"]})
    return {"type": "model_output"}, deltas


def _thought(made: Made, size: int) -> Opened:
    said = "".join(part["text"] for part in made.get("summary", ()))
    deltas: list[Made] = [
        {"type": "thought_summary", "content": {"type": "text", "text": p}}
        for p in pieces(said, size)
    ]
    if "signature" in made:
        deltas.append({"type": "thought_signature", "signature": made["signature"]})
    return {"type": "thought"}, deltas


def _call(made: Made, size: int) -> Opened:
    raw = made["arguments"]
    given = pieces(raw, size) if isinstance(raw, str) else [raw]
    deltas = [{"type": "arguments_delta", "arguments": piece} for piece in given]
    return made | {"arguments": {}}, deltas


def _server(made: Made, size: int) -> Opened:
    inner = {key: item for key, item in made.items() if key not in ("id", "call_id")}
    empty: Made = {"arguments": {}} if "arguments" in made else {"result": []}
    return made | empty, [inner]


_OPENED: Final[Mapping[str, Callable[[Made, int], Opened]]] = {
    "model_output": _output,
    "thought": _thought,
    "function_call": _call,
    "google_search_call": _server,
    "google_search_result": _server,
}
"""A step as it begins, and what follows until its end."""


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Made]], list[Made]]]] = {
    Odd.FINISH_REPEATED: lambda payloads: [*payloads, payloads[-1]],
    Odd.UNKNOWN_EVENT: lambda payloads: in_the_middle(payloads, _event("interaction.sim_garbage")),
}
