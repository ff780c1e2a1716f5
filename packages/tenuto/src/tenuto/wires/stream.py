"""Read one event of a stream through a wire. All readers of streams use this, so that `detect()`
and the turn can't differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.parts import (
    AnySignal,
    Beside,
    Envelope,
    Kind,
    Message,
    Opened,
    Piece,
    Said,
)
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    FaultSeen,
    HalfSeen,
    OtherSeen,
    ReasoningDelta,
    Signal,
    TextDelta,
    UsageSeen,
)
from tenuto.frames.frame import Frame, is_done
from tenuto.frames.templates import FrameTemplate, PlainDelta, TemplateMatcher
from tenuto.wires.base import Wire, as_said
from tenuto.wires.json import JsonObject, decode_object, is_utf8


def event_object(event: Frame) -> object:
    """Return the JSON value of an event, or None. An event named `error` is an error by its name,
    wherever its object keeps it (DashScope, TGI, llama.cpp).

    >>> event_object(Frame(b"", b'{"code": 500}', "error"))
    {'error': {'code': 500}}
    """
    value = decode_object(event.data) if event.data else None
    if event.name == "error" and isinstance(value, dict) and not value.get("error"):
        return {"error": value}
    return value


def garbled(data: bytes, signals: Sequence[Signal]) -> bool:
    """Return whether the meaning of data is unknown because it isn't UTF-8. The rest of a text can
    still be read, but a damaged call would be run, and an event that seems empty may have held
    content.

    >>> garbled(b"\\xff", [TextDelta("\\ufffd")]), garbled(b"\\xff", []), garbled(b"{}", [])
    (False, True, False)
    """
    return not is_utf8(data) and (not signals or any(map(_damaged, signals)))


def _damaged(signal: Signal) -> bool:
    """Return whether a call holds a replacement character, or may hold one where nobody read."""
    if not isinstance(signal, CallDelta):
        return False
    return signal.unseen or "\ufffd" in f"{signal.id}{signal.name}{signal.arguments}"


def _says_nothing(event: Frame, value: object) -> bool:
    """Return whether an event that is no object keeps a connection alive and says nothing: a ping,
    which SDKs know by its name or its word, or an empty value."""
    data = (event.data or b"").strip()
    return event.name == "ping" or data.strip(b'"').lower() in _KEEP_ALIVES or value in _EMPTY


_KEEP_ALIVES = frozenset(
    {b"", b"null", b"ping", b"pong", b"keepalive", b"keep-alive", b"heartbeat"}
)
_EMPTY: tuple[object, ...] = ("", [])


def _speaks(signal: Signal) -> bool:
    """Return whether a signal is a piece of the answer."""
    text = isinstance(signal, TextDelta | ReasoningDelta) and bool(signal.text)
    return text or isinstance(signal, CallDelta | OtherSeen)


_SPOKEN: dict[Kind, type[PlainDelta]] = {Kind.TEXT: TextDelta, Kind.REASONING: ReasoningDelta}


def _tells(note: Mapping[str, object] | None) -> bool:
    """Return whether a note says anything, and may have to go back with the text (H5b). Many
    servers write empty ones beside every text."""
    return note is not None and any(note.values())


def text_alone(signals: Iterable[AnySignal], *, counts: bool = False) -> PlainDelta | None:
    """Return the signal of an event that carries only text or reasoning; None: it carries more that
    must be passed on. `counts`: the event may report the usage so far.

    >>> text_alone([Envelope({}), Piece((0,), Kind.TEXT, "Hi")])
    TextDelta(text='Hi')
    >>> text_alone([Piece((0,), Kind.TEXT, "Hi"), Piece((0,), Kind.REASONING, "Hm")]) is None
    True
    >>> text_alone([Piece((0,), Kind.TEXT, "Hi"), Piece(("x",), Kind.NOTE, adds={"x": 1})]) is None
    True
    """
    found: PlainDelta | None = None
    for signal in signals:  # no `match`: its class patterns take most of the time of an event
        if isinstance(signal, Envelope):
            continue
        if isinstance(signal, Piece):
            text, adds = signal.text, signal.adds
            if text is None and adds is None:
                continue
            if signal.whole:  # another one like it would be more, or the same again
                return None
        elif isinstance(signal, Opened) and signal.goes_on:
            text, adds = signal.says, None
        elif isinstance(signal, Said):
            if signal.adds is None:
                continue
            return None
        elif isinstance(signal, Beside) and isinstance(found, ReasoningDelta):
            continue  # all reasoning is passed on, however it was read
        elif isinstance(signal, UsageSeen) and counts:
            continue
        else:
            return None
        kind = _SPOKEN.get(signal.kind)
        if kind is not None and found is None and text is not None and adds is None:
            found = kind(text)
        elif isinstance(signal, Opened) or signal.kind is not Kind.NOTE or _tells(adds):
            return None
    return found


def plain_delta_in(wire: Wire, data: bytes) -> PlainDelta | None:
    """Return the same for the data of an event of a wire.

    >>> from tenuto.wires.openai_chat.wire import WIRE
    >>> plain_delta_in(WIRE, b'{"choices":[{"index":0,"delta":{"content":"Hi"}}]}')
    TextDelta(text='Hi')
    """
    if wire.repeats:
        return None
    return _alone(wire, data, wire.read(decode_object(data), event=True))


def _alone(wire: Wire, data: bytes, placed: Iterable[AnySignal]) -> PlainDelta | None:
    counts = bool(wire.running_usage) and wire.running_usage in data
    return text_alone(placed, counts=counts)


_LAST = b"\n}"
"""The last byte of frames that can match a template: the line end after an object, or its brace."""


class EventReader:
    """Reads the events of one stream.

    Args:
        wire: the format.
        new: reduces each event to its new content (`Wire.make_incremental`), for readers that
            haven't seen the request.
        known: the templates learned from another stream of the wire.
        message: assembles the parts of the answer.

    Attributes:
        placed: the signals of the last object, with their places.
        counting: the data of the last text event that reported the usage so far; see `counted`.

    The reader remembers which parts are something other than the caller's calls: the pieces of a
    tool that the provider runs itself look like those of a call."""

    def __init__(
        self,
        wire: Wire,
        new: Callable[[JsonObject], JsonObject] = as_said,
        known: Sequence[FrameTemplate] = (),
        message: Message | None = None,
    ) -> None:
        self.wire = wire
        self.new = new
        # Not a bound method: the two objects would keep each other alive until a collection.
        self.matcher: TemplateMatcher = TemplateMatcher(
            partial(plain_delta_in, wire), wire.running_usage, known
        )
        self.message: Message = Message() if message is None else message
        self.placed: Sequence[AnySignal] = ()
        self._other: set[int] = set()
        self._running_usage = wire.running_usage
        self._repeats = wire.repeats
        self.counting: bytes | None = None
        self._looked_at: tuple[bytes | None, object, Sequence[AnySignal]] = (None, None, ())

    def read_plain(self, event: Frame) -> PlainDelta | None:
        """Return the signal of an event that carries only text or reasoning, else None. Usage that
        the event reports is kept for `counted`."""
        data, raw = event.data, event.raw
        if data is None or event.name == "error" or self._repeats:
            return None
        if raw[-1:] not in _LAST:  # AWS's frames each have a checksum; their data is alike
            event, raw = Frame(data, data), data
        if raw is not self.matcher.last_mismatch:
            signal = self.match_template(raw)
            if signal is not None:
                return signal
        signal = _alone(self.wire, data, self._look(event)[1])
        if signal is not None:
            if self._running_usage and self._running_usage in data:
                self.counting = data
            self.matcher.learn(event, signal)
        return signal

    def _look(self, event: Frame) -> tuple[object, Sequence[AnySignal]]:
        """Return the value of an event and its signals with their places. Consecutive calls for the
        same event read it once."""
        data, value, placed = self._looked_at
        if data is not event.data or data is None:
            value, placed = event_object(event), ()
            if isinstance(value, dict):
                placed = self._read(value)
            self._looked_at = event.data, value, placed
        return value, placed

    def _read(self, value: JsonObject) -> Sequence[AnySignal]:
        """Return the signals of an object. A whole body may answer a request for lines, and is a
        line too."""
        wire = self.wire
        lines = wire.streams_lines is not None
        is_body = lines and wire.looks_like(value) and not wire.is_event(value)
        return wire.read(self.new(value), event=not is_body)

    def match_template(self, raw: bytes) -> PlainDelta | None:
        """Return the same for a piece of the stream that is one event matching a template, else
        None."""
        matcher = self.matcher
        text = matcher.text(raw)
        if text is None:
            return None
        if matcher.template.counts:
            self.counting = raw[matcher.template.data_at]
        return matcher.template.kind(text)

    def add_to_part(self, quick: PlainDelta) -> bool:
        """Add the text of an event that `read_plain` returned to its part. Return whether the
        part has begun; if not, the event must be read as a whole."""
        kind = Kind.TEXT if isinstance(quick, TextDelta) else Kind.REASONING
        return self.message.flow(kind, quick.text)

    def counted(self) -> tuple[list[Signal], JsonObject | None]:
        """Return the usage that the last text event reported, if any, as a signal and as received.
        Call this before reading another event, and at the end."""
        data, self.counting = self.counting, None
        value = decode_object(data) if data is not None else None
        if not isinstance(value, dict):
            return [], None
        signals = self.wire.parse_object(value, event=True)
        used = [
            replace(signal, running=True) for signal in signals if isinstance(signal, UsageSeen)
        ]
        return list(used), self.wire.usage_object(value)

    def read(self, event: Frame) -> tuple[list[Signal], JsonObject | None]:
        """Return the signals of an event, and its object if it has one. Never raises."""
        if event.data is None:
            return [], None
        if self.wire.is_terminator(event.data):
            return [Ended()], None
        value, placed = self._look(event)
        if isinstance(value, dict):
            signals = self.signals(value, placed)
            if not garbled(event.data, signals):
                return signals, value
        if not event.data.strip() or is_done(event.data):
            return [], None  # gateways end any stream with OpenAI's mark
        if event.terminated and _says_nothing(event, value):
            return [], None
        # Garbage in the middle of a stream is a fault; at its end it is half an event.
        garbage = FaultSeen(Fault(FaultKind.GARBAGE, "unreadable_event"))
        return [garbage if event.terminated else HalfSeen()], None

    def signals(self, value: JsonObject, placed: Sequence[AnySignal] | None = None) -> list[Signal]:
        """Return the signals of an event's object. `placed`: the same with their places, if they
        were read already."""
        if placed is None:
            placed = self._read(value)
        self.placed = placed
        signals = self.message.take(placed)
        speaks = any(map(_speaks, signals))
        for number, signal in enumerate(signals):
            if isinstance(signal, UsageSeen):
                if speaks:
                    signals[number] = replace(signal, running=True)
            elif isinstance(signal, OtherSeen) and signal.index is not None:
                self._other.add(signal.index)
            elif isinstance(signal, CallDelta) and signal.index in self._other:
                if signal.name:  # a call that begins under a number that was used before
                    self._other.discard(signal.index)
                else:
                    signals[number] = OtherSeen(signal.index)
        return signals
