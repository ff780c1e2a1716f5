"""Telemetry: listeners for all turns of a process, and what they can feed (logs, metrics,
files)."""

import importlib as _importlib
import typing as _typing

from tenuto.telemetry.listeners import add_listener, remove_listener

if _typing.TYPE_CHECKING:
    from tenuto.telemetry.event_files import EventFile, files_of_events, read_events
    from tenuto.telemetry.logs import JsonFormatter, LogLines
    from tenuto.telemetry.metrics import METRICS, Metrics
    from tenuto.telemetry.prometheus import PrometheusMetrics
    from tenuto.telemetry.tally import Tally

__all__ = [
    "METRICS",
    "EventFile",
    "JsonFormatter",
    "LogLines",
    "Metrics",
    "PrometheusMetrics",
    "Tally",
    "add_listener",
    "files_of_events",
    "read_events",
    "remove_listener",
]

_MODULES = {
    "METRICS": "metrics",
    "EventFile": "event_files",
    "JsonFormatter": "logs",
    "LogLines": "logs",
    "Metrics": "metrics",
    "PrometheusMetrics": "prometheus",
    "Tally": "tally",
    "files_of_events": "event_files",
    "read_events": "event_files",
}
"""The modules of names that are loaded on first use, because every turn imports this package."""


def __dir__() -> list[str]:
    """Return all names, including those that are not loaded yet."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> _typing.Any:
    """Load the module of a name on its first use."""
    if name in _MODULES:
        return getattr(_importlib.import_module(f"tenuto.telemetry.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'tenuto.telemetry' has no attribute {name!r}")
