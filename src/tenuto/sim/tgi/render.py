"""Write a reply: as one document, or as an event for each token, the last of which repeats the
whole text.

Keys are those of the server's own types. Each oddity is a small function over the list of
documents, chosen by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from tenuto.sim.case import Ending, Odd, Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.reply import Reply
from tenuto.sim.tgi.errors import ERRORS
from tenuto.sim.writing import end_again, end_before, pieces

Document = dict[str, Any]

STOPS: Final[Mapping[str, str]] = {"stop": "eos_token"}


def document(reply: Reply, step: Step, envelope: Envelope) -> Document:
    """Return the answer to a request without streaming.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> made
    {'generated_text': 'Hi.'}
    """
    text = reply.text or ""
    made: Document = {"generated_text": envelope.prompt + text}
    if envelope.include_usage:
        tokens = _tokens(text, step.event_chars or envelope.token_chars)
        made["details"] = _details(reply, step) | {"prefill": [], "tokens": tokens}
        del made["details"]["input_length"]
    return made


def payloads(reply: Reply, step: Step, envelope: Envelope) -> list[Document]:
    """Return the payloads of a stream's events.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("", "sim"))
    >>> len(made), made[-1]["generated_text"]
    (2, 'Hi.')
    """
    text = reply.text or ""
    tokens = _tokens(text, step.event_chars or envelope.token_chars)
    ends = reply.finish is not None or step.ending is Ending.NO_FINISH
    if ends and (reply.finish != "length" or not tokens):
        tokens.append(_END)
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
    return documents


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


_END: Final = {"id": 2, "text": "</s>", "logprob": -0.125, "special": True}


def _in_conflict(documents: list[Document]) -> list[Document]:
    told = {**(documents[-1]["details"] or {}), "finish_reason": "length"}
    return [*documents, documents[-1] | {"token": _END, "details": told}]


ODDITIES: Final[Mapping[Odd, Callable[[list[Document]], list[Document]]]] = {
    # The end comes twice, without a repetition of what came before.
    Odd.FINISH_REPEATED: partial(end_again, token=_END),
    Odd.FINISH_CONFLICT: _in_conflict,
    Odd.CONTENT_AFTER_FINISH: partial(end_before, pieces=1),
}
