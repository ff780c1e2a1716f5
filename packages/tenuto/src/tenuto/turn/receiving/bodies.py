"""One attempt whose answer is a whole body."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.parts import Message
from tenuto.core.answer.signals import CallDelta, Ended, FaultSeen, HalfSeen, Signal
from tenuto.frames.compression import Decoder, UndecodableBytes
from tenuto.frames.frame import Framing
from tenuto.frames.pieces import Pieces
from tenuto.frames.sniff import framing_of
from tenuto.turn.drivers.commands import (
    Command,
    ConnectionLost,
    Head,
    RaiseError,
    Reply,
    SendData,
    StartResponse,
    timed_out,
)
from tenuto.turn.receiving.gathering import gathered
from tenuto.turn.receiving.stitching import stitch_body
from tenuto.turn.receiving.unread import pass_unread
from tenuto.turn.receiving.unrecognized import unreachable
from tenuto.turn.record.attempt import Attempt, failed
from tenuto.turn.record.recent import recent
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.stream.framing import named
from tenuto.wires.answer_id import Ids
from tenuto.wires.json import JsonObject, as_utf8, decode_object, encode, readable
from tenuto.wires.members import object_in
from tenuto.wires.stream import garbled

_UNDECODABLE = FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes"))

_TOO_LARGE = "the answer is larger than body_max_bytes ({})"
"""Return a description of a limit of the policy, with the name of its setting."""


def read_body(
    turn: TurnRecord, head: Head, decoder: Decoder, ahead: deque[Reply]
) -> Generator[Command, Reply, Attempt | None]:
    """Read a body to its end. Return None if the caller has received it and the turn is over.

    `ahead`: the part of it that was read already."""
    raw, last = yield from _received(turn, ahead)
    if isinstance(last, bytes) and last:
        if turn.first is not None or turn.context is not None:
            limit = _TOO_LARGE.format(turn.policy.body_max_bytes)
            fault = Fault(FaultKind.LIMIT, "body_too_large", limit)
            return turn.received(Attempt(failed(fault), head))
        yield from pass_unread(turn, head, raw, "body_too_large")
        return None
    lost = last if isinstance(last, ConnectionLost) else None
    if lost is not None and turn.first is None and turn.is_sdk_retry:
        turn.log.left_to_the_sdk(partial(unreachable, lost, turn.request.url), lost)
        yield RaiseError(lost.error)
        return None
    if lost is None and (ids := _ids_if_plain(turn, raw)) is not None:
        turn.log.ended = True
        recent.add_plain(ids)
        yield StartResponse(head)
        yield SendData(raw, last=True)
        return None
    begun_s = turn.environment.now()
    attempt = _read(turn, head, raw, decoder, lost)
    if turn.events is not None:
        turn.events.detected(turn.environment.now() - begun_s)
    if turn.open and (data := turn.client_stream.begin(None, apart=turn.apart)):
        yield SendData(data)
    text = stitch_body(turn, attempt)
    if turn.open and (data := turn.client_stream.write_text(text)):
        yield SendData(data)
    return turn.received(attempt)


def _received(
    turn: TurnRecord, ahead: deque[Reply]
) -> Generator[Command, Reply, tuple[bytes, Reply]]:
    """Return the bytes received and the reply after them. If the body became too large, that reply
    is its last piece."""
    pieces, limit = Pieces(), turn.policy.body_max_bytes
    while True:
        reply = ahead.popleft() if ahead else (yield turn.reading)
        if not isinstance(reply, bytes) or not reply:
            return pieces.whole, reply
        pieces.add(reply)
        if limit and pieces.size > limit:
            return pieces.whole, reply
        if turn.deadline_passed:
            return pieces.whole, timed_out()


def _ids_if_plain(turn: TurnRecord, raw: bytes) -> Ids | None:
    """Return the ids of a body with which the turn ends, if it has no listener; otherwise None."""
    if turn.first is not None or turn.facts.stream:
        return None
    if turn.events is not None or turn.environment.has_listener:
        return None
    if turn.context is not None or turn.provider.overrides:
        return None
    short = turn.wire.short
    return None if short is None else short.ids_if_whole(raw, turn.facts.max_tokens)


def _read(
    turn: TurnRecord, head: Head, raw: bytes, decoder: Decoder, lost: ConnectionLost | None
) -> Attempt:
    """Return the attempt, with the bytes for the caller if nothing needs to be done."""
    builder = turn.builder()
    body: bytes | None = None
    try:
        body = decoder.feed(raw)
    except UndecodableBytes:
        builder.feed(_UNDECODABLE)
    if lost is not None and lost.kind is FaultKind.GARBAGE:
        builder.feed(_UNDECODABLE)
    message = Message()
    value = None if lost or body is None else _read_object(turn, body, builder, message)
    presented = not turn.left_alone
    if body and value is None:
        if lost is not None:
            builder.feed(HalfSeen())
        value = gathered(turn.wire, body, builder, message)
        if lost is None:
            turn.transfer_ended(builder, head)
        if value:
            turn.ended(builder)
        if value and presented:
            raw = encode([value] if turn.wire.listed else value)
            head = named(head, b"application/json").of(raw)
    elif body and value and presented and (plain := readable(body)) is not body:
        head, raw = head.of(plain), plain  # as in streams: SDKs decode strictly
    unread, kind = value is None, head.get(b"content-type")
    page = unread and framing_of(Framing.BODY, kind, body or b"") is Framing.PAGE
    response = builder.build()
    return Attempt(response, head, raw, value, message=message, page=page, unread=unread, lost=lost)


def _read_object(
    turn: TurnRecord, body: bytes, builder: Builder, message: Message
) -> JsonObject | None:
    document = as_utf8(body)
    value = decode_object(document)
    if turn.wire.listed and isinstance(value, list) and value:
        value = object_in(value[0])
    if not isinstance(value, dict):
        return None
    signals = message.take(turn.wire.read(value, event=False))
    if garbled(document, signals):
        return None
    for signal in _each_call_its_own(signals):
        builder.feed(signal)
    builder.feed(Ended())
    return value


def _each_call_its_own(signals: Iterable[Signal]) -> Iterator[Signal]:
    """Yield the signals of a body, with those of its calls numbered that have no ids. In a stream,
    such a call may come again with more arguments; in a body, each is a call of its own."""
    calls = count()
    for signal in signals:
        if type(signal) is CallDelta and signal.index is None and not signal.id and signal.name:
            yield replace(signal, index=next(calls))
        else:
            yield signal
