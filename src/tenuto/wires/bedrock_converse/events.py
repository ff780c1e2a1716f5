"""Reading Converse: its blocks, and its events as botocore gives them, `{name: payload}`.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html and
…/API_runtime_ConverseStreamOutput.html (shapes read in botocore 1.43, 2026-11-22). A block of text
or reasoning begins without an event of its own, and the usage comes behind the stop.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import UNSET

from tenuto.core.signals import (
    Began,
    CallDelta,
    Closed,
    Ended,
    OtherSeen,
    ReasoningDelta,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.stop import StopReason
from tenuto.wires.base import JsonObject
from tenuto.wires.json import UNREADABLE, as_text, count, is_no_piece
from tenuto.wires.stops import StopTable, in_other_words, look_up

_R = StopReason

STOPS: StopTable = {
    # The model reached the end of its turn; some say so beside calls as well.
    "end_turn": (_R.END_TURN, None),
    # The model wants a tool of the client's.
    "tool_use": (_R.TOOL_CALL, None),
    # inferenceConfig.maxTokens, or the model's own maximum.
    "max_tokens": (_R.MAX_TOKENS, None),
    # One of inferenceConfig.stopSequences; which one stands nowhere.
    "stop_sequence": (_R.STOP_SEQUENCE, None),
    # A guardrail stands in for the model; `trace.guardrail` tells why.
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

DIALECT_STOPS = in_other_words(STOPS)
"""Values that models bring along, out of the enum (N2): Claude's `refusal` and `pause_turn`."""

_ALL_STOPS = {**DIALECT_STOPS, **STOPS}

REDACTED = "[redacted reasoning]"
"""Stands for reasoning that the provider encrypted: it was there, and nobody can read it."""

SERVER_TOOL = "server_tool_use"
"""The `type` of calls that the provider runs itself."""


def read_stop(raw: object, field: str) -> StopSeen | None:
    """The stop that a native value means; None where it is no stop at all (N1a).

    >>> read_stop("guardrail_intervened", "stopReason").detail
    'guardrail'
    """
    return look_up(raw, field, _ALL_STOPS)


GUARDRAIL = "amazon-bedrock-guardrailAction"
"""What a guardrail did, beside whatever a model wrote on InvokeModel: the stop does not tell."""


def guardrail_signals(value: JsonObject) -> list[Signal]:
    """The stop that a guardrail's word is, if it stepped in.

    >>> guardrail_signals({GUARDRAIL: "NONE"})
    []
    """
    if value.get(GUARDRAIL) != "INTERVENED":
        return []
    return [StopSeen("INTERVENED", GUARDRAIL, _R.SAFETY_BLOCKED, "guardrail")]


# --- blocks of a body


def block_signals(block: object, index: int) -> list[Signal]:
    """The signals of one content block of a body. A block is one member, named as its kind."""
    if not isinstance(block, dict):
        return []
    signals: list[Signal] = []
    for kind, value in block.items():
        match kind:
            case "text":
                signals += [TextDelta(value)] if isinstance(value, str) and value else []
            case "reasoningContent":
                signals.append(ReasoningDelta(_thought(value)))
            case "citationsContent":
                signals += [TextDelta(text) for text in cited_texts(value)]
            case "toolUse":
                signals.append(_call(value, index))
            case "cachePoint":
                pass
            case _:
                signals.append(OtherSeen(index))
    return signals


def _thought(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    if (inner := value.get("reasoningText")) is None:
        return REDACTED if value.get("redactedContent") else ""
    text = inner.get("text") if isinstance(inner, dict) else None
    return text if isinstance(text, str) else ""


def cited_texts(value: object) -> list[str]:
    """The texts of a block that cites.

    >>> cited_texts({"content": [{"text": "Yes."}], "citations": []})
    ['Yes.']
    """
    content = value.get("content") if isinstance(value, dict) else None
    found = (
        [part.get("text") for part in content if isinstance(part, dict)]
        if isinstance(content, list)
        else []
    )
    return [text for text in found if isinstance(text, str) and text]


_CALL_KEYS = frozenset({"toolUseId", "name", "input"})


def _call(value: object, index: int) -> Signal:
    """A call of a body, whose input is decoded. Those of server tools are not the client's."""
    if not isinstance(value, dict):
        return OtherSeen(index)
    if value.get("type") == SERVER_TOOL:
        return OtherSeen(index)
    given, call_id, name = value.get("input"), value.get("toolUseId"), value.get("name")
    decoded = isinstance(given, dict)
    odd = (
        ()
        if decoded or given is None
        else ("arguments_text" if isinstance(given, str) else "arguments_object",)
    )
    return CallDelta(
        index,
        call_id if isinstance(call_id, str) and call_id else None,
        name if isinstance(name, str) and name else None,
        given if given is None or isinstance(given, str) else as_text(given),
        odd,
        may_be_empty=given == {},
        decoded=decoded,
        extra=_extra(value),
    )


def _extra(value: JsonObject) -> JsonObject | None:
    return {k: v for k, v in value.items() if k not in _CALL_KEYS and v is not None} or None


# --- events


def event_signals(event: JsonObject) -> list[Signal]:
    """The signals of one event; of an object that is none, nothing."""
    signals: list[Signal] = []
    for name, payload in event.items():
        parse = EVENTS.get(name)
        if parse is not None and isinstance(payload, dict):
            signals += parse(payload)
    return signals


def _start(payload: JsonObject) -> list[Signal]:
    index, start = _index(payload), payload.get("start")
    if not isinstance(start, dict):
        return []
    call = start.get("toolUse")
    if not isinstance(call, dict) or call.get("type") == SERVER_TOOL:
        return [OtherSeen(index)] if start else []
    call_id, name = call.get("toolUseId"), call.get("name")
    return [
        CallDelta(
            index,
            call_id if isinstance(call_id, str) and call_id else None,
            name if isinstance(name, str) and name else None,
            None,
            () if index is not None else ("call_index_missing",),
            # A tool without parameters is called by a block that has no delta.
            may_be_empty=True,
            extra=_extra(call),
        )
    ]


def _delta(payload: JsonObject) -> list[Signal]:
    index, delta = _index(payload), payload.get("delta")
    if not isinstance(delta, dict) or not delta:
        return [CallDelta(index, None, None, None, unreadable=True)]
    signals: list[Signal] = []
    for kind, value in delta.items():
        match kind:
            case "text":
                signals += [TextDelta(value)] if isinstance(value, str) else []
            case "reasoningContent":
                signals.append(ReasoningDelta(_thought_delta(value)))
            case "citation":  # belongs to the text of its block
                signals.append(TextDelta(""))
            case "toolUse":
                signals.append(_call_delta(value, index))
            case _:
                signals.append(OtherSeen(index))
    return signals


def _thought_delta(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    text = value.get("text")
    if isinstance(text, str):
        return text
    return REDACTED if value.get("redactedContent") else ""


def _call_delta(value: object, index: int | None) -> Signal:
    """A piece of a call. Some models send the id and the name here, without a start before."""
    if not isinstance(value, dict):
        return CallDelta(index, None, None, None, unreadable=True)
    given, call_id, name = value.get("input"), value.get("toolUseId"), value.get("name")
    # Who begins a call with a delta may leave its input to the next one.
    unreadable = is_no_piece(given) and not (given is None and (call_id or name))
    odd = () if index is not None else ("call_index_missing",)
    if given is not None and not isinstance(given, str):
        given, odd = as_text(given), (*odd, "arguments_object")
    return CallDelta(
        index,
        call_id if isinstance(call_id, str) and call_id else None,
        name if isinstance(name, str) and name else None,
        given,
        odd,
        unreadable=unreadable,
    )


def _stop(payload: JsonObject) -> list[Signal]:
    stop = read_stop(payload.get("stopReason"), "messageStop.stopReason")
    return [stop] if stop is not None else []


def _metadata(payload: JsonObject) -> list[Signal]:
    """The last event."""
    usage = payload.get("usage")
    return [*([UsageSeen(read_usage(usage))] if isinstance(usage, dict) else []), Ended()]


EVENTS: dict[str, Callable[[JsonObject], list[Signal]]] = {
    "messageStart": lambda _: [Began()],
    "contentBlockStart": _start,
    "contentBlockDelta": _delta,
    "contentBlockStop": lambda _: [Closed()],
    "messageStop": _stop,
    "metadata": _metadata,
}
"""What is not here, events yet to come, says nothing."""


def _index(payload: JsonObject) -> int | None:
    return count(payload.get("contentBlockIndex"))


def read_usage(usage: JsonObject) -> Usage:
    """Bedrock's `inputTokens` leave out what was read from and written to the cache.

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


# --- the quick reading of an event that only carries text


class _Thought(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    text: str


class _Delta(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    text: str | msgspec.UnsetType = UNSET
    thought: _Thought | msgspec.UnsetType = msgspec.field(name="reasoningContent", default=UNSET)


class _Payload(msgspec.Struct, gc=False):
    delta: _Delta


class _Flowing(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    payload: _Payload = msgspec.field(name="contentBlockDelta")


_read_flowing = msgspec.json.Decoder(_Flowing).decode


def read_flowing(data: bytes) -> TextDelta | ReasoningDelta | None:
    """The one signal of an event that carries text or reasoning and nothing else, else None.

    >>> read_flowing(b'{"contentBlockDelta":{"delta":{"text":"Hi"},"contentBlockIndex":0}}')
    TextDelta(text='Hi')
    >>> read_flowing(b'{"contentBlockStop":{"contentBlockIndex":0}}') is None
    True
    """
    try:
        delta = _read_flowing(data).payload.delta
    except UNREADABLE:
        return None
    text, thought = delta.text, delta.thought
    if text is UNSET:
        return ReasoningDelta(thought.text) if thought is not UNSET else None
    return TextDelta(text) if thought is UNSET else None
