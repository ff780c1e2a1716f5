"""What Chat Completions and the wires like it share: stops, reading, and a wire to begin with.

https://platform.openai.com/docs/api-reference/chat (read through openai-python 3.54, 2026-11-21:
`openai/types/chat/chat_completion.py`, `chat_completion_chunk.py`). This module holds the stop
table, the reader, how endings are shown, and `CHAT`, of which other wires replace what differs.
Errors are in `errors`, requests in `request`, and writing in `render`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tenuto.core.answer.parts import (
    AnySignal,
    CallPiece,
    Envelope,
    Kind,
    Message,
    Piece,
    Place,
    Said,
)
from tenuto.core.answer.signals import (
    CallDelta,
    ChoiceSeen,
    FaultSeen,
    StopSeen,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.answer import Shown, shown_alike
from tenuto.wires.base import Wire
from tenuto.wires.beside_stop import filtered_categories, with_words
from tenuto.wires.chat_like import beside, render
from tenuto.wires.chat_like.errors import ERRORS, read_fault
from tenuto.wires.chat_like.form import FORM
from tenuto.wires.chat_like.paths import is_request
from tenuto.wires.chat_like.request import parse_request
from tenuto.wires.errors import blames, error_at, fault_parser
from tenuto.wires.json import JsonObject, arguments_of, is_no_piece
from tenuto.wires.members import word_in
from tenuto.wires.stops import ReadStop, StopTable, stop_reader
from tenuto.wires.usage import FindUsage, usage_at

_R = StopReason

STOPS: StopTable = {
    # "stop" is a natural stop point or a stop sequence of the request, without distinction.
    "stop": (_R.END_TURN, None),
    # The output limit of the request was reached, or the context window is full.
    "length": (_R.MAX_TOKENS, None),
    # Content was omitted due to a flag from the content filters.
    "content_filter": (_R.SAFETY_BLOCKED, None),
    # The model called a tool.
    "tool_calls": (_R.TOOL_CALL, None),
    # Deprecated: the model called a function.
    "function_call": (_R.TOOL_CALL, None),
}
"""OpenAI's own values, in the order and spelling of the reference."""

read_stop: ReadStop = stop_reader(STOPS)

# --- reading ----------------------------------------------------------------------------------

TEXTS = {
    "content": Kind.TEXT,
    "reasoning_content": Kind.REASONING,
    "reasoning": Kind.REASONING,
    "refusal": Kind.REFUSAL,
}
"""Members of a message that are texts. DeepSeek, SGLang, llama.cpp and Kimi use the first name of
reasoning, vLLM and OpenRouter the second."""

OTHER_CONTENT = ("images", "audio")
"""Members with content that Tenuto doesn't read: OpenRouter's images, OpenAI's audio."""

OTHER_PARTS = ("image_url", "document_url", "file", "input_audio", "resource", "resource_link")
"""The same for the parts of a content."""

CONTENT: Place = ("content",)
"""Each member of a message is a part, placed by its name, and calls by their number too."""

_CALLS = frozenset({"tool_calls", "function_call"})
_OWN = {"role", "content", "annotations"} | _CALLS
_TEXT_ALONE = {"role", "content"}
_NOT_OF_THE_CHOICE = {"delta", "message", "logprobs"}


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    signals: list[AnySignal] = [Envelope(value)]
    choices = value.get("choices")
    choices = choices if isinstance(choices, list) else []
    for at, choice in enumerate(choices):
        if isinstance(choice, dict):
            _read_choice(choice, _number_of(choice, at, len(choices), event), event, signals)
    error = _error_of(value)
    if error is not None:
        signals.append(FaultSeen(read_fault(error)))
    usage = usage_object(value)
    if usage is not None:
        signals.append(UsageSeen(render.COUNTS.read(usage.get)))
    return signals


def _read_whole(message: JsonObject, beside_delta: bool) -> Iterator[AnySignal]:
    """Read a chunk of a server that has a message where the delta should be, or beside it. What it
    says counts as far as it is new."""
    for signal in _read_message(message, False):
        if isinstance(signal, Piece) and signal.text:
            yield replace(signal, whole=True)
        elif isinstance(signal, CallPiece):
            yield replace(signal, delta=replace(signal.delta, whole=True))
        elif not beside_delta:
            yield signal


_MOST_CHOICES = 1_000
"""Larger numbers are no index."""


def _number_of(choice: JsonObject, at: int, count: int, event: bool) -> int:
    """Return the number of a choice at a position in a list of so many. Some servers leave the
    numbers out, and the only choice of a body is the first."""
    index = choice.get("index")
    if not event and count == 1:
        return 0
    return index if type(index) is int and 0 <= index < _MOST_CHOICES else at


def _read_choice(choice: JsonObject, number: int, event: bool, signals: list[AnySignal]) -> None:
    # The others are never recovered (C28), so nobody needs their parts.
    of_it: list[AnySignal] = signals if number == 0 else []
    part, told = choice.get("delta"), choice.get("message")
    if not event:
        part, told = part if told is None else told, None
    of_it.append(_said(choice))
    of_it += _read_message(part, event) if isinstance(part, dict) else []
    if event and isinstance(told, dict) and told is not part:  # other wires give one as both
        of_it += _read_whole(told, bool(part))
    elif event and not part and (text := word_in(choice, "text")):
        of_it.append(Piece(CONTENT, Kind.TEXT, text, holds="content"))
    of_it += _stops_of(choice, number)
    if number:
        signals.append(ChoiceSeen(number, tuple(Message().take(of_it))))
    error = error_at(choice)
    if isinstance(error, dict):
        signals.append(FaultSeen(read_fault(error)))


def _stops_of(choice: JsonObject, number: int) -> Iterator[StopSeen]:
    details = choice.get("finish_details")
    if details is not None:  # OpenAI sent it instead of the reason for a while
        kind = details.get("type") if isinstance(details, dict) else None
        told = read_stop(kind, f"choices[{number}].finish_details.type")
        if told is not None:
            yield told
    raw = choice.get("finish_reason")
    stop = None if raw is None else read_stop(raw, f"choices[{number}].finish_reason")
    if stop is None:
        return
    # OpenRouter: the upstream's own value, if it says more than the one it is mapped to.
    upstream = choice.get("native_finish_reason")
    native = read_stop(upstream, f"choices[{number}].native_finish_reason")
    if native is not None and native.known and _says_more(native, stop):
        yield replace(native, explains=True)
    yield _with_words(_with_sequence(stop, choice), choice)


def _said(choice: JsonObject) -> Said:
    """Return the members of a choice beside its message. Each chunk has a piece of the log
    probabilities."""
    logs = choice.get("logprobs")
    own = {k: v for k, v in choice.items() if v is not None and k not in _NOT_OF_THE_CHOICE}
    return Said(own, None if logs is None else {"logprobs": logs})


def _says_more(native: StopSeen, stop: StopSeen) -> bool:
    return native.reason != stop.reason or (native.detail or stop.detail) != stop.detail


def _with_sequence(stop: StopSeen, choice: JsonObject) -> StopSeen:
    """Add the stop string that matched, which vLLM and SGLang send beside a plain "stop"."""
    matched = choice.get("stop_reason") or choice.get("matched_stop")
    if stop.reason is _R.END_TURN and isinstance(matched, str) and matched:
        return StopSeen(stop.raw, stop.field, _R.STOP_SEQUENCE)
    return stop


def _with_words(stop: StopSeen, choice: JsonObject) -> StopSeen:
    """Add the words of Azure's filter, vLLM, SGLang and OpenRouter beside a stop."""
    if _BESIDE.isdisjoint(choice):
        return stop
    return with_words(
        stop,
        content_filter=filtered_categories(choice.get("content_filter_results")),
        stop_sequence=choice.get("stop_reason") or choice.get("matched_stop"),
        native_finish_reason=choice.get("native_finish_reason"),
    )


_BESIDE = frozenset(
    {"content_filter_results", "stop_reason", "matched_stop", "native_finish_reason"}
)


def _read_message(message: JsonObject, event: bool) -> Iterator[AnySignal]:
    """Read the parts of a message or a delta, member by member."""
    content = message.get("content")
    if isinstance(content, str) and message.keys() <= _TEXT_ALONE:  # most events, twice as fast
        yield Piece(CONTENT, Kind.TEXT, content or None, holds="content")
        return
    others = {k: item for k, item in message.items() if item is not None and k not in _OWN}
    if isinstance(content, list):
        yield from _content_parts(content)
    thought = False
    for name, kind in TEXTS.items():
        text = message.get(name)
        if isinstance(text, str):
            others.pop(name, None)
            # Some send reasoning under both names; it is read once.
            again = {name: text} if thought and kind is Kind.REASONING else None
            yield Piece((name,), kind, None if again else text or None, again, holds=name)
            thought = thought or (kind is Kind.REASONING and bool(text))
    if message.get("annotations") is not None:
        cited = {"annotations": message["annotations"]}
        yield Piece(CONTENT, Kind.TEXT, None, cited, holds="content")
    for name, item in others.items():
        kind = Kind.OTHER if name in OTHER_CONTENT and item else Kind.NOTE
        yield Piece((name,), kind, "", {name: item}, holds="")
    if not _CALLS.isdisjoint(message):
        yield from _calls(message, event)


def _content_parts(parts: list[Any]) -> Iterator[Piece]:
    """Read content as a list of parts (Mistral's reasoning models, gateways; Databricks, which has
    the reasoning in a `summary`)."""
    for part in parts:
        if not isinstance(part, dict):
            continue
        text = part.get("text")
        if isinstance(text, str) and text:
            yield Piece(CONTENT, Kind.TEXT, text, holds="content")
        thinking = part.get("thinking", part.get("summary"))
        if isinstance(thinking, str | list):
            thoughts = thinking if isinstance(thinking, list) else [{"text": thinking}]
            place = beside.THINKING if "thinking" in part else beside.SUMMARY
            raw: JsonObject | None = part
            for thought in thoughts:
                if isinstance(thought, dict) and isinstance(thought.get("text"), str):
                    yield Piece(place, Kind.REASONING, thought["text"], None, raw, "content")
                    raw = None
        elif part.get("type") in OTHER_PARTS:
            yield Piece(CONTENT, Kind.OTHER, "", {"content": [part]}, part, "")
        elif not isinstance(text, str):
            yield Piece(CONTENT, Kind.NOTE, "", {"content": [part]}, part, "")


def _calls(message: JsonObject, event: bool) -> Iterator[CallPiece]:
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        for number, call in enumerate(calls):
            if call or isinstance(call, dict):  # an empty text or list, or null, is no call
                delta = read_call(call, number, event) if isinstance(call, dict) else _UNREADABLE
                yield CallPiece(("tool_calls", delta.index), delta)
    elif calls:
        yield CallPiece(("tool_calls", None), _UNREADABLE)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        arguments, odd = arguments_of(legacy.get("arguments"))
        called = legacy.get("name")
        called = called if isinstance(called, str) and called else None
        delta = CallDelta(0, render.LEGACY_CALL_ID, called, arguments, odd)
        yield CallPiece(("function_call",), delta)


def _extra_of(call: JsonObject, function: JsonObject) -> JsonObject:
    """Return the further members of a call, and of its function."""
    extra = {key: value for key, value in call.items() if key not in _CALL_KEYS}
    inside = {key: item for key, item in function.items() if key not in _CALL_KEYS | {"input"}}
    return extra | ({"function": inside} if inside and function is not call else {})


_UNREADABLE = CallDelta(None, None, None, None, unreadable=True)
"""Stands for something that should be a call but is none: it belongs to the call before it."""

_CALL_KEYS = frozenset({"index", "id", "type", "function", "custom", "name", "arguments"})


def read_call(call: JsonObject, number: int, event: bool) -> CallDelta:
    """Read a call, or a piece of one; `number`: its position in a body."""
    odd: list[str] = []
    custom = call.get("custom")
    free = isinstance(custom, dict)
    named = custom if free else call.get("function")
    function = named if isinstance(named, dict) else call
    given = function.get("input" if free else "arguments")
    # In a body, this is all there is. Some send null for no arguments (T12).
    unreadable = event and given is not None and is_no_piece(given)
    unreadable = unreadable or not isinstance(named, dict | None)
    arguments, odd_arguments = arguments_of(given)
    odd.extend(odd_arguments)
    call_id, name = call.get("id"), function.get("name")
    index = call.get("index")
    if event and not isinstance(index, int):
        odd.append("call_index_missing")
    if call.get("type") is None and (call_id or not event):
        odd.append("call_type_missing")
    return CallDelta(
        index if isinstance(index, int) and event else (None if event else number),
        call_id if isinstance(call_id, str) and call_id else None,
        name if isinstance(name, str) and name else None,
        arguments,
        tuple(odd),
        free,
        unreadable=unreadable,
        extra=_extra_of(call, function) or None,
    )


def _error_of(value: JsonObject) -> object | None:
    """Return the error in an object, in any of the places that dialects use, or None."""
    error = error_at(value)
    if error is not None:
        return error
    if value.get("object") == "error" or value.get("type") == "error":
        return value
    groq = value.get("x_groq")
    if isinstance(groq, dict) and (error := error_at(groq)) is not None:
        return error
    base = value.get("base_resp")  # MiniMax: an error with status 200
    if isinstance(base, dict) and base.get("status_code") not in (0, None):
        return base
    return None


usage_object: FindUsage = usage_at("usage", "x_groq.usage")
"""Finds the native usage object: `usage`, or Groq's `x_groq.usage` in streams."""


# --- how endings are shown (P1a) --------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = shown_alike(done="stop", cut="length", blocked="content_filter")
"""How each outcome is shown if the turn is not complete."""


_OWN_PARAMS = re.compile(r"messages\b|max_completion_tokens\Z")
_OWN_WORDS = re.compile(r"'max_completion_tokens' instead|\(\d+ in the messages, \d+ in the comp")
"""Names in errors that only a request of this wire has. Nearly all other errors look alike on all
OpenAI wires."""


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a chat completion, one of its chunks, or an error that only this
    wire writes."""
    kind, choices = value.get("object"), value.get("choices")
    if kind in ("chat.completion", "chat.completion.chunk"):
        return choices is None or isinstance(choices, list)
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        said = [choices[0][name] for name in ("message", "delta") if name in choices[0]]
        return bool(said) and all(_is_message(row, choices[0]) for row in said)
    return blames(value, _OWN_PARAMS, _OWN_WORDS)


def _is_message(row: object, choice: JsonObject) -> bool:
    if row is None or not isinstance(row, dict):
        return row is None
    return not row or "finish_reason" in choice or not _MEMBERS.isdisjoint(row)


_MEMBERS = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "audio"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking"}
)
"""A message of this wire has one of these members."""


def is_event(value: JsonObject) -> bool:
    """Return whether an object is a chunk: by its type, or by deltas in its choices (Q41)."""
    if value.get("object") == "chat.completion.chunk":
        return True
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and "delta" in first and "message" not in first


CHAT = Wire(
    name="openai-chat",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    looks_like=looks_like,
    is_event=is_event,
    read=read,
    usage_object=usage_object,
    # OpenRouter, xAI, Perplexity.
    summed_usage=("cost", "cost_details", "num_sources_used", "num_search_queries"),
    parse_fault=fault_parser(_error_of, read_fault),
    layout=render.ChatLayout,
    content=beside.merged_content,
    content_beside=True,
    clean_stop=render.clean_stop,
    forced_stop="stop",
    as_body=render.as_body,
    render_body=render.render_body,
    render_error=render.render_error,
    form=FORM,
)
"""Chat Completions as most servers speak it. `dataclasses.replace` makes a wire that is like it."""
