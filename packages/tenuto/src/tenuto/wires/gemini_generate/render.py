"""Write Gemini: what the caller sees when Tenuto writes something itself.

Shapes follow `google/genai/types.py` of google-genai 3.4 and are checked against its types in the
tests. A message keeps the identity of its first attempt: response id, model version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import AnySignal, Checkpoint, Kind, Native, Opened, Said
from tenuto.wires.answer import Answer, kept_of
from tenuto.wires.calls import object_of
from tenuto.wires.citations import is_one
from tenuto.wires.errors import OURS
from tenuto.wires.gemini_generate.citations import joined_sources
from tenuto.wires.gemini_generate.content import (
    CITING,
    SOURCES,
    TOKEN,
    Part,
    candidates_of,
    is_signed,
    is_text,
    without_token,
)
from tenuto.wires.json import JsonObject, encode, encode_event
from tenuto.wires.layout import FlatLayout
from tenuto.wires.usage import Counts

_NOT_SHARED = frozenset({"candidates", "usageMetadata", "promptFeedback", "error"})
"""Members of a single event; the others belong to the whole message."""

_OF_THE_STOP = ("finishMessage", TOKEN, "safetyRatings")
"""Members beside a stop that belong to it."""

_WRITTEN = frozenset({"content", "finishReason", "index", "tokenCount", *_OF_THE_STOP})
"""Members of a candidate that the layout writes itself."""

_NOTHING: JsonObject = {"text": ""}
"""The part of an event without content, as in the provider's own last events: the SDK's chats drop
an answer if one event has no part (`_validate_content` in google/genai/chats.py of 3.4)."""

COUNTS = Counts(
    input="promptTokenCount",
    output="candidatesTokenCount",
    total="totalTokenCount",
    reasoning="thoughtsTokenCount",
    cached=("cachedContentTokenCount",),
)

ERROR_STATUS = 520
"""The `code` of Tenuto's errors. The official SDK raises on it, and never retries it."""


class ResponseLayout(FlatLayout):
    """Writes a message as events (`wires.layout.FlatLayout`). Each stands alone."""

    def __init__(self, model: str) -> None:
        self._shared: JsonObject = {"modelVersion": model} if model else {}

    def begin(self, value: JsonObject) -> None:
        """Take what all events of one message share from the first of them."""
        self._shared = {key: item for key, item in value.items() if key not in _NOT_SHARED}

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text, or a thought."""
        part = {"text": text} if kind is Kind.TEXT else {"text": text, "thought": True}
        return self._event({"content": _content([part])})

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write thoughts, signatures, parts that are neither text nor calls, tokens, and members
        beside the content, unless the end of the message repeats them, as it does all sources."""
        parts: list[Part] = []
        beside: JsonObject = {}
        for signal in signals:
            match signal:
                case Opened(native=native) if (part := _untold(native)) is not None:
                    parts.append(part)
                case Said(members, adds) if members.get("finishReason") is None:
                    told = {**members, **(adds or {})}
                    beside |= {k: v for k, v in told.items() if k not in _WRITTEN and k != SOURCES}
                case Checkpoint(token):  # the SDK goes on with it if Tenuto cannot
                    beside |= token
        if not parts and not beside:
            return b""
        return self._event({"content": _content(parts or [_NOTHING])} | beside)

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the calls, the stop and the usage."""
        parts = [_call_part(call) for call in answer.calls] or [_NOTHING] * bool(answer.text)
        candidate = {"content": _content(parts)} | _end_of(
            _first_candidate(answer.ending), answer, None
        )
        usage = COUNTS.merged(answer.raw_usage, answer.usage)
        return self._event(candidate, {"usageMetadata": usage} if usage else {})

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises `ServerError`."""
        return encode_event({"error": _error(code, message)})

    def _event(self, candidate: JsonObject, more: Mapping[str, Any] | None = None) -> bytes:
        return encode_event(
            {"candidates": [{**candidate, "index": 0}], **(more or {}), **self._shared}
        )


def _untold(part: Native) -> Part | None:
    """Return what the layout doesn't write itself of a part: of text, its signature."""
    if not is_text(part):
        return {**part}
    return {**part, "text": ""} if is_signed(part) else None


def _content(parts: Sequence[Mapping[str, Any]]) -> JsonObject:
    return {"parts": list(parts), "role": "model"} if parts else {"role": "model"}


def _first_candidate(value: JsonObject) -> JsonObject:
    found = candidates_of(value)
    return found[0] if found else {}


def _end_of(candidate: JsonObject, answer: Answer, parts: Sequence[Part] | None) -> JsonObject:
    """Return the stop, and the members beside it, but none that belong to another stop."""
    kept = {key: item for key, item in candidate.items() if key not in _WRITTEN}
    of_events = parts is not None and any(one.value is None for one in answer.spoken)
    if of_events or not is_one(answer.spoken):
        kept = {key: item for key, item in kept.items() if key not in CITING}
        kept |= joined_sources(answer.spoken, parts)
    if candidate.get("finishReason") == answer.native_stop:
        kept |= {key: candidate[key] for key in _OF_THE_STOP if key in candidate}
    return {**kept, "finishReason": answer.native_stop}


def _call_part(call: ToolCall) -> JsonObject:
    """Return a call as a part, with the id and the signature that the provider gave, if any."""
    extra: Mapping[str, Any] = call.extra or {}
    given = extra.get("call", {})
    # If the provider gave none, the id is Tenuto's own and stays internal.
    named = {"id": call.id} if "id" in given else {}
    made = {**given, **named, "name": call.name, "args": object_of(call)}
    return {"functionCall": made, **extra.get("part", {})}


def render_body(first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
    """Return a whole response: the first attempt's identity, the last stop, the merged content."""
    candidate = _first_candidate(answer.ending) or _first_candidate(last)
    parts = [*without_token(answer.content), *map(_call_part, answer.calls)]
    made = {"content": _content(parts)} | _end_of(candidate, answer, parts) | {"index": 0}
    kept = {key: item for key, item in first.items() if key not in _NOT_SHARED}
    usage = COUNTS.merged(answer.raw_usage, answer.usage)
    counted = {"usageMetadata": usage} if usage else {}
    return encode({"candidates": [made], **counted, **kept})


def _error(code: str, message: str) -> JsonObject:
    detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code}
    about = {"code": ERROR_STATUS, "message": message, "status": OURS.upper()}
    return about | {"details": [detail | {"domain": "tenuto"}]}


def render_error(code: str, message: str, partial: Answer | None) -> bytes:
    """Return the body of an error. `partial` holds what was received, so nothing is lost."""
    return encode({"error": _error(code, message) | kept_of(partial)})
