"""The positions of cited words once attempts are joined.

Positions count from the beginning of an attempt's own text. A seam removes repeated words only at
the beginning of that text, so the distance between the ends of both texts gives the shift of all
positions. A position is passed on only if the same words stand at the new place, since a citation
of other words would look right and be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from tenuto.core.seam.seam import trailing_space
from tenuto.wires.answer import AttemptContent

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an attempt's text, `own`, in the joined text, `whole`; its end is at `ends`.

    >>> Place("twice a day.", "The tide comes twice a day.", 27).moved((0, 5))
    (15, 20)
    >>> Place("Sure! twice a day.", "The tide comes twice a day.", 27).moved((0, 5)) is None
    True
    """

    own: str
    whole: str
    ends: int

    def moved(self, span: Span, words: str | None = None) -> Span | None:
        """Return a span of characters at its new place; None: its words aren't there. `words`: what
        the span is expected to hold."""
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
        """Return the same for a span that counts bytes of UTF-8."""
        given = _characters(self.own, span)
        found = None if given is None else self.moved(given, words)
        return (
            None if found is None else (size(self.whole[: found[0]]), size(self.whole[: found[1]]))
        )

    @property
    def unmoved(self) -> bool:
        """Whether all positions stay the same."""
        return self._shifts() == (0, 0)

    def _shifts(self) -> tuple[int, ...]:
        own = trailing_space(self.own)[0]
        by_end = self.ends - len(own)
        # Text behind the answer, such as a notice, doesn't move the beginning.
        return (by_end, 0) if self.whole.startswith(own) else (by_end,)


def is_one(spoken: Sequence[AttemptContent]) -> bool:
    """Return whether the answer is one attempt's, unchanged, so that its positions still hold."""
    if not spoken:
        return True
    kept, own = (trailing_space(text)[0] for text in (spoken[0].text, spoken[0].own))
    return len(spoken) == 1 and kept == own


def places(spoken: Sequence[AttemptContent]) -> list[Place]:
    """Return the place of each attempt."""
    whole = "".join(one.text for one in spoken)
    ends = accumulate(len(one.text) for one in spoken)
    return [
        Place(one.own, whole, len(trailing_space(whole[:end])[0]))
        for one, end in zip(spoken, ends, strict=True)
    ]


def size(text: str) -> int:
    """Return the number of UTF-8 bytes."""
    return len(text.encode("utf-8", "replace"))


def _characters(text: str, span: Span) -> Span | None:
    """Convert a span of bytes to one of characters; None: it is invalid, or splits a character."""
    data = text.encode("utf-8", "replace")
    start, end = span
    if not 0 <= start < end <= len(data):
        return None
    try:
        before, cited = data[:start].decode(), data[start:end].decode()
    except UnicodeDecodeError:
        return None
    return len(before), len(before) + len(cited)
