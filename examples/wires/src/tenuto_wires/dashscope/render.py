"""Write DashScope's own API: what Chat Completions writes, in this shape.

Its SDK reads a stream line by line, and recognizes an error by the line `event:error`, without a
space (`_handle_stream` in dashscope/common/utils.py of dashscope-sdk-python, 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.wire_kit import (
    Answer,
    AnySignal,
    ChatLayout,
    Counts,
    JsonObject,
    Message,
    Usage,
    choice_of,
    completion,
    encode,
    envelope,
    object_in,
)
from tenuto_wires.dashscope.events import first_choice, like, message_of

_OF_CHAT = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "output_tokens_details": "completion_tokens_details",
    "prompt_tokens_details": "prompt_tokens_details",
}

COUNTS = Counts(
    input="input_tokens",
    output="output_tokens",
    total="total_tokens",
    reasoning="reasoning_tokens",
    details="output_tokens_details",
)

_OF_ERRORS = frozenset({"error", "code", "message"})
_OF_EVENTS = _OF_ERRORS | {"output", "choices", "usage"}


def as_chat(value: JsonObject) -> JsonObject:
    """Return the same in the form of Chat Completions."""
    choices = object_in(value.get("output")).get("choices")
    if not isinstance(choices, list):
        choices = [first_choice(value)]
    choices = [
        {**choice, "delta": choice.get("message")} if isinstance(choice, dict) else choice
        for choice in choices
    ]
    usage = object_in(value.get("usage"))
    told = {_OF_CHAT[key]: item for key, item in usage.items() if key in _OF_CHAT}
    return {"choices": choices, "usage": told or None}


def _is_text(value: JsonObject) -> bool:
    """Return whether it has the form without messages."""
    output = object_in(value.get("output"))
    return not isinstance(output.get("choices"), list) and "text" in output


class DashScopeLayout(ChatLayout):
    """Writes a message as numbered events."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.shared = {"request_id": "tenuto"}
        self._like: JsonObject = {}
        self._number = 0
        self._called = False

    def begin(self, value: JsonObject) -> None:
        """Take what all events of one message share, and their form, from the first of them."""
        self.shared = {"request_id": value.get("request_id", "tenuto")}
        self._like = value

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Count an event that was passed on unchanged."""
        self._number += 1

    def stopped(self, answer: Answer, include_usage: bool) -> bytes:
        """Write the stop with the usage; there is no end mark."""
        usage = merged_usage(answer.raw_usage, answer.usage)
        return self.chunk({}, answer.native_stop, **({"usage": usage} if usage else {}))

    def error(self, code: str, message: str) -> bytes:
        """Write an event that the official SDK reports as an error."""
        told = error_of_ours(code, message) | self.shared
        return self._event("error", 424, told)

    def chunk(self, delta: JsonObject, finish: str | None = None, **beside: object) -> bytes:
        finish = finish or "null"
        output: JsonObject
        self._called = self._called or "tool_calls" in delta  # a text alone has no place for them
        if _is_text(self._like) and not self._called:
            output = {"text": delta.get("content") or "", "finish_reason": finish}
        else:
            form = [] if isinstance(message_of(self._like).get("content"), list) else ""
            message = {"role": "assistant", **delta}
            message["content"] = like(form, delta.get("content") or "")
            output = {"choices": [{"message": message, "finish_reason": finish}]}
        return self._event("result", 200, {"output": output, **beside, **self.shared})

    def _event(self, name: str, status: int, value: JsonObject) -> bytes:
        self._number += 1
        head = f"id:{self._number}\nevent:{name}\n:HTTP_STATUS/{status}\n".encode()
        return head + b"data:" + encode(value) + b"\n\n"


def merged_usage(raw: JsonObject | None, usage: Usage | None) -> JsonObject | None:
    """Return a usage object for the whole turn: these counts, the first one's other fields
    (C19)."""
    if usage is None:
        return raw
    # The details belong to one attempt.
    of_turn = {k: v for k, v in (raw or {}).items() if k != COUNTS.details}
    return COUNTS.merged(of_turn, usage)


def as_body(message: Message) -> JsonObject:
    """Return the body of a message (`Wire.as_body`)."""
    choice = choice_of(message)
    choice["message"] = {"role": "assistant", **choice["message"]}
    return envelope(message, _OF_EVENTS) | {"output": {"choices": [choice]}}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole body: the first attempt's identity and form, the merged answer."""
    choice = completion(as_chat(first), as_chat(last), answer)["choices"][0]
    output = dict(object_in(first.get("output")))
    if _is_text(first) and not answer.calls:
        output |= {"text": answer.text, "finish_reason": answer.native_stop}
    else:
        output.pop("text", None)
        output.pop("finish_reason", None)
        message = choice["message"]
        message["content"] = like(message_of(first).get("content"), answer.text)
        output["choices"] = [{"finish_reason": answer.native_stop, "message": message}]
    body: JsonObject = {**first, "output": output}
    for key in _OF_ERRORS:
        body.pop(key, None)
    if usage := merged_usage(answer.raw_usage, answer.usage):
        body["usage"] = usage
    return encode(body)


def error_of_ours(code: str, message: str) -> JsonObject:
    """Return an error in the provider's shape."""
    return {"code": code, "message": message, "request_id": "tenuto"}
