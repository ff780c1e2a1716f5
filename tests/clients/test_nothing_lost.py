"""What says nothing, or shows nothing, takes nothing away from an answer and adds no end (P10)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.events.framing import Call
from support.every_wire import DECODED, LIMITS, MAKERS, OBJECTS, At, arguments_of, ask, made
from support.far_sides import FarSide, json_answer, sse_answer
from support.one_turn import Played

import tenuto
from tenuto.turn.drivers.scripted import Scripted

TEXT, GIVEN = "The moon pulls the sea, twice a day.", {"path": "a.txt", "content": "x"}
HALF = "The moon pulls the se"
OWN_ERRORS = ("bedrock-converse", "bedrock-invoke", "gemini-interactions")
"""Wires whose bodies have no member `error` beside an answer, or on which it tells a status."""


def played(wire: str, mode: str, *answers: bytes) -> tuple[Any, Any, int]:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        try:
            return ask(asker, wire, mode), asker, len(far.requests)
        finally:
            asker.close()


NOTHINGS: dict[str, Any] = {
    "members without a value": {"code": None, "message": None},
    "empty members": {"code": "", "message": "", "details": []},
    "a word": "none",
}


@pytest.mark.behaviour("P10")
@pytest.mark.parametrize(
    ("wire", "nothing"),
    [
        (wire, nothing)
        for wire in WIRES
        for nothing in NOTHINGS
        if wire not in OWN_ERRORS and (wire, nothing) != ("openai-responses", "a word")
    ],
)
def test_an_error_without_a_word_takes_no_call_away(wire: str, nothing: str) -> None:
    given: Any = GIVEN if wire in OBJECTS else json.dumps(GIVEN)
    body = {**WIRES[wire].body(TEXT, [Call((given,))], None), "error": NOTHINGS[nothing]}
    said, asker, requests = played(wire, "body", json_answer(json.dumps(body).encode()))
    assert (said.text, arguments_of(said), requests) == (TEXT, [GIVEN], 1)
    assert asker.ending["status"] == "complete"


STRAY = (
    b"event: ping\ndata: ping\n\n",
    b"event: ping\ndata: null\n\n",
    b"data: ping\n\n",
    b"data: null\n\n",
    b"data: []\n\n",
    b'data: ""\n\n',
)
IGNORED_BY_SDK = {
    "anthropic-messages": STRAY,
    "cohere": STRAY[:2] + STRAY[3:],
    "gemini-generate": STRAY[3:5],
}
"""The frames that each bare SDK passes over; the others raise an error or yield the value itself."""


@pytest.mark.behaviour("P10")
@pytest.mark.parametrize(
    ("wire", "stray"), [(wire, each) for wire, strays in IGNORED_BY_SDK.items() for each in strays]
)
def test_a_frame_that_holds_no_part_of_an_answer_ends_nothing(wire: str, stray: bytes) -> None:
    given: Any = GIVEN if wire == "gemini-generate" else json.dumps(GIVEN)
    events = WIRES[wire].framed(WIRES[wire].events(TEXT, [Call((given,))], None))
    for at in range(len(events) + 1):
        sent = sse_answer(b"".join([*events[:at], stray, *events[at:]]))
        said, asker, requests = played(wire, "stream", sent)
        assert (said.text, arguments_of(said), requests) == (TEXT, [GIVEN], 1), at
        assert asker.ending["status"] == "complete"


@pytest.mark.behaviour("P10", "T13a")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize(
    "wire", [w for w in WIRES if w not in ("bedrock-converse", "bedrock-invoke")]
)
def test_a_byte_that_is_no_character_in_a_text_takes_no_call_away(wire: str, mode: str) -> None:
    given: Any = GIVEN if wire in (OBJECTS if mode == "body" else DECODED) else json.dumps(GIVEN)
    wrote, calls = WIRES[wire], [Call((given,))]
    if mode == "body":
        sent = json_answer(_garble(json.dumps(wrote.body(TEXT, calls, None)).encode()))
    else:
        sent = sse_answer(_garble(b"".join(wrote.framed(wrote.events(TEXT, calls, None)))))
    said, asker, requests = played(wire, mode, sent)
    assert (said.text, arguments_of(said)) == (TEXT.replace("o", "\ufffd", 1), [GIVEN])
    assert (asker.ending["status"], requests) == ("complete", 1)


def _garble(raw: bytes) -> bytes:
    return raw.replace(b"moon", b"m\xffon")


USER = {"messages": [{"role": "user", "content": "Write it."}]}
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"
STRAY_ITEMS: list[tuple[str, str, dict[str, Any], tuple[str | int, ...], Any]] = [
    (wire, url, {"model": "m", **USER}, place, item)
    for wire, url, place in (
        ("openai-chat", "https://h/v1/chat/completions", ("choices", 0, "message", "tool_calls")),
        (
            "mistral",
            "https://api.mistral.ai/v1/chat/completions",
            ("choices", 0, "message", "tool_calls"),
        ),
        ("ollama", "http://localhost:11434/api/chat", ("message", "tool_calls")),
    )
    for item in ("x", 1, True)
] + [
    (
        "gemini-generate",
        GEMINI,
        {"contents": [{"role": "user", "parts": [{"text": "Write it."}]}]},
        ("candidates", 0, "content", "parts"),
        {"functionCall": {}},
    )
]
"""Items behind a call that are none: values that are no object, and an end mark of arguments that
came whole (Gemini). Most askers of these tests cannot read them, as the bare SDKs hand them out."""


@pytest.mark.behaviour("P10", "T13a")
@pytest.mark.parametrize(("wire", "url", "asked", "place", "item"), STRAY_ITEMS)
def test_an_item_that_is_no_call_takes_away_no_call_before_it(
    wire: str, url: str, asked: dict[str, Any], place: tuple[str | int, ...], item: Any
) -> None:
    given: Any = GIVEN if wire in OBJECTS else json.dumps(GIVEN)
    body = WIRES[wire].body(TEXT, [Call((given,))], None)
    sent = copy.deepcopy(body)
    at(sent, place).append(item)
    asked |= {"stream": False} if wire == "ollama" else {}
    turn = Played(url, asked, Scripted.body(json.dumps(sent).encode()))
    assert (len(turn.sent), turn.report.status) == (1, "complete")
    assert at(json.loads(turn.got), place) == at(body, place)


def at(value: Any, place: tuple[str | int, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


INVISIBLE = ("\u200b", "\ufeff", "\u00ad\u2060", "\x1b[0m", "\x07")


@pytest.mark.behaviour("P10", "S3a")
@pytest.mark.parametrize("rest", INVISIBLE, ids=ascii)
@pytest.mark.parametrize("mode", ["whole", "stream"])
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic-messages", "gemini-generate"])
def test_a_continuation_that_shows_nothing_makes_no_whole_of_a_cut_text(
    wire: str, mode: str, rest: str
) -> None:
    cut = made(wire, mode, HALF, LIMITS[wire])
    said, asker, _ = played(wire, mode, cut, *[made(wire, mode, rest)] * 4)
    assert said.text.startswith(HALF)
    assert asker.ending["status"] == "partial"
