"""The events of a stream that are held back, as the bytes that came, and which events are.

A call of 46,000 tokens is 180 kB of arguments, but may take 17 MB on the wire, since each event
repeats an envelope of hundreds of bytes. So what is held is counted as what the events carry (S4a),
and older events are kept compressed, in blocks that end between events.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator, Sequence, Set

from tenuto.core.answer.parts import (
    AnySignal,
    Beside,
    CallPiece,
    Kind,
    Opened,
    PartClosed,
    Piece,
    Restated,
)
from tenuto.core.answer.signals import (
    Began,
    Closed,
    Ended,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    UsageSeen,
)

Kinds = Set[type[Signal]]
"""The kinds of an event's signals."""

_FLOWING: Kinds = {Began, TextDelta, ReasoningDelta, RefusalDelta, OtherSeen}
_FLOWING_OR_COUNT: Kinds = {*_FLOWING, UsageSeen}
WRITTEN: Kinds = {TextDelta, StopSeen, UsageSeen, Ended}
WRITTEN_OR_CLOSED: Kinds = {*WRITTEN, Closed}
PART_AT_ONCE: Kinds = {Closed, TextDelta, ReasoningDelta, RefusalDelta}
"""What an event has that closes a part, some of whose text came only now."""

BLOCK_BYTES = 1 << 20
"""How much is kept as it came before it is compressed."""

LEAST_STORED_BYTES = 4 << 20
"""The memory that may be used whatever the limit is, since that is one on what is carried."""


class Held:
    """Events that wait for what follows them.

    Attributes:
        carried_bytes: what the events carry.
        most_carried_bytes: the most that they ever carried at once.
        newest: the newest events as they came; empty only if nothing is held.

    >>> held = Held()
    >>> held.add(b'data: {"a": 1}', carries=1, has_object=True)
    >>> held.add(b": wait", carries=6, has_object=False)
    >>> held.whole(), list(held.events()), held.carried_bytes
    (b'data: {"a": 1}: wait', [b'data: {"a": 1}'], 7)
    """

    def __init__(self) -> None:
        self.newest: bytearray = bytearray()
        self.carried_bytes: int = 0
        self.most_carried_bytes: int = 0
        self._places = array("Q")  # an object for each event would take many times its bytes
        self._blocks: list[tuple[bytes, array[int]]] = []
        self._packed_bytes = 0

    @property
    def stored_bytes(self) -> int:
        """The memory that the events take."""
        return self._packed_bytes + len(self.newest)

    def is_beyond(self, limit_bytes: int) -> bool:
        """Return whether more is held than a limit allows; 0: there is none."""
        if not limit_bytes:
            return False
        stored = self.stored_bytes > max(limit_bytes, LEAST_STORED_BYTES)
        return stored or self.carried_bytes > limit_bytes

    def add(self, raw: bytes, *, carries: int, has_object: bool) -> None:
        """Hold an event. `carries`: what it carries, in bytes; `has_object`: whether it has an
        object, so that `events` yields it."""
        if len(self.newest) > BLOCK_BYTES:
            packed = zlib.compress(bytes(self.newest), 1)
            self._blocks.append((packed, self._places))
            self._packed_bytes += len(packed)
            self._places = array("Q")
            self.newest.clear()
        if has_object:
            self._places.extend((len(self.newest), len(self.newest) + len(raw)))
        self.newest += raw
        self.carried_bytes += carries
        self.most_carried_bytes = max(self.most_carried_bytes, self.carried_bytes)

    def whole(self) -> bytes:
        """Return all events, byte for byte."""
        return b"".join(raw for raw, _ in self._unpacked())

    def events(self) -> Iterator[bytes]:
        """Yield the events that have an object."""
        for raw, each in self._unpacked():
            places = iter(each)
            for begin, end in zip(places, places, strict=True):
                yield raw[begin:end]

    def _unpacked(self) -> Iterator[tuple[bytes, array[int]]]:
        for packed, places in self._blocks:
            yield zlib.decompress(packed), places
        yield bytes(self.newest), self._places

    def clear(self) -> None:
        """Hold nothing any more."""
        self.newest.clear()
        self._blocks.clear()
        self._places = array("Q")
        self.carried_bytes = self._packed_bytes = 0


def carried_by(signals: Sequence[AnySignal] | None, raw: bytes) -> int:
    """Return how many bytes an event carries: its texts and arguments, or all of an event that
    holds anything else.

    >>> carried_by([TextDelta("Hi")], b'data: {"text": "Hi"}'), carried_by(None, b": wait")
    (2, 6)
    """
    if not signals:
        return len(raw)
    carried = 0
    for signal in signals:
        match signal:
            case CallPiece(_, delta, _):
                text = delta.arguments or ""
            case Piece() if signal.adds is None:
                text = signal.text or ""
            case Opened() if signal.goes_on:
                text = signal.says
            case Opened() | Piece():
                return len(raw)
            case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
                pass
            case _:
                continue
        carried += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return max(1, carried)


def texts_in(signals: Sequence[AnySignal]) -> Iterator[str]:
    """Yield the pieces of text of an event."""
    for signal in signals:
        if isinstance(signal, Piece | Opened) and signal.kind is Kind.TEXT:
            yield (signal.text if isinstance(signal, Piece) else signal.says) or ""


def begins_part(signal: AnySignal) -> bool:
    """Return whether a piece may be the first of a part that no other signal announces."""
    return isinstance(signal, Piece) and signal.holds is not None


def has_place(signal: AnySignal) -> bool:
    """Return whether the writer needs this at its place among the texts."""
    if isinstance(signal, Piece):
        return signal.kind is not Kind.TEXT or signal.raw is not None
    if isinstance(signal, Beside):
        return bool(signal.place)
    return isinstance(signal, Opened | CallPiece | PartClosed | Restated)


def is_forwardable(kinds: Kinds) -> bool:
    """Return whether an event may be forwarded at once: it carries text or reasoning and nothing
    that ends anything, or nothing at all. Usage beside text is a running count."""
    return not kinds or (kinds <= _FLOWING_OR_COUNT and not kinds.isdisjoint(_FLOWING))
