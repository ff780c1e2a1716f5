"""One attempt whose answer is a stream of events."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.signals import FaultSeen, HalfSeen, OddSeen
from tenuto.core.deciding.actions import holds_prefill
from tenuto.core.seam.seam import trailing_space
from tenuto.core.seam.stopping import StopSequenceJoint
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
    late,
)
from tenuto.turn.receiving.fetching import fetching_of
from tenuto.turn.receiving.joining import joint_of, keep, put_together, stopped
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.stream.mending import Mending
from tenuto.turn.stream.outlet import Outlet

_HELD = "more of the stream would be held back than hold_max_bytes ({})"
_LATE = "the turn took longer than turn_timeout_s ({:g})"
"""Limits of the policy, in words. Each names its setting."""

_EVENT_S = 1.0
"""How long an event that has begun may take, once a loop has no time left for its turn."""


def open_head(turn: TurnRecord, head: Head) -> Run:
    """Hand on the head of a stream, if the caller has none yet."""
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
        turn.outlet.begin_message(shape.value)
    if not turn.headed:
        turn.headed = True
        head = shape.head.without(*BODY_HEADERS, b"content-type")
        kind = (b"content-type", b"text/event-stream; charset=utf-8")
        yield StartResponse(turn.framing.opened(turn.shown(head.plus(kind))), events=True)
    if reasoning := "".join(turn.reasoning):
        yield SendData(turn.outlet.framed(turn.outlet.writer.reasoning(reasoning)))
    if not turn.puts_together and (text := turn.outlet.say(turn.said)):
        yield SendData(text)


_SAMPLED = 64
"""Of this many pieces, one is timed for the metric of detection."""


def read_stream(
    turn: TurnRecord, head: Head, decoder: Decoder, ahead: deque[Reply]
) -> Generator[Command, Reply, Attempt | None]:
    """Read a stream to its end, and hand on what may be sent at once.

    `ahead`: the part of it that was read already."""
    given, joint = yield from _begin(turn, head, decoder, ahead)
    builder, outlet = turn.builder(), turn.outlet
    events, codec = _Events(turn, decoder), turn.framing.codec
    fetching, slow = fetching_of(turn), turn.reading
    quick = events.quick(outlet, builder)
    tail, lost, heard, heard_s, spoke, odd = b"", None, -1, 0.0, False, events.odd()
    pieces = 0
    # This one generator does everything with each piece: another one around it would cost time for
    # every piece.
    while not builder.ended:
        flows = outlet.flows and fetching is None
        offered = quick if codec.idle and flows and not odd else slow
        reply = ahead.popleft() if ahead else (yield offered)
        broke = not isinstance(reply, bytes) or not reply
        if broke and fetching is not None and not turn.late:
            fetched = yield from fetching.rest()
            if fetched is not None:
                head, decoder = fetched
                events, codec = _Events(turn, decoder), turn.framing.codec
                ahead.clear()
                continue
        if heard < 0 and reply and turn.events is not None and isinstance(reply, bytes):
            turn.events.piece_came()
        if not isinstance(reply, bytes):
            lost = reply if isinstance(reply, ConnectionLost) else None
            if turn.late:
                builder.feed(_late(turn))
            elif lost is not None and lost.kind is FaultKind.LIMIT:
                builder.feed(_unreadable(lost.error))
            builder.feed(HalfSeen())
            break
        try:
            came = events.of(reply)
            if fetching is not None:
                came = fetching.new(came)
                fetching = None if fetching.is_hopeless else fetching
        except (FrameTooLarge, UndecodableBytes) as error:
            builder.feed(_unreadable(error))
            break
        spoke = spoke or any(event.data for event in came)
        sampled = turn.events is not None and pieces % _SAMPLED == 0
        begun_s, pieces = turn.around.now() if sampled else 0.0, pieces + 1
        out, tail = _taken(came, outlet, builder)
        if sampled and turn.events is not None:
            turn.events.detected(turn.around.now() - begun_s)
        if builder.ended and outlet.transparent:
            # An SDK stops reading at the end mark, so everything is reported before it.
            out, tail = b"", out + tail
        if turn.left_alone and not reply:
            out, tail = b"", out  # it is the last, and `rest_of_stream` sends it
        if out and reply is not given:
            yield SendData(out)
        if (joint is not None and joint.found) or outlet.broken:
            break  # the rest is not wanted any more, or comes after a gap
        if outlet.overfull or turn.late or isinstance(codec.failed, FrameTooLarge):
            builder.feed(_limit_passed(turn))
        elif heard == outlet.heard and turn.is_over() and events.stalls(reply, heard_s):
            lost = late()
            builder.feed(HalfSeen())
        elif reply and codec.failed is None:
            if heard != outlet.heard:
                heard, heard_s = outlet.heard, turn.around.now()
            continue
        elif spoke or holds_prefill(turn.state.last_edits):
            # Without an event, nothing is known, but a prefill may leave a model nothing to add.
            turn.transfer_ended(builder, head)
        break
    for what in odd:
        builder.feed(OddSeen(what, mended=True))
    turn.ended(builder)
    if out := outlet.end(builder):
        yield SendData(out)
    if builder.ended and not outlet.writing:
        tail += codec.behind_end(codec.rest())
    attempt = Attempt(builder.build(), head, tail=tail, decoder=decoder, codec=codec, lost=lost)
    return _kept(turn, attempt, joint)


def _begin(
    turn: TurnRecord, head: Head, decoder: Decoder, ahead: deque[Reply]
) -> Generator[Command, Reply, tuple[Reply, StopSequenceJoint | None]]:
    """Hand on the beginning of a stream. Return the piece that the caller has already, or None, and
    where the text joins the kept text."""
    if not turn.open and turn.answered is not None and (turn.said or turn.reasoning):
        yield from open_as_events(turn, turn.answered)  # this continues an answer that was a body
    given = ahead[0] if ahead else None
    if isinstance(given, bytes) and _opens(turn, decoder, given):
        # Handed on before anything is built for what follows it.
        yield from open_head(turn, head)
        yield SendData(given)
    else:
        given = None
    joint = joint_of(turn)
    opening = turn.outlet.begin(
        joint,
        apart=turn.apart,
        plan=turn.plans.joint(),
        withholds=turn.puts_together,
    )
    if not turn.open:
        turn.open = True
        yield from open_head(turn, head)
    if opening:
        yield SendData(opening)
    turn.begin_stream()
    return given, joint


def _kept(turn: TurnRecord, attempt: Attempt, joint: StopSequenceJoint | None) -> Attempt:
    """Keep the content of a stream, now that it is over."""
    outlet, response, said = turn.outlet, attempt.response, turn.said
    attempt.message = outlet.message
    if turn.puts_together:
        put_together(turn, attempt)
        return turn.received(attempt)
    attempt.new_chars = joint.new_chars if joint else len(response.text)
    stopped(turn, attempt, joint.found if joint else None)
    # What was only forwarded equals what was read, so one text is kept instead of two.
    text = outlet.text if outlet.writing else response.text
    begins = len(said) if turn.apart else len(trailing_space(said)[0]) if joint else 0
    keep(turn, attempt, text, min(begins, len(text)))
    return turn.received(attempt)


def _opens(turn: TurnRecord, decoder: Decoder, piece: bytes) -> bool:
    """Return whether a piece only begins the turn's stream. It is then handed on whatever follows,
    so that the caller's first chunk comes without delay."""
    return decoder.plain and not turn.state.attempts and turn.wire.opens(piece)


class _Events:
    """The events of a stream, from its pieces."""

    def __init__(self, turn: TurnRecord, decoder: Decoder) -> None:
        self._turn = turn
        self._decoder = decoder
        self._codec = turn.framing.codec
        make = None if turn.left_alone else turn.wire.mender
        self._mending = None if make is None else Mending(make(turn.facts.model), self._codec)

    def stalls(self, piece: bytes, heard_s: float) -> bool:
        """Return whether a piece without content only keeps a connection alive. A piece of an event
        that may still bring content does not count, unless the event takes too long. b"" is the
        end, and no silence.

        `heard_s`: when content last came."""
        if not piece:
            return False
        keeps_alive = self._codec.idle or piece.strip()[:1] in (b"", b":")
        return keeps_alive or self._turn.around.now() - heard_s > _EVENT_S

    def quick(self, outlet: Outlet, builder: Builder) -> ReadMore:
        """Return the command to read while nothing is held: pieces that are one event like an
        earlier one are then taken in as few steps as possible."""
        # In a further attempt, every piece is a reply, so that the time limit is checked (C29).
        unread = self._decoder.plain and self._codec.has_templates
        if not unread or outlet.writing or self._turn.state.attempts:
            return self._turn.reading
        return ReadMore(outlet.taking(builder, self._turn.policy.event_max_bytes))

    def of(self, piece: bytes) -> list[Frame]:
        """Return the events that a piece completes; for b"", those left over at the end of the
        stream.

        Raises:
            FrameTooLarge: an event is larger than the policy allows.
            UndecodableBytes: the bytes don't match their content coding.
        """
        codec = self._codec
        frames = codec.decode(self._decoder.feed(piece)) if piece else codec.flush()
        return frames if self._mending is None else self._mending.of(frames)

    def odd(self) -> list[str]:
        """Return what of the stream was repaired, each word once."""
        return [] if self._mending is None else self._mending.odd


def _taken(events: list[Frame], outlet: Outlet, builder: Builder) -> tuple[bytes, bytes]:
    """Pass events through the outlet: return what may go on now, and what came after the end."""
    if len(events) == 1:
        return outlet.event(events[0], builder), b""
    out: list[bytes] = []
    for number, event in enumerate(events):
        out.append(outlet.event(event, builder))
        if outlet.broken:
            break
        if builder.ended:
            return b"".join(out), b"".join(later.raw for later in events[number + 1 :])
    return b"".join(out), b""


def _limit_passed(turn: TurnRecord) -> FaultSeen:
    """Return the fault for the limit of the policy that ends a stream."""
    outlet, codec, most_bytes = turn.outlet, turn.framing.codec, turn.policy.hold_max_bytes
    if outlet.overfull:
        if turn.events is not None:
            turn.events.held_too_much(outlet.most_held_bytes, most_bytes)
        return _limit("hold_back_exceeded", _HELD.format(most_bytes))
    if not turn.late and codec.failed is not None:
        return _unreadable(codec.failed)
    return _late(turn)


def _unreadable(error: Exception) -> FaultSeen:
    if isinstance(error, UndecodableBytes):
        return FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes"))
    return _limit("event_too_large", str(error))


def _late(turn: TurnRecord) -> FaultSeen:
    return _limit("turn_timeout", _LATE.format(turn.policy.turn_timeout_s))


def _limit(what: str, message: str = "") -> FaultSeen:
    return FaultSeen(Fault(FaultKind.LIMIT, what, message))
