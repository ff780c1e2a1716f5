"""The table of metrics is in order, and its listener reads turns by it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from support.telemetry import POLICY, answer, chat, refused

import tenuto
from tenuto.core.answer.fault import FaultKind
from tenuto.core.events.turn import HistoryRepaired
from tenuto.telemetry.metrics import (
    METRICS,
    MOST_MODELS,
    OTHER,
    SHARED_LABELS,
    Kind,
    Metrics,
    Names,
)
from tenuto.telemetry.tally import Tally
from tenuto.turn.drivers.commands import ConnectionLost


def test_each_row_of_the_table_is_in_order() -> None:
    names = [metric.name for metric in METRICS]
    assert len(names) == len(set(names))
    for metric in METRICS:
        assert re.fullmatch(r"tenuto_[a-z_]+", metric.name)
        assert metric.name.endswith("_total") is (metric.kind is Kind.COUNTER)
        assert bool(metric.buckets) is (metric.kind is Kind.HISTOGRAM)
        assert [*metric.buckets] == sorted(set(metric.buckets))
        assert not {*metric.labels} & {*SHARED_LABELS}
        assert not metric.unit or metric.unit in metric.name
        assert metric.help.endswith(".")


@pytest.mark.behaviour("P2", "P6")
def test_an_answer_that_its_policy_could_not_decide_about_is_counted_with_what_it_billed() -> None:
    tally = Tally()
    policy = tenuto.Policy(decide=lambda decision: "no_such_rung")
    with pytest.raises(tenuto.PolicyError):
        chat(answer("One ", stop="length"), on_event=Metrics(tally), policy=policy)
    assert tally.total("tenuto_turns_total", outcome="partial", reason="policy_error") == 1
    assert tally.total("tenuto_turns_total") == 1
    assert tally.total("tenuto_attempts_total", stop="max_tokens") == 1
    assert tally.total("tenuto_attempts_total") == 1
    assert tally.total("tenuto_turn_attempts") == 1
    assert tally.total("tenuto_billed_tokens_total", direction="input") == 10
    assert tally.total("tenuto_billed_tokens_total", direction="output") == 5


@pytest.mark.behaviour("P2", "P6")
def test_a_turn_that_its_policy_ends_by_an_exception_is_not_one_that_its_caller_left() -> None:
    heard: list[tenuto.Event] = []
    policy = tenuto.Policy(decide=lambda decision: "no_such_rung")
    with pytest.raises(tenuto.PolicyError):
        chat(answer("One ", stop="length"), on_event=heard.append, policy=policy)
    assert "cancelled" not in [event.name for event in heard]
    ended = heard[-1].data
    assert (ended["reason"], ended["suggestion"], ended["error"]) == (
        "policy_error",
        "stop",
        "PolicyError",
    )
    assert "decide" in ended["advice"]


@pytest.mark.behaviour("P6")
def test_a_continued_turn_is_counted_with_all_that_it_billed() -> None:
    tally = Tally()
    cut = answer("One ", stop="length", tokens=(10, 5))
    chat(cut, answer("two.", tokens=(20, 7)), on_event=Metrics(tally), model="counted")
    own = {"provider": "openai", "model": "counted"}
    assert tally.total(
        "tenuto_turns_total", **own, wire="openai-chat", outcome="complete", reason="completed"
    )
    assert tally.total("tenuto_attempts_total", stop="max_tokens") == 1
    assert tally.total("tenuto_attempts_total", stop="end_turn") == 1
    assert tally.total("tenuto_turn_attempts", **own) == 2
    assert tally.count("tenuto_continued_turn_duration_seconds", **own) == 1
    assert tally.count("tenuto_first_byte_seconds", **own) == 2
    assert tally.count("tenuto_detection_seconds", **own) == 2
    assert tally.total("tenuto_recoveries_started_total", kind="continuation") == 1
    assert tally.total("tenuto_recoveries_ended_total", result="recovered") == 1
    assert tally.total("tenuto_continuations_total", **own) == 1
    assert tally.total("tenuto_truncation_exits_total") == 0
    assert tally.total("tenuto_billed_tokens_total", direction="input") == 30
    assert tally.total("tenuto_billed_tokens_total", direction="output") == 12
    assert tally.total("tenuto_recovery_tokens_total", direction="input") == 20
    assert tally.total("tenuto_recovery_tokens_total", direction="output") == 7


@pytest.mark.behaviour("P6", "N9")
def test_a_raw_stop_value_is_counted_and_is_no_label() -> None:
    tally = Tally()
    chat(answer("It.", stop="tired"), on_event=Metrics(tally))
    assert tally.total("tenuto_unknown_stops_total") == 1
    labels = {value for m in METRICS for s in tally.series(m.name) for value in s.labels.values()}
    assert "tired" not in labels


@pytest.mark.behaviour("P6")
def test_faults_and_empty_answers_are_counted_by_kind() -> None:
    tally = Tally()
    chat(answer(""), refused(503), answer("It."), on_event=Metrics(tally))
    assert tally.total("tenuto_empty_answers_total", kind="empty") == 1
    assert tally.total("tenuto_faults_total") == 1
    assert tally.total("tenuto_recoveries_ended_total", kind="retry", result="recovered") == 1
    assert tally.total("tenuto_recoveries_ended_total", kind="empty", result="recovered") == 1


@pytest.mark.behaviour("P6")
def test_a_turn_that_ends_cut_without_a_continuation_is_counted_as_an_exit() -> None:
    tally, never = Tally(), replace(POLICY, continuation_max_attempts=0)
    chat(answer("One ", stop="length"), on_event=Metrics(tally), policy=never)
    assert tally.total("tenuto_truncation_exits_total") == 1
    tried = Tally()
    chat(*[answer("One ", stop="length")] * 9, on_event=Metrics(tried))
    assert tried.total("tenuto_turns_total", outcome="partial") == 1
    assert tried.total("tenuto_truncation_exits_total") == 0


@pytest.mark.behaviour("P6")
def test_a_stall_is_counted_by_whether_the_head_had_come() -> None:
    tally = Tally()
    silent = ConnectionLost(FaultKind.TIMEOUT, TimeoutError("silent"))
    stalled = replace(answer("One "), pieces=(silent,))
    chat(stalled, answer("One."), on_event=Metrics(tally))
    assert tally.total("tenuto_stalls_total", phase="body") == 1
    assert tally.total("tenuto_stalls_total") == 1


def test_names_beyond_the_bound_count_as_other() -> None:
    tally = Tally()
    hear = Metrics(tally)
    for number in range(MOST_MODELS + 1):
        hear(
            HistoryRepaired(
                time=0.0,
                turn="t",
                provider="openai",
                model=f"model {number}",
                attempt=0,
                repairs=("empty_row",),
            )
        )
    models = {series.labels["model"] for series in tally.series("tenuto_history_repairs_total")}
    assert OTHER in models
    assert len(models) == MOST_MODELS + 1
    assert tally.total("tenuto_history_repairs_total") == MOST_MODELS + 1


def test_a_known_name_stays_itself_beyond_the_bound() -> None:
    names = Names(2)
    assert [names.bounded(name) for name in "abcab"] == ["a", "b", OTHER, "a", "b"]


def test_a_histogram_sorts_values_into_their_buckets() -> None:
    metric = next(m for m in METRICS if m.name == "tenuto_turn_attempts")
    tally = Tally()
    for value in (1, 2, 2, 99):
        tally.take(metric, ("openai", "gpt"), value)
    (series,) = tally.series(metric.name)
    assert (series.buckets[:2], series.buckets[-1], series.count) == ([1, 2], 1, 4)
