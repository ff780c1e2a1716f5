"""A report as text, as plain values, and in rich."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import Confidence, Stop, StopReason
from tenuto.core.events.report import Report

STOP = Stop(StopReason.MAX_TOKENS, "length", "choices[0].finish_reason", None, Confidence.HIGH)
CUT = Report(
    "partial",
    "retry_limit",
    STOP,
    (Usage(30, 7), None, Usage(44, None)),
    "increase_budget",
    ("continue_with_hint", "continue_with_hint"),
    (),
    "7f01",
    "continue_with_hint",
)
LINES = [
    "partial: retry limit (stop length)",
    "3 attempts, 74 input tokens, 7 output tokens",
    "Raise max_tokens, or let continuation_max_attempts be larger.",
]


@pytest.mark.behaviour("P1")
def test_a_person_reads_how_a_turn_ended_in_three_lines() -> None:
    assert str(CUT).splitlines() == LINES


@pytest.mark.behaviour("P1")
def test_rich_shows_the_same_lines() -> None:
    page = io.StringIO()
    Console(file=page, width=100).print(CUT)
    assert page.getvalue().splitlines() == LINES


def test_rich_takes_no_stop_value_for_its_markup() -> None:
    page = io.StringIO()
    stop = Stop(StopReason.UNKNOWN, "[bold]x[/nothing]")
    Console(file=page, width=100).print(Report("complete", "completed", stop, (), "none"))
    assert "(stop [bold]x[/nothing])" in page.getvalue()


@pytest.mark.behaviour("P1")
def test_a_report_is_plain_values_for_json() -> None:
    told = CUT.as_dict()
    assert json.loads(json.dumps(told)) == told
    assert (told["turn"], told["overridden"], told["attempts"]) == (
        "7f01",
        "continue_with_hint",
        3,
    )
    assert told["stop"]["raw"] == "length"
    assert told["usage"][0] == {"input_tokens": 30, "output_tokens": 7, "reasoning_tokens": None}
    assert told["usage"][1] is None
    assert (told["input_tokens"], told["output_tokens"]) == (74, 7)


@pytest.mark.behaviour("P1")
def test_what_nobody_counted_is_not_said_to_be_nothing() -> None:
    report = Report("failed", "empty_output", None, (None,), "retry")
    assert report.as_dict()["output_tokens"] is None
    assert str(report).splitlines()[:2] == ["failed: empty output", "1 attempt"]


def test_a_stop_value_of_a_provider_cannot_add_a_line() -> None:
    report = Report("complete", "completed", Stop(StopReason.UNKNOWN, "a\nb"), (), "none")
    assert str(report).splitlines() == [r"complete: completed (stop a\nb)", "0 attempts"]
