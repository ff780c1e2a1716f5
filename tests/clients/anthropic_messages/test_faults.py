"""Every fault that the simulator knows of Anthropic Messages, through the wrapped SDK, four ways:
nothing silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import pytest
from asking_anthropic import (
    CASES,
    broken_call,
    in_every_mode,
    next_turn_is_refused,
    of_the_wire,
)
from one_message import assert_one_message
from wrapping import QUICK
from wrapping_anthropic import WrappedAnthropic, is_right

import tenuto
from tenuto.sim import Case, Simulator

MOST_REQUESTS = 14
"""The ten resumptions of a paused turn, and what else a ladder of the default policy can send."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "content_filter": "refusal",
    "length_then_filter": "refusal",
    "refusal": "refusal",
    "length_context": "model_context_window_exceeded",
    "pause_turn_always": "pause_turn",
    "empty_after_tool_result_always": "end_turn",
}
"""What an unfinished turn may show instead of `max_tokens`: the provider's own words (P1a)."""


def assert_each_turn_has_one_end(events: list[tenuto.Event]) -> None:
    """And each continuation that was started."""
    turns: dict[str, list[str]] = {}
    for event in events:
        turns.setdefault(event.turn, []).append(event.name)
    for names in turns.values():
        assert names.count("turn_ended") == 1
        assert names[-1] == "turn_ended"
        begun = "continuation_attempt" in names
        assert names.count("continuation_terminated") == begun


World = tuple[Simulator, WrappedAnthropic, WrappedAnthropic]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Simulator() as sim:
        default = WrappedAnthropic(sim, tenuto.Policy(**QUICK))
        strict = WrappedAnthropic(sim, tenuto.Policy(on_incomplete="error", **QUICK))
        yield sim, default, strict
        default.close()
        strict.close()


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "C26", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    world: World, case: Case, mode: str, way: str
) -> None:
    sim, asker, _ = world
    before = len(sim.requests)
    said = asker.ask_case(case, mode, way)
    assert len(sim.requests) - before <= MOST_REQUESTS
    if said.error is not None:
        assert isinstance(said.error, anthropic.APIError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(said, asker.wanted(said, case)[1])
    ending = dict(asker.ending)
    if mode == "stream" and ending["attempts"] > 1:
        assert_one_message(of_the_wire(asker.told))
    assert_each_turn_has_one_end(asker.events)
    if is_right(asker, said, case):
        assert ending["status"] == "complete"
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "max_tokens")
        assert case.name == "suspected_truncation" or said.stop == truthful
    assert not next_turn_is_refused(asker, said, case)


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    world: World, case: Case, mode: str
) -> None:
    _, _, asker = world
    said = asker.ask_case(case, mode)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert said.error is None
        assert case.name == "suspected_truncation" or is_right(asker, said, case)
    else:
        assert isinstance(said.error, anthropic.APIError)
