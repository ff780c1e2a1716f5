"""A stop sequence of the request that spans a cut.

Theory of operation
-------------------
A provider looks for stop sequences in the text that it writes for one request. It doesn't see one
that begins before the cut and ends after it, so the text would continue where an uncut answer had
ended. This stitcher therefore searches what another one forwards, for as long as a sequence that
began before the cut can still end. The provider handles sequences that lie wholly after the cut. If
one follows the cut at once, the continuation is empty. After a prefill, its stop shows that the
text is complete. After a hint it shows nothing: the model may begin with a fence, a heading or any
word.

A stream may also drop exactly where a stop sequence ended the answer. Providers leave the sequence
out of the text, so this looks like any other text that broke off. It counts as broken off, and if a
continuation adds nothing, the turn is partial: "complete" would be a guess.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from tenuto.core.seam.stitcher import Stitcher

__all__ = ["Found", "StopSequenceStitcher"]


class Found(NamedTuple):
    """A stop sequence, and how many of its characters came before the cut."""

    sequence: str
    before_chars: int


class StopSequenceStitcher:
    """Forwards nothing from the start of a stop sequence that spans the cut.

    Args:
        stitcher: joins the continuation to the text before it.
        before_chars: the part of that text that was forwarded.
        undelivered_chars: characters of white space before the cut, which the stitcher forwards
            first.
        sequences: the stop sequences of the request.

    >>> from tenuto.core.seam.seam import Seam
    >>> stitcher = StopSequenceStitcher(Seam("Said. EN"), "Said. EN", 0, ["END"])
    >>> stitcher.feed("D of it") + stitcher.finish(), stitcher.found
    ('', Found(sequence='END', before_chars=2))
    """

    def __init__(
        self, stitcher: Stitcher, before: str, undelivered_chars: int, sequences: Collection[str]
    ) -> None:
        longest = max(map(len, sequences), default=0)
        self._stitcher = stitcher
        self._sequences = sequences
        self._before = before[max(len(before) - longest + 1, 0) :] if longest else ""
        self._undelivered_chars = undelivered_chars
        self._held = ""
        self._over = not (self._before or undelivered_chars) or not sequences
        self.found: Found | None = None

    @property
    def new_chars(self) -> int:
        """The number of new characters forwarded so far."""
        return self._stitcher.new_chars

    def feed(self, delta: str) -> str:
        """Add text; return what may be forwarded now."""
        return self._checked(self._stitcher.feed(delta))

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return the rest, at the end of the attempt."""
        rest = self._checked(self._stitcher.finish(broke_off=broke_off, at_limit=at_limit))
        held, self._held = self._held, ""
        return rest + held

    def _checked(self, text: str) -> str:
        if self._over:
            return "" if self.found else text
        self._held += text
        joined = self._before + self._held
        for start in range(len(self._before) + min(self._undelivered_chars, len(self._held))):
            for sequence in self._sequences:
                if joined.startswith(sequence, start):
                    if start + len(sequence) <= len(self._before):
                        continue  # it was forwarded as a whole
                    return self._stopped(sequence, start)
                if sequence.startswith(joined[start:]):
                    return ""  # more text is needed to tell
        if not self._held:
            return ""
        self._over = len(self._held) > self._undelivered_chars
        held, self._held = self._held, ""
        if not self._over:
            self._before += held
            self._undelivered_chars -= len(held)
        return held

    def _stopped(self, sequence: str, start: int) -> str:
        self._over = True
        before_chars = max(len(self._before) - start, 0)
        given = self._held[: max(start - len(self._before), 0)]
        self._held = ""
        self.found = Found(sequence, before_chars)
        return given
