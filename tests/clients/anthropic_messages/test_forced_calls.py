"""A forced tool whose preface was cut or broke off, on the Messages API."""

from __future__ import annotations

import pytest
from support.replay.anthropic_messages import END, FILES, MAX, TOOL, Call, R, user

from tenuto.core import hints

both = pytest.mark.parametrize("mode", ["body", "stream"])
FORCED = {"type": "tool", "name": "write_file"}
CUT = R("I write the", MAX)
MORE = {"empty": R("", END), "words": R(" file now.", END)}


@pytest.mark.behaviour("C28a", "C24", "T5")
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize(
    ("mode", "preface"),
    [("body", CUT), ("stream", CUT), ("stream", R("I write the", dropped=True))],
)
def test_a_forced_call_is_asked_for_where_the_continuation_brings_none(
    play, mode, way, preface, more
):
    turn = play(preface, MORE[more], R("", TOOL, [Call()]), on_incomplete="error")
    got = turn.tell(mode, way, **FILES, tool_choice=FORCED)
    assert (got.error, len(got.inputs), got.stop, turn.sent) == (None, 1, "tool_use", 3)
    choices = [body["tool_choice"]["type"] for body in turn.bodies]
    assert choices == ["tool", "auto", "tool"]
    assert turn.added(2)[-1] == user(hints.CALL_PENDING)


@pytest.mark.behaviour("C28a", "P1", "P1a")
@both
@pytest.mark.parametrize("more", MORE)
def test_a_forced_call_that_never_comes_leaves_the_turn_partial(play, mode, way, more):
    for on_incomplete in ("stop", "error"):
        turn = play(CUT, *[MORE[more]] * 3, on_incomplete=on_incomplete)
        got = turn.tell(mode, way, **FILES, tool_choice=FORCED)
        assert turn.ending["status"] == "partial"
        assert (got.error is not None) == (on_incomplete == "error")
        assert on_incomplete == "error" or got.stop == "max_tokens"
