"""What Gemini blocks is handed on as it came, and never asked for again."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import errors, types
from support.replay.gemini_generate import END, MAX, Blocked, R, Refused, said

import tenuto
from tenuto import StopReason
from tenuto.wires.gemini_generate.wire import BLOCKS, STOPS

RATING = {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}
MODES = pytest.mark.parametrize("mode", ["body", "stream"])
FILTERS = [native.upper() for native, (reason, _) in STOPS.items() if reason == "safety_blocked"]


@pytest.mark.behaviour("E12", "C6", "N1")
@MODES
@pytest.mark.parametrize("reason", [native.upper() for native in BLOCKS])
def test_a_blocked_prompt_is_handed_on_as_it_came(play: Any, mode: str, reason: str) -> None:
    asker = play(Blocked(reason))
    said_ = asker.tell(mode)
    assert (said_.blocked, said_.text, asker.sent) == (reason, "", 1)
    assert asker.ending["stop"] == "safety_blocked"


@pytest.mark.behaviour("E12", "C6", "N1")
@MODES
@pytest.mark.parametrize("native", FILTERS)
def test_a_filter_ends_the_turn_with_what_came_before(play: Any, mode: str, native: str) -> None:
    asker = play(R("Half a ", native))
    said_ = asker.tell(mode)
    assert (said_.text, said_.stop, asker.sent) == ("Half a ", native, 1)


@pytest.mark.behaviour("E12", "P1a")
@MODES
@pytest.mark.parametrize("answer", [Blocked(), R("", "SAFETY"), R("Half", "RECITATION")])
def test_who_asks_for_errors_gets_one_for_what_was_blocked(
    play: Any, mode: str, way: str, answer: Any
) -> None:
    asker = play(answer, on_incomplete="error")
    said_ = asker.tell(mode, way)
    assert isinstance(said_.error, errors.ServerError)
    assert said_.error.status == "TENUTO_INCOMPLETE"
    assert "safety blocked" in str(said_.error.message)


@pytest.mark.behaviour("C6", "C22")
@MODES
def test_a_continuation_that_is_blocked_keeps_the_text_and_shows_why(play: Any, mode: str) -> None:
    asker = play(R("One ", MAX), R("", "SAFETY"))
    said_ = asker.tell(mode)
    assert (said_.text.strip(), said_.stop) == ("One", "SAFETY")


@pytest.mark.behaviour("P1b")
@MODES
def test_an_error_of_ours_is_not_retried_by_an_sdk_that_is_told_to_retry(
    play: Any, mode: str, way: str
) -> None:
    asker = play(*[R("", END)] * 8)
    retry = types.HttpRetryOptions(attempts=5, initial_delay=0.01, max_delay=0.01)
    said_ = asker.tell(mode, way, http_options=types.HttpOptions(retry_options=retry))
    assert isinstance(said_.error, errors.ServerError)
    assert len({event.turn for event in asker.events}) == 1


@pytest.mark.behaviour("C18")
@MODES
def test_a_limit_above_the_models_own_is_asked_for_once_more(
    play: Any, mode: str, way: str
) -> None:
    words = (
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the "
        "supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try "
        "again."
    )
    asker = play(Refused(400, words), R("Here.", END))
    assert asker.tell(mode, way, max_output_tokens=100_000).text == "Here."
    assert asker.budgets == [100_000, 65_536]


@pytest.mark.behaviour("H5")
def test_a_key_that_is_rejected_by_name_is_left_out_wherever_it_stands(play: Any) -> None:
    words = "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field."
    asker = play(Refused(400, words), R("Here.", END), drop_unsupported={"seed"})
    assert asker.tell(seed=7, top_k=3).text == "Here."
    assert asker.configs[1] == {k: v for k, v in asker.configs[0].items() if k != "seed"}


@pytest.mark.behaviour("N4", "P8")
@MODES
def test_what_stands_beside_a_stop_is_kept_when_the_end_is_written_anew(
    play: Any, mode: str
) -> None:
    grounded = {"groundingMetadata": {"webSearchQueries": ["tides"]}, "safetyRatings": [RATING]}
    asker = play(R("One ", MAX), R([said("two.")], END, beside=grounded))
    said_ = asker.tell(mode)
    (candidate,) = said_.last.candidates
    assert candidate.grounding_metadata.web_search_queries == ["tides"]
    assert candidate.safety_ratings[0].category == RATING["category"]


@pytest.mark.behaviour("N1", "N14", "P10")
@pytest.mark.parametrize("key", ["promptFeedback", "prompt_feedback"])
@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("BLOCK_REASON_UNSPECIFIED", StopReason.END_TURN),
        ("BLOCKED_REASON_UNSPECIFIED", StopReason.END_TURN),
        (0, StopReason.END_TURN),
        (4, StopReason.SAFETY_BLOCKED),
        ("SAFETY", StopReason.SAFETY_BLOCKED),
    ],
)
def test_no_reason_beside_an_answer_blocks_nothing(key: str, reason: Any, said: StopReason) -> None:
    camel = key == "promptFeedback"
    feedback = {"blockReason" if camel else "block_reason": reason}
    content = {"role": "model", "parts": [{"text": "The tide."}]}
    candidate = {"content": content, "finishReason" if camel else "finish_reason": "STOP"}
    stop = tenuto.detect({"candidates": [candidate], key: feedback})
    assert stop.reason is said
    assert stop.raw == ("STOP" if said is StopReason.END_TURN else str(reason))
