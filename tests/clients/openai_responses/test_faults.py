"""Every fault that the simulator knows of OpenAI Responses, through the wrapped SDK, four ways:
nothing silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from asking_responses import (
    CASES,
    ResponsesAsker,
    broken_call,
    in_every_mode,
    next_turn_is_refused,
)
from one_response import assert_one_response
from wrapping import QUICK
from wrapping_responses import WrappedResponses, is_right

import tenuto
from tenuto.sim import Case, Simulator

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

World = tuple[Simulator, WrappedResponses, WrappedResponses, ResponsesAsker]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Simulator() as sim:
        default = WrappedResponses(sim, tenuto.Policy(**QUICK))
        strict = WrappedResponses(sim, tenuto.Policy(on_incomplete="error", **QUICK))
        bare = ResponsesAsker(sim)
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
        assert isinstance(got.error, openai.APIError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(got)
    ending = dict(asker.ending)
    if mode == "stream" and ending["attempts"] > 1:
        assert_one_response(asker.told)
    if is_right(asker, got, case):
        assert ending["status"] == "complete"
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "max_output_tokens")
        assert case.name == "suspected_truncation" or got.refused or got.stop == truthful
    assert not next_turn_is_refused(asker, got, case)
    if ending["status"] == "complete":
        assert not next_turn_is_refused(bare, got, case), "nor without Tenuto"


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    world: World, case: Case, mode: str
) -> None:
    _, _, asker, _ = world
    got = asker.ask_case(case, mode)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert got.error is None
        assert case.name == "suspected_truncation" or is_right(asker, got, case)
    else:
        assert isinstance(got.error, openai.APIError)
