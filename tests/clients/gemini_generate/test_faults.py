"""Every fault that the simulator knows of Gemini, through the wrapped SDK, four ways: nothing silent,
nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking_gemini import CASES, CLEAN, broken_call, in_every_mode, next_turn_is_refused
from google.genai import errors, types
from wrapping import QUICK
from wrapping_gemini import WrappedGemini, is_right

import tenuto
from tenuto.sim import Case, Simulator

MOST_REQUESTS = 14
"""The ten resumptions of a paused turn, and what else a ladder of the default policy can send."""

TRUTHFUL_STOPS = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "other_mid_text": "OTHER",
    "content_filter": "SAFETY",
    "length_then_filter": "SAFETY",
    "safety_empty": "SAFETY",
    "recitation": "RECITATION",
    "prompt_blocked": None,
    "empty_after_tool_result_always": "STOP",
}
"""What an unfinished turn may show instead of `MAX_TOKENS`: the provider's own words (P1a)."""

RETRIES = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.01)
"""What an SDK does by itself with an HTTP error is its own (P1b); this one has to be told to."""

pytestmark = pytest.mark.filterwarnings("ignore:[\\s\\S]* is not a valid FinishReason")
"""What the SDK says of a stop that it does not know; it hands it on all the same."""

World = tuple[Simulator, WrappedGemini, WrappedGemini]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Simulator() as sim:
        default = WrappedGemini(sim, tenuto.Policy(**QUICK), retry_options=RETRIES)
        strict = WrappedGemini(
            sim, tenuto.Policy(on_incomplete="error", **QUICK), retry_options=RETRIES
        )
        yield sim, default, strict
        default.close()
        strict.close()


def assert_each_turn_has_one_end(events: list[tenuto.Event]) -> None:
    """And each continuation that was started."""
    turns: dict[str, list[str]] = {}
    for event in events:
        turns.setdefault(event.turn, []).append(event.name)
    for names in turns.values():
        assert names.count("turn_ended") == 1
        assert names[-1] == "turn_ended"
        assert names.count("continuation_terminated") == ("continuation_attempt" in names)


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
        assert isinstance(said.error, errors.APIError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(said, asker.wanted(said, case)[1])
    assert_each_turn_has_one_end(asker.events)
    if is_right(asker, said, case):
        assert asker.ending["status"] == "complete"
    else:
        assert not case.recoverable
        truthful = TRUTHFUL_STOPS.get(case.name, "MAX_TOKENS")
        assert case.name == "suspected_truncation" or said.stop == truthful
        assert said.stop not in CLEAN or said.blocked or case.name in (
            "empty_after_tool_result_always", "suspected_truncation",
        )  # fmt: skip
    assert not next_turn_is_refused(asker, said, case)


@pytest.mark.behaviour("P1a")
@in_every_mode(CASES.values())
def test_on_incomplete_error_raises_for_every_unfinished_turn(
    world: World, case: Case, mode: str, way: str
) -> None:
    _, _, asker = world
    said = asker.ask_case(case, mode, way)
    if asker.ending["status"] == "complete":
        assert said.error is None
        assert case.name == "suspected_truncation" or is_right(asker, said, case)
    else:
        assert isinstance(said.error, errors.APIError)
        assert not case.recoverable
