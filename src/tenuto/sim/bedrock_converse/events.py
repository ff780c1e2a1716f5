"""How a reply is written as a stream of named events.

Text begins without an event of its own, and the usage comes behind the stop. Oddities are small
functions over the list of events, chosen by name, so that each stands for itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.bedrock_converse.blocks import Block, blocks, stop_of, trace, usage
from tenuto.sim.bedrock_converse.errors import ERRORS, kind_of
from tenuto.sim.case import Ending, Odd, Shape, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.reply import Reply
from tenuto.sim.writing import CUT_SHORT, in_the_middle, pieces, place, together

_PADDING: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

Named = tuple[str, dict[str, Any]]


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> [name for name, _ in made]
    ['messageStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata']
    """
    named = list(_named(reply, step, envelope))
    if step.odd in _ODDITIES:
        named = _ODDITIES[step.odd](named)
    events = [(name, _padded(payload, n)) for n, (name, payload) in enumerate(named)]
    if step.odd is Odd.NOT_JSON:
        events = in_the_middle(events, ("contentBlockDelta", '{"contentBlockIndex":0,'))
    return events


def _padded(payload: dict[str, Any], number: int) -> str:
    return dump(payload | {"p": _PADDING[: 4 + number * 7 % 58]})


def _named(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Named]:
    yield "messageStart", {"role": "assistant"}
    size = step.event_chars or envelope.token_chars
    cut_short = step.ending in CUT_SHORT or bool(step.error)
    written = [
        list(_block(index, block, size, reply.shape)) for index, block in enumerate(blocks(reply))
    ]
    if cut_short and written:
        written[-1].pop()  # the block that was under way is not closed
    yield from together(written, reply.shape)
    if step.error:
        error = ERRORS[step.error]
        yield kind_of(error), dict(error.document)
    elif not cut_short:
        yield from _end(reply, step)


def _end(reply: Reply, step: Step) -> Iterator[Named]:
    if step.ending is not Ending.NO_FINISH:
        yield "messageStop", {"stopReason": stop_of(reply, step)}
    if step.ending is not Ending.NO_DONE:
        counted = {"usage": usage(reply)} if step.usage else {}
        yield "metadata", counted | {"metrics": {"latencyMs": 7}} | trace(reply)


def _block(index: int, block: Block, size: int, shape: Shape) -> Iterator[Named]:
    at = place("contentBlockIndex", index, shape)
    if "toolUse" in block:
        call = {k: v for k, v in block["toolUse"].items() if k != "input"}
        yield "contentBlockStart", {**at, "start": {"toolUse": call}}
    for delta in _deltas(block, size):
        yield "contentBlockDelta", {**at, "delta": delta}
    yield "contentBlockStop", dict(at)


def _deltas(block: Block, size: int) -> Iterator[Block]:
    if "text" in block:
        yield from ({"text": piece} for piece in pieces(block["text"], size))
    elif "reasoningContent" in block:
        thought = block["reasoningContent"]["reasoningText"]
        for piece in pieces(thought["text"], size):
            yield {"reasoningContent": {"text": piece}}
        if "signature" in thought:
            yield {"reasoningContent": {"signature": thought["signature"]}}
    else:
        raw = block["toolUse"]["input"]
        text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
        yield {"toolUse": {"input": ""}}
        yield from ({"toolUse": {"input": piece}} for piece in pieces(text, size))


def _of(named: list[Named], name: str) -> int:
    return next(i for i, event in enumerate(named) if event[0] == name)


def _stop_again(named: list[Named], stop: str = "") -> list[Named]:
    at = _of(named, "messageStop")
    again = dict(named[at][1]) | ({"stopReason": stop} if stop else {})
    return [*named[: at + 1], ("messageStop", again), *named[at + 1 :]]


def _late_content(named: list[Named]) -> list[Named]:
    """The last pieces of the last block come behind the event that holds the stop."""
    at = _of(named, "messageStop")
    begin = max(1, at - 4)
    return [*named[:begin], named[at], *named[begin:at], *named[at + 1 :]]


def _with_unknown(named: list[Named]) -> list[Named]:
    return in_the_middle(named, ("simGarbage", {"note": "nothing that is known"}))


def _each_piece_a_block(named: list[Named]) -> list[Named]:
    """Each piece of text is a block of its own, as Nova writes it."""
    out: list[Named] = []
    index = 0
    for name, payload in named:
        if name == "contentBlockDelta":
            out.append((name, payload | {"contentBlockIndex": index}))
            out.append(("contentBlockStop", {"contentBlockIndex": index}))
            index += 1
        elif name != "contentBlockStop":
            out.append((name, payload))
    return out


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Named]], list[Named]]]] = {
    Odd.FINISH_REPEATED: _stop_again,
    Odd.FINISH_CONFLICT: lambda named: _stop_again(named, "max_tokens"),
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.UNKNOWN_EVENT: _with_unknown,
    Odd.MANY_BLOCKS: _each_piece_a_block,
}
