"""Reframing: a stream that is no server-sent events, for a pipe that knows no other.

Theory of operation
-------------------
A turn is a generator of commands, so a framing of another kind is a generator around it: what is
read becomes server-sent events, what is written becomes what the caller reads. The pipe, and all
that looks at streams, knows nothing of it. How an answer is framed says `framing`; what is framed
as the pipe reads it passes as it came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from tenuto.core.fault import FaultKind
from tenuto.core.policy import Policy
from tenuto.frames.compression import Decoder, UndecodableBytes
from tenuto.frames.frame import Frame, FrameTooLarge, Framing
from tenuto.relay.commands import (
    BODY_HEADERS,
    Head,
    Lost,
    Open,
    Read,
    Reply,
    Run,
    Transmit,
    Write,
    late,
    reading,
)
from tenuto.relay.look_ahead import look_ahead

EVENTS = b"text/event-stream"

HALF = b"(half)"
"""Data of an event that stands for half of one, with which a stream ended; it is never written."""

HALF_EVENT = b"data: " + HALF


def named(head: Head, content_type: bytes) -> Head:
    """The head of a translated stream under this name, b"" for none. What is true of the bytes that
    came is not true of these."""
    plain = head.without(*BODY_HEADERS, b"content-type")
    return plain.plus((b"content-type", content_type)) if content_type else plain


class Reader(Protocol):
    """Tells the events of a stream apart."""

    def feed(self, data: bytes) -> list[Frame]:
        """The events that these bytes complete."""

    def flush(self) -> list[Frame]:
        """What is left at the stream's end."""


def told_of(
    came: Reply, decoding: Decoder, reader: Reader, told: Callable[[Frame], bytes]
) -> list[Reply]:
    """What is there for the pipe of what was read, each event as `told` has it; a stream that
    cannot be read is lost."""
    if isinstance(came, Lost):
        return [came]
    assert isinstance(came, bytes)
    try:
        events = reader.feed(decoding.feed(came)) if came else reader.flush()
    except FrameTooLarge as error:
        return [Lost(FaultKind.LIMIT, error)]
    except UndecodableBytes as error:
        return [Lost(FaultKind.GARBAGE, error)]
    data = b"".join(map(told, events))
    return [*([data] if data else []), *([] if came else [came])]


class Reframing(Protocol):
    """One framing of a turn, in both directions.

    Attributes:
        reading: whether what is read is to be translated; set by `began`.
        ready: what is there for the pipe."""

    reading: bool
    ready: deque[Reply]

    def began(self, head: Head, came: Framing) -> Head:
        """The head of an attempt as the pipe is to see it, which reads server-sent events."""

    def take(self, came: Reply) -> None:
        """Take what was read."""

    def opened(self, head: Head, events: bool) -> Head:
        """The head for the caller."""

    def written(self, data: bytes) -> bytes:
        """What the pipe writes, as the caller reads it."""

    def closing(self) -> bytes:
        """What is to be written behind all."""


def reframed(
    run: Run, asked: Framing, framing: Reframing, policy: Policy, *, left_alone: bool
) -> Run:
    """The same turn for a caller that reads another framing.

    `left_alone`: it is only watched, so that bytes which are not translated are no events, whatever
    the pipe takes them for."""
    reply: Reply = None
    ready = framing.ready
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                break
            match command:
                case Read():
                    within_s = command.within_s
                    read = reading(within_s)
                    while framing.reading and not ready:
                        framing.take((yield read))
                        if within_s is not None and not ready and within_s() <= 0:
                            framing.take(late())
                    reply = ready.popleft() if ready else (yield read)
                case Write(data, last):
                    made = framing.written(data)
                    if last or made is not data:
                        command = Write(made, last and not framing.closing())
                    reply = (yield command) if made else None
                case Open(head, events):
                    events = events and (framing.reading or not left_alone)
                    reply = yield Open(framing.opened(head, events), events)
                case Transmit():
                    reply = yield command
                    ready.clear()
                    framing.reading = False
                    if isinstance(reply, Head) and 200 <= reply.status < 300:
                        limit_bytes, within_s = policy.body_max_bytes, command.within_s
                        came, ahead = yield from look_ahead(asked, reply, limit_bytes, within_s)
                        reply = framing.began(reply, came)
                        if not framing.reading:
                            ready += ahead
                        for piece in ahead if framing.reading else ():
                            framing.take(piece)
                case _:
                    reply = yield command
        if closing := framing.closing():
            yield Write(closing, last=True)
    finally:
        run.close()
