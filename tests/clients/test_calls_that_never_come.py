"""Several calls are owed, and fewer come (T4a). Real bytes, through the official SDKs of eleven
wires."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import (
    LIMITS,
    MAKERS,
    At,
    arguments_of,
    ask,
    batch,
    made,
)
from support.far_sides import FarSide
from support.pairing import every_pair

import tenuto
from tenuto.core import hints

ONE = {"path": "a.txt", "content": "x"}
OTHER = {"path": "b.txt", "content": "y"}
ALL = pytest.mark.parametrize("wire", MAKERS)
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


def cut(wire: str, mode: str, *given: Any) -> bytes:
    return batch(wire, mode, *given, stop=LIMITS[wire])


def asked(wire: str, mode: str, *answers: bytes, way: str = "sync", **policy: Any) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**{**QUICK, **policy}))
        said = ask(asker, wire, mode, way)
        ending = asker.ending
        asker.close()
    return said, far.requests, ending


@pytest.mark.behaviour("T4a")
@ALL
@MODES
def test_the_rest_of_several_calls_is_asked_for_once_more(wire: str, mode: str, way: str) -> None:
    answers = cut(wire, mode, {}, {}), batch(wire, mode, ONE), batch(wire, mode, OTHER)
    said, requests, ending = asked(wire, mode, *answers, way=way)
    assert (said.error, arguments_of(said), len(requests)) == (None, [ONE, OTHER], 3)
    assert hints.CALL_WAITS_RESULT[:40].encode() in requests[2][1]
    assert b"a.txt" in requests[2][1]
    assert (ending["status"], ending["never_came"]) == ("complete", [])


@pytest.mark.behaviour("T4a", "P1")
@every_pair(wire=MAKERS, mode=("body", "stream"), third=("words", "the same again", "cut again"))
def test_what_never_comes_is_named_and_the_others_are_handed_on(
    wire: str, mode: str, third: str, way: str
) -> None:
    last = {
        "words": made(wire, "whole" if mode == "body" else mode, "I am done."),
        "the same again": batch(wire, mode, ONE),
        "cut again": cut(wire, mode, {}),
    }[third]
    answers = cut(wire, mode, {}, {}), batch(wire, mode, ONE), last
    said, requests, ending = asked(wire, mode, *answers, way=way)
    assert (said.error, arguments_of(said), len(requests)) == (None, [ONE], 3)
    assert (ending["status"], ending["reason"]) == ("partial", "tool_calls_missing")
    assert ending["never_came"] == ["write_file"]


@pytest.mark.behaviour("T4a")
@ALL
@MODES
def test_all_calls_may_come_the_third_time(wire: str, mode: str) -> None:
    answers = cut(wire, mode, {}, {}), batch(wire, mode, ONE), batch(wire, mode, ONE, OTHER)
    said, requests, ending = asked(wire, mode, *answers)
    assert (said.error, arguments_of(said), len(requests)) == (None, [ONE, OTHER], 3)
    assert ending["status"] == "complete"


THIRD = {"path": "c.txt", "content": "z"}
IN_SUMMARY = {"path": "a.txt", "content": "shorter"}
TOGETHER = {
    "others alone": ([ONE], [OTHER, THIRD], [ONE, OTHER, THIRD]),
    "one of them made anew": ([ONE], [IN_SUMMARY, OTHER], [IN_SUMMARY, OTHER]),
    "made anew in another order": ([ONE], [OTHER, IN_SUMMARY], [OTHER, IN_SUMMARY]),
    "the same content for each": (
        [ONE],
        [{**OTHER, "content": "x"}, {**THIRD, "content": "x"}],
        [ONE, {**OTHER, "content": "x"}, {**THIRD, "content": "x"}],
    ),
}


@pytest.mark.behaviour("T4a", "P10")
@every_pair(wire=MAKERS, mode=("body", "stream"), name=tuple(TOGETHER))
def test_a_call_that_waits_is_not_lost_to_as_many_others(
    wire: str, mode: str, name: str, way: str
) -> None:
    first, then, wanted = TOGETHER[name]
    answers = cut(wire, mode, {}, {}), batch(wire, mode, *first), batch(wire, mode, *then)
    said, requests, ending = asked(wire, mode, *answers, way=way)
    assert (said.error, arguments_of(said), len(requests)) == (None, wanted, 3)
    assert ending["status"] == "complete"


@pytest.mark.behaviour("T4a")
@ALL
@MODES
def test_a_call_that_came_whole_in_the_broken_batch_is_not_lost(wire: str, mode: str) -> None:
    words = made(wire, "whole" if mode == "body" else mode, "I am done.")
    answers = cut(wire, mode, ONE, {}), batch(wire, mode, OTHER), words
    said, requests, ending = asked(wire, mode, *answers)
    assert (said.error, arguments_of(said), len(requests)) == (None, [ONE, OTHER], 3)
    assert ending["status"] == "complete"


@pytest.mark.behaviour("T4a")
@ALL
@MODES
def test_with_error_a_turn_without_all_of_its_calls_raises(wire: str, mode: str) -> None:
    answers = cut(wire, mode, {}, {}), batch(wire, mode, ONE), cut(wire, mode, {})
    said, _, ending = asked(wire, mode, *answers, on_incomplete="error")
    assert said.error is not None
    assert ending["never_came"] == ["write_file"]
