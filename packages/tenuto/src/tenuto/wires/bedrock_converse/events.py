"""Read Converse: its blocks, and its events as botocore gives them, `{name: payload}`.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html and
…/API_runtime_ConverseStreamOutput.html (shapes read in botocore 1.43, 2026-11-22). A block of text
or reasoning begins without an event of its own, and the usage comes after the stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tenuto.core.answer.parts import (
    AnySignal,
    Beside,
    CallPiece,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Restated,
    Said,
)
from tenuto.core.answer.signals import (
    Began,
    CallDelta,
    Ended,
    OtherSeen,
    Usage,
    UsageSeen,
    WordsSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.wires.bedrock_like.guardrail import trace_words
from tenuto.wires.beside_stop import with_words
from tenuto.wires.json import JsonObject, as_text, count, is_no_piece
from tenuto.wires.members import list_in, object_in, others_in, word_in
from tenuto.wires.request_reading import text_in
from tenuto.wires.stops import ReadStop, StopTable, stop_reader

_R = StopReason

STOPS: StopTable = {
    # The model reached the end of its turn. Some models use it beside calls too.
    "end_turn": (_R.END_TURN, None),
    # The model wants one of the client's tools.
    "tool_use": (_R.TOOL_CALL, None),
    # inferenceConfig.maxTokens, or the model's own maximum.
    "max_tokens": (_R.MAX_TOKENS, None),
    # One of inferenceConfig.stopSequences; which one is reported only if the caller asks for it.
    "stop_sequence": (_R.STOP_SEQUENCE, None),
    # A guardrail replaced the answer; `trace.guardrail` says why.
    "guardrail_intervened": (_R.SAFETY_BLOCKED, "guardrail"),
    # A filter of the model's provider.
    "content_filtered": (_R.SAFETY_BLOCKED, None),
    # What the model wrote cannot be read.
    "malformed_model_output": (_R.ERROR, "malformed"),
    # The model wrote a call that cannot be read.
    "malformed_tool_use": (_R.MALFORMED_TOOL_CALL, None),
    # The context window is full.
    "model_context_window_exceeded": (_R.CONTEXT_WINDOW_EXCEEDED, None),
}
"""Bedrock's own values, in the order of its enum `StopReason`."""

read_stop: ReadStop = stop_reader(STOPS)
"""Values that models add to the enum (N2): Claude's `refusal` and `pause_turn`."""

REDACTED = "[redacted reasoning]"
"""Stands for reasoning that the provider encrypted, which can't be read."""

SERVER_TOOL = "server_tool_use"
"""The `type` of calls that the provider runs itself."""


def stop_words(payload: JsonObject) -> dict[str, object]:
    """Return the words beside a stop: Claude's matched stop sequence, if the caller asked for
    it."""
    fields = object_in(payload.get("additionalModelResponseFields"))
    return {"stop_sequence": fields.get("stop_sequence")}


# --- blocks of a body


def read_block(block: object, index: int) -> Iterator[AnySignal]:
    """Read one content block of a body. A block is one member, named as its kind."""
    if not isinstance(block, dict):
        return
    place = (index,)
    for kind, value in block.items():
        native = {kind: value}
        match kind:
            case "text":
                if isinstance(value, str):
                    yield Opened(place, Kind.TEXT, native, "text", value)
            case "reasoningContent":
                yield Opened(place, Kind.REASONING, native, says=_thought(value))
            case "citationsContent":
                yield Opened(place, Kind.TEXT, native, says="".join(cited_texts(value)))
            case "toolUse" if not isinstance(value, dict):
                yield OtherSeen(index)
            case "toolUse" if is_call(value):
                yield CallPiece(place, _call(value, index))
            case "cachePoint":
                yield Restated(place, Kind.NOTE, native)
            case _:
                yield Opened(place, Kind.OTHER, native)


def is_call(call: JsonObject) -> bool:
    """Return whether a call is for the caller, and not for a tool that the provider runs itself."""
    return call.get("type") != SERVER_TOOL


def _thought(value: object) -> str:
    inner = object_in(value)
    if inner.get("reasoningText") is None:
        return REDACTED if inner.get("redactedContent") else ""
    return text_in(object_in(inner["reasoningText"]).get("text"))


def cited_texts(value: object) -> list[str]:
    """Return the texts of a block with citations.

    >>> cited_texts({"content": [{"text": "Yes."}], "citations": []})
    ['Yes.']
    """
    content = list_in(object_in(value).get("content"))
    found = (object_in(part).get("text") for part in content)
    return [text for text in found if isinstance(text, str) and text]


_CALL_KEYS = frozenset({"toolUseId", "name", "input"})


def _call(value: JsonObject, index: int) -> CallDelta:
    """Read a call of a body, whose input is decoded."""
    given = value.get("input")
    odd = "arguments_text" if isinstance(given, str) else "arguments_object"
    decoded = isinstance(given, dict)
    return CallDelta(
        index,
        *_known_by(value),
        given if given is None or isinstance(given, str) else as_text(given),
        () if decoded or given is None else (odd,),
        may_be_empty=given == {},
        decoded=decoded,
        extra=others_in(value, _CALL_KEYS),
    )


def _known_by(call: JsonObject) -> tuple[str | None, str | None]:
    """Return the id and the name of a call, as far as they are given."""
    return word_in(call, "toolUseId"), word_in(call, "name")


# --- events


def read_event(event: JsonObject) -> list[AnySignal]:
    """Read one event. An object that is none has no signals."""
    signals: list[AnySignal] = []
    for name, payload in event.items():
        read = EVENTS.get(name)
        if read is not None and isinstance(payload, dict):
            signals += read(payload)
    return signals


def _start(payload: JsonObject) -> Iterator[AnySignal]:
    index, start = _index(payload), payload.get("start")
    if not isinstance(start, dict) or not start:
        return
    call = start.get("toolUse")
    if not isinstance(call, dict) or not is_call(call):
        yield Opened((index,), Kind.OTHER, start)
        return
    delta = CallDelta(
        index,
        *_known_by(call),
        None,
        () if index is not None else ("call_index_missing",),
        # A call of a tool without parameters is a block without deltas.
        may_be_empty=True,
        extra=others_in(call, _CALL_KEYS),
    )
    yield CallPiece((index,), delta)


def _delta(payload: JsonObject) -> Iterator[AnySignal]:
    index, delta = _index(payload), payload.get("delta")
    place = (index,)
    if not isinstance(delta, dict) or not delta:
        yield CallPiece(place, CallDelta(index, None, None, None, unreadable=True))
        return
    for kind, value in delta.items():
        raw = {kind: value}
        match kind:
            case "text":
                if isinstance(value, str):
                    yield Piece(place, Kind.TEXT, value, holds="text")
            case "reasoningContent":
                inner = value if isinstance(value, dict) else {}
                more = {k: v for k, v in inner.items() if k != "text" and isinstance(v, str)}
                text = _thought_delta(value)
                yield Piece(place, Kind.REASONING, text, more or None, raw, holds="text")
            case "citation":  # belongs to the text of its block
                yield Piece(place, Kind.TEXT, "", {"citations": [value]}, raw, holds="text")
            case "toolUse":
                yield CallPiece(place, _call_delta(value, index), raw)
            case _:
                results = {"results": value} if isinstance(value, list) else None
                yield Piece(place, Kind.OTHER, "", results, raw)


def _thought_delta(value: object) -> str:
    inner = object_in(value)
    if isinstance(text := inner.get("text"), str):
        return text
    return REDACTED if inner.get("redactedContent") else ""


def _call_delta(value: object, index: int | None) -> CallDelta:
    """Read a piece of a call. Some models send the id and the name here, without a start before."""
    if not isinstance(value, dict):
        return CallDelta(index, None, None, None, unreadable=True)
    given, known_by = value.get("input"), _known_by(value)
    # A call that begins with a delta may get its input only in the next one.
    unreadable = is_no_piece(given) and not (given is None and any(known_by))
    odd = () if index is not None else ("call_index_missing",)
    if given is not None and not isinstance(given, str):
        given, odd = as_text(given), (*odd, "arguments_object")
    return CallDelta(
        index,
        *known_by,
        given,
        odd,
        unreadable=unreadable,
    )


def _stop(payload: JsonObject) -> list[AnySignal]:
    stop = read_stop(payload.get("stopReason"), "messageStop.stopReason")
    return [Said(payload), *([with_words(stop, **stop_words(payload))] if stop is not None else [])]


def _metadata(payload: JsonObject) -> list[AnySignal]:
    """Read the last event. Its members beside the usage are passed on."""
    usage = payload.get("usage")
    used = [UsageSeen(read_usage(usage))] if isinstance(usage, dict) else []
    words = trace_words(payload.get("trace"))
    why = [WordsSeen(words)] if words else []
    return [Said(payload), Beside({"metadata": payload}), *used, *why, Ended()]


EVENTS: dict[str, Callable[[JsonObject], Iterable[AnySignal]]] = {
    "messageStart": lambda _: [Began()],
    "contentBlockStart": _start,
    "contentBlockDelta": _delta,
    "contentBlockStop": lambda payload: [PartClosed((_index(payload),))],
    "messageStop": _stop,
    "metadata": _metadata,
}
"""Events that are not listed, such as future ones, have no signals."""


def _index(payload: JsonObject) -> int | None:
    return count(payload.get("contentBlockIndex"))


def read_usage(usage: JsonObject) -> Usage:
    """Return the usage. `inputTokens` leave out tokens read from and written to the cache.

    >>> read_usage({"inputTokens": 5, "cacheReadInputTokens": 100, "outputTokens": 7}).input_tokens
    105
    """
    fresh = count(usage.get("inputTokens"))
    read = count(usage.get("cacheReadInputTokens"))
    written = count(usage.get("cacheWriteInputTokens"))
    return Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        output_tokens=count(usage.get("outputTokens")),
        cached_tokens=read,
    )
