"""What was read of one answer."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import (
    BROKE_OFF_UNREAD,
    NEEDS_WIRE,
    NO_ANSWER,
    NOTHING_CAME,
    SEVERAL_ANSWERS,
    UNREAD,
    Confidence,
    Stop,
    StopReason,
)
from tenuto.wires.base import Wire


class Reading(NamedTuple):
    """One answer as it was read.

    `wire`: the wire that read it; None: no wire did, or several that write errors alike.
    `strange`: whether no wire knows any of the whole events that came."""

    response: Response
    wire: Wire | None
    strange: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether it is an answer, or may be the beginning of one."""
        return self.response.stop.detail not in _NONE

    @property
    def is_counted(self) -> bool:
        """Whether it has shown that it is one answer, or the beginning of one."""
        return self.is_answer and self.response.stop not in _UNCOUNTED

    @property
    def is_guess(self) -> bool:
        """Whether it is an error that may be any program's."""
        stop = self.response.stop
        return stop.reason is StopReason.ERROR and stop.confidence is not Confidence.HIGH

    @property
    def has_stop(self) -> bool:
        """Whether the provider said why it ended."""
        return self.response.stop.raw is not None

    @property
    def is_known(self) -> bool:
        """Whether it is an answer, or nothing speaks against it."""
        return self.is_answer and not self.strange and self.response.stop != NOTHING_CAME


def nothing_for(wire: str) -> Stop:
    """Return the stop of what no wire reads. `wire`: the name of one in another package that would;
    "": none is known."""
    return replace(NEEDS_WIRE, metadata={"wire": wire}) if wire else NO_ANSWER


_NONE = frozenset(each.detail for each in (NO_ANSWER, UNREAD, NEEDS_WIRE))


_UNCOUNTED = (BROKE_OFF_UNREAD, NOTHING_CAME, SEVERAL_ANSWERS)


def only_stop(stop: Stop, *, strange: bool = False) -> Reading:
    """Return the reading of something without content, which has only this stop."""
    return Reading(Response("", "", "", (), None, stop), None, strange)


def answers_of(found: list[Reading]) -> list[Reading]:
    """Return what counts of all that was read, at least one: beside an answer, what is none only
    counts if there are several answers."""
    if len(found) == 1:
        return found
    answers = [reading for reading in found if reading.is_answer]
    others = [reading for reading in found if not reading.is_answer]
    # That something is cut is no evidence of an answer beside what is none.
    if others and all(each.response.stop == BROKE_OFF_UNREAD for each in answers):
        return others[-1:]
    return found if len(answers) > 1 else answers or found[-1:]
