"""A whole call beside a clean stop that does not speak of calls: who goes by the stop would pass
over it. Who asks for errors is given the stop that the wire has beside calls. Real bytes, through
the official SDKs of ten wires."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking.wrapping import QUICK, Wrapped
from support.events.framing import ID, NAME
from support.every_wire import DECODED, MAKERS, OBJECTS, At, arguments_of, ask, streamed, whole
from support.far_sides import FarSide

import tenuto

WANTED = {"path": "a.txt", "content": "x"}
TEXT = json.dumps(WANTED)
STOPS = {
    "anthropic-messages": ("end_turn", "tool_use"),
    "bedrock-converse": ("end_turn", "tool_use"),
    "bedrock-invoke": ("stop", "tool_calls"),
    "cohere": ("COMPLETE", "TOOL_CALL"),
    "gemini-interactions": ("completed", "requires_action"),
    "mistral": ("stop", "tool_calls"),
    "openai-chat": ("stop", "tool_calls"),
}
"""The stop that came, and the one that the wire has beside calls; the other three have but one."""


def answered(wire: str, mode: str, text: str, stop: str | None) -> bytes:
    if mode == "stream":
        return streamed(wire, WANTED if wire in DECODED else TEXT, text=text, stop=stop)
    return whole(wire, WANTED if wire in OBJECTS else TEXT, text=text, stop=stop)


def asked(wire: str, answer: bytes, mode: str, way: str, on_incomplete: str) -> Any:
    with FarSide(answer) as far:
        policy: Any = {**QUICK, "on_incomplete": on_incomplete}
        asker = MAKERS[wire](At(far), tenuto.Policy(**policy))
        said = ask(asker, wire, mode, way)
        asker.close()
    assert said.error is None
    assert len(far.requests) == 1
    return said


def stop_of(said: Any) -> Any:
    return said.finish if hasattr(said, "finish") else said.stop


@pytest.mark.behaviour("N3", "P1a")
@pytest.mark.parametrize("text", ["", "Let me write."])
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("wire", STOPS)
def test_who_asks_for_errors_is_told_of_a_call_by_the_stop(
    wire: str, mode: str, way: str, text: str
) -> None:
    came, usual = STOPS[wire]
    said = asked(wire, answered(wire, mode, text, came), mode, way, "error")
    assert arguments_of(said) == [WANTED]
    assert said.text == text
    assert stop_of(said) == usual


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("wire", STOPS)
def test_with_the_other_policies_the_stop_is_the_one_that_came(wire: str, mode: str) -> None:
    came, _ = STOPS[wire]
    said = asked(wire, answered(wire, mode, "", came), mode, "sync", "stop")
    assert arguments_of(said) == [WANTED]
    assert stop_of(said) == came


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize("wire", MAKERS)
def test_a_call_beside_the_usual_stop_is_handed_on_as_it_came(wire: str, mode: str) -> None:
    answer = answered(wire, mode, "Let me write.", None)
    policies = ("stop", "error")
    one, other = (asked(wire, answer, mode, "sync", policy) for policy in policies)
    assert arguments_of(one) == arguments_of(other) == [WANTED]
    assert stop_of(one) == stop_of(other)


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_chats_plain_stop_beside_a_call_that_the_request_forced_is_no_odd_one(mode: str) -> None:
    """OpenAI gives it there."""
    answer = answered("openai-chat", mode, "", "stop")
    forced = {"type": "function", "function": {"name": NAME}}
    tool = {"type": "function", "function": {"name": NAME, "parameters": {"type": "object"}}}
    with FarSide(answer) as far:
        asker = Wrapped(At(far), tenuto.Policy(**{**QUICK, "on_incomplete": "error"}))
        row = {"role": "user", "content": "Write it."}
        said = asker.ask([row], mode, tools=[tool], tool_choice=forced)
        asker.close()
    assert said.error is None
    assert (said.finish, [call["id"] for call in said.calls]) == ("stop", [ID])
