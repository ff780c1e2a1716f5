"""Streams for readers who know nothing but lines of data.

Theory of operation
-------------------
The SDK of Gemini takes every line that does not begin with `data: ` for a piece of an error that is
told line by line (`_iter_response_stream` in google/genai/_api_client.py of 3.4), and fails on
comments, names of events, end marks, and data without the blank. The provider writes none of these;
proxies do, and so does the pipe. A turn is a generator of commands, so what such a reader is given
is put right around it. What is only lines of data, as nearly everything is, passes as it came.
"""

from __future__ import annotations

import re

from tenuto.relay.commands import READ, Open, Read, Reply, Run, Write
from tenuto.wire.sse import SseDecoder

_is_odd = re.compile(rb"(?:\A|\n|\r)(?!data: |[\r\n]|\Z)|\[DONE\]").search


def in_data_lines(run: Run) -> Run:
    """The same turn, in events of nothing but lines of data."""
    reply: Reply = None
    streaming = False
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                return
            match command:
                case Open(head):
                    streaming = "event-stream" in head.get(b"content-type")
                    reply = yield command
                case Write(data) if streaming and _is_odd(data):
                    plain = in_lines(data)
                    reply = (yield Write(plain)) if plain else None
                case Read():
                    reply = yield READ  # what is read is not handed on past us
                case _:
                    reply = yield command
    finally:
        run.close()


def in_lines(data: bytes) -> bytes:
    r"""Whole events as lines of data alone; what carries none, and end marks, are left out.

    >>> in_lines(b": hello\nevent: message\ndata:{}\n\ndata: [DONE]\n\n")
    b'data: {}\n\n'
    """
    decoder = SseDecoder()
    events = [*decoder.feed(data), *decoder.flush()]
    told = [event.data for event in events if event.data and event.data.strip() != b"[DONE]"]
    return b"".join(
        b"".join(b"data: %b\n" % line for line in one.split(b"\n")) + b"\n" for one in told
    )
