"""What one stream has taught of how events look is used by the next of a client, and changes
nothing of what the caller gets."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support.events import anthropic_messages as messages
from support.events import openai_chat as openai
from support.events.framing import sse

from tenuto.core.settings.policy import Policy
from tenuto.frames.templates import TemplateMatcher
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.record.turn_log import ignore_event

CHAT = "https://api.example.com/v1/chat/completions"
ANTHROPIC = "https://api.anthropic.com/v1/messages"
POLICY = Policy(backoff_s=0.001)


def chat(*deltas: dict[str, Any], stop: str | None = "stop") -> list[bytes]:
    """A stream of a server that gives every answer the same id."""
    told = openai.chunks(deltas, stop, shared=openai.SHARED | {"id": "chat-0"})
    return sse(told, done=True) if stop else sse(told[:-1])


def anthropic(*texts: str, kind: str = "text", stop: str | None = "end_turn") -> list[bytes]:
    """One block of this kind, in these pieces."""
    head = messages.message(usage={"input_tokens": 3, "output_tokens": 1}, id="msg_0")
    block = messages.said(*texts, kind=kind)
    told = messages.stream([block], stop or "", head=head, output_tokens=9)
    return sse(told if stop else told[:-3])


STREAMS: dict[str, list[list[list[bytes]]]] = {
    CHAT: [
        [chat({"content": "Once there"}, {"content": " was a river."})],
        [chat({"content": "Half of"}, stop=None), chat({"content": " it."})],
        [chat({"content": "  "}, {"content": "white"}, {"content": " "}, {"content": "space"})],
        [chat({"reasoning_content": "Hm, hm."}, {"content": "So be it."})],
        [chat({"content": "Cut by the"}, stop="length"), chat({"content": " limit."})],
        [chat({"content": "One more."}, {"content": " And one."})],
    ],
    ANTHROPIC: [
        [anthropic("Once there", " was a river.")],
        [anthropic("Half of", stop=None), anthropic(" it.")],
        [anthropic("Think first.", kind="thinking"), anthropic("Then speak.")],
        [anthropic("  ", "white", " ", "space ", stop="max_tokens"), anthropic("and more.")],
        [anthropic(" A first piece", stop="max_tokens"), anthropic(" and the last.")],
    ],
}
"""Turns in a row, each with the streams of its attempts."""


def turn(engine: Engine, url: str, attempts: list[list[bytes]]) -> bytes:
    """What the caller gets of one turn."""
    asked: dict[str, Any] = {"model": "m", "stream": True}
    asked["messages"] = [{"role": "user", "content": "Go."}]
    asked |= {"max_tokens": 64} if url == ANTHROPIC else {}
    request = Request("POST", url, (), json.dumps(asked).encode())
    run = engine.begin(request)
    assert run is not None
    script = Script(*(Scripted.stream(*pieces) for pieces in attempts))
    given = [piece for piece in Drive(run, script.connect).pieces() if isinstance(piece, bytes)]
    assert len(script.transmitted) == len(attempts)
    return re.sub(rb'"turn":"[0-9a-f]{40}"', b'"turn":"own"', b"".join(given))


@pytest.mark.behaviour("P8", "C26")
@pytest.mark.parametrize("url", STREAMS)
def test_what_one_stream_has_taught_changes_nothing_in_another(url: str) -> None:
    alone = [turn(Engine(POLICY), url, attempts) for attempts in STREAMS[url]]
    for first in range(len(alone)):
        engine = Engine(POLICY)
        turn(engine, url, STREAMS[url][first])
        assert [turn(engine, url, attempts) for attempts in STREAMS[url]] == alone


@pytest.mark.behaviour("C26")
@pytest.mark.parametrize("url", STREAMS)
def test_the_next_stream_begins_with_what_the_last_one_taught(url: str) -> None:
    engine = Engine(POLICY).with_listener(ignore_event)
    turn(engine, url, STREAMS[url][0])
    ((read, known),) = engine.environment.templates.items()
    alike = TemplateMatcher(read, known=known)
    said = [text for event in STREAMS[url][0][0] if (text := alike.text(event))]
    assert "".join(said) == "Once there was a river."


@pytest.mark.behaviour("C5")
def test_the_first_event_gives_the_envelope_though_it_looks_like_one_of_another_stream() -> None:
    engine = Engine(POLICY)
    turn(engine, CHAT, STREAMS[CHAT][0])
    out = turn(engine, CHAT, STREAMS[CHAT][1])
    events = [json.loads(line[6:]) for line in out.splitlines() if line.startswith(b"data: {")]
    assert {event["id"] for event in events} == {"chat-0"}
    said = (c["delta"].get("content") or "" for event in events for c in event["choices"])
    assert "".join(said) == "Half of it."
