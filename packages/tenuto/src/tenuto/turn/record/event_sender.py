"""Make a turn's events and send them. A turn only has a sender if somebody listens: the first
listener of a process loads this module, and the events with it.

A sender keeps what events need besides the report: times, and which recoveries are open. The turn
and its `TurnLog` call it when something happens; it never asks them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import printable
from tenuto.core.deciding.actions import Action, Edit, Finish, Recovery, Send, holds_prefill
from tenuto.core.deciding.edits import asked_tokens
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.view import Facts
from tenuto.core.events import attempt as attempt_events
from tenuto.core.events import recovery as recovery_events
from tenuto.core.events import turn as turn_events
from tenuto.core.events.event import Event, OnEvent
from tenuto.core.events.report import Report
from tenuto.telemetry.listeners import tell
from tenuto.telemetry.redaction import Redactor
from tenuto.turn.drivers.commands import ConnectionLost
from tenuto.turn.record.recoveries import Over, Recoveries
from tenuto.turn.settings.environment import Environment

_NO_END_MARK = "Provider(sends_stop=False)"

RECOVERIES: dict[Recovery, tuple[type[Event], type[Event]]] = {
    Recovery.CONTINUATION: (
        recovery_events.ContinuationStarted,
        recovery_events.ContinuationTerminated,
    ),
    Recovery.TOOL_REPAIR: (recovery_events.ToolRepairStarted, recovery_events.ToolRepairEnded),
    Recovery.EMPTY: (recovery_events.EmptyRecoveryStarted, recovery_events.EmptyRecoveryEnded),
    Recovery.PAUSE: (recovery_events.PauseStarted, recovery_events.PauseEnded),
    Recovery.RETRY: (recovery_events.RetryStarted, recovery_events.RetryEnded),
    Recovery.REQUEST_REPAIR: (
        recovery_events.RequestRepairStarted,
        recovery_events.RequestRepairEnded,
    ),
}
"""The events with which each kind of recovery begins and ends."""

_LEAVES_OUT = "drop_rejected_keys"
_EMPTY = (Outcome.EMPTY, Outcome.THINKING_ONLY, Outcome.THINKING_CUT)
_BROKEN_CALLS = (Outcome.ARGUMENTS_CUT, Outcome.ARGUMENTS_MALFORMED)
_PARTS = ("text", "reasoning", "refusal", "calls", "usage")
_PORTS = {"http": 80, "https": 443}
_URL_CHARS = 500


def _where(url: str) -> tuple[str, int | None]:
    """Return the host and the port that a URL leads to."""
    parts = urlsplit(url)
    return printable(parts.hostname or ""), parts.port or _PORTS.get(parts.scheme)


class EventSender:
    """Sends the events of one turn. An exception of a listener is logged, and never breaks a turn.

    Args:
        on_event: the listener.
        turn: the turn's id.
        model: the name in the request.
        provider: as far as it is known.
        redactor: makes the provider's texts fit for events.
        environment: the clocks. The time of day is read once, so that a jump of it during the turn
            does not count as time.
        started_s: when the turn began, by the steady clock.
        wire: the format of its requests.
        stream: whether the caller wants a stream.
        attempt: the number of requests that were answered before; 0 for a turn that begins.

    Attributes:
        provider: the provider's name for all events from now on.
    """

    def __init__(
        self,
        on_event: OnEvent,
        turn: str,
        model: str,
        provider: str,
        redactor: Redactor,
        environment: Environment,
        started_s: float,
        wire: str,
        stream: bool,
        attempt: int = 0,
    ) -> None:
        self.provider = provider
        self._on_event = on_event
        self._turn = turn
        self._model = printable(model)
        self._redactor = redactor
        self._now = environment.now
        self._started_s = started_s
        self._epoch_s = environment.wall() - environment.now()
        self._recoveries = Recoveries()
        self._attempt = attempt
        self._running = False  # an attempt
        self._sent_s = 0.0
        self._status: int | None = None
        self._first_byte_s: float | None = None
        self._first_piece_s: float | None = None
        self._detection_s: float | None = None
        self._lost: ConnectionLost | None = None
        self._continuations = 0
        self._cancelled = False
        self._wire, self._stream = wire, stream
        self._stop_raw: str | None = None
        self._answer_id = ""
        self._begun: list[str] = []  # the kinds of recoveries
        self._repairing: tuple[Outcome, str] | None = None  # the last problem with a call

    def _send(self, kind: type[Event], /, **own: Any) -> None:
        """Make an event of this kind, with these fields of its own, and send it."""
        event = kind(
            time=round(self._epoch_s + self._now(), 6),
            turn=self._turn,
            provider=self.provider,
            model=self._model,
            attempt=self._attempt,
            **own,
        )
        tell(self._on_event, event, event.name)

    def _since(self, begun_s: float) -> float:
        return round(self._now() - begun_s, 6)

    # --- the turn ---------------------------------------------------------------------------

    def turn_started(self, url: str) -> None:
        """The turn begins."""
        host, port = _where(url)
        shown = printable(self._redactor.own_url(), _URL_CHARS)
        self._send(
            turn_events.TurnStarted,
            wire=self._wire,
            stream=self._stream,
            host=host,
            port=port,
            url=shown,
        )

    def history_repaired(self, repairs: Iterable[str]) -> None:
        """Tenuto repaired the history."""
        self._send(turn_events.HistoryRepaired, repairs=tuple(repairs))

    def left_alone(self, why: str, outcome: Outcome | None = None) -> None:
        """The turn is not recovered."""
        meant = outcome.value if outcome is not None else None
        self._send(turn_events.LeftAlone, why=why, outcome=meant)

    def no_end_mark_learned(self, turns: int) -> None:
        """Tenuto learned that streams have no end mark."""
        self._send(turn_events.NoEndMarkLearned, turns=turns, setting=_NO_END_MARK)

    def finished(
        self, finish: Finish, outcome: Outcome, facts: Facts, last: Response | None
    ) -> None:
        """The machine ends the turn."""
        if outcome in _EMPTY:
            self._empty(outcome, finish.rung, facts, last)
        if outcome in _BROKEN_CALLS:
            self._repair(outcome, finish.rung, "given_up", attempted=False)
        elif self._repairing is not None and finish.status == "complete":
            issue, rung = self._repairing
            self._repair(issue, rung, "repaired", attempted=True)

    def cancelled(self, output_chars: int, answered: int) -> None:
        """Send that the caller stopped reading."""
        self._cancelled = True
        if self._running:
            self._attempt_ended(self._status, None, Outcome.CANCELLED, None)
        self._send(turn_events.Cancelled, output_chars=output_chars, attempts=answered)

    def passed_unread(self, status: int) -> None:
        """Tenuto hands the answer on unread."""
        self._attempt_ended(status, None, None, None)

    def unreachable(self, fault: Fault, lost: ConnectionLost) -> None:
        """The first request of the turn got no answer, and the SDK may retry it."""
        self._attempt_ended(None, lost, Outcome.FAULT, None)
        self._stalled(lost, None, 0)
        self._fault(fault, 0.0, None)

    def turn_ended(
        self,
        report: Report,
        outcome: Outcome,
        output_chars: int,
        held_bytes: int,
        *,
        read: bool,
        error: str | None,
    ) -> None:
        """The turn is over. `read`: whether its answer was read; `error`: the error that the caller
        gets instead of an answer."""
        ends = self._recoveries.finished(
            report.status, report.reason, outcome, cancelled=self._cancelled
        )
        for over in ends:
            self._over(over, output_chars)
        further = [usage for usage in report.usage[1:] if usage is not None]
        self._send(
            turn_events.TurnEnded,
            status=report.status if read else None,
            reason=report.reason,
            stop=report.stop.reason.value if report.stop is not None else None,
            attempts=report.attempts,
            suggestion=report.suggestion,
            advice=report.advice,
            usage=report.usage,
            recovery_input_tokens=sum(usage.input_tokens or 0 for usage in further),
            recovery_output_tokens=sum(usage.output_tokens or 0 for usage in further),
            rungs=report.rungs,
            left_out=report.left_out,
            held_bytes=held_bytes,
            duration_s=self._since(self._started_s),
            wire=self._wire,
            stream=self._stream,
            stop_raw=self._stop_raw,
            recoveries=tuple(self._begun),
            overridden=report.overridden,
            error=error,
            never_came=report.never_came,
        )

    # --- an attempt -------------------------------------------------------------------------

    def attempt_started(
        self, send: Send, edits: tuple[Edit, ...], max_tokens: int | None, output_chars: int
    ) -> None:
        """A request is about to leave. `max_tokens`: the limit of the caller's own request."""
        self._attempt += 1
        self._running = True
        self._status = self._first_byte_s = self._first_piece_s = self._lost = None
        self._detection_s = None
        self._send(
            attempt_events.AttemptStarted,
            recovery=send.recovery.value if self._attempt > 1 else None,
            rung=send.rung,
            prefill=holds_prefill(edits),
            max_tokens=asked_tokens(edits, max_tokens),
            output_chars=output_chars,
        )
        self._sent_s = self._now()

    def no_head_came(self, lost: ConnectionLost) -> None:
        """The connection failed before the head of the response came."""
        self._lost = lost

    def head_came(self, status: int) -> None:
        """The head of the response came."""
        self._status = status
        self._first_byte_s = self._since(self._sent_s)

    def piece_came(self) -> None:
        """The first piece of a stream came."""
        self._first_piece_s = self._since(self._sent_s)

    def detected(self, seconds: float) -> None:
        """A body, or a sampled piece of a stream, took this long to read."""
        self._detection_s = max(seconds, self._detection_s or 0.0)

    def fetched(self, place: str, status: int | None, *, continues: bool) -> None:
        """The rest of a broken stream was requested."""
        told = self._redactor.brief(place)
        self._send(attempt_events.StreamFetched, place=told, status=status, continues=continues)

    def held_too_much(self, held_bytes: int, limit_bytes: int) -> None:
        """More is held back than the policy allows."""
        self._send(attempt_events.HoldBackExceeded, held_bytes=held_bytes, limit_bytes=limit_bytes)

    def answered(
        self,
        response: Response,
        outcome: Outcome,
        action: Action,
        status: int | None,
        lost: ConnectionLost | None,
        output_chars: int,
        answer_id: str,
    ) -> None:
        """An attempt was read, and Tenuto decided what follows."""
        self._answer_id = self._redactor.brief(answer_id)
        lost = lost or self._lost
        self._attempt_ended(status, lost, outcome, response)
        self._stalled(lost, status, output_chars)
        stop = self._redactor.stop_of(response)
        self._stop_raw = stop.raw
        self._send(
            attempt_events.StopReasonObserved,
            iteration=self._attempt,
            reason=stop.reason.value,
            raw=self._stop_raw,
            detail=stop.detail,
            confidence=stop.confidence.value,
            anomalies=tuple(stop.anomalies),
            outcome=outcome.value,
            rung=action.rung,
        )
        if response.fault is not None:
            wait_s = action.wait_s if isinstance(action, Send) else 0.0
            setting = "drop_unsupported" if action.rung != _LEAVES_OUT else None
            self._fault(response.fault, wait_s, setting if response.fault.keys else None)
        for over in self._recoveries.answered(outcome, action):
            self._over(over, output_chars)

    def undecided(
        self, response: Response, outcome: Outcome, status: int | None, lost: ConnectionLost | None
    ) -> None:
        """An attempt was read, and nothing was decided."""
        self._stop_raw = self._redactor.stop_of(response).raw
        self._attempt_ended(status, lost or self._lost, outcome, response)

    def unknown_stop_seen(self, raw: str, *, logged: bool) -> None:
        """The stop value is in no table."""
        told = self._redactor.brief(raw)
        self._send(attempt_events.UnknownStopSeen, raw=told, logged=logged)

    def _attempt_ended(
        self,
        status: int | None,
        lost: ConnectionLost | None,
        outcome: Outcome | None,
        response: Response | None,
    ) -> None:
        self._running = False
        self._send(
            attempt_events.AttemptEnded,
            duration_s=self._since(self._sent_s),
            first_byte_s=self._first_byte_s,
            first_piece_s=self._first_piece_s,
            detection_s=self._detection_s,
            status=status,
            lost=lost.kind.value if lost is not None else None,
            stop=response.stop.reason.value if response is not None else None,
            outcome=outcome.value if outcome is not None else None,
            usage=response.usage if response is not None else None,
        )

    def _stalled(self, lost: ConnectionLost | None, status: int | None, output_chars: int) -> None:
        if lost is not None and lost.kind is FaultKind.TIMEOUT:
            answered = status is not None
            self._send(attempt_events.Stalled, answered=answered, output_chars=output_chars)

    def _fault(self, fault: Fault, wait_s: float, setting: str | None) -> None:
        self._send(
            attempt_events.FaultReported,
            kind=fault.kind.value,
            code=self._redactor.brief(fault.code),
            status=fault.status,
            retryable=fault.retryable,
            wait_s=wait_s,
            keys=tuple(map(self._redactor.brief, fault.keys)),
            setting=setting,
        )

    # --- what follows -----------------------------------------------------------------------

    def goes_on(
        self,
        action: Send,
        outcome: Outcome,
        facts: Facts,
        last: Response | None,
        output_tokens: int,
        tokens_left: int | None,
        attempts_left: int,
    ) -> None:
        """Another request follows.

        Args:
            action: the request.
            outcome: what the answer before it means.
            facts: further facts about that answer.
            last: the answer.
            output_tokens: those of the turn so far.
            tokens_left: those that it may still use; None for no limit.
            attempts_left: the continuations that are left.
        """
        kind = action.recovery
        if self._recoveries.goes_on(kind, self._now()):
            self._begun.append(kind.value)
            self._send(RECOVERIES[kind][0], outcome=outcome.value, rung=action.rung)
        if kind is Recovery.CONTINUATION:
            self._continuations += 1
            self._send(
                recovery_events.ContinuationAttempt,
                index=self._continuations,
                output_tokens=output_tokens,
                output_chars=len(facts.kept_text),
                tokens_left=tokens_left,
                attempts_left=attempts_left,
                prefill=holds_prefill(action.edits),
            )
        elif kind is Recovery.TOOL_REPAIR:
            self._repairing = outcome, action.rung
            self._repair(outcome, action.rung, "sent", attempted=True)
        elif kind is Recovery.EMPTY:
            self._empty(outcome, action.rung, facts, last)

    def waited(self, planned_s: float, begun_s: float, *, asked: bool) -> None:
        """A wait is over, which began at `begun_s` of the steady clock."""
        waited_s = self._since(begun_s)
        self._send(attempt_events.Waited, duration_s=waited_s, planned_s=planned_s, asked=asked)

    def keys_left_out(self, keys: Iterable[str]) -> None:
        """Tenuto leaves members of the caller's request out."""
        self._send(attempt_events.KeysLeftOut, keys=tuple(keys))

    def _repair(self, outcome: Outcome, rung: str, result: str, *, attempted: bool) -> None:
        self._send(
            recovery_events.ToolPayloadRepair,
            issue=outcome.value,
            attempted=attempted,
            outcome=result,
            rung=rung,
        )

    def _empty(self, outcome: Outcome, rung: str, facts: Facts, response: Response | None) -> None:
        """Send the form of an empty answer, never its content (E14)."""
        if response is None:
            return
        self._send(
            recovery_events.EmptyRecovery,
            rung=rung,
            outcome=outcome.value,
            keys=tuple(name for name in _PARTS if getattr(response, name)),
            text_chars=len(response.text),
            reasoning_chars=len(response.reasoning),
            stop=response.stop.reason.value,
            tools=facts.tools,
            after_tool_result=facts.after_tool_result,
            response_id=self._answer_id,
        )

    def _over(self, over: Over, output_chars: int) -> None:
        self._send(
            RECOVERIES[over.kind][1],
            result=over.result,
            reason=over.reason,
            attempts=over.attempts,
            duration_s=self._since(over.began_s),
            output_chars=output_chars,
        )
