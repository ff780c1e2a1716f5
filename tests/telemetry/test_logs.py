"""Log lines say what was recovered and what was lost, in bounded number and without content."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import members
import pytest
from support.telemetry import POLICY, PROMPT, URL, answer, chat, refused

import tenuto
from tenuto.core.events.recovery import RetryEnded
from tenuto.telemetry import add_listener, logs, remove_listener
from tenuto.telemetry.logs import LEVELS, LINES, WINDOW_S, JsonFormatter, LogLines
from tenuto.turn.record.event_sender import RECOVERIES

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join([*members.SOURCES, str(ROOT / "tests")])
SAID = "An answer with a secret. "


class Kept(logging.Handler):
    """Keeps the records that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def records(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[logging.LogRecord]]:
    log, handler = logging.getLogger("tenuto"), Kept()
    log.addHandler(handler)
    # The bounds of the process have a clock of their own, and count the lines of every test.
    monkeypatch.setattr(logs, "DEFAULT", type(logs.DEFAULT)())
    with caplog.at_level(logging.INFO, "tenuto"):
        yield handler.records
    log.removeHandler(handler)


def levels(records: list[logging.LogRecord]) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage().partition(" (")[0]) for record in records]


@pytest.mark.behaviour("P2", "P6")
def test_a_turn_that_its_policy_ends_by_an_exception_has_a_line(records):
    policy = tenuto.Policy(decide=lambda decision: "no_such_rung")
    with pytest.raises(tenuto.PolicyError):
        chat(answer(SAID, stop="length"), policy=policy)
    assert levels(records) == [("WARNING", "turn partial: policy_error")]


@pytest.mark.behaviour("P6", "P8")
def test_a_healthy_turn_writes_nothing(records):
    chat(answer(SAID), on_event=LogLines())
    assert records == []


@pytest.mark.behaviour("P6")
def test_a_recovered_turn_writes_one_line_for_each_recovery(records):
    chat(answer(""), refused(503), answer(SAID), on_event=LogLines())
    assert levels(records) == [
        ("INFO", "retry recovered: completed"),
        ("INFO", "empty recovered: completed"),
    ]


@pytest.mark.behaviour("P6")
def test_a_turn_that_stays_cut_writes_a_warning_with_its_fields(records):
    chat(*[answer(SAID, stop="length")] * 9, on_event=LogLines())
    assert levels(records)[-2:] == [
        ("WARNING", f"continuation gave_up: {records[-1].tenuto_reason}"),
        ("WARNING", f"turn partial: {records[-1].tenuto_reason}"),
    ]
    fields: dict[str, Any] = vars(records[-1])
    assert fields["tenuto_kind"] == "turn"
    assert fields["tenuto_event"] == "turn_ended"
    assert fields["tenuto_stop"] == "max_tokens"
    assert fields["tenuto_recoveries"] == ["continuation"]
    assert fields["tenuto_model"] == "gpt-5"
    assert fields["tenuto_suppressed"] == 0


# --- without any listener -----------------------------------------------------------------------


ASKED = b'{"model":"gpt-5","messages":[{"role":"user","content":"Go."}]}'
CUT = answer(SAID, stop="length")
TURNS: dict[str, tuple[Any, ...]] = {
    "healthy": (answer(SAID),),
    "recovered twice": (answer(""), refused(503), answer(SAID)),
    "cut to the end": (CUT,) * 9,
    "refused": (refused(401),),
    "blocked": (answer(SAID, stop="content_filter"),),
}


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize("name", TURNS)
def test_a_turn_that_nobody_hears_of_has_the_lines_of_one_that_is_heard(name, records):
    chat(*TURNS[name], on_event=LogLines())
    heard = [told(record) for record in records]
    records.clear()
    chat(*TURNS[name])
    assert [told(record) for record in records] == heard
    assert bool(heard) is (name != "healthy")


def told(record: logging.LogRecord) -> dict[str, Any]:
    """All that a record says but its times and the id of its turn."""
    own = ("tenuto_turn", "tenuto_duration_s")
    fields = {k: v for k, v in vars(record).items() if k.startswith("tenuto_") and k not in own}
    return {"level": record.levelname, "logger": record.name, **fields}


@pytest.mark.behaviour("P6")
def test_a_turn_that_is_heard_has_its_lines_once(records):
    chat(*TURNS["cut to the end"], on_event=lambda event: None)
    assert [line[1].partition(":")[0] for line in levels(records)] == [
        "continuation gave_up",
        "turn partial",
    ]
    records.clear()
    own = LogLines()

    def several(event: tenuto.Event) -> None:
        own(event)

    for listener in (own, several):
        add_listener(listener)
        try:
            chat(*TURNS["cut to the end"], on_event=lambda event: None)
        finally:
            remove_listener(listener)
        assert len(records) == 2
        records.clear()


@pytest.mark.behaviour("P6")
def test_the_level_of_the_logger_chooses_the_lines(records):
    log = logging.getLogger("tenuto.turns")
    for level, count in ((logging.INFO, 2), (logging.WARNING, 0), (logging.CRITICAL, 0)):
        log.setLevel(level)
        try:
            chat(*TURNS["recovered twice"])
        finally:
            log.setLevel(logging.NOTSET)
        assert len(records) == count
        records.clear()


def test_what_nobody_meant_to_finish_is_no_warning(records):
    turn, reply = tenuto.sansio.Turn("POST", URL, [("x-tenuto", "off")], ASKED, policy=POLICY), None
    pieces = iter([*CUT.pieces, b""])
    while (command := turn.next(reply)) is not None:
        replies = {
            tenuto.sansio.SendRequest: lambda: CUT.head,
            tenuto.sansio.ReadMore: lambda: next(pieces),
        }
        reply = replies.get(type(command), lambda: None)()
    assert levels(records) == [("INFO", "turn left_alone: left_alone")]


def test_a_caller_who_leaves_is_told_nothing_of_the_turn(records):
    for listener in (None, LogLines()):
        turn = tenuto.sansio.Turn("POST", URL, [], ASKED, policy=POLICY, on_event=listener)
        turn.next()
        turn.close()
    assert records == []


def test_a_program_without_logging_sees_no_lines_and_still_its_own_mistakes() -> None:
    code = """
from support.telemetry import answer, chat
from tenuto import Policy, load_policy
load_policy(variables={"TENUTO_NO_SETTING": "1"})
chat(*[answer("One ", stop="length")] * 9)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = done.stderr.splitlines()
    assert "TENUTO_NO_SETTING is not a setting" in line


@pytest.mark.behaviour("N10")
def test_no_line_holds_content(records):
    chat(*[answer(SAID, stop="length")] * 9, on_event=LogLines())
    chat(*[refused(500)] * 9, on_event=LogLines())
    lines = [JsonFormatter().format(record) for record in records]
    assert len(lines) > 2
    assert not [line for line in lines if PROMPT in line or "secret" in line]


def test_every_result_of_a_recovery_has_a_level():
    results = {"recovered", "gave_up", "superseded", "cancelled"}
    assert {how for of, how in LEVELS if of == "recovery"} == results
    assert len(RECOVERIES) == 6


def retry(result: str = "recovered") -> RetryEnded:
    return RetryEnded(
        time=0.0,
        turn="t",
        provider="openai",
        model="gpt",
        attempt=2,
        result=result,
        reason="completed",
        attempts=1,
        duration_s=0.1,
        output_chars=0,
    )


@pytest.mark.behaviour("N10")
def test_lines_of_one_kind_are_bounded_and_the_next_says_how_many_were_left_out(records):
    clock = [0.0]
    hear = LogLines(now=lambda: clock[0])
    for _ in range(LINES + 7):
        hear(retry())
    hear(retry("gave_up"))
    assert len(records) == LINES + 1, "another kind has a bound of its own"
    clock[0] += WINDOW_S
    hear(retry())
    assert records[-1].tenuto_suppressed == 7
    assert "7 such lines before were left out" in records[-1].getMessage()
    hear(retry())
    assert records[-1].tenuto_suppressed == 0


def test_json_has_one_line_with_the_fields(records):
    chat(answer(""), answer(SAID), on_event=LogLines())
    (line,) = [JsonFormatter().format(record) for record in records]
    assert "\n" not in line
    read = json.loads(line)
    assert (read["level"], read["logger"], read["tenuto_kind"]) == ("INFO", "tenuto.turns", "empty")
    assert read["tenuto_result"] == "recovered"
