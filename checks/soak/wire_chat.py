"""OpenAI Chat Completions, as the server speaks it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from checks.soak.asked import NOTE, Asked, asked_of, need, need_keys, need_object, need_text
from checks.soak.model import Answer
from checks.soak.truth import HINT, REFUSES

Encode = Callable[[Any], str]
"""How JSON is written."""

PATHS = ("/v1/chat/completions",)
STREAM_TYPE = "text/event-stream"
NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
_KEYS = "role content tool_calls tool_call_id name"
_GIVEN = "reasoning_content reasoning_details"
"""What a provider gave beside its text and wants to see again in the rows that Tenuto adds (H5b)."""
_FINISH = {"stop": "stop", "length": "length", "calls": "tool_calls", "pause": "stop"}


def read(raw: bytes, path: str) -> Asked:
    """The request, without judging it."""
    del path
    asked = asked_of(raw, "messages", "max_completion_tokens", "max_tokens")
    options = asked.body.get("stream_options") or {}
    asked.usage = not asked.stream or bool(options.get("include_usage"))
    return asked


def check(asked: Asked, own: int, paused: bool) -> None:
    """Refuse what the wire refuses; note what was said and asked in the rows behind the first `own`."""
    del paused
    pending: list[str] = []
    role = ""
    for number, row in enumerate(asked.rows):
        where, before, role = f"messages[{number}]", role, row.get("role")
        need(role in ("system", "user", "assistant", "tool"), f"{where}: role {role!r}")
        ours = number >= own and row.get("role") == "assistant"
        need_keys(row, f"{_KEYS} {_GIVEN}" if ours else _KEYS, where)
        if role == "tool":
            need(row["tool_call_id"] in pending, f"{where}: no call {row['tool_call_id']!r}")
            pending.remove(row["tool_call_id"])
            need_text(row["content"], where)
            continue
        need(not pending, f"{where}: calls {pending} have no results")
        need(role != "assistant" or before != "assistant", f"{where}: two assistant rows")
        if "tool_calls" in row:
            need(role == "assistant" and row["tool_calls"], f"{where}: empty tool_calls")
            for call in row["tool_calls"]:
                need(
                    call["type"] == "function" and call["id"], f"{where}: a call without type or id"
                )
                need_object(call["function"]["arguments"], where)
                pending.append(call["id"])
            need(len(set(pending)) == len(pending), f"{where}: ids of calls are not unique")
            need(row.get("content") is None or row["content"].strip(), f"{where}: blank text")
        else:
            need_text(row.get("content"), where)
        if number >= own and role == "assistant" and row.get("content") not in (None, NOTE):
            asked.said += row["content"]
        if number >= own and role == "user":
            asked.hint = row["content"]
    need(not pending, f"calls {pending} have no results")
    asked.prefill = role == "assistant"
    need(not asked.prefill or asked.body["model"] not in (HINT, REFUSES), NO_PREFILL)


def body_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> dict[str, Any]:
    """A whole answer."""
    del rng
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    calls = [_call(answer, n, mark) for n in range(len(answer.calls))]
    message |= {"tool_calls": calls} if calls else {}
    message |= {"reasoning_content": answer.reasoning} if answer.reasoning else {}
    return {
        "id": f"chatcmpl-{mark}",
        "object": "chat.completion",
        "created": 1_795_000_000,
        "model": asked.body["model"],
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": finish(answer)}
        ],
        "usage": _usage(answer, asked),
    }


def finish(answer: Answer) -> str:
    """The stop that the wire shows."""
    whole = answer.stop == "stop" and answer.calls
    return "tool_calls" if whole else _FINISH[answer.stop]


def events_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> Iterator[Any]:
    """A stream's events, as (kind, payload); kind is "text", "call", "stop", "end" or ""."""

    def chunk(delta: dict[str, Any], stop: str | None = None) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{mark}",
            "object": "chat.completion.chunk",
            "created": 1_795_000_000,
            "model": asked.body["model"],
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}],
        }

    size = rng.choice((3, 9, 25, 70))
    yield "", chunk({"role": "assistant", "content": ""})
    for piece in pieces(answer.reasoning, size):
        yield "", chunk({"reasoning_content": piece})
    for piece in pieces(answer.text, size):
        yield "text", chunk({"content": piece})
    for number in range(len(answer.calls)):
        call = _call(answer, number, mark)
        raw, call["function"]["arguments"] = call["function"]["arguments"], ""
        yield "call", chunk({"tool_calls": [{"index": number, **call}]})
        for piece in pieces(raw, size):
            made = {"index": number, "function": {"arguments": piece}}
            yield "call", chunk({"tool_calls": [made]})
    yield "stop", chunk({}, finish(answer))
    if asked.usage:
        yield "end", chunk({}) | {"choices": [], "usage": _usage(answer, asked)}
    yield "end", "[DONE]"


def framed(payload: Any, encode: Encode) -> bytes:
    """An event; none has a name on this wire."""
    return sse("", payload, encode)


def sse(name: str, payload: Any, encode: Encode) -> bytes:
    """A server-sent event."""
    data = payload if isinstance(payload, str) else encode(payload)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def error_event() -> Any:
    return {"error": {"message": "The server had an error.", "type": "server_error", "code": None}}


def error_body(status: int) -> dict[str, Any]:
    kind = {429: "rate_limit_exceeded", 400: "invalid_request_error"}.get(status, "server_error")
    return {
        "error": {"message": f"An error of kind {kind}.", "type": kind, "param": None, "code": None}
    }


def pieces(text: str, size: int) -> list[str]:
    """A text in deltas."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def arguments(answer: Answer, number: int) -> str:
    """The arguments of a call as far as they came."""
    raw = answer.calls[number].arguments
    last = number == len(answer.calls) - 1
    return raw[: answer.cut_call] if last and answer.cut_call is not None else raw


def some_of(given: dict[str, Any]) -> dict[str, Any]:
    """What a host makes of arguments that were cut."""
    return dict(list(given.items())[:-1])


def _call(answer: Answer, number: int, mark: str) -> dict[str, Any]:
    function = {"name": answer.calls[number].name, "arguments": arguments(answer, number)}
    return {"id": f"call_{mark}_{number}", "type": "function", "function": function}


def _usage(answer: Answer, asked: Asked) -> dict[str, Any]:
    used = answer.tokens
    return {
        "prompt_tokens": asked.size // 4,
        "completion_tokens": used,
        "total_tokens": asked.size // 4 + used,
    }
