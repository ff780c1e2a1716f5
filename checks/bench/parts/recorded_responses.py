"""Bytes in the shape of OpenAI's Responses (made up after `openai/types/responses` of openai-python
3.54): each event has its number, and a text is padded against those who listen."""

from __future__ import annotations

from typing import Any

from parts.recorded import compact, words

_ITEM = "msg_67ccd3acc8d48190a77525dc6de64b4104becb25c45c1d41"
_USAGE: dict[str, Any] = {
    "input_tokens": 46,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 180,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 226,
}
_RESPONSE: dict[str, Any] = {
    "id": "resp_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41",
    "object": "response",
    "created_at": 1741476777,
    "status": "in_progress",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "model": "gpt-4o-2024-08-06",
    "output": [],
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
    "usage": None,
    "user": None,
    "metadata": {},
}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _item(status: str, *parts: dict[str, Any]) -> dict[str, Any]:
    message = {"id": _ITEM, "type": "message", "status": status}
    return {**message, "content": list(parts), "role": "assistant"}


def _completed(text: str) -> dict[str, Any]:
    output = [_item("completed", _part(text))]
    return {**_RESPONSE, "status": "completed", "output": output, "usage": _USAGE}


def events(texts: list[str]) -> list[bytes]:
    """The events of a stream that says these texts."""
    place = {"item_id": _ITEM, "output_index": 0, "content_index": 0}
    text = "".join(texts)
    said: list[dict[str, Any]] = [
        {"type": "response.created", "response": _RESPONSE},
        {"type": "response.in_progress", "response": _RESPONSE},
        {"type": "response.output_item.added", "output_index": 0, "item": _item("in_progress")},
        {"type": "response.content_part.added", **place, "part": _part("")},
    ]
    for number, delta in enumerate(texts):
        event = {"type": "response.output_text.delta", **place, "delta": delta, "logprobs": []}
        said.append({**event, "obfuscation": "kR3fTq0aWzLm9xPe"[number * 5 % 12 :]})
    said += [
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": _part(text)},
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": _item("completed", _part(text)),
        },
        {"type": "response.completed", "response": _completed(text)},
    ]
    named = ((event.pop("type"), number, event) for number, event in enumerate(said))
    values = [{"type": name, "sequence_number": number, **rest} for name, number, rest in named]
    return [b"event: %b\ndata: %b\n\n" % (v["type"].encode(), compact(v)) for v in values]


EVENTS = events(words())
EVENT_DATA = [event.partition(b"data: ")[2][:-2] for event in EVENTS]
BODY = compact(_completed("".join(words(180)).strip()))
