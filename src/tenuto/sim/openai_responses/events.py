"""How a reply is written as a stream of named events.

Oddities are small functions over the list of events, chosen by name, so that each stands for
itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.case import Odd, Shape, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.openai_responses.body import finished
from tenuto.sim.openai_responses.errors import ERRORS
from tenuto.sim.openai_responses.items import Item, items, response
from tenuto.sim.reply import Reply
from tenuto.sim.writing import CUT_SHORT, in_the_middle, pieces, place, together

Payload = dict[str, Any]

ENDS: Final[Mapping[str, str]] = {
    "incomplete": "response.incomplete",
    "failed": "response.failed",
}
"""The last event by status; all others are called completed."""

DONE: Final = ("", "[DONE]")
"""What some proxies add."""


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("resp_1", "sim"))
    >>> [name for name, _ in made][:2], made[-1][0]
    (['response.created', 'response.in_progress'], 'response.completed')
    """
    payloads = list(_payloads(reply, step, envelope))
    if step.odd in _ODDITIES:
        payloads = _ODDITIES[step.odd](payloads)
    numbered = [payload | {"sequence_number": n} for n, payload in enumerate(payloads)]
    events = [(payload["type"], dump(payload)) for payload in numbered]
    if step.odd is Odd.NOT_JSON:
        events = in_the_middle(events, ("response.output_text.delta", '{"type":"response.ou'))
    if step.odd is Odd.DOUBLE_DONE:
        events += [DONE, DONE]
    return events


def _payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Payload]:
    begun = response(envelope)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    size = step.event_chars or envelope.token_chars
    failed = reply.finish is not None and reply.finish.startswith("failed")
    cut_short = step.ending in CUT_SHORT or bool(step.error) or failed
    written = [
        list(_item(index, item, size, reply.shape))
        for index, item in enumerate(items(reply, step, envelope))
    ]
    if cut_short and written:
        written[-1] = [p for p in written[-1] if not p["type"].endswith(".done")]
    yield from together(written, reply.shape)
    if step.error:
        yield _error(step.error)
    elif step.ending not in CUT_SHORT:
        document = finished(reply, step, envelope)
        named = "response.completed" if step.odd is Odd.END_CALLED_COMPLETED else None
        yield {"type": named or ENDS.get(document["status"], "response.completed")} | {
            "response": document
        }


def _error(name: str) -> Payload:
    return {"type": "error"} | dict(ERRORS[name].document)


def _item(index: int, item: Item, size: int, shape: Shape) -> Iterator[Payload]:
    at = place("output_index", index, shape)
    opening, inner = _OPENED[item["type"]](item, size)
    yield {"type": "response.output_item.added", **at, "item": opening}
    for payload in inner:
        yield {"type": payload["type"], "item_id": item["id"], **at} | payload
    yield {"type": "response.output_item.done", **at, "item": item}


Opened = tuple[Item, list[Payload]]


def _message(item: Item, size: int) -> Opened:
    part = item["content"][0]
    name, kind = ("text", "output_text") if "text" in part else ("refusal", "refusal")
    said = part[name] or ""
    at = {"content_index": 0}
    empty = part | {name: ""} | ({"annotations": []} if name == "text" else {})
    probabilities: Payload = {"logprobs": []} if name == "text" else {}
    inner = [{"type": "response.content_part.added", **at, "part": empty}]
    inner += [
        {"type": f"response.{kind}.delta", **at, "delta": piece, **probabilities}
        for piece in pieces(said, size)
    ]
    inner += [
        {"type": "response.output_text.annotation.added", **at, "annotation_index": n}
        | {"annotation": annotation}
        for n, annotation in enumerate(part.get("annotations", ()))
    ]
    inner.append({"type": f"response.{kind}.done", **at, name: said, **probabilities})
    inner.append({"type": "response.content_part.done", **at, "part": part})
    return item | {"status": "in_progress", "content": []}, inner


def _call(item: Item, size: int) -> Opened:
    raw = item["arguments"]
    kind = "response.function_call_arguments"
    given = pieces(raw, size) if isinstance(raw, str) else []
    inner = [{"type": f"{kind}.delta", "delta": piece} for piece in given]
    inner.append({"type": f"{kind}.done", "arguments": raw})
    return item | {"status": "in_progress", "arguments": ""}, inner


def _reasoning(item: Item, size: int) -> Opened:
    kind = "response.reasoning_summary"
    inner: list[Payload] = []
    for index, part in enumerate(item["summary"]):
        at = {"summary_index": index}
        inner.append({"type": f"{kind}_part.added", **at, "part": part | {"text": ""}})
        inner += [
            {"type": f"{kind}_text.delta", **at, "delta": piece}
            for piece in pieces(part["text"], size)
        ]
        inner.append({"type": f"{kind}_text.done", **at, "text": part["text"]})
        inner.append({"type": f"{kind}_part.done", **at, "part": part})
    return item | {"summary": []}, inner


def _search(item: Item, size: int) -> Opened:
    kind = "response.web_search_call"
    steps = ("in_progress", "searching", "completed")
    return item | {"status": "in_progress"}, [{"type": f"{kind}.{step}"} for step in steps]


_OPENED: Final[Mapping[str, Callable[[Item, int], Opened]]] = {
    "message": _message,
    "function_call": _call,
    "reasoning": _reasoning,
    "web_search_call": _search,
}
"""An item as it begins, and the events between its beginning and its end."""


def _without_pieces(payloads: list[Payload]) -> list[Payload]:
    """Calls come whole, at the end of their items alone."""
    return [p for p in payloads if not p["type"].startswith("response.function_call_arguments")]


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Payload]], list[Payload]]]] = {
    Odd.FINISH_REPEATED: lambda payloads: [*payloads, payloads[-1]],
    Odd.PINGS: lambda payloads: [q for p in payloads for q in (p, {"type": "keepalive"})][:-1],
    Odd.UNKNOWN_EVENT: lambda payloads: in_the_middle(
        payloads, {"type": "response.sim_garbage.delta"}
    ),
    Odd.CALLS_WITHOUT_PIECES: _without_pieces,
}
