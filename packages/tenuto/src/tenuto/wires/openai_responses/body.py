"""Write whole responses of OpenAI Responses: bodies, the response in a stream's last event, calls,
usage, errors.

Shapes follow `openai/types/responses` of openai-python 3.54 and are checked against its types in
the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenuto.core.answer.calls import ToolCall
from tenuto.wires.answer import Answer
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.members import list_in
from tenuto.wires.openai_responses.content import led, message
from tenuto.wires.openai_responses.items import FOREIGN_CALL, kind_of
from tenuto.wires.usage import Counts

_STATUSES = ("completed", "failed", "in_progress", "cancelled", "queued")
"""Native stops that are a `status`. All others are reasons of an `incomplete` response."""

_NOT_SHARED = frozenset({"output", "status", "incomplete_details", "error", "usage"})


COUNTS = Counts(
    input="input_tokens",
    output="output_tokens",
    total="total_tokens",
    reasoning="reasoning_tokens",
    details="output_tokens_details",
    cached=("input_tokens_details.cached_tokens",),
)

_NO_USAGE: JsonObject = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}
"""Members that the official SDK's type requires."""


def bare_response(model: str) -> JsonObject:
    """Return the minimum that the official SDK's type requires.

    >>> bare_response("m")["status"]
    'in_progress'
    """
    return {
        "id": "resp_tenuto",
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }


def identity_of(response: Mapping[str, Any]) -> JsonObject:
    """Return what all of a turn's responses share with its first one.

    >>> identity_of({"id": "resp_1", "status": "completed"})
    {'id': 'resp_1'}
    """
    return {key: item for key, item in response.items() if key not in _NOT_SHARED}


def ending_of(answer: Answer) -> JsonObject:
    """Return the status, reason and error of an answer, as received if the shown stop was received.

    >>> ending_of(Answer("Hi", native_stop="max_output_tokens"))["status"]
    'incomplete'
    """
    came = answer.ending.get("response", answer.ending)
    came = came if isinstance(came, dict) else {}
    if came.get("status") == "failed" and answer.native_stop not in ("completed", None):
        return {"status": "failed", "incomplete_details": None, "error": came.get("error")}
    stop = answer.native_stop or "completed"
    if stop == came.get("status") or stop in _STATUSES:
        return {"status": stop, "incomplete_details": None, "error": None}
    reason = None if stop == "incomplete" else {"reason": stop}
    return {"status": "incomplete", "incomplete_details": reason, "error": None}


def whole_response(identity: Mapping[str, Any], output: list[JsonObject], answer: Answer) -> Any:
    """Return the response of a whole turn."""
    given = _NO_USAGE | (answer.raw_usage or {})
    usage = COUNTS.merged(given, answer.usage) if answer.usage else None
    ending = ending_of(answer)
    return {**bare_response(""), **identity, **ending, "output": output, "usage": usage}


def paired(items: Iterable[JsonObject]) -> list[JsonObject]:
    """Return items without reasoning that led to none of them, which the provider would refuse. All
    reasoning stays if there is nothing else.

    >>> [item["type"] for item in paired([{"type": "message"}, {"type": "reasoning"}])]
    ['message']
    """
    given = list(items)
    return led(given) or given


def call_item(call: ToolCall, *, status: str = "completed", tied: bool = True) -> JsonObject:
    """Return a call as an item. `tied`: it keeps its id, by which the provider requires the
    reasoning that led to it."""
    extra = dict(call.extra or {})
    if FOREIGN_CALL in extra:
        whole = extra[FOREIGN_CALL]
        return dict(whole) if isinstance(whole, dict) else {}
    if not tied:
        extra.pop("id", None)
    kind, member = ("custom_tool_call", "input") if call.free else ("function_call", "arguments")
    named = {"call_id": call.id, "name": call.name, member: call.arguments}
    return {**extra, "type": kind, "status": status, **named}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole response: the first attempt's identity, the merged output. If the turn is
    complete, the id is the last attempt's, so that the next request continues the whole answer."""
    content = [dict(item) for item in answer.content]
    if not content and answer.text:
        content = [message(answer.text)]
    status = "completed" if ending_of(answer)["status"] == "completed" else "incomplete"
    for number, item in enumerate(content):
        is_last = number == len(content) - 1
        if kind_of(item) == "message" and (is_last or status == "completed"):
            content[number] = {**item, "status": status}
    kept = [item.get("id") for item in content if kind_of(item) == "reasoning"]
    thoughts = [item for item in list_in(last.get("output")) if kind_of(item) == "reasoning"]
    tied = all(item.get("id") in kept for item in thoughts)
    identity = identity_of(first)
    if status == "completed" and last.get("store") is not False and last.get("id"):
        identity["id"] = last["id"]
    content += [call_item(call, tied=tied) for call in answer.calls]
    return encode(whole_response(identity, paired(content), answer))
