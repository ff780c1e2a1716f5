"""The plan before a call: told once, however often the call is asked for.

Theory of operation
-------------------
Cohere's models say what they are about to do in a place beside the text (`Wire.plan`). An attempt
that is asked for a call again brings its plan again. The caller reads a plan like a text, so it is
joined like the text before a call: what an earlier attempt said already is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tenuto.core.answer.parts import AnySignal, CallPiece, Kind, Message, Opened, Piece, Place
from tenuto.core.answer.response import Response, broke_off
from tenuto.core.seam.seam import Seam, trailing_space


class Plans:
    """The plans of a turn.

    Args:
        place: where the wire has them; None: nowhere.
    """

    def __init__(self, place: Place | None) -> None:
        self._place = place
        self._said = ""
        self._begins: list[int] = []

    def stitcher(self) -> PlanStitcher | None:
        """Return where the plan of a further attempt joins what was said; None if nothing was."""
        base, space = trailing_space(self._said)
        if self._place is None or not base:
            return None
        seam = Seam(base, trimmed=space, delivered_trimmed=space, again=self._begins)
        return PlanStitcher(self._place, seam)

    def keep(self, message: Message | None, response: Response, reasoning: str) -> str:
        """Keep the plan of an attempt. Return the attempt's reasoning, of which its plan is a part,
        with only what is new of the plan."""
        parts = message.parts if message is not None and self._place is not None else ()
        plan = "".join(part.text for part in parts if part.place == self._place)
        if not plan:
            return reasoning
        stitcher, new = self.stitcher(), plan
        if stitcher is not None:
            ended = broke_off(response) and not response.calls and not response.text
            new = stitcher.stitch(plan, broke_off=ended)
            reasoning = reasoning.replace(plan, new, 1)
        self._begins.append(len(self._said))
        self._said += new
        return reasoning


class PlanStitcher:
    """The place where the plan of a further attempt meets the plan before it.

    Args:
        place: where plans are.
        seam: joins the two.
    """

    def __init__(self, place: Place, seam: Seam) -> None:
        self._place = place
        self._seam = seam

    def of(self, signals: Iterable[AnySignal]) -> list[AnySignal]:
        """Return what an event carries, with only what is new of the plan."""
        out: list[AnySignal] = []
        for signal in signals:
            if isinstance(signal, Piece) and signal.place == self._place:
                new = self._seam.feed(signal.text or "")
                out += [replace(signal, text=new)] if new else []
                continue
            if isinstance(signal, Opened | CallPiece):
                out += self.rest()
            out.append(signal)
        return out

    def rest(self, *, broke_off: bool = False) -> list[AnySignal]:
        """Return the held rest of the plan, once it is over."""
        new = self._seam.finish(broke_off=broke_off)
        return [Piece(self._place, Kind.REASONING, new)] if new else []

    def stitch(self, plan: str, *, broke_off: bool) -> str:
        """Return what is new of a whole plan."""
        return self._seam.feed(plan) + self._seam.finish(broke_off=broke_off)
