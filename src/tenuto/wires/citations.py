"""Where the words that a citation stands for are, once attempts are joined.

Positions count from the beginning of an attempt's own text. Of that text a seam takes away what was
said before, always at its beginning: both texts end alike, and from their ends it is told how far
all positions move. A position is handed on where the same words stand at the new place, and nowhere
else: a citation that points at other words looks right and is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from tenuto.core.seam import trailing_space
from tenuto.wires.answer import AttemptContent

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an attempt's `own` text is in the `whole` one, in which its end is at `ends`.

    >>> Place("twice a day.", "The tide comes twice a day.", 27).moved((0, 5))
    (15, 20)
    >>> Place("Sure! twice a day.", "The tide comes twice a day.", 27).moved((0, 5)) is None
    True
    """

    own: str
    whole: str
    ends: int

    def moved(self, span: Span, words: str | None = None) -> Span | None:
        """A span of characters, where its words are now; None where they are not found there.
        `words`: what it is said to hold."""
        start, end = span
        cited = self.own[start:end]
        if not 0 <= start < end <= len(self.own) or words not in (None, cited):
            return None
        for shift in self._shifts():
            at = start + shift
            if at >= 0 and self.whole.startswith(cited, at):
                return at, end + shift
        return None

    def moved_bytes(self, span: Span, words: str | None = None) -> Span | None:
        """The same of a span that counts bytes of UTF-8."""
        given = _characters(self.own, span)
        found = None if given is None else self.moved(given, words)
        return (
            None if found is None else (size(self.whole[: found[0]]), size(self.whole[: found[1]]))
        )

    @property
    def unmoved(self) -> bool:
        """Whether all positions stay what they are."""
        return self._shifts() == (0, 0)

    def _shifts(self) -> tuple[int, ...]:
        own = trailing_space(self.own)[0]
        by_end = self.ends - len(own)
        # What is said behind the answer, as a notice is, leaves the beginning alone.
        return (by_end, 0) if self.whole.startswith(own) else (by_end,)


def is_one(spoken: Sequence[AttemptContent]) -> bool:
    """Whether the answer is one attempt's as it came, whose positions are true as they are."""
    if not spoken:
        return True
    kept, own = (trailing_space(text)[0] for text in (spoken[0].text, spoken[0].own))
    return len(spoken) == 1 and kept == own


def places(spoken: Sequence[AttemptContent]) -> list[Place]:
    """The place of each attempt."""
    whole = "".join(one.text for one in spoken)
    ends = accumulate(len(one.text) for one in spoken)
    return [
        Place(one.own, whole, len(trailing_space(whole[:end])[0]))
        for one, end in zip(spoken, ends, strict=True)
    ]


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


def _characters(text: str, span: Span) -> Span | None:
    """A span of bytes as one of characters; None where it is none, or parts a character."""
    data = text.encode("utf-8", "replace")
    start, end = span
    if not 0 <= start < end <= len(data):
        return None
    try:
        before, cited = data[:start].decode(), data[start:end].decode()
    except UnicodeDecodeError:
        return None
    return len(before), len(before) + len(cited)
