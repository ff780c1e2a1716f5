"""Write a reply: as one document, or as one per line, the last of which repeats everything.

Shapes follow the types of the SDK, and lines quoted in issues. A call arrives in pieces of text,
and then decoded, as a whole; a call that was cut arrives only in pieces. Each oddity is a small
function over the list of documents, chosen by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from examples.wires.tests.simulated.cohere_v1.errors import ERRORS
from tenuto_sim.case import CUT_SHORT, Ending, Odd, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import decoded, end_again, end_before, in_the_middle, pieces

STOPS: Final[Mapping[str, str]] = {
    "stop": "COMPLETE",
    "tool_calls": "COMPLETE",
    "length": "MAX_TOKENS",
    "content_filter": "ERROR_TOXIC",
    "stop_sequence": "STOP_SEQUENCE",
}

Document = dict[str, Any]


def document(reply: Reply, step: Step, envelope: Envelope) -> Document:
    """Return the answer to a request without `stream`.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> made["text"], made["finish_reason"], made["chat_history"]
    ('Hi.', 'COMPLETE', [{'role': 'CHATBOT', 'message': 'Hi.'}])
    """
    return _answer(reply, step, envelope, [_call(call) for call in reply.calls])


def _answer(reply: Reply, step: Step, envelope: Envelope, calls: list[Document]) -> Document:
    text = reply.text or ""
    called = {"tool_calls": calls} if calls else {}
    said = {"role": "CHATBOT", "message": text} | called
    before = json.loads(envelope.prompt or "[]")
    stop = STOPS.get(reply.finish or "", reply.finish)
    made: Document = {
        "response_id": f"r-{envelope.id}",
        "text": text,
        "generation_id": envelope.id,
    }
    made |= {"chat_history": [*before, said], "finish_reason": stop} | called
    if step.ending is Ending.NO_FINISH:
        del made["finish_reason"]
    meta: Document = {"api_version": {"version": "1"}}
    if step.usage:
        used = {"input_tokens": reply.prompt_tokens, "output_tokens": reply.completion_tokens}
        meta |= {"billed_units": used, "tokens": used}
    return made | {"meta": meta}


def _call(call: Call) -> Document:
    return {"name": call.name, "parameters": decoded(call.arguments) if call.arguments else None}


def payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[Document]:
    """Yield the lines of a stream.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> [payload["event_type"] for payload in made]
    ['stream-start', 'text-generation', 'stream-end']
    """
    size, text = step.event_chars or envelope.token_chars, reply.text or ""
    yield _event("stream-start", generation_id=envelope.id)
    # The model's text before a call counts as part of the call.
    kind = "tool-calls-chunk" if reply.calls else "text-generation"
    beside: Document = {"tool_call_delta": {}} if reply.calls else {}
    for said in pieces(text, size):
        yield _event(kind, text=said, **beside)
    for number, call in enumerate(reply.calls):
        raw = call.arguments if isinstance(call.arguments, str) else dump(call.arguments)
        yield _piece(index=number, name=call.name)
        for said in pieces(raw, size):
            yield _piece(index=number, parameters=said)
    if step.ending in CUT_SHORT:
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


_UNKNOWN: Final = _event("sim-garbage", note="nothing that a client knows")
ODDITIES: Final[Mapping[Odd, Callable[[list[Document]], list[Document]]]] = {
    Odd.FINISH_REPEATED: end_again,
    Odd.FINISH_CONFLICT: partial(end_again, finish_reason="MAX_TOKENS"),
    Odd.CONTENT_AFTER_FINISH: partial(end_before, pieces=1),
    Odd.UNKNOWN_EVENT: partial(in_the_middle, odd=_UNKNOWN),
}
