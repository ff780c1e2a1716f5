"""After a load of turns with known faults, all that listens agrees with each other and with what the
simulator itself has counted."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from support.asking.openai_chat import TOOLS
from support.asking.wrapping import QUICK, Wrapped

import tenuto
from tenuto.core.events.attempt import AttemptEnded, AttemptStarted, FaultReported, UnknownStopSeen
from tenuto.core.events.recovery import (
    ContinuationAttempt,
    EmptyRecovery,
    RecoveryEnded,
    RecoveryStarted,
    ToolPayloadRepair,
)
from tenuto.core.events.turn import TurnEnded
from tenuto.telemetry import add_listener, remove_listener
from tenuto.telemetry.event_files import EventFile, read_events
from tenuto.telemetry.logs import LogLines
from tenuto.telemetry.metrics import METRICS, Kind, Metrics
from tenuto.telemetry.prometheus import PrometheusMetrics
from tenuto.telemetry.tally import Tally
from tenuto_sim import CASES, Simulator
from tenuto_sim.exchange import Recorded

pytestmark = pytest.mark.slow

SECRET = "sk-planted-secret"
USAGE = {"stream_options": {"include_usage": True}}


class Kept(logging.Handler):
    """Keeps the records that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@dataclass
class Load:
    """What a load of turns left behind with everybody."""

    path: Path
    events: list[tenuto.Event] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    lines: Kept = field(default_factory=Kept)
    requests: list[Recorded] = field(default_factory=list)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def ask_every_case(asker: Wrapped) -> None:
    for number, case in enumerate(CASES.values()):
        way = ("sync", "async")[number % 2]
        for mode in sorted(case.modes):
            prompt = f"{SECRET} {asker.prompt_for(case)}"
            more: dict[str, Any] = {**case.request, **(USAGE if mode == "stream" else {})}
            more |= {"tools": TOOLS} if case.wants_tools else {}
            asker.ask(asker.history_for(case, prompt), mode, way, model=f"sim/{case.name}", **more)


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    made = Load(tmp_path_factory.mktemp("events") / "events.jsonl")
    log = logging.getLogger("tenuto")
    level, file = log.level, EventFile(made.path, max_bytes=1_000_000_000)
    lines = LogLines(lines=1_000_000)
    listeners: list[Callable[[tenuto.Event], None]] = [
        made.events.append,
        Metrics(made.tally),
        PrometheusMetrics(made.registry),
        file,
        lines,
    ]
    with ExitStack() as stack:
        stack.callback(file.close)
        for listener in listeners:
            add_listener(listener)
            stack.callback(remove_listener, listener)
        log.addHandler(made.lines)
        stack.callback(log.removeHandler, made.lines)
        log.setLevel(logging.INFO)
        stack.callback(log.setLevel, level)
        sim = stack.enter_context(Simulator(token_chars=40))
        asker = Wrapped(sim, tenuto.Policy(**QUICK), watched=False)
        stack.callback(asker.close)
        ask_every_case(asker)
        made.requests = [request for request in sim.requests if request.method == "POST"]
    return made


@pytest.mark.behaviour("P6")
def test_attempts_are_the_requests_that_the_simulator_got(load: Load) -> None:
    asked = Counter(request.json["model"] for request in load.requests)
    assert len(asked) == len(CASES)
    for model, count in asked.items():
        assert load.tally.total("tenuto_attempts_total", model=model) == count
        assert load.tally.total("tenuto_turn_attempts", model=model) == count
    ended = load.of(AttemptEnded)
    assert len(ended) == len(load.of(AttemptStarted)) == len(load.requests)
    # A status that the head of a response brought is the one that the simulator sent.
    told = [(event.model, event.status) for event in ended if event.status is not None]
    sent = [
        (request.json["model"], request.status)
        for request, event in zip(load.requests, ended, strict=True)
        if event.status is not None
    ]
    assert told == sent


@pytest.mark.behaviour("P6", "C19")
def test_billed_tokens_are_those_of_the_simulator_as_far_as_it_told_them(load: Load) -> None:
    pairs = list(zip(load.requests, load.of(AttemptEnded), strict=True))
    counted = [(asked, event.usage) for asked, event in pairs if event.usage is not None]
    assert len(counted) > len(pairs) / 2
    for asked, usage in counted:
        billed = (asked.input_tokens, asked.output_tokens)
        assert (usage.input_tokens, usage.output_tokens) == billed
    billed_in = sum(asked.input_tokens for asked, _ in counted)
    billed_out = sum(asked.output_tokens for asked, _ in counted)
    assert load.tally.total("tenuto_billed_tokens_total", direction="input") == billed_in
    assert load.tally.total("tenuto_billed_tokens_total", direction="output") == billed_out
    further = [(asked, event) for asked, event in pairs if event.usage and event.attempt > 1]
    for direction, name in (("input", "input_tokens"), ("output", "output_tokens")):
        spent = sum(getattr(asked, name) for asked, _ in further)
        assert load.tally.total("tenuto_recovery_tokens_total", direction=direction) == spent


@pytest.mark.behaviour("P6")
def test_the_metrics_are_what_the_events_say(load: Load) -> None:
    tally, ends = load.tally, load.of(TurnEnded)
    told = Counter((e.wire, e.status or "unread", e.reason) for e in ends)
    for (wire, outcome, reason), count in told.items():
        got = tally.total("tenuto_turns_total", wire=wire, outcome=outcome, reason=reason)
        assert got == count
    assert tally.total("tenuto_turns_total") == len(ends)
    assert tally.count("tenuto_turn_duration_seconds") == len(ends)
    continued = [e for e in ends if "continuation" in e.recoveries]
    assert tally.count("tenuto_continued_turn_duration_seconds") == len(continued) > 0
    assert tally.count("tenuto_held_back_bytes") == len([e for e in ends if e.stream])
    for name, kind in (
        ("tenuto_recoveries_started_total", RecoveryStarted),
        ("tenuto_recoveries_ended_total", RecoveryEnded),
        ("tenuto_continuations_total", ContinuationAttempt),
        ("tenuto_tool_repairs_total", ToolPayloadRepair),
        ("tenuto_empty_answers_total", EmptyRecovery),
        ("tenuto_unknown_stops_total", UnknownStopSeen),
        ("tenuto_faults_total", FaultReported),
    ):
        assert tally.total(name) == len(load.of(kind)) > 0, name
    started = Counter(kind for e in ends for kind in e.recoveries)
    for kind, count in started.items():
        assert tally.total("tenuto_recoveries_started_total", kind=kind) == count
        assert tally.total("tenuto_recoveries_ended_total", kind=kind) == count


@pytest.mark.behaviour("P6")
def test_prometheus_shows_what_was_tallied(load: Load) -> None:
    shown = {
        (sample.name, *sorted(without_bound(sample.labels)), bound(sample.labels)): sample.value
        for family in load.registry.collect()
        for sample in family.samples
    }
    for metric in METRICS:
        for series in load.tally.series(metric.name):
            labels = sorted(series.labels.items())
            if metric.kind is Kind.COUNTER:
                assert shown[metric.name, *labels, None] == series.total
                continue
            assert shown[f"{metric.name}_count", *labels, None] == series.count
            assert shown[f"{metric.name}_sum", *labels, None] == pytest.approx(series.total)
            below = 0
            for most, inside in zip((*metric.buckets, inf), series.buckets, strict=True):
                below += inside
                assert shown[f"{metric.name}_bucket", *labels, most] == below


def bound(labels: dict[str, str]) -> float | None:
    return float(labels["le"]) if "le" in labels else None


def without_bound(labels: dict[str, str]) -> list[tuple[str, str]]:
    return [pair for pair in labels.items() if pair[0] != "le"]


@pytest.mark.behaviour("P6")
def test_the_file_holds_the_same_events(load: Load) -> None:
    assert [*read_events(load.path)] == load.events


@pytest.mark.behaviour("P6")
def test_each_recovery_and_each_unfinished_turn_has_its_line(load: Load) -> None:
    kinds = Counter(
        (record.__dict__["tenuto_event"], record.__dict__["tenuto_turn"])
        for record in load.lines.records
        if "tenuto_event" in record.__dict__
    )
    unfinished = [e for e in load.of(TurnEnded) if e.status in ("partial", "failed")]
    wanted = Counter((e.name, e.turn) for e in [*load.of(RecoveryEnded), *unfinished])
    assert kinds == wanted


@pytest.mark.behaviour("N10")
def test_nothing_that_left_holds_the_planted_secret(load: Load) -> None:
    labels = [
        value
        for metric in METRICS
        for series in load.tally.series(metric.name)
        for value in series.labels.values()
    ]
    lines = [f"{record.getMessage()} {record.__dict__}" for record in load.lines.records]
    left = [load.path.read_text("utf-8"), *labels, *lines]
    assert load.requests
    assert all(SECRET in request.body.decode() for request in load.requests)
    assert not [text for text in left if SECRET in text]
