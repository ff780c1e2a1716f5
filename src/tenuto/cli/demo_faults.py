"""The faults that the demos play: what the bare SDK meets, and what befalls an agent's model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from tenuto.sim import Step, Wanted
from tenuto.sim.case import Arguments, Ending, Say

_EVERY: Final = 3
_IN_A_ROW: Final = 12
"""Every so many responses, the one after a fault has a fault too."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, as the SDK meets it and as an agent does.

    Attributes:
        case: the name of the simulator's case that the SDK meets; "": it meets none.
        turn: when an agent meets it first, counted from 1; 0: it does not.
        name: how the agent's demo calls it.
        of_calls: what becomes of an answer with calls; None: it is not met by it.
        of_text: the same of an answer without calls.
        not_on: names of the wires that have no room for it.
    """

    case: str
    turn: int = 0
    name: str = ""
    of_calls: Step | None = None
    of_text: Step | None = None
    not_on: tuple[str, ...] = ()


FAULTS: Final = (
    Fault("length_twice", 1, "cut by the output limit",
          Step(arguments=Arguments.CUT, finish="length"), Step(keep=0.5, finish="length")),
    Fault("length_in_multibyte"),
    Fault("length_always"),
    Fault("reasoning_only_length"),
    Fault("call_cut_tool_calls", 5, "cut call called whole",
          Step(arguments=Arguments.CUT, broken_call=-1, finish="tool_calls")),
    # Calls that hold an object have no text that could be malformed.
    Fault("call_malformed", 4, "malformed call", Step(arguments=Arguments.MALFORMED),
          not_on=("gemini-generate", "ollama")),
    Fault("batch_one_broken"),
    Fault("empty_once", 3, "empty answer", Step(say=Say.NOTHING), Step(say=Say.NOTHING)),
    Fault("body_cut"),
    Fault("drop_mid_text", 2, "connection dropped",
          Step(arguments=Arguments.CUT, ending=Ending.DROP), Step(keep=0.5, ending=Ending.DROP)),
    Fault("eof_no_finish"),
    Fault("error_chunk_mid_text"),
    Fault("content_filter"),
    Fault("", 6, "connection reset",
          Step(arguments=Arguments.CUT, ending=Ending.RESET), Step(keep=0.5, ending=Ending.RESET)),
)  # fmt: skip


@dataclass(slots=True)
class Faults:
    """Lays faults over the answers of a plan, and keeps what became of them.

    Attributes:
        wire: on which they are played.
        kinds: those that have room there.
        met: their names, in the order in which they were met.
        recovered: those of them that were made good.
    """

    wire: str
    kinds: list[Fault] = field(init=False)
    met: list[str] = field(default_factory=list)
    recovered: list[str] = field(default_factory=list)
    _waiting: list[Fault] = field(init=False)
    _behind: int = 0
    _shown: int = 0

    def __post_init__(self) -> None:
        met = [fault for fault in FAULTS if fault.turn and self.wire not in fault.not_on]
        self.kinds = sorted(met, key=lambda fault: fault.turn)
        self._waiting = self.kinds.copy()

    def __call__(self, number: int, due: Wanted) -> Step:
        """The step of the response with this number, counted from 0."""
        if number % _EVERY != _EVERY - 1 and (not number or number % _IN_A_ROW):
            return Step()
        for fault in self._waiting:
            step = fault.of_calls if due.calls else fault.of_text
            if step is not None:
                self._waiting.remove(fault)
                self._waiting.append(fault)
                self.met.append(fault.name)
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
            self.recovered += self.met[self._behind :]
        self._behind = len(self.met)

    def counts(self) -> list[dict[str, Any]]:
        """How often each was met, and how often it was made good."""
        met, recovered = Counter(self.met), Counter(self.recovered)
        return [
            {"fault": fault.name, "met": met[fault.name], "recovered": recovered[fault.name]}
            for fault in self.kinds
        ]
