"""Filters and unreadable calls that are told as errors, through the SDKs of all wires: a filter is not
asked again at the same provider, and a call that the server could not read is, in other words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import DECODED, LIMITS, MAKERS, At, arguments_of, ask, made, streamed, whole
from support.far_sides import FarSide, json_answer
from support.pairing import every_pair
from support.refusals import SHAPES

import tenuto

SAID = "The moon pulls the sea."
WANTED = {"path": "a.txt", "content": "x"}

both = pytest.mark.parametrize("mode", ["body", "stream"])
every_wire = pytest.mark.parametrize("wire", sorted(MAKERS))


def refusal(wire: str, text: str, status: str) -> bytes:
    shape = SHAPES.get(wire, SHAPES["openai-chat"])
    return json_answer(json.dumps(shape(text)).encode(), status=status)


def asked(wire: str, mode: str, *answers: bytes, **policy: Any) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**{**QUICK, **policy}))
        said = ask(asker, wire, mode)
        asker.close()
        return said, asker.ending, [body for _, body in far.requests]


@pytest.mark.behaviour("E12a", "C6")
@every_pair(
    wire=sorted(MAKERS),
    mode=("body", "stream"),
    status=("400 Bad Request", "403 Forbidden", "500 Server Error"),
)
def test_a_filter_ends_a_further_attempt_and_the_text_stays(
    wire: str, mode: str, status: str
) -> None:
    cut = made(wire, "whole" if mode == "body" else mode, SAID, LIMITS[wire])
    filtered = refusal(wire, "Content violates usage guidelines.", status)
    said, ending, bodies = asked(wire, mode, cut, filtered)
    assert (said.error, said.text, len(bodies)) == (None, SAID, 2)
    assert (ending["status"], ending["reason"]) == ("partial", "safety_blocked")


@pytest.mark.behaviour("T2", "T5")
@both
@pytest.mark.parametrize("status", ["400 Bad Request", "500 Server Error"])
@pytest.mark.parametrize(
    "wire", ["anthropic-messages", "ollama", "openai-chat", "openai-responses"]
)
def test_a_call_that_the_server_could_not_read_is_asked_for_in_other_words(
    wire: str, mode: str, status: str
) -> None:
    unread = refusal(wire, "Failed to parse tool call arguments as JSON: parse error", status)
    given: Any = WANTED if wire in DECODED else json.dumps(WANTED)
    if mode == "body" and wire == "anthropic-messages":
        given = WANTED
    good = whole(wire, given) if mode == "body" else streamed(wire, given)
    said, ending, bodies = asked(wire, mode, unread, good)
    assert (said.error, arguments_of(said), ending["status"]) == (None, [WANTED], "complete")
    first, second = bodies
    assert first != second
    assert b"Make the call again" in second


@pytest.mark.behaviour("T2")
@both
@pytest.mark.parametrize(
    ("wire", "stop"),
    [
        ("gemini-generate", "UNEXPECTED_TOOL_CALL"),
        ("gemini-generate", "MALFORMED_FUNCTION_CALL"),
        ("openai-chat", "unexpected_tool_call"),
        ("openai-chat", "malformed_function_call"),
        ("anthropic-messages", "malformed_tool_use"),
        ("bedrock-converse", "malformed_tool_use"),
        ("mistral", "malformed_function_call"),
        ("cohere", "MALFORMED_FUNCTION_CALL"),
    ],
)
def test_without_tools_the_model_is_asked_for_words(wire: str, stop: str, mode: str) -> None:
    nothing = " " if wire == "gemini-generate" else ""  # an event needs a part
    answers = (made(wire, "whole" if mode == "body" else mode, text, end)
               for text, end in ((nothing, stop), (SAID, None)))  # fmt: skip
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK))
        row = ROWS.get(wire, {"role": "user", "content": "Why tides?"})
        said = asker.ask([row], mode, "sync")
        asker.close()
        second = far.requests[1][1]
    assert (said.error, said.text) == (None, SAID)
    assert b"Make the call" not in second
    assert b"in plain text" in second


ROWS: dict[str, Any] = {
    "bedrock-converse": {"role": "user", "content": [{"text": "Why tides?"}]},
    "gemini-generate": {"role": "user", "parts": [{"text": "Why tides?"}]},
}
