"""Streams whose events repeat all text so far, for a pipe that only handles what is new.

Theory of operation
-------------------
DashScope writes such streams unless a request asks for increments. The pipe receives what is new in
each event, and its own events are extended by everything that the caller received before. An event
that is handed on keeps its bytes: they wait in the order of arrival, keyed by what the pipe sees of
them, until the pipe writes an event that did not come. Whether a stream repeats is detected from
its events (`wires.dashscope.events`); until then, the request decides.

A turn is a generator of commands, so this is a generator around it.
"""

from __future__ import annotations

from collections import deque

from tenuto.core.answer.fault import FaultKind
from tenuto.core.settings.policy import Policy
from tenuto.frames.compression import Decoder, UndecodableBytes, decoder_for
from tenuto.frames.frame import Frame, FrameTooLarge, Framing
from tenuto.frames.sse import BOM, SseDecoder
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
    late,
    reading,
)
from tenuto.turn.receiving.unrecognized import is_unrecognized, may_be_unrecognized
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.stream.framing import look_ahead
from tenuto.wires.dashscope.events import SoFar, Unrepeated
from tenuto.wires.json import JsonObject, decode_object, encode

PATHS = ("/text-generation/generation", "/multimodal-generation/generation")
"""The ends of the paths of such requests."""


def repeated(run: Run, turn: TurnRecord) -> Run:
    """Return the same turn for a caller that reads events which repeat, if its request wants these
    or may."""
    if not turn.path.rstrip("/").endswith(PATHS):
        return run
    return _repeated(run, _Repeating(turn.policy, repeats=turn.facts.repeats), turn)


def _repeated(run: Run, events: _Repeating, turn: TurnRecord) -> Run:
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
                        events.take((yield read))
                        if within_s is not None and not ready and within_s() <= 0:
                            events.take(late())
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
                        # It belongs to no wire: the pipe sees it too, and hands it on unchanged.
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
                            events.take(piece)
                case _:
                    reply = yield command
    finally:
        run.close()


class _Repeating:
    """Events that repeat, in both directions.

    Args:
        repeats: whether they are expected to; None if it is unknown.

    Attributes:
        reading: whether received events are reduced to what is new; set by `began`.
        ready: what is ready for the pipe.
        framed: whether the pipe writes events.
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
        self.framed = False

    def began(self, head: Head, came: Framing) -> Head:
        """Return the head of an attempt as the pipe should see it."""
        self._decoding = decoder_for(head.coding, self._policy.body_max_bytes)
        self.reading = came is Framing.EVENTS and self._decoding is not None
        self._sse = SseDecoder(self._policy.event_max_bytes)
        self._new = Unrepeated(self._expected if self._new.repeats is None else self._new.repeats)
        self._kept.clear()
        return head.without(*BODY_HEADERS) if self.reading else head

    def take(self, came: Reply) -> None:
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
        if data := b"".join(map(self._told, events)):
            self.ready.append(data)
        if not came:
            self.ready.append(came)

    def _told(self, event: Frame) -> bytes:
        """Return what is new in an event, and keep its bytes."""
        value = _output_of(event)
        if value is None:
            return event.raw
        new = self._new(value)
        raw = event.raw if new is value else _with_data(event, new)
        self._kept.append((raw, event.raw))
        return raw

    def written(self, data: bytes) -> bytes:
        """Return events with everything that came before them."""
        if not self.framed:
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
        self._kept.clear()  # from here on, no received event has the same text
        return _with_data(event, so_far) if self._repeats else event.raw

    @property
    def _repeats(self) -> bool:
        told = self._new.repeats
        return bool(self._expected if told is None else told)


def _output_of(event: Frame) -> JsonObject | None:
    """Return the object of an event that carries part of the answer; otherwise None."""
    value = decode_object(event.data) if event.data and event.name != "error" else None
    return value if isinstance(value, dict) and isinstance(value.get("output"), dict) else None


def _with_data(event: Frame, value: JsonObject) -> bytes:
    """Return an event with another object; the lines before its data stay."""
    lines = [
        line
        for line in event.raw.removeprefix(BOM).splitlines()
        if line and not line.startswith(b"data:")
    ]
    return b"".join(line + b"\n" for line in (*lines, b"data:" + encode(value))) + b"\n"
