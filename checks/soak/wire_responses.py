"""OpenAI Responses, as the server speaks it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from checks.soak.asked import NOTE, Asked, asked_of, need, need_keys, need_object, need_text
from checks.soak.model import Answer
from checks.soak.wire_chat import (
    NO_PREFILL,
    STREAM_TYPE,
    Encode,
    arguments,
    error_body,
    pieces,
    sse,
)

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

PATHS = ("/v1/responses",)
_KEYS = {
    "message": "type role content id status phase",
    "function_call": "type call_id name arguments id status",
    "function_call_output": "type call_id output id status",
    "reasoning": "type id summary encrypted_content status content",
}


def read(raw: bytes, path: str) -> Asked:
    """The request, without judging it."""
    del path
    return asked_of(raw, "input", "max_output_tokens")


def check(asked: Asked, own: int, paused: bool) -> None:
    """Refuse what the wire refuses; note what was said and asked in the items behind the first `own`."""
    del paused
    open_calls: list[str] = []
    role, kind = "", ""
    for number, item in enumerate(asked.rows):
        before, kind = kind, item.get("type", "message")
        where = f"input[{number}]"
        need(kind in _KEYS, f"{where}: type {kind!r}")
        need_keys(item, _KEYS[kind], where)
        need(
            before != "reasoning" or kind != "function_call_output",
            f"{where}: reasoning without its item",
        )
        if kind == "function_call":
            need(item["call_id"] not in open_calls, f"{where}: duplicate call_id")
            need_object(item["arguments"], where)
            open_calls.append(item["call_id"])
        elif kind == "function_call_output":
            need(
                item["call_id"] in open_calls, f"{where}: No tool call found for {item['call_id']}"
            )
            open_calls.remove(item["call_id"])
            need_text(item["output"], where)
        elif kind == "message":
            role, content = item["role"], item["content"]
            need(role in ("user", "assistant", "system", "developer"), f"{where}: role {role!r}")
            part = "output_text" if role == "assistant" else "input_text"
            texts = [content] if isinstance(content, str) else [p["text"] for p in content]
            if not isinstance(content, str):
                need(all(p["type"] == part for p in content), f"{where}: parts are to be {part}")
            text = "".join(need_text(text, where) for text in texts)
            if number >= own and role == "assistant" and text != NOTE:
                asked.said += text
            if number >= own and role == "user":
                asked.hint = text
    need(not open_calls, f"No tool output found for function call {open_calls}")
    need(kind != "reasoning", "a reasoning item was provided without its required following item")
    need(kind != "message" or role != "assistant", NO_PREFILL)


def body_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> dict[str, Any]:
    """A whole answer."""
    del rng
    made = _response(asked, mark)
    cut = answer.stop == "length"
    return made | {
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": _items(answer, mark),
        "usage": _usage(answer, asked),
    }


def _items(answer: Answer, mark: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        items.append({"id": f"rs_{mark}", "type": "reasoning", "summary": summary})
    if answer.text:
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": answer.text}
        made = {"id": f"msg_{mark}", "type": "message", "status": "completed", "role": "assistant"}
        items.append(made | {"content": [part]})
    for number, call in enumerate(answer.calls):
        made = {"id": f"fc_{mark}_{number}", "type": "function_call", "status": "completed"}
        made |= {"call_id": f"call_{mark}_{number}", "name": call.name}
        items.append(made | {"arguments": arguments(answer, number)})
    if items and answer.stop == "length" and items[-1]["type"] != "reasoning":
        items[-1]["status"] = "incomplete"
    return items


def events_of(answer: Answer, asked: Asked, mark: str, rng: random.Random) -> Iterator[Any]:
    """A stream's events, as (kind, payload); kind is "text", "call", "stop", "end" or ""."""
    size = rng.choice((3, 9, 25, 70))
    for number, (kind, payload) in enumerate(_events(answer, asked, mark, size)):
        yield kind, payload | {"sequence_number": number}


def _events(
    answer: Answer, asked: Asked, mark: str, size: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = _response(asked, mark)
    yield "", {"type": "response.created", "response": begun}
    yield "", {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(_items(answer, mark)):
        yield from _item(index, item, size)
    whole = body_of(answer, asked, mark, random.Random())
    name = "response.incomplete" if answer.stop == "length" else "response.completed"
    yield "stop", {"type": name, "response": whole}


def _item(index: int, item: dict[str, Any], size: int) -> Iterator[tuple[str, dict[str, Any]]]:
    place = {"output_index": index}
    at = place | {"item_id": item["id"]}
    kind = {"message": "text", "function_call": "call"}.get(item["type"], "")
    opening: dict[str, dict[str, Any]] = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
        "reasoning": {"summary": []},
    }
    begun = item | opening[item["type"]]
    begun |= {"status": "in_progress"} if "status" in item else {}
    yield kind, {"type": "response.output_item.added", **place, "item": begun}
    if item["type"] == "message":
        part, here = item["content"][0], at | {"content_index": 0}
        yield kind, {"type": "response.content_part.added", **here, "part": part | {"text": ""}}
        for piece in pieces(part["text"], size):
            yield (
                kind,
                {"type": "response.output_text.delta", **here, "delta": piece, "logprobs": []},
            )
        yield (
            kind,
            {"type": "response.output_text.done", **here, "text": part["text"], "logprobs": []},
        )
        yield kind, {"type": "response.content_part.done", **here, "part": part}
    elif item["type"] == "function_call":
        for piece in pieces(item["arguments"], size):
            yield kind, {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield kind, {"type": "response.function_call_arguments.done", **at, **done}
    else:
        part, here = item["summary"][0], at | {"summary_index": 0}
        name = "response.reasoning_summary"
        yield "", {"type": f"{name}_part.added", **here, "part": part | {"text": ""}}
        for piece in pieces(part["text"], size):
            yield "", {"type": f"{name}_text.delta", **here, "delta": piece}
        yield "", {"type": f"{name}_text.done", **here, "text": part["text"]}
        yield "", {"type": f"{name}_part.done", **here, "part": part}
    yield kind, {"type": "response.output_item.done", **place, "item": item}


def framed(payload: Any, encode: Encode) -> bytes:
    """An event, which its type names."""
    return sse(payload["type"], payload, encode)


def error_event() -> Any:
    return {
        "type": "error",
        "code": "server_error",
        "message": "The server had an error.",
        "param": None,
        "sequence_number": 0,
    }


def _response(asked: Asked, mark: str) -> dict[str, Any]:
    return {
        "id": f"resp_{mark}",
        "object": "response",
        "created_at": 1_795_000_000,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": asked.max_tokens,
        "model": asked.body["model"],
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def _usage(answer: Answer, asked: Asked) -> dict[str, Any]:
    used = answer.tokens
    return {
        "input_tokens": asked.size // 4,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": used,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": asked.size // 4 + used,
    }
