"""What listening costs: turns of a wrapped SDK with listeners, against the same without."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from parts.figures import Figure, ratio
from parts.recorded import CHUNKS
from parts.replay import replaying
from parts.sides import SIDES, Side
from prometheus_client import CollectorRegistry

import tenuto
from tenuto.telemetry import EventFile, LogLines
from tenuto.telemetry.opentelemetry import OpenTelemetry
from tenuto.telemetry.prometheus import PrometheusMetrics

_BODIES = 40
Listener = Callable[[tenuto.Event], None]


def figures() -> Iterator[Figure]:
    """The cost of a turn that is listened to, as a multiple of that of one that is not."""
    with replaying() as root, tempfile.TemporaryDirectory() as folder:
        for side in SIDES:
            logs, everything = LogLines(), _everything(Path(folder) / f"{side.name}.jsonl")
            for title, target, listener in (
                ("events and log lines", 1.03, logs),
                ("log lines, metrics, spans and a file", 1.10, _all_of(logs, *everything)),
            ):
                yield from _of(side, root, title, target, listener)


def _everything(file: Path) -> tuple[Listener, ...]:
    spans = TracerProvider()
    spans.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    meters = MeterProvider([InMemoryMetricReader()])
    return PrometheusMetrics(CollectorRegistry()), OpenTelemetry(spans, meters), EventFile(file)


def _all_of(*listeners: Listener) -> Listener:
    def hear(event: tenuto.Event) -> None:
        for listener in listeners:
            listener(event)

    return hear


def _of(side: Side, root: str, title: str, target: float, listener: Listener) -> Iterator[Figure]:
    def both(path: str) -> tuple[Any, Any]:
        unheard = tenuto.wrap(side.client(f"{root}{path}"), policy=tenuto.Policy())
        heard = side.client(f"{root}{path}")
        return unheard, tenuto.wrap(heard, policy=tenuto.Policy(), on_event=listener)

    def streams(client: Any) -> Callable[[], object]:
        return lambda: sum(1 for _ in side.chunks(client))

    def bodies(client: Any) -> Callable[[], object]:
        return lambda: [side.body(client) for _ in range(_BODIES)]

    unheard, heard = both("/burst")
    name = f"{side.name}: stream of {CHUNKS:,} chunks with {title}, against none"
    yield ratio(name, streams(unheard), streams(heard), CHUNKS, target)
    unheard, heard = both("")
    name = f"{side.name}: whole body with {title}, against none"
    yield ratio(name, bodies(unheard), bodies(heard), _BODIES, target)
