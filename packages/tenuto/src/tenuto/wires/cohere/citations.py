"""The citations of Cohere's answers when several attempts are joined.

Positions count within one part of the content, which `content_index` names. A citation also names
the kind of that part: text, thinking, or the plan (`cohere/types/citation.py` of cohere-python 7.3,
2026-11-22). In a joined answer all text is one part, and so is all thinking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from tenuto.core.answer.parts import Kind, Message
from tenuto.core.answer.parts import Place as PartPlace
from tenuto.wires.answer import AttemptContent
from tenuto.wires.citations import Place, places
from tenuto.wires.json import JsonObject
from tenuto.wires.members import object_in

CITATIONS: PartPlace = ("citations",)
"""The member of a message that holds the citations, beside its content."""


def cited_in(message: Message | None) -> list[JsonObject]:
    """Return the citations of one attempt, as received."""
    parts = message.parts if message is not None else []
    found = (part.whole()["citations"] for part in parts if part.place == CITATIONS)
    return list(map(object_in, chain.from_iterable(found)))


def joined_citations(
    spoken: Sequence[AttemptContent],
    part: int,
    *,
    thought: str = "",
    given: Sequence[JsonObject] = (),
) -> list[JsonObject]:
    """Return the citations of all attempts, without duplicates. Their positions count in the whole
    text, which is in this part of the content.

    Args:
        thought: the thinking. Citations of it are kept if they still match it.
        given: the citations passed on with the first attempt, which are not repeated.
    """
    out: list[JsonObject] = []
    for number, (place, one) in enumerate(zip(places(spoken), spoken, strict=True)):
        starts = _starts(one.message)
        for citation in cited_in(one.message):
            if number == 0 and citation in given:
                continue
            start = _start(citation, starts)
            if start is None:
                moved = _kept(citation, thought)
            else:
                moved = _moved(citation, start, place, part)
            if moved is not None and moved not in out:
                out.append(moved)
    return out


def _starts(message: Message | None) -> dict[object, int]:
    """Return where each text part begins in an attempt's text, by the index of the part."""
    starts: dict[object, int] = {}
    said = 0
    for part in message.parts if message is not None else ():
        if part.kind is Kind.TEXT:
            starts[part.place[0]], said = said, said + len(part.text)
    return starts


def _start(citation: Mapping[str, object], starts: Mapping[object, int]) -> int | None:
    """Return the beginning of the part that a citation counts in; None: that is no text part.
    Without an index, all text counts as one part."""
    if citation.get("type") in ("THINKING_CONTENT", "PLAN"):
        return None
    index = citation.get("content_index")
    return starts.get(index) if type(index) is int and starts else 0


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
    """Return a citation of thinking if its words are at its position. Thinking is the first
    part."""
    start, end, words = (citation.get(key) for key in ("start", "end", "text"))
    if type(start) is not int or type(end) is not int or not words or words != thought[start:end]:
        return None
    return citation | {"content_index": 0} if citation.get("content_index") else citation
