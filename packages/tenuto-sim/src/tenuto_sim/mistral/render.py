"""Write a reply: as Chat Completions, except for what Mistral does differently.

As recorded in 2026: thinking is in the content, which then is a list of chunks; a call arrives
whole, in the event with the stop and the usage; events are padded; and the answer to a prefill
begins with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tenuto_sim.case import Odd, Shape, Step
from tenuto_sim.envelope import Envelope, dump
from tenuto_sim.framing import Event
from tenuto_sim.mistral.errors import ERRORS
from tenuto_sim.openai_chat import render as chat
from tenuto_sim.reply import Reply

_NOT_ITS: Final = ("service_tier", "system_fingerprint", "usage")
_PADDING: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


def document(reply: Reply, step: Step, envelope: Envelope) -> dict[str, Any]:
    """Return the answer to a request without `stream`.

    >>> made = document(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim"))
    >>> made["choices"][0]["message"]
    {'role': 'assistant', 'tool_calls': None, 'content': 'Hi.'}
    """
    made = chat.document(replace(reply, calls=()), step, envelope)
    told = {} if "usage" not in made else {"usage": usage(reply)}
    calls = _calls(reply)
    for choice in made["choices"]:
        said = choice.pop("message")
        del choice["logprobs"]
        content = _content(said["content"] or "", said.get("reasoning_content") or "")
        choice["message"] = {"role": "assistant", "tool_calls": calls or None, "content": content}
    kept = {key: value for key, value in made.items() if key not in _NOT_ITS}
    return kept | told


def usage(reply: Reply) -> dict[str, Any]:
    """Return the usage object of a reply.

    >>> usage(Reply("Hi.", (), "stop", 3, 1))["total_tokens"]
    4
    """
    told = chat.usage(reply)
    del told["completion_tokens_details"]
    return told | {"prompt_tokens_details": {"cached_tokens": 0}, "service_tier": "standard"}


def payloads(reply: Reply, step: Step, envelope: Envelope) -> list[dict[str, Any]]:
    """Return the payloads of a stream's events, without their padding.

    >>> len(payloads(Reply("Hi.", (), "stop", 3, 1), Step(), Envelope("1", "sim")))
    3
    """
    said = replace(reply, calls=(), text=reply.echo + (reply.text or ""))
    said = replace(said, finish=None) if step.error else said
    own = replace(step, error="")
    written = chat.payloads(said, own, replace(envelope, include_usage=False))
    chunks = [_as_mistral(chunk) for chunk in chat.fresh(written)]
    if reply.calls:
        _carry(chunks, _calls(reply))
    ends = reply.finish is not None and not step.error
    if step.usage and ends and step.odd is not Odd.USAGE_AFTER_FINISH:
        chunks[-1]["usage"] = {}
    for chunk in chunks:
        if "usage" in chunk:
            chunk["usage"] = usage(reply)
    return [*chunks, dict(ERRORS[step.error].document)] if step.error else chunks


def event(payload: dict[str, Any], number: int) -> Event:
    """Return the event of a payload, padded unless it is an error."""
    padding = {"p": _PADDING[: 1 + number * 7 % 36]} if "choices" in payload else {}
    return "", dump(payload | padding)


def _carry(chunks: list[dict[str, Any]], calls: list[dict[str, Any]]) -> None:
    """Put the calls into each choice's first event with a stop, or after all if none has one."""
    carried: set[int] = set()
    for choice in (choice for chunk in chunks for choice in chunk["choices"]):
        if choice["finish_reason"] is not None and choice["index"] not in carried:
            choice["delta"] = {"tool_calls": calls}
            carried.add(choice["index"])
    if not carried:
        choice = {"index": 0, "delta": {"tool_calls": calls}, "finish_reason": None}
        chunks.append({**chunks[0], "choices": [choice]})


def _as_mistral(chunk: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in chunk.items() if key not in _NOT_ITS or key == "usage"}
    for choice in kept["choices"]:
        choice.pop("logprobs", None)
        delta = choice["delta"]
        delta.pop("refusal", None)
        if delta.get("content", "") is None:
            delta["content"] = ""
        if (thinking := delta.pop("reasoning_content", None)) is not None:
            delta["content"] = _content("", thinking)
        if choice["finish_reason"] is not None:
            delta.setdefault("content", "")
    return kept


def _content(text: str, thinking: str) -> str | list[dict[str, Any]]:
    if not thinking:
        return text
    inner = [{"type": "text", "text": thinking}]
    parts: list[dict[str, Any]] = [{"type": "thinking", "thinking": inner, "closed": True}]
    return [*parts, {"type": "text", "text": text}] if text else parts


def _calls(reply: Reply) -> list[dict[str, Any]]:
    made = []
    for number, call in enumerate(reply.calls):
        own = replace(call, id=call.id and call.id.removeprefix("call_")[:9])
        index = 0 if reply.shape is Shape.WRONG_INDEX else number
        made.append(chat.body_call(own, reply.shape, index=index))
    return made
