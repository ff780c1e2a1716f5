"""Events and the report are plain values."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from tenuto.command_kit.docstrings import attributes
from tenuto.core.answer.signals import Usage
from tenuto.core.events import attempt as attempt_events
from tenuto.core.events import recovery as recovery_events
from tenuto.core.events import turn as turn_events
from tenuto.core.events.advice import ADVICE
from tenuto.core.events.attempt import FaultReported
from tenuto.core.events.event import Event, own_fields
from tenuto.core.events.kinds import EVENTS, UnknownEvent, event_from_dict
from tenuto.core.events.report import Report
from tenuto.core.events.turn import TurnEnded


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
    for name, named in wanted.items():
        assert named <= {*own_fields(EVENTS[name])}


def test_every_event_has_its_own_name_and_every_field_a_meaning() -> None:
    for name, kind in EVENTS.items():
        assert name == kind.NAME
        kinds = [each for each in kind.__mro__ if each is not object]
        meanings = {field for each in kinds for field in attributes(each.__doc__)}
        assert meanings == {field.name for field in fields(kind)}
    assert len(EVENTS) == len(set(EVENTS.values()))


def test_no_kind_of_event_is_missing_among_all_events() -> None:
    defined = {
        kind
        for module in (attempt_events, recovery_events, turn_events)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Event) and kind.NAME
    }
    assert defined == set(EVENTS.values())


FAULT: dict[str, object] = {
    "version": 1,
    "name": "fault",
    "time": 1.5,
    "turn": "t",
    "provider": "openai",
}
FAULT |= {"model": "gpt", "attempt": 2, "kind": "server", "code": "", "status": 500}
FAULT |= {"retryable": True, "wait_s": 0.5, "keys": ["user"], "setting": None}


def test_an_event_is_ready_for_json_and_read_back() -> None:
    event = event_from_dict(FAULT)
    assert isinstance(event, FaultReported)
    assert isinstance(event, Event)
    assert (event.name, event.attempt, event.keys) == ("fault", 2, ("user",))
    assert json.loads(json.dumps(event.as_dict())) == FAULT
    assert event.data == {key: FAULT[key] for key in own_fields(FaultReported)}


def test_the_tokens_of_attempts_are_read_back() -> None:
    usage = Usage(3, 4)
    told = [None, {"input_tokens": 3, "output_tokens": 4, "from_the_future": 5}]
    wanted = dict.fromkeys(own_fields(TurnEnded)) | {"usage": told}
    event = event_from_dict({**FAULT, "name": "turn_ended", **wanted})
    assert isinstance(event, TurnEnded)
    assert event.usage == (None, usage)
    assert event.as_dict()["usage"][1]["reasoning_tokens"] is None


def test_an_event_of_a_later_version_is_read_as_far_as_it_is_known() -> None:
    later = {**FAULT, "version": 9, "colour": "red"}
    assert event_from_dict(later) == event_from_dict(FAULT)
    unknown = event_from_dict({**later, "name": "painted"})
    assert isinstance(unknown, UnknownEvent)
    assert (unknown.name, unknown.turn, unknown.data["colour"]) == ("painted", "t", "red")
    assert unknown.as_dict() == {**later, "name": "painted", "version": 1}


@pytest.mark.parametrize("lacking", ["name", "time", "status"])
def test_what_is_no_whole_event_is_refused_by_what_it_lacks(lacking) -> None:
    value = {key: FAULT[key] for key in FAULT if key != lacking}
    with pytest.raises(ValueError, match=lacking):
        event_from_dict(value)


@pytest.mark.behaviour("P1")
def test_a_report_counts_its_attempts_and_knows_its_advice() -> None:
    report = Report("partial", "retry_limit", None, (Usage(1, 2), None), "increase_budget")
    assert report.attempts == 2
    assert report.advice == ADVICE["retry_limit"].sentence
    assert Report("failed", "no such reason", None, (), "stop").advice == ""
