"""One attempt whose answer is a stream of events."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.signals import FaultSeen, HalfSeen, OddSeen
from tenuto.core.deciding.actions import holds_prefill
from tenuto.core.seam.seam import trailing_space
from tenuto.core.seam.stopping import StopSequenceStitcher
from tenuto.frames.compression import Decoder, UndecodableBytes
from tenuto.frames.frame import Frame, FrameTooLarge
from tenuto.turn.drivers.commands import (
    BODY_HEADERS,
    Command,
    ConnectionLost,
    Head,
    ReadMore,
    Reply,
    Run,
    SendData,
    StartResponse,
    timed_out,
)
from tenuto.turn.receiving.fetching import Fetching
from tenuto.turn.receiving.stitching import keep, put_together, stitcher_for, stopped
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.stream.client_stream import ClientStream
from tenuto.turn.stream.stream_repair import StreamRepair

_HELD = "more of the stream would be held back than hold_max_bytes ({})"
_TURN_TIMEOUT = "the turn took longer than turn_timeout_s ({:g})"
"""Limits of the policy, in words. Each names its setting."""

_EVENT_S = 1.0
"""How long an event that has begun may take, once a loop has no time left for its turn."""


def open_head(turn: TurnRecord, head: Head) -> Run:
    """Forward the head of a stream, if the caller has none yet."""
    if not turn.headed:
        turn.headed = True
        shown = turn.shown(head.without(*BODY_HEADERS))
        yield StartResponse(turn.framing.opened(shown), events=True)


def open_as_events(turn: TurnRecord, attempt: Attempt) -> Run:
    """Send what came as bodies as the events that were requested. The head is that of `attempt` if
    no body could be read."""
    shape = turn.answered or attempt
    assert shape.head is not None
    turn.open = True
    if shape.value:
        turn.client_stream.begin_message(shape.value)
    if not turn.headed:
        turn.headed = True
        head = shape.head.without(*BODY_HEADERS, b"content-type")
        kind = (b"content-type", b"text/event-stream; charset=utf-8")
        yield StartResponse(turn.framing.opened(turn.shown(head.plus(kind))), events=True)
    if reasoning := "".join(turn.reasoning):
        yield SendData(turn.client_stream.framed(turn.client_stream.writer.reasoning(reasoning)))
    if not turn.puts_together and (text := turn.client_stream.write_text(turn.kept_text)):
        yield SendData(text)


_SAMPLED = 64
"""Of this many pieces, one is timed for the metric of detection."""


def _begin(
    turn: TurnRecord, head: Head, decoder: Decoder, ahead: deque[Reply]
) -> Generator[Command, Reply, tuple[Reply, StopSequenceStitcher | None]]:
    """Forward the beginning of a stream. Return the piece that the caller has already, or None, and
    where the text joins the kept text."""
    if not turn.open and turn.answered is not None and (turn.kept_text or turn.reasoning):
        yield from open_as_events(turn, turn.answered)  # this continues an answer that was a body
    given = ahead[0] if ahead else None
    first = decoder.plain and not turn.state.attempts
    if first and isinstance(given, bytes) and turn.wire.opens(given):
        # This piece only begins the stream. It is forwarded whatever follows it, and before
        # anything is built for that, so that the caller's first chunk comes without delay.
        yield from open_head(turn, head)
        yield SendData(given)
    else:
        given = None
    stitcher = stitcher_for(turn)
    opening = turn.client_stream.begin(
        stitcher,
        apart=turn.apart,
        plan=turn.plans.stitcher(),
        withholds=turn.puts_together,
    )
    if not turn.open:
        turn.open = True
        yield from open_head(turn, head)
    if opening:
        yield SendData(opening)
    turn.begin_stream()
    return given, stitcher


def read_stream(
    turn: TurnRecord, head: Head, decoder: Decoder, ahead: deque[Reply]
) -> Generator[Command, Reply, Attempt | None]:
    """Read a stream to its end, and forward at once what may be sent.

    `ahead`: the part of it that was read already."""
    given, stitcher = yield from _begin(turn, head, decoder, ahead)
    reading = _Reading(turn, head, decoder, stitcher)
    builder, client_stream = reading.builder, turn.client_stream
    # This one generator does everything with each piece: another one around it would cost time for
    # every piece.
    while not builder.ended:
        reply = ahead.popleft() if ahead else (yield reading.command)
        if reading.fetching is not None and not (isinstance(reply, bytes) and reply):
            fetched = None if turn.deadline_passed else (yield from reading.fetching.rest())
            if fetched is not None:
                reading.connect(*fetched)
                ahead.clear()
                continue
        out = reading.add(reply)
        if out and reply is not given:
            yield SendData(out)
        if not reading.goes_on(reply):
            break
    for what in reading.odd:
        builder.feed(OddSeen(what, repaired=True))
    turn.ended(builder)
    if out := client_stream.end(builder):
        yield SendData(out)
    return reading.attempt()


class _Reading:
    """A stream while it is read: its pieces become events, which go to the client stream.

    Attributes:
        builder: reads what the events mean.
        fetching: follows the stream, so that its rest can be fetched if the connection breaks;
            None if the provider doesn't keep it.
        odd: what of the stream was repaired, each word once.
    """

    def __init__(
        self, turn: TurnRecord, head: Head, decoder: Decoder, stitcher: StopSequenceStitcher | None
    ) -> None:
        self._turn = turn
        self._client_stream = client_stream = turn.client_stream
        self._stitcher = stitcher
        self.builder: Builder = turn.builder()
        cursors = turn.wire.cursors if turn.facts.keeps and turn.request.fetches else None
        self.fetching: Fetching | None = None if cursors is None else Fetching(turn, cursors)
        self._lost: ConnectionLost | None = None
        self._failed = False  # whether the rest can't be read
        self._tail = b""  # what came after the end
        self._pieces = 0
        self._content_count = -1  # `ClientStream.content_count`, when it last grew
        self._last_content_s = 0.0  # when that was
        self._has_text = False  # whether an event had data
        self.connect(head, decoder)
        # Pieces that are one event like an earlier one are taken in as few steps as possible. In a
        # further attempt, every piece is a reply, so that the time limit is checked (C29).
        quick = decoder.plain and self._codec.has_templates
        quick = quick and not client_stream.writing and not turn.state.attempts
        take = client_stream.fast_path(self.builder, turn.policy.event_max_bytes) if quick else None
        self._quick: ReadMore = turn.reading if take is None else ReadMore(take)

    def connect(self, head: Head, decoder: Decoder) -> None:
        """Read on from this response."""
        turn = self._turn
        self._head, self._decoder, self._codec = head, decoder, turn.framing.codec
        make = None if turn.left_alone else turn.wire.mender
        self._repair = None if make is None else StreamRepair(make(turn.facts.model), self._codec)
        self.odd: list[str] = [] if self._repair is None else self._repair.odd

    @property
    def command(self) -> ReadMore:
        """The command to read on."""
        quick = (
            self._codec.idle
            and self._client_stream.may_forward
            and self.fetching is None
            and not self.odd
        )
        return self._quick if quick else self._turn.reading

    def add(self, reply: Reply) -> bytes:
        """Add a piece, b"" at the end, or the loss of the connection. Return what may be forwarded
        now."""
        turn, client_stream, builder = self._turn, self._client_stream, self.builder
        if not isinstance(reply, bytes):
            self._lose(reply)
            return b""
        events, codec = turn.events, self._codec
        if self._content_count < 0 and reply and events is not None:
            events.piece_came()
        try:
            frames = codec.decode(self._decoder.feed(reply)) if reply else codec.flush()
        except (FrameTooLarge, UndecodableBytes) as error:
            builder.feed(_unreadable(error))
            self._failed = True
            return b""
        if self._repair is not None:
            frames = self._repair.of(frames)
        if self.fetching is not None:
            frames = self.fetching.new(frames)
            self.fetching = None if self.fetching.is_hopeless else self.fetching
        self._has_text = self._has_text or any(frame.data for frame in frames)
        sampled = events is not None and self._pieces % _SAMPLED == 0
        begun_s = turn.environment.now() if sampled else 0.0
        self._pieces += 1
        out, self._tail = _forwarded(frames, client_stream, builder)
        if sampled and events is not None:
            events.detected(turn.environment.now() - begun_s)
        if builder.ended and client_stream.forwards_all:
            # An SDK stops reading at the end mark, so everything is reported before it.
            out, self._tail = b"", out + self._tail
        if turn.left_alone and not reply:
            out, self._tail = b"", out  # it is the last, and `rest_of_stream` sends it
        return out

    def _lose(self, reply: Reply) -> None:
        """Note that the connection broke."""
        self._lost = reply if isinstance(reply, ConnectionLost) else None
        self._failed = True
        if self._turn.deadline_passed:
            self.builder.feed(_turn_timeout(self._turn))
        elif self._lost is not None and self._lost.kind is FaultKind.LIMIT:
            self.builder.feed(_unreadable(self._lost.error))
        self.builder.feed(HalfSeen())

    def goes_on(self, reply: Reply) -> bool:
        """Return whether to read on after this reply; if not, note why."""
        turn, client_stream, codec = self._turn, self._client_stream, self._codec
        if (
            self._failed
            or client_stream.broken
            or (self._stitcher is not None and self._stitcher.found)
        ):
            return False  # the rest can't be read, comes after a gap, or is not wanted any more
        content_count = client_stream.content_count
        if (
            client_stream.overfull
            or turn.deadline_passed
            or isinstance(codec.failed, FrameTooLarge)
        ):
            self.builder.feed(_limit_passed(turn))
        elif (
            self._content_count == content_count
            and turn.loop_deadline_passed()
            and self._stalls(reply)
        ):
            self._lost = timed_out()
            self.builder.feed(HalfSeen())
        elif reply and codec.failed is None:
            if self._content_count != content_count:
                self._content_count, self._last_content_s = content_count, turn.environment.now()
            return True
        elif self._has_text or holds_prefill(turn.state.last_edits):
            # Without an event, nothing is known, but a prefill may leave a model nothing to add.
            turn.transfer_ended(self.builder, self._head)
        return False

    def _stalls(self, piece: Reply) -> bool:
        """Return whether a piece without content only keeps a connection alive. A piece of an event
        that may still bring content does not count, unless the event takes too long. b"" is the
        end, not silence."""
        if not isinstance(piece, bytes) or not piece:
            return False
        keeps_alive = self._codec.idle or piece.strip()[:1] in (b"", b":")
        return keeps_alive or self._turn.environment.now() - self._last_content_s > _EVENT_S

    def attempt(self) -> Attempt:
        """Return the attempt, now that the stream is over, and keep its content."""
        turn, client_stream, stitcher, kept_text = (
            self._turn,
            self._client_stream,
            self._stitcher,
            self._turn.kept_text,
        )
        tail, decoder, codec = self._tail, self._decoder, self._codec
        if self.builder.ended and not client_stream.writing:
            tail += codec.behind_end(codec.rest())
        response = self.builder.build()
        attempt = Attempt(
            response, self._head, tail=tail, decoder=decoder, codec=codec, lost=self._lost
        )
        attempt.message = client_stream.message
        if turn.puts_together:
            put_together(turn, attempt)
            return turn.received(attempt)
        attempt.new_chars = stitcher.new_chars if stitcher else len(response.text)
        stopped(turn, attempt, stitcher.found if stitcher else None)
        # What was only forwarded equals what was read, so one text is kept instead of two.
        text = client_stream.text if client_stream.writing else response.text
        begins = (
            len(kept_text) if turn.apart else len(trailing_space(kept_text)[0]) if stitcher else 0
        )
        keep(turn, attempt, text, min(begins, len(text)))
        return turn.received(attempt)


def _forwarded(
    events: list[Frame], client_stream: ClientStream, builder: Builder
) -> tuple[bytes, bytes]:
    """Pass events to the client stream: return what may go on now, and what came after the end."""
    if len(events) == 1:
        return client_stream.event(events[0], builder), b""
    out: list[bytes] = []
    for number, event in enumerate(events):
        out.append(client_stream.event(event, builder))
        if client_stream.broken:
            break
        if builder.ended:
            return b"".join(out), b"".join(later.raw for later in events[number + 1 :])
    return b"".join(out), b""


def _limit_passed(turn: TurnRecord) -> FaultSeen:
    """Return the fault for the limit of the policy that ends a stream."""
    client_stream, codec, most_bytes = (
        turn.client_stream,
        turn.framing.codec,
        turn.policy.hold_max_bytes,
    )
    if client_stream.overfull:
        if turn.events is not None:
            turn.events.held_too_much(client_stream.most_held_bytes, most_bytes)
        return _limit("hold_back_exceeded", _HELD.format(most_bytes))
    if not turn.deadline_passed and codec.failed is not None:
        return _unreadable(codec.failed)
    return _turn_timeout(turn)


def _unreadable(error: Exception) -> FaultSeen:
    if isinstance(error, UndecodableBytes):
        return FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes"))
    return _limit("event_too_large", str(error))


def _turn_timeout(turn: TurnRecord) -> FaultSeen:
    return _limit("turn_timeout", _TURN_TIMEOUT.format(turn.policy.turn_timeout_s))


def _limit(what: str, message: str = "") -> FaultSeen:
    return FaultSeen(Fault(FaultKind.LIMIT, what, message))
