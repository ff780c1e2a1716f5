"""The merger: one streamed message from the parts of several attempts.

Theory of operation
-------------------
The first attempt's events are forwarded unchanged. The merger sees them, so it knows which part is
open, and how many there were. Of a further attempt, it receives the signals, and writes what the
caller gets. Text continues in the open part. Parts that are neither text nor calls follow with new
numbers. Reasoning in the middle of a text is left out, and calls wait for the end. The wire's
`Layout` says what a part looks like.

A wire may put parts into items (`GroupLayout`). A further part of text then goes into the message
that is open, a second message of an attempt begins a new one, and the last event lists all items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tenuto.core.answer.parts import (
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
    Restated,
    news_in,
)
from tenuto.core.answer.signals import Began
from tenuto.wires.answer import Answer
from tenuto.wires.json import JsonObject
from tenuto.wires.layout import FlatLayout, GroupLayout, Layout

_VISIBLE = (Kind.TEXT, Kind.REFUSAL)
"""The kinds of parts whose content the user sees."""


def merger(layout: Layout | GroupLayout | FlatLayout) -> Merger | FlatLayout:
    """Return what writes the one message of a wire: the layout itself if nothing has to be merged,
    since each event is independent."""
    return layout if layout.numbered is False else Merger(layout)


class Merger:
    """Writes the one streamed message that the caller receives.

    Args:
        layout: how the wire writes.
    """

    def __init__(self, layout: Layout | GroupLayout) -> None:
        self._layout = layout
        self._groups = layout if layout.numbered == "groups" else None
        self._started = False
        self._events = 0
        self._items: dict[int, Part] = {}
        # The open part, and the one that holds words: the same part, or one inside it.
        self._item: Part | None = None
        self._open: Part | None = None
        self._next = 0
        self._led_to_nothing: set[int] = set()
        # About the attempt that is being written:
        self._numbers: dict[Place, int | None] = {}
        self._texts = self._texts_before = 0
        self._wrote_text = False
        self._aside: list[Piece] = []
        self._announced: Place | None = None
        self._coming: Native | None = None
        self._left_out: list[Native] = []
        self._unled = False
        self._source_texts: list[str] = []
        self._waiting: list[Native] = []

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""
        self._layout.begin(value)

    # --- events that were forwarded unchanged

    def given(self, signals: Iterable[AnySignal]) -> None:
        """Record an event that was forwarded unchanged, except for its text."""
        self._events += 1
        for signal in signals:
            match signal:
                case Began():
                    self._started = True
                case Opened(place, kind, native):
                    self._place(place, kind, native)
                    if self._kind(signal) is Kind.TEXT:
                        self._texts = self._texts_before = 1
                case CallPiece(place, delta) if delta.name:
                    self._place(place, Kind.CALL, {})
                case Piece(place, kind, holds=str()) if not self._is_open_at(place):
                    self._place(place, kind, {})
                    self._grow(signal)
                case Piece():
                    self._grow(signal)
                case Restated(place, kind, native):
                    self._restate(place, kind, native)
                case PartClosed((_,)):
                    self._item = self._open = None

    def _is_open_at(self, place: Place) -> bool:
        return self._item is not None and place[0] in (None, self._item.place[0])

    def _grow(self, piece: Piece) -> None:
        if self._open is None:
            return
        if piece.adds:
            self._open.add(piece.adds)
        if piece.kind is Kind.REFUSAL and piece.text:
            self._open.pieces.append(self._news_of(piece))

    def _news_of(self, piece: Piece) -> str:
        """Return the text of a piece, as far as the open part does not have it."""
        part = self._open
        said = part.text if part is not None and part.kind is piece.kind else ""
        text = piece.text or ""
        return news_in(text, said) if piece.whole else text

    def _place(self, place: Place, kind: Kind, native: Native) -> None:
        number = place[0] if place and isinstance(place[0], int) else self._next
        if len(place) < 2:
            self._hold_item(number, kind, native)
        elif self._item is not None and kind is not Kind.REASONING:
            self._hold_part(self._item, kind, native)

    def _hold_item(self, number: int, kind: Kind, native: Native) -> Part:
        self._item = self._items[number] = Part((number,), kind, native)
        self._open = None if kind is Kind.GROUP else self._item
        self._next = max(self._next, number) + 1
        return self._item

    def _hold_part(self, item: Part, kind: Kind, native: Native) -> Part:
        part = self._open = Part((item.place[0], len(item.parts)), kind, native)
        part.group = item
        item.parts[part.place] = part
        return part

    def _restate(self, place: Place, kind: Kind, native: Native) -> None:
        first = place[0]
        if len(place) < 2:
            number = first if isinstance(first, int) else self._next - 1
            self._items[number] = Part((number,), kind, native)
            self._next = max(self._next, number + 1)  # some items come only as a whole
            self._item = self._open = None
        elif self._open is not self._item:
            self._open = None

    def note_forwarded_texts(self, texts: Sequence[str]) -> None:
        """Record forwarded text."""
        self._events += len(texts)
        if not texts or self._groups is None:
            return
        if self._open is None or self._open is self._item:
            # Their part was not announced, or not in a readable form.
            item = self._item
            if item is None or not self._in_message:
                number = self._next if item is None else _number(item)
                native = self._groups.unannounced(None if item is None else item.native)
                item = self._hold_item(number, Kind.GROUP, native)
            self._hold_part(item, Kind.TEXT, self._layout.native(Kind.TEXT)).pieces += texts
        else:
            self._open.pieces += texts

    def follow(self, last: JsonObject | None) -> None:
        """Write from here on, after this event."""
        if self._groups is not None:
            self._groups.follow(last, self._events)

    # --- what is written

    def next_attempt(self, *, apart: bool) -> bytes:
        """Begin another attempt. Its text continues in the open part, unless the attempt is
        separate from it or nothing can be added to that part."""
        self._led_to_nothing.update(self._reasoning_at_end())
        self._numbers, self._texts, self._left_out, self._unled = {}, 0, [], False
        self._texts_before = 0
        self._announced, self._wrote_text, self._aside = None, False, []
        part = self._open
        out = self._write_waiting()
        if part is not None and self._in_text and not apart and self._layout.goes_on(part):
            return out
        self._texts = self._texts_before = 1 if self._groups is not None else 0
        return out + self._close()

    def note_source_text(self, text: str) -> None:
        """Take text of a further attempt as it came, before a seam removed any of it."""
        self._source_texts.append(text)

    def text(self, text: str) -> bytes:
        """Write text."""
        out = self._to(Kind.TEXT)
        # Reasoning that was left out belonged to a message that does not exist here.
        self._unled = self._unled or bool(self._left_out)
        self._left_out = []
        aside, self._aside, self._wrote_text = self._aside, [], True
        return out + self.passed(aside) + self._write(text)

    def reasoning(self, text: str) -> bytes:
        """Write reasoning, for a body that is sent as events."""
        if any(self._layout.holds(part) is Kind.REASONING for part in self._layout.ahead):
            return b""
        thought = self._layout.thought(text)
        if thought is None:
            return self._to(Kind.REASONING) + self._write(text)
        return self._whole(thought)

    def parts(self, signals: Iterable[AnySignal]) -> bool:
        """Return whether an event of a further attempt ends the open text. Calls wait for the end,
        and reasoning is left out there."""
        if self._open is None or self._open.kind not in _VISIBLE:
            return False
        opened = [signal for signal in signals if isinstance(signal, Opened)]
        if any(len(signal.place) > 1 and self._is_further(signal) for signal in opened):
            return True
        kinds = [self._kind(signal) for signal in opened if len(signal.place) < 2]
        return Kind.OTHER in kinds or (Kind.TEXT in kinds and self._wrote_text and self._texts > 0)

    def passed(self, signals: Iterable[AnySignal]) -> bytes:
        """Write what an event of a further attempt carries besides text, calls, stop and usage."""
        return b"".join(map(self._pass, signals))

    def _pass(self, signal: AnySignal) -> bytes:
        match signal:
            case Beside(raw, ()):
                return self._layout.beside(raw)
            case Opened((_,)):
                return self._pass_opened(signal)
            case Opened():
                # The next text begins it.
                self._forget_repeated(signal.kind)
                return self._close_part() if self._is_further(signal) else b""
            case Piece(_, Kind.REFUSAL, str()):
                news = self._news_of(signal)
                return self._to(Kind.REFUSAL) + self._write(news) if news else b""
            case Piece(_, Kind.TEXT, _, _, raw) if raw is not None and self._groups is not None:
                self._waiting.append(raw)  # until all the text that it points at is there
            case Piece(_, Kind.TEXT, _, _, raw) if raw is not None and not self._wrote_text:
                self._aside.append(signal)  # all text beside it may be repeated
            case Piece(place, kind, _, adds, raw, holds) if raw is not None:
                out = b"" if holds is None else self._pass_unopened(place, kind)
                if kind is Kind.OTHER and place == self._announced:
                    out += self._to(Kind.TEXT)
                return out + self._pass_piece(place, adds, raw)
            case CallPiece(place, _, raw) | Beside(raw, place) if raw is not None:
                return self._pass_piece(place, None, raw)
            case Restated(place, kind, native) if place in self._numbers:
                if self._item is not None and self._is_mine(place):
                    self._item.restate(kind, native, "")
                elif self._groups and self._groups.holds(native) is Kind.REASONING:
                    self._left_out.append(native)
            case PartClosed(place) if self._is_mine(place):
                # Text may still continue.
                return b"" if self._in_text else self._close()
        return b""

    def _kind(self, signal: Opened) -> Kind:
        """Return the kind of a part, or of the parts that it will hold."""
        if signal.kind is not Kind.GROUP or self._groups is None:
            return signal.kind
        return self._groups.holds(signal.native)

    def _pass_opened(self, signal: Opened) -> bytes:
        self._numbers[signal.place] = None
        kind = self._kind(signal)
        if kind is Kind.REASONING and self._open is not None and self._open.kind in _VISIBLE:
            return b""
        if kind is not Kind.TEXT:
            out = self._write_left_out() + self._close() + self._begin(signal.kind, signal.native)
        else:
            self._forget_repeated(kind)
            self._texts = (self._texts if self._wrote_text else self._texts_before) + 1
            # The provider begins a further part of text where citations separate them.
            out = self._close() if self._texts > 1 else b""
            if self._groups is not None:
                named = self._texts > 1 or not self._in_message
                self._coming = signal.native if named else self._coming
                return out + (self._write_left_out() if named else b"")
            self._announced = signal.place
            if not self._in_text and self._layout.words_begin_text:
                return out
            out += self._to(Kind.TEXT)
        assert self._item is not None
        self._numbers[signal.place] = _number(self._item)
        return out

    def _write_left_out(self) -> bytes:
        """Write the reasoning that was left out, before what it led to."""
        left_out, self._left_out = self._left_out, []
        return b"".join(map(self._whole, left_out))

    def _forget_repeated(self, kind: Kind) -> None:
        """Drop what stood beside text of which nothing was written, since it was repeated: a part
        of text that begins now is the first that says something."""
        if kind is Kind.TEXT and not self._wrote_text:
            self._aside, self._source_texts, self._waiting = [], [], []

    def _is_further(self, part: Opened) -> bool:
        """Return whether a part is not the first of its item. All reasoning of an item is one
        part, and text that was repeated is none."""
        if part.kind is Kind.REASONING or (part.kind is Kind.TEXT and not self._wrote_text):
            return False
        return bool(part.place[-1])

    def _pass_unopened(self, place: Place, kind: Kind) -> bytes:
        """Find the part of a piece, on wires whose parts begin with their first piece."""
        if kind is Kind.TEXT and self._in_text and self._item is not None:
            self._numbers[place] = _number(self._item)
        elif kind is not Kind.TEXT and place not in self._numbers:
            return self._pass_opened(Opened(place, kind, {}))
        return b""

    def _is_mine(self, place: Place) -> bool:
        """Return whether the part at this place is open under a number of the merger's own."""
        return self._item is not None and self._numbers.get(place) == _number(self._item)

    def _pass_piece(self, place: Place, adds: Native | None, raw: Native) -> bytes:
        if self._item is None or not self._is_mine(place):
            return b""
        if adds:
            self._item.add(adds)
        return self._start() + self._layout.passed(self._item, raw)

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """End the message: write what is open, the calls, the stop, the usage and the end mark."""
        out = [self._close(answer)]
        if answer.calls:
            out.append(self._write_left_out())
        for call in answer.calls:
            out.append(self._start())
            part = self._hold_item(self._next, Kind.CALL, self._layout.called(call, self._unled))
            out.append(self._layout.call(part, call))
        out.append(self._start())
        items = self._items_of_answer()
        out.append(self._layout.end(answer, items, include_usage=include_usage))
        return b"".join(out)

    def failed(self, code: str, message: str, answer: Answer) -> bytes:
        """Write what tells of an error (`FlatLayout.failed`)."""
        return self.error(code, message)

    def error(self, code: str, message: str) -> bytes:
        """Write an event at which the official SDK raises."""
        start = self._start() if self._layout.error_follows_start else b""
        return start + self._layout.error(code, message)

    # --- parts

    def _items_of_answer(self) -> list[Part]:
        """Return the items in order, without the reasoning of earlier attempts that led to nothing:
        the provider refuses it without what followed it. It stays if there is nothing else."""
        items = dict(sorted(self._items.items()))
        led = [item for number, item in items.items() if number not in self._led_to_nothing]
        return led or list(items.values())

    def _reasoning_at_end(self) -> Iterator[int]:
        """Yield the numbers of the last items, as far as these are reasoning."""
        for number, item in sorted(self._items.items(), reverse=True):
            if not self._is_reasoning(item):
                return
            yield number

    def _is_reasoning(self, item: Part) -> bool:
        return self._groups is not None and self._groups.holds(item.native) is Kind.REASONING

    @property
    def _in_text(self) -> bool:
        return self._open is not None and self._open.kind is Kind.TEXT

    @property
    def _in_message(self) -> bool:
        """Whether an item is open that may hold text."""
        groups, item = self._groups, self._item
        return groups is not None and item is not None and groups.holds(item.native) is Kind.TEXT

    def _to(self, kind: Kind) -> bytes:
        """Make sure that a part of this kind is open; begin one if not."""
        if self._open is not None and self._open.kind is kind:
            return b""
        native = self._layout.native(kind)
        if self._groups is None:
            out = self._close() + self._begin(kind, native)
            if self._announced is not None:
                self._numbers[self._announced] = self._next - 1
            return out
        out = self._close_part()
        if not self._in_message:
            taken = [item.native for item in self._items.values()]
            group = self._groups.group(self._coming, taken, self._next)
            out += self._close() + self._begin(Kind.GROUP, group)
        assert self._item is not None
        return out + self._layout.opened(self._hold_part(self._item, kind, native))

    def _begin(self, kind: Kind, native: Native) -> bytes:
        start = self._start()
        return start + self._layout.opened(self._hold_item(self._next, kind, native))

    def _whole(self, native: Native, begun: Native | None = None) -> bytes:
        """Write a part that is neither text nor a call."""
        out = self._close() + self._begin(Kind.OTHER, begun or self._layout.empty(native))
        assert self._item is not None
        self._item.native = native
        return out + self._close()

    def _write(self, text: str) -> bytes:
        assert self._open is not None
        self._open.pieces.append(text)
        return self._start() + self._layout.said(self._open, text)

    def _write_waiting(self) -> bytes:
        """Write what points at the words of the open part. Its positions count in the words of the
        attempt, of which a seam may have removed the first. The last ones are those of the part."""
        waiting, source_text = self._waiting, "".join(self._source_texts)
        self._waiting, self._source_texts = [], []
        if self._open is None or not waiting or self._groups is None:
            return b""
        said = self._open.text
        by = len(said.rstrip()) - len(source_text.rstrip())
        return b"".join([self._groups.cited(self._open, said, raw, by) for raw in waiting])

    def _close_part(self) -> bytes:
        """End the part that is open within an item."""
        if self._open is None or self._open is self._item:
            return b""
        out, part, self._open = self._write_waiting(), self._open, None
        return out + self._layout.closed(part)

    def _close(self, answer: Answer | None = None) -> bytes:
        if self._item is None:
            return b""
        out = self._close_part()
        item, self._item, self._open = self._item, None, None
        return out + self._start() + self._layout.closed(item, answer)

    def _start(self) -> bytes:
        """Write the start of the message before its first bytes."""
        if self._started:
            return b""
        self._started = True
        out = self._layout.start()
        return out + b"".join([self._whole(part, part) for part in self._layout.ahead])


def _number(item: Part) -> int:
    number = item.place[0]
    assert isinstance(number, int)
    return number
