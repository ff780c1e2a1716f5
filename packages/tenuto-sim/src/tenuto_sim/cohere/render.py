"""Write a reply: as one JSON document, or as a list of named events.

Keys and their order are those of answers recorded in 2026. Each oddity is a small function over the
list of events, chosen by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tenuto_sim.case import CUT_SHORT, Ending, Odd, Shape, Step
from tenuto_sim.cohere.errors import ERRORS
from tenuto_sim.envelope import Envelope
from tenuto_sim.openai_chat.render import body_call
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import end_again, end_before, in_the_middle, pieces, place, together

BROKEN: Final = ("content-delta", '{"type":"content-delta",')
STOPS: Final[Mapping[str, str]] = {
    "stop": "COMPLETE",
    "length": "MAX_TOKENS",
    "tool_calls": "TOOL_CALL",
    "content_filter": "ERROR_TOXIC",
    "stop_sequence": "STOP_SEQUENCE",
    "error": "ERROR",
}

Payload = dict[str, Any]


def usage(reply: Reply) -> Payload:
    """Return the usage object of a reply. Tokens that the provider adds are not billed.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))["tokens"]
    {'input_tokens': 3, 'output_tokens': 1}
    """
    said = {"input_tokens": reply.prompt_tokens, "output_tokens": reply.completion_tokens}
    thought = {"reasoning_tokens": reply.reasoning_tokens} if reply.reasoning_tokens else {}
    return {"billed_units": said, "tokens": said | thought, "cached_tokens": 0}


def document(reply: Reply, step: Step, envelope: Envelope) -> Payload:
    """Return the answer to a request without `stream`.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> made["message"]["content"], made["finish_reason"]
    ([{'type': 'text', 'text': 'Hi.'}], 'COMPLETE')
    """
    message: Payload = {"role": "assistant"}
    content = [{"type": kind, kind: text} for kind, text in _content(reply)]
    if content:
        message["content"] = content
    if reply.calls:
        message["tool_calls"] = [body_call(call, reply.shape) for call in reply.calls]
    made = {"id": envelope.id, "message": message, "finish_reason": _stop(reply)}
    if step.ending is Ending.NO_FINISH:
        del made["finish_reason"]
    return made | ({"usage": usage(reply)} if step.usage else {})


def _stop(reply: Reply) -> str | None:
    return STOPS.get(reply.finish or "", reply.finish)


def _content(reply: Reply) -> list[tuple[str, str]]:
    parts = [("thinking", reply.reasoning), ("text", reply.text or "")]
    return [(kind, text) for kind, text in parts if text]


def payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Payload]:
    """Yield the payloads of a stream's events.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> [payload["type"] for payload in made][:2]
    ['message-start', 'content-start']
    """
    size = step.event_chars or envelope.token_chars
    nothing: Payload = {"content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    start = {"role": "assistant"} | nothing
    yield {"id": envelope.id} | _piece("message-start", {}, **start)
    for index, (kind, text) in enumerate(_content(reply)):
        yield _piece("content-start", {"index": index}, content={"type": kind, kind: ""})
        for said in pieces(text, size):
            yield _piece("content-delta", {"index": index}, content={kind: said})
        if step.ending not in CUT_SHORT:
            yield {"type": "content-end", "index": index}
    written = [list(_call_events(n, c, reply.shape, size)) for n, c in enumerate(reply.calls)]
    yield from together(written, reply.shape)
    if step.ending in CUT_SHORT:
        return
    end: Payload = {"finish_reason": _stop(reply)}
    if step.ending is Ending.NO_FINISH:
        end = {}
    if step.error:
        end = {"error": ERRORS[step.error].document["message"], "finish_reason": "ERROR"}
    if step.usage:
        end["usage"] = usage(reply)
    yield {"type": "message-end", "delta": end}


def _piece(kind: str, at: Payload, **said: Any) -> Payload:
    return {"type": kind, **at, "delta": {"message": said}}


def _call_events(number: int, call: Call, shape: Shape, size: int) -> Iterator[Payload]:
    raw = call.arguments
    at = place("index", number, shape)
    begun = body_call(replace(call, arguments="" if isinstance(raw, str) else raw), shape)
    yield _piece("tool-call-start", at, tool_calls=begun)
    for said in pieces(raw if isinstance(raw, str) else "", size):
        yield _piece("tool-call-delta", at, tool_calls={"function": {"arguments": said}})
    yield {"type": "tool-call-end", **at}


def _late_usage(payloads: list[Payload]) -> list[Payload]:
    end = payloads[-1]["delta"]
    stop = {"type": "message-end", "delta": {"finish_reason": end["finish_reason"]}}
    return [*payloads[:-1], stop, {"type": "message-end", "delta": {"usage": end["usage"]}}]


_UNKNOWN: Final = {"type": "sim-garbage", "note": "nothing that a client knows"}
ODDITIES: Final[Mapping[Odd, Callable[[list[Payload]], list[Payload]]]] = {
    Odd.FINISH_REPEATED: end_again,
    Odd.FINISH_CONFLICT: partial(end_again, delta={"finish_reason": "MAX_TOKENS"}),
    # The last pieces of the last part come after the event with the stop.
    Odd.CONTENT_AFTER_FINISH: partial(end_before, pieces=4, head=1),
    Odd.USAGE_AFTER_FINISH: _late_usage,
    Odd.UNKNOWN_EVENT: partial(in_the_middle, odd=_UNKNOWN),
}
