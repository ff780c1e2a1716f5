"""One event of a stream, read through a wire. Who reads a stream reads it here, so that `detect()`
and the relay cannot differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from tenuto.core.fault import Fault, FaultKind
from tenuto.core.parts import (
    AnySignal,
    Beside,
    Envelope,
    Kind,
    Message,
    Opened,
    Piece,
    Said,
)
from tenuto.core.signals import (
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
from tenuto.frames.frame import Frame
from tenuto.frames.templates import Flowing, FrameTemplate, TemplateMatcher
from tenuto.wires.base import Wire, as_said
from tenuto.wires.json import JsonObject, decode_object, is_utf8


def event_object(event: Frame) -> object:
    """The JSON value of an event, or None. The object of an event named `error` is an error by its
    name, wherever it keeps it (DashScope, TGI, llama.cpp).

    >>> event_object(Frame(b"", b'{"code": 500}', "error"))
    {'error': {'code': 500}}
    """
    value = decode_object(event.data) if event.data else None
    if event.name == "error" and isinstance(value, dict) and not value.get("error"):
        return {"error": value}
    return value


def garbled(data: bytes, signals: Sequence[Signal]) -> bool:
    """Whether what bytes say cannot be known, because they are no UTF-8. Of a text the rest can be
    read; a call with a mark in it would be run, and what seems to say nothing may have said much.

    >>> garbled(b"\\xff", [TextDelta("\\ufffd")]), garbled(b"\\xff", []), garbled(b"{}", [])
    (False, True, False)
    """
    weighs = not signals or any(isinstance(signal, CallDelta) for signal in signals)
    return weighs and not is_utf8(data)


def _speaks(signal: Signal) -> bool:
    """Whether it is a piece of the answer."""
    text = isinstance(signal, TextDelta | ReasoningDelta) and bool(signal.text)
    return text or isinstance(signal, CallDelta | OtherSeen)


_SPOKEN: dict[Kind, type[Flowing]] = {Kind.TEXT: TextDelta, Kind.REASONING: ReasoningDelta}


def text_alone(signals: Iterable[AnySignal], *, counts: bool = False) -> Flowing | None:
    """The one signal of an event that carries text or reasoning, and nothing else that must be
    handed on with it; else None. `counts`: it may tell the usage so far.

    >>> text_alone([Envelope({}), Piece((0,), Kind.TEXT, "Hi")])
    TextDelta(text='Hi')
    >>> text_alone([Piece((0,), Kind.TEXT, "Hi"), Piece((0,), Kind.REASONING, "Hm")]) is None
    True
    """
    found: Flowing | None = None
    for signal in signals:  # no `match`: its class patterns take most of the time of an event
        if isinstance(signal, Envelope):
            continue
        if isinstance(signal, Piece):
            text, adds = signal.text, signal.adds
            if text is None and adds is None:
                continue
        elif isinstance(signal, Opened) and signal.goes_on:
            text, adds = signal.says, None
        elif isinstance(signal, Said):
            if signal.adds is None:
                continue
            return None
        elif isinstance(signal, Beside) and isinstance(found, ReasoningDelta):
            continue  # of reasoning all is handed on, however it was read
        elif isinstance(signal, UsageSeen) and counts:
            continue
        else:
            return None
        kind = _SPOKEN.get(signal.kind)
        if kind is not None and found is None and text is not None and adds is None:
            found = kind(text)
        elif signal.kind is not Kind.NOTE or isinstance(signal, Opened):
            return None
    return found


def flowing_in(wire: Wire, data: bytes) -> Flowing | None:
    """The same of the data of an event of a wire.

    >>> from tenuto.wires.openai_chat.wire import WIRE
    >>> flowing_in(WIRE, b'{"choices":[{"index":0,"delta":{"content":"Hi"}}]}')
    TextDelta(text='Hi')
    """
    if wire.repeats:
        return None
    return _alone(wire, data, wire.read(decode_object(data), event=True))


def _alone(wire: Wire, data: bytes, placed: Iterable[AnySignal]) -> Flowing | None:
    counts = bool(wire.running_usage) and wire.running_usage in data
    return text_alone(placed, counts=counts)


_LAST = b"\n}"
"""What frames end with that may be like others: the line end behind an object, or its brace."""


class EventReader:
    """Reads the events of one stream.

    Args:
        wire: the format.
        new: what makes each event say only what is new (`Wire.make_incremental`), for who has not
            seen the request.
        known: how the events look that were alike in another stream of the wire.
        message: what the parts of the answer are put together in.

    Attributes:
        placed: the signals of the last object, with their places.
        counting: the data of the last event that flowed and told the usage so far: see `counted`.

    It remembers which parts are something other than a call of the caller's: what a provider
    writes for a tool that it runs itself looks, piece by piece, like a call."""

    def __init__(
        self,
        wire: Wire,
        new: Callable[[JsonObject], JsonObject] = as_said,
        known: Sequence[FrameTemplate] = (),
        message: Message | None = None,
    ) -> None:
        self.wire = wire
        self.new = new
        # Not a method of this reader: each would keep the other alive until a collection.
        self.matcher: TemplateMatcher = TemplateMatcher(
            partial(flowing_in, wire), wire.running_usage, known
        )
        self.message: Message = Message() if message is None else message
        self.placed: Sequence[AnySignal] = ()
        self._other: set[int] = set()
        self._running_usage = wire.running_usage
        self._repeats = wire.repeats
        self.counting: bytes | None = None
        self._looked_at: tuple[bytes | None, object, Sequence[AnySignal]] = (None, None, ())

    def flowing(self, event: Frame) -> Flowing | None:
        """The one signal of an event that carries text or reasoning and nothing else, else None.
        The usage that it tells besides is kept: see `counted`."""
        data, raw = event.data, event.raw
        if data is None or event.name == "error" or self._repeats:
            return None
        if raw[-1:] not in _LAST:  # AWS's frames have a checksum each; their data is alike
            event, raw = Frame(data, data), data
        if raw is not self.matcher.unlike:
            signal = self.said_alike(raw)
            if signal is not None:
                return signal
        signal = _alone(self.wire, data, self._look(event)[1])
        if signal is not None:
            if self._running_usage and self._running_usage in data:
                self.counting = data
            self.matcher.learn(event, signal)
        return signal

    def _look(self, event: Frame) -> tuple[object, Sequence[AnySignal]]:
        """The value of an event and its signals with their places, read once for who asks in a
        row."""
        data, value, placed = self._looked_at
        if data is not event.data or data is None:
            value, placed = event_object(event), ()
            if isinstance(value, dict):
                placed = self.wire.read(self.new(value), event=True)
            self._looked_at = event.data, value, placed
        return value, placed

    def said_alike(self, raw: bytes) -> Flowing | None:
        """The same of a piece of the stream that is one event like one before it, else None."""
        matcher = self.matcher
        text = matcher.text(raw)
        if text is None:
            return None
        if matcher.template.counts:
            self.counting = raw[matcher.template.data_at]
        return matcher.template.kind(text)

    def counted(self) -> tuple[list[Signal], JsonObject | None]:
        """The usage that the last event that flowed told, if one did, as a signal and as it came;
        to be asked for before another event is read, and at the end."""
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
        """The signals of an event, and its object where it has one. Never raises."""
        if event.data is None:
            return [], None
        if self.wire.is_terminator(event.data):
            return [Ended()], None
        value, placed = self._look(event)
        if isinstance(value, dict):
            signals = self.signals(value, placed)
            if not garbled(event.data, signals):
                return signals, value
        if not event.data.strip():
            return [], None
        # Garbage in the middle of a stream is a fault; at its end it is half an event.
        garbage = FaultSeen(Fault(FaultKind.GARBAGE, "unreadable_event"))
        return [garbage if event.terminated else HalfSeen()], None

    def signals(self, value: JsonObject, placed: Sequence[AnySignal] | None = None) -> list[Signal]:
        """The signals of an event's object. `placed`: the same with their places, where it was
        looked at before."""
        if placed is None:
            placed = self.wire.read(self.new(value), event=True)
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
