"""Codes, places and counts that are no numbers that Python reads, in a live turn."""

from __future__ import annotations

from typing import Any

import pytest
from support.events.framing import sse
from support.one_turn import Played

from tenuto.turn.drivers.scripted import Scripted
from tenuto.wires.openai_responses.wire import CURSORS

URL = "https://host.example/v1/chat/completions"
ASKED = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Why?"}]}
TEXT = {"id": "c", "choices": [{"index": 0, "delta": {"content": "The moon pulls the se"}}]}
CODES = (
    "4" * 5_000,
    "\u00b2\u00b2\u00b2",
    "\u0664\u0662\u0669",
    "-429",
    "4.29",
    "",
    "429 ",
    -(10**30),
)


@pytest.mark.behaviour("P10")
@pytest.mark.parametrize("member", ["code", "status", "type"])
@pytest.mark.parametrize("code", CODES, ids=lambda code: str(code)[:8])
def test_an_odd_code_of_an_error_in_a_stream_keeps_the_text(code: Any, member: str) -> None:
    pieces = sse([TEXT, {"error": {member: code, "message": "It failed."}}])
    played = Played(URL, ASKED, *[Scripted.stream(*pieces)] * 9)
    assert b"The moon pulls the se" in played.got
    assert played.report.status != "complete"


@pytest.mark.behaviour("C30")
@pytest.mark.parametrize(
    ("place", "other", "behind"),
    [
        ("\u00b2", "1", True),
        ("1" + "0" * 5_000, "9" * 5_000, True),
        ("9" * 5_000, "1" + "0" * 5_000, False),
        ("2", "2", False),
    ],
    ids=["a superscript", "longer", "shorter", "the same"],
)
def test_an_odd_place_in_a_stored_answer_is_compared(place: str, other: str, behind: bool) -> None:
    assert CURSORS.is_behind(place, other) is behind
