"""The bytes of a recording: one body, or a stream of events.

The first byte that isn't white space tells a body from a stream, and a stream of lines from one of
binary messages. An object on a line of its own, with another one below it, is the first event of a
stream of such lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenuto.detection.documents import (
    AWS_LENGTHS,
    SHOWS_BYTES,
    SPACE_AND_BOM,
    begins_events,
    may_be_heading,
)
from tenuto.frames.aws_messages import PRELUDE_BYTES, MessageCodec, begins_message
from tenuto.frames.codec import Codec
from tenuto.frames.frame import Frame
from tenuto.frames.json_lines import LineCodec
from tenuto.frames.pieces import Pieces
from tenuto.frames.sse_codec import SseCodec
from tenuto.wires.json import decode_object


class SourceBytes:
    """The form of the bytes that a reader receives, and what it buffers of them.

    Attributes:
        codec: cuts a stream into events; only set once there is a stream.
        streams: whether the bytes are a stream at the moment.
        body: the body so far; None if the bytes are no body, or nothing came.
        first: the first bytes of a stream, while no wire knows any event of it.
    """

    def __init__(self) -> None:
        self.codec: Codec
        self.streams: bool = False
        self.body: Pieces | None = None
        self.first: bytes = b""
        self._head = Pieces()
        self._may_be_lines = False
        self._line_over = False
        self._above: Pieces | None = None  # everything, while it may be below or amid prose

    @property
    def in_lines(self) -> bool:
        """Whether each event is a line, which may be an answer of its own."""
        return self.streams and type(self.codec) is LineCodec

    @property
    def in_messages(self) -> bool:
        """Whether the events are binary messages."""
        return type(self.codec) is MessageCodec

    @property
    def in_sse(self) -> bool:
        """Whether the events are server-sent events."""
        return type(self.codec) is SseCodec

    def is_broken(self, *, cut: bool, strange: bool) -> bool:
        """Return whether a stream broke off before its first whole event. `cut`: whether half an
        event was left; `strange`: whether a whole event came that no wire knows."""
        if self.in_messages:
            return len(self.first) < PRELUDE_BYTES or begins_message(self.first)
        return begins_events(self.first) is not None and (cut or not strange)

    def begin(self, data: bytes) -> bytes | None:
        """Add bytes before the form is known. Return all of them once it can be told, else None."""
        self._head.add(data)
        if not data.lstrip(SPACE_AND_BOM):  # before it came nothing else
            return None
        head, self._head = self._head.whole, Pieces()
        return head

    def open(self, head: bytes) -> Sequence[Frame]:
        """Begin a body or a stream with its first bytes. Return the events in them."""
        content = head.lstrip(SPACE_AND_BOM)
        begin = content[:1]
        if begin in (b"{", b"["):
            self._may_be_lines = begin == b"{"
            self.body = Pieces()
            return self.add(content)
        self.streams = True
        made = MessageCodec if begin in AWS_LENGTHS else SseCodec
        self.codec = made(as_came=True)
        self.first = content[:SHOWS_BYTES]
        self._above = Pieces()
        self._keep(head)
        return self.codec.decode(head)

    def add(self, data: bytes) -> Sequence[Frame]:
        """Add bytes to the body. Return events if it turns out to be lines of objects."""
        assert self.body is not None
        self.body.add(data)
        return self._lines_in(self.body, data) if self._may_be_lines else ()

    def keep_beginning(self, data: bytes) -> None:
        """Keep bytes of a stream of which no wire knows anything yet."""
        if len(self.first) < SHOWS_BYTES:
            self.first += data[:SHOWS_BYTES]
        self._keep(data)

    def _keep(self, data: bytes) -> None:
        if self._above is not None:
            self._above.add(data)
            first = self.first[:SHOWS_BYTES]
            may_hold = b"{" in first or len(first) < SHOWS_BYTES
            if not (may_hold or may_be_heading(first)):
                self._above = None

    def _lines_in(self, body: Pieces, data: bytes) -> Sequence[Frame]:
        """Tell whether a body is lines of one object each: known when something follows the first
        line."""
        rest = data
        if not self._line_over:
            _, end, rest = data.partition(b"\n")
            self._line_over = bool(end)
        if not (begin := rest.lstrip()[:1]):
            return ()
        self._may_be_lines = False
        whole = body.whole
        line = whole.partition(b"\n")[0]
        if begin != b"{" or not isinstance(decode_object(line), dict):
            return ()
        self.body, self.streams = None, True
        self.codec = LineCodec(as_came=True)
        self.first = whole[:SHOWS_BYTES]
        return self.codec.decode(whole)

    def end_body(self) -> bytes:
        """End the body, and return it. b"" if there is none."""
        if self.body is None:
            return b""
        body, self.body = self.body.whole, None
        self._line_over = False
        return body

    def end_stream(self, events: Iterable[Frame]) -> bytes:
        """End the stream before these events, whose form is another one. Return the bytes from
        there on."""
        rest = b"".join(event.raw for event in (*events, *self.codec.flush()))
        self.streams = self._line_over = False
        return rest

    def prose(self) -> bytes | None:
        """Return, once, a text that may have an answer below its first lines, or amid them; None if
        there can be none."""
        if self._above is None:
            return None
        text, self._above = self._above.whole, None
        return text


def unparted(event: Frame) -> list[Frame]:
    """Return the events in one of a recording that has lost the blank lines between events: each
    line of data is then an object. Often none."""
    lines = (event.data or b"").split(b"\n")
    if len(lines) == 1 or not all(isinstance(decode_object(line), dict) for line in lines):
        return []
    return [Frame(b"data: %b\n\n" % line, line, event.name) for line in lines]
