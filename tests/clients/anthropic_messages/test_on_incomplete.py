"""How a turn that was not finished shows itself: outcome × on_incomplete, whole and streamed (P1a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import anthropic
import pytest
from support.replay.anthropic_messages import ASK, END, FILES, MAX, PAUSE, SAFETY, TOOL, Call, R

import tenuto
from tenuto.core.deciding.outcome import OF_TURNS, Outcome
from tenuto_sim import Simulator

both = pytest.mark.parametrize("mode", ["body", "stream"])

CUT = Call(arguments='{"path": "a.t')
SAID = "I will write it down now."
MALFORMED = Call(arguments="{'path': 1}")
OVERFLOW = "model_context_window_exceeded"


@dataclass(frozen=True)
class Face:
    """One row of the table.

    Attributes:
        outcome: what the last response means.
        answer: the provider's answer, given as often as it is asked for.
        reason: why the turn ended.
        stop: the native stop that shows; None: an error shows, of the code `code`.
        code: the error's code where an error shows.
        text: the text that is kept.
    """

    outcome: Outcome
    answer: R
    reason: str
    stop: str | None
    code: str = ""
    text: str = ""


O = Outcome  # noqa: E741 - a table reads better narrow

FACES = (
    Face(O.TEXT_CUT, R("A", MAX), "retry_limit", MAX, text="AAAA"),
    Face(O.ARGUMENTS_CUT, R(SAID, MAX, [CUT]), "tool_call_truncated", MAX, text=SAID),
    Face(O.ARGUMENTS_CUT, R("", MAX, [CUT]), "tool_call_truncated", MAX),
    Face(O.THINKING_CUT, R("", MAX, reasoning="hm"), "reasoning_budget", MAX),
    Face(O.CALLS_MISSING, R(SAID, TOOL), "tool_calls_missing", END, text=SAID),
    Face(O.CALLS_MISSING, R("", TOOL), "tool_calls_missing", None, "tool_calls_missing"),
    Face(
        O.ARGUMENTS_MALFORMED, R(SAID, TOOL, [MALFORMED]), "tool_call_malformed", TOOL,
        "malformed_tool_call", text=SAID,
    ),
    Face(
        O.ARGUMENTS_MALFORMED, R("", "malformed_tool_use"), "tool_call_malformed", None,
        "malformed_tool_call",
    ),
    Face(O.THINKING_ONLY, R("", reasoning="hm"), "empty_output", None, "empty_output"),
    Face(O.EMPTY, R(""), "empty_output", None, "empty_output"),
    Face(O.DROPPED, R("", dropped=True), "provider_error", None, "dropped"),
    Face(O.FAULT, R("A", "error"), "provider_error", "error", "provider_error", text="A"),
    Face(O.FAULT, R("", "error"), "provider_error", None, "provider_error"),
    Face(O.PAUSED, R("A", PAUSE), "paused", PAUSE, text="A" * 11),
    Face(O.OVERFLOW, R("A", OVERFLOW), "context_window", OVERFLOW, text="A"),
    Face(O.OVERFLOW, R("", OVERFLOW), "context_window", OVERFLOW),
    Face(O.BLOCKED, R("A", "content_filtered"), "safety_blocked", "content_filtered", text="A"),
    Face(O.BLOCKED, R("", "content_filtered"), "safety_blocked", "content_filtered"),
    Face(O.REFUSED, R("A", SAFETY), "refused", SAFETY, text="A"),
    Face(O.REFUSED, R("", SAFETY), "refused", SAFETY),
    Face(O.CANCELLED, R("A", "abort"), "cancelled", "abort", text="A"),
    Face(O.UNKNOWN, R("A", "weird_new"), "unknown_stop", "weird_new", text="A"),
)  # fmt: skip
IDS = [f"{face.outcome}{'-text' if face.text else ''}" for face in FACES]
every_face = pytest.mark.parametrize("face", FACES, ids=IDS)


def end(play: Any, face: Face, mode: str, way: str, on_incomplete: str) -> Any:
    turn = play(*[face.answer] * 12, on_incomplete=on_incomplete, fault_retries=0)
    got = turn.tell(mode, way, **FILES, max_tokens=1_000)
    assert turn.ending["status"] in ("partial", "failed")
    assert turn.ending["reason"] == face.reason
    assert turn.of("stop_reason_observed")[-1]["outcome"] == face.outcome
    assert got.calls == []
    return turn, got


def test_every_outcome_that_can_end_a_turn_unfinished_has_a_row():
    assert {face.outcome for face in FACES} == OF_TURNS - {Outcome.DONE}


@pytest.mark.behaviour("P1a", "P1", "T16")
@both
@every_face
def test_stop_shows_the_truthful_native_stop_or_an_error_where_there_is_none(play, face, mode, way):
    _, got = end(play, face, mode, way, "stop")
    if face.stop is None:
        assert_error(got, face, mode)
    else:
        assert (got.error, got.stop, got.text) == (None, face.stop, face.text)


@pytest.mark.behaviour("P1a", "C21", "P10")
@both
@every_face
def test_notice_adds_one_line_to_what_is_partial_and_none_to_what_was_refused(play, face, mode):
    turn, got = end(play, face, mode, "sync", "notice")
    if face.stop is None:
        assert_error(got, face, mode)
        return
    notice = f"\n\n[This answer is incomplete: {face.reason.replace('_', ' ')}.]"
    whole = face.outcome in (O.BLOCKED, O.REFUSED)
    said = face.text if whole or turn.ending["status"] == "failed" else face.text + notice
    assert (got.error, got.stop, got.text) == (None, face.stop, said)


@pytest.mark.behaviour("P1a", "P1")
@both
@every_face
def test_error_always_raises(play, face, mode):
    turn, got = end(play, face, mode, "async", "error")
    assert_error(got, face, mode)
    assert turn.ending["reason"].replace("_", " ") in str(got.error)


def assert_error(got: Any, face: Face, mode: str) -> None:
    """The SDK raises; the code is in its place, and what was received is not lost."""
    assert isinstance(got.error, anthropic.APIStatusError)
    body: Any = got.error.body
    error = body["error"]
    assert (error["type"], error["code"]) == ("api_error", face.code or face.reason)
    assert error["source"] == "tenuto_incomplete"
    if mode == "stream":  # the text was delivered before the error
        return
    assert isinstance(got.error, anthropic.APIStatusError)
    assert got.error.response.headers["x-should-retry"] == "false"
    assert error.get("partial", {}).get("text", "") == face.text


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize("face", [f for f in FACES if f.text], ids=lambda f: f.outcome.value)
def test_in_a_stream_the_text_comes_before_the_error(play, face):
    turn = play(*[face.answer] * 12, on_incomplete="error", fault_retries=0)
    said = ""
    given: Any = {"model": "m", "messages": [ASK], "max_tokens": 1_000}
    with turn.client.messages.stream(**given) as stream:
        try:
            for text in stream.text_stream:
                said += text
        except anthropic.APIStatusError:
            said += "|"
    assert said == face.text + "|"


@pytest.mark.behaviour("P1b", "P1a")
def test_an_error_after_recovery_is_not_retried_by_the_sdk(play):
    turn = play(*[R("")] * 12)
    retrying = turn.client.with_options(max_retries=2)
    with pytest.raises(anthropic.APIStatusError):
        retrying.messages.create(model="m", messages=[ASK], max_tokens=1_000)
    assert turn.sent == 2


@pytest.mark.behaviour("P1a")
@both
@pytest.mark.parametrize("stop", [MAX, TOOL, SAFETY, PAUSE])
def test_a_request_that_is_left_alone_shows_what_came(play, mode, way, stop):
    turn = play(R("A", stop), on_incomplete="error")
    got = turn.tell(mode, way, extra_headers={"x-tenuto": "off"})
    assert (got.error, got.text, got.stop, turn.sent) == (None, "A", stop, 1)


@pytest.mark.behaviour("N1a", "S6")
@pytest.mark.parametrize("policy", ["stop", "error"])
def test_text_behind_the_stop_comes_before_it_for_those_who_ask_for_errors(
    policy: Literal["stop", "error"],
) -> None:
    question = "Why do tides come twice a day?"
    with Simulator() as sim, anthropic.Anthropic(base_url=sim.root_url, api_key="none") as bare:
        client = tenuto.wrap(bare, policy=tenuto.Policy(on_incomplete=policy))
        events = list(
            client.messages.create(
                model="m",
                max_tokens=1_000,
                messages=[{"role": "user", "content": question}],
                extra_headers={"x-sim-fault": "content_after_finish"},
                stream=True,
            )
        )
        texts = [
            event.delta.text
            for event in events
            if event.type == "content_block_delta" and event.delta.type == "text_delta"
        ]
        assert "".join(texts) == sim.answer(question)
    kinds: list[str] = [event.type for event in events]
    ends = ["content_block_stop", "message_delta", "message_stop"]
    assert (kinds[-3:] == ends) is (policy == "error")
    assert [kinds.count(kind) for kind in ends] == [1, 1, 1]
    stops = [event.delta.stop_reason for event in events if event.type == "message_delta"]
    assert stops == ["end_turn"]
