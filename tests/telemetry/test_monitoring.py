"""The dashboard and the alert rules ask only for what Prometheus is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import monitoring
import pytest
import yaml
from monitoring_alerts import ALERTS
from monitoring_panels import ROWS, Panel, Query
from prometheus_client import CollectorRegistry

from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.stop import StopReason
from tenuto.telemetry.metrics import METRICS, UNREAD
from tenuto.telemetry.prometheus import PrometheusMetrics

ROOT = Path(__file__).resolve().parents[2]
PANELS = [panel for panels in ROWS.values() for panel in panels]
QUERIES = [query for panel in PANELS for query in panel.queries]
EXPRESSIONS = [query.expr for query in QUERIES] + [alert.expr for alert in ALERTS]

NAME = re.compile(r"\btenuto_\w+")
SELECTOR = re.compile(r"\b(tenuto_\w+)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)(?:=~|!~|!=|=)"([^"]*)"')
BY = re.compile(r"\bby \(([^)]*)\)")

BOUNDS = {str(bound) for metric in METRICS for bound in metric.buckets}
WORDS: dict[str, set[str]] = {
    "kind": {*FaultKind},
    "le": BOUNDS,
    "outcome": {"complete", "partial", "failed", UNREAD},
    "reason": {"cancelled"},
    "stop": {*StopReason, UNREAD},
}
"""The values that an expression may ask for, beside the names of providers and models."""


def exposed() -> dict[str, set[str]]:
    """The labels of each series, as prometheus-client shows one value of every metric."""
    registry = CollectorRegistry()
    hear = PrometheusMetrics(registry)
    for metric in METRICS:
        hear.take(metric, tuple("x" for _ in metric.all_labels), 1.0)
    samples = [sample for family in registry.collect() for sample in family.samples]
    return {sample.name: {*sample.labels} for sample in samples}


SERIES = exposed()


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_each_expression_uses_only_series_and_labels_that_are_exposed(expr: str) -> None:
    names = NAME.findall(expr)
    assert names
    assert {*names} <= {*SERIES}
    for name, selector in SELECTOR.findall(expr):
        assert {label for label, _ in MATCHER.findall(selector)} <= SERIES[name]
    for labels in BY.findall(expr):
        for name in names:
            assert {*labels.split(", ")} <= SERIES[name]


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_each_expression_asks_only_for_values_that_occur(expr: str) -> None:
    for label, values in MATCHER.findall(expr):
        if not values.startswith("$"):
            assert {*values.split("|")} <= WORDS[label]


@pytest.mark.parametrize("query", QUERIES)
def test_a_legend_names_labels_that_its_expression_keeps(query: Query) -> None:
    kept = {label for labels in BY.findall(query.expr) for label in labels.split(", ")}
    assert {*re.findall(r"\{\{(\w+)\}\}", query.legend)} == kept - {"le"}


def test_each_metric_is_in_a_panel() -> None:
    asked = {name for query in QUERIES for name in NAME.findall(query.expr)}
    plain = {re.sub("_(bucket|sum|count)$", "", name) for name in asked}
    assert plain == {metric.name for metric in METRICS}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_each_panel_asks_a_question_and_has_the_unit_of_its_metric(panel: Panel) -> None:
    assert panel.question.endswith("?")
    names = {
        re.sub("_(bucket|sum|count)$", "", n) for q in panel.queries for n in NAME.findall(q.expr)
    }
    units = {metric.unit for metric in METRICS if metric.name in names}
    shown = {"s": "seconds", "bytes": "bytes", "suffix: tokens/s": "tokens"}
    if panel.unit != "percentunit":
        assert units == {shown.get(panel.unit, "")}


def test_the_dashboard_places_each_panel_once_and_none_over_another() -> None:
    dashboard = json.loads(monitoring.render_dashboard())
    panels = dashboard["panels"]
    assert [p["title"] for p in panels if p["type"] != "row"] == [p.title for p in PANELS]
    assert len({p["id"] for p in panels}) == len(panels)
    cells = [
        (x, y)
        for p in panels
        for x in range(p["gridPos"]["x"], p["gridPos"]["x"] + p["gridPos"]["w"])
        for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])
    ]
    assert len({*cells}) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_the_dashboard_selects_by_variables_that_it_declares() -> None:
    text = monitoring.render_dashboard()
    declared = [variable["name"] for variable in json.loads(text)["templating"]["list"]]
    assert declared == ["datasource", "provider", "model"]
    used = {*re.findall(r"\$\{?([a-z_]+)", text)} - {"__rate_interval", "__all"}
    assert used == {*declared}


def test_a_yaml_parser_reads_the_rules_as_the_table_has_them() -> None:
    (group,) = yaml.safe_load(monitoring.render_alerts())["groups"]
    read = [
        (
            rule["alert"],
            rule["expr"],
            rule["for"],
            rule["labels"]["severity"],
            rule["annotations"]["summary"],
            rule["annotations"]["description"],
        )
        for rule in group["rules"]
    ]
    assert read == [(a.name, a.expr, a.hold, a.severity, a.summary, a.advice) for a in ALERTS]


def test_an_alert_fills_in_only_labels_that_its_expression_keeps() -> None:
    for alert in ALERTS:
        kept = {label for labels in BY.findall(alert.expr) for label in labels.split(", ")}
        assert {*re.findall(r"\$labels\.(\w+)", alert.summary)} == kept


def test_an_alert_points_to_panels_that_exist() -> None:
    for alert in ALERTS:
        named = re.findall(r"'([A-Z][^']*)'", alert.advice)
        assert {*named} <= {panel.title for panel in PANELS}


@pytest.mark.parametrize("name", ["alerts.yml", "dashboard.json"])
def test_the_files_are_those_of_the_table(name: str) -> None:
    make = {"alerts.yml": monitoring.render_alerts, "dashboard.json": monitoring.render_dashboard}
    assert (ROOT / "docs/monitoring" / name).read_text("utf-8") == make[name]()
