"""Anthropic Messages, and every API in this format.

https://platform.claude.com/docs/en/api/messages (read through anthropic-sdk-python 2.12,
2026-11-21: `anthropic/types/stop_reason.py`, `types/beta/beta_stop_reason.py`,
`types/raw_message_stream_event.py`). This module holds the stop table, the reader, and how endings
are shown. Errors are in `errors`, requests in `request` and `history`, and writing in `content` and
`render`.

Amazon Bedrock's InvokeModel and Google Vertex AI serve the same bodies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from tenuto.core.answer.fault import Fault
from tenuto.core.answer.parts import (
    AnySignal,
    Beside,
    CallPiece,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Place,
    Retold,
    Said,
)
from tenuto.core.answer.signals import (
    Began,
    CallDelta,
    Ended,
    OddSeen,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.answer import Shown, shown_alike
from tenuto.wires.anthropic_messages import render, short
from tenuto.wires.anthropic_messages.content import merged_content
from tenuto.wires.anthropic_messages.errors import ERRORS, read_fault
from tenuto.wires.anthropic_messages.form import FORM
from tenuto.wires.anthropic_messages.mending import Mender
from tenuto.wires.anthropic_messages.request import MessagesRequest, parse_request
from tenuto.wires.base import Wire, never
from tenuto.wires.bedrock_like.guardrail import GUARDRAIL, guardrail_signals
from tenuto.wires.beside_stop import with_words
from tenuto.wires.errors import error_at, error_in
from tenuto.wires.json import JsonObject, count
from tenuto.wires.members import list_in, object_in, others_in, word_in
from tenuto.wires.reading import (
    ReadAny,
    ReadOne,
    by_name,
    call_piece,
    decoded_arguments,
    explained,
    numbered,
    reader,
)
from tenuto.wires.request_edits import key_at
from tenuto.wires.retry_after import retry_after_s
from tenuto.wires.short import ShortPath
from tenuto.wires.stops import StopTable, clean_stop, stop_reader
from tenuto.wires.usage import usage_at

_R = StopReason

STOPS: StopTable = {
    # The model reached a natural stopping point.
    "end_turn": (_R.END_TURN, None),
    # The request's max_tokens or the model's maximum was exceeded.
    "max_tokens": (_R.MAX_TOKENS, None),
    # One of the request's stop_sequences was generated; `stop_sequence` says which.
    "stop_sequence": (_R.STOP_SEQUENCE, None),
    # The model invoked one or more of the client's tools.
    "tool_use": (_R.TOOL_CALL, None),
    # A long-running turn was paused: provide the response as it is in a subsequent request.
    "pause_turn": (_R.PAUSED, None),
    # Streaming classifiers intervened; `stop_details` may name the category.
    "refusal": (_R.REFUSAL, None),
    # The context window is full: treat the response as truncated.
    "model_context_window_exceeded": (_R.CONTEXT_WINDOW_EXCEEDED, None),
    # Beta: only the summary of the conversation was written; send it back and ask again.
    "compaction": (_R.PAUSED, "compaction"),
}
"""Anthropic's own values, in the order and spelling of the reference, those of its beta last."""

_look_up = stop_reader(STOPS)
_PLAIN_WORD = re.compile(r"[a-z][a-z0-9_]{0,39}")


def read_stop(raw: object, field: str, details: object = None) -> StopSeen | None:
    """Return the stop that a native value means; None: it is no stop at all (N1a).

    `details` is the `stop_details` beside it. The category of a refusal is kept if it is a plain
    word. Its explanation is not, since it may quote content (N10).

    >>> read_stop("pause_turn", "stop_reason").reason.value
    'paused'
    >>> read_stop("refusal", "stop_reason", {"category": "cyber", "explanation": "…"}).detail
    'cyber'
    """
    stop = _look_up(raw, field)
    category = details.get("category") if isinstance(details, dict) else None
    if (
        stop is not None
        and stop.reason is _R.REFUSAL
        and isinstance(category, str)
        and _PLAIN_WORD.fullmatch(category)
    ):
        return StopSeen(stop.raw, field, stop.reason, category)
    return stop


# --- reading ----------------------------------------------------------------------------------

REDACTED_THINKING = "[redacted thinking]"
"""Stands for reasoning that the provider encrypted, which can't be read."""


def _read_body(body: JsonObject) -> list[AnySignal]:
    content = body.get("content")
    signals: list[AnySignal] = []
    if isinstance(content, list):
        for index, block in enumerate(content):
            signals += _read_block(block, index, event=False)
    elif isinstance(content, str) and content:  # gateways that mix up wires
        signals.append(TextDelta(content))
    signals += _end_of(body, "stop_reason", body)
    return signals


def _end_of(part: object, field: str, value: JsonObject) -> list[AnySignal]:
    """Return the stop of a body or of an event's delta, and the usage beside it."""
    signals: list[AnySignal] = []
    if isinstance(part, dict):
        stop = read_stop(part.get("stop_reason"), field, part.get("stop_details"))
        if stop is not None:
            details = part.get("stop_details")
            told = details if isinstance(details, dict) else {}
            category = told.get("category")
            if not isinstance(category, str) or not _PLAIN_WORD.fullmatch(category):
                category = None
            stop = with_words(stop, category=category, stop_sequence=part.get("stop_sequence"))
            signals += explained(stop, _R.REFUSAL, told.get("explanation"))
    usage = usage_object(value)
    if usage is not None:
        signals.append(UsageSeen(_usage(usage)))
    return signals


_TEXTS = {"text": (Kind.TEXT, "text"), "thinking": (Kind.REASONING, "thinking")}
"""Blocks with text: the kind of text, and the member that holds it."""


def _read_block(block: object, index: int | None, *, event: bool) -> list[AnySignal]:
    """Read a content block of a body, or as it starts in a stream. The client runs only `tool_use`
    calls; all other tools are the provider's own."""
    if not isinstance(block, dict):
        return []
    kind, place = block.get("type"), (index,)
    if isinstance(kind, str) and kind in _TEXTS:
        part, member = _TEXTS[kind]
        says = block.get(member)
        if not isinstance(says, str):
            return [Opened(place, part, block)]
        return [Opened(place, part, block, member, says)]
    if kind == "redacted_thinking":
        return [Opened(place, Kind.REASONING, block, says=REDACTED_THINKING)]
    if kind == "tool_use":
        return [CallPiece(place, _call(block, index, event))]
    return [Opened(place, Kind.OTHER, block)]


_CALL_KEYS = frozenset({"type", "id", "name", "input"})


def _call(block: JsonObject, index: int | None, event: bool) -> CallDelta:
    given = block.get("input")
    arguments, odd, decoded = decoded_arguments(given, "arguments_object")
    # A stream starts each call with an empty input, and sends the real one in deltas.
    if event and given == {}:
        arguments, decoded = None, False
    return CallDelta(
        index,
        word_in(block, "id"),
        word_in(block, "name"),
        arguments,
        numbered(index, odd),
        may_be_empty=given == {},
        decoded=decoded,
        extra=others_in(block, _CALL_KEYS),
    )


# --- events


def _message_start(event: JsonObject) -> list[AnySignal]:
    """Read the beginning of a message. Some servers give all of its content here."""
    message, usage = event.get("message"), usage_object(event)
    said: list[AnySignal] = [Said(message)] if isinstance(message, dict) else []
    said.append(Began())
    for index, block in enumerate(list_in(object_in(message).get("content"))):
        said += [*_read_block(block, index, event=False), PartClosed((index,))]
    if any(isinstance(signal, PartClosed) for signal in said):  # without content it ends nothing
        said += [s for s in _end_of(message, "message.stop_reason", {}) if isinstance(s, StopSeen)]
    return [*said, UsageSeen(_usage(usage))] if usage is not None else said


def _block_start(event: JsonObject) -> list[AnySignal]:
    return _read_block(event.get("content_block"), count(event.get("index")), event=True)


def _block_stop(event: JsonObject) -> list[AnySignal]:
    """Read the end of a block. Some servers send its text only here."""
    place = (count(event.get("index")),)
    return [*_texts_in([event.get("content_block")], place), PartClosed(place)]


def _texts_in(blocks: list[Any], place: Place) -> list[Piece]:
    found = map(object_in, blocks)
    told = [(*_TEXTS[kind], block) for block in found if (kind := word_in(block, "type")) in _TEXTS]
    return [
        Piece(place, kind, text, holds=member, whole=True)
        for kind, member, block in told
        if (text := word_in(block, member))
    ]


def _message_stop(event: JsonObject) -> list[AnySignal]:
    """Read the end mark, beside which SDKs' own events hold the whole message."""
    blocks = list_in(object_in(event.get("message")).get("content"))
    parts = [part for n, block in enumerate(blocks) for part in _read_block(block, n, event=False)]
    told = tuple(part for part in parts if isinstance(part, Opened))
    return [Retold(told), Ended()] if told else [Ended()]


_ADDS = {
    "signature_delta": (Kind.REASONING, "signature"),
    "compaction_delta": (Kind.OTHER, "content"),
}
"""Deltas that add something other than text to a block: the kind of block, and the member."""


def _block_delta(event: JsonObject) -> list[AnySignal]:
    delta, index = event.get("delta"), count(event.get("index"))
    kind = delta.get("type") if isinstance(delta, dict) else None
    place = (index,)
    if not isinstance(delta, dict) or not isinstance(kind, str):
        return [CallPiece(place, CallDelta(index, None, None, None, unreadable=True))]
    match kind:
        case "text_delta" | "thinking_delta":
            part, member = _TEXTS[kind.removesuffix("_delta")]
            text = delta.get(member)
            raw = delta if part is Kind.REASONING else None
            return [Piece(place, part, text, raw=raw)] if isinstance(text, str) else []
        case "input_json_delta":
            call = call_piece(index, delta.get("partial_json"))
            return [CallPiece(place, call, delta)]
        case "citations_delta":
            return [Piece(place, Kind.TEXT, "", {"citations": [delta.get("citation")]}, delta)]
        case "signature_delta" | "compaction_delta":
            part, member = _ADDS[kind]
            more = delta.get(member)
            return [Piece(place, part, "", {member: more} if isinstance(more, str) else {}, delta)]
        case _:
            return [Piece(place, Kind.OTHER, raw=delta)]


def _message_delta(event: JsonObject) -> list[AnySignal]:
    delta = event.get("delta")
    signals = _end_of(delta, "delta.stop_reason", event)
    if isinstance(delta, dict):
        signals.append(Said(delta))
    # The official SDK reads the usage of this event without checking that it exists.
    return signals if usage_object(event) is not None else [*signals, OddSeen("usage_missing")]


_EVENTS: dict[str, ReadOne] = {
    "message_start": _message_start,
    "content_block_start": _block_start,
    "content_block_delta": _block_delta,
    "content_block_stop": _block_stop,
    "message_delta": _message_delta,
    "message_stop": _message_stop,
    "ping": lambda event: [Beside(event)],
}
"""Events that are not listed, such as future ones, have no signals."""


def _error_of(value: JsonObject) -> object | None:
    """Return the error in an object, or None."""
    return error_at(value) or (value if value.get("type") == "error" else None)


_read: ReadAny = reader(_read_body, by_name(_EVENTS), _error_of, read_fault)


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape. On
    InvokeModel, a guardrail adds its own beside Claude's."""
    signals = _read(value, event=event)
    if isinstance(value, dict) and GUARDRAIL in value:
        signals += guardrail_signals(value)
    return signals


def usage_object(value: JsonObject) -> JsonObject | None:
    """Return the native usage object of a body, a `message_delta` or a `message_start`."""
    starts = value.get("type") == "message_start"
    return (_usage_at_start if starts else _usage_beside)(value)


_usage_beside, _usage_at_start = usage_at("usage"), usage_at("usage", "message.usage")


def _usage(usage: JsonObject) -> Usage:
    """Return the usage. `input_tokens` leave out tokens read from and written to the cache."""
    fresh = count(usage.get("input_tokens"))
    read = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    made = object_in(usage.get("output_tokens_details"))
    return Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        output_tokens=count(usage.get("output_tokens")),
        reasoning_tokens=count(made.get("thinking_tokens")),
        cached_tokens=read,
    )


# --- how endings are shown (P1a) --------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = {
    **shown_alike(done="end_turn", cut="max_tokens", blocked="refusal"),
    Outcome.PAUSED: Shown(native="pause_turn", received=True),
    Outcome.OVERFLOW: Shown(native="model_context_window_exceeded", received=True),
}
"""How each outcome is shown if the turn is not complete."""

_REQUEST_PATHS = re.compile(
    r"/messages$"
    r"|/publishers/anthropic/models/(?!count-tokens:)[^/]+:(?:rawPredict|streamRawPredict)$"
    r"|/model/.*(?:anthropic|claude).*/invoke(?:-with-response-stream)?$"
)
"""The API's own path, below any base URL; Vertex AI's; Bedrock's, if the model is Claude."""

_EVENT_MEMBERS = {
    "message_start": "message",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
    "content_block_stop": "index",
    "message_delta": "delta",
    "message_stop": "type",
}
"""Members of this wire's events beside the type. Others send a `ping` as well."""


SDK_LONGEST_S = 600
"""The SDK limits a whole body to ten minutes, by its own estimate of an hour for 128,000 tokens
(`_calculate_nonstreaming_timeout` in anthropic/_base_client.py), since networks drop idle
connections."""

BODY_TOKENS = SDK_LONGEST_S * 128_000 // 3_600
SMALL_BODY_TOKENS: dict[str, int] = dict.fromkeys(
    (
        "claude-opus-4-20250514",
        "claude-opus-4-0",
        "claude-4-opus-20250514",
        "anthropic.claude-opus-4-20250514-v1:0",
        "claude-opus-4@20250514",
        "anthropic.claude-opus-4-1-20250805-v1:0",
        "claude-opus-4-1@20250805",
    ),
    8_192,
)
"""Models for which the SDK allows less (`MODEL_NONSTREAMING_TOKENS` in anthropic/_constants.py)."""


def body_ceiling_tokens(model: str) -> int | None:
    """Return the largest output limit that the SDK allows for a whole body (C17)."""
    return SMALL_BODY_TOKENS.get(model, BODY_TOKENS)


def is_request(path: str) -> bool:
    """Return whether the path is that of a message, not of a batch or of a token count.

    >>> is_request("/v1/messages"), is_request("/v1/messages/count_tokens")
    (True, False)
    >>> is_request("/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke")
    True
    """
    path = unquote(path).rstrip("/")
    # OpenAI's threads have messages too.
    return _REQUEST_PATHS.search(path) is not None and "/threads/" not in path


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a message, one of its events, or an error of this wire."""
    kind = value.get("type")
    if kind == "message":
        return "content" in value and ("stop_reason" in value or "usage" in value)
    if isinstance(value.get("content"), list):
        return "stop_reason" in value
    if kind == "error":
        return isinstance(object_in(value.get("error")).get("type"), str)
    return isinstance(kind, str) and _EVENT_MEMBERS.get(kind, "") in value


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event. The streaming helper of Anthropic's SDK adds events of
    its own (`text`, `input_json`, …), which carry nothing new."""
    kind = value.get("type")
    return (
        isinstance(kind, str)
        and kind not in ("message", "error")
        and not isinstance(value.get("content"), list)
    )


def parse_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Return the fault of an HTTP error response, with the wait that it asks for. Bedrock names the
    kind in a header."""
    error = error_in(body, _error_of)
    code = headers.get("x-amzn-errortype", "").partition(":")[0].strip()
    return read_fault(error, status, retry_after_s(headers), code)


WIRE = Wire(
    name="anthropic-messages",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    limit_key=lambda _: key_at(MessagesRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=is_event,
    read=read,
    parts_close=True,
    opening=b'event: message_start\ndata: {"type":"message_start",',
    mender=Mender,
    named_events=True,
    keep_alive="ping",
    is_terminator=never,
    short=ShortPath(
        parse_request,
        read,
        short.asks,
        short.ids_if_whole,
        short.event,
        named=True,
        opens=(b"event: message_start", b"event: content_block_start"),
    ),
    usage_object=usage_object,
    summed_usage=("server_tool_use",),
    parse_fault=parse_fault,
    layout=render.MessageLayout,
    content=merged_content,
    clean_stop=clean_stop("end_turn", "tool_use"),
    render_body=render.render_body,
    render_error=render.render_error,
    body_ceiling_tokens=body_ceiling_tokens,
    form=FORM,
)
