"""Every fault that the simulator knows of Converse, through wrapped boto3 and aiobotocore:
nothing silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking_bedrock import CASES, OWN, broken_call, in_every_mode, next_turn_is_refused
from one_converse_message import assert_one_converse_message
from wrapping import QUICK
from wrapping_bedrock import WrappedBedrock, is_right

import tenuto
from tenuto.sim import Case, Simulator

MOST_REQUESTS = 8
"""What a ladder of the default policy can send, and the retries of botocore."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "content_filter": "content_filtered",
    "length_then_filter": "content_filtered",
    "refusal": "content_filtered",
    "guardrail": "guardrail_intervened",
    "length_context": "model_context_window_exceeded",
    "call_malformed_always": "malformed_tool_use",
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


World = tuple[Simulator, WrappedBedrock, WrappedBedrock]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Simulator() as sim:
        default = WrappedBedrock(sim, tenuto.Policy(**QUICK))
        strict = WrappedBedrock(sim, tenuto.Policy(on_incomplete="error", **QUICK))
        yield sim, default, strict
        default.close()
        strict.close()


@pytest.mark.behaviour("P1a", "T1", "T8", "T14", "T16", "S1", "S2", "S9", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    world: World, case: Case, mode: str, way: str
) -> None:
    sim, asker, _ = world
    before = len(sim.requests)
    said = asker.ask_case(case, mode, way)
    assert len(sim.requests) - before <= MOST_REQUESTS
    if said.error is not None:
        assert isinstance(said.error, OWN), f"a foreign exception is harmful: {said.error!r}"
        assert not case.recoverable, said.error
        return
    assert not broken_call(said, asker.wanted(said, case)[1])
    if mode == "stream" and asker.events and asker.ending["attempts"] > 1:
        assert_one_converse_message(asker.told)
    assert_each_turn_has_one_end(asker.events)
    if is_right(asker, said, case):
        assert not asker.events or asker.ending["status"] == "complete"
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "max_tokens")
        assert case.name == "suspected_truncation" or said.stop == truthful
    assert not next_turn_is_refused(asker, said, case)


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    world: World, case: Case, mode: str, way: str
) -> None:
    _, _, asker = world
    said = asker.ask_case(case, mode, way)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert said.error is None
        assert case.name == "suspected_truncation" or is_right(asker, said, case)
    else:
        assert isinstance(said.error, OWN)
