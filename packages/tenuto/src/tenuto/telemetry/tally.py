"""A sink in memory, for tests and for a page in the same process."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from tenuto.telemetry.metrics import METRICS, Metric


@dataclass(slots=True)
class Series:
    """One metric with one set of labels.

    Attributes:
        labels: the labels by name.
        count: the number of values.
        total: their sum, which is a counter's value.
        buckets: for a histogram, the number of values in each of `Metric.buckets` and beyond the
            last, not cumulative; empty for a counter.
    """

    labels: dict[str, str]
    count: int = 0
    total: float = 0.0
    buckets: list[int] = field(default_factory=list)


class Tally:
    """Keeps the values of metrics in memory. Thread-safe.

    >>> tally = Tally()
    >>> metric = next(m for m in METRICS if m.name == "tenuto_turn_attempts")
    >>> tally.take(metric, ("openai", "gpt"), 3)
    >>> tally.take(metric, ("groq", "gpt"), 1)
    >>> tally.total("tenuto_turn_attempts"), tally.total("tenuto_turn_attempts", provider="groq")
    (4.0, 1.0)
    """

    def __init__(self) -> None:
        self._series: dict[str, dict[tuple[str, ...], Series]] = {m.name: {} for m in METRICS}
        # The garbage collector may end an abandoned turn, which sends events, in a thread that
        # already holds the lock.
        self._lock = threading.RLock()

    def take(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        """Add a value."""
        with self._lock:
            kept = self._series[metric.name]
            if (series := kept.get(labels)) is None:
                named = dict(zip(metric.all_labels, labels, strict=True))
                empty = [0] * (len(metric.buckets) + 1) if metric.buckets else []
                series = kept.setdefault(labels, Series(named, buckets=empty))
            series.count += 1
            series.total += value
            if series.buckets:
                series.buckets[bisect_left(metric.buckets, value)] += 1

    def series(self, name: str) -> list[Series]:
        """Return copies of all series of a metric, in the order in which they began.

        Raises:
            KeyError: no metric has this name.
        """
        with self._lock:
            return [
                Series(dict(s.labels), s.count, s.total, [*s.buckets])
                for s in list(self._series[name].values())
            ]

    def total(self, name: str, **labels: str) -> float:
        """Return the sum of all values with these labels; other labels may have any value.

        Raises:
            KeyError: no metric has this name, or it has no such label.
        """
        return sum((s.total for s in self._matching(name, labels)), 0.0)

    def count(self, name: str, **labels: str) -> int:
        """Return the number of values with these labels; other labels may have any value.

        Raises:
            KeyError: no metric has this name, or it has no such label.
        """
        return sum(s.count for s in self._matching(name, labels))

    def _matching(self, name: str, labels: dict[str, str]) -> Iterator[Series]:
        for series in self.series(name):
            if all(series.labels[key] == value for key, value in labels.items()):
                yield series
