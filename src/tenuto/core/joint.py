"""Where the text of an attempt is joined to what is kept: a seam, or the end of a think block."""

from __future__ import annotations

from typing import Protocol

__all__ = ["AfterThought", "Joint"]


class Joint(Protocol):
    """Where the text of an attempt is joined to what is kept."""

    @property
    def new_chars(self) -> int:
        """Characters that were given out and are new."""
        ...

    def feed(self, delta: str) -> str:
        """Text that may be handed on now."""
        ...

    def finish(self, *, broke_off: bool = False) -> str:
        """The rest, at the end of the attempt. `broke_off`: it did not end by itself."""
        ...


class AfterThought:
    """The joint behind a think block that ended without an answer: the block is closed, and the
    answer follows.

    `owed` is what was said but not yet handed on, with what closes the block.

    >>> joint = AfterThought("</think>")
    >>> joint.feed("") + joint.feed("Yes."), joint.new_chars
    ('</think>Yes.', 4)
    """

    def __init__(self, owed: str) -> None:
        self._owed = owed
        self.new_chars: int = 0

    def feed(self, delta: str) -> str:
        """The delta, behind what was owed."""
        if not delta:
            return ""
        owed, self._owed = self._owed, ""
        self.new_chars += len(delta)
        return owed + delta

    def finish(self, *, broke_off: bool = False) -> str:
        """Nothing: without an answer the block stays as it came."""
        return ""
