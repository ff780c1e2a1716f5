"""Write a reply: as output items in one response, or as a stream of named events.

Keys are those of answers recorded in 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tenuto_sim.case import CUT_SHORT, Ending, Odd, Search, Shape, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.framing import Event
from tenuto_sim.openai_responses.errors import ERRORS, FAILED
from tenuto_sim.openai_responses.seals import cipher, item_id
from tenuto_sim.prose import key_of
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import end_again, in_the_middle, pieces, place, together

CREATED: Final = 1_790_000_000
Item = dict[str, Any]

STATUSES: Final[Mapping[str, tuple[str, str | None]]] = {
    "stop": ("completed", None),
    "tool_calls": ("completed", None),
    "length": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
    "incomplete": ("incomplete", None),
    "abort": ("cancelled", None),
    "failed": ("failed", None),
    "failed_policy": ("failed", None),
    "queued": ("queued", None),
    "in_progress": ("in_progress", None),
    "null": ("null", None),
    "": ("", None),
}
"""Status and reason, by the finish of a step. Any other is the reason of an incomplete response."""

ENDS: Final[Mapping[str, str]] = {"incomplete": "incomplete", "failed": "failed"}
"""The last event by status. All others are named completed."""

BROKEN: Final = ("response.output_text.delta", '{"type":"response.ou')


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without `stream`.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("resp_1", "sim"))
    >>> made["status"], len(made["output"])
    ('completed', 1)
    """
    made = _finished(reply, step, envelope)
    if step.ending is Ending.NO_FINISH:
        del made["status"]
    return made


def _finished(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the whole response, as in a body or in the last event of a stream."""
    made = response(envelope) | ending(reply)
    bare = made["status"] == "failed" or reply.finish in ("queued", "in_progress")
    made["output"] = [] if bare else items(reply, step, envelope)
    made["usage"] = usage(reply) if step.usage and not bare else None
    return made


def ending(reply: Reply) -> dict[str, Any]:
    """Return the keys for the end of a response.

    >>> ending(Reply("Hi.", (), "length", 3, 1))["incomplete_details"]
    {'reason': 'max_output_tokens'}
    """
    finish = reply.finish
    if finish is None:
        return {"error": None, "incomplete_details": None}
    if finish == "STOP":
        status, reason = "COMPLETED", None
    elif finish.startswith("status:"):
        status, reason = finish.removeprefix("status:"), None
    else:
        status, reason = STATUSES.get(finish, ("incomplete", finish))
    return {
        "status": status,
        "error": dict(FAILED[finish]) if finish in FAILED else None,
        "incomplete_details": None if reason is None else {"reason": reason},
    }


def response(envelope: Envelope) -> dict[str, Any]:
    """Return a response without output and without an end.

    >>> response(Envelope("resp_1", "sim"))["status"]
    'in_progress'
    """
    return {
        "id": envelope.id,
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": envelope.model,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        "metadata": {},
    }


def usage(reply: Reply) -> dict[str, Any]:
    """Return the usage object of a reply.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))["total_tokens"]
    4
    """
    return {
        "input_tokens": reply.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
    }


def items(reply: Reply, step: Step, envelope: Envelope) -> list[Item]:
    """Return the output of a reply. A call's arguments are still the raw text in the reply.

    >>> made = items(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("resp_1", "sim"))
    >>> made[0]["content"][0]["text"]
    'Hi.'
    """
    out: list[Item] = []
    tie = ""

    def next_id(prefix: str) -> str:
        return item_id(prefix, envelope.id, len(out), tie)

    if reply.reasoning or (reply.reasoning_tokens and (reply.text or reply.calls)):
        tie = item_id("rs", envelope.id, 0)
        out.append(_reasoning(tie, reply.reasoning))
    if reply.search is Search.BEFORE:
        out.append(_search(next_id("ws"), envelope))
    if reply.text is not None or reply.refusal is not None:
        cited = reply.search is Search.BEFORE
        if not _thinks_alone(reply):
            out.append(_message(next_id("msg"), reply, _citation(envelope) if cited else None))
    if reply.search is Search.AFTER:
        out.append(_search(next_id("ws"), envelope))
    for call in reply.calls:
        made = _call(next_id("fc"), call, reply.shape)  # its id counts those before it
        out.append(made)
    if out and out[-1]["type"] in ("message", "function_call"):
        cut = ending(reply).get("status") == "incomplete"
        lies = step.odd is Odd.ITEMS_CALLED_WHOLE
        wrong = step.odd is Odd.ITEM_CALLED_INCOMPLETE
        out[-1]["status"] = "incomplete" if (cut and not lies) or wrong else "completed"
    return out


def _thinks_alone(reply: Reply) -> bool:
    """Return whether reasoning took the place of the answer."""
    return bool(reply.reasoning_tokens) and not reply.text and reply.refusal is None


def _reasoning(id_: str, text: str) -> Item:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"id": id_, "type": "reasoning", "summary": summary, "encrypted_content": cipher(id_)}


def _message(id_: str, reply: Reply, citation: Item | None) -> Item:
    if reply.refusal is not None:
        part: Item = {"type": "refusal", "refusal": reply.refusal}
    else:
        found = [citation] if citation else []
        part = {"type": "output_text", "annotations": found, "logprobs": [], "text": reply.text}
    made: Item = {"id": id_, "type": "message", "status": "completed"}
    return made | {"content": [part], "role": "assistant"}


def _call(id_: str, call: Call, shape: Shape) -> Item:
    made: Item = {"id": id_, "type": "function_call", "status": "completed"}
    made["arguments"] = call.arguments
    return made | ({} if shape is Shape.NO_ID else {"call_id": call.id}) | {"name": call.name}


def _search(id_: str, envelope: Envelope) -> Item:
    action = {"type": "search", "query": "harbour notes", "queries": ["harbour notes"]}
    return {"id": id_, "type": "web_search_call", "status": "completed", "action": action}


def _citation(envelope: Envelope) -> Item:
    return {
        "type": "url_citation",
        "start_index": 0,
        "end_index": 8,
        "title": "Notes of the harbour",
        "url": f"https://example.com/{key_of('page', envelope.id)[:8]}",
    }


def payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Item]:
    """Yield the payloads of a stream's events.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("resp_1", "sim"))
    >>> [payload["type"] for payload in made][:2]
    ['response.created', 'response.in_progress']
    """
    for kind in ("response.created", "response.in_progress"):
        yield {"type": kind, "response": response(envelope)}
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
        yield {"type": "error"} | dict(ERRORS[step.error].document)
    elif step.ending not in CUT_SHORT:
        whole = _finished(reply, step, envelope)
        lies = step.odd is Odd.END_CALLED_COMPLETED
        named = "completed" if lies else ENDS.get(whole["status"], "completed")
        yield {"type": f"response.{named}", "response": whole}


def event(payload: Item, number: int) -> Event:
    """Return the numbered event of a payload."""
    return payload["type"], dump(payload | {"sequence_number": number})


def _item(index: int, item: Item, size: int, shape: Shape) -> Iterator[Item]:
    at = place("output_index", index, shape)
    opening, inner = _OPENED[item["type"]](item, size)
    yield {"type": "response.output_item.added", **at, "item": opening}
    for payload in inner:
        yield {"type": payload["type"], "item_id": item["id"], **at} | payload
    yield {"type": "response.output_item.done", **at, "item": item}


Opened = tuple[Item, list[Item]]


def _said(kind: str, at: Item, name: str, text: Any, size: int, **more: Any) -> list[Item]:
    """Return the pieces of a text, then the whole text."""
    given = pieces(text, size) if isinstance(text, str) else []
    deltas = [{"type": f"{kind}.delta", **at, "delta": piece, **more} for piece in given]
    return [*deltas, {"type": f"{kind}.done", **at, name: text, **more}]


def _message_events(item: Item, size: int) -> Opened:
    part = item["content"][0]
    at = {"content_index": 0}
    if "text" in part:
        empty = part | {"text": "", "annotations": []}
        said = _said("response.output_text", at, "text", part["text"] or "", size, logprobs=[])
    else:
        empty = part | {"refusal": ""}
        said = _said("response.refusal", at, "refusal", part["refusal"] or "", size)
    cited = [
        {"type": "response.output_text.annotation.added", **at, "annotation_index": n}
        | {"annotation": annotation}
        for n, annotation in enumerate(part.get("annotations", ()))
    ]
    begun = {"type": "response.content_part.added", **at, "part": empty}
    over = {"type": "response.content_part.done", **at, "part": part}
    opening = item | {"status": "in_progress", "content": []}
    return opening, [begun, *said[:-1], *cited, said[-1], over]


def _call_events(item: Item, size: int) -> Opened:
    kind = "response.function_call_arguments"
    said = _said(kind, {}, "arguments", item["arguments"], size)
    return item | {"status": "in_progress", "arguments": ""}, said


def _reasoning_events(item: Item, size: int) -> Opened:
    kind = "response.reasoning_summary"
    inner: list[Item] = []
    for index, part in enumerate(item["summary"]):
        at = {"summary_index": index}
        inner.append({"type": f"{kind}_part.added", **at, "part": part | {"text": ""}})
        inner += _said(f"{kind}_text", at, "text", part["text"], size)
        inner.append({"type": f"{kind}_part.done", **at, "part": part})
    return item | {"summary": []}, inner


def _search_events(item: Item, size: int) -> Opened:
    kind = "response.web_search_call"
    steps = ("in_progress", "searching", "completed")
    return item | {"status": "in_progress"}, [{"type": f"{kind}.{step}"} for step in steps]


_OPENED: Final[Mapping[str, Callable[[Item, int], Opened]]] = {
    "message": _message_events,
    "function_call": _call_events,
    "reasoning": _reasoning_events,
    "web_search_call": _search_events,
}
"""An item as it begins, and the events between its beginning and its end."""


def _without_pieces(payloads: list[Item]) -> list[Item]:
    """Remove the pieces of calls, so that calls arrive only at the end of their items."""
    return [p for p in payloads if not p["type"].startswith("response.function_call_arguments")]


ODDITIES: Final[Mapping[Odd, Callable[[list[Item]], list[Item]]]] = {
    Odd.FINISH_REPEATED: end_again,
    Odd.PINGS: lambda payloads: [q for p in payloads for q in (p, {"type": "keepalive"})][:-1],
    Odd.UNKNOWN_EVENT: partial(in_the_middle, odd={"type": "response.sim_garbage.delta"}),
    Odd.CALLS_WITHOUT_PIECES: _without_pieces,
}
