"""The event by which a stream only begins: it waits for nothing, and is handed on once."""

from __future__ import annotations

import json

import pytest

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import (
    Head,
    ReadMore,
    Reply,
    Request,
    SendData,
    SendRequest,
    StartResponse,
)
from tenuto.turn.pipeline.engine import Engine

ASK = (
    b'{"model":"claude","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"Hi"}]}'
)


def event(kind: str, **members: object) -> bytes:
    return f"event: {kind}\ndata: ".encode() + compact({"type": kind, **members}) + b"\n\n"


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


USAGE = {"input_tokens": 3, "output_tokens": 1}
MESSAGE = {"id": "m1", "type": "message", "role": "assistant", "model": "claude", "content": []}
START = event("message_start", message=MESSAGE | {"stop_reason": None, "usage": USAGE})
FAILING = event("message_start", message=MESSAGE, error={"type": "overloaded_error"})
BLOCK = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
TEXT = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello."})
REST = (
    BLOCK
    + TEXT
    + event("content_block_stop", index=0)
    + event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
    + event("message_stop")
)


def commands_of(pieces: list[bytes]) -> list[object]:
    """The commands of a turn that is answered with these pieces."""
    request = Request("POST", "https://api.anthropic.com/v1/messages", (), ASK)
    run = Engine(Policy(backoff_s=0)).begin(request)
    assert run is not None
    left, made = [*pieces, b""], list[object]()
    reply: Reply = None
    while True:
        try:
            command = run.send(reply)
        except StopIteration:
            return made
        made.append(command)
        reply = None
        if isinstance(command, SendRequest):
            reply = Head(200, ((b"content-type", b"text/event-stream"),))
        elif isinstance(command, ReadMore):
            piece = left.pop(0)
            while command.take is not None and piece and (out := command.take(piece)) is not None:
                made.append(SendData(out))
                piece = left.pop(0)
            reply = piece


def written(commands: list[object]) -> bytes:
    return b"".join(command.data for command in commands if isinstance(command, SendData))


@pytest.mark.behaviour("P8")
def test_the_first_event_leaves_before_another_is_asked_for():
    made = commands_of([START, REST])
    assert [type(command) for command in made[:5]] == [
        SendRequest,
        StartResponse,
        ReadMore,
        SendData,
        ReadMore,
    ]
    assert made[3] == SendData(START)


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize(
    "pieces",
    [
        [START, REST],
        [START + BLOCK, REST.removeprefix(BLOCK)],
        [START[:-1], b"\n" + REST],
        [START[:30], START[30:], REST],
        [START.replace(b"\n", b"\r\n"), REST.replace(b"\n", b"\r\n")],
        [START.replace(b"m1", "é".encode()), REST],
        [START.replace(b'{"type":', b'{"type": '), REST],
    ],
    ids=["one", "two", "half an end", "halves", "other lines", "no ASCII", "spaces"],
)
def test_the_opening_event_is_handed_on_once_however_it_comes(pieces):
    assert written(commands_of(pieces)) == b"".join(pieces)


@pytest.mark.behaviour("S9")
def test_an_error_within_the_opening_event_is_held_back_and_the_turn_asked_for_again():
    out = written(commands_of([FAILING, b"", START, REST]))
    assert b"overloaded_error" not in out
    assert out.count(b'"type":"message_start"') == 1
    assert out.count(b"Hello.") == 1


@pytest.mark.behaviour("S9")
def test_one_that_cannot_be_read_is_held_back_and_the_turn_asked_for_again():
    broken = START.replace(b"}\n", b"\n")
    assert written(commands_of([broken, b"", START, REST])).count(b"message_start\n") == 1
