"""Track which recoveries of a turn are open, so that each one that begins has exactly one end (P6).

Theory of operation
-------------------
A recovery is open from its first request until an answer fixes its problem, until another kind
takes over, or until the turn ends. A retry and a repair of the request concern a request and not an
answer. They may happen within another recovery, which stays open and continues afterwards. So there
are two places, one for each sort, and the inner one always ends first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tenuto.core.deciding.actions import Action, Recovery, Send, Status
from tenuto.core.deciding.outcome import OF_TURNS, Outcome

_OF_REQUESTS = (Recovery.RETRY, Recovery.REQUEST_REPAIR)
"""Recoveries of a request that failed; the others are of an answer."""

_UNANSWERED = {Outcome.FAULT, Outcome.DROPPED, Outcome.CANCELLED}
_WITH_ANSWER = {
    Outcome.DONE,
    Outcome.TEXT_CUT,
    Outcome.ARGUMENTS_CUT,
    Outcome.ARGUMENTS_MALFORMED,
}

RESOLVED_BY: dict[Recovery, frozenset[Outcome]] = {
    Recovery.RETRY: frozenset(OF_TURNS - _UNANSWERED),
    Recovery.REQUEST_REPAIR: frozenset(OF_TURNS - _UNANSWERED),
    Recovery.EMPTY: frozenset({*_WITH_ANSWER, Outcome.PAUSED}),
    Recovery.PAUSE: frozenset({*_WITH_ANSWER, Outcome.CALLS_MISSING}),
    # Only the turn's end shows whether a text or a call is complete.
    Recovery.CONTINUATION: frozenset(),
    Recovery.TOOL_REPAIR: frozenset(),
}
"""The answers that fix the problem of each kind of recovery, whatever else may be wrong with them.
A turn that ends complete has fixed all of them."""


class Over(NamedTuple):
    """A recovery that is over: the fields of `RecoveryEnded`, and when it began."""

    kind: Recovery
    result: str
    reason: str
    attempts: int
    began_s: float


class _Open:
    def __init__(self, kind: Recovery, began_s: float) -> None:
        self.kind, self.began_s, self.attempts = kind, began_s, 0


class Recoveries:
    """The recoveries of one turn.

    >>> open = Recoveries()
    >>> open.goes_on(Recovery.RETRY, 0.0), open.goes_on(Recovery.RETRY, 1.0)
    (True, False)
    >>> send = Send((), "", Recovery.CONTINUATION)
    >>> [over[:-1] for over in open.answered(Outcome.TEXT_CUT, send)]
    [(<Recovery.RETRY: 'retry'>, 'recovered', 'text_cut', 2)]
    """

    def __init__(self) -> None:
        self._open: dict[bool, _Open] = {}  # by whether it is of a request

    def answered(self, outcome: Outcome, action: Action) -> Iterator[Over]:
        """Yield the recoveries that end with an answer if another request follows."""
        if not isinstance(action, Send):
            return
        kind = action.recovery
        for of_request in (True, False):
            if (one := self._open.get(of_request)) is None:
                continue
            if of_request:
                ends = outcome in RESOLVED_BY[one.kind] or one.kind is not kind
            else:
                ends = one.kind is not kind and kind not in _OF_REQUESTS
            if ends:
                del self._open[of_request]
                yield _over(one, _result(one, outcome, "superseded"), outcome.value)

    def goes_on(self, kind: Recovery, now_s: float) -> bool:
        """Note another request of this kind; return whether a recovery begins with it."""
        of_request = kind in _OF_REQUESTS
        begins = of_request not in self._open
        self._open.setdefault(of_request, _Open(kind, now_s)).attempts += 1
        return begins

    def finished(
        self, status: str, reason: str, outcome: Outcome, *, cancelled: bool
    ) -> Iterator[Over]:
        """Yield the open recoveries, which end with the turn. `cancelled`: whether the caller ended
        it."""
        for of_request in (True, False):
            if (one := self._open.pop(of_request, None)) is None:
                continue
            if cancelled:
                yield _over(one, "cancelled", reason)
            elif status == Status.COMPLETE:
                yield _over(one, "recovered", reason)
            else:
                yield _over(one, _result(one, outcome, "gave_up"), reason)


def _result(one: _Open, outcome: Outcome, otherwise: str) -> str:
    return "recovered" if outcome in RESOLVED_BY[one.kind] else otherwise


def _over(one: _Open, result: str, reason: str) -> Over:
    return Over(one.kind, result, reason, one.attempts, one.began_s)
