"""Read one stored answer: a body or a stream by its wire, or what a tool keeps of it.

This is the only file of the room that knows how the wires and the builder are asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import NO_ANSWER, StopReason
from tenuto.detection.foreign import foreign, unwrapped
from tenuto.detection.reading import Reading
from tenuto.detection.telling import readings
from tenuto.judging.cells import without_nulls
from tenuto.judging.held import Called, Told
from tenuto.judging.names import MODELS
from tenuto.judging.opening import opened_text
from tenuto.wires.base import Wire
from tenuto.wires.bedrock_invoke.makers import STOPS as STOPS_OF_MAKERS
from tenuto.wires.json import JsonObject, arguments_of
from tenuto.wires.members import list_in, object_in, word_in
from tenuto.wires.registry import wire_for_shape
from tenuto.wires.stops import StopTable, stop_reader


class Read(NamedTuple):
    """An answer as it was read. `model`: the model that the body names; "" if it names none.
    `shared`: whether its usage is the sum over several choices."""

    response: Response
    wire: str = ""
    model: str = ""
    shared: bool = False


def read_answer(answer: object, wire: str = "") -> list[Read]:
    """Return the answers that a stored one holds, one for each choice; []: it is none.

    >>> [read.response.stop.raw for read in read_answer({"choices": [
    ...     {"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"},
    ...     {"index": 1, "message": {"content": "Hi the"}, "finish_reason": "length"}]})]
    ['stop', 'length']
    >>> read_answer({"name": "Mia"})
    []
    """
    if isinstance(answer, Told):
        return [Read(_told(answer))]
    if isinstance(answer, dict | list):
        # Tables have every member in every object, and some wires tell parts by their members.
        bare = without_nulls(answer)
        found = _read_any(bare, wire) if bare is not answer else []
        if found and all(one.response.fault is None for one in found):
            return found
        return _read_any(answer, wire) or found  # the form of an error is told by its nulls, too
    return _read_any(answer, wire)


def _read_any(answer: object, wire: str) -> list[Read]:
    parts = _choices(answer) if isinstance(answer, dict) else []
    if len(parts) > 1:
        return [one._replace(shared=True) for part in parts for one in _read_one(part, wire)]
    return _read_one(answer, wire)


def _read_one(answer: object, wire: str) -> list[Read]:
    if not isinstance(answer, dict | list | bytes):
        return []
    model = model_of(answer)
    return [
        Read(one.response, one.wire.name if one.wire else "", model)
        for one in readings(answer, wire=wire or None)
        if one.is_answer and one.is_known and _says_something(one)
    ]


def _says_something(reading: Reading) -> bool:
    """Return whether anything of an answer was read: content, a stop, an error."""
    found = reading.response
    said = found.text or found.reasoning or found.calls or found.refusal or found.other
    return bool(said or found.fault or found.stop.raw is not None or reading.wire is not None)


def _choices(body: JsonObject) -> list[JsonObject]:
    """Return a body for each of several choices, without what they share."""
    for name in ("choices", "candidates"):
        choices = body.get(name)
        if isinstance(choices, list) and len(choices) > 1:
            if not all(isinstance(choice, dict) and "delta" not in choice for choice in choices):
                return []
            return [{**body, name: [{**choice, "index": 0}]} for choice in choices]
    return []


def model_of(answer: object) -> str:
    """Return the model that an answer names, as it was sent; "": it names none.

    >>> model_of({"message": {"model": "m"}}), model_of(b'data: {"id": "c", "model": "m"}')
    ('m', 'm')
    """
    if isinstance(answer, bytes):
        found = _model_in_stream(answer, 0, _HEAD_BYTES)
        return found[1].decode("utf-8", "replace") if found else ""
    for one in answer[:2] if isinstance(answer, list) else [answer]:
        if isinstance(one, dict):
            for place in (one, object_in(one.get("message")), object_in(one.get("response"))):
                for name in MODELS:
                    if isinstance(found := place.get(name), str) and found:
                        return found
    return ""


_model_in_stream = re.compile(rb'"model(?:Version)?"\s*:\s*"([^"\\\n]{1,200})"').search
_HEAD_BYTES = 4_096


# --- shapes


def shape_of(value: JsonObject) -> Wire | str | None:
    """Return the wire whose body or event an object looks like, "foreign" for an object of a
    framework, or None."""
    bare = unwrapped(value)
    if foreign(bare):
        return "foreign"
    return wire_for_shape(bare)


def is_event(value: object) -> bool:
    """Return whether an object is one event of a stream, and no whole answer."""
    if not isinstance(value, dict):
        return False
    wire = wire_for_shape(value)
    return wire is not None and wire.is_event(value)


# --- what tools keep

_OF_LLAMA_CPP: StopTable = {
    "limit": (StopReason.MAX_TOKENS, None),
    "word": (StopReason.STOP_SEQUENCE, None),
}
"""https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (read 2026-11-30)."""

_read_stop = stop_reader({**STOPS_OF_MAKERS, **_OF_LLAMA_CPP})

_OF_GEMINI = (
    "", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT",
    "SPII", "MALFORMED_FUNCTION_CALL",
)  # fmt: skip
"""The finish reasons that Vertex stores as numbers, in their order:
https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason
"""

_WORDS = ("finish_reason", "unified", "reason", "type", "raw")
"""Where an object keeps the word: https://crfm-helm.readthedocs.io, and the AI SDK's version 6."""

_PREFIXES = ("finish_reason_", "finishreason.", "stopreason.", "finish_reason.")


def stop_word(stored: object) -> object:
    """Return a stop as a provider writes it, from the spellings of tools: a list of one, a list in
    a string, a number, an enum's name.

    >>> stop_word('["stop"]'), stop_word(["length"]), stop_word(2)
    ('stop', 'length', 'MAX_TOKENS')
    >>> stop_word("FinishReason.MAX_TOKENS"), stop_word(None)
    ('MAX_TOKENS', None)
    """
    if isinstance(stored, str) and stored[:1] in ('"', "["):
        inner = opened_text(stored)
        stored = inner if inner is not None else stored.strip('"')
    if isinstance(stored, list):
        stored = next((one for one in stored if one), None)
    if isinstance(stored, dict):
        stored = next((stored[n] for n in _WORDS if stored.get(n)), None)
    if type(stored) is int and 0 <= stored < len(_OF_GEMINI):
        return _OF_GEMINI[stored]
    if not isinstance(stored, str):
        return stored
    low = stored.lower()
    for prefix in _PREFIXES:
        if low.startswith(prefix):
            stored = stored[len(prefix) :]
    return stored


def read_stop(stored: object, at: str) -> StopSeen | None:
    """Return the stop that a tool stored; None: it is none."""
    return _read_stop(stop_word(stored), at)


def _told(told: Told) -> Response:
    builder = Builder()
    for signal in _signals(told):
        builder.feed(signal)
    return builder.build()


def _signals(told: Told) -> Iterator[Signal]:
    if told.reasoning:
        yield ReasoningDelta(told.reasoning)
    if told.refusal:
        yield RefusalDelta(told.refusal)
    if told.text is None:
        yield OtherSeen()
    elif told.text:
        yield TextDelta(told.text)
    stop = read_stop(told.stop, told.stop_at)
    calls = told.calls
    if calls is None:  # where the stop says that there are calls, they are somewhere else
        called = stop is not None and stop.reason is StopReason.TOOL_CALL
        calls = [Called("unknown", "{}")] if called else ()
    for number, call in enumerate(calls):
        yield CallDelta(number, f"call_{number}", call.name, arguments_of(call.arguments)[0])
    if told.tokens is not None:
        yield UsageSeen(Usage(output_tokens=told.tokens))
    if stop is not None:
        yield stop
    yield Ended()


def text_in(content: object) -> str:
    """Return the text of a message's content: a text, or the parts of one.

    >>> text_in("Hi"), text_in([{"type": "text", "text": "H"}, {"value": "i"}]), text_in(None)
    ('Hi', 'Hi', '')
    """
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = content.get("parts") or [content]
    pieces: list[str] = []
    for part in list_in(content):
        if isinstance(part, str):
            pieces.append(part)
            continue
        held = object_in(part)
        if word_in(held, "type") in _NO_TEXT or held.get("thought") is True:
            continue
        found = next((held[n] for n in ("text", "value", "content") if n in held), None)
        if isinstance(found, dict):
            found = found.get("value")
        if isinstance(found, str):
            pieces.append(found)
    return "".join(pieces)


_NO_TEXT = frozenset({"thinking", "reasoning", "redacted_thinking", "tool_use", "tool_result"})

NOTHING = Read(Response("", "", "", (), None, NO_ANSWER))


def best(found: Sequence[Read]) -> list[Read]:
    """Return those answers that have a stop if any has one, else all: a row may keep the text of an
    answer beside the answer itself."""
    with_stop = [one for one in found if one.response.stop.raw is not None]
    return with_stop or list(found)
