"""Anthropic Messages, as the server speaks it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from checks.soak.asked import NOTE, Asked, asked_of, need, need_keys, need_text
from checks.soak.model import Answer
from checks.soak.truth import PREFILL
from checks.soak.wire_chat import NO_PREFILL, STREAM_TYPE, Encode, arguments, pieces, some_of, sse

__all__ = [
    "PATHS",
    "STREAM_TYPE",
    "body_of",
    "check",
    "error_body",
    "error_event",
    "events_of",
    "framed",
    "read",
]

PATHS = ("/v1/messages",)
_ID = re.compile(r"[A-Za-z0-9_-]+")
_STOP = {"stop": "end_turn", "length": "max_tokens", "calls": "tool_use", "pause": "pause_turn"}
_KEYS = {
    "text": "type text",
    "tool_use": "type id name input",
    "tool_result": "type tool_use_id content is_error",
    "thinking": "type thinking signature",
}


def read(raw: bytes, path: str) -> Asked:
    """The request, without judging it."""
    del path
    return asked_of(raw, "messages", "max_tokens")


def check(asked: Asked, own: int, paused: bool) -> None:
    """Refuse what the wire refuses; note what was said and asked in the rows behind the first `own`."""
    need(asked.max_tokens, "max_tokens: field required")
    pending: list[str] = []
    seen: set[str] = set()
    role = ""
    for number, row in enumerate(asked.rows):
        where, role = f"messages.{number}", row.get("role")
        need(role in ("user", "assistant"), f"{where}: role {role!r}")
        need_keys(row, "role content", where)
        content = row["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        need(blocks, f"{where}: all messages must have non-empty content")
        answered: list[str] = []
        calls: list[str] = []
        for block in blocks:
            kind = block["type"]
            need(kind in _KEYS, f"{where}: block {kind!r}")
            need_keys(block, _KEYS[kind], where)
            if kind == "text":
                need_text(block["text"], where)
                if number >= own and role == "assistant" and block["text"] != NOTE:
                    asked.said += block["text"]
                if number >= own and role == "user":
                    asked.hint = block["text"]
            elif kind == "tool_use":
                need(
                    role == "assistant" and _ID.fullmatch(block["id"]), f"{where}: {block['id']!r}"
                )
                need(block["id"] not in seen, f"{where}: `tool_use` ids must be unique")
                need(isinstance(block["input"], dict), f"{where}: input is no object")
                seen.add(block["id"])
                calls.append(block["id"])
            elif kind == "tool_result":
                need(
                    role == "user" and block["tool_use_id"] in pending,
                    f"{where}: unexpected result",
                )
                need(len(answered) == blocks.index(block), f"{where}: results come first")
                answered.append(block["tool_use_id"])
        need(sorted(answered) == sorted(pending), f"{where}: `tool_use` without `tool_result`")
        pending = calls
    need(not pending, "`tool_use` without `tool_result` at the end")
    need(asked.rows[0]["role"] == "user", "messages: first message must use the user role")
    asked.prefill = role == "assistant"
    if asked.prefill:
        asked.paused = paused
        need(paused or asked.body["model"] == PREFILL, NO_PREFILL)
        need(
            asked.said == asked.said.rstrip(),
            "final assistant content cannot end with trailing whitespace",
        )


def body_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> dict[str, Any]:
    """A whole answer."""
    del rng
    content: list[dict[str, Any]] = []
    if answer.reasoning:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": "c2lnbmVk"})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for number, call in enumerate(answer.calls):
        whole = arguments(answer, number) == call.arguments
        made = call.input if whole else some_of(call.input)
        content.append(
            {"type": "tool_use", "id": f"toolu_{mark}_{number}", "name": call.name, "input": made}
        )
    return _message(asked, mark) | {
        "content": content,
        "stop_reason": stop(answer),
        "usage": _usage(answer, asked),
    }


def stop(answer: Answer) -> str:
    """The stop that the wire shows."""
    whole = answer.stop == "stop" and answer.calls
    return "tool_use" if whole else _STOP[answer.stop]


def events_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> Iterator[Any]:
    """A stream's events, as (kind, payload); kind is "text", "call", "stop", "end" or ""."""
    size = rng.choice((3, 9, 25, 70))
    begun = _message(asked, mark) | {"usage": _usage(Answer(), asked)}
    yield "", {"type": "message_start", "message": begun}
    if rng.random() < 0.3:
        yield "", {"type": "ping"}
    index = 0

    def block(opening: dict[str, Any], kind: str, deltas: list[dict[str, Any]]) -> Iterator[Any]:
        nonlocal index
        yield kind, {"type": "content_block_start", "index": index, "content_block": opening}
        for delta in deltas:
            yield kind, {"type": "content_block_delta", "index": index, "delta": delta}
        yield kind, {"type": "content_block_stop", "index": index}
        index += 1

    if answer.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(answer.reasoning, size)]
        deltas.append({"type": "signature_delta", "signature": "c2lnbmVk"})
        yield from block({"type": "thinking", "thinking": "", "signature": ""}, "", deltas)
    if answer.text:
        deltas = [{"type": "text_delta", "text": p} for p in pieces(answer.text, size)]
        yield from block({"type": "text", "text": ""}, "text", deltas)
    for number, call in enumerate(answer.calls):
        raw = arguments(answer, number)
        deltas = [{"type": "input_json_delta", "partial_json": p} for p in ["", *pieces(raw, size)]]
        opening = {
            "type": "tool_use",
            "id": f"toolu_{mark}_{number}",
            "name": call.name,
            "input": {},
        }
        yield from block(opening, "call", deltas)
    delta = {"stop_reason": stop(answer), "stop_sequence": None}
    yield (
        "stop",
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": answer.tokens}},
    )
    yield "end", {"type": "message_stop"}


def framed(payload: Any, encode: Encode) -> bytes:
    """An event, which its type names."""
    return sse(payload["type"], payload, encode)


def error_event() -> Any:
    return {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def error_body(status: int) -> dict[str, Any]:
    kinds = {429: "rate_limit_error", 400: "invalid_request_error", 503: "overloaded_error"}
    kind = kinds.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": f"An error of kind {kind}."}}


def _message(asked: Asked, mark: str) -> dict[str, Any]:
    return {
        "id": f"msg_{mark}",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _usage(answer: Answer, asked: Asked) -> dict[str, Any]:
    return {"input_tokens": asked.size // 4, "output_tokens": answer.tokens}
