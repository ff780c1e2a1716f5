"""What a turn holds at most, and what a client keeps of the turns that it has finished."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

from parts.figures import Figure
from parts.recorded import words
from parts.replay import replaying
from parts.sides import SIDES, Side

import tenuto
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.pipeline.engine import Engine

WIRE_BYTES = 5_000_000
TIMES = 3.0
TURNS = 500
_WARMING = 250
_PIECE_BYTES = 65_536


class _Upstream:
    """A response whose bytes are made as they are read, so that they do not count."""

    def __init__(self, head: Head, pieces: Iterator[bytes]) -> None:
        self.head = head
        self.pieces = pieces

    def lost(self, _: Exception) -> None:
        """Nothing breaks here."""

    def close(self) -> None:
        pass


def figures() -> Iterator[Figure]:
    """Peaks as multiples of the bytes on the wire, and objects that are left of a turn."""
    for side in SIDES:
        events = side.events(words())
        event_bytes = sum(len(event) for event in events) / len(events)
        events = side.events(words(int(WIRE_BYTES / event_bytes)))
        yield _peak(side, "stream in events of a token", events, stream=True)
        yield _peak(side, "whole body", _pieces(side), stream=False)
    with replaying() as root:
        for side in SIDES:
            yield _left(side, root)


def _pieces(side: Side) -> list[bytes]:
    body = side.said("".join(words(WIRE_BYTES // 4)))
    return [body[at : at + _PIECE_BYTES] for at in range(0, len(body), _PIECE_BYTES)]


def _peak(side: Side, what: str, pieces: list[bytes], *, stream: bool) -> Figure:
    kind = b"text/event-stream" if stream else b"application/json"
    head = Head(200, ((b"content-type", kind),))
    asked = b'{"model":"m","max_tokens":9,"stream":%s,"messages":[{"role":"user","content":"Hi"}]}'
    body = asked % str(stream).lower().encode()
    request = Request("POST", f"https://host{side.path}", (), body)
    size = sum(len(piece) for piece in pieces)

    def turn() -> None:
        run = Engine(Policy()).begin(request)
        assert run is not None
        copies = (bytes(bytearray(piece)) for piece in pieces)
        for _ in Drive(run, lambda _: _Upstream(head, copies)).pieces():
            pass

    title = f"{side.name}: memory of a turn, {what}"
    peak = _traced_peak(turn)
    beside = f"{peak / 1e6:.1f} MB at most for {size / 1e6:.1f} MB on the wire"
    return Figure(title, peak / size, "×", TIMES, beside)


def _traced_peak(work: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _left(side: Side, root: str) -> Figure:
    """Objects that each turn leaves, of any kind and whosever they are."""
    client: Any = tenuto.wrap(side.client(root), policy=tenuto.Policy())

    def turns(count: int) -> None:
        for number in range(count):
            if number % 10:
                side.body(client)
            else:
                for _ in side.chunks(client):
                    pass

    turns(_WARMING)
    gc.collect()
    before = len(gc.get_objects())
    turns(TURNS)
    gc.collect()
    grown = len(gc.get_objects()) - before
    title = f"{side.name}: what each of {TURNS} turns leaves behind"
    beside = f"{grown:+} objects in all, a tenth of the turns streamed"
    return Figure(title, grown / TURNS, "objects", 0.05, beside)
