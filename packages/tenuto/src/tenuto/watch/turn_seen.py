"""One turn as its events describe it, while it runs and afterwards, as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tenuto.core.events.attempt import AttemptEnded, AttemptStarted, StopReasonObserved
from tenuto.core.events.event import Event
from tenuto.core.events.recovery import RecoveryEnded, RecoveryStarted
from tenuto.core.events.turn import TurnEnded, TurnStarted

Plain = dict[str, Any]

MOST_ATTEMPTS = 100
"""How many attempts of a turn are kept; further ones are only counted."""

MOST_EVENTS = 300
"""How many of a turn's other events are kept; further ones are left out."""

RUNNING = "running"
"""The state of a turn that has not ended."""


@dataclass(slots=True)
class TurnSeen:
    """What the events of a turn have said so far.

    Attributes:
        id: the turn's id.
        started: the time of its first event, in seconds since the epoch.
        last: the time of its latest event.
        provider, model: the destination of its requests.
        sequence: the number of the board's last change to it.
        number: the highest number of an attempt so far.
        start: the fields of `turn_started`; None if that event was not received.
        end: the fields of `turn_ended`; None while the turn runs.
        attempts: each attempt with its `request` (the fields of `attempt_started`), `answer` (of
            `attempt_ended`) and `decision` (of `stop_reason_observed`); each None until its event
            arrives.
        recoveries: each recovery that began, and how it ended.
        events: all other events.
    """

    id: str
    started: float
    last: float
    provider: str
    model: str
    sequence: int = 0
    number: int = 0
    start: Plain | None = None
    end: Plain | None = None
    attempts: dict[int, Plain] = field(default_factory=dict)
    recoveries: list[Plain] = field(default_factory=list)
    events: list[Plain] = field(default_factory=list)

    @property
    def state(self) -> str:
        """ "running", or how the turn ended; "unread" if its answer was passed on unread."""
        if self.end is None:
            return RUNNING
        return self.end["status"] or "unread"

    def take(self, event: Event) -> None:
        """Add an event of this turn."""
        self.last = max(self.last, event.time)
        self.number = max(self.number, event.attempt)
        at_s, data = event.time - self.started, event.data
        match event:
            case TurnStarted():
                self.start = data
            case TurnEnded():
                self.end = data
            case AttemptStarted():
                self._attempt(event, at_s)["request"] = data
            case AttemptEnded():
                self._attempt(event, at_s)["answer"] = data
            case StopReasonObserved():
                self._attempt(event, at_s)["decision"] = data
            case RecoveryStarted():
                if len(self.recoveries) < MOST_ATTEMPTS:
                    self.recoveries.append({"kind": event.KIND, "at_s": at_s, **data, "end": None})
            case RecoveryEnded():
                begun = (r for r in self.recoveries if r["kind"] == event.KIND and not r["end"])
                if (recovery := next(begun, None)) is not None:
                    recovery["end"] = {"at_s": at_s, **data}
            case _:
                if len(self.events) < MOST_EVENTS:
                    told = {"name": event.name, "at_s": at_s, "attempt": event.attempt}
                    self.events.append({**told, "data": data})

    def _attempt(self, event: Event, at_s: float) -> Plain:
        """Return the attempt of an event; beyond the limit, one that is not kept."""
        found = self.attempts.get(event.attempt)
        if found is None:
            found = {"number": event.attempt, "at_s": at_s}
            found |= dict.fromkeys(("request", "answer", "decision"))
            if len(self.attempts) < MOST_ATTEMPTS:
                self.attempts[event.attempt] = found
        return found

    def summary(self) -> Plain:
        """Return what a list of turns shows.

        `started` and `last` are in seconds since the epoch. What no event has said yet is None.
        `bars` has for each attempt its start and duration in seconds, its stop and its kind of
        recovery.
        """
        end = self.end or {}
        counts = [usage for usage in end.get("usage", ()) if usage is not None]
        return {
            "turn": self.id,
            "started": self.started,
            "last": self.last,
            "provider": self.provider,
            "model": self.model,
            "wire": (self.start or end).get("wire"),
            "stream": (self.start or end).get("stream"),
            "host": (self.start or {}).get("host"),
            "state": self.state,
            "reason": end.get("reason"),
            "stop": end.get("stop"),
            "attempts": end.get("attempts", self.number),
            "duration_s": end.get("duration_s"),
            "input_tokens": _sum(count["input_tokens"] for count in counts),
            "output_tokens": _sum(count["output_tokens"] for count in counts),
            "recoveries": [recovery["kind"] for recovery in self.recoveries],
            "bars": [_bar(attempt) for attempt in self.attempts.values()],
        }

    def detail(self) -> Plain:
        """Return the summary with the attempts, the recoveries, the other events and the end."""
        return {
            "summary": self.summary(),
            "attempts": list(self.attempts.values()),
            "recoveries": self.recoveries,
            "events": self.events,
            "end": self.end,
        }


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _bar(attempt: Plain) -> Plain:
    request, answer = attempt["request"] or {}, attempt["answer"] or {}
    return {
        "at_s": attempt["at_s"],
        "duration_s": answer.get("duration_s"),
        "stop": answer.get("stop"),
        "recovery": request.get("recovery"),
    }
