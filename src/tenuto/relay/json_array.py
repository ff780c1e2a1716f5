"""Streams that are one array of JSON, for a pipe that knows server-sent events.

Theory of operation
-------------------
Without `alt=sse` Google's APIs write a stream as the elements of one array, each as soon as it is
there (https://cloud.google.com/apis/design/design_patterns#streaming). An element that is handed on
keeps its bytes, what stands between it and the one before it included; they wait in the order in
which they came, each under the data that the pipe sees of it.
"""

from __future__ import annotations

from collections import deque

from tenuto.core.fault import FaultKind
from tenuto.core.policy import Policy
from tenuto.frames.compression import Decoder, UndecodableBytes, decoder_for
from tenuto.frames.frame import FrameTooLarge, Framing
from tenuto.frames.json_array import ArrayDecoder
from tenuto.frames.sse import SseDecoder
from tenuto.relay.commands import Head, Lost, Reply
from tenuto.relay.kept import Kept
from tenuto.relay.reframing import EVENTS, HALF, HALF_EVENT, named


class ElementFraming:
    """Elements of JSON as events for the pipe: what both readers of Google's streams share. A whole
    answer of its wire is as good as an event, so an object that stands for itself is an element."""

    def __init__(self, policy: Policy, *, left_alone: bool) -> None:
        self.reading = False
        self.ready: deque[Reply] = deque()
        self._policy = policy
        self._left_alone = left_alone
        self._decoding: Decoder | None = None
        self._elements = ArrayDecoder()
        self._kept = Kept()
        self._rest: bytes | None = None
        self._text_came = self._is_array = False

    def began(self, head: Head, came: Framing) -> Head:
        """The head of an attempt as the pipe is to see it."""
        self._decoding = decoder_for(head.coding, self._policy.body_max_bytes)
        self._is_array = came is Framing.ARRAY
        of_json = came in (Framing.ARRAY, Framing.BODY)
        self.reading = of_json and self._decoding is not None
        self._text_came = self._text_came or came is Framing.EVENTS
        self._elements = ArrayDecoder(self._policy.event_max_bytes)
        self._kept.clear()
        self._rest = None
        return named(head, EVENTS) if self.reading else head

    def take(self, came: Reply) -> None:
        """Take what was read."""
        assert isinstance(came, bytes | Lost)
        assert self._decoding is not None
        if isinstance(came, Lost) or not came:
            self._rest = None if came else self._elements.rest
            if not came and self._is_cut(self._elements.rest.strip()):
                self.ready.append(HALF_EVENT)
            self.ready.append(came)
            return
        try:
            elements = self._elements.feed(self._decoding.feed(came))
        except FrameTooLarge as error:
            self.ready.append(Lost(FaultKind.LIMIT, error))
            return
        except UndecodableBytes as error:
            self.ready.append(Lost(FaultKind.GARBAGE, error))
            return
        if events := b"".join(map(self._event, elements)):
            self.ready.append(events)

    def _is_cut(self, rest: bytes) -> bool:
        """Whether the stream ended within an element, or before the bracket of its end."""
        whole = (b"]",) if self._is_array else (b"", b"]")
        return not self._left_alone and rest not in whole

    def _event(self, element: bytes) -> bytes:
        """An element as an event of text, its bytes kept."""
        data = element[element.index(b"{") :].replace(b"\r", b" ").replace(b"\n", b" ")
        self._kept.add(data, element)
        return b"data: %b\n\n" % data


class ArrayFraming(ElementFraming):
    """An array of JSON for a caller that reads one."""

    def __init__(self, policy: Policy, *, left_alone: bool) -> None:
        super().__init__(policy, left_alone=left_alone)
        self._content_type = b""
        self._framed = False
        self._written = 0

    def began(self, head: Head, came: Framing) -> Head:
        """The head of an attempt as the pipe is to see it."""
        self._content_type = self._content_type or head.get(b"content-type").encode("latin-1")
        return super().began(head, came)

    def opened(self, head: Head, events: bool) -> Head:
        """The head for the caller: whatever stream follows is an array again, unless the provider
        itself writes events."""
        self._framed = events and not self._text_came
        as_it_came = self._left_alone or b"json" in self._content_type
        kind = self._content_type if as_it_came else b"application/json"
        return named(head, kind) if self._framed else head

    def written(self, data: bytes) -> bytes:
        """Events of text as elements."""
        if not self._framed:
            return data
        decoder = SseDecoder()
        events = [*decoder.feed(data), *decoder.flush()]
        return b"".join(
            self._element(event.data) for event in events if event.data not in (None, b"", HALF)
        )

    def _element(self, data: bytes) -> bytes:
        first, self._written = not self._written, self._written + 1
        raw = self._kept.take(data)
        if raw is None:
            return self._parted(data, first)
        begins = raw.partition(b"{")[0]
        fits = (b"[" if first else b",") in begins
        return raw if fits or self._left_alone else self._parted(raw[len(begins) :], first)

    @staticmethod
    def _parted(data: bytes, first: bool) -> bytes:
        return (b"[" if first else b",\r\n") + data

    def closing(self) -> bytes:
        """The end of the array: as it came, where it did."""
        if not self._framed:
            return b""
        rest = self._rest or b""
        if self._left_alone or rest.strip() == b"]":
            return rest
        return b"\r\n]" if self._written else b""
