"""Responses that are handed on unread, to their end or from a point on."""

from __future__ import annotations

from tenuto.turn.drivers.commands import (
    READ,
    ConnectionLost,
    Head,
    RaiseError,
    Run,
    SendData,
    StartResponse,
)
from tenuto.turn.record.turn_record import TurnRecord


def hand_on(turn: TurnRecord, head: Head, raw: bytes, why: str) -> Run:
    """Hand on a response unread: `raw`, the part that came already, and the rest of it."""
    if turn.events is not None:
        turn.events.left_alone(why)
    turn.watch.handed_on(head.status)
    if not turn.headed:
        yield StartResponse(head)
    if raw:
        yield SendData(raw)
    yield from rest_of_response()


def rest_of_response() -> Run:
    """Hand on the rest of a response as it arrives."""
    while isinstance(reply := (yield READ), bytes) and reply:
        yield SendData(reply)
    if isinstance(reply, ConnectionLost):
        yield RaiseError(reply.error)
