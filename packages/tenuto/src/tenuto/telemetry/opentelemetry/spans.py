"""The listener: spans of turns.

Theory of operation: a listener gets the events of a turn in the thread or task of its caller, so
the span that is current at `turn_started` is the caller's. Where that span is the inference span of
an SDK's instrumentation, the turn is told on it. Everywhere else the turn has a CLIENT span of its
own, with a child for each HTTP request. A stream may outlive the instrumentation's span; what comes
then stands on a child span named "tenuto turn".
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar

from opentelemetry import context, metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from tenuto.core.events.attempt import (
    AttemptEnded,
    AttemptStarted,
    FaultReported,
    StopReasonObserved,
)
from tenuto.core.events.event import Event
from tenuto.core.events.recovery import RecoveryEnded, RecoveryStarted
from tenuto.core.events.turn import TurnEnded, TurnStarted
from tenuto.telemetry.opentelemetry.conventions import (
    SCHEMA_URL,
    attributes_of,
    common_attributes,
    is_inference,
    server_attributes,
    url_attributes,
)
from tenuto.telemetry.opentelemetry.meters import Billed, Meters

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

__all__ = ["OpenTelemetry"]

MAX_TURNS = 10_000
"""Turns that are kept at once. A program that leaves streams open has turns that never end."""

_DROPPED = frozenset({"dropped", "error"})


def _ns(time_s: float) -> int:
    return round(time_s * 1_000_000) * 1_000


@dataclass(slots=True)
class _Turn:
    """What is kept of a turn while it goes on.

    Attributes:
        started: the first event.
        parent: the context of the caller.
        span: the span that tells of the turn.
        own: whether it is ours to end.
        inherited: whether the caller's instrumentation made the first span.
        request: the span of the request that is under way.
        request_s: when that request was sent.
        raw: the provider's own stop value of the latest answer.
        native: the latest such value of an answer that neither failed nor broke off. Where there is
            one, the caller is shown it, and no error.
        fault: what kind of fault the latest request met.
        http_status: of the latest response.
        first_chunk_s: seconds until the first piece of a stream came.
        recovered: whether a recovery put something right.
    """

    started: TurnStarted
    parent: Context
    span: Span
    own: bool
    inherited: bool
    request: Span | None = None
    request_s: float = 0.0
    raw: str | None = None
    native: str | None = None
    fault: str | None = None
    http_status: int | None = None
    first_chunk_s: float | None = None
    recovered: bool = False


class OpenTelemetry:
    """A listener that reports turns as spans and metrics, for `tenuto.wrap(client, on_event=…)`.

    One listener serves any number of clients, threads and tasks. It needs `tenuto[otel]`. It reads
    the variable `OTEL_SEMCONV_STABILITY_OPT_IN` once: `gen_ai_latest_experimental` chooses the
    newer names of metrics, and `gen_ai_latest_experimental/dup` both.

    Args:
        tracer_provider: where spans go; None: the global provider.
        meter_provider: where metrics go; None: the global provider.

    >>> from tenuto.events import TurnStarted
    >>> hear = OpenTelemetry()
    >>> hear(TurnStarted(time=1.0, turn="t1", provider="openai", model="gpt", attempt=0,
    ...                  wire="openai-chat", stream=False, host="api.openai.com"))
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        self._tracer = trace.get_tracer(
            "tenuto", tracer_provider=tracer_provider, schema_url=SCHEMA_URL
        )
        meter = metrics.get_meter("tenuto", meter_provider=meter_provider, schema_url=SCHEMA_URL)
        self._metrics = Meters(meter, os.environ.get("OTEL_SEMCONV_STABILITY_OPT_IN", ""))
        self._turns: OrderedDict[str, _Turn] = OrderedDict()
        # The collector may end an abandoned turn, and so send events, in a thread that is inside.
        self._lock = RLock()

    def __call__(self, event: Event) -> None:
        """Take an event of any turn; events that add nothing to spans and metrics are passed
        over."""
        if isinstance(event, TurnStarted):
            self._begin(event)
            return
        with self._lock:
            turn = self._turns.get(event.turn)
        if turn is None:  # dropped at the bound, or the listener came later
            return
        for kind, hear in self._HEARD:
            if isinstance(event, kind):
                hear(self, turn, event)
                return

    def _begin(self, event: TurnStarted) -> None:
        parent, current = context.get_current(), trace.get_current_span()
        inherited = is_inference(current)
        span = current if inherited else self._made(event, parent)
        turn = _Turn(event, parent, span, own=not inherited, inherited=inherited)
        with self._lock:
            self._turns[event.turn] = turn
            left = self._turns.popitem(last=False)[1] if len(self._turns) > MAX_TURNS else None
        if left is not None and left.request is not None:
            left.request.end()
        if left is not None and left.own:
            left.span.set_attribute("tenuto.outcome", "never_ended")
            left.span.end()

    def _made(self, event: TurnStarted, parent: Context) -> Span:
        """A span of our own for a turn."""
        given = common_attributes(event, event.wire)
        given |= {"gen_ai.request.stream": event.stream, **server_attributes(event)}
        return self._tracer.start_span(
            f"{given['gen_ai.operation.name']} {event.model}".rstrip(),
            context=parent,
            kind=SpanKind.CLIENT,
            attributes=given,
            start_time=_ns(event.time),
        )

    def _open(self, turn: _Turn) -> Span:
        """The span that tells of the turn now: a child of the instrumentation's, if that ended."""
        if turn.inherited and not turn.own and not turn.span.is_recording():
            turn.span = self._tracer.start_span(
                "tenuto turn",
                context=trace.set_span_in_context(turn.span, turn.parent),
                start_time=_ns(turn.started.time),
            )
            turn.own = True
        return turn.span

    # --- requests -----------------------------------------------------------------------------

    def _attempt_started(self, turn: _Turn, event: AttemptStarted) -> None:
        turn.request_s, turn.fault, turn.http_status = event.time, None, None
        if turn.inherited:  # instrumentation of an HTTP client may tell of requests there
            return
        given: dict[str, Any] = {"http.request.method": "POST", "tenuto.attempt": event.attempt}
        given |= {**server_attributes(turn.started), **url_attributes(turn.started)}
        if event.attempt > 1:
            given["http.request.resend_count"] = event.attempt - 1
        if event.recovery is not None:
            given["tenuto.recovery"] = event.recovery
        turn.request = self._tracer.start_span(
            "POST",
            context=trace.set_span_in_context(turn.span, turn.parent),
            kind=SpanKind.CLIENT,
            attributes=given,
            start_time=_ns(event.time),
        )

    def _attempt_ended(self, turn: _Turn, event: AttemptEnded) -> None:
        turn.http_status = event.status
        if turn.first_chunk_s is None and event.first_piece_s is not None:
            turn.first_chunk_s = turn.request_s - turn.started.time + event.first_piece_s
        told = {
            "http.response.status_code": event.status,
            "tenuto.stop": event.stop,
            "tenuto.attempt.outcome": event.outcome,
        }
        given: dict[str, Any] = {key: value for key, value in told.items() if value is not None}
        if turn.request is None:
            given |= {"tenuto.attempt": event.attempt, "tenuto.duration_s": event.duration_s}
            self._open(turn).add_event("tenuto.attempt_ended", given, _ns(event.time))
            return
        turn.request.set_attributes(given)
        failed = event.lost or (str(event.status) if (event.status or 0) >= 400 else None)
        if failed is not None:
            turn.request.set_attribute("error.type", failed)
            turn.request.set_status(Status(StatusCode.ERROR))
        turn.request.end(_ns(event.time))
        turn.request = None

    # --- the turn -----------------------------------------------------------------------------

    def _stop_seen(self, turn: _Turn, event: StopReasonObserved) -> None:
        turn.raw = event.raw
        if event.reason not in _DROPPED:
            turn.native = event.raw or turn.native

    def _fault_seen(self, turn: _Turn, event: FaultReported) -> None:
        turn.fault = event.kind

    def _recovery(self, turn: _Turn, event: RecoveryStarted | RecoveryEnded) -> None:
        """Words of our tables and numbers, so that all of them may be shown."""
        turn.recovered |= isinstance(event, RecoveryEnded) and event.result == "recovered"
        given = {f"tenuto.{key}": value for key, value in event.data.items()}
        self._open(turn).add_event(f"tenuto.{event.name}", given, _ns(event.time))

    def _end(self, turn: _Turn, event: TurnEnded) -> None:
        with self._lock:
            self._turns.pop(event.turn, None)
        if turn.request is not None:
            turn.request.end(_ns(event.time))
        failed, span = _error_type(turn, event), self._open(turn)
        span.set_attributes(_result(turn, event, attributes_of(span) if not turn.own else {}))
        # Whoever made the span sees what is raised, and whether the SDK then tries again. It does
        # not after an error of ours, nor after an answer that broke off.
        ours = event.error is not None or event.status == "partial"
        if failed is not None and (turn.own or ours):
            span.set_attribute("error.type", failed)
            span.set_status(Status(StatusCode.ERROR))
        if turn.own:
            span.end(_ns(event.time))
        within = trace.set_span_in_context(span, turn.parent)  # exemplars lead to this span
        self._metrics.turn_ended(
            turn.started, event, turn.first_chunk_s, failed, within, inherited=turn.inherited
        )

    _HEARD: ClassVar[tuple[tuple[type[Event], Callable[[Any, _Turn, Any], None]], ...]] = (
        (AttemptStarted, _attempt_started),
        (AttemptEnded, _attempt_ended),
        (StopReasonObserved, _stop_seen),
        (FaultReported, _fault_seen),
        (RecoveryStarted, _recovery),
        (RecoveryEnded, _recovery),
        (TurnEnded, _end),
    )
    """What is done about each kind of event."""


def _error_type(turn: _Turn, event: TurnEnded) -> str | None:
    """What made the turn raise or break off; None where its caller got an answer to use.

    An answer that is short or refused is an answer, unless the policy raises for it. Of an error
    that Tenuto raises, the kind of fault behind it says more than its code.
    """
    if event.error is not None:
        return turn.fault or event.error
    if event.status is None and (turn.http_status or 0) >= 400:
        return str(turn.http_status)
    if turn.native is not None or event.status == "complete" or event.reason == "cancelled":
        return None
    return turn.fault or (event.stop if event.stop in _DROPPED else None)


def _finish_reasons(turn: _Turn, event: TurnEnded) -> list[str]:
    """The provider's own word, as the caller is shown it. Where one was due and never came, the
    conventions have "error"."""
    raw = getattr(event, "stop_raw", None) or turn.raw or turn.native
    if raw is not None:
        return [raw]
    return ["error"] if event.stop in _DROPPED else []


def _result(turn: _Turn, event: TurnEnded, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a turn that is over.

    Args:
        turn: the turn.
        event: its end.
        earlier: what stands on the span already. An SDK that tries again by itself makes several
            turns under one span, and each of them was billed.
    """
    # Who made the span has named provider and model in its own way.
    given = {} if turn.inherited else common_attributes(event, turn.started.wire)
    for name, count in Billed.of(event).by_type().items():
        total = count + earlier.get(f"tenuto.billed.{name}_tokens", 0)
        given[f"tenuto.billed.{name}_tokens"] = given[f"gen_ai.usage.{name}_tokens"] = total
    if reasons := _finish_reasons(turn, event):
        given["gen_ai.response.finish_reasons"] = reasons
    if turn.raw is not None:
        given["tenuto.stop.raw"] = turn.raw
    if event.stop is not None:
        given["tenuto.stop"] = event.stop
    if turn.first_chunk_s is not None:
        given["gen_ai.response.time_to_first_chunk"] = turn.first_chunk_s
    given["tenuto.turn"] = event.turn
    given["tenuto.outcome"] = event.status or "unread"
    given["tenuto.reason"] = event.reason
    given["tenuto.attempts"] = event.attempts + earlier.get("tenuto.attempts", 0)
    given["tenuto.recovered"] = turn.recovered and event.status == "complete"
    if turn.inherited and turn.own:  # beside theirs: who adds tokens up over spans counts them once
        given = {key: value for key, value in given.items() if not key.startswith("gen_ai.")}
    return given
