"""Every fault that the simulator knows of Cohere's Chat, through the wrapped SDK, four ways: nothing
silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking import WAYS, in_every_mode, next_turn_is_refused
from asking_cohere import CASES, CohereAsker, ErrorSeen, broken_call
from cohere.core import ApiError, http_client
from wrapping import facing_faults
from wrapping_cohere import WrappedCohere, assert_one_message, is_right

from tenuto.sim import Case

MOST_REQUESTS = 8
"""More than any ladder of the default policy can send for one turn."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "content_filter": "ERROR_TOXIC",
    "length_then_filter": "ERROR_TOXIC",
    "empty_after_tool_result_always": "COMPLETE",
}
"""What an unfinished turn may show instead of `MAX_TOKENS`: the provider's own words (P1a)."""

TOLD = (ApiError, ErrorSeen)
"""What tells of an error: bodies raise; of a stream the end holds it, on which the SDK raises not."""

LEFT_TO_THE_CALLER = ("http_429_once", "http_500_once")
"""Errors before anything came are the SDK's own to retry (P1b); this one does so for bodies alone."""

Askers = dict[str, WrappedCohere]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    with pytest.MonkeyPatch.context() as patch, facing_faults(WrappedCohere) as made:
        # The SDK waits a second before each retry of its own.
        patch.setattr(http_client, "INITIAL_RETRY_DELAY_SECONDS", 0.01)
        yield made


@pytest.fixture(scope="module")
def bare(askers: Askers) -> Iterator[dict[str, CohereAsker]]:
    made = {way: CohereAsker(askers[way].sim) for way in WAYS}
    yield made
    for asker in made.values():
        asker.close()


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, bare: dict[str, CohereAsker], case: Case, mode: str, way: str
) -> None:
    asker = askers[way]
    before = len(asker.sim.requests)
    got = asker.ask_case(case, mode, way)
    requests = len(asker.sim.requests) - before
    assert requests <= MOST_REQUESTS
    if got.error is not None:
        assert isinstance(got.error, TOLD), "a foreign exception is harmful"
        assert not case.recoverable or (mode == "stream" and case.name in LEFT_TO_THE_CALLER)
        return
    assert not broken_call(got)
    ended = asker.ending["status"] if asker.watched else None
    right = is_right(asker, got, case)
    if mode == "stream" and requests > 1:
        assert_one_message(asker.told)
    if right:
        assert ended in ("complete", None)
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "MAX_TOKENS")
        assert case.name == "suspected_truncation" or got.finish == truthful
    assert not next_turn_is_refused(asker, got)
    if right or ended == "complete":
        assert not next_turn_is_refused(bare[way], got), "nor without Tenuto"


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
