"""A stop that comes before the text, and then a break (S1a).

Some relays send a stop with every piece of the reasoning, or with every call. The text that follows
shows that such a stop ended nothing."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.events.by_wire import WIRES
from support.events.framing import Event
from support.every_wire import MAKERS, At, ask, made
from support.far_sides import FarSide, answer

import tenuto

HALF, REST = "The moon pulls the se", "a, twice a day."
EARLY = ("anthropic-messages", "bedrock-converse", "bedrock-invoke", "gemini-generate", "mistral",
         "openai-chat")  # fmt: skip
"""Wires whose stop is not the end mark as well."""

_ENDS = ("message_stop", "metadata")


def _is_end(event: Event) -> bool:
    return event.get("type") in _ENDS or any(name in event for name in _ENDS)


def _again(event: Event) -> Event:
    """The same event for the next part, on wires that number parts."""
    if "index" in event:
        return {**event, "index": 1}
    return {
        name: {**value, "contentBlockIndex": 1}
        if isinstance(value, dict) and "contentBlockIndex" in value
        else value
        for name, value in event.items()
    }


def stop_first(wire: str, text: str) -> list[Event]:
    """A stream in which the stop comes first, and then the text without an end."""
    begun = [event for event in WIRES[wire].events("Hm. ", [], None) if not _is_end(event)]
    said = list(map(_again, WIRES[wire].events(text, [], None)))
    if wire == "gemini-generate":
        del said[-1]["candidates"][0]["finishReason"]
        return [*begun, *said]
    begins, ends = {
        "anthropic-messages": (1, 3),
        "bedrock-converse": (1, 2),
    }.get(wire, (0, 1))
    return [*begun, *said[begins:ends]]


def cut(wire: str, events: list[Event], how: str) -> Any:
    raw = b"".join(WIRES[wire].framed(events))
    kind = f"content-type: {WIRES[wire].content_type}"
    if how == "short":
        return answer(raw, kind, f"content-length: {len(raw) + 99}", length=False)
    if how == "no last chunk":
        return answer(b"%x\r\n%b\r\n" % (len(raw), raw), kind, "transfer-encoding: chunked",
                      length=False)  # fmt: skip
    return answer(raw, kind, length=False)


def asked(wire: str, on_incomplete: Any, *answers: Any) -> tuple[Any, Any, int]:
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), tenuto.Policy(**QUICK, on_incomplete=on_incomplete))
        try:
            return ask(asker, wire), asker, len(far.requests)
        finally:
            asker.close()


BREAKS = ["short", "no last chunk", "close"]


@pytest.mark.behaviour("S1a")
@pytest.mark.parametrize("wire", EARLY)
@pytest.mark.parametrize("how", BREAKS)
def test_a_break_after_text_behind_a_stop_is_a_drop(wire: str, how: str) -> None:
    first = cut(wire, stop_first(wire, HALF), how)
    said, asker, requests = asked(wire, "error", first, made(wire, "stream", REST))
    assert requests > 1
    assert (asker.ending["status"], said.text) == ("complete", "Hm. " + HALF + REST)


@pytest.mark.behaviour("S1a")
@pytest.mark.parametrize("wire", EARLY)
def test_it_is_partial_where_nothing_more_comes(wire: str) -> None:
    first = cut(wire, stop_first(wire, HALF), "no last chunk")
    said, asker, _ = asked(wire, "stop", first, made(wire, "stream", ""))
    assert (asker.ending["status"], asker.ending["reason"]) == ("partial", "provider_error")
    assert said.error is not None, "the bare SDK raises too"


@pytest.mark.behaviour("S1a", "S1")
@pytest.mark.parametrize("wire", EARLY)
@pytest.mark.parametrize("how", BREAKS)
def test_a_break_after_a_true_stop_costs_nothing(wire: str, how: str) -> None:
    events = [event for event in WIRES[wire].events(HALF, [], None) if not _is_end(event)]
    said, asker, requests = asked(wire, "error", cut(wire, events, how))
    assert (asker.ending["status"], said.text, requests) == ("complete", HALF, 1)
