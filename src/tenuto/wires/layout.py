"""How a wire writes one streamed message: of parts, of parts in items, or of events alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from tenuto.core.calls import ToolCall
from tenuto.core.parts import AnySignal, Kind, Native, Part
from tenuto.wires.answer import Answer
from tenuto.wires.json import JsonObject


class PartLayout(Protocol):
    """How a wire writes the parts of one streamed message; the merger decides on them.

    The first number in the place of a part is the merger's: it counts up over all attempts of a
    turn. Each method returns the bytes of zero or more events.

    Attributes:
        ahead: parts of a body that is said as events; they are said before all else.
        words_begin_text: whether a further attempt's part of text begins with its first words.
        error_follows_start: whether `start` stands before an error as well."""

    ahead: Sequence[Native] = ()
    words_begin_text: bool = False
    error_follows_start: bool = False

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""

    def goes_on(self, part: Part) -> bool:
        """Return whether text of a further attempt can go on in an open part of text."""
        ...

    def native(self, kind: Kind) -> JsonObject:
        """Return what a part of text or of reasoning begins with."""
        ...

    def holds(self, native: Native) -> Kind:
        """Return what a part is that is said ahead, or what the parts of an item are; OTHER for all
        but text and reasoning."""
        return Kind.OTHER

    def thought(self, text: str) -> JsonObject | None:
        """Return reasoning as a part that is said at once, None where it grows like a text."""
        return None

    def empty(self, native: Native) -> JsonObject:
        """Return a part that is said at once as it begins."""
        return dict(native)

    def start(self) -> bytes:
        """Write what stands before all parts."""
        ...

    def opened(self, part: Part) -> bytes:
        """Begin a part."""
        ...

    def said(self, part: Part, text: str) -> bytes:
        """Write text of a part."""
        ...

    def passed(self, part: Part, raw: Native) -> bytes:
        """Write a piece as another attempt's provider wrote it."""
        ...

    def closed(self, part: Part, answer: Answer | None = None) -> bytes:
        """End a part. `answer`: the message ends with it."""
        ...

    def called(self, call: ToolCall, unled: bool) -> JsonObject:
        """Return what a call is written as. `unled`: the reasoning that led to it was left out."""
        ...

    def call(self, part: Part, call: ToolCall) -> bytes:
        """Write a whole call."""
        ...

    def end(self, answer: Answer, items: Sequence[Part], *, include_usage: bool) -> bytes:
        """Write the stop, the usage and the end mark. `items`: all parts that were given."""
        ...

    def beside(self, raw: Native) -> bytes:
        """Write what stands beside the parts, such as what keeps the connection alive."""
        return b""

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises, and the end mark."""
        ...


class Layout(PartLayout, Protocol):
    """The same of a wire whose parts stand for themselves."""

    numbered: Literal[True] = True


class GroupLayout(PartLayout, Protocol):
    """The same of a wire that puts parts into items, and says all items at the end."""

    numbered: Literal["groups"] = "groups"

    def follow(self, last: JsonObject | None, events: int) -> None:
        """Count on behind the last of the events that the caller was given."""

    def group(self, native: Native | None, taken: Sequence[Native], number: int) -> JsonObject:
        """Return the item that a text stands in: the provider's, None where it announced none,
        under an id that none of the others has."""
        ...

    def unannounced(self, native: Native | None) -> JsonObject:
        """Return the item of a text that came without one, or in one that can't be read."""
        ...

    def cited(self, part: Part, said: str, raw: Native, by: int) -> bytes:
        """Write what points at words of a part, which stand so many characters further on."""
        ...


class FlatLayout(Protocol):
    """How a wire writes a streamed message whose parts neither begin nor end: each event stands for
    itself. Each method returns the bytes of zero or more events."""

    numbered: Literal[False] = False

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text of the answer, or reasoning."""
        ...

    def text(self, text: str) -> bytes:
        """Write text of the answer."""
        return self.said(Kind.TEXT, text)

    def reasoning(self, text: str) -> bytes:
        """Write reasoning, where a body is said as events."""
        return self.said(Kind.REASONING, text)

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Follow an event that was handed on as it came; not all are told that hold text alone."""
        return

    def follow(self, last: JsonObject | None) -> None:
        """Write from here on, behind the last of the events that the caller was given."""
        return

    def next_attempt(self, *, apart: bool) -> bytes:
        """Write what stands between attempts. `apart`: the next one's text is not joined to the
        last."""
        return b""

    def parts(self, signals: Sequence[AnySignal]) -> bool:
        """Return whether an event of a further attempt ends the part that text is written in."""
        return False

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write what one event of another attempt carries besides text, calls, stop and usage."""
        ...

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the calls, the stop, the usage and the end mark."""
        ...

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises, and the end mark."""
        ...
