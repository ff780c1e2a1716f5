"""Gemini's sources for an answer that was joined from several attempts.

`groundingMetadata` has chunks (the sources), and supports, which link segments to chunks by index.
A segment counts bytes of UTF-8 from the start of its part. The sources of `citationMetadata` do the
same in `citationSources` of the Developer API. Vertex AI doesn't document what its `citations`
count, so they are moved only if bytes and characters are the same (`google/genai/types.py` of
google-genai 3.4; https://ai.google.dev/api/generate-content).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.wires.answer import AttemptContent
from tenuto.wires.citations import Place, Span, places, size
from tenuto.wires.gemini_generate.content import SOURCES, Part, is_text, parts_of
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in

_COUNTED_IN_BYTES = "citationSources"
_FETCHED = "urlContextMetadata"
_INDEXED = frozenset({"groundingChunks", "groundingSupports"})


def joined_sources(spoken: Sequence[AttemptContent], parts: Sequence[Part] | None) -> JsonObject:
    """Return the members of a candidate with the sources of all attempts. Positions count from the
    beginning of the part of `parts` that holds the words; None: of the text of a stream."""
    told = _Sources(parts)
    for one, place in zip(spoken, places(spoken), strict=True):
        told.begin(place)
        for candidate in one.message.said.get(SOURCES, ()) if one.message is not None else ():
            told.add(candidate)
    return told.members()


class _Sources:
    """The sources of an answer, collected attempt by attempt."""

    def __init__(self, parts: Sequence[Part] | None) -> None:
        self._parts = parts
        self._grounding: JsonObject = {}
        self._fetched: JsonObject = {}
        self._chunks: list[Any] = []
        self._supports: list[Any] = []
        self._citations: dict[str, list[Any]] = {}
        self._place = Place("", "", 0)
        self._numbers: list[int] = []

    def begin(self, place: Place) -> None:
        """Begin the next attempt."""
        self._place, self._numbers = place, []

    def add(self, candidate: JsonObject) -> None:
        """Add the sources of a body or of one event."""
        self._ground(object_in(candidate.get("groundingMetadata")), parts_of(candidate))
        for key, value in object_in(candidate.get(_FETCHED)).items():
            self._fetched[key] = _united(self._fetched.get(key), value)
        for key, found in object_in(candidate.get("citationMetadata")).items():
            told = self._citations.setdefault(key, [])
            for item in list_in(found):
                moved = self._cited(item, key) if isinstance(item, dict) else None
                if moved is not None and moved not in told:
                    told.append(moved)

    def members(self) -> JsonObject:
        """Return all sources."""
        lists = {"groundingChunks": self._chunks, "groundingSupports": self._supports}
        grounding = self._grounding | {key: found for key, found in lists.items() if found}
        citations = {key: found for key, found in self._citations.items() if found}
        told = {"groundingMetadata": grounding, "citationMetadata": citations}
        return {key: found for key, found in (told | {_FETCHED: self._fetched}).items() if found}

    def _ground(self, grounding: JsonObject, parts: Sequence[Part]) -> None:
        for key, value in grounding.items():
            if key in _INDEXED:
                continue
            self._grounding[key] = _united(self._grounding.get(key), value)
        if chunks := list_in(grounding.get("groundingChunks")):
            self._numbers = [self._number(chunk) for chunk in chunks]
        for support in list_in(grounding.get("groundingSupports")):
            moved = self._supported(support, parts) if isinstance(support, dict) else None
            if moved is not None and moved not in self._supports:
                self._supports.append(moved)

    def _number(self, chunk: object) -> int:
        """Return the index of a chunk among those of all attempts."""
        if chunk not in self._chunks:
            self._chunks.append(chunk)
        return self._chunks.index(chunk)

    def _supported(self, support: JsonObject, parts: Sequence[Part]) -> JsonObject | None:
        indices, segment = support.get("groundingChunkIndices"), support.get("segment")
        numbers = list_in(indices)
        if not all(type(n) is int and 0 <= n < len(self._numbers) for n in numbers):
            return None  # its sources are not there
        moved = self._segment(segment, parts) if isinstance(segment, dict) else None
        if moved is None:
            return None
        made = {key: value for key, value in support.items() if key != "renderedParts"}
        told = {"groundingChunkIndices": [self._numbers[n] for n in numbers]} if numbers else {}
        return made | {"segment": moved} | told

    def _segment(self, segment: JsonObject, parts: Sequence[Part]) -> JsonObject | None:
        span, words = _span(segment), segment.get("text")
        number = segment.get("partIndex")
        if span is None or not isinstance(words, str | None):
            return None
        # A stream's parts are pieces of the text in which positions count.
        before = parts[:number] if type(number) is int and self._parts is not None else ()
        begins = sum(size(part["text"]) for part in before if is_text(part))
        found = self._place.moved_bytes((span[0] + begins, span[1] + begins), words)
        return None if found is None else self._told(segment, found)

    def _cited(self, item: JsonObject, key: str) -> JsonObject | None:
        if "startIndex" not in item and "endIndex" not in item:
            return item
        span = _span(item)
        sure = key == _COUNTED_IN_BYTES or self._place.whole.isascii()
        if not sure and self._place.unmoved:
            return item
        found = None if span is None or not sure else self._place.moved_bytes(span)
        return None if found is None else _with_span(item, found)

    def _told(self, segment: JsonObject, span: Span) -> JsonObject | None:
        """Return a segment that lies in one of the parts that are passed on."""
        made = {key: value for key, value in segment.items() if key != "partIndex"}
        if self._parts is None:
            return _with_span(made, span)
        begins = 0
        for number, part in enumerate(self._parts):
            length = size(part["text"]) if is_text(part) else 0
            if begins <= span[0] and span[1] <= begins + length:
                at = {"partIndex": number} if number else {}
                return _with_span(made | at, (span[0] - begins, span[1] - begins))
            begins += length
        return None


def _united(before: object, more: object) -> object:
    """Return two lists joined; for anything else, the later value."""
    if not isinstance(before, list) or not isinstance(more, list):
        return more
    return [*before, *(item for item in more if item not in before)]


def _span(value: JsonObject) -> Span | None:
    """Return the positions of a segment or a citation. A start of 0 is left out of JSON."""
    start, end = value.get("startIndex", 0), value.get("endIndex")
    return (start, end) if type(start) is int and type(end) is int else None


def _with_span(value: JsonObject, span: Span) -> JsonObject:
    return value | {"startIndex": span[0], "endIndex": span[1]}
