"""Half a text under a stop that tells a fault, and a further answer that adds nothing (S3a, P1c).

The provider said itself that the text broke off. A clean stop without a word doesn't take that
back: the text is partial, and the caller sees the stop of the fault."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.every_wire import LIMITS, MAKERS, At, ask, cut_text, made
from support.far_sides import FarSide, answer

import tenuto

HALF, REST = "The moon pulls the se", "a, twice a day."
STOPS = {
    "anthropic-messages": "malformed_response",
    "bedrock-converse": "malformed_model_output",
    "bedrock-invoke": "error",
    "cohere": "ERROR",
    "cohere-v1": "TIMEOUT",
    "gemini-generate": "MALFORMED_RESPONSE",
    "gemini-interactions": "failed",
    "mistral": "error",
    "ollama": "error",
    "openai-chat": "insufficient_system_resource",
    "openai-responses": "failed",
}
"""One stop for each wire that tells a fault."""

every_wire = pytest.mark.parametrize("wire", STOPS)
every_mode = pytest.mark.parametrize("mode", ["whole", "stream"])


def stop_of(said: Any) -> Any:
    """The native stop, under the name that the asker of a wire has for it."""
    return next(
        value
        for name in ("finish", "stop", "status", "stop_reason")
        if (value := getattr(said, name, None)) is not None
    )


def asked(wire: str, mode: str, on_incomplete: Any, *answers: bytes) -> tuple[Any, Any, int]:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK, on_incomplete=on_incomplete))
        try:
            return ask(asker, wire, mode), asker, len(far.requests)
        finally:
            asker.close()


@pytest.mark.behaviour("S3a", "P1a")
@every_wire
@every_mode
def test_the_stop_of_a_fault_stays_where_the_further_answer_is_empty(wire: str, mode: str) -> None:
    half, empty = made(wire, mode, HALF, STOPS[wire]), made(wire, mode, "")
    said, asker, requests = asked(wire, mode, "stop", half, empty)
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "provider_error")
    assert (said.text, stop_of(said)) == (HALF, STOPS[wire])
    assert requests == 3, "it is asked for once more, in other words"


@pytest.mark.behaviour("S3a", "P1")
@every_wire
@every_mode
def test_those_who_ask_for_errors_get_one(wire: str, mode: str) -> None:
    half, empty = made(wire, mode, HALF, STOPS[wire]), made(wire, mode, "")
    said, asker, _ = asked(wire, mode, "error", half, empty)
    assert asker.ending["status"] == "partial"
    assert said.error is not None


@pytest.mark.behaviour("S3a")
@every_wire
@every_mode
def test_a_text_that_goes_on_is_whole_under_the_clean_stop(wire: str, mode: str) -> None:
    answers = made(wire, mode, HALF, STOPS[wire]), made(wire, mode, REST)
    said, asker, requests = asked(wire, mode, "error", *answers)
    assert (asker.ending["status"], said.text, requests) == ("complete", HALF + REST, 2)
    assert stop_of(said) != STOPS[wire]


_SAY_THE_END = ("end_turn", "'stop'", "COMPLETE", "'done': True", "message_stop", "metadata",
                "'completed'")  # fmt: skip


def broken_before_its_end(wire: str, text: str) -> bytes:
    """All of a stream but what marks its end, in a transfer that breaks off there."""
    events = WIRES[wire].events(text, [], None)
    if wire == "gemini-generate":
        del events[-1]["candidates"][0]["finishReason"]
    else:
        events = [event for event in events if not any(w in str(event) for w in _SAY_THE_END)]
    raw = b"".join(WIRES[wire].framed(events))
    kind = f"content-type: {WIRES[wire].content_type}"
    sent = b"%x\r\n%b\r\n" % (len(raw), raw)
    return answer(sent, kind, "transfer-encoding: chunked", length=False)


@pytest.mark.behaviour("S3a", "P1")
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@every_wire
def test_a_break_just_before_the_end_mark_is_told_alike_on_every_wire(
    wire: str, on_incomplete: str
) -> None:
    whole = "The moon pulls the sea, twice a day."
    answers = broken_before_its_end(wire, whole), made(wire, "stream", "")
    said, asker, requests = asked(wire, "stream", on_incomplete, *answers)
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "provider_error")
    assert said.error is not None, "the bare SDK raises too, and nothing tells the text as whole"
    assert requests == 3


@pytest.mark.behaviour("P10", "P1c")
@every_wire
@every_mode
def test_the_clean_stop_of_an_empty_answer_tells_nothing_of_a_text_that_came_later(
    wire: str, mode: str
) -> None:
    breaks = mode == "stream" and wire not in ("bedrock-invoke", "gemini-generate")
    half = cut_text(wire, mode, HALF, "break") if breaks else made(wire, mode, HALF, STOPS[wire])
    empty = made(wire, mode, " ")
    said, asker, _ = asked(wire, mode, "stop", empty, half, empty)
    assert asker.ending["status"] == "partial"
    cutting = (LIMITS[wire], STOPS[wire], "max_output_tokens")
    assert said.error or stop_of(said) in cutting, (said.text, stop_of(said))
