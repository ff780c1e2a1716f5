"""Streams whose events repeat all that was said before, for a pipe that knows only what is new.

Theory of operation
-------------------
DashScope writes such streams where nobody asks for increments. The pipe is given what is new of
each event, and what it writes is told with all that the caller was given before it. An event that
is handed on keeps its bytes: they wait in the order in which they came, under what the pipe sees of
them, until one is written that did not come. Whether a stream repeats is told by what comes
(`wire.dashscope_events`); where that is not known yet, by what was asked for.
"""

from __future__ import annotations

from collections import deque

from tenuto.core.policy import Policy
from tenuto.frames.compression import Decoder, decoder_for
from tenuto.frames.frame import Frame, Framing
from tenuto.frames.sse import BOM, SseDecoder
from tenuto.relay.commands import BODY_HEADERS, Head, Reply
from tenuto.relay.reframing import told_of
from tenuto.wire.base import JsonObject
from tenuto.wire.dashscope_events import SoFar, Unrepeated
from tenuto.wire.json import decode_object, encode


class RepeatingFraming:
    """Events that repeat, for a caller that reads them (`relay.reframing.Reframing`).

    Args:
        repeats: whether they are expected to; None: nobody knows.
    """

    def __init__(self, policy: Policy, *, repeats: bool | None) -> None:
        self.reading = False
        self.ready: deque[Reply] = deque()
        self._policy = policy
        self._expected = repeats
        self._new = Unrepeated(repeats)
        self._so_far = SoFar()
        self._decoding: Decoder | None = None
        self._sse = SseDecoder()
        self._kept: deque[tuple[bytes, bytes]] = deque()
        self._framed = False

    def began(self, head: Head, came: Framing) -> Head:
        """The head of an attempt as the pipe is to see it."""
        self._decoding = decoder_for(head.coding, self._policy.body_max_bytes)
        self.reading = came is Framing.EVENTS and self._decoding is not None
        self._sse = SseDecoder(self._policy.event_max_bytes)
        self._new = Unrepeated(self._expected if self._new.repeats is None else self._new.repeats)
        self._kept.clear()
        return head.without(*BODY_HEADERS) if self.reading else head

    def take(self, came: Reply) -> None:
        """Take what was read."""
        assert self._decoding is not None
        self.ready += told_of(came, self._decoding, self._sse, self._told)

    def _told(self, event: Frame) -> bytes:
        """What is new of an event, its bytes kept."""
        value = _output_of(event)
        if value is None:
            return event.raw
        new = self._new(value)
        raw = event.raw if new is value else _with_data(event, new)
        self._kept.append((raw, event.raw))
        return raw

    def opened(self, head: Head, events: bool) -> Head:
        """The head for the caller."""
        self._framed = events
        return head

    def written(self, data: bytes) -> bytes:
        """Events with all that was said before them."""
        if not self._framed:
            return data
        decoder = SseDecoder()
        return b"".join(map(self._said, (*decoder.feed(data), *decoder.flush())))

    def _said(self, event: Frame) -> bytes:
        value = _output_of(event)
        if value is None:
            return event.raw
        so_far = self._so_far(value)
        for told, raw in self._kept:
            if told == event.raw:
                while self._kept.popleft()[0] != told:
                    pass
                return raw
        self._kept.clear()  # from here on none says what was said
        return _with_data(event, so_far) if self._repeats else event.raw

    @property
    def _repeats(self) -> bool:
        told = self._new.repeats
        return bool(self._expected if told is None else told)

    def closing(self) -> bytes:
        """Nothing: each event stands for itself."""
        return b""


def _output_of(event: Frame) -> JsonObject | None:
    """The object of an event that says something of the answer, else None."""
    value = decode_object(event.data) if event.data and event.name != "error" else None
    return value if isinstance(value, dict) and isinstance(value.get("output"), dict) else None


def _with_data(event: Frame, value: JsonObject) -> bytes:
    """An event with another object; what stands before its data stays."""
    lines = [
        line
        for line in event.raw.removeprefix(BOM).splitlines()
        if line and not line.startswith(b"data:")
    ]
    return b"".join(line + b"\n" for line in (*lines, b"data:" + encode(value))) + b"\n"
