"""Streams whose events a wire rewrites on their way, for a pipe that only handles what is new.

Theory of operation
-------------------
Where each event of a stream repeats all text so far, the wire has a `rewriter`. The pipe receives
what is new in each event, and its own events are extended by everything that the caller received
before. Until an answer has begun, the request decides whether that is so (`RequestFacts.repeats`).

A turn is a generator of commands, so this is a generator around it.
"""

from __future__ import annotations

from collections import deque

from tenuto.core.answer.fault import FaultKind
from tenuto.core.settings.policy import Policy
from tenuto.frames.compression import Decoder, UndecodableBytes, decoder_for
from tenuto.frames.frame import FrameTooLarge, Framing
from tenuto.frames.sse import SseDecoder
from tenuto.turn.drivers.commands import (
    BODY_HEADERS,
    ConnectionLost,
    Head,
    ReadMore,
    Reply,
    Run,
    SendData,
    SendRequest,
    StartResponse,
    reading,
    timed_out,
)
from tenuto.turn.receiving.unrecognized import is_unrecognized, may_be_unrecognized
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.stream.framing import look_ahead
from tenuto.wires.rewriter import Rewriter


def rewritten(run: Run, turn: TurnRecord, rewriter: Rewriter) -> Run:
    """Return the same turn for a caller whose events are those that this writes."""
    return _rewritten(run, _Rewriting(turn.policy, rewriter), turn)


def _rewritten(run: Run, events: _Rewriting, turn: TurnRecord) -> Run:
    reply: Reply = None
    ready = events.ready
    try:
        while True:
            try:
                command = run.send(reply)
            except StopIteration:
                break
            match command:
                case ReadMore():
                    within_s = command.within_s
                    read = reading(within_s)
                    while events.reading and not ready:
                        events.feed((yield read))
                        if within_s is not None and not ready and within_s() <= 0:
                            events.feed(timed_out())
                    reply = ready.popleft() if ready else (yield read)
                case SendData(data, last):
                    made = events.written(data)
                    if last or made is not data:
                        command = SendData(made, last)
                    reply = (yield command) if made else None
                case StartResponse(_, as_events):
                    events.framed = as_events
                    reply = yield command
                case SendRequest():
                    reply = yield command
                    ready.clear()
                    events.reading = False
                    if isinstance(reply, Head) and reply.is_good:
                        ahead = deque[Reply]()
                        # It belongs to no wire: the pipe sees it too, and passes it on unchanged.
                        if not may_be_unrecognized(turn) or not (
                            yield from is_unrecognized(turn, reply, ahead)
                        ):
                            limit_bytes, within_s = turn.policy.body_max_bytes, command.within_s
                            came, ahead = yield from look_ahead(
                                Framing.EVENTS, reply, limit_bytes, within_s, ahead
                            )
                            reply = events.began(reply, came)
                        if not events.reading:
                            ready += ahead
                        for piece in ahead if events.reading else ():
                            events.feed(piece)
                case _:
                    reply = yield command
    finally:
        run.close()


class _Rewriting:
    """The events of a turn's stream, in both directions.

    Attributes:
        reading: whether received events are rewritten; set by `began`.
        ready: what is ready for the pipe.
        framed: whether the pipe writes events.
    """

    def __init__(self, policy: Policy, rewriter: Rewriter) -> None:
        self.reading = False
        self.ready: deque[Reply] = deque()
        self._policy = policy
        self._rewriter = rewriter
        self._decoding: Decoder | None = None
        self._sse = SseDecoder()
        self.framed = False

    def began(self, head: Head, came: Framing) -> Head:
        """Return the head of an attempt as the pipe should see it."""
        self._decoding = decoder_for(head.coding, self._policy.body_max_bytes)
        self.reading = came is Framing.EVENTS and self._decoding is not None
        self._sse = SseDecoder(self._policy.event_max_bytes)
        self._rewriter.begin()
        return head.without(*BODY_HEADERS) if self.reading else head

    def feed(self, came: Reply) -> None:
        """Take what was read."""
        assert self._decoding is not None
        if isinstance(came, ConnectionLost):
            self.ready.append(came)
            return
        assert isinstance(came, bytes)
        try:
            plain = self._decoding.feed(came)
            events = self._sse.feed(plain) if came else self._sse.flush()
        except FrameTooLarge as error:
            self.ready.append(ConnectionLost(FaultKind.LIMIT, error))
            return
        except UndecodableBytes as error:
            self.ready.append(ConnectionLost(FaultKind.GARBAGE, error))
            return
        if data := b"".join(map(self._rewriter.received, events)):
            self.ready.append(data)
        if not came:
            self.ready.append(came)

    def written(self, data: bytes) -> bytes:
        """Return events as the caller gets them."""
        if not self.framed:
            return data
        decoder = SseDecoder()
        return b"".join(map(self._rewriter.written, (*decoder.feed(data), *decoder.flush())))
