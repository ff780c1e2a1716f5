"""What is held back is counted as what it carries, and memory stays bounded (S4a)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events import openai_chat as chat
from support.events.framing import sse
from support.one_turn import Played, events

from tenuto.frames.sse import SseDecoder
from tenuto.turn.stream.held import BLOCK_BYTES, LEAST_STORED_BYTES, Held

URL = "https://api.openai.com/v1/chat/completions"
TOOL = {"type": "function", "function": {"name": "write_file"}}
ASKED: dict[str, Any] = {
    "model": "m",
    "stream": True,
    "messages": [{"role": "user", "content": "Write it."}],
    "tools": [TOOL],
}


def a_call(pieces: int, stop: str = "tool_calls") -> list[dict[str, Any]]:
    """The events of a call whose arguments come in so many pieces of four characters."""
    text = json.dumps({"content": "word" * (pieces - 4)})
    cut = [text[at : at + 4] for at in range(0, len(text), 4)]
    deltas = chat.call_deltas(chat.function("write_file", "", "call_1"), cut)
    shared = {**chat.SHARED, "system_fingerprint": "fp_" + "0" * 200}
    return chat.chunks([{"role": "assistant", "content": None}, *deltas], stop, shared=shared)


def arguments_in(got: bytes) -> str:
    said = ""
    for event in SseDecoder().feed(got):
        if event.data and b"tool_calls" in event.data and b"arguments" in event.data:
            (call,) = json.loads(event.data)["choices"][0]["delta"]["tool_calls"]
            said += call["function"]["arguments"]
    return said


@pytest.mark.behaviour("S4a", "P10")
def test_a_whole_call_of_46000_tokens_is_handed_on_unchanged_by_default() -> None:
    told = a_call(46_000)
    played = Played(URL, ASKED, events(*told))
    sent = b"".join(sse(told, done=True))
    assert len(sent) > 16_777_216
    assert played.got == sent
    assert len(played.sent) == 1
    (ended,) = played.of("turn_ended")
    assert 184_000 < ended["held_bytes"] < 200_000


@pytest.mark.behaviour("S4a")
def test_a_limit_counts_what_the_events_carry() -> None:
    told = a_call(5_000)
    assert len(b"".join(sse(told))) > 1_500_000
    whole = Played(URL, ASKED, events(*told), hold_max_bytes=25_000)
    assert json.loads(arguments_in(whole.got))
    limited = Played(URL, ASKED, events(*told), hold_max_bytes=15_000)
    (too_much,) = limited.of("hold_back_exceeded")
    assert 15_000 < too_much["held_bytes"] < 15_100


@pytest.mark.behaviour("S4a")
def test_a_call_that_was_cut_after_many_events_leaves_the_text_before_it() -> None:
    said = chat.chunks([{"role": "assistant", "content": "So: "}], None)[:1]
    cut = [*said, *a_call(5_000, "length")[1:]]
    again = a_call(5_000)
    played = Played(URL, ASKED, events(*cut), events(*again))
    assert json.loads(arguments_in(played.got))
    assert len(played.sent) == 2
    assert b'"So: "' in played.got


@pytest.mark.behaviour("S4a")
def test_held_events_take_bounded_memory() -> None:
    held = Held()
    event = b'data: {"padding": "%s", "number": %d}\n\n'
    for number in range(50_000):
        held.add(event % (b"x" * 1_000, number), carries=1, has_object=number % 2 == 0)
    assert len(held.whole()) > 50_000_000
    assert held.stored_bytes < BLOCK_BYTES + 1_000_000
    assert sum(1 for _ in held.events()) == 25_000
    assert next(held.events()) == event % (b"x" * 1_000, 0)
    assert not held.is_beyond(50_000)
    assert held.is_beyond(49_999)
    held.clear()
    assert (held.whole(), held.stored_bytes, held.carried_bytes) == (b"", 0, 0)
    assert held.most_carried_bytes == 50_000


@pytest.mark.behaviour("S4a", "S4")
def test_events_that_carry_little_are_bounded_by_the_memory_that_they_take() -> None:
    held = Held()
    noise = bytes(range(256)) * 16
    while not held.is_beyond(100_000):
        held.add(noise[held.carried_bytes % 4_096 :] + noise, carries=1, has_object=True)
        assert held.stored_bytes < 2 * LEAST_STORED_BYTES
        if held.carried_bytes > 100_000:
            break
    assert held.is_beyond(100_000)
