"""The changes of a board as server-sent events.

A message has all changes since the one before, so a slow reader gets fewer of them. A stream ends
after a while, and the browser then reconnects with the id of the last message. So streams don't
hold up a server's shutdown for long, and readers that stopped reading are dropped.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from tenuto.watch.access import SECURITY, Scope
from tenuto.watch.board import Board

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Pace:
    """The timing of a stream, in seconds.

    Attributes:
        interval_s: the shortest time between two messages.
        heartbeat_s: after this time without a message, a comment shows that the stream is alive.
        longest_s: how long a stream lasts.
        stuck_s: how long a reader may leave a message unread before it is dropped.
    """

    interval_s: float = 0.25
    heartbeat_s: float = 15.0
    longest_s: float = 60.0
    stuck_s: float = 20.0


PACE = Pace()


def last_seen(scope: Scope, board: Board) -> int | None:
    """Return the sequence number that a reader of this board is up to date with; None: it has
    none."""
    given = next((value for name, value in scope["headers"] if name == b"last-event-id"), b"")
    run, _, number = given.decode("latin-1").partition("-")
    return int(number) if run == board.run and number.isdecimal() and len(number) < 20 else None


async def stream(
    scope: Scope,
    receive: Receive,
    send: Send,
    board: Board,
    pace: Pace,
    is_over: Callable[[], bool],
) -> None:
    """Send the board and then each change, until the reader leaves or the stream ends."""
    headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no"), *SECURITY]
    known = last_seen(scope, board)
    began = said = time.monotonic()
    left = asyncio.ensure_future(_left(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        told = b"retry: 1000\n\n"
        while not (left.done() or is_over() or time.monotonic() - began >= pace.longest_s):
            if known is None or board.sequence != known:
                changes = board.changes(known)
                known = changes["sequence"]
                told += f"id: {board.run}-{known}\ndata: {json.dumps(changes)}\n\n".encode()
            elif time.monotonic() - said >= pace.heartbeat_s:
                told += b": alive\n\n"
            if told:
                part = {"type": "http.response.body", "body": told, "more_body": True}
                await asyncio.wait_for(send(part), pace.stuck_s)
                told, said = b"", time.monotonic()
            await asyncio.wait({left}, timeout=pace.interval_s)
        if not left.done():
            await send({"type": "http.response.body", "body": b""})
    except TimeoutError:
        return  # the server closes the connection, since the response is incomplete
    finally:
        left.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
