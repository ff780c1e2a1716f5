"""One rung of a ladder: one way to go on with a turn, or to end it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenuto.core.deciding.actions import Edit, Recovery, Status
from tenuto.core.deciding.guards import Guard
from tenuto.core.deciding.view import Budget, View

Edits = Callable[[View], tuple[Edit, ...]]
"""Makes the edits of a rung's request."""

COMPLETED = (Status.COMPLETE, "completed")
LOST = (Status.PARTIAL, "provider_error")


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to continue a turn, taken if every guard holds and the budget is not spent.

    Attributes:
        id: its stable name, which policies, events and code use. Rungs of several ladders that do
            the same share one.
        sentence: what it does, in words, for people.
        guards: the conditions that must hold.
        edits: makes the edits of the next request; None if the turn ends.
        budget: the budget that a request spends; None for none.
        recovery: the kind of recovery that the request is, for events.
        waits: whether the request waits for the backoff, or as long as the provider asks.
        ends: the status and reason of a turn that ends; None for those of the outcome's row in
            `ENDINGS`.
        whole_calls_only: whether the caller gets only the complete calls.
        as_received: whether the caller sees the stop as received.
        without_stop: whether the caller sees no stop, since none came (S3a).
        goes_on: whether the provider goes on by itself, so that what comes next and what came are
            one answer (C30).
    """

    id: str
    sentence: str
    guards: tuple[Guard, ...]
    edits: Edits | None = None
    budget: Budget | None = None
    recovery: Recovery = Recovery.RETRY
    waits: bool = False
    ends: tuple[Status, str] | None = None
    whole_calls_only: bool = False
    as_received: bool = False
    without_stop: bool = False
    goes_on: bool = False
