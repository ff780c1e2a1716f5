"""Text Generation Inference's own API: `/generate` and `/generate_stream`.

https://huggingface.github.io/text-generation-inference (read through huggingface_hub 2.4.0,
2026-11-22: `huggingface_hub/inference/_generated/types/text_generation.py`). Responses are read,
and that is all. An event holds a token; the last one says all of the text once more, and why it
ends. A body says why only where the request asks for `details`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tenuto.core.fault import Fault, FaultKind
from tenuto.core.signals import FaultSeen, Signal, TextDelta, Usage, UsageSeen
from tenuto.core.stop import StopReason
from tenuto.wire import openai_chat
from tenuto.wire.base import JsonObject, never, no_request, unasked
from tenuto.wire.errors import CONTEXT_WORDS, ErrorRow, error_in, read
from tenuto.wire.errors import row as _row
from tenuto.wire.json import count
from tenuto.wire.members import object_in
from tenuto.wire.retry_after import retry_after_s
from tenuto.wire.stops import StopTable, in_other_words, look_up

_K = FaultKind

STOPS: StopTable = {
    # Number of generated tokens == `max_new_tokens`.
    "length": (StopReason.MAX_TOKENS, None),
    # The model generated its end of sequence token.
    "eos_token": (StopReason.END_TURN, None),
    # The model generated a text included in `stop_sequences`.
    "stop_sequence": (StopReason.STOP_SEQUENCE, None),
}
"""In the order and words of the reference."""

_ALL_STOPS = {**in_other_words(STOPS), **STOPS}

ERRORS: tuple[ErrorRow, ...] = (
    _row(
        _K.CONTEXT_OVERFLOW,
        words=rf"{CONTEXT_WORDS}|`inputs` must have less than|`inputs` tokens \+ `max_new_tokens`",
    ),
    _row(_K.OVERLOADED, "overloaded", statuses=range(429, 430)),
    _row(_K.OVERLOADED, words=r"overloaded|currently loading", statuses=range(503, 504)),
    _row(_K.AUTHENTICATION, statuses=range(401, 404)),
    _row(_K.INVALID_REQUEST, "validation", "template_error", "tool_error"),
    _row(_K.SERVER, "generation", "incomplete_generation", "healthcheck"),
    _row(_K.INVALID_REQUEST, statuses=range(400, 500)),
    _row(_K.SERVER),
)
"""By the `error_type`, the words, or the HTTP status."""


def parse_object(value: object, *, event: bool) -> list[Signal]:
    """The signals of a body, or of one event; an object of another shape has none."""
    if not isinstance(value, dict):
        return []
    signals: list[Signal] = []
    token, details = object_in(value.get("token")), object_in(value.get("details"))
    text = value.get("generated_text") if "token" not in value else token.get("text")
    if isinstance(text, str) and text and token.get("special") is not True:
        signals.append(TextDelta(text))
    stop = look_up(details.get("finish_reason"), "details.finish_reason", _ALL_STOPS)
    if stop is not None:
        signals.append(stop)
    if value.get("error"):
        signals.append(FaultSeen(_read_fault(_error_of(value))))
    if details:
        used = count(details.get("input_length")), count(details.get("generated_tokens"))
        signals.append(UsageSeen(Usage(*used)))
    return signals


def _error_of(value: JsonObject) -> JsonObject:
    """An error as an object: its words and its type stand side by side, in an event of that name
    one level deeper."""
    error = value.get("error")
    inner = error if isinstance(error, dict) else value
    return {"message": inner.get("error", inner.get("message")), "type": inner.get("error_type")}


def _read_fault(error: object, status: int | None = None, wait_s: float | None = None) -> Fault:
    return read(error, ERRORS, status, wait_s)


def parse_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """The fault of an HTTP error response; what it asks to wait is read."""
    return _read_fault(error_in(body, _error_of), status, retry_after_s(headers))


def looks_like(value: JsonObject) -> bool:
    """Whether an object is a response of this wire, or one of its events, or its error."""
    if isinstance(value.get("token"), dict) and "text" in value["token"]:
        return True
    return isinstance(value.get("generated_text"), str) or isinstance(value.get("error_type"), str)


WIRE = replace(
    openai_chat.WIRE,
    name="tgi",
    stops=STOPS,
    errors=ERRORS,
    is_request=unasked,
    request=no_request,
    looks_like=looks_like,
    is_event=lambda value: "token" in value,
    parse_object=parse_object,
    read_flowing=lambda _: None,
    is_terminator=never,
    is_plain=lambda _: False,
    usage_object=lambda value: object_in(value.get("details")) or None,
    parse_fault=parse_fault,
)
