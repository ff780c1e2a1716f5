"""Every fault that the simulator knows of OpenAI Responses, through the wrapped SDK, four ways:
nothing silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from asking import WAYS
from asking_responses import (
    CASES,
    ResponsesAsker,
    broken_call,
    in_every_mode,
    next_turn_is_refused,
)
from one_response import assert_one_response
from wrapping import facing_faults
from wrapping_responses import WrappedResponses, is_right

from tenuto.sim import Case

MOST_REQUESTS = 8
"""More than any ladder of the default policy can send for one turn."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "unknown_status": "weird_new_status",
    "abort": "cancelled",
    "content_filter": "content_filter",
    "length_then_filter": "content_filter",
    "failed_policy": "failed",
    "empty_after_tool_result_always": "completed",
}
"""What an unfinished turn may show instead of `max_output_tokens`: the provider's own words (P1a)."""

Askers = dict[str, WrappedResponses]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    # Pieces are tokens, and with still fewer a limit falls below the least that this wire takes.
    with facing_faults(WrappedResponses, token_chars=8) as made:
        yield made


@pytest.fixture(scope="module")
def bare(askers: Askers) -> Iterator[dict[str, ResponsesAsker]]:
    made = {way: ResponsesAsker(askers[way].sim) for way in WAYS}
    yield made
    for asker in made.values():
        asker.close()


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, bare: dict[str, ResponsesAsker], case: Case, mode: str, way: str
) -> None:
    asker = askers[way]
    before = len(asker.sim.requests)
    got = asker.ask_case(case, mode, way)
    requests = len(asker.sim.requests) - before
    assert requests <= MOST_REQUESTS
    if got.error is not None:
        assert isinstance(got.error, openai.APIError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(got)
    ended = asker.ending["status"] if asker.watched else None
    right = is_right(asker, got, case)
    if mode == "stream" and requests > 1:
        assert_one_response(asker.told)
    if right:
        assert ended in ("complete", None)
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "max_output_tokens")
        assert case.name == "suspected_truncation" or got.refused or got.stop == truthful
    assert not next_turn_is_refused(asker, got, case)
    if right or ended == "complete":
        assert not next_turn_is_refused(bare[way], got, case), "nor without Tenuto"


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    askers: Askers, case: Case, mode: str
) -> None:
    asker = askers["strict"]
    got = asker.ask_case(case, mode)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert got.error is None
        assert case.name == "suspected_truncation" or is_right(asker, got, case)
    else:
        assert isinstance(got.error, openai.APIError)
