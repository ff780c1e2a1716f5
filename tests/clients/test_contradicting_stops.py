"""Two stops in one answer that contradict each other: the caller sees the one that counts, wherever
its reader looks (S2a, S6)."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.events.framing import Call, Event
from support.every_wire import MAKERS, At, arguments_of, ask, made
from support.far_sides import FarSide, answer

import tenuto

TEXT = "The moon pulls the sea."
ARGUMENTS = '{"path": "a.txt"}'
LENGTH = {
    "anthropic-messages": ("end_turn", "max_tokens"),
    "bedrock-converse": ("end_turn", "max_tokens"),
    "bedrock-invoke": ("stop", "length"),
    "gemini-generate": ("STOP", "MAX_TOKENS"),
    "mistral": ("stop", "length"),
    "openai-chat": ("stop", "length"),
}
"""Wires on which a stop may come twice, with the stop of a clean end and that of the limit."""

_ENDS = ("message_stop", "metadata")


def _ends(event: Event) -> bool:
    return event.get("type") in _ENDS or any(name in event for name in _ENDS)


def _stops(wire: str, stop: str) -> list[Event]:
    """The events that only stop a stream, with their end mark."""
    events = WIRES[wire].events(TEXT, [], stop)
    if wire == "gemini-generate":
        (last,) = events
        last["candidates"][0]["content"] = {"role": "model", "parts": []}
        return [last]
    begins = {"anthropic-messages": 4, "bedrock-converse": 3}.get(wire, 1)
    return list(events[begins:])


def twice(wire: str, first: str, second: str) -> bytes:
    begun = [event for event in WIRES[wire].events(TEXT, [], first) if not _ends(event)]
    raw = b"".join(WIRES[wire].framed([*begun, *_stops(wire, second)]))
    return answer(raw, f"content-type: {WIRES[wire].content_type}", length=False)


def stop_of(said: Any) -> Any:
    names = ("finish", "stop", "status", "stop_reason")
    return next(v for name in names if (v := getattr(said, name, None)) is not None)


def asked(wire: str, *answers: bytes, **policy: Any) -> tuple[Any, Any]:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK, **policy))
        try:
            return ask(asker, wire), asker
        finally:
            asker.close()


@pytest.mark.behaviour("S2a", "S6")
@pytest.mark.parametrize("wire", LENGTH)
@pytest.mark.parametrize("order", [1, -1], ids=["clean first", "limit first"])
def test_the_limit_counts_before_a_clean_stop(wire: str, order: int) -> None:
    stops = LENGTH[wire][::order]
    said, asker = asked(wire, twice(wire, *stops), continuation_max_attempts=0)
    assert asker.ending["status"] == "partial"
    assert (said.text, stop_of(said)) == (TEXT, LENGTH[wire][1])


@pytest.mark.behaviour("S2a", "S6")
@pytest.mark.parametrize("wire", LENGTH)
@pytest.mark.parametrize("order", [1, -1], ids=["clean first", "limit first"])
def test_the_text_goes_on_and_ends_with_one_clean_stop(wire: str, order: int) -> None:
    stops = LENGTH[wire][::order]
    said, asker = asked(wire, twice(wire, *stops), made(wire, "stream", " Twice a day."))
    assert asker.ending["status"] == "complete"
    assert (said.text, stop_of(said)) == (TEXT + " Twice a day.", LENGTH[wire][0])


CALLS = {
    "anthropic-messages": "tool_use",
    "bedrock-converse": "tool_use",
    "bedrock-invoke": "tool_calls",
    "mistral": "tool_calls",
    "openai-chat": "tool_calls",
}


@pytest.mark.behaviour("S2a", "S6")
@pytest.mark.parametrize("wire", CALLS)
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
def test_beside_a_call_the_stop_of_a_call_counts(wire: str, on_incomplete: str) -> None:
    events = WIRES[wire].events(TEXT, [Call((ARGUMENTS,))], CALLS[wire])
    begun = [event for event in events if not _ends(event)]
    raw = b"".join(WIRES[wire].framed([*begun, *_stops(wire, LENGTH[wire][0])]))
    first = answer(raw, f"content-type: {WIRES[wire].content_type}", length=False)
    said, asker = asked(wire, first, on_incomplete=on_incomplete)
    assert asker.ending["status"] == "complete"
    assert (said.text, stop_of(said)) == (TEXT, CALLS[wire])
    assert arguments_of(said) == [{"path": "a.txt"}]


@pytest.mark.behaviour("S2a")
@pytest.mark.parametrize("wire", CALLS)
def test_a_stop_that_comes_again_is_no_contradiction(wire: str) -> None:
    first = twice(wire, LENGTH[wire][0], LENGTH[wire][0])
    said, asker = asked(wire, first)
    assert (asker.ending["status"], said.text, stop_of(said)) == ("complete", TEXT, LENGTH[wire][0])
