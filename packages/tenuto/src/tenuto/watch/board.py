"""What the page shows, from the events of turns: the latest turns, counts, and why attempts stopped
in each minute.

The counts come from the table of `tenuto.telemetry.metrics`, and the minutes from the same samples,
so the page, the metrics and the chart agree. A reader asks for the changes since a sequence number.
So a slow reader gets fewer and larger answers, and needs no queue.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tenuto.core.answer.stop import printable
from tenuto.core.events.event import Event
from tenuto.core.events.kinds import event_from_dict
from tenuto.telemetry.metrics import METRICS, Metric, Metrics
from tenuto.telemetry.tally import Tally
from tenuto.watch.turn_seen import RUNNING, Plain, TurnSeen

MOST_TURNS = 500
"""How many turns are kept. Beyond that, the oldest ended turn is dropped, or else the oldest."""

MOST_MINUTES = 240
"""How many minutes of stops are kept, counting those in which an attempt ended."""

LINE_MAX_CHARS = 65_536
"""The longest line of a file that can be an event."""

MOST_NOTES = 20
"""How many notes about problems are kept."""

_LATEST_S = 1e11
"""The latest time that is accepted, in seconds since the epoch: the year 5138."""

_NO_EVENT = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
"""The exceptions of a line that is not an event, or has values of the wrong type."""

_STOPS = "tenuto_attempts_total"

HEADLINE: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("turns", "tenuto_turns_total", {}),
    ("complete", "tenuto_turns_total", {"outcome": "complete"}),
    ("partial", "tenuto_turns_total", {"outcome": "partial"}),
    ("failed", "tenuto_turns_total", {"outcome": "failed"}),
    ("unread", "tenuto_turns_total", {"outcome": "unread"}),
    ("attempts", _STOPS, {}),
    ("recovered", "tenuto_recoveries_ended_total", {"result": "recovered"}),
    ("gave_up", "tenuto_recoveries_ended_total", {"result": "gave_up"}),
    ("continuations", "tenuto_continuations_total", {}),
    ("truncation_exits", "tenuto_truncation_exits_total", {}),
    ("faults", "tenuto_faults_total", {}),
    ("stalls", "tenuto_stalls_total", {}),
    ("unknown_stops", "tenuto_unknown_stops_total", {}),
    ("input_tokens", "tenuto_billed_tokens_total", {"direction": "input"}),
    ("output_tokens", "tenuto_billed_tokens_total", {"direction": "output"}),
    ("recovery_input_tokens", "tenuto_recovery_tokens_total", {"direction": "input"}),
    ("recovery_output_tokens", "tenuto_recovery_tokens_total", {"direction": "output"}),
)
"""The totals at the top of the page: their names, and the metric and labels of each."""


@dataclass(slots=True)
class _Minute:
    sequence: int = 0
    stops: Counter[tuple[str, str]] = field(default_factory=Counter)  # by model and stop


class Board:
    """A listener that keeps what the page shows. Thread-safe.

    Args:
        most_turns: how many turns to keep. Totals count all turns.

    Raises:
        ValueError: `most_turns` is below 1.

    >>> from tenuto.events import TurnStarted
    >>> board = Board()
    >>> board(TurnStarted(time=60.0, turn="t1", provider="openai", model="gpt", attempt=0,
    ...                   wire="openai-chat", stream=False, host="api.openai.com"))
    >>> [(turn["turn"], turn["state"]) for turn in board.turns()]
    [('t1', 'running')]
    >>> board.totals()["turns"], board.totals()["running"]
    (0, 1)
    """

    def __init__(self, most_turns: int = MOST_TURNS) -> None:
        if most_turns < 1:
            raise ValueError("a board keeps at least 1 turn")
        self.run: str = secrets.token_hex(4)
        """Identifies this board, because the sequence numbers of another one mean something
        else."""
        self.most_turns = most_turns
        self.sequence: int = 0
        """The number of changes so far."""
        # The garbage collector may end an abandoned turn, which sends events, in a thread that
        # already holds the lock. So loops inside the lock iterate over copies.
        self._lock = threading.RLock()
        self._turns: dict[str, TurnSeen] = {}
        self._gone: deque[tuple[int, str]] = deque(maxlen=4 * most_turns)
        self._tally = Tally()
        self._metrics = Metrics(self)
        self._minutes: dict[int, _Minute] = {}
        self._now = 0.0  # the time of the current event
        self._notes: dict[str, int] = {}

    # --- taking ---------------------------------------------------------------------------------

    def __call__(self, event: Event) -> None:
        """Take an event."""
        with self._lock:
            self.sequence += 1
            self._now = event.time
            turn = self._turns.get(event.turn)
            if turn is None:
                new = TurnSeen(event.turn, event.time, event.time, event.provider, event.model)
                turn = self._turns.setdefault(event.turn, new)
                if len(self._turns) > self.most_turns:
                    self._drop()
            turn.sequence = self.sequence
            turn.take(event)
            self._metrics(event)

    def take(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        """Count a sample of the table of metrics; `tenuto.telemetry.Metrics` calls this."""
        self._tally.take(metric, labels, value)
        if metric.name == _STOPS:
            named = dict(zip(metric.all_labels, labels, strict=True))
            number = int(self._now // 60)
            minute = self._minutes.get(number)
            if minute is None:
                minute = self._minutes[number] = _Minute()
                if len(self._minutes) > MOST_MINUTES:
                    del self._minutes[min(self._minutes)]
            minute.sequence = self.sequence
            minute.stops[named["model"], named["stop"]] += int(value)

    def read_line(self, line: str) -> bool:
        """Take the event in a line of an event file.

        Returns:
            False if the line is not an event, or has a value of the wrong type.
        """
        try:
            if len(line) > LINE_MAX_CHARS:
                return False
            read = event_from_dict(msgspec.json.decode(line, type=dict))
            event = msgspec.convert(msgspec.to_builtins(read), type(read))
            if not 0 <= event.time < _LATEST_S:
                return False
            self(event)
        except _NO_EVENT:
            return False
        return True

    def note(self, what: str) -> None:
        """Show a sentence on the page about something that went wrong."""
        with self._lock:
            what = printable(what, 300)
            if what in self._notes or len(self._notes) < MOST_NOTES:
                self._notes[what] = self._notes.get(what, 0) + 1
                self.sequence += 1

    def _drop(self) -> None:
        ended = (turn.id for turn in list(self._turns.values()) if turn.end is not None)
        gone = next(ended, next(iter(self._turns)))
        self._turns.pop(gone, None)
        self._gone.append((self.sequence, gone))

    # --- showing --------------------------------------------------------------------------------

    def totals(self) -> Plain:
        """The totals of `HEADLINE` over all turns, and how many of the turns on the board are
        running."""
        with self._lock:
            return self._totals()

    def metrics(self) -> list[Plain]:
        """Every metric with its series, as `tenuto.telemetry.Tally` keeps them."""
        return [
            {
                "name": metric.name,
                "kind": metric.kind.value,
                "help": metric.help,
                "series": [
                    {"labels": series.labels, "count": series.count, "total": series.total}
                    for series in self._tally.series(metric.name)
                ],
            }
            for metric in METRICS
        ]

    def turns(self) -> list[Plain]:
        """The summaries of the turns on the board, in the order in which they began."""
        with self._lock:
            return [turn.summary() for turn in list(self._turns.values())]

    def turn(self, turn: str) -> Plain | None:
        """Return everything known about a turn; None if it is not on the board."""
        with self._lock:
            found = self._turns.get(turn)
            return msgspec.to_builtins(found.detail()) if found is not None else None

    def stops(self) -> list[Plain]:
        """The number of attempts of each model by stop and minute, in order of time."""
        with self._lock:
            return self._stops(-1)

    def changes(self, since: int | None = None) -> Plain:
        """Return what to show, or what has changed.

        Args:
            since: the sequence number that the reader is up to date with; None: it knows nothing.

        Returns:
            `sequence` is the number that this brings the reader up to. `whole` is True if it has
            everything, which it also has if the reader is too far behind. Otherwise, `turns` and
            `stops` are those that changed, and `gone` names the turns that left the board.
        """
        with self._lock:
            forgot = len(self._gone) == self._gone.maxlen and self._gone[0][0] > (since or 0)
            whole = since is None or since > self.sequence or forgot
            known = -1 if whole or since is None else since
            return {
                "sequence": self.sequence,
                "whole": whole,
                "turns": [t.summary() for t in list(self._turns.values()) if t.sequence > known],
                "gone": [] if whole else [turn for at, turn in list(self._gone) if at > known],
                "stops": self._stops(known),
                "totals": self._totals(),
                "notes": dict(self._notes),
            }

    def _totals(self) -> Plain:
        told: dict[str, Any] = {
            name: int(self._tally.total(metric, **labels)) for name, metric, labels in HEADLINE
        }
        told["running"] = sum(turn.state == RUNNING for turn in list(self._turns.values()))
        return told

    def _stops(self, known: int) -> list[Plain]:
        return [
            {"minute": number * 60, "model": model, "stop": stop, "count": count}
            for number, minute in sorted(self._minutes.items())
            if minute.sequence > known
            for (model, stop), count in list(minute.stops.items())
        ]
