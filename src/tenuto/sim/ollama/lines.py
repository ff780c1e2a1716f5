"""How a reply is written: one document, or one to a line, of which the last one is done.

Key sets are those of answers recorded in 2025 and 2026. Oddities are small functions over the list
of documents, chosen by name, so that each stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tenuto.sim.case import Ending, Framing, Odd, Shape, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.ollama.errors import ERRORS
from tenuto.sim.reply import Call, Reply
from tenuto.sim.writing import decoded, in_the_middle, pieces

Document = dict[str, Any]
Say = Callable[[str, Mapping[str, Any]], Document]
"""Where a document has what the model says: its text, and what stands beside it."""

STOPS: Final[Mapping[str, str]] = {"tool_calls": "stop"}
CREATED: Final = "2026-09-21T13:33:20.000000001Z"
TOKEN_NS: Final = 20_000_000


def in_message(text: str, more: Mapping[str, Any]) -> Document:
    """Return what an answer to messages says.

    >>> in_message("Hi.", {})
    {'message': {'role': 'assistant', 'content': 'Hi.'}}
    """
    return {"message": {"role": "assistant", "content": text, **more}}


def in_response(text: str, more: Mapping[str, Any]) -> Document:
    """Return what an answer to a prompt says.

    >>> in_response("Hi.", {"thinking": "Hm."})
    {'response': 'Hi.', 'thinking': 'Hm.'}
    """
    return {"response": text, **more}


def render_body(reply: Reply, step: Step, envelope: Envelope, say: Say = in_message) -> Document:
    """Return the document that answers a request without streaming.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> made["message"], made["done"], made["done_reason"], made["eval_count"]
    ({'role': 'assistant', 'content': 'Hi.'}, True, 'stop', 1)
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    more: Document = {"thinking": reply.reasoning} if reply.reasoning else {}
    if reply.calls:
        more["tool_calls"] = [_call(n, c, step.shape) for n, c in enumerate(reply.calls)]
    return _headed(envelope, say(reply.text or "", more)) | _done(reply, step)


def render_events(
    reply: Reply, step: Step, envelope: Envelope, say: Say = in_message
) -> list[Event]:
    """Return the documents of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> len(made), '"done":true' in made[-1][1]
    (2, True)
    """
    said = _pieces(reply, step, envelope.token_chars, say)
    documents = [_headed(envelope, one) | {"done": False} for one in said]
    if step.error:
        documents.append(dict(ERRORS[step.error].document))
    elif step.ending is Ending.COUNT_ALONE:
        counts = _done(reply, step) | {"done": False}
        documents.append(_headed(envelope, say("", {})) | counts)
    elif reply.finish is not None or step.ending is Ending.NO_FINISH:
        ended = {"done": step.ending is not Ending.NO_DONE}
        documents.append(_headed(envelope, say("", {})) | _done(reply, step) | ended)
    if step.odd is not None and step.odd in _ODDITIES:
        documents = _ODDITIES[step.odd](documents)
    events = [("", dump(document)) for document in documents]
    if step.odd is Odd.NOT_JSON:
        events = in_the_middle(events, ("", '{"model":"sim","message":{"role":'))
    return events


def frame(events: list[Event], framing: Framing) -> list[bytes]:
    r"""Return documents as they stand on the wire.

    >>> frame([("", "{}")], Framing.PLAIN), frame([("", "{}")], Framing.CRLF)
    ([b'{}\n'], [b'{}\r\n'])
    """
    end = "\r\n" if framing is Framing.CRLF else "\n"
    return [f"{payload}{end}".encode("utf-8", "replace") for _, payload in events]


def _headed(envelope: Envelope, said: Document) -> Document:
    return {"model": envelope.model, "created_at": CREATED, **said}


def _done(reply: Reply, step: Step) -> Document:
    made: Document = {} if reply.finish is None else {"done_reason": stop_of(reply)}
    made["done"] = True
    if not step.usage:
        return made
    return made | {
        "total_duration": (reply.prompt_tokens + reply.completion_tokens) * TOKEN_NS,
        "load_duration": TOKEN_NS,
        "prompt_eval_count": reply.prompt_tokens,
        "prompt_eval_duration": reply.prompt_tokens * TOKEN_NS,
        "eval_count": reply.completion_tokens,
        "eval_duration": reply.completion_tokens * TOKEN_NS,
    }


def stop_of(reply: Reply) -> str | None:
    """Return the stop of a reply in this wire's words: no stop names calls.

    >>> stop_of(Reply("", (), "tool_calls", 3, 1))
    'stop'
    """
    return None if reply.finish is None else STOPS.get(reply.finish, reply.finish)


def _pieces(reply: Reply, step: Step, token_chars: int, say: Say) -> Iterator[Document]:
    size = step.event_chars or token_chars
    thoughts, text = reply.reasoning, reply.text or ""
    yield from (say("", {"thinking": piece}) for piece in pieces(thoughts, size))
    yield from (say(piece, {}) for piece in pieces(text, size))
    for number, call in enumerate(() if step.error else reply.calls):
        yield say("", {"tool_calls": [_call(number, call, step.shape)]})


def _call(number: int, call: Call, shape: Shape) -> Document:
    arguments = None if call.arguments == "" else decoded(call.arguments)
    function = {"index": number, "name": call.name, "arguments": arguments}
    if shape is Shape.NO_INDEX:
        del function["index"]
    return ({} if call.id is None else {"id": call.id}) | {"function": function}


def _late_content(documents: list[Document]) -> list[Document]:
    """The end comes before the last line of text, where there is one."""
    return [*documents[:-2], documents[-1], *documents[-2:-1]]


_ODDITIES: Final[Mapping[Odd, Callable[[list[Document]], list[Document]]]] = {
    Odd.FINISH_REPEATED: lambda documents: [*documents, documents[-1]],
    Odd.FINISH_CONFLICT: lambda documents: [
        *documents,
        documents[-1] | {"done_reason": "length"},
    ],
    Odd.CONTENT_AFTER_FINISH: _late_content,
}
