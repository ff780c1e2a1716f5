"""Every fault that the simulator knows of Interactions, through the wrapped SDK, four ways: nothing
silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking import WAYS
from asking_interactions import (
    CASES,
    ERRORS,
    ErrorEventSeen,
    InteractionsAsker,
    broken_call,
    in_every_mode,
    next_turn_is_refused,
)
from wrapping import facing_faults
from wrapping_interactions import WrappedInteractions, assert_one_interaction, is_right

from tenuto.sim import Case

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

Askers = dict[str, WrappedInteractions]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    with facing_faults(WrappedInteractions) as made:
        yield made


@pytest.fixture(scope="module")
def bare(askers: Askers) -> Iterator[dict[str, InteractionsAsker]]:
    made = {way: InteractionsAsker(askers[way].sim) for way in WAYS}
    yield made
    for asker in made.values():
        asker.close()


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, bare: dict[str, InteractionsAsker], case: Case, mode: str, way: str
) -> None:
    asker = askers[way]
    before = len(asker.sim.requests)
    got = asker.ask_case(case, mode, way)
    requests = len(asker.sim.requests) - before
    assert requests <= MOST_REQUESTS
    if got.error is not None:
        assert isinstance(got.error, TOLD), "a foreign exception is harmful"
        assert not case.recoverable
        return
    inputs = asker.wanted(got, case)[1]
    ended = asker.ending["status"] if asker.watched else None
    right = is_right(asker, got, case)
    if mode == "stream" and requests > 1:
        assert_one_interaction(asker.told)
    if right:
        assert ended in ("complete", None)
        assert not broken_call(got, inputs)
    else:
        assert not got.calls
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "incomplete")
        assert case.name == "suspected_truncation" or got.stop == truthful
    assert not next_turn_is_refused(asker, got, case)
    if right or ended == "complete":
        assert not next_turn_is_refused(bare[way], got, case), "nor without Tenuto"


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_tells_of_every_unfinished_turn(
    askers: Askers, case: Case, mode: str
) -> None:
    asker = askers["strict"]
    got = asker.ask_case(case, mode)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert got.error is None
        assert case.name == "suspected_truncation" or is_right(asker, got, case)
    else:
        assert isinstance(got.error, TOLD)
