"""Write a reply: as content blocks in one message, or as a stream of named events.

Keys are those of answers recorded in 2026.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tenuto_sim.anthropic_messages.errors import ERRORS
from tenuto_sim.anthropic_messages.seals import SUMMARY, cipher, signature
from tenuto_sim.case import CUT_SHORT, Ending, Odd, Search, Shape, Step
from tenuto_sim.envelope import Envelope
from tenuto_sim.prose import key_of
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import (
    decoded,
    end_again,
    end_before,
    in_the_middle,
    parts_in_turn,
    pieces,
    place,
    stop_in,
)

Block = dict[str, Any]

STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
STOP: Final = {"type": "message_stop"}
BROKEN: Final = ("content_block_delta", '{"type":"content_block_delta",')
_PING: Final = {"type": "ping"}
_REFUSED: Final = {
    "type": "refusal",
    "category": "cyber",
    "explanation": "This request could enable cyber harm.",
}


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without `stream`.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("msg_1", "sim"))
    >>> made["content"], made["stop_reason"]
    ([{'type': 'text', 'text': 'Hi.'}], 'end_turn')
    """
    content = blocks(reply, envelope)
    for block in content:
        if block["type"] == "tool_use":
            block["input"] = decoded(block["input"])
    made = message(reply, envelope) | {"content": content} | ending(reply, step)
    if not step.usage:
        del made["usage"]
    return made


def ending(reply: Reply, step: Step) -> dict[str, Any]:
    """Return the three keys for the end of a message.

    >>> ending(Reply("Hi.", (), "stop", 3, 1), Step())["stop_sequence"] is None
    True
    """
    stop = stop_in(STOPS, reply, step, "refusal")
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
    """Return the cumulative usage of the event with the stop.

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
    """Return the content of a reply. A call's `input` is still the raw text in the reply.

    >>> blocks(Reply("Hi.", (), "stop", 3, 1), Envelope("msg_1", "sim"))
    [{'type': 'text', 'text': 'Hi.'}]
    """
    out: list[Block] = []
    if reply.reasoning:
        # Cut within the thinking: the provider signs only at its end.
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


def payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Block]:
    """Yield the payloads of a stream's events.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("msg_1", "sim"))
    >>> [payload["type"] for payload in made][:3]
    ['message_start', 'content_block_start', 'ping']
    """
    start = message(reply, envelope)
    start["usage"] |= {"output_tokens": 1}
    for late in ("output_tokens_details", "server_tool_use"):
        start["usage"].pop(late, None)
    yield {"type": "message_start", "message": start}
    size = step.event_chars or envelope.token_chars
    cut_short = step.ending in CUT_SHORT or bool(step.error)
    written = (_block(n, b, size, reply.shape) for n, b in enumerate(blocks(reply, envelope)))
    body = list(parts_in_turn(written, reply.shape, cut_short=cut_short))
    yield from body[:1]
    yield _PING
    yield from body[1:]
    if step.error:
        yield dict(ERRORS[step.error].document)
    elif not cut_short:
        usage = usage_at_the_end(reply)
        yield {"type": "message_delta", "delta": ending(reply, step), "usage": usage}
    if step.ending not in CUT_SHORT and step.ending is not Ending.NO_DONE:
        yield STOP


def _block(index: int, block: Block, size: int, shape: Shape) -> Iterator[Block]:
    at = place("index", index, shape)
    opening, deltas = _opened(block, size)
    yield {"type": "content_block_start", **at, "content_block": opening}
    for delta in deltas:
        yield {"type": "content_block_delta", **at, "delta": delta}
    yield {"type": "content_block_stop", **at}


def _opened(block: Block, size: int) -> tuple[Block, list[Block]]:
    """Return a block as it begins, and what is added to it."""
    match block["type"]:
        case "text":
            said = _pieces("text_delta", "text", block["text"], size)
            cited = [
                {"type": "citations_delta", "citation": citation}
                for citation in block.get("citations", ())
            ]
            empty: Block = {"citations": []} if cited else {}
            return empty | {"type": "text", "text": ""}, [*said, *cited]
        case "thinking":
            thought = _pieces("thinking_delta", "thinking", block["thinking"], size)
            if block["signature"]:
                thought.append({"type": "signature_delta", "signature": block["signature"]})
            return block | {"thinking": "", "signature": ""}, thought
        case "tool_use" | "server_tool_use" if isinstance(block["input"], str):
            return block | {"input": {}}, _input(block["input"], size)
        case "server_tool_use":
            return block | {"input": {}}, _input(json.dumps(block["input"]), size)
        case "compaction":
            return dict.fromkeys(block) | {"type": "compaction"}, [
                block | {"type": "compaction_delta"}
            ]
        case _:  # complete at once: results of the provider's tools, and decoded inputs
            return block, []


def _input(raw: str, size: int) -> list[Block]:
    # The provider begins with an empty piece.
    empty = {"type": "input_json_delta", "partial_json": ""}
    return [empty, *_pieces("input_json_delta", "partial_json", raw, size)]


def _pieces(type_: str, name: str, text: str, size: int) -> list[Block]:
    return [{"type": type_, name: piece} for piece in pieces(text, size)]


def _without_usage(payloads: list[Block]) -> list[Block]:
    end = {key: value for key, value in payloads[-1].items() if key != "usage"}
    return [*payloads[:-1], end]


def _but_for_stop(
    odd: Callable[[list[Block]], list[Block]],
) -> Callable[[list[Block]], list[Block]]:
    """Change the events before the last one, which only marks the end."""
    return lambda payloads: [*odd(payloads[:-1]), STOP] if payloads[-1] == STOP else odd(payloads)


_UNKNOWN: Final = {"type": "sim_garbage", "note": "nothing that a client knows"}
_BEFORE_STOP: Final[Mapping[Odd, Callable[[list[Block]], list[Block]]]] = {
    Odd.FINISH_REPEATED: end_again,
    Odd.FINISH_CONFLICT: partial(end_again, delta={"stop_reason": "max_tokens"}),
    # The last pieces of the last block come after the event with the stop.
    Odd.CONTENT_AFTER_FINISH: partial(end_before, pieces=4, head=1),
    Odd.USAGE_AFTER_FINISH: partial(end_again, delta={"stop_reason": None}),
    Odd.PINGS: lambda payloads: [q for p in payloads for q in (_PING, _PING, _PING, p)],
    Odd.UNKNOWN_EVENT: partial(in_the_middle, odd=_UNKNOWN),
    Odd.USAGE_MISSING: _without_usage,
}
ODDITIES: Final[Mapping[Odd, Callable[[list[Block]], list[Block]]]] = {
    **{odd: _but_for_stop(change) for odd, change in _BEFORE_STOP.items()},
    Odd.DOUBLE_DONE: lambda payloads: [*payloads, STOP],
}
