"""Metrics of turns for Prometheus, from the table of `tenuto.telemetry.metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenuto.core.events.event import Event
from tenuto.telemetry.metrics import METRICS, Kind, Metric, Metrics

try:
    import prometheus_client
except ImportError as _missing:  # the message says how to install it
    raise ImportError(
        "metrics for Prometheus need prometheus-client: pip install tenuto[prometheus]"
    ) from _missing

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    Collector = prometheus_client.Counter | prometheus_client.Histogram


class PrometheusMetrics:
    """A listener that counts turns in collectors of prometheus-client. Create one per registry and
    add it with `add_listener`; serve the registry together with your other metrics.

    With several processes, set the variable PROMETHEUS_MULTIPROC_DIR before Python starts, and
    serve a registry with prometheus-client's `MultiProcessCollector`. All metrics are counters and
    histograms, so they add up across processes.

    Args:
        registry: where to register the collectors; None: prometheus-client's default registry.

    Raises:
        ValueError: the registry already has collectors with these names.

    >>> from prometheus_client import CollectorRegistry
    >>> from tenuto.events import HistoryRepaired
    >>> registry = CollectorRegistry()
    >>> hear = PrometheusMetrics(registry)
    >>> hear(HistoryRepaired(time=0.0, turn="t", provider="openai", model="gpt", attempt=0,
    ...                      repairs=("rows_joined",)))
    >>> labels = {"provider": "openai", "model": "gpt", "kind": "rows_joined"}
    >>> registry.get_sample_value("tenuto_history_repairs_total", labels)
    1.0
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        into = prometheus_client.REGISTRY if registry is None else registry
        self._collectors = {metric.name: _collector(metric, into) for metric in METRICS}
        self._metrics = Metrics(self)

    def __call__(self, event: Event) -> None:
        """Count an event."""
        self._metrics(event)

    def take(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        """Add a value to its collector."""
        collector = self._collectors[metric.name].labels(*labels)
        if isinstance(collector, prometheus_client.Counter):
            collector.inc(value)
        else:
            collector.observe(value)


def _collector(metric: Metric, registry: CollectorRegistry) -> Collector:
    if metric.kind is Kind.COUNTER:
        return prometheus_client.Counter(
            metric.name, metric.help, metric.all_labels, registry=registry
        )
    return prometheus_client.Histogram(
        metric.name, metric.help, metric.all_labels, buckets=metric.buckets, registry=registry
    )
