"""Calls that lack a member that their tool requires (T12b): the model's own, unless something else
says that the answer was cut. Real bytes, through the official SDKs of eleven wires."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.events.framing import Call
from support.every_wire import (
    DECODED,
    LIMITS,
    MAKERS,
    OBJECTS,
    At,
    arguments_of,
    ask,
    streamed,
    whole,
)
from support.far_sides import RESET, Answer, FarSide, answer
from support.pairing import every_pair

import tenuto

WANTED = {"path": "a.txt", "content": "x"}
HALF = {"path": "a.txt"}
LIMIT = 50
ALL = pytest.mark.parametrize("wire", MAKERS)
MODES = pytest.mark.parametrize("mode", ["body", "stream"])
GIVEN = {"half": HALF, "none": {}}


def made(wire: str, mode: str, given: Any, used: int | None, stop: str | None = None) -> bytes:
    if mode == "body":
        return whole(wire, given if wire in OBJECTS else json.dumps(given), used=used, stop=stop)
    piece = given if wire in DECODED else json.dumps(given)
    return streamed(wire, piece, used=used, stop=stop)


def asked(wire: str, mode: str, *answers: Answer, way: str = "sync", **policy: Any) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**{**QUICK, **policy}))
        said = ask(asker, wire, mode, way, limit=LIMIT)
        seen, ending = asker.of("stop_reason_observed"), asker.ending
        asker.close()
    return said, len(far.requests), seen, ending


@pytest.mark.behaviour("T12b")
@every_pair(wire=MAKERS, mode=("body", "stream"), lacks=GIVEN, used=(LIMIT - 1, None))
def test_a_call_that_lacks_a_member_below_the_limit_is_handed_on_as_it_came(
    wire: str, mode: str, lacks: str, used: int | None, way: str
) -> None:
    given = GIVEN[lacks]
    if (wire, mode) == ("mistral", "body"):
        used = LIMIT - 1  # its SDK takes no body without a usage
    said, requests, seen, ending = asked(wire, mode, made(wire, mode, given, used), way=way)
    assert (said.error, arguments_of(said), requests) == (None, [given], 1)
    assert "call_lacks_required" in seen[0]["anomalies"]
    assert ending["status"] == "complete"


@pytest.mark.behaviour("T12b")
@every_pair(wire=MAKERS, mode=("body", "stream"), lacks=GIVEN, used=(LIMIT, LIMIT + 1))
def test_a_call_that_lacks_a_member_at_the_limit_is_asked_for_again(
    wire: str, mode: str, lacks: str, used: int, way: str
) -> None:
    given = GIVEN[lacks]
    answers = made(wire, mode, given, used), made(wire, mode, WANTED, LIMIT - 1)
    said, requests, seen, _ = asked(wire, mode, *answers, way=way)
    assert (said.error, arguments_of(said), requests) == (None, [WANTED], 2)
    assert seen[0]["outcome"] == "arguments_cut"


@pytest.mark.behaviour("T12b", "T3")
@every_pair(wire=MAKERS, mode=("body", "stream"), lacks=GIVEN)
def test_a_call_that_lacks_a_member_under_a_cutting_stop_is_asked_for_again(
    wire: str, mode: str, lacks: str
) -> None:
    cut = made(wire, mode, GIVEN[lacks], None, LIMITS[wire])
    said, requests, _, _ = asked(wire, mode, cut, made(wire, mode, WANTED, LIMIT - 1))
    assert (said.error, arguments_of(said), requests) == (None, [WANTED], 2)


@pytest.mark.behaviour("T12b")
@ALL
@MODES
def test_what_comes_again_and_lacks_a_member_below_the_limit_is_not_lost(
    wire: str, mode: str
) -> None:
    answers = made(wire, mode, {}, LIMIT), made(wire, mode, HALF, LIMIT - 1)
    said, requests, _, ending = asked(wire, mode, *answers)
    assert (said.error, arguments_of(said), requests) == (None, [HALF], 2)
    assert ending["status"] == "complete"


@pytest.mark.behaviour("T12b", "S3a")
@pytest.mark.parametrize("wire", [wire for wire in MAKERS if wire != "mistral"])
def test_a_call_that_lacks_a_member_before_a_break_is_asked_for_again(wire: str) -> None:
    kind = WIRES[wire]
    piece = HALF if wire in DECODED else json.dumps(HALF)
    events = kind.events("", [Call((piece,))])
    told = [n for n, event in enumerate(events) if "a.txt" in json.dumps(event)]
    begun = events[: told[0] + 1]
    for candidate in begun[-1].get("candidates", ()):
        del candidate["finishReason"]
    head = answer(b"", f"content-type: {kind.content_type}", length=False)
    broken = (head, b"".join(kind.framed(begun)), RESET)
    said, requests, _, _ = asked(wire, "stream", broken, made(wire, "stream", WANTED, LIMIT - 1))
    assert (said.error, arguments_of(said), requests) == (None, [WANTED], 2)
