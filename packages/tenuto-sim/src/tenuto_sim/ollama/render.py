"""Write a reply: as one document, or as one per line, the last of which is `done`.

Keys are those of answers recorded in 2025 and 2026. Each oddity is a small function over the list
of documents, chosen by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tenuto_sim.case import Ending, Odd, Shape, Step
from tenuto_sim.envelope import Envelope
from tenuto_sim.ollama.errors import ERRORS
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import decoded, end_again, end_before, pieces

Document = dict[str, Any]
Say = Callable[[str, Mapping[str, Any]], Document]
"""Puts the model's text, and what stands beside it, into a document."""

CREATED: Final = "2026-09-21T13:33:20.000000001Z"
TOKEN_NS: Final = 20_000_000


def in_message(text: str, more: Mapping[str, Any]) -> Document:
    """Return the content of an answer to messages.

    >>> in_message("Hi.", {})
    {'message': {'role': 'assistant', 'content': 'Hi.'}}
    """
    return {"message": {"role": "assistant", "content": text, **more}}


def in_response(text: str, more: Mapping[str, Any]) -> Document:
    """Return the content of an answer to a prompt.

    >>> in_response("Hi.", {"thinking": "Hm."})
    {'response': 'Hi.', 'thinking': 'Hm.'}
    """
    return {"response": text, **more}


def document(reply: Reply, step: Step, envelope: Envelope, say: Say = in_message) -> Document:
    """Return the answer to a request without streaming.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> made["message"], made["done"], made["done_reason"], made["eval_count"]
    ({'role': 'assistant', 'content': 'Hi.'}, True, 'stop', 1)
    """
    more: Document = {"thinking": reply.reasoning} if reply.reasoning else {}
    if reply.calls:
        more["tool_calls"] = [_call(n, c, step.shape) for n, c in enumerate(reply.calls)]
    return _headed(envelope, say(reply.text or "", more)) | _done(reply, step)


def payloads(
    reply: Reply, step: Step, envelope: Envelope, say: Say = in_message
) -> Iterator[Document]:
    """Yield the documents of a stream.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> [document["done"] for document in made]
    [False, True]
    """
    for said in _pieces(reply, step, envelope.token_chars, say):
        yield _headed(envelope, said) | {"done": False}
    ends = reply.finish is not None or step.ending is Ending.NO_FINISH
    if step.error:
        yield dict(ERRORS[step.error].document)
    elif ends or step.ending is Ending.COUNT_ALONE:
        done = step.ending not in (Ending.COUNT_ALONE, Ending.NO_DONE)
        yield _headed(envelope, say("", {})) | _done(reply, step) | {"done": done}


def _headed(envelope: Envelope, said: Document) -> Document:
    return {"model": envelope.model, "created_at": CREATED, **said}


def _done(reply: Reply, step: Step) -> Document:
    stop = "stop" if reply.finish == "tool_calls" else reply.finish  # no stop names calls
    made: Document = {} if stop is None else {"done_reason": stop}
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


ODDITIES: Final[Mapping[Odd, Callable[[list[Document]], list[Document]]]] = {
    Odd.FINISH_REPEATED: end_again,
    Odd.FINISH_CONFLICT: partial(end_again, done_reason="length"),
    Odd.CONTENT_AFTER_FINISH: partial(end_before, pieces=1),
}
