"""Write a reply: as steps in one document, or as a stream of named events.

Keys are those of the documentation's examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tenuto_sim.case import CUT_SHORT, Ending, Odd, Search, Shape, Step
from tenuto_sim.envelope import Envelope
from tenuto_sim.gemini_interactions.errors import ERRORS, FAILED
from tenuto_sim.gemini_interactions.seals import signature, token
from tenuto_sim.prose import key_of
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import decoded, end_again, in_the_middle, parts_in_turn, pieces, place

DONE: Final = ("done", "[DONE]")
BROKEN: Final = ("step.delta", '{"event_type":"step.del')
CREATED: Final = "2026-09-21T18:13:20Z"
Made = dict[str, Any]

STATUSES: Final[Mapping[str, str]] = {
    "stop": "completed",
    "tool_calls": "requires_action",
    "length": "incomplete",
    "content_filter": "failed",
    "pause_turn": "requires_continuation",
    "pause_without_token": "requires_continuation",
    "abort": "cancelled",
    "STOP": "COMPLETED",
}
"""The status, by the finish of a step. Any other finish is a status itself."""


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without `stream`.

    >>> whole = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("v1_1", "sim"))
    >>> whole["status"], len(whole["steps"])
    ('completed', 1)
    """
    whole = _finished(reply, step, envelope) | {"steps": steps(reply, envelope)}
    for made in whole["steps"]:
        if made["type"] == "function_call":
            raw = made["arguments"]
            made["arguments"] = {} if raw is None else decoded(raw)
    if whole["status"] in ("queued", "in_progress") and not reply.text:
        del whole["steps"]
    if step.ending is Ending.NO_FINISH:
        del whole["status"]
    return whole


def _finished(reply: Reply, step: Step, envelope: Envelope) -> Made:
    """Return the interaction as in the last event of a stream, without its steps."""
    times = {"created": CREATED, "updated": CREATED}
    counted = {"usage": usage(reply)} if step.usage else {}
    return interaction(envelope) | ending(reply, envelope) | times | counted


def interaction(envelope: Envelope) -> Made:
    """Return an interaction without steps and without an end.

    >>> interaction(Envelope("v1_1", "sim"))["status"]
    'in_progress'
    """
    return {
        "id": envelope.id,
        "status": "in_progress",
        "object": "interaction",
        "model": envelope.model,
    }


def ending(reply: Reply, envelope: Envelope) -> Made:
    """Return the keys for the end of an interaction.

    >>> ending(Reply("Hi.", (), "length", 3, 1), Envelope("v1_1", "sim"))
    {'status': 'incomplete'}
    """
    finish = reply.finish
    if finish is None:
        return {}
    made: Made = {"status": STATUSES.get(finish, finish)}
    if finish in FAILED:
        made["errors"] = [dict(FAILED[finish])]
    if finish == "pause_turn":
        made["continuation_token"] = token(reply.echo + (reply.text or ""), envelope.id)
    return made


def usage(reply: Reply) -> Made:
    """Return the usage object of a reply. Thoughts are no output here.

    >>> usage(Reply("Hi.", (), "stop", 3, 5, 4))["total_output_tokens"]
    1
    """
    thoughts = reply.reasoning_tokens
    return {
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        "total_input_tokens": reply.prompt_tokens,
        "input_tokens_by_modality": [{"modality": "text", "tokens": reply.prompt_tokens}],
        "total_cached_tokens": 0,
        "total_output_tokens": reply.completion_tokens - thoughts,
        "total_tool_use_tokens": 0,
        "total_thought_tokens": thoughts,
    }


def steps(reply: Reply, envelope: Envelope) -> list[Made]:
    """Return the steps of a reply. A call's arguments are still the raw text in the reply.

    >>> made = steps(Reply("Hi.", (), "stop", 3, 1), Envelope("v1_1", "sim"))
    >>> made[0]["content"]
    [{'type': 'text', 'text': 'Hi.'}]
    """
    out: list[Made] = []
    if reply.reasoning or reply.reasoning_tokens:
        out.append(_thought(reply, envelope))
    if reply.search is Search.BEFORE:
        out += _search(envelope)
    if reply.text is not None:
        part: Made = {"type": "text", "text": reply.text}
        if reply.search is Search.BEFORE:
            part["annotations"] = [_citation(envelope)]
        if reply.text or not (reply.reasoning_tokens or reply.finish in FAILED):
            out.append({"type": "model_output", "content": [part]})
    return [*out, *map(_call, reply.calls)]


def _thought(reply: Reply, envelope: Envelope) -> Made:
    made: Made = {"type": "thought"}
    if reply.reasoning:
        made["summary"] = [{"type": "text", "text": reply.reasoning}]
    return made | ({"signature": signature(envelope.id)} if reply.reasoning_whole else {})


def _search(envelope: Envelope) -> list[Made]:
    name = key_of("search", envelope.id)[:8]
    call = {"type": "google_search_call", "id": name, "arguments": {"queries": ["harbour notes"]}}
    found = [{"search_suggestions": "<div>harbour notes</div>"}]
    return [call, {"type": "google_search_result", "call_id": name, "result": found}]


def _citation(envelope: Envelope) -> Made:
    url = f"https://example.com/{key_of('page', envelope.id)[:8]}"
    return {"type": "url_citation", "start_index": 0, "end_index": 8, "title": "Notes", "url": url}


def _call(call: Call) -> Made:
    made = {"type": "function_call", "id": call.id, "name": call.name, "arguments": call.arguments}
    return {key: item for key, item in made.items() if key != "id" or item is not None}


def payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Made]:
    """Yield the payloads of a stream's events.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("v1_1", "sim"))
    >>> [payload["event_type"] for payload in made][:2]
    ['interaction.created', 'interaction.status_update']
    """
    yield _event("interaction.created", interaction=interaction(envelope))
    told = {"interaction_id": envelope.id, "status": "in_progress"}
    yield _event("interaction.status_update", **told)
    size = step.event_chars or envelope.token_chars
    said = [] if step.error and not reply.text else steps(reply, envelope)
    written = (_step(index, made, size, reply.shape) for index, made in enumerate(said))
    cut_short = step.ending in CUT_SHORT or bool(step.error) or reply.finish is None
    yield from parts_in_turn(written, reply.shape, cut_short=cut_short)
    if step.error:
        yield _event("error", **dict(ERRORS[step.error].document))
    elif step.ending not in CUT_SHORT and step.ending is not Ending.NO_FINISH:
        yield _event("interaction.completed", interaction=_finished(reply, step, envelope))


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


def _output_deltas(made: Made, size: int) -> Opened:
    part = made["content"][0]
    deltas: list[Made] = [{"type": "text", "text": p} for p in pieces(part["text"], size)]
    if "annotations" in part:
        deltas.append({"type": "text_annotation_delta", "annotations": part["annotations"]})
    return {"type": "model_output"}, deltas


def _thought_deltas(made: Made, size: int) -> Opened:
    said = "".join(part["text"] for part in made.get("summary", ()))
    deltas: list[Made] = [
        {"type": "thought_summary", "content": {"type": "text", "text": p}}
        for p in pieces(said, size)
    ]
    if "signature" in made:
        deltas.append({"type": "thought_signature", "signature": made["signature"]})
    return {"type": "thought"}, deltas


def _call_deltas(made: Made, size: int) -> Opened:
    raw = made["arguments"]
    given = pieces(raw, size) if isinstance(raw, str) else [raw]
    deltas = [{"type": "arguments_delta", "arguments": piece} for piece in given]
    return made | {"arguments": {}}, deltas


def _server_deltas(made: Made, size: int) -> Opened:
    inner = {key: item for key, item in made.items() if key not in ("id", "call_id")}
    empty: Made = {"arguments": {}} if "arguments" in made else {"result": []}
    return made | empty, [inner]


_OPENED: Final[Mapping[str, Callable[[Made, int], Opened]]] = {
    "model_output": _output_deltas,
    "thought": _thought_deltas,
    "function_call": _call_deltas,
    "google_search_call": _server_deltas,
    "google_search_result": _server_deltas,
}
"""A step as it begins, and what follows until its end."""

ODDITIES: Final[Mapping[Odd, Callable[[list[Made]], list[Made]]]] = {
    Odd.FINISH_REPEATED: end_again,
    Odd.UNKNOWN_EVENT: partial(in_the_middle, odd=_event("interaction.sim_garbage")),
}
