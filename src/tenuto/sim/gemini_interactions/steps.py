"""What a reply consists of on this wire: steps, a status, the usage.

Key sets are those of the documentation's examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Search
from tenuto.sim.envelope import Envelope
from tenuto.sim.gemini_interactions.errors import FAILED
from tenuto.sim.gemini_interactions.seals import signature, token
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Call, Reply

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
"""Status, by the finish of a step; any other is a status as it stands."""


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
    """Return the keys that say how an interaction ended.

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
    """Return the usage object of a reply; thoughts are no output here.

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
    """Return the steps of a reply; a call's arguments are still what the reply holds.

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
