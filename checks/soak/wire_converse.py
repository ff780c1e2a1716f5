"""Amazon Bedrock Converse, as the server speaks it."""

from __future__ import annotations

import random
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from checks.soak.asked import NOTE, Asked, asked_of, need, need_keys, need_text
from checks.soak.model import Answer
from checks.soak.truth import CONVERSE_PREFILL
from checks.soak.wire_chat import Encode, arguments, pieces, some_of

PATHS = ("/converse", "/converse-stream")
STREAM_TYPE = "application/vnd.amazon.eventstream"
NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_STOP = {"stop": "end_turn", "length": "max_tokens", "calls": "tool_use"}
_KEYS = {
    "text": "text",
    "toolUse": "toolUse",
    "toolResult": "toolResult",
    "reasoningContent": "reasoningContent",
}


def read(raw: bytes, path: str) -> Asked:
    """The request, without judging it."""
    asked = asked_of(raw, "messages")
    asked.stream = path.endswith("/converse-stream")
    asked.body["model"] = unquote(path.split("/")[2])
    asked.max_tokens = asked.body.get("inferenceConfig", {}).get("maxTokens")
    return asked


def check(asked: Asked, own: int, paused: bool) -> None:
    """Refuse what the wire refuses; note what was said and asked in the rows behind the first `own`."""
    del paused
    pending: list[str] = []
    seen: set[str] = set()
    role = ""
    for number, row in enumerate(asked.rows):
        where, before, role = f"messages.{number}", role, row["role"]
        need(role in ("user", "assistant"), f"{where}: role {role!r}")
        need(role != before, f"{where}: roles must alternate")
        need_keys(row, "role content", where)
        need(row["content"], f"{where}: content is empty")
        answered: list[str] = []
        calls: list[str] = []
        for block in row["content"]:
            kind = next(iter(block))
            need_keys(block, _KEYS[kind], where)
            if kind == "text":
                need_text(block["text"], where)
                if number >= own and role == "assistant" and block["text"] != NOTE:
                    asked.said += block["text"]
                if number >= own and role == "user":
                    asked.hint = block["text"]
            elif kind == "toolUse":
                call = block["toolUse"]
                need(role == "assistant" and _ID.fullmatch(call["toolUseId"]), f"{where}: id")
                need(call["toolUseId"] not in seen, f"{where}: ids must be unique")
                need(isinstance(call["input"], dict), f"{where}: input is no object")
                seen.add(call["toolUseId"])
                calls.append(call["toolUseId"])
            elif kind == "toolResult":
                result = block["toolResult"]
                need(result["toolUseId"] in pending, f"{where}: unexpected result")
                need(result["content"], f"{where}: an empty result")
                answered.append(result["toolUseId"])
        need(sorted(answered) == sorted(pending), f"{where}: toolUse without toolResult")
        pending = calls
    need(not pending, "toolUse without toolResult at the end")
    need(asked.rows[0]["role"] == "user", "a conversation must start with a user message")
    asked.prefill = role == "assistant"
    if asked.prefill:
        need(asked.body["model"] == CONVERSE_PREFILL, NO_PREFILL)
        need(
            asked.said == asked.said.rstrip(),
            "final assistant content cannot end with trailing whitespace",
        )


def body_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> dict[str, Any]:
    """A whole answer."""
    del rng
    content: list[dict[str, Any]] = []
    if answer.reasoning:
        thought = {"text": answer.reasoning, "signature": "c2lnbmVk"}
        content.append({"reasoningContent": {"reasoningText": thought}})
    if answer.text:
        content.append({"text": answer.text})
    for number, call in enumerate(answer.calls):
        whole = arguments(answer, number) == call.arguments
        made = call.input if whole else some_of(call.input)
        content.append({"toolUse": _begun(answer, number, mark) | {"input": made}})
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": _stop(answer),
        "usage": _usage(answer, asked),
        "metrics": {"latencyMs": 12},
    }


def events_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> Iterator[Any]:
    """A stream's events, as (kind, payload); kind is "text", "call", "stop", "end" or ""."""
    size = rng.choice((3, 9, 25, 70))
    index = 0

    def block(kind: str, deltas: list[dict[str, Any]], start: Any = None) -> Iterator[Any]:
        nonlocal index
        here = {"contentBlockIndex": index}
        if start is not None:
            yield kind, ("contentBlockStart", {"start": start, **here})
        for delta in deltas:
            yield kind, ("contentBlockDelta", {"delta": delta, **here})
        yield kind, ("contentBlockStop", here)
        index += 1

    yield "", ("messageStart", {"role": "assistant"})
    if answer.reasoning:
        said = [{"reasoningContent": {"text": piece}} for piece in pieces(answer.reasoning, size)]
        yield from block("", [*said, {"reasoningContent": {"signature": "c2lnbmVk"}}])
    if answer.text:
        yield from block("text", [{"text": piece} for piece in pieces(answer.text, size)])
    for number in range(len(answer.calls)):
        raw = arguments(answer, number)
        deltas = [{"toolUse": {"input": piece}} for piece in ["", *pieces(raw, size)]]
        yield from block("call", deltas, {"toolUse": _begun(answer, number, mark)})
    yield "stop", ("messageStop", {"stopReason": _stop(answer)})
    metadata = {"usage": _usage(answer, asked), "metrics": {"latencyMs": 12}}
    yield "end", ("metadata", metadata)


def framed(payload: Any, encode: Encode) -> bytes:
    """An event as a binary message of AWS: https://smithy.io/2.0/aws/amazon-eventstream.html"""
    name, data = payload
    kind = "exception" if name.endswith("Exception") else "event"
    headers = b"".join(
        _header(key, value)
        for key, value in (
            (f":{kind}-type", name),
            (":content-type", "application/json"),
            (":message-type", kind),
        )
    )
    body = encode(data).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return message + struct.pack(">I", zlib.crc32(message))


def _header(name: str, value: str) -> bytes:
    return (
        bytes((len(name),))
        + name.encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
    )


def error_event() -> Any:
    return "modelStreamErrorException", {"message": "The model had an error."}


_ERRORS = {
    400: "ValidationException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


def error_body(status: int) -> dict[str, Any]:
    kind = _ERRORS.get(status, "InternalServerException")
    return {"__type": kind, "message": f"An error of kind {kind}."}


def _stop(answer: Answer) -> str:
    """The stop that the wire shows."""
    whole = answer.stop == "stop" and answer.calls
    return "tool_use" if whole else _STOP[answer.stop]


def _begun(answer: Answer, number: int, mark: str) -> dict[str, Any]:
    return {"toolUseId": f"tooluse_{mark}_{number}", "name": answer.calls[number].name}


def _usage(answer: Answer, asked: Asked) -> dict[str, Any]:
    used, read_ = answer.tokens, asked.size // 4
    return {"inputTokens": read_, "outputTokens": used, "totalTokens": read_ + used}
