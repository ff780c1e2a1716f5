"""Every fault that the simulator knows of Gemini, through the wrapped SDK, four ways: nothing silent,
nothing harmful, no broken call, bounded, and the next turn is accepted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking_gemini import CASES, CLEAN, broken_call, in_every_mode, next_turn_is_refused
from google.genai import errors, types
from wrapping import assert_each_turn_has_one_end, facing_faults
from wrapping_gemini import WrappedGemini, is_right

from tenuto.sim import Case

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

Askers = dict[str, WrappedGemini]


@pytest.fixture(scope="module")
def askers() -> Iterator[Askers]:
    with facing_faults(WrappedGemini, retry_options=RETRIES) as made:
        yield made


@pytest.mark.behaviour("P1a", "T1", "T8", "T16", "S1", "S2", "S9", "C26", "P6")
@in_every_mode(CASES.values())
def test_a_wrapped_client_recovers_or_ends_truthfully(
    askers: Askers, case: Case, mode: str, way: str
) -> None:
    asker = askers[way]
    before = len(asker.sim.requests)
    said = asker.ask_case(case, mode, way)
    assert len(asker.sim.requests) - before <= MOST_REQUESTS
    if said.error is not None:
        assert isinstance(said.error, errors.APIError), "a foreign exception is harmful"
        assert not case.recoverable
        return
    assert not broken_call(said, asker.wanted(said, case)[1])
    ended = asker.ending["status"] if asker.watched else None
    assert_each_turn_has_one_end(asker.events)
    if is_right(asker, said, case):
        assert ended in ("complete", None)
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
    askers: Askers, case: Case, mode: str, way: str
) -> None:
    asker = askers["strict"]
    said = asker.ask_case(case, mode, way)
    if asker.ending["status"] == "complete":
        assert said.error is None
        assert case.name == "suspected_truncation" or is_right(asker, said, case)
    else:
        assert isinstance(said.error, errors.APIError)
        assert not case.recoverable
