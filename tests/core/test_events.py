"""Events and the report are plain values."""

from __future__ import annotations

import json

import pytest

from tenuto.core.advice import ADVICE
from tenuto.core.events import EVENTS, Event, Report
from tenuto.core.signals import Usage


@pytest.mark.behaviour("P6")
def test_the_events_of_a_continued_turn_are_there_with_their_fields() -> None:
    wanted = {
        "stop_reason_observed": {"reason", "raw", "iteration"},
        "continuation_attempt": {"index", "output_tokens", "output_chars", "attempts_left"},
        "continuation_terminated": {"reason"},
        "tool_payload_repair": {"issue", "attempted", "outcome"},
        "empty_recovery": {"rung", "keys", "tools", "after_tool_result"},
        "history_repaired": {"repairs"},
    }
    for name, fields in wanted.items():
        assert fields <= set(EVENTS[name])


def test_an_event_is_ready_for_json() -> None:
    event = Event("fault", "t", "openai", "gpt", {"kind": "server"})
    assert json.loads(json.dumps(event.as_dict())) == {
        "name": "fault",
        "turn": "t",
        "provider": "openai",
        "model": "gpt",
        "data": {"kind": "server"},
    }


@pytest.mark.behaviour("P1")
def test_a_report_counts_its_attempts_and_knows_its_advice() -> None:
    report = Report("partial", "retry_limit", None, (Usage(1, 2), None), "increase_budget")
    assert report.attempts == 2
    assert report.advice == ADVICE["retry_limit"]
    assert Report("failed", "no such reason", None, (), "stop").advice == ""
