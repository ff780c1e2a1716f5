"""Who closes a turn is told so, unless all was said: however the turn ends, only its very last bytes
make closing a matter of course."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.far_sides import BODY, STREAM, event

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import ConnectionLost, Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.pipeline.pipe import ERROR_BODY_MAX_BYTES

Pieces = tuple[bytes | ConnectionLost, ...]

CHAT = "/v1/chat/completions"
OLLAMA = "/api/chat"
ARRAY = "/v1beta/models/m:streamGenerateContent"
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
OFF = ((b"x-tenuto", b"off"),)
ERROR = Policy(on_incomplete="error", backoff_s=0.0, continuation_max_attempts=0)
NOTICE = Policy(on_incomplete="notice", backoff_s=0.0, continuation_max_attempts=0)
DONE = b"data: [DONE]\n\n"
CUT = (event(b"The first half, "), event(b"", b'"length"'), DONE)
REST = (event(b"and the rest."), event(b"", b'"stop"'), DONE)
LONG = (b'{"error":{"message":"' + b"a" * ERROR_BODY_MAX_BYTES, b"b" * 9, b'"}}')
REFUSED = b'{"error":{"message":"No.","type":"invalid_request_error"}}'


def lines(*told: tuple[str, str | None]) -> Pieces:
    """A stream of Ollama, a line a piece."""
    made: list[bytes] = []
    for text, stop in told:
        value: dict[str, Any] = {"model": "m", "message": {"role": "assistant", "content": text}}
        value |= {"done": True, "done_reason": stop} if stop else {"done": False}
        made.append(json.dumps(value).encode() + b"\n")
    return tuple(made)


def array(*told: tuple[str, str | None]) -> Pieces:
    """A stream of Google's, an array's element a piece."""
    made: list[bytes] = []
    for text, stop in told:
        candidate: Any = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
        candidate |= {"finishReason": stop} if stop else {}
        value = json.dumps({"candidates": [candidate]}).encode()
        made.append((b",\r\n" if made else b"[") + value)
    return (*made, b"\r\n]")


def of(content_type: bytes, pieces: Pieces) -> Scripted:
    return Scripted(Head(200, ((b"content-type", content_type),)), pieces)


@dataclass(frozen=True)
class Case:
    """A turn, and what it ends in.

    Attributes:
        open_end: whether who has all bytes cannot know it: what follows is a break, or the end of
            something too long to be read."""

    answers: tuple[Scripted, ...]
    path: str = CHAT
    policy: Policy = field(default_factory=lambda: Policy(backoff_s=0.0))
    headers: tuple[tuple[bytes, bytes], ...] = ()
    stream: bool = True
    open_end: bool = False

    def drive(self) -> Drive:
        prompt = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
        asked = prompt if self.path == ARRAY else ASKED | {"stream": self.stream}
        url, body = "https://host" + self.path, json.dumps(asked).encode()
        run = Engine(self.policy).begin(Request("POST", url, self.headers, body))
        assert run is not None
        return Drive(run, Script(*self.answers).connect, Told)


class Told(Exception):
    """What a driver raises here of a turn that was closed before its end."""


def stream(*pieces: bytes | ConnectionLost) -> Scripted:
    return Scripted.stream(*pieces)


LINES = b"application/x-ndjson"
JSON = b"application/json"
CASES = {
    "as_it_came": Case((stream(STREAM),)),
    "finished": Case((stream(*CUT), stream(*REST))),
    "broken_behind_its_end": Case((stream(*REST, lost()),)),
    "left_alone_and_broken": Case(
        (stream(event(b"All "), event(b"said"), b"data: {", lost()),), headers=OFF, open_end=True
    ),
    "notice": Case((stream(*CUT), stream(*CUT)), policy=NOTICE),
    "an_error_event": Case((stream(*CUT), stream(*CUT)), policy=ERROR),
    "an_error": Case((Scripted.body(BODY % (b"Half", b"length")),), policy=ERROR, stream=False),
    "a_body": Case((Scripted.body(BODY % (b"All said.", b"stop")),), stream=False),
    "a_finished_body": Case(
        (
            Scripted.body(BODY % (b"The first half, ", b"length")),
            Scripted.body(BODY % (b"and the rest.", b"stop")),
        ),
        stream=False,
    ),
    "refused": Case((Scripted.body(REFUSED[:9], REFUSED[9:], status=400),)),
    "refused_at_length": Case((Scripted.body(*LONG, status=400),), open_end=True),
    "left_alone": Case((stream(*CUT[:2], DONE),), headers=OFF),
    "lines": Case((of(LINES, lines(("All ", None), ("said.", "stop"))),), OLLAMA),
    "finished_lines": Case(
        (of(LINES, lines(("A ", None), ("", "length"))), of(LINES, lines(("b.", "stop")))), OLLAMA
    ),
    "lines_left_alone": Case(
        (of(LINES, (*lines(("All ", None)), *lines(("said.", "stop")), b"\n\n")),),
        OLLAMA,
        headers=OFF,
    ),
    "array": Case((of(JSON, array(("All ", None), ("said.", "STOP"))),), ARRAY),
    "finished_array": Case(
        (of(JSON, array(("A ", None), ("", "MAX_TOKENS"))), of(JSON, array(("b.", "STOP")))), ARRAY
    ),
}


def given(case: Case) -> list[bytes]:
    """All that the caller gets."""
    pieces: list[bytes] = []
    try:
        pieces.extend(p for p in case.drive().pieces() if isinstance(p, bytes))
    except ConnectionError:
        assert case.open_end
    return pieces


@pytest.mark.behaviour("P8", "C5")
def test_an_error_that_is_too_long_to_be_read_is_handed_on_to_its_end() -> None:
    assert given(CASES["refused_at_length"]) == list(LONG)


def told_when_closed(case: Case, after: int) -> bool:
    """Whether who closes the turn after so many pieces is told so."""
    drive = case.drive()
    pieces = drive.pieces()
    for _ in range(after + 1):  # the head is one
        next(pieces)
    drive.close()
    try:
        assert next(pieces, None) is None
    except Told:
        return True
    return False


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_closing_is_told_of_before_the_last_bytes_and_not_behind_them(case: Case) -> None:
    pieces = given(case)
    said = [told_when_closed(case, after) for after in range(1, len(pieces) + 1)]
    assert pieces
    assert said == [True] * (len(pieces) - 1) + [case.open_end]
