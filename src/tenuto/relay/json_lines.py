"""Streams of JSON lines, for a pipe that knows server-sent events.

Theory of operation
-------------------
Each line is one event of text to the pipe, and each event that it writes is one line to the caller.
A line that is handed on keeps its bytes: where they are more than its object and a line feed, they
wait in the order in which they came, each under the data that the pipe sees of it. What is no event
of an object does not reach the caller: the SDKs decode every line (`iter_lines` in
`ollama/_client.py` of ollama-python 0.6.3), blank ones too. To that reader a line ends where
Python's `splitlines` ends one: what would end it within a text is written as its escape.
"""

from __future__ import annotations

from collections import deque

from tenuto.core.policy import Policy
from tenuto.frames.compression import Decoder, decoder_for
from tenuto.frames.frame import Frame, Framing
from tenuto.frames.json_lines import LineDecoder
from tenuto.frames.sse import BOM, SseDecoder
from tenuto.relay.commands import Head, Reply
from tenuto.relay.kept import Kept
from tenuto.relay.reframing import EVENTS, named, told_of

_ENDS_A_LINE = {end.encode(): b"\\u%04x" % ord(end) for end in "\x85\u2028\u2029"}
"""What JSON lets stand in a text, and readers of lines take for the end of one, as escapes."""


class LinesFraming:
    """Lines of JSON for a caller that reads them (`relay.reframing.Reframing`)."""

    def __init__(self, policy: Policy, *, left_alone: bool) -> None:
        self.reading = False
        self.ready: deque[Reply] = deque()
        self._policy = policy
        self._left_alone = left_alone
        self._decoding: Decoder | None = None
        self._lines = LineDecoder()
        self._kept = Kept()
        self._blank = bytearray()
        self._content_type = b""
        self._framed = False

    def began(self, head: Head, came: Framing) -> Head:
        """The head of an attempt as the pipe is to see it."""
        self._content_type = self._content_type or head.get(b"content-type").encode("latin-1")
        self._decoding = decoder_for(head.coding, self._policy.body_max_bytes)
        self.reading = came is Framing.LINES and self._decoding is not None
        self._lines = LineDecoder(self._policy.event_max_bytes)
        self._kept.clear()
        self._blank.clear()
        return named(head, EVENTS) if self.reading else head

    def take(self, came: Reply) -> None:
        """Take what was read."""
        assert self._decoding is not None
        self.ready += told_of(came, self._decoding, self._lines, self._event)

    def _event(self, line: Frame) -> bytes:
        """A line as an event of text, its bytes kept."""
        if line.data is None:
            if self._left_alone:  # others never read it
                self._blank += line.raw
            return b""
        data = line.data.replace(b"\r", b" ").replace(b"\n", b" ")
        raw = line.raw if b"\n" not in line.data else data  # a document of many lines is one here
        raw = bytes(self._blank) + line.raw if self._left_alone else raw.removeprefix(BOM)
        if raw != data + b"\n":  # else it is written so anyway
            self._kept.add(data, raw)
        self._blank.clear()
        return b"data: %b%b" % (data, b"\n\n" if line.terminated else b"")

    def opened(self, head: Head, events: bool) -> Head:
        """The head for the caller: whatever stream follows is one of lines."""
        self._framed = events
        as_it_came = self._left_alone or b"json" in self._content_type
        kind = self._content_type if as_it_came else b"application/x-ndjson"
        return named(head, kind) if events else head

    def written(self, data: bytes) -> bytes:
        """Events of text as lines."""
        if not self._framed:
            return data
        decoder = SseDecoder()
        events = [*decoder.feed(data), *decoder.flush()]
        return b"".join(
            self._line(event.data)
            for event in events
            if event.data and event.data.strip() != b"[DONE]"
        )

    def _line(self, data: bytes) -> bytes:
        line = self._as_it_came(data)
        return line if self._left_alone or line.isascii() else _one_line(line)

    def _as_it_came(self, data: bytes) -> bytes:
        """The line that an event was, else one of its data."""
        raw = self._kept.take(data)
        if raw is None:
            return data.replace(b"\n", b" ") + b"\n"
        return raw if self._left_alone or raw.endswith(b"\n") else raw + b"\n"

    def closing(self) -> bytes:
        """What is to be written behind all: blank lines, where they came."""
        return bytes(self._blank) if self._framed and self._left_alone else b""


def _one_line(line: bytes) -> bytes:
    """A line of JSON that is one line to whoever reads it."""
    for end, escape in _ENDS_A_LINE.items():
        line = line.replace(end, escape)
    return line
