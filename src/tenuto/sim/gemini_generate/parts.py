"""What a reply consists of on this wire: parts, its stop, its usage.

Key sets are those of answers recorded in 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto.sim.case import Step
from tenuto.sim.envelope import Envelope
from tenuto.sim.gemini_generate.seals import signature, token
from tenuto.sim.reply import Call, Reply
from tenuto.sim.writing import decoded

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
"""What stands beside a stop in `finishMessage`."""


def stop_of(reply: Reply) -> str | None:
    """Return the finish reason of a reply in this wire's words.

    >>> stop_of(Reply("Hi.", (), "length", 3, 1))
    'MAX_TOKENS'
    """
    finish = reply.finish
    return None if finish is None else STOPS.get(finish.lower(), finish)


def ending(reply: Reply) -> Part:
    """Return the keys of a candidate that say how it ended.

    >>> ending(Reply("Hi.", (), "stop", 3, 1))
    {'finishReason': 'STOP'}
    """
    stop = stop_of(reply)
    if stop is None:
        return {}
    made: Part = {"finishReason": stop}
    if reply.calls and stop == "STOP":
        made["finishMessage"] = "Model generated function call(s)."
    if stop in MESSAGES:
        made["finishMessage"] = MESSAGES[stop]
    if stop == "CONTINUATION":
        made["continuationToken"] = token(reply.echo + (reply.text or ""))
    return made


def around(envelope: Envelope) -> Part:
    """Return what every response and every event of one answer shares.

    >>> around(Envelope("id", "sim"))
    {'modelVersion': 'sim', 'responseId': 'id'}
    """
    return {"modelVersion": envelope.model, "responseId": envelope.id}


def usage(reply: Reply, said_tokens: int | None = None) -> Part:
    """Return the usage object; `said_tokens` is what was said so far, None for all of it.

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
    """Return the calls of a reply, the first of which is signed.

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
