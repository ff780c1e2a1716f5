"""Streams that are one array of JSON, for a pipe that knows server-sent events.

Theory of operation
-------------------
Without `alt=sse` Google's APIs write a stream as the elements of one array, each as soon as it is
there (https://cloud.google.com/apis/design/design_patterns#streaming). As in `reframing`, a
generator around the turn makes events of what is read, and elements of what is written. An element
that is handed on keeps its bytes, what stands between it and the one before it included; they wait
in the order in which they came, each under the data that the pipe sees of it.
"""

from __future__ import annotations

import re
from collections import deque

from tenuto.core.fault import FaultKind
from tenuto.core.policy import Policy
from tenuto.relay.commands import (
    BODY_HEADERS,
    READ,
    Head,
    Lost,
    Open,
    Read,
    Reply,
    Run,
    Transmit,
    Write,
)
from tenuto.relay.encoding import Decoder, UndecodableBytes, decoder_for
from tenuto.wire.sse import EventTooLarge, SseDecoder

_CONTENT_TYPE = b"content-type"
_EVENTS = b"text/event-stream"
_find_brace = re.compile(rb'[{}"]').search
_find_end_of_text = re.compile(rb'[\\"]').search


class ArrayDecoder:
    """Incremental decoder of an array of objects; any chunking gives the same elements (S8).

    Args:
        limit_bytes: the largest element; 0: no limit.

    >>> decoder = ArrayDecoder()
    >>> decoder.feed(b'[{"a": "}"'), decoder.feed(b'}\\n,\\n{}]'), decoder.rest
    ([], [b'[{"a": "}"}', b'\\n,\\n{}'], b']')
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()
        self._at = 0
        self._depth = 0
        self._in_text = False

    @property
    def rest(self) -> bytes:
        """What is no element yet: at the end, the closing bracket."""
        return bytes(self._pending)

    def feed(self, data: bytes) -> list[bytes]:
        """The elements that these bytes complete, each with what stands before it.

        Raises:
            EventTooLarge: an element passed the limit."""
        self._pending += data
        elements: list[bytes] = []
        while (end := self._end_of_element()) is not None:
            elements.append(bytes(self._pending[:end]))
            del self._pending[:end]
            self._at = 0
        if 0 < self._limit_bytes < len(self._pending):
            raise EventTooLarge(f"an element is larger than event_max_bytes ({self._limit_bytes})")
        return elements

    def _end_of_element(self) -> int | None:
        while self._at < len(self._pending):
            find = _find_end_of_text if self._in_text else _find_brace
            found = find(self._pending, self._at)
            if found is None:
                self._at = len(self._pending)
                break
            mark, self._at = found[0], found.end()
            if mark == b"\\":
                if self._at == len(self._pending):  # the escaped one is still to come
                    self._at = found.start()
                    break
                self._at += 1
            elif mark == b'"':
                self._in_text = not self._in_text
            else:
                self._depth += 1 if mark == b"{" else -1
                if self._depth == 0:
                    return self._at
        return None


def array_framed(run: Run, policy: Policy, *, left_alone: bool) -> Run:
    """The same turn for a caller that reads an array of JSON.

    `left_alone`: the turn is only watched, and every byte is handed on."""
    framing = _ArrayFraming(policy, left_alone)
    reply: Reply = None
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                break
            match command:
                case Transmit():
                    reply = yield command
                    reply = framing.began(reply) if isinstance(reply, Head) else reply
                case Read():
                    while (reply := framing.read()) is None:
                        framing.take((yield READ))
                case Open(head):
                    reply = yield Open(framing.opened(head))
                case Write(data):
                    made = framing.written(data)
                    reply = (yield Write(made)) if made else None
                case _:
                    reply = yield command
        if closing := framing.closing():
            yield Write(closing)
    finally:
        run.close()


class _ArrayFraming:
    def __init__(self, policy: Policy, left_alone: bool) -> None:
        self._policy = policy
        self._left_alone = left_alone
        self._decoding: Decoder | None = None
        self._elements = ArrayDecoder()
        self._ready: deque[bytes | Lost] = deque()
        self._kept: deque[tuple[bytes, bytes]] = deque()
        self._content_type = b""
        self._framed = False
        self._written = 0
        self._rest: bytes | None = None

    def began(self, head: Head) -> Head:
        """The head of an attempt as the pipe is to see it."""
        kind = head.get(_CONTENT_TYPE)
        self._decoding = decoder_for(head.get(b"content-encoding"), self._policy.body_max_bytes)
        if head.status != 200 or "json" not in kind:
            self._decoding = None
        self._elements = ArrayDecoder(self._policy.event_max_bytes)
        self._ready.clear()
        self._kept.clear()
        self._rest = None
        if self._decoding is None:
            return head
        self._content_type = self._content_type or kind.encode("latin-1")
        return head.without(*BODY_HEADERS, _CONTENT_TYPE).plus((_CONTENT_TYPE, _EVENTS))

    def read(self) -> bytes | Lost | None:
        """What is there for the pipe; None: read on."""
        return self._ready.popleft() if self._ready else None

    def take(self, came: Reply) -> None:
        """Take what was read."""
        assert isinstance(came, bytes | Lost)
        if self._decoding is None or isinstance(came, Lost):
            self._ready.append(came)
            return
        if not came:
            self._rest = self._elements.rest
            self._ready.append(came)
            return
        try:
            elements = self._elements.feed(self._decoding.feed(came))
        except EventTooLarge as error:
            self._ready.append(Lost(FaultKind.LIMIT, error))
            return
        except UndecodableBytes as error:
            self._ready.append(Lost(FaultKind.GARBAGE, error))
            return
        events = b"".join(map(self._event, elements))
        if events:
            self._ready.append(events)

    def _event(self, element: bytes) -> bytes:
        """An element as an event of text, its bytes kept."""
        data = element[element.index(b"{") :].replace(b"\r", b" ").replace(b"\n", b" ")
        self._kept.append((data, element))
        return b"data: %b\n\n" % data

    def opened(self, head: Head) -> Head:
        """The head for the caller: what follows is an array again."""
        self._framed = _EVENTS.decode() in head.get(_CONTENT_TYPE) and bool(self._content_type)
        if not self._framed:
            return head
        return head.without(_CONTENT_TYPE).plus((_CONTENT_TYPE, self._content_type))

    def written(self, data: bytes) -> bytes:
        """Events of text as elements."""
        if not self._framed:
            return data
        decoder = SseDecoder()
        events = [*decoder.feed(data), *decoder.flush()]
        return b"".join(self._element(event.data) for event in events if event.data)

    def _element(self, data: bytes) -> bytes:
        first, self._written = not self._written, self._written + 1
        if any(data == kept for kept, _ in self._kept):
            while self._kept:
                kept, raw = self._kept.popleft()  # those before it were dropped: order is kept
                if kept == data:
                    begins = raw.partition(b"{")[0]
                    fits = (b"[" if first else b",") in begins
                    return raw if fits else self._parted(raw[len(begins) :], first)
        return self._parted(data, first)

    @staticmethod
    def _parted(data: bytes, first: bool) -> bytes:
        return (b"[" if first else b",\r\n") + data

    def closing(self) -> bytes:
        """The end of the array: as it came, where it did."""
        if self._left_alone or (self._rest and b"]" in self._rest):
            return self._rest or b""
        return b"\r\n]" if self._framed and self._written else b""
