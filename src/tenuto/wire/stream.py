"""One event of a stream, read through a wire. Who reads a stream reads it here, so that `detect()`
and the relay cannot differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tenuto.core.fault import Fault, FaultKind
from tenuto.core.parts import AnySignal, Message
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
from tenuto.frames.templates import NO_TEMPLATE, FrameTemplate, TemplateMatcher
from tenuto.wire.base import JsonObject, Wire, as_said
from tenuto.wire.json import decode_object, is_utf8


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


_LAST = b"\n}"
"""What frames end with that may be like others: the line end behind an object, or its brace."""


class EventReader:
    """Reads the events of one stream.

    Args:
        wire: the format.
        new: what makes each event say only what is new (`Wire.unrepeated`), for who has not seen
            the request.
        template: how the events look that were alike in another stream of the wire.
        message: what the parts of the answer are put together in, on wires that tell places.

    Attributes:
        placed: the signals of the last object, with their places.

    It remembers which parts are something other than a call of the caller's: what a provider
    writes for a tool that it runs itself looks, piece by piece, like a call."""

    def __init__(
        self,
        wire: Wire,
        new: Callable[[JsonObject], JsonObject] = as_said,
        template: FrameTemplate = NO_TEMPLATE,
        message: Message | None = None,
    ) -> None:
        self.wire = wire
        self.new = new
        self.matcher = TemplateMatcher(wire.read_flowing, wire.running_usage, template)
        self.message = Message() if message is None else message
        self.placed: list[AnySignal] = []
        self._other: set[int] = set()
        self._read_flowing = wire.read_flowing
        self._running_usage = wire.running_usage
        self._counting: bytes | None = None

    def flowing(self, event: Frame) -> TextDelta | ReasoningDelta | None:
        """The one signal of an event that carries text or reasoning and nothing else, else None.
        The usage that it tells besides is kept: see `counted`."""
        data, raw = event.data, event.raw
        if data is None or event.name == "error":
            return None
        matcher = self.matcher
        may_be_alike = raw[-1:] in _LAST  # AWS's have a checksum each
        if may_be_alike and raw is not matcher.unlike:
            signal = self.said_alike(raw)
            if signal is not None:
                return signal
        signal = self._read_flowing(data)
        if signal is not None:
            if self._running_usage and self._running_usage in data:
                self._counting = data
            if may_be_alike and matcher.learning:
                matcher.learn(event, signal)
        return signal

    def said_alike(self, raw: bytes) -> TextDelta | ReasoningDelta | None:
        """The same of a piece of the stream that is one event like one before it, else None."""
        matcher = self.matcher
        text = matcher.text(raw)
        if text is None:
            return None
        if matcher.template.counts:
            self.counting(raw[matcher.template.data_at])
        return matcher.template.kind(text)

    def counting(self, data: bytes) -> None:
        """This event's data told the usage so far: see `counted`."""
        self._counting = data

    def counted(self) -> tuple[list[Signal], JsonObject | None]:
        """The usage that the last event that flowed told, if one did, as a signal and as it came;
        to be asked for before another event is read, and at the end."""
        data, self._counting = self._counting, None
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
        value = event_object(event)
        if isinstance(value, dict):
            signals = self.signals(value)
            if not garbled(event.data, signals):
                return signals, value
        if not event.data.strip():
            return [], None
        # Garbage in the middle of a stream is a fault; at its end it is half an event.
        garbage = FaultSeen(Fault(FaultKind.GARBAGE, "unreadable_event"))
        return [garbage if event.terminated else HalfSeen()], None

    def signals(self, value: JsonObject) -> list[Signal]:
        """The signals of an event's object."""
        if self.wire.read is not None:
            self.placed = self.wire.read(self.new(value), event=True)
            signals = self.message.take(self.placed)
        else:
            signals = self.wire.parse_object(self.new(value), event=True)
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
