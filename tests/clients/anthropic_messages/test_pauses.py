"""A turn that the provider paused goes on where it was, as one message."""

from __future__ import annotations

import pytest
from support.replay.anthropic_messages import (
    ASK,
    MAX,
    PAUSE,
    R,
    Refused,
    found,
    said,
    searching,
    thought,
)

both = pytest.mark.parametrize("mode", ["body", "stream"])

SEARCHED = [thought("I shall look."), said("Let me look. "), searching(), found()]


@pytest.mark.behaviour("C26")
@both
def test_a_paused_turn_is_sent_back_as_it_came_and_goes_on(play, mode, way):
    turn = play(R(SEARCHED, PAUSE, tokens=7, input_tokens=30), R("Twice a day.", tokens=5))
    got = turn.tell(mode, way)
    assert (got.text, got.stop) == ("Let me look. Twice a day.", "end_turn")
    assert turn.added(1) == [{"role": "assistant", "content": SEARCHED}]
    assert (got.usage.input_tokens, got.usage.output_tokens) == (30, 12)
    assert turn.ending["status"] == "complete"


@pytest.mark.behaviour("C26")
@both
def test_a_turn_that_never_stops_pausing_is_resumed_ten_times(play, mode, way):
    turn = play(
        *[R([said(f"{n} "), searching(f"s_{n}"), found(f"s_{n}")], PAUSE) for n in range(20)]
    )
    got = turn.tell(mode, way)
    assert (turn.sent, got.stop) == (11, "pause_turn")
    assert got.text == "".join(f"{n} " for n in range(11))
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "paused")


@pytest.mark.behaviour("C26", "C2")
@both
def test_pauses_and_continuations_have_budgets_of_their_own(play, mode, way):
    turn = play(
        *[R([said(f"{n} "), searching(f"s_{n}"), found(f"s_{n}")], PAUSE) for n in range(5)],
        R("Half ", MAX),
        R("and whole."),
    )
    got = turn.tell(mode, way)
    assert (got.text, got.stop) == ("0 1 2 3 4 Half and whole.", "end_turn")


@pytest.mark.behaviour("C26")
@both
def test_a_budget_of_no_resumptions_shows_the_pause(play, mode, way):
    turn = play(R(SEARCHED, PAUSE), R("never asked for"), pause_resumes=0)
    got = turn.ask([ASK], mode, way)
    assert (got.text, got.stop, turn.sent) == ("Let me look. ", "pause_turn", 1)


@pytest.mark.behaviour("C26", "C5")
@both
def test_a_failure_behind_a_pause_keeps_what_was_said(play, mode, way):
    turn = play(R(SEARCHED, PAUSE), *[Refused(400, "No.", "invalid_request_error")] * 9)
    turn.ask([ASK], mode, way)
    assert turn.ending["status"] == "partial"


@pytest.mark.behaviour("C26", "S3b")
@both
def test_a_pause_within_what_is_said_again_sends_back_no_text_that_ends_in_white_space(
    play, mode, way
):
    """The API refuses it (400)."""
    whole = "The moon pulls the sea towards it, and the sea follows "
    turn = play(R(whole, MAX), R(whole[:40], PAUSE), R("it."))
    got = turn.ask([ASK], mode, way)
    assert (got.text.rstrip(), got.stop, turn.sent) == (whole.rstrip(), "pause_turn", 2)
    assert turn.ending["status"] == "partial"
