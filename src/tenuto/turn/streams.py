"""One attempt whose answer is a stream of events."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from tenuto.core.builder import Builder
from tenuto.core.fault import Fault, FaultKind
from tenuto.core.seam import trailing_space
from tenuto.core.signals import FaultSeen
from tenuto.core.stopping import StopSequenceJoint
from tenuto.frames.compression import Decoder, UndecodableBytes
from tenuto.frames.frame import Frame, FrameTooLarge
from tenuto.turn.attempt import Attempt
from tenuto.turn.commands import (
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
from tenuto.turn.joining import joint_of, keep, stopped
from tenuto.turn.outlet import Outlet
from tenuto.turn.record import TurnRecord

_HELD = "more of the stream would be held back than hold_max_bytes ({})"
_LATE = "the turn took longer than turn_timeout_s ({:g})"
"""Limits of the policy, in words: each names its setting."""

_EVENT_S = 1.0
"""How long an event that has begun may take, once a loop has no time left for its turn."""


def open_head(turn: TurnRecord, head: Head) -> Run:
    """Hand on the head of a stream, if the caller has none yet."""
    if not turn.headed:
        turn.headed = True
        shown = turn.shown(head.without(*BODY_HEADERS))
        yield StartResponse(turn.framing.opened(shown), events=True)


def open_as_events(turn: TurnRecord, attempt: Attempt) -> Run:
    """Say what came as bodies as the events that were asked for; of `attempt` the head is, where no
    body could be read."""
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
    if text := turn.outlet.say(turn.said):
        yield SendData(text)


def read_stream(
    turn: TurnRecord, head: Head, decoder: Decoder, ahead: deque[Reply]
) -> Generator[Command, Reply, Attempt | None]:
    """Read a stream to its end, and hand on what may go on at once.

    `ahead`: what of it was read already."""
    given, joint = yield from _begin(turn, head, decoder, ahead)
    builder, outlet = turn.builder(), turn.outlet
    events, codec = _Events(turn, decoder), turn.framing.codec
    quick, slow = events.quick(outlet, builder), turn.reading
    tail, lost, heard, heard_s = b"", None, -1, 0.0
    # All that each piece goes through stands in this one generator: one around it would cost time
    # for every piece.
    while not builder.ended:
        offered = quick if codec.idle and outlet.flows else slow
        reply = ahead.popleft() if ahead else (yield offered)
        if heard < 0 and reply and turn.events is not None and isinstance(reply, bytes):
            turn.events.piece_came()
        if not isinstance(reply, bytes):
            lost = reply if isinstance(reply, ConnectionLost) else None
            if turn.late:
                builder.feed(_late(turn))
            elif lost is not None and lost.kind is FaultKind.LIMIT:
                builder.feed(_unreadable(lost.error))
            break
        try:
            came = events.of(reply)
        except (FrameTooLarge, UndecodableBytes) as error:
            builder.feed(_unreadable(error))
            break
        out, tail = _taken(came, outlet, builder)
        if builder.ended and outlet.transparent:
            # An SDK leaves at the end mark: what there is to tell is told before.
            out, tail = b"", out + tail
        if turn.left_alone and not reply:
            out, tail = b"", out  # it is the last, which `rest_of_stream` says
        if out and reply is not given:
            yield SendData(out)
        if (joint is not None and joint.found) or outlet.broken:
            break  # what follows is not wanted any more, or stands behind a hole
        if outlet.overfull or turn.late or isinstance(codec.failed, FrameTooLarge):
            builder.feed(_limit_passed(turn))
        elif heard == outlet.heard and turn.is_over() and events.stalls(reply, heard_s):
            lost = late()
        elif reply and codec.failed is None:
            if heard != outlet.heard:
                heard, heard_s = outlet.heard, turn.around.now()
            continue
        else:
            turn.transfer_ended(builder, head)
        break
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
    """Hand on what a stream begins with. Return the piece that the caller has already, None where
    it has none, and where the text is joined to what is kept."""
    if not turn.open and turn.answered is not None and (turn.said or turn.reasoning):
        yield from open_as_events(turn, turn.answered)  # this goes on with what came as a body
    given = ahead[0] if ahead else None
    if isinstance(given, bytes) and _opens(turn, decoder, given):
        # Handed on before anything is made for what follows it.
        yield from open_head(turn, head)
        yield SendData(given)
    else:
        given = None
    joint = joint_of(turn)
    opening = turn.outlet.begin(joint, apart=turn.state.apart)
    if not turn.open:
        turn.open = True
        yield from open_head(turn, head)
    if opening:
        yield SendData(opening)
    turn.begin_stream()
    return given, joint


def _kept(turn: TurnRecord, attempt: Attempt, joint: StopSequenceJoint | None) -> Attempt:
    """Keep what a stream has said, now that it is over."""
    outlet, response, said = turn.outlet, attempt.response, turn.said
    attempt.message = outlet.message
    attempt.new_chars = joint.new_chars if joint else len(response.text)
    stopped(turn, attempt, joint.found if joint else None)
    # What was only forwarded is what was read; one text is kept, not two.
    text = outlet.text if outlet.writing else response.text
    begins = len(said) if turn.state.apart else len(trailing_space(said)[0]) if joint else 0
    keep(turn, attempt, text, min(begins, len(text)))
    return turn.received(attempt)


def _opens(turn: TurnRecord, decoder: Decoder, piece: bytes) -> bool:
    """Whether a piece only says that the turn's stream begins: it is handed on whatever follows, so
    that the first of the caller's chunks waits for nothing."""
    return decoder.plain and not turn.state.attempts and turn.wire.opens(piece)


class _Events:
    """The events of a stream, from its pieces."""

    def __init__(self, turn: TurnRecord, decoder: Decoder) -> None:
        self._turn = turn
        self._decoder = decoder
        self._codec = turn.framing.codec

    def stalls(self, piece: bytes, heard_s: float) -> bool:
        """Whether a piece that said nothing only keeps a connection alive, and is no part of an
        event that is still to say something and does not take long; b"" is the end, and no silence.

        `heard_s`: when something was said."""
        if not piece:
            return False
        keeps_alive = self._codec.idle or piece.strip()[:1] in (b"", b":")
        return keeps_alive or self._turn.around.now() - heard_s > _EVENT_S

    def quick(self, outlet: Outlet, builder: Builder) -> ReadMore:
        """What to ask for while nothing is held: pieces that are one event like one before it are
        taken in as few steps as may be."""
        # Of a further attempt every piece is asked for, so that the time limit is looked at (C29).
        unread = self._decoder.plain and self._codec.has_templates
        if not unread or outlet.writing or self._turn.state.attempts:
            return self._turn.reading
        return ReadMore(outlet.taking(builder, self._turn.policy.event_max_bytes))

    def of(self, piece: bytes) -> list[Frame]:
        """The events that a piece completes; b"": those that the stream's end leaves over.

        Raises:
            FrameTooLarge: an event is larger than the policy allows.
            UndecodableBytes: the encoding does not hold what it says.
        """
        codec = self._codec
        return codec.decode(self._decoder.feed(piece)) if piece else codec.flush()


def _taken(events: list[Frame], outlet: Outlet, builder: Builder) -> tuple[bytes, bytes]:
    """Pass events through the outlet: what may go on now, and what came after the end."""
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
    """The limit of the policy that ends a stream."""
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
