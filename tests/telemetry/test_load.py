"""What is told of a load of turns with known faults agrees, by every way that it is told, and with
what the far side counted itself."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from support import load
from support.collector import Collector, plain
from support.leaving import Leaving
from support.load import Asked, askers, drawn, prompt_of
from support.pairing import param

import tenuto
from tenuto.core.events.attempt import AttemptEnded
from tenuto.core.events.recovery import RecoveryEnded
from tenuto.core.events.turn import TurnEnded, TurnStarted
from tenuto.telemetry.event_files import read_events
from tenuto.telemetry.logs import WINDOW_S
from tenuto_sim import Simulator
from tenuto_sim.exchange import Recorded

Counted = Counter[tuple[str, ...]]
PROGRAM = "program"
"""The tracer of the program, whose spans are around the turns and named by wire and prompt."""


def around(out: Leaving, wire: str, prompt: str) -> AbstractContextManager[object]:
    return out.tracers.get_tracer(PROGRAM).start_as_current_span(f"{wire} {prompt}")


def ask(out: Leaving, asker: Any, wire: str, mode: str, way: str, fault: str) -> None:
    prompt = prompt_of(asker, wire, fault)
    with around(out, wire, prompt):
        load.ask(asker, wire, mode, way, fault, prompt)


async def ask_in_task(out: Leaving, asker: Any, wire: str, mode: str, fault: str) -> None:
    prompt = prompt_of(asker, wire, fault)
    with around(out, wire, prompt):
        await load.ask_in_task(asker, wire, mode, fault, prompt)


def in_sequence(sim: Simulator, out: Leaving, turns: list[Asked]) -> None:
    """Ask one turn after another."""
    with askers(sim, out) as by_wire:
        for wire, *rest in turns:
            ask(out, by_wire[wire], wire, *rest)


THREADS = 4
TASKS = 6
"""So many tasks of a thread are under way at once. With many more, connections break that the
simulator has no time to accept, and no request of theirs is counted there."""


def at_once(sim: Simulator, out: Leaving, turns: list[Asked]) -> None:
    """Ask in several threads at once; in each, the async turns of a wire are tasks at once."""

    def ask_part(part: list[Asked]) -> None:
        tasks = defaultdict(list)
        with askers(sim, out) as by_wire:
            for wire, mode, way, fault in part:
                if way == "async":
                    tasks[wire].append((mode, fault))
                else:
                    ask(out, by_wire[wire], wire, mode, way, fault)
            for wire, asked in tasks.items():
                asker = by_wire[wire]
                asker.loop.run_until_complete(
                    _all([ask_in_task(out, asker, wire, *each) for each in asked])
                )

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(ask_part, [turns[first::THREADS] for first in range(THREADS)]))


async def _all(asked: list[Any]) -> None:
    free = asyncio.Semaphore(TASKS)

    async def one(each: Any) -> None:
        async with free:
            await each

    await asyncio.gather(*map(one, asked))


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


Spans = list[tuple[str, dict[str, Any]]]
"""Names of spans, with their attributes."""


def in_memory(out: Leaving) -> Spans:
    return [(span.name, dict(span.attributes or {})) for span in out.spans]


def collected(collector: Collector) -> Spans:
    return [(span.name, plain(span.attributes)) for span in collector.spans]


def of_spans(spans: Spans) -> Told:
    """Turns and attempts have a span each; tokens are those of the turns' spans."""
    turns = [each for _, each in spans if "tenuto.outcome" in each]
    tokens: Counted = Counter()
    for side in ("input", "output"):
        tokens[side,] = sum(each.get(f"tenuto.billed.{side}_tokens", 0) for each in turns)
    return {
        TURNS: Counter((each["tenuto.outcome"], each["tenuto.reason"]) for each in turns),
        ATTEMPTS: Counter({(): sum(name == "POST" for name, _ in spans)}),
        TOKENS: tokens,
    }


def of_meters(out: Leaving) -> Told:
    tokens: Counted = Counter()
    for point in out.points["tenuto.tokens.billed"]:
        tokens[point.attributes["gen_ai.token.type"],] += point.value
    return {TOKENS: tokens}


def of_collected_meters(collector: Collector) -> Told:
    tokens: Counted = Counter()
    for attributes, value in collector.sums("tenuto.tokens.billed"):
        tokens[attributes["gen_ai.token.type"],] += value
    return {TOKENS: tokens}


def prompts_of(collector: Collector) -> dict[str, str]:
    """Wire and prompt of each turn, by its id: the program's span around it is named by them."""
    around = {span.span_id: span.name for span in collector.spans}
    turns = [(span, plain(span.attributes)) for span in collector.spans]
    return {
        told["tenuto.turn"]: around[span.parent_span_id]
        for span, told in turns
        if "tenuto.turn" in told
    }


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


def in_order(events: list[tenuto.Event]) -> dict[str, list[tenuto.Event]]:
    """The events of each turn: those of turns at the same time are mixed."""
    found = defaultdict(list)
    for event in events:
        found[event.turn].append(event)
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
    ("turns", "how"),
    [
        param(100, at_once, heavy=False, id="100-at-once"),
        param(1_000, at_once, heavy=True, id="1000-at-once"),
        param(1_000, in_sequence, heavy=True, id="1000-in-sequence"),
    ],
)
def test_all_that_is_told_of_a_load_agrees(turns: int, how: Any, tmp_path: Path) -> None:
    clock = [0.0]
    with Simulator(token_chars=40) as sim, Collector() as collector:
        out = Leaving(tmp_path, collector, now=lambda: clock[0])
        with out.heard():
            how(sim, out, drawn(turns))
            asked = list(sim.requests)
            events = list(out.events)
            last_lines = with_lines(events)
            clock[0] += WINDOW_S
            for event in last_lines.values():
                out.lines(event)  # its line says how many were left out before
        out.close()
        collector.flush()
    assert collector.wrong == []
    told = of_events(events)
    assert sum(isinstance(event, TurnStarted) for event in events) == turns
    assert sum(told[TURNS].values()) == turns
    assert told[ATTEMPTS][()] == len(asked) > turns
    assert of_tally(out) == told
    assert of_prometheus(out) == told
    assert of_events(list(read_events(out.path))) == told
    assert in_order(list(read_events(out.path))) == in_order(events)
    spans = in_memory(out), collected(collector)
    for way in (*map(of_spans, spans), of_meters(out), of_collected_meters(collector)):
        assert way == {what: told[what] for what in way}
    unfinished: Counted = Counter()
    for (status, _), count in told[TURNS].items():
        if status in ("partial", "failed"):
            unfinished["turn", status] += count
    assert of_lines(out) - Counter(list(last_lines)) == told[RECOVERED] + unfinished
    prompts = prompts_of(collector)
    assert len(prompts) == len(set(prompts.values())) == turns  # each below its own caller
    bills: Counted = Counter()
    for turn, prompt in prompts.items():
        of_turn = [each for each in asked if f"{each.wire} {each.prompt}" == prompt]
        ended = [e for e in events if isinstance(e, AttemptEnded) and e.turn == turn]
        bills += check_bill(of_turn, ended)
    assert bills == told[TOKENS]
