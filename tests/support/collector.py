"""A collector of OTLP over HTTP on loopback, and the official exporters that send to it."""

from __future__ import annotations

import gzip
import threading
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor

QUEUE = 100_000
"""Spans that wait to be sent. What does not fit into the queue is dropped by the SDK; nothing is to
be dropped here."""


class Collector:
    """What came by OTLP, decoded with the protocol's own messages.

    Attributes:
        root_url: where it listens, without a path.
        processor, reader: what a program gives to its providers, so that all of it comes here.
        spans: every span that came.
        schemas: the schema URL of each scope that came, by the scope's name.
        wrong: requests that could not be read.
    """

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.schemas: dict[str, str] = {}
        self.wrong: list[str] = []
        self._metrics: Any = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.root_url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @cached_property
    def processor(self) -> SpanProcessor:
        url = f"{self.root_url}/v1/traces"
        spans = OTLPSpanExporter(endpoint=url, compression=Compression.Gzip)
        return BatchSpanProcessor(spans, max_queue_size=QUEUE)

    @cached_property
    def reader(self) -> PeriodicExportingMetricReader:
        url = f"{self.root_url}/v1/metrics"
        points = OTLPMetricExporter(endpoint=url, compression=Compression.Gzip)
        return PeriodicExportingMetricReader(points)

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        for name in ("processor", "reader"):
            if name in vars(self):
                vars(self)[name].shutdown()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def flush(self) -> None:
        """Wait until all has come that a program told so far."""
        assert self.processor.force_flush()
        assert self.reader.force_flush()

    def take(self, path: str, body: bytes) -> None:
        """Take one request."""
        if path.endswith("/v1/traces"):
            traces = ExportTraceServiceRequest.FromString(body)
            scopes = [scope for one in traces.resource_spans for scope in one.scope_spans]
            self.spans += [span for scope in scopes for span in scope.spans]
            self.schemas |= {scope.scope.name: scope.schema_url for scope in scopes}
        else:  # sums are cumulative: the last request has all of them
            assert path.endswith("/v1/metrics"), path
            self._metrics = ExportMetricsServiceRequest.FromString(body)
            scopes = [s for one in self._metrics.resource_metrics for s in one.scope_metrics]
            self.schemas |= {scope.scope.name: scope.schema_url for scope in scopes}

    def sums(self, name: str) -> list[tuple[dict[str, Any], int]]:
        """The points of a counter: the attributes and the value of each."""
        found = self._metrics.resource_metrics if self._metrics is not None else ()
        metrics = [m for one in found for scope in one.scope_metrics for m in scope.metrics]
        points = [
            point for metric in metrics if metric.name == name for point in metric.sum.data_points
        ]
        return [(plain(point.attributes), point.as_int) for point in points]


def plain(pairs: Any) -> dict[str, Any]:
    """The attributes of a span or a point."""
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(map(_value, value.array_value.values))
    return getattr(value, kind) if kind is not None else None


def _handler(collector: Collector) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            try:
                collector.take(self.path, body)
            except Exception as error:  # noqa: BLE001 - told to the test, and not to the exporter
                collector.wrong.append(repr(error))
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    return Handler
