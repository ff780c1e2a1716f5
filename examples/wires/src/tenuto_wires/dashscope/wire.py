"""DashScope's own API for Qwen's models.

https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope (read 2026-11-22 through clients that
quote it). Top-level members of Chat Completions are in `output`: choices with messages, or one
`text`. Each event of a stream holds what is new, or everything so far, unless the request sets
`incremental_output` (`events`). Members of a request are in `input` and `parameters` (`request`).
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.wire_kit import (
    CHAT,
    CHAT_ERRORS,
    CHAT_STOPS,
    AnySignal,
    Began,
    ChoiceSeen,
    Dialect,
    Envelope,
    ErrorRow,
    FaultKind,
    FaultSeen,
    JsonObject,
    Signal,
    StopSeen,
    StopTable,
    UsageSeen,
    error_at,
    error_body,
    fault_parser,
    fault_reader,
    is_silent,
    list_in,
    never,
    object_in,
    read_chat,
)
from tenuto.wire_kit import (
    error_row as _row,
)
from tenuto_wires.dashscope import render
from tenuto_wires.dashscope.events import Unrepeated, stops
from tenuto_wires.dashscope.render import as_chat
from tenuto_wires.dashscope.repeating import Repeating
from tenuto_wires.dashscope.request import (
    MAY_NOT_THINK,
    is_request,
    parse_request,
    with_headers,
)

_K = FaultKind

STOPS: StopTable = {
    # It ended by itself, or by a stop sequence of the request. Before, the value is the text
    # "null".
    "stop": CHAT_STOPS["stop"],
    # It became too long.
    "length": CHAT_STOPS["length"],
    # The model called a tool.
    "tool_calls": CHAT_STOPS["tool_calls"],
}
"""Values in the order of the reference."""

ERRORS: tuple[ErrorRow, ...] = (
    _row(_K.CONTEXT_OVERFLOW, words=r"range of input length should be"),
    _row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"range of max_tokens should be \[\d+, (?P<allowed>\d{1,9}(?!\d))\]",
    ),
    _row(
        _K.RATE_LIMITED,
        "throttling",
        "throttling.ratequota",
        "throttling.burstrate",
        "throttling.allocationquota",
    ),
    _row(_K.PAYMENT, "arrearage"),
    _row(_K.TIMEOUT, "internalerror.timeout", "requesttimeout"),
    _row(_K.AUTHENTICATION, "invalidapikey", "accessdenied"),
    _row(_K.OVERLOADED, "serviceunavailable", "modelunavailable", "modelservingerror"),
    *CHAT_ERRORS[:-1],
    # The code of most request errors; the words are more precise.
    _row(_K.INVALID_REQUEST, "invalidparameter", "badrequest.emptyparameter"),
    CHAT_ERRORS[-1],
)
"""Rows by code, then those of its compatible endpoint."""

read_fault = fault_reader(ERRORS)


def _under_output(signal: AnySignal) -> AnySignal:
    if isinstance(signal, ChoiceSeen):
        return replace(signal, signals=tuple(map(_in_output, signal.signals)))
    return _in_output(signal) if isinstance(signal, StopSeen) else signal


def _in_output(signal: Signal) -> Signal:
    if isinstance(signal, StopSeen):
        return replace(signal, field=f"output.{signal.field}")
    return signal


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    error = _error_of(value)
    if error is not None:
        return [FaultSeen(read_fault(error))]
    signals = [Envelope(value), *read_chat(as_chat(value), event=event)]
    if event and all(isinstance(s, UsageSeen) or is_silent(s) for s in signals):
        signals.insert(0, Began())  # the first events report only usage
    return [_under_output(signal) for signal in signals]


def _error_of(value: JsonObject) -> object:
    """Return the error: an object with a `code`, which an `error` event holds one level deeper."""
    if (error := error_at(value)) is not None:
        return error
    return value if value.get("code") and not object_in(value.get("output")) else None


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a response of this wire, or one of its events, or its error."""
    output = object_in(value.get("output"))
    if isinstance(output.get("choices"), list) or isinstance(output.get("text"), str):
        choice = object_in(next(iter(list_in(output.get("choices"))), None))
        return "request_id" in value or "finish_reason" in {**output, **choice}
    return {"request_id", "code", "message"} <= value.keys()


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event: it has no stop yet. The last event of a stream may also
    be a whole body, and is read the same way."""
    return not stops(value)


WIRE = replace(
    CHAT,
    name="dashscope",
    stops=STOPS,
    errors=ERRORS,
    is_request=is_request,
    hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
    # Every host with this API serves its models.
    dialect=Dialect(
        prefill_models=MAY_NOT_THINK,
        prefill_row=(("partial", True),),
        prefill_members=(("enable_thinking", False),),
    ),
    request=parse_request,
    limit_key=lambda dialect: f"parameters.{dialect.output_key}",
    with_headers=with_headers,
    looks_like=looks_like,
    is_event=is_event,
    last_is_body=True,
    read=read,
    make_incremental=Unrepeated,
    rewriter=Repeating,
    is_terminator=never,
    usage_object=lambda value: object_in(value.get("usage")) or None,
    parse_fault=fault_parser(_error_of, read_fault),
    layout=render.DashScopeLayout,
    as_body=render.as_body,
    render_body=render.render_body,
    render_error=error_body(render.error_of_ours),
    form=None,
)
