"""What the page shows is what the events said: turns, attempts, counts and minutes, in bounds."""

from __future__ import annotations

import dataclasses
import json
import threading
from typing import Any

import pytest
from support.telemetry import answer, chat, refused

import tenuto
from tenuto.core.answer.signals import Usage
from tenuto.core.events.attempt import AttemptEnded
from tenuto.core.events.event import Event
from tenuto.core.events.kinds import event_from_dict
from tenuto.core.events.turn import TurnEnded, TurnStarted
from tenuto.telemetry import Metrics, Tally
from tenuto.watch import board as board_module
from tenuto.watch import turn_seen
from tenuto.watch.board import HEADLINE, Board


def started(turn: str, time: float = 0.0, model: str = "gpt") -> Event:
    return TurnStarted(
        time=time, turn=turn, provider="openai", model=model, attempt=0,
        wire="openai-chat", stream=False, host="api.openai.com",
    )  # fmt: skip


def attempt_ended(turn: str, time: float, number: int = 1, model: str = "gpt") -> Event:
    return AttemptEnded(
        time=time, turn=turn, provider="openai", model=model, attempt=number, duration_s=1.0,
        first_byte_s=None, first_piece_s=None, status=200, lost=None, stop="end_turn",
        outcome="done", usage=None,
    )  # fmt: skip


def ended(turn: str, time: float = 0.0) -> TurnEnded:
    return TurnEnded(
        time=time, turn=turn, provider="openai", model="gpt", attempt=1, status="complete",
        reason="completed", stop="end_turn", attempts=1, suggestion="none", advice="", usage=(None,),
        recovery_input_tokens=0, recovery_output_tokens=0, rungs=(), left_out=(), held_bytes=0,
        duration_s=1.0,
    )  # fmt: skip


def test_a_number_that_was_not_counted_is_none_and_not_0() -> None:
    board = Board()
    counted = (Usage(output_tokens=5), None, Usage(output_tokens=7))
    board(dataclasses.replace(ended("t"), usage=counted, attempts=3))
    (turn,) = board.turns()
    assert (turn["input_tokens"], turn["output_tokens"]) == (None, 12)


def turns_of(board: Board) -> list[str]:
    return [turn["turn"] for turn in board.turns()]


@pytest.mark.behaviour("P6")
def test_a_continued_turn_is_told_with_its_attempts_decisions_and_recovery() -> None:
    board = Board()
    chat(answer("One ", stop="length"), answer("two.", tokens=(14, 3)), on_event=board)
    (turn,) = board.turns()
    assert (turn["state"], turn["attempts"], turn["stop"]) == ("complete", 2, "end_turn")
    assert (turn["input_tokens"], turn["output_tokens"]) == (24, 8)
    assert [bar["stop"] for bar in turn["bars"]] == ["max_tokens", "end_turn"]
    told = board.turn(turn["turn"])
    assert told is not None
    first, second = told["attempts"]
    assert first["decision"]["raw"] == "length"
    assert first["decision"]["rung"] == second["request"]["rung"] != ""
    assert second["request"]["recovery"] == "continuation"
    (recovery,) = told["recoveries"]
    assert (recovery["kind"], recovery["end"]["result"]) == ("continuation", "recovered")
    assert told["end"]["reason"] == "completed"


@pytest.mark.behaviour("P6")
def test_the_sums_are_those_of_the_metrics() -> None:
    board, tally = Board(), Tally()
    metrics = Metrics(tally)

    def hear(event: tenuto.Event) -> None:
        board(event)
        metrics(event)

    chat(answer("One.", stop="length"), answer(" Two."), on_event=hear)
    chat(refused(500), on_event=hear)
    chat(answer("One.", stop="odd"), on_event=hear, model="other")
    totals = board.totals()
    assert totals == {
        **{name: int(tally.total(metric, **labels)) for name, metric, labels in HEADLINE},
        "running": 0,
    }
    assert totals["turns"] == 3
    assert totals["unknown_stops"] == totals["continuations"] == totals["faults"] == 1
    by_name = {metric["name"]: metric["series"] for metric in board.metrics()}
    assert sum(series["total"] for series in by_name["tenuto_attempts_total"]) == 4
    stops = {(each["model"], each["stop"]): 0 for each in board.stops()}
    for each in board.stops():
        stops[each["model"], each["stop"]] += each["count"]
    assert stops["gpt-5", "max_tokens"] == 1
    assert stops["other", "unknown"] == 1
    assert sum(stops.values()) == 4


def test_a_reader_is_told_only_what_changed() -> None:
    board = Board()
    board(started("a"))
    whole = board.changes()
    assert (whole["whole"], [turn["turn"] for turn in whole["turns"]]) == (True, ["a"])
    assert board.changes(whole["sequence"])["turns"] == []
    board(started("b"))
    board(attempt_ended("b", 61.0))
    board(ended("a"))
    told = board.changes(whole["sequence"])
    assert not told["whole"]
    assert {turn["turn"]: turn["state"] for turn in told["turns"]} == {
        "a": "complete",
        "b": "running",
    }
    assert told["stops"] == [{"minute": 60, "model": "gpt", "stop": "end_turn", "count": 1}]
    assert board.changes(told["sequence"])["stops"] == []
    assert board.changes(99)["whole"], "a number that was never given means nothing"


def test_the_oldest_turn_that_has_ended_goes_first_and_readers_are_told() -> None:
    board = Board(most_turns=2)
    for event in (started("a"), started("b"), ended("b")):
        board(event)
    known = board.changes()["sequence"]
    board(started("c"))
    assert turns_of(board) == ["a", "c"]
    assert board.changes(known)["gone"] == ["b"]
    board(started("d"))
    assert turns_of(board) == ["c", "d"], "none has ended, so the oldest goes"
    for number in range(20):
        board(started(str(number)))
    assert board.changes(known)["whole"], "it no longer knows all that went"
    assert board.totals()["turns"] == 1, "counts go on over all turns"


def test_what_is_kept_of_a_turn_and_of_minutes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_seen, "MOST_ATTEMPTS", 3)
    monkeypatch.setattr(board_module, "MOST_MINUTES", 4)
    board = Board()
    for number in range(1, 8):
        board(attempt_ended("a", 60.0 * number, number))
    told = board.turn("a")
    assert told is not None
    assert [attempt["number"] for attempt in told["attempts"]] == [1, 2, 3]
    assert told["summary"]["attempts"] == 7
    assert [each["minute"] for each in board.stops()] == [240, 300, 360, 420]
    with pytest.raises(ValueError, match="at least 1 turn"):
        Board(most_turns=0)


def test_events_of_many_threads_are_all_counted() -> None:
    board = Board(most_turns=10)

    def turns(thread: int) -> None:
        for number in range(50):
            board(started(f"{thread}.{number}"))
            board(ended(f"{thread}.{number}"))

    threads = [threading.Thread(target=turns, args=(each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert board.totals()["turns"] == 200
    assert len(board.turns()) == 10
    assert board.sequence == 400


LINE = json.dumps(ended("t", 5.0).as_dict())


def changed(**values: Any) -> str:
    return json.dumps(json.loads(LINE) | values)


@pytest.mark.parametrize(
    "line",
    [
        "no json", "[1]", "{}", '{"name": "turn_ended"}', "[" * 5_000, changed(time=None), changed(time=-1),
        LINE.replace('"time": 5.0', '"time": NaN'), changed(time=1e20), changed(turn=5), changed(usage=1),
        changed(duration_s=None), changed(reason=["a"]), changed(model="x" * 70_000),
        LINE.replace('"completed"', r'"\ud800"'), changed(recovery_input_tokens=10**400),
    ],
    ids=range(16),
)  # fmt: skip
def test_a_line_with_odd_values_is_no_event_and_harms_nothing(line: str) -> None:
    board = Board()
    assert not board.read_line(line)
    assert board.read_line(LINE)
    assert json.dumps(board.changes(), allow_nan=False)


def test_an_event_of_a_later_version_is_kept_with_its_fields() -> None:
    board = Board()
    assert board.read_line(changed(name="from_the_future", new={"a": 1}))
    told = board.turn("t")
    assert told is not None
    assert told["events"][0]["name"] == "from_the_future"
    assert told["events"][0]["data"]["new"] == {"a": 1}
    assert event_from_dict(json.loads(LINE)) == ended("t", 5.0)


def test_notes_are_bounded_and_counted() -> None:
    board = Board()
    for number in range(30):
        board.note(f"note {number}\n")
        board.note("note 0\n")
    notes = board.changes()["notes"]
    assert len(notes) == board_module.MOST_NOTES
    assert notes["note 0\\n"] == 31
