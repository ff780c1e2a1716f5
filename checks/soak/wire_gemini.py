"""Gemini's generateContent, as the server speaks it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from checks.soak.asked import NOTE, Asked, asked_of, need, need_keys, need_text
from checks.soak.model import Answer
from checks.soak.truth import GEMINI_PREFILL
from checks.soak.wire_chat import STREAM_TYPE, Encode, pieces, some_of, sse

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

PATHS = (":generateContent", ":streamGenerateContent")
NO_PREFILL = "Please ensure that multiturn requests do not end with a model turn."
_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "calls": "MALFORMED_FUNCTION_CALL"}
_PART = "text thought thoughtSignature functionCall functionResponse"
_STATUS = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


def read(raw: bytes, path: str) -> Asked:
    """The request, without judging it."""
    asked = asked_of(raw, "contents")
    asked.stream = ":streamGenerateContent" in path
    asked.body["model"] = path.partition("/models/")[2].partition(":")[0]
    asked.max_tokens = asked.body.get("generationConfig", {}).get("maxOutputTokens")
    return asked


def check(asked: Asked, own: int, paused: bool) -> None:
    """Refuse what the wire refuses; note what was said and asked in the rows behind the first `own`."""
    del paused
    pending: list[str] = []
    role = ""
    for number, row in enumerate(asked.rows):
        where, before, role = f"contents[{number}]", role, row.get("role", "user")
        need(role in ("user", "model"), f"{where}: role {role!r}")
        need_keys(row, "role parts", where)
        need(row["parts"], f"{where}: parts are empty")
        calls: list[str] = []
        answered: list[str] = []
        for part in row["parts"]:
            need_keys(part, _PART, where)
            if "functionCall" in part:
                need(role == "model", f"{where}: a call of the user's")
                need(isinstance(part["functionCall"].get("args", {}), dict), f"{where}: args")
                calls.append(part["functionCall"]["name"])
            elif "functionResponse" in part:
                need(role == "user", f"{where}: a result of the model's")
                answered.append(part["functionResponse"]["name"])
            elif not part.get("thought"):
                need_text(part["text"], where)
                if number >= own and role == "model" and part["text"] != NOTE:
                    asked.said += part["text"]
                if number >= own and role == "user":
                    asked.hint = part["text"]
        need(
            sorted(answered) == sorted(pending),
            f"{where}: function responses {answered} do not answer the calls {pending}",
        )
        need(not calls or before == "user", f"{where}: a call that does not follow a user's turn")
        pending = calls
    need(not pending, "calls without function responses at the end")
    need(asked.rows[0].get("role", "user") == "user", "the first content must be the user's")
    asked.prefill = role == "model"
    need(not asked.prefill or asked.body["model"] == GEMINI_PREFILL, NO_PREFILL)


def body_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> dict[str, Any]:
    """A whole answer."""
    made = [payload for _, payload in _parts(answer, mark, rng, 10**9)]
    return _response(asked, mark, made, _finish(answer)) | {"usageMetadata": _usage(answer, asked)}


def events_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> Iterator[Any]:
    """A stream's events, as (kind, payload); kind is "text", "call", "stop", "end" or "".
    The last content and the stop are one event, or two."""
    size = rng.choice((9, 25, 70, 200))
    begun = _usage(Answer(), asked)
    for kind, payload in _parts(answer, mark, rng, size):
        made = _response(asked, mark, [payload], None)
        yield kind, made | {"usageMetadata": begun}
    last = [{"text": ""}] if rng.random() < 0.6 else []
    ended = _response(asked, mark, last, _finish(answer))
    yield "stop", ended | {"usageMetadata": _usage(answer, asked)}


def framed(payload: Any, encode: Encode) -> bytes:
    """An event; none has a name on this wire."""
    return sse("", payload, encode)


def error_event() -> Any:
    return error_body(503)


def error_body(status: int) -> dict[str, Any]:
    kind = _STATUS.get(status, "INTERNAL")
    return {"error": {"code": status, "message": f"An error of kind {kind}.", "status": kind}}


def _parts(
    answer: Answer, mark: str, rng: random.Random, size: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    for piece in pieces(answer.reasoning, size):
        yield "", {"text": piece, "thought": True}
    for piece in pieces(answer.text, size):
        yield "text", {"text": piece}
    for number, call in enumerate(answer.calls):
        made = _input(answer, number, rng)
        if made is not None:
            given = {"id": f"fc_{mark}_{number}", "name": call.name, "args": made}
            yield "call", {"functionCall": given}


def _input(answer: Answer, number: int, rng: random.Random) -> dict[str, Any] | None:
    """The arguments of a call as the provider decodes them; None where it leaves the call out,
    since they are no JSON or the limit cut them."""
    call = answer.calls[number]
    try:
        made: dict[str, Any] = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    last = number == len(answer.calls) - 1
    cut = last and answer.cut_call is not None and answer.cut_call < len(call.arguments)
    if cut:
        return some_of(made) if rng.random() < 0.5 else None
    return made


def _finish(answer: Answer) -> str:
    """The stop that the wire shows."""
    if any(_broken(call.arguments) for call in answer.calls):
        return "MALFORMED_FUNCTION_CALL"
    return _FINISH[answer.stop]


def _broken(arguments: str) -> bool:
    try:
        json.loads(arguments or "{}")
    except ValueError:
        return True
    return False


def _response(asked: Asked, mark: str, parts: list[Any], finish: str | None) -> dict[str, Any]:
    content = {"role": "model", "parts": parts} if parts else {"role": "model"}
    candidate: dict[str, Any] = {"content": content, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    if finish == "MALFORMED_FUNCTION_CALL":
        candidate["finishMessage"] = "Malformed function call."
    return {
        "candidates": [candidate],
        "modelVersion": asked.body["model"],
        "responseId": f"resp_{mark}",
    }


def _usage(answer: Answer, asked: Asked) -> dict[str, Any]:
    return {
        "promptTokenCount": asked.size // 4,
        "candidatesTokenCount": answer.tokens,
        "totalTokenCount": asked.size // 4 + answer.tokens,
    }
