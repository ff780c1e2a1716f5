"""A block of docs/telemetry.md: the metrics, from their table."""

from collections.abc import Iterator

from page import code, codes, table

from tenuto.telemetry.metrics import METRICS


def render() -> str:
    """The table of the metrics."""
    return "\n".join(table(["Metric", "Kind", "Labels", "What it counts"], _rows())) + "\n"


def _rows() -> Iterator[list[str]]:
    for metric in METRICS:
        yield [code(metric.name), metric.kind.value, codes(metric.labels), metric.help]
