"""How a reply is written: one document, or one to a line, of which the last one says all again.

Shapes follow the types of the SDK, and lines that issues quote. What a call is made of comes in
pieces of text, and then decoded, as one; of a call that was cut only the pieces come. Oddities are
small functions over the list of documents, chosen by name, so that each stands for itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.case import Ending, Framing, Odd, Step
from tenuto.sim.cohere_v1.errors import ERRORS
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.reply import Call, Reply
from tenuto.sim.writing import decoded

STOPS: Final[Mapping[str, str]] = {
    "stop": "COMPLETE",
    "tool_calls": "COMPLETE",
    "length": "MAX_TOKENS",
    "content_filter": "ERROR_TOXIC",
    "stop_sequence": "STOP_SEQUENCE",
}
_CUT_SHORT: Final = {Ending.DROP, Ending.EOF, Ending.CUT_OFF, Ending.RESET}

Document = dict[str, Any]


def stop_of(reply: Reply) -> str | None:
    """Return the stop of a reply in this wire's words: no stop names calls.

    >>> stop_of(Reply("", (), "tool_calls", 3, 1)), stop_of(Reply("Hi.", (), "odd", 3, 1))
    ('COMPLETE', 'odd')
    """
    return STOPS.get(reply.finish, reply.finish) if reply.finish is not None else None


def render_body(reply: Reply, step: Step, envelope: Envelope) -> Document:
    """Return the document that answers a request without `stream`.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> made["text"], made["finish_reason"], made["chat_history"]
    ('Hi.', 'COMPLETE', [{'role': 'CHATBOT', 'message': 'Hi.'}])
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    return _answer(reply, step, envelope, [_call(call) for call in reply.calls])


def _answer(reply: Reply, step: Step, envelope: Envelope, calls: list[Document]) -> Document:
    text = reply.text or ""
    called = {"tool_calls": calls} if calls else {}
    said = {"role": "CHATBOT", "message": text} | called
    before = json.loads(envelope.prompt or "[]")
    document: Document = {
        "response_id": f"r-{envelope.id}",
        "text": text,
        "generation_id": envelope.id,
    }
    document |= {"chat_history": [*before, said], "finish_reason": stop_of(reply)} | called
    if step.ending is Ending.NO_FINISH:
        del document["finish_reason"]
    meta: Document = {"api_version": {"version": "1"}}
    if step.usage:
        used = {"input_tokens": reply.prompt_tokens, "output_tokens": reply.completion_tokens}
        meta |= {"billed_units": used, "tokens": used}
    return document | {"meta": meta}


def _call(call: Call) -> Document:
    return {"name": call.name, "parameters": decoded(call.arguments) if call.arguments else None}


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the documents of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> len(made), '"event_type":"stream-end"' in made[-1][1]
    (3, True)
    """
    documents = list(_documents(reply, step, envelope))
    if step.odd in _ODDITIES:
        documents = _ODDITIES[step.odd](documents)
    events = [("", dump(document)) for document in documents]
    if step.odd is Odd.NOT_JSON:
        events.insert(len(events) // 2, ("", '{"is_finished":false,"event_type":'))
    return events


def frame(events: list[Event], framing: Framing) -> list[bytes]:
    r"""Return documents as they stand on the wire.

    >>> frame([("", "{}")], Framing.PLAIN), frame([("", "{}")], Framing.CRLF)
    ([b'{}\n'], [b'{}\r\n'])
    """
    end = "\r\n" if framing is Framing.CRLF else "\n"
    return [f"{payload}{end}".encode("utf-8", "replace") for _, payload in events]


def _documents(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Document]:
    size, text = step.event_chars or envelope.token_chars, reply.text or ""
    yield _event("stream-start", generation_id=envelope.id)
    # What the model says before a call is told as a part of calling.
    kind = "tool-calls-chunk" if reply.calls else "text-generation"
    beside: Document = {"tool_call_delta": {}} if reply.calls else {}
    for at in range(0, len(text), size):
        yield _event(kind, text=text[at : at + size], **beside)
    for number, call in enumerate(reply.calls):
        raw = call.arguments if isinstance(call.arguments, str) else dump(call.arguments)
        yield _piece(index=number, name=call.name)
        for at in range(0, len(raw), size):
            yield _piece(index=number, parameters=raw[at : at + size])
    if step.ending in _CUT_SHORT:
        return
    calls = [_call(call) for call in reply.calls if _is_whole(call.arguments)]
    if calls:
        yield _event("tool-calls-generation", text=text, tool_calls=calls)
    if step.error:
        yield _failed(reply, step, envelope, str(ERRORS[step.error].document["message"]))
        return
    whole = _answer(reply, step, envelope, calls)
    stop = {"finish_reason": whole["finish_reason"]} if "finish_reason" in whole else {}
    yield _event("stream-end", finished=True, response=whole, **stop)


def _failed(reply: Reply, step: Step, envelope: Envelope, why: str) -> Document:
    whole = _answer(reply, step, envelope, []) | {"finish_reason": "ERROR"}
    return _event("stream-end", finished=True, response=whole, finish_reason="ERROR", error=why)


def _event(kind: str, *, finished: bool = False, **members: Any) -> Document:
    return {"is_finished": finished, "event_type": kind, **members}


def _piece(**delta: Any) -> Document:
    return _event("tool-calls-chunk", tool_call_delta=delta)


def _is_whole(arguments: Any) -> bool:
    """Return whether the server can read the arguments."""
    try:
        json.loads(arguments) if isinstance(arguments, str) else None
    except ValueError:
        return False
    return True


def _late_content(documents: list[Document]) -> list[Document]:
    """The end comes before the last piece of text, where there is one."""
    return [*documents[:-2], documents[-1], *documents[-2:-1]]


def _conflict(documents: list[Document]) -> list[Document]:
    return [*documents, documents[-1] | {"finish_reason": "MAX_TOKENS"}]


def _with_unknown(documents: list[Document]) -> list[Document]:
    middle = len(documents) // 2
    odd = _event("sim-garbage", note="nothing that a client knows")
    return [*documents[:middle], odd, *documents[middle:]]


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Document]], list[Document]]]] = {
    Odd.FINISH_REPEATED: lambda documents: [*documents, documents[-1]],
    Odd.FINISH_CONFLICT: _conflict,
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.UNKNOWN_EVENT: _with_unknown,
}
