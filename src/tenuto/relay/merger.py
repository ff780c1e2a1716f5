"""The merger: one streamed message out of the parts of several attempts.

Theory of operation
-------------------
The first attempt's events are handed on as they came, and the merger is shown them, so that it
knows which part is open and how many there were. Of a further attempt it is given the signals, and
writes what the caller is to see of them: text goes on in the part that is open, parts that are
neither text nor calls follow under new numbers, reasoning in the middle of a text is left out, and
calls wait for the end. How a part looks is the wire's business: its `Layout`.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenuto.core.parts import (
    AnySignal,
    Beside,
    CallPiece,
    Kind,
    Native,
    Opened,
    Part,
    PartClosed,
    Piece,
    Place,
)
from tenuto.core.signals import Began
from tenuto.wire.base import Answer, FlatLayout, JsonObject, Layout, Writer


def merger(layout: Layout | FlatLayout) -> Writer:
    """Return what merges the attempts of a wire that writes so."""
    return Merger(layout) if layout.numbered else FlatMerger(layout)


class FlatMerger:
    """The same where parts neither begin nor end. Reasoning in the middle of a text is handed on:
    it has a place of its own.

    Args:
        layout: how the wire writes.
    """

    follows_text = False

    def __init__(self, layout: FlatLayout) -> None:
        self._layout = layout
        self.begun = False

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""
        self._layout.begin(value)
        self.begun = True

    def given(self, signals: Iterable[AnySignal]) -> None:
        """Do nothing: no event depends on those before it."""

    def next_attempt(self, *, apart: bool) -> bytes:
        """Write nothing between attempts."""
        return b""

    def text(self, text: str) -> bytes:
        """Write text."""
        return self._layout.said(Kind.TEXT, text)

    def reasoning(self, text: str) -> bytes:
        """Write reasoning, where a body is said as events."""
        return self._layout.said(Kind.REASONING, text)

    def parts(self, signals: Iterable[AnySignal]) -> bool:
        """Return False: no event ends the text."""
        return False

    def passed(self, signals: Iterable[AnySignal]) -> bytes:
        """Write what an event of a further attempt carries besides text, calls, stop and usage."""
        raws = [s.raw for s in signals if isinstance(s, Piece | Beside) and s.raw is not None]
        return self._layout.passed(raws) if raws else b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """End the message: the calls, the stop, the usage and the end mark."""
        return self._layout.end(answer, include_usage=include_usage)

    def error(self, code: str, message: str) -> bytes:
        """Write an event by which the official SDK raises."""
        return self._layout.error(code, message)


class Merger:
    """The one message that the caller is given of a stream (`wire.base.Writer`).

    Args:
        layout: how the wire writes.
    """

    follows_text = False

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.begun = False
        self._started = False
        self._open: Part | None = None
        self._next = 0
        # Of the attempt that is written:
        self._numbers: dict[Place, int] = {}
        self._texts = 0

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""
        self._layout.begin(value)
        self.begun = True

    def given(self, signals: Iterable[AnySignal]) -> None:
        """Follow an event that was handed on as it came."""
        for signal in signals:
            match signal:
                case Began():
                    self._started = True
                case Opened(place, kind, native):
                    self._begin_part(place, kind, native)
                case CallPiece(place, delta) if delta.name:
                    self._begin_part(place, Kind.CALL, {})
                case Piece(adds=dict(adds)) if self._open is not None:
                    self._open.add(adds)
                case PartClosed():
                    self._open = None

    def _begin_part(self, place: Place, kind: Kind, native: Native) -> None:
        number = place[0] if place and isinstance(place[0], int) else self._next
        self._open, self._next = Part((number,), kind, native), number + 1

    def next_attempt(self, *, apart: bool) -> bytes:
        """The signals of another attempt follow. Its text goes on in the part that is open, unless
        the attempt stands apart or nothing can be added to that part."""
        self._numbers, self._texts = {}, 0
        part = self._open
        joins = part is not None and part.kind is Kind.TEXT and self._layout.goes_on(part)
        return b"" if joins and not apart else self._close()

    def text(self, text: str) -> bytes:
        """Write text."""
        return self._to(Kind.TEXT) + self._say(Kind.TEXT, text)

    def reasoning(self, text: str) -> bytes:
        """Write reasoning, where a body is said as events."""
        return self._to(Kind.REASONING) + self._say(Kind.REASONING, text)

    def parts(self, signals: Iterable[AnySignal]) -> bool:
        """Whether an event of a further attempt ends the text that is open. Calls wait for the end,
        and reasoning is left out there."""
        if self._open is None or self._open.kind is not Kind.TEXT:
            return False
        opened = [signal.kind for signal in signals if isinstance(signal, Opened)]
        return Kind.OTHER in opened or (Kind.TEXT in opened and self._texts > 0)

    def passed(self, signals: Iterable[AnySignal]) -> bytes:
        """Write what an event of a further attempt carries besides text, calls, stop and usage."""
        return b"".join(map(self._pass, signals))

    def _pass(self, signal: AnySignal) -> bytes:
        match signal:
            case Beside(raw):
                return self._layout.beside(raw)
            case Opened():
                return self._pass_opened(signal)
            case Piece(place, _, _, adds, raw) if raw is not None:
                return self._pass_piece(place, adds, raw)
            case CallPiece(place, _, raw) if raw is not None:
                return self._pass_piece(place, None, raw)
            case PartClosed(place):
                part = self._open
                mine = part is not None and self._numbers.get(place) == part.place[0]
                # Text may go on yet.
                return self._close() if mine and part and part.kind is not Kind.TEXT else b""
        return b""

    def _pass_opened(self, signal: Opened) -> bytes:
        self._numbers.pop(signal.place, None)
        in_text = self._open is not None and self._open.kind is Kind.TEXT
        if signal.kind is Kind.REASONING and in_text:
            return b""
        if signal.kind is Kind.TEXT:
            self._texts += 1
            # The provider begins a further part of text where citations part them.
            out = (self._close() if self._texts > 1 else b"") + self._to(Kind.TEXT)
        else:
            out = self._close() + self._begin(signal.kind, signal.native)
        assert self._open is not None
        self._numbers[signal.place] = self._number
        return out

    def _pass_piece(self, place: Place, adds: Native | None, raw: Native) -> bytes:
        if self._open is None or self._numbers.get(place) != self._number:
            return b""
        if adds:
            self._open.add(adds)
        return self._written(self._layout.passed(self._number, raw))

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """End the message: what is open, the calls, the stop, the usage and the end mark."""
        out = [self._close()]
        for call in answer.calls:
            number, self._next = self._next, self._next + 1
            out.append(self._written(self._layout.call(number, call)))
        out.append(self._written(self._layout.end(answer, include_usage=include_usage)))
        return b"".join(out)

    def error(self, code: str, message: str) -> bytes:
        """Write an event by which the official SDK raises."""
        return self._layout.error(code, message)

    # --- parts

    @property
    def _number(self) -> int:
        number = self._open.place[0] if self._open is not None else None
        return number if isinstance(number, int) else -1

    def _to(self, kind: Kind) -> bytes:
        """Be in an open part of this kind; else one begins."""
        if self._open is not None and self._open.kind is kind:
            return b""
        return self._close() + self._begin(kind, self._layout.native(kind))

    def _begin(self, kind: Kind, native: Native) -> bytes:
        self._open, self._next = Part((self._next,), kind, native), self._next + 1
        return self._written(self._layout.opened(self._number, native))

    def _say(self, kind: Kind, text: str) -> bytes:
        return self._written(self._layout.said(self._number, kind, text))

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        number, self._open = self._number, None
        return self._written(self._layout.closed(number))

    def _written(self, data: bytes) -> bytes:
        """Bytes of the message, which begins with the first of them."""
        if self._started:
            return data
        self._started = True
        return self._layout.start() + data
