"""All listeners at once, and what leaves the process through them: events, counts, log lines, a file,
Prometheus, and OpenTelemetry in memory."""

from __future__ import annotations

import contextlib
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest

import tenuto
from tenuto.cli.tail import tail
from tenuto.telemetry.event_files import EventFile
from tenuto.telemetry.logs import JsonFormatter, LogLines
from tenuto.telemetry.metrics import Metrics
from tenuto.telemetry.opentelemetry import OpenTelemetry
from tenuto.telemetry.prometheus import PrometheusMetrics
from tenuto.telemetry.tally import Tally

if TYPE_CHECKING:
    from support.collector import Collector


class Records(logging.Handler):
    """Keeps the records that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


class Leaving:
    """A listener that calls all others.

    Args:
        folder: where the file of events is written.
        collector: where spans and metrics go beside, by OTLP.
        **lines: the bounds of `LogLines`.
    """

    def __init__(self, folder: Path, collector: Collector | None = None, **lines: Any) -> None:
        self.events: list[tenuto.Event] = []
        self.records = Records()
        self.tally = Tally()
        self.registry = CollectorRegistry()
        self.path = folder / "events.jsonl"
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        readers: list[Any] = [self.reader]
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        if collector is not None:
            self.tracers.add_span_processor(collector.processor)
            readers.append(collector.reader)
        self.lines = LogLines(**lines)
        self._file = EventFile(self.path)
        meters = MeterProvider(readers, shutdown_on_exit=False)
        self._listeners: tuple[tenuto.OnEvent, ...] = (
            self.events.append,
            self.lines,
            Metrics(self.tally),
            PrometheusMetrics(self.registry),
            self._file,
            OpenTelemetry(self.tracers, meters),
        )

    def __call__(self, event: tenuto.Event) -> None:
        for listener in self._listeners:
            listener(event)

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Keep the records of the logger `tenuto` while this goes on, of every level."""
        log = logging.getLogger("tenuto")
        before = log.level
        log.addHandler(self.records)
        log.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            log.setLevel(before)
            log.removeHandler(self.records)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """The spans that ended."""
        return tuple(self.exporter.get_finished_spans())

    @property
    def points(self) -> dict[str, list[Any]]:
        """The points of each metric of OpenTelemetry by its name."""
        data = self.reader.get_metrics_data()
        made = data.resource_metrics if data is not None else []
        scopes = [scope for resource in made for scope in resource.scope_metrics]
        return {one.name: list(one.data.data_points) for scope in scopes for one in scope.metrics}

    def texts(self) -> dict[str, str]:
        """Everything that has left, as text, by the way that it took."""
        records = self.records.kept
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            for ways in ({}, {"every": True}, {"json": True}):
                tail(self.path, last=10_000, no_follow=True, **ways)
        metrics = self.reader.get_metrics_data()
        return {
            "events": repr(self.events) + json.dumps([e.as_dict() for e in self.events]),
            "records": "\n".join(repr(vars(r)) + r.getMessage() for r in records),
            "json lines": "\n".join(map(JsonFormatter().format, records)),
            "tally": repr([self.tally.series(name) for name in self.tally._series]),
            "prometheus": generate_latest(self.registry).decode(),
            "file": self.path.read_text(),
            "tail": shown.getvalue(),
            "spans": "".join(span.to_json() for span in self.spans),
            "metrics": metrics.to_json() if metrics is not None else "",
        }

    def close(self) -> None:
        """Close the file."""
        self._file.close()
