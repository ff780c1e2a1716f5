"""What rewrites the events of a stream, on wires whose events repeat everything so far."""

from __future__ import annotations

from typing import Protocol

from tenuto.frames.frame import Frame


class Rewriter(Protocol):
    """Rewrites the events of one turn's streams, in both directions."""

    def begin(self) -> None:
        """Begin with the events of a further attempt."""

    def received(self, event: Frame) -> bytes:
        """Return an event of the provider's with only what is new."""
        ...

    def written(self, event: Frame) -> bytes:
        """Return an event for the caller, with everything that came before it. One that was
        received, and that nothing changed, has its own bytes."""
        ...
