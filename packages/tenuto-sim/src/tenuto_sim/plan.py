"""A model that gives planned answers, one after another, and repeats each until it has arrived.

The history shows which answer is next, by the number of tool results and by the texts before it.
Tenuto's recovery adds failed tool results to a request. They don't count, because they follow an
answer whose calls could not run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tenuto_sim.asked import Row, results_in
from tenuto_sim.case import Step
from tenuto_sim.prose import key_of
from tenuto_sim.reply import Call, Wanted

NOTHING_LEFT = Wanted("There is nothing left to do.")
"""The answer after the last one of the plan."""

Faults = Callable[[int, Wanted], Step]
"""Returns a request's step, from its number among all requests of the plan and the next answer."""


def saying(text: str, *calls: tuple[str, Mapping[str, Any]]) -> Wanted:
    """Return an answer of a plan: a text, and calls by name and arguments.

    >>> saying("I look.", ("read_file", {"path": "a"})).calls[0].arguments
    '{"path": "a"}'
    """
    made = (Call(None, name, json.dumps(given, ensure_ascii=False)) for name, given in calls)
    return Wanted(text, tuple(made))


def says_unfit(result: Row) -> bool:
    """Return whether a tool's result says that the arguments of its call did not fit.

    >>> said = "Error: this call was not run. Its arguments do not fit the parameters of add: ..."
    >>> says_unfit(Row("tool", said)), says_unfit(Row("tool", "Error: this call was not run."))
    (True, False)
    """
    return "arguments do not fit" in result.text


def no_faults(number: int, due: Wanted) -> Step:
    """Return a normal answer.

    >>> no_faults(0, NOTHING_LEFT) == Step()
    True
    """
    return Step()


@dataclass(slots=True)
class Plan:
    """Answers in order, and the faults that happen to them. Their texts must differ."""

    answers: Sequence[Wanted]
    faults: Faults = no_faults
    asked: int = 0
    """Requests so far."""

    def place(self, rows: Sequence[Row], given: Mapping[int, int] = MappingProxyType({})) -> int:
        """Return how many answers this history holds.

        `given` is how many calls the answer at an index contained, if the output budget cut some
        off.

        >>> plan = Plan([saying("I look.", ("look", {})), saying("Seen."), saying("Bye.")])
        >>> rows = [Row("user", "Go."), Row("assistant", "I look."), Row("tool", "ok")]
        >>> plan.place(rows[:1]), plan.place(rows), plan.place([*rows, Row("assistant", "Seen.")])
        (0, 1, 2)
        >>> two = Plan([saying("", ("look", {}), ("look", {})), saying("Seen.")])
        >>> two.place(rows), two.place(rows, {0: 1})
        (0, 1)
        """
        results = sum(not says_unfit(row) for row in results_in(rows))
        texts = {row.text.strip() for row in rows if row.role == "assistant"}
        for place, answer in enumerate(self.answers):
            calls = given.get(place, len(answer.calls))
            results -= calls
            if results < 0 or (not calls and answer.text.strip() not in texts):
                return place
        return len(self.answers)

    def due(
        self, place: int, key: str, *, tools: bool = True, ran: Set[int] = frozenset()
    ) -> Wanted:
        """Return the answer at this index, without its calls if the request has no tools. If some
        of its calls `ran`, by their indexes, only the others are due.

        The ids of its calls are derived from `key`.

        >>> Plan([]).due(0, "x").text
        'There is nothing left to do.'
        """
        if place >= len(self.answers):
            return NOTHING_LEFT
        answer = self.answers[place]
        calls = (
            replace(call, id="call_" + key_of(key, str(index)))
            for index, call in enumerate(answer.calls if tools else ())
            if index not in ran
        )
        return replace(answer, text="" if ran else answer.text, calls=tuple(calls))

    def step(self, due: Wanted) -> Step:
        """Return the step of the next request."""
        self.asked += 1
        return self.faults(self.asked - 1, due)
