"""Arguments whose pieces are sent again are one call's (T13a). Real bytes, through the official SDKs
of all wires that have pieces, or that send a call once more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.events.framing import Call
from support.every_wire import MAKERS, At, arguments_of, ask, batch
from support.far_sides import FarSide, answer

import tenuto

WANTED = {"path": "a.txt", "content": "ha ha ha"}
TEXT = json.dumps(WANTED)
PIECES = [TEXT[:12], TEXT[12:30], TEXT[30:33], TEXT[33:36], TEXT[36:]]
SENT_AGAIN: dict[str, list[str]] = {
    "whole": [*PIECES, TEXT],
    "piece by piece": [*PIECES, *PIECES],
    "all so far": ["".join(PIECES[: n + 1]) for n in range(len(PIECES))],
    "behind {}": ["{}", *PIECES],
    "whole behind {}": ["{}", TEXT],
    "each piece twice": [piece for piece in PIECES for _ in range(2)],
    "all so far, and whole again": [*("".join(PIECES[: n + 1]) for n in range(len(PIECES))), TEXT],
    "not at all": PIECES,
}
HAVE_PIECES = [wire for wire in MAKERS if wire not in ("cohere-v1", "gemini-generate", "ollama")]
SMALLER: dict[str, Any] = {
    "nothing": {},
    "half": {"path": "a.txt"},
    "all so far": {"path": "a.txt", "content": "ha"},
}


def asked(wire: str, events: list[Any], way: str) -> Any:
    made = WIRES[wire]
    raw = b"".join(made.framed(events))
    with FarSide(answer(raw, f"content-type: {made.content_type}", length=False)) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        said = ask(asker, wire, "stream", way)
        ending = asker.ending
        asker.close()
    assert len(far.requests) == 1
    assert ending["status"] == "complete"
    return said


@pytest.mark.behaviour("T13a")
@pytest.mark.parametrize("how", SENT_AGAIN)
@pytest.mark.parametrize("wire", [*HAVE_PIECES, "openai-responses, right at its end"])
def test_pieces_that_are_sent_again_are_one_calls_arguments(wire: str, how: str, way: str) -> None:
    wire, _, right_at_its_end = wire.partition(",")
    pieces = SENT_AGAIN[how]
    events = WIRES[wire].events("So: ", [Call(tuple(pieces))])
    if right_at_its_end:  # its events end with the whole call
        events = json.loads(json.dumps(events).replace(_inside("".join(pieces)), _inside(TEXT)))
    said = asked(wire, events, way)
    assert (said.error, said.text.strip()) == (None, "So:")
    assert arguments_of(said) == [WANTED]


def _inside(text: str) -> str:
    """A text as it stands inside JSON."""
    return json.dumps(text)[1:-1]


@pytest.mark.behaviour("T13a")
@pytest.mark.parametrize("less", SMALLER.values(), ids=SMALLER)
@pytest.mark.parametrize("named", [True, False], ids=["id", "no id"])
@pytest.mark.parametrize("wire", ["gemini-generate", "ollama"])
def test_a_call_that_is_sent_again_with_more_is_one_call(
    wire: str, named: bool, less: Any, way: str
) -> None:
    if not named and len(less) == len(WANTED):
        less = {}  # two calls, each with all that is required, may be two
    events = WIRES[wire].events("", [Call((less, WANTED))])
    if named:
        key = '"functionCall": {' if wire == "gemini-generate" else '{"function": {'
        told = json.dumps(events)
        name = '"functionCall": {"id": "c1", ' if key[1:2] == "f" else '{"id": "c1", "function": {'
        events = json.loads(told.replace(key, name))
    said = asked(wire, events, way)
    assert (said.error, arguments_of(said)) == (None, [WANTED])


@pytest.mark.behaviour("T13a", "P10")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("wire", ["gemini-generate", "ollama"])
def test_a_call_with_another_path_is_another_call(wire: str, mode: str, way: str) -> None:
    given = [{"path": "a.txt"}, {"path": "a.txt.bak", "content": "x"}]
    answers = [batch(wire, mode, *given)]
    if mode == "body":  # which isn't sent in pieces
        answers.append(batch(wire, mode, {}, WANTED))
    for answer_, wanted in zip(answers, (given, [{}, WANTED]), strict=False):
        with FarSide(answer_) as far:
            asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
            said = ask(asker, wire, mode, way)
            asker.close()
        assert (said.error, arguments_of(said), len(far.requests)) == (None, wanted, 1)
