"""How a reply is written: one document, or an event for each token, of which the last one says all
of the text once more.

Key sets are those of the server's own types. Oddities are small functions over the list of
documents, chosen by name, so that each stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tenuto.sim.case import Ending, Odd, Step
from tenuto.sim.envelope import Envelope, dump
from tenuto.sim.framing import Event
from tenuto.sim.reply import Reply
from tenuto.sim.tgi.errors import ERRORS
from tenuto.sim.writing import pieces

Document = dict[str, Any]

STOPS: Final[Mapping[str, str]] = {"stop": "eos_token"}


def render_body(reply: Reply, step: Step, envelope: Envelope) -> Document:
    """Return the document that answers a request for a whole body.

    >>> made = render_body(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> made
    {'generated_text': 'Hi.'}
    """
    if step.error:
        return dict(ERRORS[step.error].document)
    text = reply.text or ""
    made: Document = {"generated_text": envelope.prompt + text}
    if envelope.include_usage:
        tokens = _tokens(text, step.event_chars or envelope.token_chars)
        made["details"] = _details(reply, step) | {"prefill": [], "tokens": tokens}
        del made["details"]["input_length"]
    return made


def render_listed(reply: Reply, step: Step, envelope: Envelope) -> Document | list[Document]:
    """Return the same in a list, in which an error does not stand.

    >>> render_listed(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    [{'generated_text': 'Hi.'}]
    """
    made = render_body(reply, step, envelope)
    return made if step.error else [made]


def render_events(reply: Reply, step: Step, envelope: Envelope) -> list[Event]:
    """Return the payloads of the events of a stream, without their framing.

    >>> made = render_events(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> len(made), '"generated_text":"Hi."' in made[-1][1]
    (2, True)
    """
    text = reply.text or ""
    tokens = _tokens(text, step.event_chars or envelope.token_chars)
    ends = reply.finish is not None or step.ending is Ending.NO_FINISH
    if ends and (reply.finish != "length" or not tokens):
        tokens.append({"id": 2, "text": "</s>", "logprob": -0.125, "special": True})
    documents: list[Document] = [
        {"index": n, "token": token, "generated_text": None, "details": None}
        for n, token in enumerate(tokens, 1)
    ]
    if step.error:
        documents = [d for d in documents if not d["token"]["special"]]
        documents.append(dict(ERRORS[step.error].document))
    elif ends:
        documents[-1]["generated_text"] = envelope.prompt + text
        if envelope.include_usage and step.ending is not Ending.NO_FINISH:
            documents[-1]["details"] = _details(reply, step)
    if step.odd in _ODDITIES:
        documents = _ODDITIES[step.odd](documents)
    return [("", dump(document)) for document in documents]


def _tokens(text: str, size: int) -> list[Document]:
    return [
        {"id": 100 + n, "text": piece, "logprob": -0.125, "special": False}
        for n, piece in enumerate(pieces(text, size))
    ]


def _details(reply: Reply, step: Step) -> Document:
    made: Document = {"finish_reason": STOPS.get(reply.finish or "", reply.finish)}
    if step.usage:
        made["generated_tokens"] = reply.completion_tokens
    return made | {"seed": None, "input_length": reply.prompt_tokens}


def _again(documents: list[Document]) -> list[Document]:
    """The end comes twice; what came before is not said again."""
    token = {"id": 2, "text": "</s>", "logprob": -0.125, "special": True}
    return [*documents, documents[-1] | {"token": token}]


def _in_conflict(documents: list[Document]) -> list[Document]:
    first, again = _again(documents)[-2:]
    told = {**(first["details"] or {}), "finish_reason": "length"}
    return [*documents[:-1], first, again | {"details": told}]


_ODDITIES: Final[Mapping[Odd | None, Callable[[list[Document]], list[Document]]]] = {
    Odd.FINISH_REPEATED: _again,
    Odd.FINISH_CONFLICT: _in_conflict,
    Odd.CONTENT_AFTER_FINISH: lambda documents: [*documents[:-2], documents[-1], *documents[-2:-1]],
}
