"""Reframing: a stream that is no server-sent events, for a pipe that knows no other.

Theory of operation
-------------------
A turn is a generator of commands, so a framing of another kind is a generator around it: what is
read becomes server-sent events, what is written becomes messages again. The pipe, and all that
looks at streams, knows nothing of it.

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
from tenuto.wire.aws_eventstream import (
    CONTENT_TYPE,
    AwsEventDecoder,
    UnreadableMessage,
    render_event,
    render_exception,
    render_named,
)
from tenuto.wire.json import decode_object
from tenuto.wire.sse import EventTooLarge, SseDecoder, SseEvent

Render = Callable[[bytes], bytes]
"""Makes a message of an event's data."""

AWS_STREAMS: dict[str, Render] = {
    "/invoke-with-response-stream": render_event,
    "/converse-stream": render_named,
}
"""How the path of a request ends whose caller reads AWS event streams, and how events stand in
them."""


def aws_stream(path: str) -> Render | None:
    """How events are written for whoever asks at a path; None: as lines.

    >>> aws_stream("/model/m/converse-stream") is render_named, aws_stream("/v1/messages")
    (True, None)
    """
    return next((render for end, render in AWS_STREAMS.items() if path.endswith(end)), None)


_CONTENT_TYPE = b"content-type"
_EVENTS = "text/event-stream"
_UNREADABLE = b"(unreadable)"
"""Data of an event that stands for bytes which are none: the pipe takes it for garbage."""


def aws_framed(
    run: Run,
    policy: Policy,
    *,
    left_alone: bool,
    render: Render = render_event,
    exceptions: bool = False,
) -> Run:
    """The same turn for a caller that reads AWS event streams.

    `left_alone`: the turn is only watched, and every byte is handed on, also those that are no
    message. `render`: how events are written. `exceptions`: whether our errors are, as AWS's own
    SDKs want it; Anthropic's fails on exceptions, and raises on an error within an event."""
    framing = _AwsFraming(policy, left_alone, render, exceptions)
    reply: Reply = None
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                return
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
    finally:
        run.close()


class _AwsFraming:
    def __init__(self, policy: Policy, left_alone: bool, render: Render, exceptions: bool) -> None:
        self._policy = policy
        self._left_alone = left_alone
        self._render = render
        self._exceptions = exceptions
        self._decoding: Decoder | None = None
        self._messages = AwsEventDecoder()
        self._ready: deque[bytes | Lost] = deque()
        self._reading = False
        self._unreadable = False
        self._text_came = False
        self._framed = False
        self._numbers = itertools.count(1)
        self._kept: dict[str, bytes] = {}

    # --- in

    def began(self, head: Head) -> Head:
        """The head of an attempt as the pipe is to see it."""
        kind = head.get(_CONTENT_TYPE)
        self._decoding = decoder_for(head.get(b"content-encoding"), self._policy.body_max_bytes)
        self._reading = CONTENT_TYPE in kind and self._decoding is not None
        self._text_came = self._text_came or _EVENTS in kind
        self._messages = AwsEventDecoder(self._policy.event_max_bytes)
        self._unreadable = False
        self._ready.clear()
        self._kept.clear()
        if not self._reading:
            return head
        return head.without(*BODY_HEADERS, _CONTENT_TYPE).plus((_CONTENT_TYPE, _EVENTS.encode()))

    def read(self) -> bytes | Lost | None:
        """What is there for the pipe; None: read on."""
        return self._ready.popleft() if self._ready else None

    def take(self, came: Reply) -> None:
        """Take what was read."""
        assert isinstance(came, bytes | Lost)
        if not self._reading or self._decoding is None:
            self._ready.append(came)
        elif isinstance(came, Lost) or not came:
            rest, self._messages = self._messages.pending, AwsEventDecoder()
            if self._left_alone and rest and not self._unreadable:
                self._ready.append(self._numbered(SseEvent(rest, None)))
            self._ready.append(came)
        else:
            self._take_messages(self._decoding, came)

    def _take_messages(self, decoding: Decoder, came: bytes) -> None:
        if self._unreadable:
            self._ready.append(self._numbered(SseEvent(came, _UNREADABLE)))
            return
        out: list[bytes] = []
        end: bytes | Lost = b""
        try:
            piece = decoding.feed(came)
            while events := self._messages.feed(piece):
                out += [self._numbered(event) for event in events]
                piece = b""  # again: it may be that a message behind them is unreadable
        except (EventTooLarge, UnreadableMessage, UndecodableBytes) as error:
            self._unreadable = True
            raw = came if isinstance(error, UndecodableBytes) else self._messages.pending
            if isinstance(error, EventTooLarge) and not self._left_alone:
                end = Lost(FaultKind.LIMIT, error)
            else:
                out.append(self._numbered(SseEvent(raw, _UNREADABLE)))
        if out:
            self._ready.append(b"".join(out))
        if self._unreadable and not self._left_alone:
            self._ready.append(end)  # nothing says where the next message begins

    def _numbered(self, event: SseEvent) -> bytes:
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

    def opened(self, head: Head) -> Head:
        """The head for the caller: whatever stream follows is one of messages, unless the provider
        itself writes text."""
        self._framed = _EVENTS in head.get(_CONTENT_TYPE) and not self._text_came
        if not self._framed:
            return head
        return head.without(_CONTENT_TYPE).plus((_CONTENT_TYPE, CONTENT_TYPE.encode()))

    def written(self, data: bytes) -> bytes:
        """Events of text as messages."""
        if not self._framed:
            return data
        decoder = SseDecoder()
        events = [*decoder.feed(data), *decoder.flush()]
        return b"".join(self._message(event) for event in events)

    def _message(self, event: SseEvent) -> bytes:
        number = _number(event)
        if number not in self._kept:
            return self._written(event)
        for older in list(itertools.takewhile(lambda key: key != number, self._kept)):
            del self._kept[older]  # dropped, since events keep their order
        return self._kept.pop(number)

    def _written(self, event: SseEvent) -> bytes:
        """An event of the writer's own."""
        if event.data is None:
            return b""
        if event.name == "error" and self._exceptions:
            return _exception(event.data)
        return self._render(event.data)


def _exception(data: bytes) -> bytes:
    """An error of the writer's own, in whichever wire's shape, as an exception of AWS."""
    value = decode_object(data)
    value = value if isinstance(value, dict) else {}
    error = inner if isinstance(inner := value.get("error"), dict) else value
    return render_exception(MODEL_FAILED, str(error.get("message") or ""))


MODEL_FAILED = "modelStreamErrorException"
"""The exception that says that a model's answer failed."""


def _number(event: SseEvent) -> str:
    if event.raw.startswith(b": "):
        return event.raw[2 : event.raw.index(b"\n")].decode("utf-8", "replace")
    return event.name or ""


def _one_line(data: bytes) -> bytes:
    """JSON on one line: a line end within it can only be white space."""
    return data.replace(b"\r", b" ").replace(b"\n", b" ")
