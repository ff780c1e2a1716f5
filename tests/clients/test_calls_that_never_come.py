"""Several calls are owed, and fewer come (T4a). Real bytes, through the official SDKs of eleven
wires."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import (
    DECODED,
    LIMITS,
    MAKERS,
    At,
    arguments_of,
    ask,
    batch,
    made,
)
from support.far_sides import RESET, FarSide
from support.pairing import every_pair

import tenuto
from tenuto.core import hints

ONE = {"path": "a.txt", "content": "x"}
OTHER = {"path": "b.txt", "content": "y"}
ALL = pytest.mark.parametrize("wire", MAKERS)
MODES = pytest.mark.parametrize("mode", ["body", "stream"])


def cut(wire: str, mode: str, *given: Any) -> bytes:
    return batch(wire, mode, *given, stop=LIMITS[wire])


def asked(wire: str, mode: str, *answers: Any, way: str = "sync", **policy: Any) -> Any:
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
ALIKE = {**OTHER, "content": "x"}
PIECE = '{"path": "b.txt", "con'
TOGETHER: dict[str, tuple[list[Any], list[Any], list[Any], list[Any]]] = {
    "others alone": ([{}, {}], [ONE], [OTHER, THIRD], [ONE, OTHER, THIRD]),
    "one of them made anew": ([{}, {}], [ONE], [IN_SUMMARY, OTHER], [IN_SUMMARY, OTHER]),
    "made anew in another order": ([{}, {}], [ONE], [OTHER, IN_SUMMARY], [OTHER, IN_SUMMARY]),
    "the same content in each": (
        [{}, {}],
        [ONE],
        [ALIKE, {**THIRD, "content": "x"}],
        [ONE, ALIKE, {**THIRD, "content": "x"}],
    ),
    "the same content in one of them": ([{}, {}], [ONE], [ALIKE, THIRD], [ONE, ALIKE, THIRD]),
    "the same call, which the model made twice": (
        [ONE, ONE, {}],
        [ONE],
        [ONE, OTHER],
        [ONE, ONE, OTHER],
    ),
    "the same call twice, and once more": (
        [{}, {}, {}],
        [ONE, ONE],
        [ONE, OTHER],
        [ONE, ONE, OTHER],
    ),
    "twice the same call, which the model made three times": (
        [ONE, ONE, {}],
        [ONE],
        [ONE, ONE],
        [ONE] * 3,
    ),
}
"""The broken batch, those of it that come, what comes when the rest is asked for, and what the
caller gets."""


@pytest.mark.behaviour("T4a", "P10")
@every_pair(wire=MAKERS, mode=("body", "stream"), name=tuple(TOGETHER))
def test_a_call_that_waits_is_not_lost_to_as_many_others(
    wire: str, mode: str, name: str, way: str
) -> None:
    begun, first, then, wanted = TOGETHER[name]
    answers = cut(wire, mode, *begun), batch(wire, mode, *first), batch(wire, mode, *then)
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


IN_PIECES = [wire for wire in MAKERS if wire not in DECODED]
ANOTHER = {"path": "d.txt", "content": "w"}
SHORTER = {**OTHER, "content": "shorter"}
OF_PIECES: dict[str, tuple[list[Any], list[Any], list[Any], list[str]]] = {
    "the cut one in other words": (
        [ONE, '{"path": "b.txt", "content": "a long te'],
        [SHORTER],
        [ONE, SHORTER],
        [],
    ),
    "the whole one in other words": ([ONE, PIECE], [IN_SUMMARY], [IN_SUMMARY], ["write_file"]),
    "another file in place of the cut one": ([ONE, PIECE], [THIRD], [ONE, THIRD], []),
    "two whole ones": ([ONE, THIRD, PIECE], [OTHER], [ONE, THIRD, OTHER], []),
    "one before and one behind": (
        [ONE, "{nothing}", THIRD, PIECE],
        [ANOTHER, SHORTER],
        [ONE, ANOTHER, THIRD, SHORTER],
        [],
    ),
}
"""What was begun, what comes of it, and what the caller gets if nothing else does."""


@pytest.mark.behaviour("T4a", "P10")
@every_pair(wire=IN_PIECES, name=tuple(OF_PIECES))
def test_a_call_is_the_one_of_its_batch_that_it_is_most_like(
    wire: str, name: str, way: str
) -> None:
    begun, then, wanted, lost = OF_PIECES[name]
    if name == "the whole one in other words":  # else it may well be the one that was cut
        answers = [cut(wire, "stream", *begun), batch(wire, "stream", ONE)]
    else:
        answers = [cut(wire, "stream", *begun)]
    last = made(wire, "stream", "I am done.")
    said, _, ending = asked(wire, "stream", *answers, batch(wire, "stream", *then), last, way=way)
    assert (said.error, arguments_of(said)) == (None, wanted)
    assert ending["never_came"] == lost
    assert ending["status"] == ("partial" if lost else "complete")


READABLE = [wire for wire in MAKERS if wire != "bedrock-invoke"]
"""Wires in whose bytes a place can be found; the other one has its events in Base64."""


@pytest.mark.behaviour("T4a", "T5", "P10")
@every_pair(wire=READABLE, begun=("one", "two"), on_incomplete=("stop", "error"))
def test_an_answer_that_breaks_off_in_its_call_leaves_the_cut_one_due(
    wire: str, begun: str, on_incomplete: str, way: str
) -> None:
    given = [ONE, {}] if begun == "two" else [{}]
    again = batch(wire, "stream", *given[:-1], OTHER)
    broken = again[: again.rindex(b"b.txt") - 4], RESET
    words = made(wire, "stream", "All done.")
    answers = cut(wire, "stream", *given), broken, words
    said, _, ending = asked(wire, "stream", *answers, way=way, on_incomplete=on_incomplete)
    assert ending["status"] in ("partial", "failed")
    assert ending["reason"] != "completed"
    if on_incomplete == "error":
        assert said.error is not None
    else:
        assert arguments_of(said) == given[:-1]


@pytest.mark.behaviour("T4a")
@ALL
@MODES
def test_with_error_a_turn_without_all_of_its_calls_raises(wire: str, mode: str) -> None:
    answers = cut(wire, mode, {}, {}), batch(wire, mode, ONE), cut(wire, mode, {})
    said, _, ending = asked(wire, mode, *answers, on_incomplete="error")
    assert said.error is not None
    assert ending["never_came"] == ["write_file"]
