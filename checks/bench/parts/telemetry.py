"""What listening costs: turns of a wrapped SDK with listeners, against the same without; and turns
that nobody hears of with the log lines that are on by default, against the same with those off."""

from __future__ import annotations

import logging
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
from tenuto.telemetry import EventFile
from tenuto.telemetry.opentelemetry import OpenTelemetry
from tenuto.telemetry.prometheus import PrometheusMetrics

_BODIES = 40
Listener = Callable[[tenuto.Event], None]
Work = Callable[[], object]


def figures() -> Iterator[Figure]:
    """The cost of a turn that is listened to, as a multiple of that of one that is not."""
    with replaying() as root, tempfile.TemporaryDirectory() as folder:
        for side in SIDES:
            yield from _unheard(side, root)
            everything = _everything(Path(folder) / f"{side.name}.jsonl")
            for title, target, listener in (
                ("events and log lines", 1.03, _nothing),
                ("log lines, metrics, spans and a file", 1.10, _all_of(*everything)),
            ):  # the targets are those of streams: a whole body that is heard has a longer path
                yield from _of(side, root, title, target, listener)


def _nothing(event: tenuto.Event) -> None:
    """Hear every event. The log lines of the process hear them as well."""


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


def _unheard(side: Side, root: str) -> Iterator[Figure]:
    log = logging.getLogger("tenuto.turns")

    def at(level: int, work: Work) -> Work:
        def at_level() -> object:
            log.setLevel(level)
            return work()

        return at_level

    for what, path, of, units in _works(side):
        work = of(tenuto.wrap(side.client(f"{root}{path}"), policy=tenuto.Policy()))
        name = f"{side.name}: {what} that nobody hears of, against log lines switched off"
        off, on = at(logging.CRITICAL, work), at(logging.NOTSET, work)
        yield ratio(name, off, on, units, 1.00)


def _of(side: Side, root: str, title: str, target: float, listener: Listener) -> Iterator[Figure]:
    for what, path, of, units in _works(side):
        unheard = tenuto.wrap(side.client(f"{root}{path}"), policy=tenuto.Policy())
        heard = side.client(f"{root}{path}")
        heard = tenuto.wrap(heard, policy=tenuto.Policy(), on_event=listener)
        name = f"{side.name}: {what} with {title}, against none"
        yield ratio(name, of(unheard), of(heard), units, target if units == CHUNKS else None)


def _works(side: Side) -> Iterator[tuple[str, str, Callable[[Any], Work], int]]:
    """What is measured: its name, its path, the work of a client, and how many units that has."""

    def stream(client: Any) -> Work:
        return lambda: sum(1 for _ in side.chunks(client))

    def bodies(client: Any) -> Work:
        return lambda: [side.body(client) for _ in range(_BODIES)]

    yield f"stream of {CHUNKS:,} chunks", "/burst", stream, CHUNKS
    yield "whole body", "", bodies, _BODIES
