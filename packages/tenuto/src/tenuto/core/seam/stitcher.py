"""Stitchers append the text of a further attempt to the text so far."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Stitcher", "ThinkBlockCloser"]


class Stitcher(Protocol):
    """Appends the text of an attempt to the text so far, without what it repeats."""

    @property
    def new_chars(self) -> int:
        """The number of new characters forwarded so far."""
        ...

    def feed(self, delta: str) -> str:
        """Add text; return what may be forwarded now."""
        ...

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return the rest, at the end of the attempt. `broke_off`: the attempt did not end by
        itself; `at_limit`: the output limit cut it."""
        ...


class ThinkBlockCloser:
    """Stitches an answer to a think block that ended without one: it closes the block first.

    `undelivered` is text that was received but not forwarded yet, and what closes the block.

    >>> stitcher = ThinkBlockCloser("</think>")
    >>> stitcher.feed("") + stitcher.feed("Yes."), stitcher.new_chars
    ('</think>Yes.', 4)
    """

    def __init__(self, undelivered: str) -> None:
        self._undelivered = undelivered
        self.new_chars: int = 0

    def feed(self, delta: str) -> str:
        """Return the delta, after the undelivered text."""
        if not delta:
            return ""
        undelivered, self._undelivered = self._undelivered, ""
        self.new_chars += len(delta)
        return undelivered + delta

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return nothing: without an answer, the block stays as it came."""
        return ""
