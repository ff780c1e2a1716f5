"""The faults of `tenuto demo agent`: every third response, each kind in turn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from tenuto.sim import Step, Wanted
from tenuto.sim.case import Arguments, Ending, Say

_EVERY: Final = 3
_IN_A_ROW: Final = 12
"""Every so many responses, the one after a fault has a fault too."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A fault: what becomes of an answer with calls, and of one without; None: not met by it."""

    name: str
    of_calls: Step | None
    of_text: Step | None


KINDS: Final = (
    Kind(
        "cut by the output limit",
        Step(arguments=Arguments.CUT, finish="length"),
        Step(keep=0.5, finish="length"),
    ),
    Kind(
        "connection dropped",
        Step(arguments=Arguments.CUT, ending=Ending.DROP),
        Step(keep=0.5, ending=Ending.DROP),
    ),
    Kind("empty answer", Step(say=Say.NOTHING), Step(say=Say.NOTHING)),
    Kind("malformed call", Step(arguments=Arguments.MALFORMED), None),
    Kind(
        "cut call called whole",
        Step(arguments=Arguments.CUT, broken_call=-1, finish="tool_calls"),
        None,
    ),
    Kind(
        "connection reset",
        Step(arguments=Arguments.CUT, ending=Ending.RESET),
        Step(keep=0.5, ending=Ending.RESET),
    ),
)


NOT_ON: Final[Mapping[str, Collection[str]]] = {
    # Their calls hold an object and no text that could be malformed.
    "gemini-generate": ("malformed call",),
    "ollama": ("malformed call",),
}
"""Kinds that a wire has no room for."""


@dataclass(slots=True)
class Faults:
    """Lays faults over the answers of a plan, and keeps what became of them.

    Attributes:
        left_out: names of the kinds that are not played.
        met: names of the kinds, in the order in which they were met.
        recovered: those of them that were made good.
    """

    left_out: Collection[str] = ()
    met: list[str] = field(default_factory=list)
    recovered: list[str] = field(default_factory=list)
    _waiting: list[Kind] = field(init=False)
    _open: list[str] = field(default_factory=list)
    _shown: int = 0

    def __post_init__(self) -> None:
        self._waiting = [kind for kind in KINDS if kind.name not in self.left_out]

    def __call__(self, number: int, due: Wanted) -> Step:
        """The step of the response with this number, counted from 0."""
        if number % _EVERY != _EVERY - 1 and (not number or number % _IN_A_ROW):
            return Step()
        for kind in self._waiting:
            step = kind.of_calls if due.calls else kind.of_text
            if step is not None:
                self._waiting.remove(kind)
                self._waiting.append(kind)
                self.met.append(kind.name)
                self._open.append(kind.name)
                return step
        return Step()

    def news(self, most: int | None = None) -> list[str]:
        """The faults that were met since this was last asked; at most so many of them."""
        news = self.met[self._shown :][:most]
        self._shown += len(news)
        return news

    def step_ended(self, *, whole: bool) -> None:
        """What a step met is behind it, and made good if its answer is whole."""
        if whole:
            self.recovered += self._open
        self._open = []

    def counts(self) -> Mapping[str, tuple[int, int]]:
        """How often each kind was met, and how often it was made good."""
        return {
            kind.name: (self.met.count(kind.name), self.recovered.count(kind.name))
            for kind in KINDS
            if kind.name not in self.left_out
        }
