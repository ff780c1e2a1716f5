"""Every fault that the simulator knows of Interactions, through the wrapped SDK, four ways: nothing
silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking_interactions import (
    CASES,
    ERRORS,
    ErrorEventSeen,
    InteractionsAsker,
    broken_call,
    in_every_mode,
    next_turn_is_refused,
)
from wrapping import QUICK
from wrapping_interactions import WrappedInteractions, assert_one_interaction, is_right

import tenuto
from tenuto.sim import Case, Simulator

MOST_REQUESTS = 8
"""More than any ladder of the default policy can send for one turn."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "abort": "cancelled",
    "blocked_mid_text": "failed",
    "empty_after_tool_result_always": "completed",
    "in_progress": "in_progress",
}
"""What an unfinished turn may show instead of `incomplete`: the provider's own words (P1a)."""

TOLD = (*ERRORS, ErrorEventSeen)
"""What tells of an error: bodies raise, and streams hold an event, on which the SDK raises not."""

World = tuple[Simulator, WrappedInteractions, WrappedInteractions, InteractionsAsker]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Simulator() as sim:
        default = WrappedInteractions(sim, tenuto.Policy(**QUICK))
        strict = WrappedInteractions(sim, tenuto.Policy(on_incomplete="error", **QUICK))
        bare = InteractionsAsker(sim)
        yield sim, default, strict, bare
        for asker in (default, strict, bare):
            asker.close()


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    world: World, case: Case, mode: str, way: str
) -> None:
    sim, asker, _, bare = world
    before = len(sim.requests)
    got = asker.ask_case(case, mode, way)
    assert len(sim.requests) - before <= MOST_REQUESTS
    if got.error is not None:
        assert isinstance(got.error, TOLD), "a foreign exception is harmful"
        assert not case.recoverable
        return
    inputs = asker.wanted(got, case)[1]
    ending = dict(asker.ending)
    if mode == "stream" and ending["attempts"] > 1:
        assert_one_interaction(asker.told)
    if is_right(asker, got, case):
        assert ending["status"] == "complete"
        assert not broken_call(got, inputs)
    else:
        assert not got.calls
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "incomplete")
        assert case.name == "suspected_truncation" or got.stop == truthful
    assert not next_turn_is_refused(asker, got, case)
    if ending["status"] == "complete":
        assert not next_turn_is_refused(bare, got, case), "nor without Tenuto"


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_tells_of_every_unfinished_turn(
    world: World, case: Case, mode: str
) -> None:
    _, _, asker, _ = world
    got = asker.ask_case(case, mode)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert got.error is None
        assert case.name == "suspected_truncation" or is_right(asker, got, case)
    else:
        assert isinstance(got.error, TOLD)
