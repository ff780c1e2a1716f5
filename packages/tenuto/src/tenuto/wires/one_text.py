"""Read answers that are one text and one stop, from the places where they keep them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tenuto.core.answer.parts import AnySignal
from tenuto.core.answer.signals import ChoiceSeen, Signal, TextDelta, Usage, UsageSeen
from tenuto.wires.json import JsonObject, count_of_decimal
from tenuto.wires.members import list_in, path_of, value_at
from tenuto.wires.request_reading import text_in
from tenuto.wires.stops import ReadStop


@cache
def steps(path: str) -> tuple[str | int, ...]:
    """Return a path as `value_at` takes it.

    >>> steps("results[0].outputText")
    ('results', 0, 'outputText')
    """
    return tuple(int(step) if step.isdecimal() else step for step in path_of(path))


@dataclass(frozen=True, slots=True)
class OneText:
    """The places in an answer, as paths such as `results[0].outputText`.

    Attributes:
        shape: paths that identify the answer: each exists, even if its value is null.
        text: the path of its text; "": it has none.
        stop: the paths of its stop. The first one with a value counts.
        used: the paths of the input and output tokens.
    """

    shape: tuple[str, ...]
    text: str
    stop: tuple[str, ...]
    used: tuple[str, str] = ("", "")

    def fits(self, value: JsonObject) -> bool:
        """Return whether a value has this shape.

        >>> OneText(("stop",), "text", ("stop",)).fits({"text": "Hi", "stop": None})
        True
        """
        return all(_leads_somewhere(value, steps(path)) for path in self.shape)

    def signals(self, value: JsonObject, read_stop: ReadStop) -> list[AnySignal]:
        """Return the signals of a value of this shape."""
        used = used_at(value, *self.used)
        others = (
            ChoiceSeen(number, tuple(self._said(value, read_stop, number)))
            for number in range(1, self._count(value))
        )
        counted = [] if used is None else [UsageSeen(used)]
        return [*self._said(value, read_stop, 0), *others, *counted]

    def _count(self, value: JsonObject) -> int:
        """Return how many texts there are: its place may be the first one of a list."""
        listed, first, _ = self.text.partition(_FIRST)
        return len(list_in(value_at(value, steps(listed)))) if first else 1

    def _said(self, value: JsonObject, read_stop: ReadStop, number: int) -> Iterator[Signal]:
        text, *stops = (path.replace(_FIRST, f"[{number}]") for path in (self.text, *self.stop))
        if text and (said := text_in(value_at(value, steps(text)))):
            yield TextDelta(said)
        seen = (read_stop(value_at(value, steps(path)), path) for path in stops)
        if (stop := next(filter(None, seen), None)) is not None:
            yield stop


_FIRST = "[0]"


def _leads_somewhere(value: object, path: Sequence[str | int]) -> bool:
    held, step = value_at(value, path[:-1]), path[-1]
    if isinstance(step, int):
        return isinstance(held, list) and len(held) > step
    return isinstance(held, dict) and step in held


def used_at(value: JsonObject, asked: str, said: str) -> Usage | None:
    """Return the usage from the input and output tokens, which may have a decimal point."""
    counts = [count_of_decimal(value_at(value, steps(path))) for path in (asked, said)]
    return Usage(*counts) if counts != [None, None] else None
