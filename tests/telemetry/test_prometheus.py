"""Prometheus shows what the table of metrics says, over several processes too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import members
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from support.telemetry import answer, chat

from tenuto.telemetry.metrics import METRICS, Kind
from tenuto.telemetry.prometheus import PrometheusMetrics

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.behaviour("P6")
def test_each_metric_of_the_table_is_registered_under_its_name() -> None:
    registry = CollectorRegistry()
    PrometheusMetrics(registry)
    shown = generate_latest(registry).decode()
    for metric in METRICS:
        assert f"# TYPE {metric.name} {metric.kind}" in shown
        assert f"# HELP {metric.name} {metric.help}" in shown


@pytest.mark.behaviour("P6")
def test_a_turn_is_counted_and_timed() -> None:
    registry = CollectorRegistry()
    hear = PrometheusMetrics(registry)
    chat(answer("One ", stop="length"), answer("two."), on_event=hear, model="m")
    labels = {"provider": "openai", "model": "m"}
    assert registry.get_sample_value("tenuto_continuations_total", labels) == 1
    assert registry.get_sample_value("tenuto_turn_attempts_bucket", {**labels, "le": "1.0"}) == 0
    assert registry.get_sample_value("tenuto_turn_attempts_bucket", {**labels, "le": "2.0"}) == 1
    assert registry.get_sample_value("tenuto_turn_attempts_sum", labels) == 2


def test_a_registry_takes_the_metrics_once() -> None:
    registry = CollectorRegistry()
    PrometheusMetrics(registry)
    with pytest.raises(ValueError, match="Duplicated"):
        PrometheusMetrics(registry)


PROCESS = """
from support.telemetry import answer, chat
from tenuto.telemetry.prometheus import PrometheusMetrics
chat(answer("One ", stop="length"), answer("two."), on_event=PrometheusMetrics(), model="m")
"""


@pytest.mark.slow
@pytest.mark.behaviour("P6")
def test_several_processes_are_added_up(tmp_path: Path) -> None:
    paths = [*members.SOURCES, str(ROOT / "tests"), *sys.path]
    environment = {
        **os.environ,
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    for _ in range(2):
        subprocess.run([sys.executable, "-c", PROCESS], env=environment, check=True, timeout=50)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(tmp_path))
    labels = {"provider": "openai", "model": "m"}
    assert registry.get_sample_value("tenuto_continuations_total", labels) == 2
    assert registry.get_sample_value("tenuto_turn_attempts_sum", labels) == 4
    kinds = {metric.kind for metric in METRICS}
    assert kinds <= {Kind.COUNTER, Kind.HISTOGRAM}, "only these add up over processes"


def test_without_the_package_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['prometheus_client'] = None; import tenuto.telemetry.prometheus"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(members.SOURCES)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "pip install tenuto[prometheus]" in done.stderr
