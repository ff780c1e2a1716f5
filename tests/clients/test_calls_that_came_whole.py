"""A call that came whole, in a batch of which another was cut, is not lost when the calls are asked for
again in vain (P10, D2 of the public reports). Real bytes, through the official SDKs of eleven wires."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import (
    DECODED,
    LIMITS,
    MAKERS,
    OBJECTS,
    At,
    arguments_of,
    ask,
    batch,
    made,
)
from support.far_sides import RESET, FarSide, json_answer
from support.pairing import every_pair

import tenuto

ONE = {"path": "a.txt", "content": "x"}
OTHER = {"path": "b.txt", "content": "y"}
DOWN = json_answer(b'{"error": {"message": "It is down."}, "message": "It is down."}',
                   status="500 Internal Server Error")  # fmt: skip
ALL = pytest.mark.parametrize("wire", MAKERS)
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


def cut(wire: str, mode: str, *given: Any, text: str = "") -> bytes:
    return batch(wire, mode, *given, stop=LIMITS[wire], text=text)


def words(wire: str, mode: str, said: str) -> bytes:
    return made(wire, "whole" if mode == "body" else mode, said)


def asked(wire: str, mode: str, *answers: Any, way: str = "sync", **policy: Any) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**{**QUICK, **policy}))
        said = ask(asker, wire, mode, way)
        ending = asker.ending
        asker.close()
    return said, ending


def stop_of(said: Any) -> str | None:
    stop: str | None = said.stop if hasattr(said, "stop") else said.finish
    return stop


FAILED = {
    **dict.fromkeys(MAKERS, "error"),
    "bedrock-converse": "malformed_model_output",
    "cohere": "ERROR",
    "cohere-v1": "ERROR",
    "gemini-generate": "MALFORMED_RESPONSE",
    "gemini-interactions": "failed",
    "openai-responses": "failed",
}
"""What each wire says where an answer failed."""

FILTERED = {
    "anthropic-messages": "refusal",
    "bedrock-converse": "content_filtered",
    "cohere": "ERROR_TOXIC",
    "cohere-v1": "ERROR_TOXIC",
    "gemini-generate": "SAFETY",
    "mistral": "content_filter",
    "openai-chat": "content_filter",
}
"""What wires say where a filter stopped an answer."""

FULL = {
    "anthropic-messages": "model_context_window_exceeded",
    "bedrock-converse": "model_context_window_exceeded",
    "mistral": "model_length",
}
"""What wires say where the context window is full."""

IN_VAIN = {
    "down": lambda wire, mode: DOWN,
    "breaks": lambda wire, mode: (cut(wire, mode, ONE)[:40], RESET),
    "cut again": lambda wire, mode: cut(wire, mode, {}),
    "words": lambda wire, mode: words(wire, mode, "I am done."),
    "nothing": lambda wire, mode: words(wire, mode, ""),
    "failed": lambda wire, mode: made(wire, "whole" if mode == "body" else mode, "", FAILED[wire]),
}
"""What comes instead of the calls, however often they are asked for."""


@pytest.mark.behaviour("P10", "T4a", "T3")
@every_pair(wire=MAKERS, mode=("body", "stream"), then=IN_VAIN)
def test_a_whole_call_before_a_cut_one_is_shown_beside_the_cutting_stop(
    wire: str, mode: str, then: str, way: str
) -> None:
    answers = cut(wire, mode, ONE, {}), IN_VAIN[then](wire, mode)
    said, ending = asked(wire, mode, *answers, way=way)
    assert (said.error, arguments_of(said)) == (None, [ONE])
    assert stop_of(said) == LIMITS[wire]
    assert (ending["status"], ending["never_came"]) == ("partial", ["write_file"])


@pytest.mark.behaviour("P10", "T3")
@ALL
@MODES
def test_with_error_it_raises_as_before(wire: str, mode: str) -> None:
    said, ending = asked(wire, mode, cut(wire, mode, ONE, {}), DOWN, on_incomplete="error")
    assert said.error is not None
    assert arguments_of(said) == []
    assert ending["status"] == "failed"


@pytest.mark.behaviour("P10", "P1a")
@ALL
@MODES
def test_with_notice_a_line_says_so_beside_it(wire: str, mode: str) -> None:
    said, ending = asked(wire, mode, cut(wire, mode, ONE, {}), DOWN, on_incomplete="notice")
    assert (said.error, arguments_of(said), stop_of(said)) == (None, [ONE], LIMITS[wire])
    assert ending["reason"].replace("_", " ") in said.text


@pytest.mark.behaviour("P10", "T3", "T16")
@ALL
@MODES
def test_the_last_call_of_a_cut_batch_may_be_cut_without_a_trace(wire: str, mode: str) -> None:
    said, _ = asked(wire, mode, cut(wire, mode, ONE, OTHER), DOWN)
    assert (said.error, arguments_of(said)) == (None, [ONE])
    said, _ = asked(wire, mode, cut(wire, mode, ONE), DOWN)
    assert said.error is not None
    assert arguments_of(said) == []


@pytest.mark.behaviour("P10", "C24")
@ALL
@MODES
def test_its_text_stands_before_it(wire: str, mode: str, way: str) -> None:
    answers = cut(wire, mode, ONE, {}, text="I write it."), DOWN
    said, ending = asked(wire, mode, *answers, way=way)
    assert (said.error, said.text, arguments_of(said)) == (None, "I write it.", [ONE])
    assert ending["status"] == "partial"


@pytest.mark.behaviour("P10", "T3")
@ALL
@MODES
def test_it_is_shown_where_the_policy_asks_for_nothing_again(wire: str, mode: str) -> None:
    none: dict[str, Any] = {"continuation_tool_repair_attempts": 0, "tool_answer_attempts": 0}
    said, ending = asked(wire, mode, cut(wire, mode, ONE, {}), **none)
    assert (said.error, arguments_of(said)) == (None, [ONE])
    assert (ending["status"], ending["reason"]) == ("partial", "tool_call_truncated")


@pytest.mark.behaviour("P10", "T4")
@pytest.mark.parametrize(
    ("wire", "mode"),
    [(w, m) for w in MAKERS for m in ("body", "stream")
     if w not in (OBJECTS if m == "body" else DECODED)],
)  # fmt: skip
def test_a_whole_call_beside_a_malformed_one_is_shown_too(wire: str, mode: str) -> None:
    broken = batch(wire, mode, "{'path': 1]", ONE, stop=None)
    said, ending = asked(wire, mode, broken, DOWN)
    assert (said.error, arguments_of(said)) == (None, [ONE])
    assert stop_of(said) == stop_of(asked(wire, mode, cut(wire, mode, text="Half"), DOWN)[0])
    assert (ending["status"], ending["never_came"]) == ("partial", ["write_file"])


@pytest.mark.behaviour("P10", "P1c")
@ALL
@MODES
def test_beside_a_stop_of_the_providers_own_for_a_failure_that_stop_stays(
    wire: str, mode: str
) -> None:
    said, ending = asked(wire, mode, batch(wire, mode, ONE, {}, stop=FAILED[wire]), DOWN)
    assert (said.error, arguments_of(said), stop_of(said)) == (None, [ONE], FAILED[wire])
    assert ending["status"] == "partial"


@pytest.mark.behaviour("P10", "E12")
@MODES
@pytest.mark.parametrize(("wire", "stop"), [*FILTERED.items(), *FULL.items()], ids=str)
def test_beside_a_stop_after_which_nothing_is_asked_for_it_is_shown(
    wire: str, stop: str, mode: str
) -> None:
    said, ending = asked(wire, mode, batch(wire, mode, ONE, {}, stop=stop))
    assert (said.error, arguments_of(said), stop_of(said)) == (None, [ONE], stop)
    assert (ending["status"], ending["attempts"]) == ("partial", 1)


@pytest.mark.behaviour("P1c", "S3")
@ALL
def test_where_the_bare_sdk_raises_it_is_still_raised(wire: str) -> None:
    whole = cut(wire, "stream", ONE, {})
    said, _ = asked(wire, "stream", (whole[: -len(whole) // 3], RESET), DOWN)
    assert said.error is not None
