"""Where the text of an attempt joins the text so far: a seam, or the end of a think block."""

from __future__ import annotations

from typing import Protocol

__all__ = ["AfterThought", "Joint"]


class Joint(Protocol):
    """Where the text of an attempt joins the text so far."""

    @property
    def new_chars(self) -> int:
        """The number of new characters handed on."""
        ...

    def feed(self, delta: str) -> str:
        """Take text; return what may be handed on now."""
        ...

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return the rest, at the end of the attempt. `broke_off`: the attempt did not end by
        itself; `at_limit`: the output limit cut it."""
        ...


class AfterThought:
    """The joint after a think block that ended without an answer: it closes the block, and the
    answer follows.

    `owed` is text that was received but not handed on yet, and what closes the block.

    >>> joint = AfterThought("</think>")
    >>> joint.feed("") + joint.feed("Yes."), joint.new_chars
    ('</think>Yes.', 4)
    """

    def __init__(self, owed: str) -> None:
        self._owed = owed
        self.new_chars: int = 0

    def feed(self, delta: str) -> str:
        """Return the delta, after the owed text."""
        if not delta:
            return ""
        owed, self._owed = self._owed, ""
        self.new_chars += len(delta)
        return owed + delta

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return nothing: without an answer, the block stays as it came."""
        return ""
