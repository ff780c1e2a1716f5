"""Read Amazon Bedrock InvokeModel: the answers of all makers.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html (read 2026-11-22). This
module holds the stop table, the makers' shapes, and the reader.
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.core.answer.parts import AnySignal, Beside, PartClosed, Said
from tenuto.core.answer.signals import (
    Ended,
    FaultSeen,
    StopSeen,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.wires.anthropic_messages import wire as anthropic_messages
from tenuto.wires.bedrock_converse import wire as bedrock_converse
from tenuto.wires.bedrock_like.errors import read_fault
from tenuto.wires.bedrock_like.guardrail import guardrail_signals
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.members import value_at
from tenuto.wires.one_text import OneText, steps, used_at
from tenuto.wires.stops import StopTable, stop_reader

_R = StopReason

STOPS: StopTable = {
    # Titan: the model finished; recorded answers also say FINISH.
    "finished": (_R.END_TURN, None),
    "finish": (_R.END_TURN, None),
    # Titan, Llama, Mistral, AI21: the token limit.
    "length": (_R.MAX_TOKENS, None),
    # Titan: a stop sequence.
    "stop_criteria_met": (_R.STOP_SEQUENCE, None),
    "content_filtered": (_R.SAFETY_BLOCKED, None),
    "rag_query_when_rag_disabled": (_R.ERROR, "rag_disabled"),
    # Llama, Mistral, AI21: the end, or a stop sequence.
    "stop": (_R.END_TURN, None),
    # Cohere.
    "complete": (_R.END_TURN, None),
    "stop_sequence": (_R.STOP_SEQUENCE, None),
    "max_tokens": (_R.MAX_TOKENS, None),
    "error": (_R.ERROR, None),
    "error_toxic": (_R.SAFETY_BLOCKED, None),
    "error_limit": (_R.CONTEXT_WINDOW_EXCEEDED, None),
    "user_cancel": (_R.CANCELLED, None),
    # AI21's Jurassic.
    "endoftext": (_R.END_TURN, None),
}
"""The makers' own values. Claude's and Nova's are in their wires."""

_read_stop = stop_reader(STOPS)

METRICS = "amazon-bedrock-invocationMetrics"
"""A member that Bedrock adds to the last event of any model."""

PLACES: tuple[OneText, ...] = (
    # Titan's body, and an event of its stream.
    OneText(
        ("results[0].outputText",),
        "results[0].outputText",
        ("results[0].completionReason",),
        ("inputTextTokenCount", "results[0].tokenCount"),
    ),
    OneText(
        ("outputText",),
        "outputText",
        ("completionReason",),
        ("inputTextTokenCount", "totalOutputTextTokenCount"),
    ),
    # Llama.
    OneText(
        ("generation", "stop_reason"),
        "generation",
        ("stop_reason",),
        ("prompt_token_count", "generation_token_count"),
    ),
    # Mistral's text.
    OneText(
        ("outputs[0].text", "outputs[0].stop_reason"),
        "outputs[0].text",
        ("outputs[0].stop_reason",),
    ),
    # Cohere's Command.
    OneText(
        ("generations[0].text", "generations[0].finish_reason"),
        "generations[0].text",
        ("generations[0].finish_reason",),
    ),
    # Cohere's Command R: a body, and the events of its stream. The last one repeats everything.
    OneText(("event_type", "response"), "", ("finish_reason",)),
    OneText(("text", "generation_id"), "text", ("finish_reason",)),
    OneText(("text", "event_type"), "text", ("finish_reason",)),
    OneText(("text", "is_finished"), "text", ("finish_reason",)),
    # The last event of Command's stream has only the stop; its `response` repeats everything.
    OneText(("is_finished", "finish_reason"), "", ("finish_reason",)),
    OneText(
        ("is_finished", "response.generations[0]"), "", ("response.generations[0].finish_reason",)
    ),
    # AI21's Jurassic.
    OneText(
        ("completions[0].data",),
        "completions[0].data.text",
        ("completions[0].finishReason.reason",),
    ),
    # Claude's text completions.
    OneText(("completion", "stop_reason"), "completion", ("stop_reason",)),
)
"""The makers whose answers are one text and one stop, by shape. The first match counts."""

SHAPED_BY = frozenset(steps(path)[0] for place in PLACES for path in place.shape)
"""Every answer of these makers has one of these members. Every wire is asked about every shape."""

_COMPLETION = OneText(
    ("choices[0].text",),
    "choices[0].text",
    ("choices[0].finish_reason", "choices[0].stop_reason"),
    ("usage.prompt_tokens", "usage.completion_tokens"),
)
"""Imported models and DeepSeek: OpenAI's text completions, a shape that others have too."""


# --- reading ----------------------------------------------------------------------------------


def unpacked(value: object) -> object:
    """Return the content of botocore's event of a stream; anything else unchanged.

    >>> unpacked({"chunk": {"bytes": b'{"outputText":"Hi"}'}})
    {'outputText': 'Hi'}
    """
    if not isinstance(value, dict) or "chunk" not in value:
        return value
    data = value_at(value, ("chunk", "bytes"))
    return decode_object(data) if isinstance(data, bytes) else value


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event, of any maker. Never raises."""
    value = unpacked(value)
    if not isinstance(value, dict):
        return []
    signals = _makers_signals(value, event)
    if not (anthropic_messages.looks_like(value) or bedrock_converse.looks_like(value)):
        signals += guardrail_signals(value)  # the wires of those two read it themselves
    metrics = value.get(METRICS)
    if isinstance(metrics, dict):
        used = used_at(metrics, "inputTokenCount", "outputTokenCount")
        if used is not None and not any(isinstance(s, UsageSeen) for s in signals):
            signals.append(UsageSeen(used))
        if event and not any(isinstance(signal, Ended) for signal in signals):
            signals.append(Ended())
    return signals


def _makers_signals(value: JsonObject, event: bool) -> list[AnySignal]:
    if anthropic_messages.looks_like(value):
        return anthropic_messages.read(value, event=event)
    if bedrock_converse.looks_like(value):
        found = bedrock_converse.read(value, event=event)
        # Nova ends a block after each piece of its text, which means nothing for the answer.
        return [
            replace(signal, is_news=False) if isinstance(signal, PartClosed) else signal
            for signal in found
        ]
    if chat_like.looks_like(value):
        return _chat_signals(value, event)
    for place in (*PLACES, _COMPLETION):
        if place.fits(value):
            return place.signals(value, _read_stop)
    error = bedrock_converse.error_of(value)
    if error is not None:
        return [FaultSeen(read_fault(error))]
    # Nova's last event, which Bedrock's additions make unlike Converse's.
    told = value.get("metadata")
    return [Said(told), Beside({"metadata": told})] if isinstance(told, dict) else []


def as_chunk(value: JsonObject) -> JsonObject:
    """Return an event as OpenAI's chat writes it: Mistral's have a message instead of a delta.

    >>> as_chunk({"choices": [{"message": {"content": "Hi"}, "stop_reason": None}]})["choices"]
    [{'delta': {'content': 'Hi'}, 'message': {'content': 'Hi'}, 'stop_reason': None}]
    """
    choice = value_at(value, ("choices", 0))
    if not isinstance(choice, dict) or "delta" in choice or "message" not in choice:
        return value
    return {**value, "choices": [{"delta": choice["message"], **choice}]}


def _chat_signals(value: JsonObject, event: bool) -> list[AnySignal]:
    """Read OpenAI's chat, as gpt-oss, Qwen and Jamba write it. Mistral names the stop
    differently."""
    signals = chat_like.read(as_chunk(value) if event else value, event=event)
    if not any(isinstance(signal, StopSeen) for signal in signals):
        field = "choices[0].stop_reason"
        stop = _read_stop(value_at(value, ("choices", 0, "stop_reason")), field)
        signals += [stop] if stop is not None else []
    return signals
