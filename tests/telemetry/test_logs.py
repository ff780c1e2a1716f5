"""Log lines say what was recovered and what was lost, in bounded number and without content."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from support.telemetry import PROMPT, answer, chat, refused

from tenuto.core.events import RetryEnded
from tenuto.telemetry.logs import LEVELS, LINES, WINDOW_S, JsonFormatter, LogLines
from tenuto.turn.event_sender import RECOVERIES

SAID = "An answer with a secret. "


class Kept(logging.Handler):
    """Keeps the records that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def records(caplog: pytest.LogCaptureFixture) -> Iterator[list[logging.LogRecord]]:
    log, handler = logging.getLogger("tenuto"), Kept()
    log.addHandler(handler)
    with caplog.at_level(logging.INFO, "tenuto"):
        yield handler.records
    log.removeHandler(handler)


def levels(records: list[logging.LogRecord]) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage().partition(" (")[0]) for record in records]


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
    assert (read["level"], read["logger"], read["tenuto_kind"]) == ("INFO", "tenuto", "empty")
    assert read["tenuto_result"] == "recovered"
