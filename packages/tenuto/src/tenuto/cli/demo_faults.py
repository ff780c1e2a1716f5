"""The faults that the demos play, for the SDK alone and for an agent's model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from tenuto_sim import Step, Wanted
from tenuto_sim.case import Arguments, Ending, Say

_EVERY: Final = 3
_IN_A_ROW: Final = 12
"""Every so many responses there are faults in two responses in a row."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, in the demo of the SDK and in that of an agent.

    Attributes:
        case: the name of the simulator's case for the SDK; "": not in its demo.
        turn: the turn in which an agent first meets it, counted from 1; 0: not in its demo.
        name: its name in the agent's demo.
        of_calls: what happens to an answer with calls; None: it doesn't affect such answers.
        of_text: the same for an answer without calls.
        not_on: the names of the wires on which it can't happen.
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
    # Calls whose arguments are an object have no text that could be malformed.
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
    """Adds faults to the answers of a plan, and counts them.

    Attributes:
        wire: the wire on which they are played.
        kinds: the faults that can happen there.
        met: the names of those that happened, in order.
        recovered: the names of those that were recovered.
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
        """Return the step for the response with this number, counted from 0."""
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
        """Return the faults that happened since the last call, at most this many."""
        news = self.met[self._shown :][:most]
        self._shown += len(news)
        return news

    def step_ended(self, *, whole: bool) -> None:
        """Note that a step ended. If its answer is complete, its faults count as recovered."""
        if whole:
            self.recovered += self.met[self._behind :]
        self._behind = len(self.met)

    def counts(self) -> list[dict[str, Any]]:
        """Return how often each fault happened, and how often it was recovered."""
        met, recovered = Counter(self.met), Counter(self.recovered)
        return [
            {"fault": fault.name, "met": met[fault.name], "recovered": recovered[fault.name]}
            for fault in self.kinds
        ]
