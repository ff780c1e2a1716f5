"""Write an attempt as a part of the one message, once the wire writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.parts import AnySignal
from tenuto.core.answer.response import broke_off, is_at_limit
from tenuto.core.answer.signals import CallDelta, Closed, Signal, TextDelta
from tenuto.core.seam.stitcher import Stitcher
from tenuto.frames.frame import Frame
from tenuto.turn.stream.held import carried_by, has_place
from tenuto.turn.stream.merger import Merger
from tenuto.turn.stream.plans import PlanStitcher
from tenuto.wires.blocks_content import split_among


class Stream(Protocol):
    """What an attempt is written to."""

    def write_text(self, text: str) -> bytes:
        """Deliver text, except white space at its end, which waits for what follows."""
        ...

    def write_beside(self, placed: Sequence[AnySignal]) -> bytes:
        """Write what an event carries besides text."""
        ...


class AttemptWriter:
    """Writes an attempt whose text is joined to the text so far.

    Each call is passed the stream: if both held each other, only the garbage collector would free
    them.

    Args:
        merger: merges its parts with those before; None if the wire numbers no parts.
        stitcher: joins its text to the text so far; None: nothing is joined.
        plan: joins its plan to the plan so far.
        hold_max_bytes: how much may be held back; 0 for no limit.
        withholds: whether nothing of its text is shown.
    """

    def __init__(
        self,
        merger: Merger | None,
        stitcher: Stitcher | None,
        plan: PlanStitcher | None,
        hold_max_bytes: int,
        *,
        withholds: bool,
    ) -> None:
        self._merger = merger
        self._stitcher = stitcher
        self._plan = plan
        self._hold_max_bytes = hold_max_bytes
        self._withholds = withholds
        self._has_text = self._part_ended = False
        # The texts that the stitcher holds or removed, each in its pieces, and what came behind it.
        self._undecided: list[tuple[list[str], list[Sequence[AnySignal]]]] = []
        self._undecided_bytes = 0

    def end(self, stream: Stream, builder: Builder) -> bytes:
        """End the attempt; return what was still held back."""
        stitcher, self._stitcher = self._stitcher, None
        plan, self._plan = self._plan, None
        if stitcher is None and plan is None:
            return b""
        response = builder.build()
        broke = broke_off(response)
        rest = plan.rest(broke_off=broke) if plan is not None else ()
        out = stream.write_beside(rest) if rest else b""
        if stitcher is None:
            return out
        return out + self._write_stitched(
            stream, stitcher.finish(broke_off=broke, at_limit=is_at_limit(response))
        )

    def write(
        self,
        stream: Stream,
        signals: list[Signal],
        event: Frame,
        placed: Sequence[AnySignal] | None,
    ) -> bytes:
        """Write an event. `placed`: its signals with their places; None if it has no object."""
        if event.data is None:  # fields without data belong to another message
            return b""
        out: list[bytes] = []
        # Text before a call need not wait for the call: little text ever follows one.
        full = 0 < self._hold_max_bytes < self._undecided_bytes
        if self._stitcher and (full or (self._part_ended and CallDelta in map(type, signals))):
            out.append(self._write_stitched(stream, self._stitcher.finish()))
            self._stitcher = None
        if placed is not None:
            placed = placed if self._plan is None else self._plan.of(placed)
            if self._undecided and any(map(has_place, placed)):
                self._undecided[-1][1].append(placed)
                self._undecided_bytes += carried_by(placed, event.raw)
            else:
                out.append(stream.write_beside(placed))
        for signal in signals:
            if isinstance(signal, TextDelta):
                self._has_text = self._has_text or bool(signal.text)
                out.append(self._join(stream, signal.text))
            elif isinstance(signal, Closed):
                self._part_ended = self._has_text
        return b"".join(out)

    def _join(self, stream: Stream, text: str) -> bytes:
        """Deliver what the stitcher forwards of a text."""
        if self._withholds:
            return b""
        forwarded = self._stitcher.feed(text) if self._stitcher else text
        if self._merger is None or not text:
            return stream.write_text(forwarded)
        if forwarded == text and not self._undecided:
            self._merger.note_source_text(text)
            return stream.write_text(forwarded)
        if not self._undecided or self._undecided[-1][1]:
            self._undecided.append(([], []))
        self._undecided[-1][0].append(text)
        return self._write_stitched(stream, forwarded) if forwarded else b""

    def _write_stitched(self, stream: Stream, forwarded: str) -> bytes:
        """Deliver what the stitcher forwarded of the texts that it held, with what came between
        them. Removed text always precedes new text."""
        runs, self._undecided, self._undecided_bytes = self._undecided, [], 0
        texts = ["".join(pieces) for pieces, _ in runs]
        before, kept = split_among(texts, forwarded)
        if not runs:
            return stream.write_text(before)
        kept[0] = before + kept[0]
        out: list[bytes] = []
        for (_, behind), text, rest in zip(runs, texts, kept, strict=True):
            if self._merger is not None:
                self._merger.note_source_text(text)
            out.append(stream.write_text(rest))
            out += map(stream.write_beside, behind)
        return b"".join(out)
