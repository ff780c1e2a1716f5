"""A gateway that streams only sometimes, and a stream with a hole: nothing that was said is lost, and
nothing is given behind what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.events import anthropic_messages as messages
from support.events import openai_chat as chat
from support.events.framing import sse

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

WORDS = [f"word{number} " for number in range(12)]
TEXT = "".join(WORDS).strip()
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
STOPS = {CHAT: ("stop", "length"), MESSAGES: ("end_turn", "max_tokens")}
WIRES = pytest.mark.parametrize("path", [CHAT, MESSAGES])


def events(path: str, words: list[str], stop: str) -> list[bytes]:
    if path == CHAT:
        deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
        return sse(chat.chunks(deltas, stop, beside={}), done=True)
    return sse(messages.stream([messages.said(*words)], stop, output_tokens=9))


def body_of(path: str, text: str, stop: str) -> dict[str, Any]:
    if path == CHAT:
        return chat.whole(chat.message(text), stop)
    return messages.message([{"type": "text", "text": text}], stop)


def given(path: str, policy: Policy, *answers: Scripted) -> tuple[str, str | None, Script]:
    """Text and stop of the stream that the caller gets."""
    asked = {"model": "m", "max_tokens": 500, "messages": [{"role": "user", "content": "Count."}]}
    body = json.dumps(asked | {"stream": True}).encode()
    run = Engine(policy).begin(Request("POST", f"https://host{path}", (), body))
    assert run is not None
    script = Script(*answers)
    out = b"".join(p for p in Drive(run, script.connect).pieces() if isinstance(p, bytes))
    text = ""
    stop: str | None = None
    for value in objects(out):
        assert "error" not in value, value
        for choice in value.get("choices", ()):
            text += choice["delta"].get("content") or ""
            stop = choice.get("finish_reason") or stop
        delta = value.get("delta", {})
        text += delta.get("text", "")
        stop = delta.get("stop_reason") or stop
    return text, stop, script


def objects(out: bytes) -> Iterator[dict[str, Any]]:
    for line in out.decode().splitlines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


@pytest.mark.behaviour("C5", "S1")
@WIRES
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize("kinds", ["body-stream", "stream-body", "body-body", "body-stream-stream"])
def test_a_stream_is_whole_whatever_its_parts_came_as(path, kinds, on_incomplete):
    clean, cut = STOPS[path]
    parts = kinds.split("-")
    size = len(WORDS) // len(parts)
    answers = []
    for number, kind in enumerate(parts):
        last = number == len(parts) - 1
        words, stop = WORDS[number * size : (number + 1) * size], clean if last else cut
        body = json.dumps(body_of(path, "".join(words), stop)).encode()
        answers.append(
            Scripted.body(body) if kind == "body" else Scripted.stream(*events(path, words, stop))
        )
    text, ended, script = given(path, Policy(on_incomplete=on_incomplete), *answers)
    assert (text.strip(), ended, len(script.transmitted)) == (TEXT, clean, len(parts))


UNREADABLE = {
    "no_json": b'data: {"id": "c", "cho\n\n',
    "half": b'data: {"type": "content_block_delta", "index": 0, "delta"\n\n',
    "array": b"data: [1]\n\n",
    "text": b'data: "x"\n\n',
    "no_utf8": b'data: {"id": \xff}\n\n',
    "name_no_utf8": b'data: {"type": "content_block_del\xffta", "cho\xffices": [{"index": 0}]}\n\n',
}


@pytest.mark.behaviour("C5", "S1")
@WIRES
@pytest.mark.parametrize("at_once", [False, True], ids=["in_events", "in_one_piece"])
@pytest.mark.parametrize("hole", UNREADABLE)
def test_behind_an_event_that_cannot_be_read_nothing_is_given_as_if_it_were_whole(
    path, hole, at_once
):
    clean, _ = STOPS[path]
    holed = events(path, WORDS, clean)
    place = next(n for n, event in enumerate(holed) if b"word5" in event)
    holed[place] = UNREADABLE[hole]
    pieces = [b"".join(holed)] if at_once else holed
    rest = Scripted.stream(*events(path, WORDS[5:], clean))
    text, stop, script = given(path, Policy(backoff_s=0.01), Scripted.stream(*pieces), rest)
    assert (text.strip(), stop, len(script.transmitted)) == (TEXT, clean, 2)
    assert b"word4" in script.transmitted[1].body
    assert b"word6" not in script.transmitted[1].body


@pytest.mark.behaviour("C28", "P8")
@WIRES
def test_a_turn_that_is_left_alone_is_handed_on_with_its_hole(path):
    clean, _ = STOPS[path]
    holed = events(path, WORDS, clean)
    holed[5] = UNREADABLE["no_json"]
    asked: dict[str, Any] = {"model": "m", "max_tokens": 500, "stream": True}
    asked["messages"] = [{"role": "user", "content": "Count."}]
    off = ((b"x-tenuto", b"off"),)
    body = json.dumps(asked).encode()
    run = Engine(Policy()).begin(Request("POST", f"https://host{path}", off, body))
    assert run is not None
    _, *out = Drive(run, Script(Scripted.stream(*holed)).connect).pieces()
    assert b"".join(p for p in out if isinstance(p, bytes)) == b"".join(holed)


@pytest.mark.behaviour("P8", "S9")
@WIRES
def test_a_healthy_body_with_bytes_that_are_no_utf8_is_put_right_where_nobody_watches(path):
    body = json.dumps(body_of(path, TEXT, STOPS[path][0]) | {"model": "mod@le"}).encode()
    asked = {"model": "m", "max_tokens": 500, "messages": [{"role": "user", "content": "Count."}]}
    request = Request("POST", f"https://host{path}", (), json.dumps(asked).encode())
    run = Engine(Policy()).begin(request)
    assert run is not None
    script = Script(Scripted.body(body.replace(b"@", b"\xe8")))
    _, *out = Drive(run, script.connect).pieces()
    made = json.loads(b"".join(p for p in out if isinstance(p, bytes)).decode())
    assert (made["model"], len(script.transmitted)) == ("mod\ufffdle", 1)
