"""What is told of a load of turns with known faults agrees, by every way that it is told, and with
what the far side counted itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from support.leaving import Leaving
from support.load import ask, askers, drawn
from support.pairing import param

import tenuto
from tenuto.core.events import AttemptEnded, RecoveryEnded, TurnEnded, TurnStarted
from tenuto.sim import Simulator
from tenuto.sim.exchange import Recorded
from tenuto.telemetry.event_files import read_events
from tenuto.telemetry.logs import WINDOW_S

Counted = Counter[tuple[str, ...]]

# --- what each way tells -------------------------------------------------------------------------

TURNS, ATTEMPTS, RECOVERED, TOKENS = "turns", "attempts", "recoveries", "tokens"
Told = dict[str, Counted]


def of_events(events: list[tenuto.Event]) -> Told:
    ended = [event for event in events if isinstance(event, TurnEnded)]
    over = [event for event in events if isinstance(event, RecoveryEnded)]
    tokens: Counted = Counter()
    for usage in (usage for event in ended for usage in event.usage if usage is not None):
        tokens["input",] += usage.input_tokens or 0
        tokens["output",] += usage.output_tokens or 0
    return {
        TURNS: Counter((event.status or "unread", event.reason) for event in ended),
        ATTEMPTS: Counter({(): sum(isinstance(event, AttemptEnded) for event in events)}),
        RECOVERED: Counter((event.KIND, event.result) for event in over),
        TOKENS: tokens,
    }


ROWS = {
    TURNS: ("tenuto_turns_total", ("outcome", "reason")),
    ATTEMPTS: ("tenuto_attempts_total", ()),
    RECOVERED: ("tenuto_recoveries_ended_total", ("kind", "result")),
    TOKENS: ("tenuto_billed_tokens_total", ("direction",)),
}
"""Metrics and the labels that are compared."""


def of_tally(out: Leaving) -> Told:
    told: Told = {}
    for what, (name, labels) in ROWS.items():
        told[what] = Counter()
        for series in out.tally.series(name):
            told[what][tuple(series.labels[label] for label in labels)] += int(series.total)
    return told


def of_prometheus(out: Leaving) -> Told:
    told: Told = {what: Counter() for what in ROWS}
    samples = [sample for family in out.registry.collect() for sample in family.samples]
    for what, (name, labels) in ROWS.items():
        for sample in samples:
            if sample.name == name:
                told[what][tuple(sample.labels[label] for label in labels)] += int(sample.value)
    return told


def of_spans(out: Leaving) -> Told:
    """Turns and attempts have a span each; tokens are those of the turns' spans."""
    given: list[dict[str, Any]] = [dict(span.attributes or {}) for span in out.spans]
    turns = [each for each in given if "tenuto.outcome" in each]
    tokens: Counted = Counter()
    for side in ("input", "output"):
        tokens[side,] = sum(each.get(f"tenuto.billed.{side}_tokens", 0) for each in turns)
    return {
        TURNS: Counter((each["tenuto.outcome"], each["tenuto.reason"]) for each in turns),
        ATTEMPTS: Counter({(): sum(span.name == "POST" for span in out.spans)}),
        TOKENS: tokens,
    }


def of_meters(out: Leaving) -> Told:
    tokens: Counted = Counter()
    for point in out.points["tenuto.tokens.billed"]:
        tokens[point.attributes["gen_ai.token.type"],] += point.value
    return {TOKENS: tokens}


def of_lines(out: Leaving) -> Counted:
    """Recoveries and unfinished turns, with the lines that were left out."""
    told: Counted = Counter()
    for record in map(vars, out.records.kept):
        if (kind := record.get("tenuto_kind")) is not None:
            how = record["tenuto_status"] if kind == "turn" else record["tenuto_result"]
            told[kind, how] += 1 + record["tenuto_suppressed"]
    return told


def with_lines(events: list[tenuto.Event]) -> dict[tuple[str, ...], tenuto.Event]:
    """The last event of each kind that has lines."""
    found: dict[tuple[str, ...], tenuto.Event] = {}
    for event in events:
        if isinstance(event, RecoveryEnded):
            found[event.KIND, event.result] = event
        elif isinstance(event, TurnEnded) and event.status in ("partial", "failed"):
            found["turn", event.status] = event
    return found


def check_bill(asked: list[Recorded], ended: list[AttemptEnded]) -> Counted:
    """Hold each request's usage to what the simulator billed, and return what it billed and told.

    An answer that came to its end tells all. One that broke off tells what stood in it by then: the
    first event of Anthropic's streams has the input tokens, and one output token.
    """
    tokens: Counted = Counter()
    for billed, event in zip(asked, ended, strict=True):
        usage, broke_off = event.usage, event.stop in ("dropped", "error")
        if usage is None:
            assert broke_off or "no_usage" in event.model or event.status != 200, event
            continue
        assert usage.input_tokens == billed.input_tokens, event
        output = usage.output_tokens or 0
        most = max(billed.output_tokens, 1) if broke_off else billed.output_tokens
        assert output <= most if broke_off else output == most, event
        tokens["input",] += billed.input_tokens
        tokens["output",] += output if broke_off else billed.output_tokens
    return tokens


@pytest.mark.behaviour("P6", "C19")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "turns",
    [param(100, heavy=False, id="100"), param(1_000, heavy=True, id="1000")],
)
def test_all_that_is_told_of_a_load_agrees(turns: int, tmp_path: Path) -> None:
    clock = [0.0]
    out = Leaving(tmp_path, now=lambda: clock[0])
    load = drawn(turns)
    with Simulator(token_chars=40) as sim, out.heard():
        with askers(sim, out) as by_wire:
            for wire, *rest in load:
                ask(by_wire[wire], wire, *rest)
        asked = list(sim.requests)
        events = list(out.events)
        last_lines = with_lines(events)
        clock[0] += WINDOW_S
        for event in last_lines.values():
            out.lines(event)  # its line says how many were left out before
    out.close()
    told = of_events(events)
    assert sum(isinstance(event, TurnStarted) for event in events) == turns
    assert sum(told[TURNS].values()) == turns
    assert told[ATTEMPTS][()] == len(asked) > turns
    assert of_tally(out) == told
    assert of_prometheus(out) == told
    assert of_events(list(read_events(out.path))) == told
    assert list(read_events(out.path)) == events
    for way in (of_spans(out), of_meters(out)):
        assert way == {what: told[what] for what in way}
    unfinished: Counted = Counter()
    for (status, _), count in told[TURNS].items():
        if status in ("partial", "failed"):
            unfinished["turn", status] += count
    assert of_lines(out) - Counter(list(last_lines)) == told[RECOVERED] + unfinished
    ended = [event for event in events if isinstance(event, AttemptEnded)]
    assert check_bill(asked, ended) == told[TOKENS]
