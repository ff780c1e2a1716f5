"""The citations of Cohere's answers, where several attempts are joined to one.

A citation counts within one part of the content, which `content_index` names, and says what that
part is: text, thinking, or the plan (`cohere/types/citation.py` of cohere-python 7.3, 2026-11-22).
In a joined answer all text is one part, and so is all thinking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenuto.wires.base import JsonObject, Spoken
from tenuto.wires.citations import Place, places
from tenuto.wires.members import object_in


@dataclass(frozen=True, slots=True)
class Cited:
    """The citations of one attempt.

    Attributes:
        citations: as they came.
        starts: where in the attempt's text its parts of text begin, by the index of the part; empty
            where that is not known, and all text is taken for one part.
    """

    citations: list[Any] = field(default_factory=list)
    starts: dict[int, int] = field(default_factory=dict)

    def start_of(self, citation: Mapping[str, Any]) -> int | None:
        """Where the part begins that a citation counts in; None where that is no text."""
        if citation.get("type") in ("THINKING_CONTENT", "PLAN"):
            return None
        index = citation.get("content_index")
        return self.starts.get(index) if type(index) is int and self.starts else 0


def cited_in(body: JsonObject) -> Cited:
    """The citations of a body.

    >>> parts = [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Yes"}]
    >>> cited_in({"message": {"content": [*parts, {"type": "text", "text": "."}]}}).starts
    {1: 0, 2: 3}
    """
    message = object_in(body.get("message"))
    found, content = message.get("citations"), message.get("content")
    starts: dict[int, int] = {}
    said = 0
    for index, part in enumerate(content if isinstance(content, list) else []):
        text = object_in(part).get("text")
        if isinstance(text, str):
            starts[index], said = said, said + len(text)
    return Cited(found if isinstance(found, list) else [], starts)


def joined_citations(
    spoken: Sequence[Spoken], cited: Iterable[Cited], part: int, thought: str = ""
) -> list[JsonObject]:
    """The citations of all attempts, with the positions of the whole text, which is in this part of
    the content, and none twice; of what was `thought` those that are true as they are. What has no
    place any more is left out."""
    out: list[JsonObject] = []
    for place, of_one in zip(places(spoken), cited, strict=True):
        for citation in of_one.citations:
            value = object_in(citation)
            start = of_one.start_of(value)
            moved = _kept(value, thought) if start is None else _moved(value, start, place, part)
            if moved is not None and moved not in out:
                out.append(moved)
    return out


def _moved(citation: JsonObject, begins: int, place: Place, part: int) -> JsonObject | None:
    start, end, words = (citation.get(key) for key in ("start", "end", "text"))
    if type(start) is not int or type(end) is not int:
        return None
    said = words if isinstance(words, str) else None
    span = place.moved((begins + start, begins + end), said)
    if span is None:
        return None
    where = {"content_index": part} if "content_index" in citation else {}
    return {**citation, "start": span[0], "end": span[1], **where}


def _kept(citation: JsonObject, thought: str) -> JsonObject | None:
    """A citation of thinking, where its words stand where it says; thinking is the first part."""
    start, end, words = (citation.get(key) for key in ("start", "end", "text"))
    if type(start) is not int or type(end) is not int or not words or words != thought[start:end]:
        return None
    return (
        citation if citation.get("content_index") in (None, 0) else citation | {"content_index": 0}
    )
