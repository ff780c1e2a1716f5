"""Write a reply: as Chat Completions, in DashScope's shape.

As documented (2026-11-22): a message, or only a text; a content that is a list of parts on the
multimodal path; events with what is new, or with everything so far, each with the usage so far;
calls whose later pieces have an empty id; and "null" while there is no stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from examples.wires.tests.simulated.dashscope.errors import ERRORS
from examples.wires.tests.simulated.dashscope.request import LISTS, SO_FAR, TEXT
from tenuto_sim.case import Framing, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.errors import Failure
from tenuto_sim.framing import Event
from tenuto_sim.openai_chat import render as chat
from tenuto_sim.reply import Reply

Message = dict[str, Any]

_MEMBERS: Final = ("role", "content", "reasoning_content", "tool_calls")


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without streaming.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> made["output"]["choices"][0]["message"]
    {'role': 'assistant', 'content': 'Hi.'}
    """
    made = chat.document(replace(reply, echo=""), step, envelope)  # nothing is repeated
    choices = [
        _choice(_message(one["message"], number=True), one.get("finish_reason"), envelope)
        for one in made["choices"]
    ]
    used = {"usage": usage(reply)} if step.usage else {}
    return {"output": _output(choices, envelope), **used, "request_id": envelope.id}


def usage(reply: Reply, output_tokens: int | None = None) -> dict[str, Any]:
    """Return the usage object of a reply, or of its part so far.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))["total_tokens"]
    4
    """
    output = reply.completion_tokens if output_tokens is None else output_tokens
    told: dict[str, Any] = {
        "input_tokens": reply.prompt_tokens,
        "output_tokens": output,
        "total_tokens": reply.prompt_tokens + output,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    if reply.reasoning_tokens:
        told["output_tokens_details"] = {"reasoning_tokens": min(reply.reasoning_tokens, output)}
    return told


def failed(failure: Failure, envelope: Envelope) -> dict[str, Any]:
    """Return the payload of an error, for a body or an event."""
    return {**failure.document, "request_id": envelope.id}


def payloads(reply: Reply, step: Step, envelope: Envelope) -> Iterator[dict[str, Any]]:
    """Yield the payloads of a stream's events.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> [payload["output"]["choices"][0]["finish_reason"] for payload in made]
    ['null', 'null', 'stop']
    """
    error, own = step.error, replace(step, error="")
    said = replace(reply, finish=None) if error else reply
    chunks = chat.payloads(said, own, replace(envelope, include_usage=False))
    so_far: Message = {}
    for number, chunk in enumerate(chunks):
        choices = []
        for one in chunk["choices"]:
            message = _message(one["delta"])
            if SO_FAR in envelope.forms:
                message = so_far = _added(so_far, message)
            choices.append(_choice(message, one["finish_reason"], envelope))
        over = number == len(chunks) - 1
        tokens = None if over and not error else min(number, reply.completion_tokens)
        used = {"usage": usage(reply, tokens)} if step.usage else {}
        yield {"output": _output(choices, envelope), **used, "request_id": envelope.id}
    if error:
        yield failed(ERRORS[error], envelope)


def event(payload: dict[str, Any], _: int) -> Event:
    """Return the event of a payload."""
    return "result" if "output" in payload else "error", dump(payload)


def _message(part: Mapping[str, Any], *, number: bool = False) -> Message:
    """Return a message, or a piece of one, in this wire's form."""
    made: Message = {key: part[key] for key in _MEMBERS if key in part}
    made = {"role": "assistant", **made}
    made["content"] = made.get("content") or ""
    calls = made.get("tool_calls")
    if calls is not None and number:
        made["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
    elif calls is not None:  # pieces: one without a name continues a call
        made["tool_calls"] = [
            call if "name" in call["function"] else {"id": "", "type": "function", **call}
            for call in calls
        ]
    return made


def _added(before: Message, piece: Message) -> Message:
    """Return everything so far: texts are joined, and arguments call by call."""
    made = {**before, **piece}
    for key in ("content", "reasoning_content"):
        if key in made:
            made[key] = before.get(key, "") + piece.get(key, "")
    calls = [dict(call) for call in before.get("tool_calls", ())]
    for piece_of_call in piece.get("tool_calls", ()):
        named = "name" in piece_of_call["function"]
        index = piece_of_call.get("index", len(calls) if named else len(calls) - 1)
        if named:
            calls.append(dict(piece_of_call))
            continue
        whole = calls[index]
        arguments = whole["function"]["arguments"] + piece_of_call["function"]["arguments"]
        whole["function"] = whole["function"] | {"arguments": arguments}
    return made | ({"tool_calls": calls} if calls else {})


def _choice(message: Message, finish: str | None, envelope: Envelope) -> dict[str, Any]:
    if LISTS in envelope.forms:
        text = message["content"]
        message = message | {"content": [{"text": text}] if text else []}
    return {"finish_reason": finish or "null", "message": message}


def _output(choices: list[dict[str, Any]], envelope: Envelope) -> dict[str, Any]:
    """Return the output: choices, or only the text if the request asks for that."""
    calls = any("tool_calls" in one["message"] for one in choices)
    if TEXT not in envelope.forms or LISTS in envelope.forms or calls or not choices:
        return {"choices": choices}
    said = choices[0]["message"]
    thought = said.get("reasoning_content")
    more = {"reasoning_content": thought} if thought else {}
    return {"text": said["content"], **more, "finish_reason": choices[0]["finish_reason"]}


def frame(events: list[Event], framing: Framing) -> list[bytes]:
    """Return events as bytes. Each has a number and a status.

    >>> frame([("result", "{}")], Framing.PLAIN)
    [b'id:1\\nevent:result\\n:HTTP_STATUS/200\\ndata:{}\\n\\n']
    """
    made = []
    for number, (name, payload) in enumerate(events, 1):
        status = 200 if name == "result" else 500
        made.append(f"id:{number}\nevent:{name}\n:HTTP_STATUS/{status}\ndata:{payload}\n\n")
    made = [_BEFORE_EACH.get(framing, "") + event for event in made]
    if framing is Framing.BOM:
        made[0] = "\ufeff" + made[0]
    if framing in _INSTEAD:
        made = [event.replace(*_INSTEAD[framing]) for event in made]
    return [event.encode("utf-8", "replace") for event in made]


_BEFORE_EACH: Final = {
    Framing.COMMENTS: ":keep-alive\n\n",
    Framing.EVENT_LINES: "retry:1000\n",
}
_INSTEAD: Final = {
    Framing.CRLF: ("\n", "\r\n"),
    Framing.NO_SPACE: ("\ndata:", "\ndata: "),  # no space is the rule here
}
