"""A continuation of an answer whose beginning the caller wrote.

Theory of operation
-------------------
A request may end in the first words of the answer, such as `{`. The model's text comes behind
them, and only that text is the answer, since the caller has the rest. A model that is asked to
continue sees both, so a repetition may begin with the caller's words. Two seams take the
continuation: one knows the model's text, the other both. The second counts where the first finds
nothing, so that no repetition is missed which the text alone would show.
"""

from __future__ import annotations

from tenuto.core.seam.seam import Seam

__all__ = ["CallerPrefix"]


class CallerPrefix:
    """Stitches a continuation that may repeat the caller's words before the text.

    Args:
        alone: meets the text alone.
        whole: meets the caller's words and the text. Apart from `before` and `again`, it is made
            like `alone`, so that both forward the same where neither finds a repetition.

    >>> text = '"name": "Ann", "b'
    >>> stitcher = CallerPrefix(Seam(text), Seam("{" + text))
    >>> stitcher.feed('{"name": "An') + stitcher.feed('n", "born": 2}') + stitcher.finish()
    'orn": 2}'
    """

    def __init__(self, alone: Seam, whole: Seam) -> None:
        self._alone = alone
        self._whole = whole
        self._given = ["", ""]
        self._chosen: Seam | None = None

    @property
    def new_chars(self) -> int:
        """The number of new characters forwarded so far."""
        return (self._chosen or self._alone).new_chars

    def feed(self, delta: str) -> str:
        """Add text; return what may be forwarded now."""
        if self._chosen is not None:
            return self._chosen.feed(delta)
        self._add(self._alone.feed(delta), self._whole.feed(delta))
        repeats = self._alone.repeats
        return "" if repeats is None else self._choose(repeats)

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return the rest, at the end of the attempt."""
        if self._chosen is not None:
            return self._chosen.finish(broke_off=broke_off, at_limit=at_limit)
        self._add(
            self._alone.finish(broke_off=broke_off, at_limit=at_limit),
            self._whole.finish(broke_off=broke_off, at_limit=at_limit),
        )
        return self._choose(bool(self._alone.repeats))

    def _add(self, alone: str, whole: str) -> None:
        self._given = [self._given[0] + alone, self._given[1] + whole]

    def _choose(self, repeats: bool) -> str:
        """Return what the seam that counts from now on has forwarded."""
        self._chosen = self._alone if repeats else self._whole
        given, self._given = self._given[0 if repeats else 1], ["", ""]
        return given
