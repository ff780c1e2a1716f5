"""What a reply consists of on this wire: output items, its status, its usage.

Key sets are those of answers recorded in 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Odd, Search, Shape, Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.openai_responses.errors import FAILED
from tenuto.sim.openai_responses.seals import cipher, item_id
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Call, Reply

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
"""Status and reason, by the finish of a step; any other is the reason of an incomplete response."""


def ending(reply: Reply) -> dict[str, Any]:
    """Return the keys that say how a response ended.

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
    """Return the output of a reply; a call's arguments are still what the reply holds.

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
    """Return whether thoughts took the place of the answer."""
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
    return {
        "id": id_,
        "type": "message",
        "status": "completed",
        "content": [part],
        "role": "assistant",
    }


def _call(id_: str, call: Call, shape: Shape) -> Item:
    made: Item = {
        "id": id_,
        "type": "function_call",
        "status": "completed",
        "arguments": call.arguments,
        "call_id": call.id,
        "name": call.name,
    }
    if shape is Shape.NO_ID:
        del made["call_id"]
    return made


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
