"""Every fault that the simulator knows of Converse, through wrapped boto3 and aiobotocore:
nothing silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking_bedrock import CASES, OWN, broken_call, in_every_mode, next_turn_is_refused
from one_converse_message import assert_one_converse_message
from wrapping import assert_each_turn_has_one_end, facing_faults
from wrapping_bedrock import WrappedBedrock, is_right

from tenuto.sim import Case

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


Askers = dict[str, WrappedBedrock]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    with facing_faults(WrappedBedrock) as made:
        yield made


@pytest.mark.behaviour("P1a", "T1", "T8", "T14", "T16", "S1", "S2", "S9", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, case: Case, mode: str, way: str
) -> None:
    asker = askers[way]
    before = len(asker.sim.requests)
    said = asker.ask_case(case, mode, way)
    requests = len(asker.sim.requests) - before
    assert requests <= MOST_REQUESTS
    if said.error is not None:
        assert isinstance(said.error, OWN), f"a foreign exception is harmful: {said.error!r}"
        assert not case.recoverable, said.error
        return
    assert not broken_call(said, asker.wanted(said, case)[1])
    ended = asker.ending["status"] if asker.events else None
    if mode == "stream" and requests > 1:
        assert_one_converse_message(asker.told)
    assert_each_turn_has_one_end(asker.events)
    if is_right(asker, said, case):
        assert ended in ("complete", None)
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "max_tokens")
        assert case.name == "suspected_truncation" or said.stop == truthful
    assert not next_turn_is_refused(asker, said, case)


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    askers: Askers, case: Case, mode: str, way: str
) -> None:
    asker = askers["strict"]
    said = asker.ask_case(case, mode, way)
    ending = dict(asker.ending)
    if ending["status"] == "complete":
        assert said.error is None
        assert case.name == "suspected_truncation" or is_right(asker, said, case)
    else:
        assert isinstance(said.error, OWN)
