"""What a reply consists of on this wire: content blocks, its stop, its usage.

Key sets are those of answers recorded in 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.anthropic_messages.seals import SUMMARY, cipher, signature
from tenuto.sim.case import Search, Shape, Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.prose import key_of
from tenuto.sim.reply import Call, Reply

Block = dict[str, Any]

STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_REFUSED: Final = {
    "type": "refusal",
    "category": "cyber",
    "explanation": "This request could enable cyber harm.",
}


def stop_of(reply: Reply, step: Step) -> str | None:
    """Return the stop reason of a reply in this wire's words.

    >>> stop_of(Reply("Hi.", (), "length", 3, 1), Step())
    'max_tokens'
    """
    finish = reply.finish
    if finish is None:
        return None
    if reply.refusal is not None:
        return "refusal"
    if step.context_window_tokens and finish == "length":
        return "model_context_window_exceeded"
    stop = STOPS.get(finish.lower())
    if stop is None:
        return finish
    return stop.upper() if finish.isupper() else stop


def ending(reply: Reply, step: Step) -> dict[str, Any]:
    """Return the three keys that say how a message ended.

    >>> ending(Reply("Hi.", (), "stop", 3, 1), Step())["stop_sequence"] is None
    True
    """
    stop = stop_of(reply, step)
    return {
        "stop_reason": stop,
        "stop_sequence": reply.stop_sequence if stop == "stop_sequence" else None,
        "stop_details": _REFUSED if stop == "refusal" else None,
    }


def message(reply: Reply, envelope: Envelope) -> dict[str, Any]:
    """Return a message without content and without an end.

    >>> message(Reply("Hi.", (), "stop", 3, 1), Envelope("msg_1", "sim"))["role"]
    'assistant'
    """
    return {
        "id": envelope.id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": usage(reply),
    }


def usage(reply: Reply) -> dict[str, Any]:
    """Return the usage object of a whole message.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))["output_tokens"]
    1
    """
    made: dict[str, Any] = {
        "input_tokens": reply.prompt_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": reply.completion_tokens,
        "service_tier": "standard",
        "inference_geo": "not_available",
    }
    return made | _details(reply)


def usage_at_the_end(reply: Reply) -> dict[str, Any]:
    """Return the cumulative usage of the event that holds the stop.

    >>> usage_at_the_end(Reply("Hi.", (), "stop", 3, 1))["input_tokens"]
    3
    """
    made = {
        "input_tokens": reply.prompt_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": reply.completion_tokens,
    }
    return made | _details(reply)


def _details(reply: Reply) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if reply.reasoning_tokens:
        made["output_tokens_details"] = {"thinking_tokens": reply.reasoning_tokens}
    if reply.search is not Search.NONE:
        made["server_tool_use"] = {"web_search_requests": 1, "web_fetch_requests": 0}
    return made


def blocks(reply: Reply, envelope: Envelope) -> list[Block]:
    """Return the content of a reply; a call's `input` is still what the reply holds: its raw text.

    >>> blocks(Reply("Hi.", (), "stop", 3, 1), Envelope("msg_1", "sim"))
    [{'type': 'text', 'text': 'Hi.'}]
    """
    out: list[Block] = []
    if reply.reasoning:
        # Cut inside of the thoughts: the provider signs at their end, which never came.
        seal = signature(reply.reasoning) if reply.reasoning_whole else ""
        out.append({"type": "thinking", "thinking": reply.reasoning, "signature": seal})
    if reply.compacted:
        summary = SUMMARY + reply.compacted
        sealed = {"content": summary, "encrypted_content": cipher(summary)}
        out.append({"type": "compaction"} | sealed)
    found = _search(envelope) if reply.search is not Search.NONE else []
    if reply.search is Search.BEFORE:
        out += found
    if reply.text:
        cited = {"citations": [_citation(found[1])]} if reply.search is Search.BEFORE else {}
        out.append(cited | {"type": "text", "text": reply.text})
    if reply.search is Search.AFTER:
        out += found
    return out + [_call(call, reply.shape) for call in reply.calls]


def _call(call: Call, shape: Shape) -> Block:
    made = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
    if shape is Shape.NO_ID:
        del made["id"]
    return made


def _search(envelope: Envelope) -> list[Block]:
    call_id = "srvtoolu_" + key_of("search", envelope.id)
    url = f"https://example.com/{key_of('page', envelope.id)[:8]}"
    result = {
        "type": "web_search_result",
        "title": "Notes of the harbour",
        "url": url,
        "encrypted_content": cipher(url),
        "page_age": None,
    }
    call = {"type": "server_tool_use", "id": call_id, "name": "web_search"}
    return [
        call | {"input": {"query": "harbour notes"}},
        {"type": "web_search_tool_result", "tool_use_id": call_id, "content": [result]},
    ]


def _citation(result: Block) -> dict[str, Any]:
    page = result["content"][0]
    return {
        "type": "web_search_result_location",
        "cited_text": "Notes of the harbour.",
        "url": page["url"],
        "title": page["title"],
        "encrypted_index": cipher(page["url"]),
    }
