"""Forward responses unread, from their beginning or from a point on."""

from __future__ import annotations

from tenuto.frames.compression import UndecodableBytes
from tenuto.turn.drivers.commands import (
    READ,
    ConnectionLost,
    Head,
    RaiseError,
    Reply,
    Run,
    SendData,
    StartResponse,
)
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_record import TurnRecord


def pass_unread(turn: TurnRecord, head: Head, raw: bytes, why: str) -> Run:
    """Forward a response unread: `raw`, the part that came already, and the rest of it."""
    if turn.events is not None:
        turn.events.left_alone(why)
    turn.log.passed_unread(head.status)
    if not turn.headed:
        yield StartResponse(head)
    if raw:
        yield SendData(raw)
    yield from rest_of_response()


def rest_of_response() -> Run:
    """Forward the rest of a response as it arrives."""
    while isinstance(reply := (yield READ), bytes) and reply:
        yield SendData(reply)
    if isinstance(reply, ConnectionLost):
        yield RaiseError(reply.error)


def rest_of_stream(attempt: Attempt, held: bytes, *, left_alone: bool) -> Run:
    """Forward what was held back of a stream's end, and what follows it."""
    codec = attempt.codec
    assert codec is not None
    data = held + attempt.tail
    reply: Reply = attempt.lost
    breaks = left_alone and reply is not None  # and the caller gets the exception
    while True:
        if data:
            yield SendData(data, last=not breaks)
        # After a break there is nothing.
        reply = reply if attempt.lost else (yield READ)
        if not isinstance(reply, bytes) or not reply:
            break
        try:
            data = codec.behind_end(attempt.decoder.feed(reply) if attempt.decoder else reply)
        except UndecodableBytes:
            break
    if data := codec.behind_end(b"", over=True):
        yield SendData(data)
    if left_alone and isinstance(reply, ConnectionLost):
        # Otherwise everything was sent: a connection that breaks after the end mark doesn't matter.
        yield RaiseError(reply.error)
