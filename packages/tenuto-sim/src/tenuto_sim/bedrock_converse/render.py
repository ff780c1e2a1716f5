"""Write a reply: as content blocks in one document, or as a stream of named events.

Keys are those of answers recorded in 2026. In a stream, text begins without an event of its own,
and the usage comes after the stop.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tenuto_sim.anthropic_messages.seals import signature
from tenuto_sim.bedrock_converse.errors import ERRORS, kind_of
from tenuto_sim.case import CUT_SHORT, Ending, Odd, Shape, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.framing import Event
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import decoded, in_the_middle, parts_in_turn, pieces, place, stop_in

Block = dict[str, Any]
Named = tuple[str, dict[str, Any]]

STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
BROKEN: Final = ("contentBlockDelta", '{"contentBlockIndex":0,')
_PADDING: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
GUARDRAIL: Final = "guardrail_intervened"
_GUARDED: Final = "Sorry, the model cannot answer this question."


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without streaming.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> made["output"]["message"]["content"], made["stopReason"]
    ([{'text': 'Hi.'}], 'end_turn')
    """
    content = blocks(reply)
    for block in content:
        if "toolUse" in block:
            block["toolUse"]["input"] = decoded(block["toolUse"]["input"])
    made = {
        "metrics": {"latencyMs": 7},
        "output": {"message": {"content": content, "role": "assistant"}},
        "stopReason": _stop(reply, step),
        "usage": usage(reply),
    } | trace(reply)
    if not step.usage:
        del made["usage"]
    return made


def _stop(reply: Reply, step: Step) -> str | None:
    return stop_in(STOPS, reply, step, "content_filtered")


def trace(reply: Reply) -> dict[str, Any]:
    """Return what a guardrail reports; nothing if none intervened.

    >>> trace(Reply("Hi.", (), "stop", 3, 1))
    {}
    """
    if reply.finish != GUARDRAIL:
        return {}
    policy = {"topics": [{"name": "harbours", "type": "DENY", "action": "BLOCKED"}]}
    assessed = {"sim0guardrail": [{"topicPolicy": policy}]}
    return {"trace": {"guardrail": {"outputAssessments": assessed, "actionReason": "Blocked."}}}


def usage(reply: Reply) -> dict[str, Any]:
    """Return the usage object.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))
    {'inputTokens': 3, 'outputTokens': 1, 'totalTokens': 4}
    """
    said, asked = reply.completion_tokens, reply.prompt_tokens
    return {"inputTokens": asked, "outputTokens": said, "totalTokens": asked + said}


def blocks(reply: Reply) -> list[Block]:
    """Return the content of a reply. A call's `input` is still the raw text in the reply.

    >>> blocks(Reply("Hi.", (), "stop", 3, 1))
    [{'text': 'Hi.'}]
    """
    out: list[Block] = []
    if reply.reasoning:
        # Cut within the thinking: the provider signs only at its end.
        seal = {"signature": signature(reply.reasoning)} if reply.reasoning_whole else {}
        out.append({"reasoningContent": {"reasoningText": {"text": reply.reasoning} | seal}})
    text = _GUARDED if reply.finish == GUARDRAIL else reply.refusal or reply.text
    if text:
        out.append({"text": text})
    return out + [_call(call, reply.shape) for call in reply.calls]


def _call(call: Call, shape: Shape) -> Block:
    name = {} if shape is Shape.NO_ID else {"toolUseId": call.id}
    return {"toolUse": name | {"name": call.name, "input": call.arguments}}


def payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Named]:
    """Yield the payloads of a stream's events, with their names.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> [name for name, _ in made]
    ['messageStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata']
    """
    yield "messageStart", {"role": "assistant"}
    size = step.event_chars or envelope.token_chars
    cut_short = step.ending in CUT_SHORT or bool(step.error)
    written = (_block(n, block, size, reply.shape) for n, block in enumerate(blocks(reply)))
    yield from parts_in_turn(written, reply.shape, cut_short=cut_short)
    if step.error:
        error = ERRORS[step.error]
        yield kind_of(error), dict(error.document)
    elif not cut_short:
        yield from _end(reply, step)


def event(named: Named, number: int) -> Event:
    """Return the padded event of a payload."""
    name, payload = named
    return name, dump(payload | {"p": _PADDING[: 4 + number * 7 % 58]})


def _end(reply: Reply, step: Step) -> Iterator[Named]:
    if step.ending is not Ending.NO_FINISH:
        yield "messageStop", {"stopReason": _stop(reply, step)}
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
    """Move the last pieces of the last block after the event with the stop."""
    at = _of(named, "messageStop")
    begin = max(1, at - 4)
    return [*named[:begin], named[at], *named[begin:at], *named[at + 1 :]]


def _each_piece_a_block(named: list[Named]) -> list[Named]:
    """Make each piece of text a block of its own, as Nova writes it."""
    out: list[Named] = []
    index, stopped = 0, False
    for name, payload in named:
        if name == "contentBlockStop" and stopped:
            continue
        at = {"contentBlockIndex": index} if name.startswith("contentBlock") else {}
        out.append((name, payload | at))
        stopped = name == "contentBlockDelta" and "text" in payload["delta"]
        if stopped:
            out.append(("contentBlockStop", at))
        index += stopped or name == "contentBlockStop"
    return out


_UNKNOWN: Final[Named] = ("simGarbage", {"note": "nothing that is known"})
ODDITIES: Final[Mapping[Odd, Callable[[list[Named]], list[Named]]]] = {
    Odd.FINISH_REPEATED: _stop_again,
    Odd.FINISH_CONFLICT: partial(_stop_again, stop="max_tokens"),
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.UNKNOWN_EVENT: lambda named: in_the_middle(named, _UNKNOWN),
    Odd.MANY_BLOCKS: _each_piece_a_block,
}
