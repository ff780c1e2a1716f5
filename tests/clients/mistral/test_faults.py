"""Every fault that the simulator knows of Mistral's chat, through the wrapped SDK, four ways:
nothing silent, nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking import broken_call, in_every_mode, next_turn_is_refused
from asking_mistral import CASES, MistralAsker
from wrapping import facing_faults
from wrapping_cohere import is_right
from wrapping_mistral import WrappedMistral, assert_one_message

from tenuto.sim import Case

MOST_REQUESTS = 8
"""More than any ladder of the default policy can send for one turn."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "content_filter": "content_filter",
    "length_then_filter": "content_filter",
    "empty_after_tool_result_always": "stop",
    "model_length": "model_length",
}
"""What an unfinished turn may show instead of `length`: the provider's own words (P1a)."""

LEFT_TO_THE_CALLER = ("http_429_once", "http_500_once")
"""Errors before anything came are the SDK's own to retry (P1b); this one does so where it is told."""

Askers = dict[str, WrappedMistral]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    # Its types are made anew for each event: small pieces would take most of the time.
    with facing_faults(WrappedMistral, token_chars=80, fine_chars=40) as made:
        yield made


@pytest.fixture(scope="module")
def bare(askers: Askers) -> Iterator[MistralAsker]:
    made = MistralAsker(askers["async"].sim)
    yield made
    made.close()


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "P6", "H9")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, bare: MistralAsker, case: Case, mode: str, way: str
) -> None:
    asker = askers[way]
    before = len(asker.sim.requests)
    got = asker.ask_case(case, mode, way)
    requests = len(asker.sim.requests) - before
    assert requests <= MOST_REQUESTS
    if got.error is not None:
        assert isinstance(got.error, asker.own_errors), "a foreign exception is harmful"
        assert not case.recoverable or case.name in LEFT_TO_THE_CALLER
        return
    assert not broken_call(got)
    ended = asker.ending["status"] if asker.watched else None
    right = is_right(asker, got, case)
    if mode == "stream" and requests > 1:
        assert_one_message(asker.told)
    if right:
        assert ended in ("complete", None) or not case.recoverable
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "length")
        assert case.name == "suspected_truncation" or got.finish == truthful
    assert not next_turn_is_refused(asker, got)
    if way == "async" and (right or ended == "complete"):
        assert not next_turn_is_refused(bare, got), "nor without Tenuto"


@pytest.mark.behaviour("P1a")
@in_every_mode(case for case in CASES.values() if not case.recoverable)
def test_on_incomplete_error_tells_of_every_unfinished_turn(
    askers: Askers, case: Case, mode: str
) -> None:
    asker = askers["strict"]
    got = asker.ask_case(case, mode)
    if asker.ending["status"] == "complete":
        assert got.error is None
        assert case.name == "suspected_truncation" or is_right(asker, got, case)
    else:
        assert isinstance(got.error, asker.own_errors)
