"""A turn that was left in a cycle ends when the collector runs, wherever its thread is then: also within
a listener that holds its own lock."""

from __future__ import annotations

import gc
import json

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.telemetry import URL

import tenuto
from tenuto.core.events.turn import HistoryRepaired, TurnStarted
from tenuto.telemetry import Metrics, Tally
from tenuto.telemetry.opentelemetry import OpenTelemetry
from tenuto.watch import Board

LEFT = 10
BODY = json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": "Why?"}]}).encode()


class Collecting(str):
    """A name. Wherever it is looked up, the collector runs and ends a turn that was left."""

    __slots__ = ("left",)
    left: list[object]

    def __hash__(self) -> int:
        if self.left:
            self.left.pop()
            gc.collect()
        return super().__hash__()


def left_turn(hear: tenuto.OnEvent) -> object:
    """A turn that nobody goes on with, and that the collector alone can free."""
    turn = tenuto.sansio.Turn("POST", URL, [], BODY, on_event=hear)
    turn.next()
    cycle: list[object] = [turn]
    cycle.append(cycle)
    return cycle


@pytest.mark.timeout(
    20, method="thread"
)  # a signal cannot wake a thread that waits in the collector
@pytest.mark.behaviour("C23", "P6")
@pytest.mark.parametrize("listens", ["board", "metrics", "opentelemetry"])
def test_a_turn_that_the_collector_ends_within_a_listener_is_heard_by_it(listens: str) -> None:
    board, tally = Board(), Tally()
    tracers, exporter = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    hear: tenuto.OnEvent = {
        "board": board, "metrics": Metrics(tally), "opentelemetry": OpenTelemetry(tracers),
    }[listens]  # fmt: skip
    name = Collecting("t")
    name.left = []
    name.left += [left_turn(hear) for _ in range(LEFT)]
    hear(
        TurnStarted(
            time=0.0, turn=name, provider=name, model=name, attempt=0,
            wire="openai-chat", stream=False, host="h",
        )
    )  # fmt: skip
    hear(HistoryRepaired(time=0.0, turn=name, provider=name, model=name, attempt=0, repairs=("r",)))
    ended = LEFT - len(name.left)
    assert ended > 1
    heard = {
        "board": board.totals()["turns"],
        "metrics": tally.total("tenuto_turns_total", reason="cancelled"),
        "opentelemetry": sum(span.name != "POST" for span in exporter.get_finished_spans()),
    }
    assert heard[listens] == ended
