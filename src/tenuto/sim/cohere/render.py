"""How a reply is written: one JSON document, or a list of named events.

Key sets and their order are those of answers recorded in 2026. Oddities are small functions over
the list of events, chosen by name, so that each stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.case import Ending, Odd, Shape, Step
from tenuto.sim.cohere.errors import ERRORS
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.reply import Call, Reply
from tenuto.sim.writing import CUT_SHORT, in_the_middle, pieces, place, together

DONE: Final = "[DONE]"
STOPS: Final[Mapping[str, str]] = {
    "stop": "COMPLETE",
    "length": "MAX_TOKENS",
    "tool_calls": "TOOL_CALL",
    "content_filter": "ERROR_TOXIC",
    "stop_sequence": "STOP_SEQUENCE",
    "error": "ERROR",
}

Payload = dict[str, Any]


def stop_of(reply: Reply) -> str | None:
    """Return the stop of a reply in this wire's words.

    >>> stop_of(Reply("Hi.", (), "length", 3, 1)), stop_of(Reply("Hi.", (), "odd", 3, 1))
    ('MAX_TOKENS', 'odd')
    """
    return STOPS.get(reply.finish, reply.finish) if reply.finish is not None else None


def usage(reply: Reply) -> Payload:
    """Return the usage object of a reply. What is billed leaves out what the provider adds.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))["tokens"]
    {'input_tokens': 3, 'output_tokens': 1}
    """
    said = {"input_tokens": reply.prompt_tokens, "output_tokens": reply.completion_tokens}
    thought = {"reasoning_tokens": reply.reasoning_tokens} if reply.reasoning_tokens else {}
    return {"billed_units": said, "tokens": said | thought, "cached_tokens": 0}


def render_body(reply: Reply, step: Step, envelope: Envelope) -> Payload:
    """Return the document that answers a request without `stream`.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> made["message"]["content"], made["finish_reason"]
    ([{'type': 'text', 'text': 'Hi.'}], 'COMPLETE')
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    message: Payload = {"role": "assistant"}
    content = [{"type": kind, kind: text} for kind, text in _content(reply)]
    if content:
        message["content"] = content
    if reply.calls:
        message["tool_calls"] = [_call(call, reply.shape) for call in reply.calls]
    document = {"id": envelope.id, "message": message, "finish_reason": stop_of(reply)}
    if step.ending is Ending.NO_FINISH:
        del document["finish_reason"]
    return document | ({"usage": usage(reply)} if step.usage else {})


def _content(reply: Reply) -> list[tuple[str, str]]:
    parts = [("thinking", reply.reasoning), ("text", reply.text or "")]
    return [(kind, text) for kind, text in parts if text]


def _call(call: Call, shape: Shape) -> Payload:
    function = {"name": call.name, "arguments": call.arguments}
    made = {"id": call.id, "type": "function", "function": function}
    for absent, name in ((Shape.NO_TYPE, "type"), (Shape.NO_ID, "id")):
        if shape is absent:
            del made[name]
    return made


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> [name for name, _ in made][:2], made[-1]
    (['message-start', 'content-start'], ('', '[DONE]'))
    """
    payloads = list(_payloads(reply, step, envelope))
    if step.odd in _ODDITIES:
        payloads = _ODDITIES[step.odd](payloads)
    events = [(payload["type"], dump(payload)) for payload in payloads]
    if step.odd is Odd.NOT_JSON:
        events = in_the_middle(events, ("content-delta", '{"type":"content-delta",'))
    if step.ending not in CUT_SHORT | {Ending.NO_DONE}:
        events += [("", DONE)] * (2 if step.odd is Odd.DOUBLE_DONE else 1)
    return events


def _payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Payload]:
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
    end: Payload = {"finish_reason": stop_of(reply)}
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
    begun = _call(call, shape)
    begun["function"] = {"name": call.name, "arguments": "" if isinstance(raw, str) else raw}
    yield _piece("tool-call-start", at, tool_calls=begun)
    for said in pieces(raw if isinstance(raw, str) else "", size):
        yield _piece("tool-call-delta", at, tool_calls={"function": {"arguments": said}})
    yield {"type": "tool-call-end", **at}


def _again(payloads: list[Payload], **changed: Any) -> list[Payload]:
    end = payloads[-1]
    return [*payloads, end | {"delta": end["delta"] | changed}]


def _late_content(payloads: list[Payload]) -> list[Payload]:
    """The last pieces of the last part come after the event that holds the stop."""
    at = max(1, len(payloads) - 5)
    return [*payloads[:at], payloads[-1], *payloads[at:-1]]


def _late_usage(payloads: list[Payload]) -> list[Payload]:
    end = payloads[-1]["delta"]
    stop = {"type": "message-end", "delta": {"finish_reason": end["finish_reason"]}}
    return [*payloads[:-1], stop, {"type": "message-end", "delta": {"usage": end["usage"]}}]


def _with_unknown(payloads: list[Payload]) -> list[Payload]:
    return in_the_middle(payloads, {"type": "sim-garbage", "note": "nothing that a client knows"})


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Payload]], list[Payload]]]] = {
    Odd.FINISH_REPEATED: _again,
    Odd.FINISH_CONFLICT: lambda payloads: _again(payloads, finish_reason="MAX_TOKENS"),
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.USAGE_AFTER_FINISH: _late_usage,
    Odd.UNKNOWN_EVENT: _with_unknown,
}
