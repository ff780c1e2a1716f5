"""Write a reply: as parts in one document, or as a stream of documents with what is new.

Keys are those of answers recorded in 2026. The last document of a stream has the stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tenuto_sim.case import Odd, Say, Step
from tenuto_sim.envelope import Envelope
from tenuto_sim.gemini_generate.errors import ERRORS
from tenuto_sim.gemini_generate.seals import signature, token
from tenuto_sim.reply import Call, Reply
from tenuto_sim.writing import decoded, pieces

Part = dict[str, Any]

STOPS: Final[Mapping[str, str]] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
}
MESSAGES: Final[Mapping[str, str]] = {
    "MALFORMED_FUNCTION_CALL": "Malformed function call: print(default_api.write_file(path='a.txt",
    "UNEXPECTED_TOOL_CALL": "Unexpected tool call: no such function is declared.",
    "TOO_MANY_TOOL_CALLS": "Model generated too many tool calls.",
}
"""The `finishMessage` beside a stop."""
_BLOCKED: Final = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
"""A response for a blocked prompt, which has no candidates."""


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without streaming.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> made["candidates"][0]["content"]
    {'parts': [{'text': 'Hi.'}], 'role': 'model'}
    """
    counted = {"usageMetadata": usage(reply)} if step.usage else {}
    if step.say is Say.REFUSAL:
        return _BLOCKED | counted | around(envelope)
    parts = [{"text": reply.reasoning, "thought": True}] if reply.reasoning else []
    parts += [{"text": reply.text}] if reply.text else []
    parts += call_parts(reply, step)
    content = ({"parts": parts} if parts else {}) | {"role": "model"}
    candidate = {"content": content} | ending(reply) | {"index": 0}
    return {"candidates": [candidate]} | counted | around(envelope)


def ending(reply: Reply) -> Part:
    """Return the keys of a candidate for its end.

    >>> ending(Reply("Hi.", (), "stop", 3, 1))
    {'finishReason': 'STOP'}
    """
    if reply.finish is None:
        return {}
    stop = STOPS.get(reply.finish.lower(), reply.finish)
    made: Part = {"finishReason": stop}
    if reply.calls and stop == "STOP":
        made["finishMessage"] = "Model generated function call(s)."
    if stop in MESSAGES:
        made["finishMessage"] = MESSAGES[stop]
    if stop == "CONTINUATION":
        made["continuationToken"] = token(reply.echo + (reply.text or ""))
    return made


def around(envelope: Envelope) -> Part:
    """Return the members that every response and every event of one answer shares.

    >>> around(Envelope("id", "sim"))
    {'modelVersion': 'sim', 'responseId': 'id'}
    """
    return {"modelVersion": envelope.model, "responseId": envelope.id}


def usage(reply: Reply, said_tokens: int | None = None) -> Part:
    """Return the usage object; `said_tokens` is the number of tokens so far; None: all of them.

    >>> usage(Reply("Hi.", (), "stop", 3, 2, reasoning_tokens=1))["candidatesTokenCount"]
    1
    """
    said = reply.completion_tokens - reply.reasoning_tokens if said_tokens is None else said_tokens
    thought = reply.reasoning_tokens
    made: Part = {
        "promptTokenCount": reply.prompt_tokens,
        "candidatesTokenCount": said,
        "totalTokenCount": reply.prompt_tokens + said + thought,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": reply.prompt_tokens}],
    }
    if not said:
        del made["candidatesTokenCount"]
    return made | ({"thoughtsTokenCount": thought} if thought else {})


def call_parts(reply: Reply, step: Step) -> list[Part]:
    """Return the calls of a reply. The first is signed.

    >>> call_parts(Reply(None, (Call("1", "f", "{}"),), "stop", 3, 1), Step())[0]["functionCall"]
    {'id': '1', 'name': 'f', 'args': {}}
    """
    made: list[Part] = [{"functionCall": _call(call)} for call in reply.calls]
    if made:
        made[0]["thoughtSignature"] = signature(reply.calls[0].name)
    return made


def _call(call: Call) -> Part:
    made: Part = {"id": call.id, "name": call.name}
    if call.id is None:
        del made["id"]
    empty = call.arguments in (None, "")
    return made if empty else made | {"args": decoded(call.arguments)}


def payloads(reply: Reply, step: Step, envelope: Envelope) -> list[Part]:
    """Return the payloads of a stream's events.

    >>> made = payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("id", "sim"))
    >>> [payload["candidates"][0]["finishReason"] for payload in made]
    ['STOP']
    """
    if step.say is Say.REFUSAL:
        return [_BLOCKED | {"usageMetadata": usage(reply)} | around(envelope)]
    said, out = 0, list[Part]()
    for part in _pieces(reply, step, step.event_chars or envelope.token_chars):
        if "thought" not in part:
            said += math.ceil(len(part.get("text") or "") / envelope.token_chars)
        content = {"parts": [part], "role": "model"}
        counted = {"usageMetadata": usage(reply, said)} if step.usage else {}
        out.append({"candidates": [{"content": content, "index": 0}]} | counted | around(envelope))
    if step.error:
        return [*out, dict(ERRORS[step.error].document)]
    if not out:
        out.append({"candidates": [{"content": {"role": "model"}, "index": 0}]} | around(envelope))
    out[-1]["candidates"][0] |= ending(reply)
    if step.usage and reply.finish is not None:
        out[-1]["usageMetadata"] = usage(reply)
    return out


def _pieces(reply: Reply, step: Step, size: int) -> Iterator[dict[str, Any]]:
    thoughts, text = reply.reasoning, reply.text or ""
    # Thoughts arrive as summaries, one paragraph each.
    if thoughts:
        yield {"text": thoughts, "thought": True}
    yield from ({"text": piece} for piece in pieces(text, size))
    yield from call_parts(reply, step)


def _again(payloads: list[Part], **changed: Any) -> list[Part]:
    last = payloads[-1]
    candidate = {"content": {"role": "model"}, "finishReason": "STOP", "index": 0} | changed
    return [*payloads, last | {"candidates": [candidate]}]


def _late_content(payloads: list[Part]) -> list[Part]:
    """Put the stop into the third event from the end, or into the first of a shorter stream."""
    stop = payloads[-1]["candidates"][0].pop("finishReason")
    payloads[-3:][0]["candidates"][0]["finishReason"] = stop
    return payloads


def _late_usage(payloads: list[Part]) -> list[Part]:
    counted = payloads[-1].pop("usageMetadata")
    return [*payloads, {"usageMetadata": counted, "modelVersion": payloads[-1]["modelVersion"]}]


ODDITIES: Final[Mapping[Odd, Callable[[list[Part]], list[Part]]]] = {
    Odd.FINISH_REPEATED: _again,
    Odd.FINISH_CONFLICT: partial(_again, finishReason="MAX_TOKENS"),
    Odd.CONTENT_AFTER_FINISH: _late_content,
    Odd.USAGE_AFTER_FINISH: _late_usage,
    Odd.EMPTY_CHOICES: lambda payloads: [
        {key: item for key, item in payloads[0].items() if key != "candidates"},
        *payloads,
    ],
}
