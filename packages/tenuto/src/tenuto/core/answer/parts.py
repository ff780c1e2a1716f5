"""Put the answer of one attempt together from signals that name their place.

Theory of operation
-------------------
A wire reads each object from the provider, a body or an event, into signals. A signal with content
names its place, so that nothing needs to read the object again to know which part a piece belongs
to. `Message` puts the parts together in the order in which they began. Each part keeps the native
object that it began with, and everything added to it. Both the content that goes back to the
provider and the answer that the caller sees are written from these parts. Bodies and streams go the
same way, so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum, auto
from itertools import chain
from typing import Any, ClassVar

from tenuto.core.answer.fast_dataclass import fast_dataclass
from tenuto.core.answer.signals import (
    CallDelta,
    Closed,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    TextDelta,
)

Place = tuple[int | str | None, ...]
"""Where a part is: `(block,)`, `(item, content)`, `("reasoning",)`. () is the next part, or the
last one of its kind, on wires that don't number parts. None replaces a number that was missing or
unreadable."""

Native = Mapping[str, Any]


class Kind(Enum):
    """The kind of a part."""

    TEXT = auto()
    REASONING = auto()
    REFUSAL = auto()
    CALL = auto()
    """A call for the caller."""
    OTHER = auto()
    """Content that Tenuto doesn't read: an image, a tool that the provider runs itself."""
    GROUP = auto()
    """An item that holds parts."""
    NOTE = auto()
    """Something beside the content that says nothing by itself: a reference, a signature."""


# Parts are looked up by their kind. The hash of an enum is a Python function; this one is faster.
Kind.__hash__ = object.__hash__  # type: ignore[method-assign]


@fast_dataclass
class Opened:
    """A part begins.

    `native`: the object that it begins with. `holds`: the member of it that holds the part's text;
    "" if there is none. `says`: the text that it begins with. `goes_on`, for a part without a
    number: whether it is more of the open part, if that is of the same kind and can continue as
    well. Other parts without a number come whole."""

    place: Place
    kind: Kind
    native: Native
    holds: str = ""
    says: str = ""
    goes_on: bool = False


@fast_dataclass
class Piece:
    """More of a part.

    `text`: None if the piece has no text, not even an empty one. `adds`: what grows in the part's
    object besides its text: strings are joined, lists extended, objects merged member by member.
    `raw`: the piece as the provider wrote it, if it must be written unchanged; None if it is
    written anew, as text is. `holds`: on wires whose parts begin with their first piece, the member
    that holds the part's text, "" if there is none; None if the part was opened before. `whole`:
    the text is all of the part's, of which only what did not come before is new."""

    place: Place
    kind: Kind
    text: str | None = ""
    adds: Native | None = None
    raw: Native | None = None
    holds: str | None = None
    whole: bool = False


@fast_dataclass
class CallPiece:
    """More of a call. If the part at its place is a tool that the provider runs itself, the
    arguments are that tool's, and `raw` is the piece as the provider wrote it."""

    place: Place
    delta: CallDelta
    raw: Native | None = None


@fast_dataclass
class PartClosed:
    """A part ended. `is_news`: whether this says anything about the answer, which may continue
    there."""

    place: Place
    is_news: bool = True


@fast_dataclass
class Restated:
    """A part is sent once more, as a whole. It replaces everything before, except the text if it
    has none of its own. Text that did not come before is new. A group that is sent again keeps only
    the parts that follow. A part that was not announced before begins without a signal. The members
    are those of `Opened`."""

    place: Place
    kind: Kind
    native: Native
    holds: str = ""


@fast_dataclass
class Retold:
    """The whole answer is sent once more at the end, under numbers that need not be those of
    before: only text that never came is new."""

    parts: tuple[Opened, ...]


@fast_dataclass
class Envelope:
    """Members that identify the answer, such as its id. The first value of each stays."""

    members: Native


@fast_dataclass
class Said:
    """Members of the answer itself, beside its parts. Later values replace earlier ones.

    `adds`: members that grow, like those of a part; None if nothing of this needs to be handed
    on."""

    members: Native
    adds: Native | None = None


@fast_dataclass
class Checkpoint:
    """The provider itself can go on from here, without Tenuto's asking in words (C30).

    `means`: what goes back for that, as the wire keeps it; {} if it can't go on any more."""

    means: Native


@fast_dataclass
class Beside:
    """Something that Tenuto doesn't read, beside the parts, such as a keep-alive or an unknown
    member. It is passed on unchanged. With a place, it belongs to the part there."""

    raw: Native
    place: Place = ()


Placed = (
    Opened
    | Piece
    | CallPiece
    | PartClosed
    | Restated
    | Retold
    | Envelope
    | Said
    | Beside
    | Checkpoint
)
"""Signals that only matter to code that puts parts together."""

AnySignal = Signal | Placed
"""What a wire's `read` returns: one thing read from a body or an event."""


class Part:
    """One part, while it is put together.

    Attributes:
        place, kind: where it is, and its kind.
        native: the object that it began with.
        holds: the member that holds the text of its pieces; "" if there is none.
        told: the member that holds its text if it was sent as a whole.
        pieces: its text.
        grown: what was added to other members, by name.
        behind: how many pieces of text had come before each addition.
        parts: for a group, the parts that it holds, by their places.
        group: the part that it is in; None for most.
        arguments: the arguments of a tool that the provider runs itself, as JSON text.
        closed: whether its end was seen.
        retold: whether its whole text was sent, at its end or instead of pieces.

    >>> part = Part((0,), Kind.TEXT, {"type": "text", "text": ""}, "text")
    >>> part.pieces += ["Hel", "lo"]
    >>> part.whole()
    {'type': 'text', 'text': 'Hello'}
    """

    def __init__(self, place: Place, kind: Kind, native: Native, holds: str = "") -> None:
        self.place = place
        self.kind: Kind = kind
        self.native: Native = native
        self.holds: str = holds
        self.told: str = holds
        self.pieces: list[str] = []
        self.grown: dict[str, list[Any]] = {}
        self.behind: list[int] = []
        self.parts: dict[Place, Part] = {}
        self.group: Part | None = None
        self.arguments: list[str] = []
        self.closed = False
        self.retold = False

    @property
    def text(self) -> str:
        """All of its text."""
        return "".join(self.pieces)

    @property
    def said(self) -> str:
        """All text that came of it, also if it was sent once more as a whole."""
        words = None if self.pieces or not self.retold else self.native.get(self.told)
        return words if isinstance(words, str) else self.text

    def add(self, members: Native) -> None:
        """Add what grows in the part's object."""
        self.behind.append(len(self.pieces))
        for name, more in members.items():
            self.grown.setdefault(name, []).append(more)

    def restate(self, kind: Kind, native: Native, holds: str) -> None:
        """Take the part as it was sent once more.

        >>> part = Part((0,), Kind.TEXT, {"text": ""}, "text")
        >>> part.pieces.append("Hi")
        >>> part.restate(Kind.TEXT, {"text": "", "more": 1}, "text")
        >>> part.whole()
        {'text': 'Hi', 'more': 1}
        >>> part.restate(Kind.TEXT, {"text": "Hi!"}, "text")
        >>> part.whole()
        {'text': 'Hi!'}
        """
        self.kind, self.native, self.holds, self.told = kind, native, holds, holds
        self.grown.clear()
        self.behind.clear()
        self.parts.clear()
        if native.get(holds):
            self.holds = ""
            self.pieces.clear()

    def whole(self) -> dict[str, Any]:
        """Return the part's object with everything added to it, except the parts that it holds."""
        made = dict(self.native)
        if self.holds and self.pieces:
            made[self.holds] = self.text
        for name, more in self.grown.items():
            made[name] = _grown(made.get(name), more)
        return made


def news_in(whole: str, said: str) -> str:
    """Return what a text that is sent whole adds to what came of it. A text that differs adds
    nothing: nothing shows which of the two counts.

    >>> news_in("Hello", ""), news_in("Hello", "Hel"), news_in("Hello", "Hi")
    ('Hello', 'lo', '')
    """
    return whole[len(said) :] if whole.startswith(said) else ""


def _grown(begun: Any, more: list[Any]) -> Any:
    return _joined([begun, *more] if type(begun) is type(more[0]) else more)


def _joined(pieces: list[Any]) -> Any:
    """Join all pieces; return the last if they can't be joined."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if all(isinstance(piece, list) for piece in pieces):
        return list(chain.from_iterable(pieces))
    if all(isinstance(piece, dict) for piece in pieces):
        said: dict[str, list[Any]] = {}
        for key, item in chain.from_iterable(piece.items() for piece in pieces):
            if item is not None:
                said.setdefault(key, []).append(item)
        return {key: items[-1] if key == "id" else _joined(items) for key, items in said.items()}
    return pieces[-1]


class Message:
    """The answer of one attempt.

    Attributes:
        parts: the parts in the order in which they began; those of a group are in the group.
        envelope: members that identify the answer.
        open: the part that text without a place belongs to; None before the first.
        checkpoint: what the last `Checkpoint` said; {} if there was none.

    >>> message = Message()
    >>> message.take([Opened((0,), Kind.TEXT, {"text": ""}, "text", "Hel"),
    ...               Piece((0,), Kind.TEXT, "lo"), PartClosed((0,))])
    [TextDelta(text='Hel'), TextDelta(text='lo'), Closed()]
    >>> [part.whole() for part in message.parts]
    [{'text': 'Hello'}]

    Parts without numbers continue each other:

    >>> message = Message()
    >>> for says in "Hel", "lo":
    ...     opened = Opened((), Kind.TEXT, {"text": says}, "text", says, goes_on=True)
    ...     message.take([opened])
    [TextDelta(text='Hel')]
    [TextDelta(text='lo')]
    >>> [part.whole() for part in message.parts]
    [{'text': 'Hello'}]
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.envelope: dict[str, Any] = {}
        self.open: Part | None = None
        self.checkpoint: Native = {}
        self._behind: tuple[int, Part | None, int] = (0, None, 0)  # what stood at the checkpoint
        self._said: dict[str, Any] = {}
        self._beside = Part((), Kind.GROUP, self._said)
        self._at: dict[Place, Part] = {}
        self._last: dict[Kind, Part] = {}

    @property
    def said(self) -> dict[str, Any]:
        """Members of the answer beside its parts."""
        return self._beside.whole()

    @property
    def text_since_checkpoint(self) -> str:
        """The text that came behind the last checkpoint. The provider says it again."""
        number, part, pieces = self._behind
        since = part.pieces[pieces:] if part is not None and part.kind is Kind.TEXT else []
        later = (each.text for each in self.parts[number:] if each.kind is Kind.TEXT)
        return "".join([*since, *later])

    def take(self, signals: Iterable[AnySignal]) -> list[Signal]:
        """Add signals, and return them in the form that the builder and the client stream read."""
        out: list[Signal] = []
        signal: Any
        for signal in signals:
            settle = self._SETTLERS.get(type(signal))
            if settle is None:
                out.append(signal)
            else:
                settle(self, signal, out)
        return out

    def flow(self, kind: Kind, text: str) -> bool:
        """Take the text of an event that carries one piece and nothing else. Return whether its
        part has begun; if not, the event must be read for its place."""
        part = self._last.get(kind)
        if part is not None:
            part.pieces.append(text)
        return part is not None

    def _settle_any_piece(self, signal: Piece, out: list[Signal]) -> None:
        if signal.whole:
            self._settle_whole(signal, out)
            return
        self._settle_piece(signal)
        if signal.text is not None and signal.kind in _PLAIN:
            out.append(_PLAIN[signal.kind](signal.text))

    def _settle_opened(self, signal: Opened, out: list[Signal]) -> None:
        place, kind, says = signal.place, signal.kind, signal.says
        if not (signal.goes_on and self.flow(kind, says)):
            opened = Part(place, kind, signal.native, signal.holds)
            opened.closed = not place and not signal.goes_on
            self._open(opened, says)
        if kind is not Kind.GROUP:
            out.append(_PLAIN[kind](says))

    def _settle_closed(self, signal: PartClosed, out: list[Signal]) -> None:
        self._close(signal.place)
        if signal.is_news:
            out.append(Closed())

    def _settle_envelope(self, signal: Envelope, _out: list[Signal]) -> None:
        if not signal.members.keys() <= self.envelope.keys():
            self.envelope = {**signal.members, **self.envelope}

    def _settle_said(self, signal: Said, _out: list[Signal]) -> None:
        self._said |= signal.members
        if signal.adds:
            self._said |= {name: None for name in signal.adds if name not in self._said}
            self._beside.add(signal.adds)

    def _settle_checkpoint(self, signal: Checkpoint, _out: list[Signal]) -> None:
        part = self.open
        self.checkpoint = signal.means
        self._behind = len(self.parts), part, 0 if part is None else len(part.pieces)

    def _settle_beside(self, signal: Beside, _out: list[Signal]) -> None:
        """Nothing of it is part of the message."""

    def _open(self, part: Part, says: str) -> None:
        if says:
            part.pieces.append(says)
        before = self._at.get(part.place)
        if before is not None and self._last.get(before.kind) is before:
            del self._last[before.kind]
        self._keep(part)
        self.open = part
        if not part.closed:
            self._last[part.kind] = part

    def _close(self, place: Place) -> None:
        part = self._at.get(place)
        if part is not None:
            part.closed = True
            if self._last.get(part.kind) is part:
                del self._last[part.kind]

    def _keep(self, part: Part) -> None:
        self._at[part.place] = part
        if not self._put_in_group(part):
            self.parts.append(part)

    def _put_in_group(self, part: Part) -> bool:
        group = self._at.get(part.place[:1]) if len(part.place) > 1 else None
        if group is not None:
            group.parts[part.place] = part
        return group is not None

    def _settle_piece(self, piece: Piece) -> None:
        place, kind = piece.place, piece.kind
        part = self._at.get(place)
        if piece.holds is not None and (part is None or part.kind is not kind):
            part = Part(place, kind, {piece.holds: ""} if piece.holds else {}, piece.holds)
            self._open(part, "")
        elif part is None:  # a part whose beginning never came is not part of the message
            part = Part(place, kind, {})
            self._at[place] = self._last[kind] = self.open = part
        elif part.closed and piece.holds is not None:
            part.closed = False
            self._last[kind] = self.open = part
        if piece.text:
            part.pieces.append(piece.text)
        if piece.adds:
            part.add(piece.adds)

    def _settle_whole(self, piece: Piece, out: list[Signal]) -> None:
        """Take a piece with all of its part's text. If only such pieces came and this one doesn't
        begin with them, each is one of several."""
        text, said = piece.text or "", self._said_at(piece.place, piece.kind, piece.text or "")
        part = self._at.get(piece.place)
        more = part is not None and part.retold and not text.startswith(said)
        news = text if more else news_in(text, said)
        if news or part is not None:
            self._settle_piece(replace(piece, text=news))
            self._at[piece.place].retold = True
        if news and piece.kind in _PLAIN:
            out.append(_PLAIN[piece.kind](news))

    def _settle_again(self, signal: Restated, out: list[Signal]) -> None:
        place, kind, native, holds = signal.place, signal.kind, signal.native, signal.holds
        words = native.get(holds) if holds else None
        text = words if isinstance(words, str) else ""
        news = news_in(text, self._said_at(place, kind, text)) if text and kind in _PLAIN else ""
        part = self._at.get(place)
        if part is None:
            part = Part(place, kind, native)
            self._keep(part)
        else:
            self._put_in_group(part)
        part.restate(kind, native, holds)
        part.retold = part.retold or bool(text)
        if news:
            out.append(_PLAIN[kind](news))

    def _said_at(self, place: Place, kind: Kind, whole: str) -> str:
        """Return the text that came of the part at a place. Some servers number the pieces of a
        part differently than its end: then it is that of a part of which no end came yet, or of one
        in the same item that says the same."""
        part = self._at.get(place)
        if part is not None and (said := part.said):
            return said
        for other in self._texts(kind):
            said, again = other.said, other.retold and other.place[:1] == place[:1]
            fits = said == whole if again else not other.retold and whole.startswith(said)
            if said and fits and other is not part:
                other.retold = True
                return said
        return ""

    def _texts(self, kind: Kind) -> list[Part]:
        """Return the parts of a kind, in the order in which they began."""
        found: list[Part] = []
        seen = chain(self.parts, self._at.values())
        for part in chain.from_iterable((part, *part.parts.values()) for part in seen):
            if part.kind is kind and not any(part is other for other in found):
                found.append(part)
        return found

    def _settle_retold(self, signal: Retold, out: list[Signal]) -> None:
        """Take of each kind what comes after all that was said of it."""
        said = {kind: "".join(part.said for part in self._texts(kind)) for kind in _RETOLD}
        numbers = [place[0] for place in self._at if place and isinstance(place[0], int)]
        first = 1 + max(numbers, default=-1)
        groups: dict[Place, Opened] = {}
        for opened in signal.parts:
            place, kind, text = opened.place, opened.kind, opened.says
            if kind is Kind.GROUP:
                groups[place] = opened
            elif kind in said and text:
                before = said[kind]
                if before.startswith(text):
                    said[kind] = before[len(text) :]
                elif news := news_in(text, before):
                    said[kind] = ""
                    self._begin_anew(replace(opened, says=news), groups.get(place[:1]), first)
                    out.append(_PLAIN[kind](news))

    def _begin_anew(self, opened: Opened, group: Opened | None, first: int) -> None:
        """Begin a part that only the end of the answer tells, behind all others."""
        number, *within = opened.place
        place = (first + (number if isinstance(number, int) else 0), *within)
        if group is not None and place[:1] not in self._at:
            self._keep(Part(place[:1], Kind.GROUP, group.native))
        part = Part(place, opened.kind, opened.native, opened.holds)
        part.closed = part.retold = True
        self._open(part, opened.says)

    def _settle_call(self, signal: CallPiece, out: list[Signal]) -> None:
        place, delta = signal.place, signal.delta
        part = self._at.get(place)
        if place and part is not None and part.kind is Kind.OTHER and not delta.name:
            if delta.arguments:
                part.arguments.append(delta.arguments)
            out.append(OtherSeen())
            return
        said_again = part is not None and part.kind is Kind.CALL and delta.whole
        # With a name, it is a call that begins, even under a number that was used before.
        if part is None or (delta.name and not said_again):
            self._open(Part(place, Kind.CALL, {}), "")
        out.append(delta)

    _SETTLERS: ClassVar[dict[type[Any], Callable[[Message, Any, list[Signal]], None]]] = {
        Opened: _settle_opened,
        Piece: _settle_any_piece,
        CallPiece: _settle_call,
        PartClosed: _settle_closed,
        Restated: _settle_again,
        Retold: _settle_retold,
        Envelope: _settle_envelope,
        Said: _settle_said,
        Checkpoint: _settle_checkpoint,
        Beside: _settle_beside,
    }


def is_silent(signal: AnySignal) -> bool:
    """Return whether a signal means nothing to code that doesn't use parts.

    >>> is_silent(Said({})), is_silent(Piece((0,), Kind.TEXT, "Hi"))
    (True, False)
    """
    return not Message().take([signal])


_RETOLD = (Kind.TEXT, Kind.REASONING, Kind.REFUSAL)
"""The kinds of parts whose text may come at the end alone."""

_PLAIN: dict[Kind, Callable[[str], Signal]] = {
    Kind.TEXT: TextDelta,
    Kind.REASONING: ReasoningDelta,
    Kind.REFUSAL: RefusalDelta,
    Kind.OTHER: lambda text: OtherSeen(),
}
"""A piece of a part as a signal without a place."""
