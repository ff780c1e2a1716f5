"""What a turn tells those who watch it (events), and its report."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from tenuto.core.actions import Action, Finish, Recovery, Send, holds_prefill
from tenuto.core.events import Event, OnEvent, Report
from tenuto.core.ladders import ENDINGS
from tenuto.core.outcome import Outcome
from tenuto.core.policy import Policy
from tenuto.core.response import Response
from tenuto.core.signals import Usage
from tenuto.core.stop import Confidence, StopReason, printable
from tenuto.core.view import Budget, Facts, State
from tenuto.relay.redaction import Telling

log = logging.getLogger("tenuto")

_seen_unknown: set[tuple[str, str, str]] = set()
_seen_lock = threading.Lock()
_MOST_UNKNOWN = 1_000
_told = Telling("", ())


def note_unknown_stop(provider: str, model: str, raw: str) -> bool:
    """Log a stop value that no table has, once per provider, model and value (N9).

    Returns whether it was new. Beyond 1,000 different values nothing more is logged (N10)."""
    model, raw = printable(model), _told(raw)
    key = (provider, model, raw)
    with _seen_lock:
        if key in _seen_unknown or len(_seen_unknown) >= _MOST_UNKNOWN:
            return False
        _seen_unknown.add(key)
    log.warning("unknown stop value '%s' from %s, model %s", raw, provider, model)
    return True


@dataclass(slots=True)
class Watch:
    """Sends a turn's events, and adds its report up.

    A watcher that raises is logged and never breaks a turn."""

    turn: str
    model: str
    policy: Policy
    on_event: OnEvent | None
    telling: Telling
    provider: str = "unknown"
    usage: list[Usage | None] = field(default_factory=list)
    rungs: list[str] = field(default_factory=list)
    last: Response | None = None
    continuations: int = 0
    repairing: tuple[Outcome, str] | None = None  # what was last wrong with a call, and the rung
    left_out: list[str] = field(default_factory=list)
    ended: bool = False
    report: Report | None = None

    def emit(self, name: str, **data: object) -> None:
        """Send one event."""
        if self.on_event is None:
            return
        event = Event(name, self.turn, self.provider, printable(self.model), data)
        try:
            self.on_event(event)
        except Exception:  # somebody else's code: whatever it raises must not cost an answer
            log.exception("on_event raised for %s", name)

    def observed(self, response: Response, outcome: Outcome, action: Action) -> None:
        """One attempt was read and decided on."""
        stop = response.stop
        self.last = response
        self.usage.append(response.usage)
        if stop.reason is StopReason.UNKNOWN and stop.raw and stop.confidence is not Confidence.LOW:
            note_unknown_stop(self.provider, self.model, self.telling(stop.raw))
        if self.on_event is None:
            return
        self.emit(
            "stop_reason_observed",
            iteration=len(self.usage),
            reason=stop.reason.value,
            raw=self._raw(response),
            detail=stop.detail,
            confidence=stop.confidence.value,
            anomalies=list(stop.anomalies),
            outcome=outcome.value,
            rung=action.rung,
        )
        if response.fault is not None:
            fault = response.fault
            wait_s = action.wait_s if isinstance(action, Send) else 0.0
            self.emit(
                "fault",
                kind=fault.kind.value,
                code=self.telling(fault.code),
                status=fault.status,
                retryable=fault.retryable,
                wait_s=wait_s,
                keys=[self.telling(key) for key in fault.keys],
                # What would let them go, where they may not.
                setting="drop_unsupported" if fault.keys and action.rung != _LEAVES_OUT else None,
            )

    def _raw(self, response: Response) -> str | None:
        """The stop's own value; one that stands in a table is nobody's secret."""
        raw, in_table = response.stop.raw, response.stop.confidence is Confidence.HIGH
        return raw if raw is None or (in_table and response.fault is None) else self.telling(raw)

    def sending(
        self, action: Send, outcome: Outcome, state: State, facts: Facts, left: int | None
    ) -> None:
        """Another request follows."""
        self.rungs.append(action.rung)
        if action.recovery is Recovery.CONTINUATION:
            self.continuations += 1
            self.emit(
                "continuation_attempt",
                index=self.continuations,
                output_tokens=state.output_tokens,
                output_chars=len(facts.said),
                tokens_left=left,
                attempts_left=state.left(Budget.CONTINUATION, self.policy),
                prefill=holds_prefill(action.edits),
            )
        elif action.recovery is Recovery.TOOL_REPAIR:
            self.repairing = outcome, action.rung
            self._repair(outcome, attempted=True, result="sent", rung=action.rung)
        elif action.recovery is Recovery.EMPTY:
            self._empty(outcome, action.rung, facts)

    def leaving_out(self, places: Iterable[str]) -> None:
        """What goes of the caller's own request (H5)."""
        told = [printable(place) for place in places]
        self.left_out += [place for place in told if place not in self.left_out]
        if told:
            self.emit("keys_left_out", keys=told)

    def _repair(self, outcome: Outcome, *, attempted: bool, result: str, rung: str) -> None:
        self.emit(
            "tool_payload_repair",
            issue=outcome.value,
            attempted=attempted,
            outcome=result,
            rung=rung,
        )

    def _empty(self, outcome: Outcome, rung: str, facts: Facts) -> None:
        """The shape of an empty answer, never its content (E14)."""
        response = self.last
        if response is None:
            return
        fields = ("text", "reasoning", "refusal", "calls", "usage")
        self.emit(
            "empty_recovery",
            rung=rung,
            outcome=outcome.value,
            keys=[name for name in fields if getattr(response, name)],
            text_chars=len(response.text),
            reasoning_chars=len(response.reasoning),
            stop=response.stop.reason.value,
            tools=facts.tools,
            after_tool_result=facts.after_tool_result,
        )

    def finished(self, finish: Finish, outcome: Outcome, facts: Facts) -> Report:
        """The turn is over."""
        if outcome in (Outcome.EMPTY, Outcome.THINKING_ONLY, Outcome.THINKING_CUT):
            self._empty(outcome, finish.rung, facts)
        if outcome in (Outcome.ARGUMENTS_CUT, Outcome.ARGUMENTS_MALFORMED):
            self._repair(outcome, attempted=False, result="given_up", rung=finish.rung)
        elif self.repairing is not None and outcome is Outcome.DONE:
            issue, rung = self.repairing
            self._repair(issue, attempted=True, result="repaired", rung=rung)
        return self._end(finish.status.value, finish.reason, outcome, len(facts.said))

    def cancelled(self, output_chars: int) -> None:
        """The caller went away before the end (C23)."""
        if self.ended:
            return
        self.emit("cancelled", output_chars=output_chars, attempts=len(self.usage))
        self._end(
            "partial" if output_chars else "failed", "cancelled", Outcome.CANCELLED, output_chars
        )

    def _end(self, status: str, reason: str, outcome: Outcome, chars: int) -> Report:
        self.ended = True
        if self.continuations:
            self.emit(
                "continuation_terminated",
                reason=reason,
                attempts=self.continuations,
                output_chars=chars,
            )
        stop = self.last.stop if self.last else None
        suggestion = "none" if status == "complete" else ENDINGS[outcome].suggestion
        report = Report(
            status,
            reason,
            stop,
            tuple(self.usage),
            suggestion,
            tuple(self.rungs),
            tuple(self.left_out),
        )
        self.report = report
        self.emit(
            "turn_ended",
            status=status,
            reason=reason,
            stop=stop.reason.value if stop else None,
            attempts=report.attempts,
            suggestion=suggestion,
            advice=report.advice,
            usage=[_counts(usage) for usage in self.usage],
        )
        return report


_LEAVES_OUT = "leave the rejected keys out"


def _counts(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
