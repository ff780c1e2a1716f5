"""How a reply is written as a stream of named events.

Oddities are small functions over the list of events, chosen by name, so that each stands for
itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.anthropic_messages.blocks import (
    Block,
    blocks,
    ending,
    message,
    usage_at_the_end,
)
from tenuto.sim.anthropic_messages.errors import ERRORS
from tenuto.sim.case import Ending, Odd, Shape, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.reply import Reply
from tenuto.sim.writing import CUT_SHORT, in_the_middle, pieces, place, together

STOP: Final = {"type": "message_stop"}
_NO_STOP: Final = CUT_SHORT | {Ending.NO_DONE}
_PING: Final = {"type": "ping"}

Payload = dict[str, Any]


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("msg_1", "sim"))
    >>> [name for name, _ in made][:3], made[-1]
    (['message_start', 'content_block_start', 'ping'], ('message_stop', '{"type":"message_stop"}'))
    """
    payloads = list(_payloads(reply, step, envelope))
    if step.odd in _ODDITIES:
        payloads = _ODDITIES[step.odd](payloads)
    if step.ending not in _NO_STOP:
        payloads.append(STOP)
    if step.odd is Odd.DOUBLE_DONE:
        payloads.append(STOP)
    events = [(payload["type"], dump(payload)) for payload in payloads]
    if step.odd is Odd.NOT_JSON:
        odd = ("content_block_delta", '{"type":"content_block_delta",')
        events = in_the_middle(events, odd)
    return events


def _payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Payload]:
    start = message(reply, envelope)
    start["usage"] |= {"output_tokens": 1}
    for late in ("output_tokens_details", "server_tool_use"):
        start["usage"].pop(late, None)
    yield {"type": "message_start", "message": start}
    size = step.event_chars or envelope.token_chars
    cut_short = step.ending in CUT_SHORT or bool(step.error)
    written = [
        list(_block(index, block, size, reply.shape))
        for index, block in enumerate(blocks(reply, envelope))
    ]
    if cut_short and written:
        written[-1].pop()  # the block that was under way is not closed
    body = list(together(written, reply.shape))
    yield from body[:1]
    yield _PING
    yield from body[1:]
    if step.error:
        yield dict(ERRORS[step.error].document)
    elif not cut_short:
        yield _end(reply, step)


def _end(reply: Reply, step: Step) -> Payload:
    usage = usage_at_the_end(reply)
    return {"type": "message_delta", "delta": ending(reply, step), "usage": usage}


def _block(index: int, block: Block, size: int, shape: Shape) -> Iterator[Payload]:
    at = place("index", index, shape)
    opening, deltas = _opened(block, size)
    yield {"type": "content_block_start", **at, "content_block": opening}
    for delta in deltas:
        yield {"type": "content_block_delta", **at, "delta": delta}
    yield {"type": "content_block_stop", **at}


def _opened(block: Block, size: int) -> tuple[Block, list[Block]]:
    """Return a block as it begins, and what comes to it."""
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
        case _:  # whole from the start: results of the provider's tools, and inputs already decoded
            return block, []


def _input(raw: str, size: int) -> list[Block]:
    # The provider begins with an empty piece.
    empty = {"type": "input_json_delta", "partial_json": ""}
    return [empty, *_pieces("input_json_delta", "partial_json", raw, size)]


def _pieces(type_: str, name: str, text: str, size: int) -> list[Block]:
    return [{"type": type_, name: piece} for piece in pieces(text, size)]


def _again(payloads: list[Payload], **changed: Any) -> list[Payload]:
    end = payloads[-1]
    return [*payloads, end | {"delta": end["delta"] | changed}]


def _late_content(payloads: list[Payload]) -> list[Payload]:
    """The last pieces of the last block come after the event that holds the stop."""
    at = max(1, len(payloads) - 5)
    return [*payloads[:at], payloads[-1], *payloads[at:-1]]


def _with_unknown(payloads: list[Payload]) -> list[Payload]:
    return in_the_middle(payloads, {"type": "sim_garbage", "note": "nothing that a client knows"})


def _without_usage(payloads: list[Payload]) -> list[Payload]:
    end = {key: value for key, value in payloads[-1].items() if key != "usage"}
    return [*payloads[:-1], end]


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Payload]], list[Payload]]]] = {
    Odd.FINISH_REPEATED: _again,
    Odd.FINISH_CONFLICT: lambda payloads: _again(payloads, stop_reason="max_tokens"),
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.USAGE_AFTER_FINISH: lambda payloads: _again(payloads, stop_reason=None),
    Odd.PINGS: lambda payloads: [q for p in payloads for q in (_PING, _PING, _PING, p)],
    Odd.UNKNOWN_EVENT: _with_unknown,
    Odd.USAGE_MISSING: _without_usage,
}
