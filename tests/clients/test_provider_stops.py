"""A text that came with a stop of the provider's own for a failure, on every wire: the caller gets
both, as with the bare SDK, and no error in their place (P1c)."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import DECODED, MAKERS, At, ask, made, streamed, whole
from support.far_sides import FarSide, json_answer

import tenuto

SAID = "Half of it."
STOPS: dict[str, tuple[str, ...]] = {
    "anthropic-messages": ("error", "malformed_tool_use"),
    "bedrock-converse": ("malformed_model_output", "malformed_tool_use"),
    "bedrock-invoke": ("error", "malformed_tool_use"),
    "cohere": ("ERROR", "MALFORMED_FUNCTION_CALL"),
    "cohere-v1": ("ERROR",),
    "gemini-generate": (
        "MALFORMED_RESPONSE",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
    ),
    "gemini-interactions": ("failed",),
    "mistral": ("error", "malformed_function_call"),
    "ollama": ("error", "malformed_function_call"),
    "openai-chat": ("error", "malformed_function_call", "insufficient_system_resource"),
    "openai-responses": ("failed",),
}
"""Stops of each wire that say that an answer failed."""
EVERY = [(wire, stop) for wire, stops in STOPS.items() for stop in stops]
DOWN = json_answer(b'{"error": {"message": "It is down."}, "message": "It is down."}',
                   status="500 Internal Server Error")  # fmt: skip

both = pytest.mark.parametrize("mode", ["body", "stream"])


def test_every_wire_has_a_row():
    assert set(STOPS) == set(MAKERS)


def asked(wire: str, mode: str, *answers: bytes, way: str = "sync", **policy: Any) -> Any:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**{**QUICK, **policy}))
        said = ask(asker, wire, mode, way)
        asker.close()
        return said, asker.ending


def stop_of(said: Any) -> str | None:
    stop: str | None = said.stop if hasattr(said, "stop") else said.finish
    return stop


@pytest.mark.behaviour("P1c", "P10")
@both
@pytest.mark.parametrize(("wire", "stop"), EVERY)
def test_a_text_with_a_stop_of_its_own_is_returned_with_it(wire: str, stop: str, mode: str) -> None:
    answer = made(wire, "whole" if mode == "body" else mode, SAID, stop)
    said, ending = asked(wire, mode, answer, way="async" if len(stop) % 2 else "sync")
    assert (said.error, said.text, stop_of(said)) == (None, SAID, stop)
    assert (ending["status"], ending["error"]) == ("partial", None)


@pytest.mark.behaviour("P1c")
@both
@pytest.mark.parametrize("wire", sorted(STOPS))
def test_it_stays_when_every_further_attempt_is_refused(wire: str, mode: str) -> None:
    stop = STOPS[wire][0]
    answer = made(wire, "whole" if mode == "body" else mode, SAID, stop)
    said, _ = asked(wire, mode, answer, DOWN)
    assert (said.error, said.text, stop_of(said)) == (None, SAID, stop)


@pytest.mark.behaviour("P1c", "T16")
@both
@pytest.mark.parametrize("wire", sorted(STOPS))
def test_a_text_before_a_call_whose_asking_again_failed_is_returned(wire: str, mode: str) -> None:
    broken: Any = 5 if wire in DECODED else "{'path': 1}"
    make = whole if mode == "body" else streamed
    if mode == "body" and wire in ("anthropic-messages", "bedrock-converse", "gemini-interactions"):
        broken = 5
    said, ending = asked(wire, mode, make(wire, broken, text=SAID), DOWN)
    assert (said.error, said.text, said.calls) == (None, SAID, [])
    assert ending["status"] == "partial"


@pytest.mark.behaviour("P1c")
@both
@pytest.mark.parametrize("wire", sorted(STOPS))
def test_under_error_it_raises(wire: str, mode: str) -> None:
    answer = made(wire, "whole" if mode == "body" else mode, SAID, STOPS[wire][0])
    said, ending = asked(wire, mode, answer, on_incomplete="error")
    assert said.error is not None
    assert ending["error"] == "provider_error"


@pytest.mark.behaviour("P1c")
@both
@pytest.mark.parametrize("wire", sorted(STOPS))
def test_under_notice_the_line_follows_it(wire: str, mode: str) -> None:
    stop = STOPS[wire][0]
    answer = made(wire, "whole" if mode == "body" else mode, SAID, stop)
    said, _ = asked(wire, mode, answer, on_incomplete="notice")
    assert said.text == f"{SAID}\n\n[This answer is incomplete: provider error.]"
    assert stop_of(said) == stop
