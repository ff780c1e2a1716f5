"""What is kept about a turn for its report, and what is reported about it.

A `TurnLog` belongs to one turn. The modules of the turn call it when something happens, and
only it changes what it keeps; `ended` alone is set from outside, when a plain answer without a
listener is forwarded.

Without a listener, a turn makes no events until there is something to log: another request follows,
or the turn ends unfinished. From then on it makes them for the log lines.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tenuto.core.answer.fault import Fault
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import Confidence, StopReason, printable
from tenuto.core.deciding.actions import Action, Finish, Send
from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.view import Budget, Facts, State
from tenuto.core.events.advice import suggestion_on
from tenuto.core.events.event import Event, OnEvent
from tenuto.core.events.report import Report
from tenuto.telemetry.listeners import listener_for, log_lines
from tenuto.telemetry.redaction import Redactor
from tenuto.turn.drivers.commands import ConnectionLost
from tenuto.turn.record.usage import untold_tokens

if TYPE_CHECKING:
    from tenuto.turn.record.attempt import Attempt
    from tenuto.turn.record.event_sender import EventSender
    from tenuto.turn.settings.environment import Environment

log: logging.Logger = logging.getLogger("tenuto")

_seen_unknown: set[tuple[str, str, str]] = set()
_seen_lock = threading.Lock()
_MOST_UNKNOWN = 1_000
_nameless = Redactor("", ())


def note_unknown_stop(provider: str, model: str, raw: str) -> bool:
    """Log a stop value that is in no table, once per provider, model and value (N9).

    Returns whether it was new. After 1,000 different values, nothing more is logged (N10)."""
    model, raw = printable(model), _nameless.brief(raw)
    key = (provider, model, raw)
    with _seen_lock:
        if key in _seen_unknown or len(_seen_unknown) >= _MOST_UNKNOWN:
            return False
        _seen_unknown.add(key)
    log.warning("unknown stop value '%s' from %s, model %s", raw, provider, model)
    return True


PASSED_ON_UNREAD = "passed_on_unread"
"""The reason of a turn whose answer was not read."""


def ignore_event(event: Event) -> None:
    """Do nothing. A turn with this listener has its report, and makes no event."""


class TurnLog:
    """Collects the report of one turn, and has its events sent if somebody listens.

    Args:
        turn: the turn's id, which its report and its events share.
        model: the name in the request.
        provider: its name, as far as it is known.
        redactor: makes texts of the provider fit for logs and events.
        environment: the limits, the clocks, and the listener.
        started_s: when the turn began, by the steady clock.
        wire: the format of its requests.
        stream: whether the caller wants a stream.

    Attributes:
        has_listener: whether somebody listens to all events of the turn.
        events: sends the turn's events; None if nobody listens, or there is nothing to log yet.
        usage: the tokens of each attempt that ended.
        ids: the provider's id of the answer of each attempt; "" for one without.
        untold_tokens: the output tokens of the attempts that reported none, by what came.
        last: the last response.
        left_out: what was left out of the caller's own request.
        overridden: what the policy's `decide` last chose instead of the table's action; "" if
            nothing.
        ended: whether the turn is over.
        report: how it ended; None before, and if its answer was not read.
    """

    def __init__(
        self,
        turn: str,
        model: str,
        provider: str,
        redactor: Redactor,
        environment: Environment,
        started_s: float,
        wire: str,
        *,
        stream: bool,
    ) -> None:
        self.turn = turn
        self.model = model
        self.provider = provider
        self._policy = environment.policy
        self._environment = environment
        self._started_s = started_s
        self._wire = wire
        self._stream = stream
        self._redactor = redactor
        self.events: EventSender | None = None
        self.usage: list[Usage | None] = []
        self.ids: list[str] = []
        self.untold_tokens: int = 0
        self.rungs: list[str] = []
        self.last: Response | None = None
        self.left_out: list[str] = []
        self.overridden: str = ""
        self.ended: bool = False
        self._undecided: Outcome | None = None
        self.report: Report | None = None
        own = environment.on_event
        on_event = listener_for(own if own is not ignore_event else None, environment.policy.events)
        self.has_listener: bool = on_event is not None
        if on_event is not None:  # otherwise nothing is imported and made
            self.events = self._sender(on_event)

    def _sender(self, on_event: OnEvent) -> EventSender:
        from tenuto.turn.record.event_sender import EventSender

        return EventSender(
            on_event,
            self.turn,
            self.model,
            self.provider,
            self._redactor,
            self._environment,
            self._started_s,
            self._wire,
            self._stream,
            attempt=len(self.usage),
        )

    def _sender_to_log(self) -> EventSender | None:
        """Return what sends events once there is something to log; None if nobody wants any."""
        if self.events is None and (lines := log_lines()) is not None:
            self.events = self._sender(lines)
        return self.events

    def observed(
        self, attempt: Attempt, outcome: Outcome, action: Action, output_chars: int
    ) -> None:
        """Note an attempt that was read and decided on.

        Args:
            attempt: the attempt.
            outcome: what it means within the turn.
            action: what follows.
            output_chars: characters of text that are kept.
        """
        response = self.last = attempt.response
        self.overridden = action.overridden or self.overridden
        stop = response.stop
        self.usage.append(response.usage)
        self.untold_tokens += untold_tokens(response)
        if self.events is not None:
            status = attempt.head.status if attempt.head is not None else None
            self.events.answered(
                response, outcome, action, status, attempt.lost, output_chars, attempt.id
            )
        if stop.reason is StopReason.UNKNOWN and stop.raw and stop.confidence is Confidence.MEDIUM:
            logged = note_unknown_stop(self.provider, self.model, self._redactor.brief(stop.raw))
            if self.events is not None:
                self.events.unknown_stop_seen(stop.raw, logged=logged)

    def undecided(self, attempt: Attempt, outcome: Outcome) -> None:
        """Note an attempt after which the policy's `decide` returned an invalid value: the turn
        ends with an exception."""
        self.last, self._undecided = attempt.response, outcome
        self.usage.append(attempt.response.usage)
        if self.events is not None:
            status = attempt.head.status if attempt.head is not None else None
            self.events.undecided(attempt.response, outcome, status, attempt.lost)

    def sending(
        self, action: Send, outcome: Outcome, state: State, facts: Facts, left: int | None
    ) -> None:
        """Note that another request follows."""
        self.rungs.append(action.rung)
        if (events := self._sender_to_log()) is not None:
            attempts_left = state.left(Budget.CONTINUATION, self._policy)
            used = state.output_tokens
            events.goes_on(action, outcome, facts, self.last, used, left, attempts_left)

    def leaving_out(self, places: Iterable[str]) -> None:
        """Note what is left out of the caller's own request (H5)."""
        told = [self._redactor.brief(place) for place in places]
        self.left_out += [place for place in told if place not in self.left_out]
        if told and self.events is not None:
            self.events.keys_left_out(told)

    def finished(
        self,
        finish: Finish,
        outcome: Outcome,
        facts: Facts,
        held_bytes: int = 0,
        error: str | None = None,
    ) -> Report:
        """End the turn and return its report. `error`: the code of the error that the caller gets;
        None if it gets an answer, or an error that is not Tenuto's."""
        if self.events is not None:
            self.events.finished(finish, outcome, facts, self.last)
        status, chars = finish.status.value, len(facts.kept_text)
        lost = tuple(self._redactor.brief(printable(name)) for name in finish.never_came)
        report = self.report = self._end(
            status, finish.reason, outcome, chars, held_bytes, error, lost
        )
        return report

    def cancelled(self, output_chars: int, held_bytes: int = 0, raised: str | None = None) -> None:
        """End the turn, since the caller left early (C23). `raised`: the class of the exception
        that ended it; None if the caller left by itself. After a mistake of `decide`, the reason is
        the policy."""
        if self.ended:
            return
        status = "partial" if output_chars else "failed"
        if self._undecided is not None:
            self.report = self._end(
                status, "policy_error", self._undecided, output_chars, held_bytes, raised
            )
            return
        if self.events is not None:
            self.events.cancelled(output_chars, len(self.usage))
        self.report = self._end(
            status, "cancelled", Outcome.CANCELLED, output_chars, held_bytes, raised
        )

    def passed_unread(self, status: int) -> None:
        """Note that the answer, with this HTTP status, is passed on unread: there is nothing to
        report."""
        self.usage.append(None)
        if self.events is not None:
            self.events.passed_unread(status)
        self._end("", PASSED_ON_UNREAD, Outcome.DONE, 0, 0)

    def left_to_the_sdk(self, fault: Callable[[], Fault], lost: ConnectionLost) -> None:
        """Note that the first request got no answer. The SDK retries by itself, so there is nothing
        to report; `fault` makes the fault for the events."""
        self.usage.append(None)
        if self.events is not None:
            self.events.unreachable(fault(), lost)
        self._end("failed", ENDINGS[Outcome.FAULT].reason, Outcome.FAULT, 0, 0)

    def _end(
        self,
        status: str,
        reason: str,
        outcome: Outcome,
        chars: int,
        held: int,
        error: str | None = None,
        never_came: tuple[str, ...] = (),
    ) -> Report:
        self.ended = True
        complete = status in ("complete", "")
        stop = self._redactor.stop_of(self.last) if self.last else None
        # An answer that is left alone ended as its outcome says, whatever Tenuto might have done.
        why = ENDINGS[outcome].reason if reason == "left_alone" else reason
        report = Report(
            status,
            reason,
            stop,
            tuple(self.usage),
            "none" if complete else suggestion_on(why, stop.detail if stop is not None else None),
            tuple(self.rungs),
            tuple(self.left_out),
            self.turn,
            self.overridden,
            never_came,
        )
        events = self.events if complete else self._sender_to_log()
        if events is not None:
            events.turn_ended(report, outcome, chars, held, read=bool(status), error=error)
        return report
