"""Streams of binary messages, for a pipe that knows server-sent events.

Theory of operation
-------------------
A message that is handed on must leave as the bytes that it came in (P8). So each has a number,
which stands where the name of the event would (nobody reads that), and the bytes are kept until an
event of that number, or of a later one, is written. Events without a number are the writer's own,
and are rendered; comments have no place in this framing and stay out.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable

from tenuto.core.fault import FaultKind
from tenuto.core.policy import Policy
from tenuto.frames.aws_messages import (
    CONTENT_TYPE,
    AwsEventDecoder,
    UnreadableMessage,
    render_event,
    render_exception,
)
from tenuto.frames.compression import Decoder, UndecodableBytes, decoder_for
from tenuto.frames.frame import Frame, FrameTooLarge, Framing
from tenuto.frames.sse import SseDecoder
from tenuto.relay.commands import Head, Lost, Reply
from tenuto.relay.reframing import EVENTS, HALF, HALF_EVENT, named
from tenuto.wire.json import decode_object

Render = Callable[[bytes], bytes]
"""Makes a message of an event's data."""

_UNREADABLE = b"(unreadable)"
"""Data of an event that stands for bytes which are none: the pipe takes it for garbage."""


class MessageFraming:
    """AWS event streams.

    Args:
        left_alone: the turn is only watched, and every byte is handed on, also those that are no
            message.
        render: how events are written.
        exceptions: whether our errors are exceptions, as AWS's own SDKs want it; Anthropic's fails
            on these, and raises on an error within an event."""

    def __init__(
        self,
        policy: Policy,
        *,
        left_alone: bool,
        render: Render = render_event,
        exceptions: bool = False,
    ) -> None:
        self.reading = False
        self.ready: deque[Reply] = deque()
        self._policy = policy
        self._left_alone = left_alone
        self._render = render
        self._exceptions = exceptions
        self._decoding: Decoder | None = None
        self._messages = AwsEventDecoder()
        self._unreadable = False
        self._text_came = False
        self._framed = False
        self._content_type = CONTENT_TYPE.encode()
        self._numbers = itertools.count(1)
        self._kept: dict[str, bytes] = {}

    # --- in

    def began(self, head: Head, came: Framing) -> Head:
        """The head of an attempt as the pipe is to see it."""
        self._decoding = decoder_for(head.coding, self._policy.body_max_bytes)
        self.reading = came is Framing.MESSAGES and self._decoding is not None
        self._text_came = self._text_came or came is Framing.EVENTS
        if self._left_alone:
            self._content_type = head.get(b"content-type").encode("latin-1")
        self._messages = AwsEventDecoder(self._policy.event_max_bytes)
        self._unreadable = False
        self._kept.clear()
        return named(head, EVENTS) if self.reading else head

    def take(self, came: Reply) -> None:
        """Take what was read."""
        assert isinstance(came, bytes | Lost)
        assert self._decoding is not None
        if isinstance(came, Lost) or not came:
            rest, self._messages = self._messages.pending, AwsEventDecoder()
            if self._left_alone and rest and not self._unreadable:
                self.ready.append(self._numbered(Frame(rest, None)))
            elif rest and not came and not self._unreadable:
                self.ready.append(HALF_EVENT)
            self.ready.append(came)
        else:
            self._take_messages(self._decoding, came)

    def _take_messages(self, decoding: Decoder, came: bytes) -> None:
        if self._unreadable:
            self.ready.append(self._numbered(Frame(came, _UNREADABLE)))
            return
        out: list[bytes] = []
        end: bytes | Lost = b""
        try:
            piece = decoding.feed(came)
            while events := self._messages.feed(piece):
                out += [self._numbered(event) for event in events]
                piece = b""  # again: it may be that a message behind them is unreadable
        except (FrameTooLarge, UnreadableMessage, UndecodableBytes) as error:
            self._unreadable = True
            raw = came if isinstance(error, UndecodableBytes) else self._messages.pending
            if isinstance(error, FrameTooLarge) and not self._left_alone:
                end = Lost(FaultKind.LIMIT, error)
            else:
                out.append(self._numbered(Frame(raw, _UNREADABLE)))
        if out:
            self.ready.append(b"".join(out))
        if self._unreadable and not self._left_alone:
            self.ready.append(end)  # nothing says where the next message begins

    def _numbered(self, event: Frame) -> bytes:
        """A message as an event of text, its bytes kept under its number."""
        data = event.data
        if data is not None and not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError:  # the SDKs decode strictly: this one is not handed on as is
                return b"data: %b\n\n" % _one_line(data.decode("utf-8", "replace").encode())
        number = str(next(self._numbers))
        self._kept[number] = event.raw
        if data is None:
            return b": %b\n\n" % number.encode()
        name = b": %b\nevent: error" if event.name == "error" else b"event: %b"
        return name % number.encode() + b"\ndata: %b\n\n" % _one_line(data)

    # --- out

    def opened(self, head: Head, events: bool) -> Head:
        """The head for the caller: whatever stream follows is one of messages, unless the provider
        itself writes text."""
        self._framed = events and not self._text_came
        return named(head, self._content_type) if self._framed else head

    def written(self, data: bytes) -> bytes:
        """Events of text as messages."""
        if not self._framed:
            return data
        decoder = SseDecoder()
        events = [*decoder.feed(data), *decoder.flush()]
        return b"".join(self._message(event) for event in events)

    def _message(self, event: Frame) -> bytes:
        number = _number(event)
        if number not in self._kept:
            return self._written(event)
        for older in list(itertools.takewhile(lambda key: key != number, self._kept)):
            del self._kept[older]  # dropped, since events keep their order
        return self._kept.pop(number)

    def _written(self, event: Frame) -> bytes:
        """An event of the writer's own."""
        if event.data in (None, HALF):
            return b""
        if event.name == "error" and self._exceptions:
            return _exception(event.data)
        return self._render(event.data)

    def closing(self) -> bytes:
        """Nothing: each message stands for itself."""
        return b""


def _exception(data: bytes) -> bytes:
    """An error of the writer's own, in whichever wire's shape, as an exception of AWS."""
    value = decode_object(data)
    value = value if isinstance(value, dict) else {}
    error = inner if isinstance(inner := value.get("error"), dict) else value
    return render_exception(MODEL_FAILED, str(error.get("message") or ""))


MODEL_FAILED = "modelStreamErrorException"
"""The exception that says that a model's answer failed."""


def _number(event: Frame) -> str:
    if event.raw.startswith(b": "):
        return event.raw[2 : event.raw.index(b"\n")].decode("utf-8", "replace")
    return event.name or ""


def _one_line(data: bytes) -> bytes:
    """JSON on one line: a line end within it can only be white space."""
    return data.replace(b"\r", b" ").replace(b"\n", b" ")
