"""What was read of one answer."""

from __future__ import annotations

from typing import NamedTuple

from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import NO_ANSWER, NOTHING_CAME, UNREAD, Stop
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
        return self.response.stop.detail not in (NO_ANSWER.detail, UNREAD.detail)

    @property
    def is_known(self) -> bool:
        """Whether it is an answer, or nothing speaks against it."""
        return self.is_answer and not self.strange and self.response.stop != NOTHING_CAME


def only_stop(stop: Stop, *, strange: bool = False) -> Reading:
    """Return the reading of something without content, which has only this stop."""
    return Reading(Response("", "", "", (), None, stop), None, strange)
