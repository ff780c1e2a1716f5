"""What small pieces cost: time that grows as the bytes do, memory that does not grow beyond them.

An answer is given in pieces of one byte for time, of two for memory (those of one byte are objects
that Python keeps anyway). Time is compared between one size and eight times as much: work that
grows with the square of the size takes 64 times as long then.
"""

from __future__ import annotations

import gzip
import math
import time
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from support.pairing import some_or_every

from tenuto import StreamDetector
from tenuto.core.settings.policy import Policy
from tenuto.frames.aws_messages import render_named
from tenuto.turn.drivers.commands import Head, ReadMore, Reply, Request, SendData, SendRequest
from tenuto.turn.pipeline.engine import Engine

TIMES = 8
MOST_TIMES_THE_TIME = 24
CHAT = "https://host/v1/chat/completions"
OLLAMA = "http://host:11434/api/chat"
GEMINI = "https://host/v1beta/models/m:streamGenerateContent"
BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse-stream"
BODIES = {
    CHAT: b'{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
    OLLAMA: b'{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
    GEMINI: b'{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}',
    BEDROCK: b'{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}',
}
LIBRARY = ((b"user-agent", b"python-httpx/0.28.1"),)
EVENTS, JSON, LINES = "text/event-stream", "application/json", "application/x-ndjson"
MESSAGES = "application/vnd.amazon.eventstream"


def event(text):
    return b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % text


STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
CALL = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function",'
    b'"function":{"name":"f","arguments":"x"}}]}}]}\n\n'
)


def body(text):
    message = b'{"role":"assistant","content":"%b"}' % text
    return b'{"choices":[{"index":0,"message":%b,"finish_reason":"stop"}]}' % message


def line(text, done=b"false"):
    return b'{"message":{"role":"assistant","content":"%b"},"done":%b}\n' % (text, done)


def element(text, more=b""):
    return b'{"candidates":[{"content":{"parts":[{"text":"%b"}]}%b}]}' % (text, more)


def message(text):
    said = b'{"contentBlockDelta":{"delta":{"text":"%b"},"contentBlockIndex":0}}' % text
    return (
        render_named(b'{"messageStart":{"role":"assistant"}}')
        + render_named(said)
        + render_named(b'{"messageStop":{"stopReason":"end_turn"}}')
    )


def x(size):
    return b"x" * size


ROWS = {
    # name: URL, headers of the request, status, content type, coding, answer of about this size
    "event": (CHAT, (), 200, EVENTS, "", lambda n: event(x(n)) + STOP + DONE),
    "events": (CHAT, (), 200, EVENTS, "", lambda n: event(b"x") * (n // 60) + STOP + DONE),
    "comments": (CHAT, (), 200, EVENTS, "", lambda n: b": x\n\n" * (n // 5) + STOP + DONE),
    "data lines": (CHAT, (), 200, EVENTS, "", lambda n: b"data: \n" * (n // 7) + b"\n" + DONE),
    "white text": (CHAT, (), 200, EVENTS, "", lambda n: event(b" ") * (n // 60) + STOP + DONE),
    "call": (CHAT, (), 200, EVENTS, "", lambda n: CALL * (n // 150) + STOP + DONE),
    "behind a stop": (
        CHAT,
        (),
        200,
        EVENTS,
        "",
        lambda n: event(b"x") + STOP + b": x\n\n" * (n // 5) + DONE,
    ),
    "body": (CHAT, (), 200, JSON, "", lambda n: body(x(n))),
    "error": (CHAT, (), 500, JSON, "", lambda n: b'{"error":"%b"}' % x(n)),
    "white before events": (CHAT, (), 200, "", "", lambda n: b"\n" * n + STOP + DONE),
    "a stranger's event": (CHAT, LIBRARY, 200, EVENTS, "", lambda n: event(x(n)) + STOP + DONE),
    "a stranger's comments": (
        CHAT,
        LIBRARY,
        200,
        EVENTS,
        "",
        lambda n: b": x\n\n" * (n // 5) + STOP + DONE,
    ),
    "a stranger's body": (CHAT, LIBRARY, 200, JSON, "", lambda n: body(x(n))),
    "a stranger's braces": (CHAT, LIBRARY, 200, JSON, "", lambda n: b"{}" * (n // 2)),
    "a stranger's line": (OLLAMA, LIBRARY, 200, LINES, "", lambda n: line(x(n))),
    "a stranger's array": (GEMINI, LIBRARY, 200, JSON, "", lambda n: b"[%b]" % element(x(n))),
    "line": (OLLAMA, (), 200, LINES, "", lambda n: line(x(n)) + line(b"", b"true")),
    "lines": (OLLAMA, (), 200, LINES, "", lambda n: line(b"x") * (n // 60) + line(b"", b"true")),
    "blank lines": (
        OLLAMA,
        ((b"x-tenuto", b"off"),),
        200,
        LINES,
        "",
        lambda n: line(b"x") + b"\n" * n + line(b"", b"true"),
    ),
    "element": (GEMINI, (), 200, JSON, "", lambda n: b"[%b]" % element(x(n))),
    "elements": (
        GEMINI,
        (),
        200,
        JSON,
        "",
        lambda n: b"[" + (element(b"x") + b",") * (n // 60) + element(b"x") + b"]",
    ),
    "message": (BEDROCK, (), 200, MESSAGES, "", lambda n: message(x(n))),
    "messages": (BEDROCK, (), 200, MESSAGES, "", lambda n: message(b"x") * (n // 600)),
    "gzip": (CHAT, (), 200, EVENTS, "gzip", lambda n: gzip.compress(event(x(n)) + DONE, 0)),
    "behind a gzip": (CHAT, (), 200, EVENTS, "gzip", lambda n: gzip.compress(event(b"x")) + x(n)),
    "behind a deflate": (
        CHAT,
        (),
        200,
        EVENTS,
        "deflate",
        lambda n: zlib.compress(event(b"x")) + x(n),
    ),
}


def in_pieces(answer, size):
    return (answer[at : at + size] for at in range(0, len(answer), size))


def read(row, answer, piece_bytes):
    """Read one answer in pieces of a size; each further attempt is answered with a bare refusal."""
    url, headers, status, content_type, coding, _ = row
    named = ((b"content-type", content_type.encode()), (b"content-encoding", coding.encode()))
    head = Head(status, tuple(pair for pair in named if pair[1]))
    run = Engine(Policy(backoff_s=0)).begin(Request("POST", url, headers, BODIES[url]))
    assert run is not None
    pieces: Iterator[bytes] = iter(())
    reply: Reply = None
    written = 0
    while True:
        try:
            command = run.send(reply)
        except StopIteration:
            return written
        reply = None
        if isinstance(command, SendRequest):
            reply, head = head, Head(400, ())
            pieces = in_pieces(answer, piece_bytes)
            answer = b"{}"
        elif isinstance(command, ReadMore):
            reply = next(pieces, b"")
        elif isinstance(command, SendData):
            written += len(command.data)


def grown(do, small, large):
    """How many times as long `large` takes as `small`, by the processor's time. Others run beside us, so
    the least of up to three measurements of each counts; one that is quick enough is the last."""
    least = [math.inf, math.inf]
    for _ in range(3):
        for at, answer in enumerate((small, large)):
            began = time.process_time()
            do(answer)
            least[at] = min(least[at], time.process_time() - began)
        if least[1] / least[0] < MOST_TIMES_THE_TIME:
            break
    return least[1] / least[0]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("name", ROWS)
def test_an_answer_byte_by_byte_takes_time_in_proportion_to_its_size(name):
    row = ROWS[name]
    small, large = (row[-1](size) for size in (2_000, 2_000 * TIMES))
    assert grown(lambda answer: read(row, answer, 1), small, large) < MOST_TIMES_THE_TIME


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.behaviour("N6", "S4")
@pytest.mark.parametrize("name", [name for name in ROWS if "stranger" not in name])
@some_or_every
def test_an_answer_of_tiny_pieces_takes_memory_in_proportion_to_its_size(name, every):
    row, size = ROWS[name], 60_000 if every else 20_000
    answer = row[-1](size)
    assert read(row, row[-1](1_000), 2)  # what is made once
    tracemalloc.start()
    try:
        read(row, answer, 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24 * size


@pytest.mark.parametrize("name", ["white before events", "body", "event", "lines", "element"])
@some_or_every
def test_a_detector_takes_tiny_pieces_in_proportion_to_their_size(name, every):
    size = 20_000 if every else 5_000

    def detect(answer):
        detector = StreamDetector()
        for at in range(len(answer)):
            detector.feed(answer[at : at + 1])
        detector.finalize()

    make = ROWS[name][-1]
    assert grown(detect, make(size), make(size * TIMES)) < MOST_TIMES_THE_TIME


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("behind", [b"", b"data: ", b": "])
def test_what_is_too_large_behind_the_end_mark_is_no_error(behind):
    whole = event(b"x") + STOP + DONE + behind + x(5_000)
    request = Request("POST", CHAT, (), BODIES[CHAT])
    run = Engine(Policy(event_max_bytes=1_000)).begin(request)
    assert run is not None
    run.send(None)
    out, pieces = b"", iter([whole])
    command = run.send(Head(200, ((b"content-type", EVENTS.encode()),)))
    while True:
        try:
            if isinstance(command, SendData):
                out += command.data
            command = run.send(next(pieces, b"") if isinstance(command, ReadMore) else None)
        except StopIteration:
            break
    assert out == whole
