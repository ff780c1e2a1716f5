"""Spans and metrics of turns by OpenTelemetry: the package `opentelemetry-api` and no SDK.

`spans` has the listener and makes spans, `meters` makes metrics, and `conventions` has the words
that both use.
"""

try:
    from tenuto.telemetry.opentelemetry.spans import OpenTelemetry
except ImportError as error:
    raise ImportError(
        f"spans and metrics need the package {error.name}: pip install 'tenuto[otel]'"
    ) from error

__all__ = ["OpenTelemetry"]
