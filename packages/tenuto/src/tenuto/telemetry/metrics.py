"""The metrics of turns: one table, and the listener that feeds its values to a sink.

A row says how to read its values from an event. Labels are words from our own tables, except for
the names of providers and models, whose number is limited. A raw stop value is never a label,
because a provider can send any number of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from tenuto.core.answer.stop import StopReason
from tenuto.core.events.attempt import (
    AttemptEnded,
    FaultReported,
    HoldBackExceeded,
    Stalled,
    UnknownStopSeen,
)
from tenuto.core.events.event import Event
from tenuto.core.events.recovery import (
    ContinuationAttempt,
    EmptyRecovery,
    RecoveryEnded,
    RecoveryStarted,
    ToolPayloadRepair,
)
from tenuto.core.events.turn import HistoryRepaired, TurnEnded

MOST_MODELS = 200
"""How many names of models a `Metrics` tells apart; later ones count as `OTHER`."""

MOST_PROVIDERS = 50
"""The same for providers; a program may register its own."""

OTHER = "other"
"""The label for names beyond the limit."""

UNREAD = "unread"
"""The label if Tenuto passed on an answer without reading it, or if there was none."""

SHARED_LABELS = ("provider", "model")
"""The first labels of every metric; its own come after them."""

Sample = tuple[tuple[str, ...], float]
"""The values of a metric's own labels, and the value to add or observe."""


class Kind(StrEnum):
    """How a sink stores the values of a metric."""

    COUNTER = "counter"
    """As their sum."""
    HISTOGRAM = "histogram"
    """As their number in each bucket, and their sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One row of the table.

    Attributes:
        name: its full name; a counter's name ends in `_total`.
        kind: how its values are stored.
        help: one sentence on what it shows.
        unit: "seconds", "bytes", "tokens"; "" for a number of things.
        labels: its own labels, besides `SHARED_LABELS`.
        buckets: the upper bounds of a histogram's buckets, without infinity; () for a counter.
        of: the class of the events that have its values.
        take: reads its samples from such an event.
    """

    name: str
    kind: Kind
    help: str
    unit: str = ""
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    of: type[Event]
    take: Callable[[Any], Iterable[Sample]]

    @property
    def all_labels(self) -> tuple[str, ...]:
        """The names of all labels, in the order of their values."""
        return (*SHARED_LABELS, *self.labels)


class Sink(Protocol):
    """Stores the values of metrics. Several threads may call it at once."""

    def take(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        """Add a value to a counter, or observe it in a histogram.

        Args:
            metric: the row of the table.
            labels: the values of `metric.all_labels`.
            value: the value to add or observe.
        """


# --- rows ---------------------------------------------------------------------------------------


def _no_labels(event: Event) -> tuple[str, ...]:
    return ()


def _counter(
    name: str,
    shows: str,
    of: type[Event],
    labels: tuple[str, ...] = (),
    read: Callable[[Any], tuple[str, ...]] = _no_labels,
) -> Metric:
    """Return a counter of events; `read` returns the values of its labels from an event."""
    return Metric(
        name=name,
        kind=Kind.COUNTER,
        help=shows,
        labels=labels,
        of=of,
        take=lambda event: [(read(event), 1)],
    )


def _tokens(name: str, shows: str, take: Callable[[TurnEnded], list[Sample]]) -> Metric:
    """Return a counter of the tokens of turns; `take` returns their input and output tokens."""
    return Metric(
        name=name,
        kind=Kind.COUNTER,
        help=shows,
        unit="tokens",
        labels=("direction",),
        of=TurnEnded,
        take=take,
    )


def _histogram(
    name: str,
    shows: str,
    of: type[Event],
    value: Callable[[Any], float | None],
    buckets: tuple[float, ...],
    unit: str = "",
) -> Metric:
    """Return a histogram of what `value` returns for events; None is not observed."""

    def take(event: Event) -> list[Sample]:
        observed = value(event)
        return [] if observed is None else [((), observed)]

    return Metric(
        name=name, kind=Kind.HISTOGRAM, help=shows, unit=unit, buckets=buckets, of=of, take=take
    )


def _in_and_out(input_tokens: int, output_tokens: int) -> list[Sample]:
    pairs = (("input", input_tokens), ("output", output_tokens))
    return [((direction,), tokens) for direction, tokens in pairs if tokens]


def _billed(event: TurnEnded) -> list[Sample]:
    counted = [usage for usage in event.usage if usage is not None]
    return _in_and_out(
        sum(usage.input_tokens or 0 for usage in counted),
        sum(usage.output_tokens or 0 for usage in counted),
    )


def _cut_and_left(event: TurnEnded) -> list[Sample]:
    cut = event.stop == StopReason.MAX_TOKENS and event.status in ("partial", "failed")
    return [((event.reason,), 1)] if cut and "continuation" not in event.recoveries else []


def _continued(event: TurnEnded) -> float | None:
    return event.duration_s if "continuation" in event.recoveries else None


# --- the table ----------------------------------------------------------------------------------

TURN_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
FIRST_BYTE_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
DETECTION_SECONDS = (
    0.00001,
    0.000025,
    0.00005,
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
)
ATTEMPTS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0)
BYTES = (0.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0)

METRICS: tuple[Metric, ...] = (
    _counter(
        "tenuto_turns_total",
        "Turns that ended; the outcome is unread if Tenuto passed the answer on unread.",
        TurnEnded,
        ("wire", "outcome", "reason"),
        lambda e: (e.wire, e.status or UNREAD, e.reason),
    ),
    _counter(
        "tenuto_attempts_total",
        "Requests that ended, by why the answer stopped; unread if none was read.",
        AttemptEnded,
        ("stop",),
        lambda e: (e.stop or UNREAD,),
    ),
    _histogram(
        "tenuto_turn_attempts", "Requests per turn.", TurnEnded, lambda e: e.attempts, ATTEMPTS
    ),
    _histogram(
        "tenuto_turn_duration_seconds",
        "Duration of turns, including all attempts and waits.",
        TurnEnded,
        lambda e: e.duration_s,
        TURN_SECONDS,
        "seconds",
    ),
    _histogram(
        "tenuto_continued_turn_duration_seconds",
        "Duration of turns whose text was continued.",
        TurnEnded,
        _continued,
        TURN_SECONDS,
        "seconds",
    ),
    _histogram(
        "tenuto_first_byte_seconds",
        "Time from a request to the head of its response.",
        AttemptEnded,
        lambda e: e.first_byte_s,
        FIRST_BYTE_SECONDS,
        "seconds",
    ),
    _histogram(
        "tenuto_detection_seconds",
        "Time to read a body, or the slowest sampled piece of a stream, and find out why it ended.",
        AttemptEnded,
        lambda e: e.detection_s,
        DETECTION_SECONDS,
        "seconds",
    ),
    _counter(
        "tenuto_recoveries_started_total",
        "Recoveries that began, by kind.",
        RecoveryStarted,
        ("kind",),
        lambda e: (e.KIND,),
    ),
    _counter(
        "tenuto_recoveries_ended_total",
        "Recoveries that ended, by kind and result.",
        RecoveryEnded,
        ("kind", "result"),
        lambda e: (e.KIND, e.result),
    ),
    _counter("tenuto_continuations_total", "Requests for the rest of a text.", ContinuationAttempt),
    Metric(
        name="tenuto_truncation_exits_total",
        kind=Kind.COUNTER,
        help="Turns cut off by the output limit that ended without a continuation.",
        labels=("reason",),
        of=TurnEnded,
        take=_cut_and_left,
    ),
    _tokens(
        "tenuto_billed_tokens_total", "Tokens of all attempts that the provider counted.", _billed
    ),
    _tokens(
        "tenuto_recovery_tokens_total",
        "Tokens of all attempts after the first that the provider counted.",
        lambda e: _in_and_out(e.recovery_input_tokens, e.recovery_output_tokens),
    ),
    _counter(
        "tenuto_tool_repairs_total",
        "Decisions about broken or missing tool calls, by what was wrong and what followed.",
        ToolPayloadRepair,
        ("issue", "outcome"),
        lambda e: (e.issue, e.outcome),
    ),
    _counter(
        "tenuto_empty_answers_total",
        "Empty answers, by outcome.",
        EmptyRecovery,
        ("kind",),
        lambda e: (e.outcome,),
    ),
    _counter(
        "tenuto_unknown_stops_total",
        "Answers whose stop value Tenuto does not know.",
        UnknownStopSeen,
    ),
    _counter(
        "tenuto_stalls_total",
        "Attempts that timed out, before or after the head of the response.",
        Stalled,
        ("phase",),
        lambda e: ("body" if e.answered else "head",),
    ),
    _histogram(
        "tenuto_held_back_bytes",
        "Most bytes of a stream that a turn held back at once.",
        TurnEnded,
        lambda e: e.held_bytes if e.stream else None,
        BYTES,
        "bytes",
    ),
    _counter(
        "tenuto_hold_back_exceeded_total",
        "Attempts that ended because they would have held back more than the policy allows.",
        HoldBackExceeded,
    ),
    _counter(
        "tenuto_faults_total",
        "Errors of providers and connections, by kind.",
        FaultReported,
        ("kind",),
        lambda e: (e.kind,),
    ),
    Metric(
        name="tenuto_history_repairs_total",
        kind=Kind.COUNTER,
        help="Repairs of the history in a caller's request, by kind.",
        labels=("kind",),
        of=HistoryRepaired,
        take=lambda e: [((repair,), 1) for repair in e.repairs],
    ),
)
"""All metrics, in one table."""


# --- driving ------------------------------------------------------------------------------------


class Names:
    """Limits the number of different names. Thread-safe.

    Args:
        most: how many names to tell apart; later ones become `OTHER`.

    >>> names = Names(1)
    >>> names.bounded("gpt"), names.bounded("claude"), names.bounded("gpt")
    ('gpt', 'other', 'gpt')
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()
        self._lock = threading.RLock()  # reentrant, as in `Tally`

    def bounded(self, name: str) -> str:
        """Return the name, or `OTHER` if it is beyond the limit."""
        if name in self._known:
            return name
        with self._lock:
            if len(self._known) < self._most:
                self._known.add(name)
        return name if name in self._known else OTHER


class Metrics:
    """A listener that turns events into the values of all metrics, and adds them to a sink.

    Args:
        sink: stores the values.

    >>> from tenuto.events import HistoryRepaired
    >>> from tenuto.telemetry.tally import Tally
    >>> tally = Tally()
    >>> Metrics(tally)(HistoryRepaired(time=0.0, turn="t", provider="openai", model="gpt",
    ...                                attempt=0, repairs=("empty_row", "empty_row")))
    >>> tally.total("tenuto_history_repairs_total", kind="empty_row")
    2.0
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._models, self._providers = Names(MOST_MODELS), Names(MOST_PROVIDERS)
        self._rows: dict[type[Event], tuple[Metric, ...]] = {}

    def __call__(self, event: Event) -> None:
        """Add the values of an event to the sink."""
        kind = type(event)
        rows = self._rows.get(kind)
        if rows is None:
            rows = tuple(metric for metric in METRICS if issubclass(kind, metric.of))
            self._rows[kind] = rows
        if not rows:
            return
        shared = (self._providers.bounded(event.provider), self._models.bounded(event.model))
        for metric in rows:
            for labels, value in metric.take(event):
                self._sink.take(metric, (*shared, *labels), value)
