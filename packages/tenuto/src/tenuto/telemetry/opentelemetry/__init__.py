"""Spans and metrics of turns by OpenTelemetry: the package `opentelemetry-api` and no SDK.

`spans` has the listener and makes spans, `meters` makes metrics, and `conventions` has the words
that both use.
"""

try:
    from tenuto.telemetry.opentelemetry.spans import OpenTelemetry
except ImportError as _missing:
    raise ImportError(
        f"spans and metrics need the package {_missing.name}: pip install 'tenuto[otel]'"
    ) from _missing

__all__ = ["OpenTelemetry"]
