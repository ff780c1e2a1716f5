"""Text Generation Inference's own API: `/generate` and `/generate_stream`.

https://huggingface.github.io/text-generation-inference (read through huggingface_hub 2.4.0,
2026-11-22: `huggingface_hub/inference/_generated/types/text_generation.py`). An event holds a
token. The last one repeats the whole text, and says why it ended if the request asks for `details`.

The model continues at the end of the prompt by itself, so a cut text is continued exactly. The
request decides the form of the answer (`request.Form`), and each form is a wire.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.parts import AnySignal, Kind, Piece, Said
from tenuto.core.answer.signals import (
    Ended,
    FaultSeen,
    OtherSeen,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.wires.answer import error_body, shown_alike
from tenuto.wires.base import Wire
from tenuto.wires.chat_like.errors import ERRORS as CHAT_ERRORS
from tenuto.wires.dialect import Dialect
from tenuto.wires.errors import CONTEXT_WORDS, ErrorRow, ReadFault, fault_parser, fault_reader
from tenuto.wires.errors import row as _row
from tenuto.wires.json import JsonObject, count
from tenuto.wires.members import object_in
from tenuto.wires.request import WireRequest
from tenuto.wires.request_edits import key_at
from tenuto.wires.stops import StopTable, clean_stop, stop_reader
from tenuto.wires.tgi.render import (
    DETAILS,
    TEXT,
    TOKEN,
    TOKENS,
    TokenLayout,
    as_body,
    error_of_ours,
    render_body,
)
from tenuto.wires.tgi.request import Form, FormedRequest, is_request, parse_request

_K = FaultKind

STOPS: StopTable = {
    # Number of generated tokens == `max_new_tokens`.
    "length": (StopReason.MAX_TOKENS, None),
    # The model generated its end of sequence token.
    "eos_token": (StopReason.END_TURN, None),
    # The model generated a text included in `stop_sequences`.
    "stop_sequence": (StopReason.STOP_SEQUENCE, None),
}
"""Values in the order and words of the reference."""

_read_stop = stop_reader(STOPS)

ERRORS: tuple[ErrorRow, ...] = (
    _row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"`max_new_tokens` must be <= (?P<allowed>\d{1,9}(?!\d))"
        # Prompt and output share the window.
        r"|`inputs` tokens \+ `max_new_tokens` must be <= (?P<window>\d{1,9})\."
        r" Given: (?P<prompt>\d{1,9}) `inputs` tokens",
    ),
    _row(
        _K.CONTEXT_OVERFLOW,
        words=rf"{CONTEXT_WORDS}|`inputs` must have less than|`inputs` tokens \+ `max_new_tokens`",
    ),
    _row(_K.OVERLOADED, "overloaded", words=r"overloaded|currently loading"),
    _row(_K.INVALID_REQUEST, "validation", "template_error", "tool_error"),
    _row(_K.SERVER, "generation", "healthcheck"),
    *CHAT_ERRORS,
)
"""Rows by `error_type`, words, or HTTP status. Servers in front write errors as on Chat
Completions."""

read_fault: ReadFault = fault_reader(ERRORS)

SHOWN = shown_alike(done="eos_token", cut="length", blocked="content_filter")
"""How each outcome is shown in `details`. The server itself has no word for a filter."""


# --- reading ----------------------------------------------------------------------------------


def read_places(value: object, *, event: bool, echoed: str = "") -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape.

    `echoed`: the prompt, if a body may begin with it."""
    if not isinstance(value, dict):
        return []
    signals: list[AnySignal] = []
    token, details = object_in(value.get(TOKEN)), object_in(value.get(DETAILS))
    whole = value.get(TEXT)
    text = token.get("text")
    if TOKEN not in value:
        text = whole.removeprefix(echoed) if isinstance(whole, str) else None
    if isinstance(text, str) and text and token.get("special") is not True:
        signals.append(Piece((TEXT,), Kind.TEXT, text, holds=TEXT))
    if event and TOKEN in value and isinstance(whole, str) and whole:
        # The last event repeats the text, and may be the only one that has it.
        said = whole.removeprefix(echoed)
        signals.append(Piece((TEXT,), Kind.TEXT, said, holds=TEXT, whole=True))
    stop = _read_stop(details.get("finish_reason"), "details.finish_reason")
    if stop is not None:
        signals.append(stop)
    if value.get("error"):
        signals.append(FaultSeen(read_fault(_error_of(value))))
    ends = event and isinstance(whole, str)
    if details or ends:
        output = details.get("generated_tokens", value.get("index") if ends else None)
        signals.append(UsageSeen(Usage(count(details.get("input_length")), count(output))))
    if ends and stop is None:
        signals.append(Ended())
    if not signals and not event and not {TEXT, TOKEN} & value.keys():
        signals.append(OtherSeen())  # the answer of another task with the same request
    if event:
        signals.append(Piece(TOKENS, Kind.NOTE, "", {"tokens": [value.get(TOKEN)]}, holds=""))
    return [Said({k: item for k, item in value.items() if _is_told(k, item)}), *signals]


def _is_told(name: str, item: object) -> bool:
    """Return whether a member describes the whole answer."""
    if name == DETAILS:
        return bool(object_in(item))
    return isinstance(item, {TEXT: str, "index": int}.get(name, ()))


def _error_of(value: JsonObject) -> JsonObject:
    """Return an error as an object: its text and its type stand side by side; in an `error` event,
    one level deeper."""
    error = value.get("error")
    inner = error if isinstance(error, dict) else value
    said = {"message": inner.get("error", inner.get("message")), "type": inner.get("error_type")}
    return said | ({"code": inner["type"]} if isinstance(inner.get("type"), str) else {})


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a response of this wire, or one of its events, or its error."""
    if isinstance(value.get(TOKEN), dict) and "text" in value[TOKEN]:
        return not {"logprob", "special"}.isdisjoint(value[TOKEN])
    if isinstance(value.get(TEXT), str):
        return value.keys() <= _MEMBERS  # rows of tables have more beside their text
    return isinstance(value.get("error_type"), str) and "error" in value


_MEMBERS = frozenset({TEXT, TOKEN, "details", "index", "top_tokens"})


def request(body: bytes, probe_max_tokens: int, path: str, dialect: Dialect) -> WireRequest | None:
    """Return a request, which sets the form of its answer; None: the bytes are none."""
    parsed = parse_request(body, probe_max_tokens, path)
    if parsed is not None:
        parsed.wire = in_form(parsed.form)
    return parsed


def in_form(form: Form) -> Wire:
    """Return the wire of answers in this form."""
    told: dict[str, Any] = {"details": form.details, "echoed": form.echoed}
    return replace(
        WIRE,
        listed=form.listed,
        read=partial(read_places, echoed=form.echoed),
        layout=partial(TokenLayout, **told),
        render_body=partial(render_body, listed=form.listed, **told),
    )


WIRE = Wire(
    name="tgi",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=request,
    limit_key=lambda _: key_at(FormedRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=lambda value: TOKEN in value,
    last_is_body=True,
    read=read_places,
    usage_object=lambda value: object_in(value.get(DETAILS)) or None,
    parse_fault=fault_parser(_error_of, read_fault),
    layout=TokenLayout,
    clean_stop=clean_stop("eos_token"),  # no calls are known
    as_body=as_body,
    render_body=render_body,
    render_error=error_body(error_of_ours),
)
