"""Every fault that the simulator knows of Ollama, through the wrapped SDK, four ways: nothing silent,
nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import ollama
import pytest
from asking import in_every_mode
from asking_ollama import CASES, CLEAN, WITHOUT_TOOLS, broken_call, next_turn_is_refused
from wrapping import assert_each_turn_has_one_end, facing_faults
from wrapping_ollama import WrappedOllama, WrappedPrompts, is_right

from tenuto.sim import Case

MOST_REQUESTS = 12
"""What the ladders of the default policy can send."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "content_filter": "content_filter",
    "length_then_filter": "content_filter",
    "done_no_reason": None,
    "empty_after_tool_result_always": "stop",
}
"""What an unfinished turn may show instead of `length`: the provider's own words (P1a)."""

Askers = dict[str, WrappedOllama]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    with facing_faults(WrappedOllama) as made:
        yield made


@pytest.fixture(scope="module")
def prompting() -> Iterator[Askers]:
    with facing_faults(WrappedPrompts) as made:
        yield made


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, case: Case, mode: str, way: str
) -> None:
    assert_recovers_or_ends_truthfully(askers[way], case, mode, way)


@pytest.mark.behaviour("P1a", "S1", "S2", "S9", "P6")
@in_every_mode(WITHOUT_TOOLS.values())
def test_so_does_one_that_asks_by_a_prompt(prompting: Askers, case: Case, mode: str) -> None:
    assert_recovers_or_ends_truthfully(prompting["async"], case, mode, "async")


def assert_recovers_or_ends_truthfully(
    asker: WrappedOllama, case: Case, mode: str, way: str
) -> None:
    before = len(asker.sim.requests)
    said = asker.ask_case(case, mode, way)
    assert len(asker.sim.requests) - before <= MOST_REQUESTS
    if said.error is not None:
        assert isinstance(said.error, ollama.ResponseError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(said, asker.wanted(said, case)[1])
    ended = asker.ending["status"] if asker.watched else None
    assert_each_turn_has_one_end(asker.events)
    if is_right(asker, said, case):
        assert ended in ("complete", None)
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "length")
        assert case.name == "suspected_truncation" or said.stop == truthful
        unproven = ("empty_after_tool_result_always", "suspected_truncation")
        assert said.stop not in CLEAN or case.name in unproven
    assert not next_turn_is_refused(asker, said, case)


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    askers: Askers, case: Case, mode: str
) -> None:
    asker = askers["strict"]
    said = asker.ask_case(case, mode)
    if asker.ending["status"] == "complete":
        assert said.error is None
        assert case.name == "suspected_truncation" or is_right(asker, said, case)
    else:
        assert isinstance(said.error, ollama.ResponseError)
        assert not case.recoverable
