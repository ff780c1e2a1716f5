"""Streams for readers who know nothing but lines of data.

Theory of operation
-------------------
The SDK of Gemini takes every line that does not begin with `data: ` for a piece of an error that is
told line by line (`_iter_response_stream` in google/genai/_api_client.py of 3.4), and fails on
comments, names of events, end marks, and data without the blank. The provider writes none of these;
proxies do, and so does the pipe. What is only lines of data, as nearly everything is, passes as it
came. Objects of JSON, which that SDK reads too, are told as lines of data.
"""

from __future__ import annotations

import re

from tenuto.frames.sse import SseDecoder
from tenuto.relay.commands import Head
from tenuto.relay.json_array import ElementFraming

_is_odd = re.compile(rb"(?:\A|\n|\r)(?!data: |[\r\n]|\Z)|\[DONE\]").search


class LineFraming(ElementFraming):
    """Events of nothing but lines of data."""

    _framed = False

    def opened(self, head: Head, events: bool) -> Head:
        """The head for the caller."""
        self._framed = events
        return head

    def written(self, data: bytes) -> bytes:
        """Events as lines of data; no others are touched."""
        return in_lines(data) if self._framed and _is_odd(data) else data

    def closing(self) -> bytes:
        """Nothing: each event stands for itself."""
        return b""


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
