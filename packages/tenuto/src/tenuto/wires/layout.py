"""How a wire writes one streamed message: as parts, as parts in items, or as separate events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.parts import AnySignal, Kind, Native, Part
from tenuto.wires.answer import Answer
from tenuto.wires.json import JsonObject


class PartLayout(Protocol):
    """How a wire writes the parts of one streamed message. The merger decides what to write.

    The first number in the place of a part is the merger's, and counts up over all attempts of a
    turn. Methods that write return the bytes of zero or more events.

    Attributes:
        ahead: parts of a body that is written as events; they come before all others.
        words_begin_text: whether a text part of a further attempt begins with its first words.
        error_follows_start: whether `start` comes before an error too."""

    ahead: Sequence[Native] = ()
    words_begin_text: bool = False
    error_follows_start: bool = False

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""

    def goes_on(self, part: Part) -> bool:
        """Return whether text of a further attempt can continue in an open text part."""
        ...

    def native(self, kind: Kind) -> JsonObject:
        """Return the beginning of a part of text or of reasoning."""
        ...

    def holds(self, native: Native) -> Kind:
        """Return the kind of a part that is written ahead, or of the parts of an item; OTHER:
        neither text nor reasoning."""
        return Kind.OTHER

    def thought(self, text: str) -> JsonObject | None:
        """Return reasoning as a part that is written at once; None: it grows like a text."""
        return None

    def empty(self, native: Native) -> JsonObject:
        """Return the empty form of a part that is written at once."""
        return dict(native)

    def start(self) -> bytes:
        """Write what comes before all parts."""
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
        """Return a call as it is written. `unled`: the reasoning that led to it was left out."""
        ...

    def call(self, part: Part, call: ToolCall) -> bytes:
        """Write a whole call."""
        ...

    def end(self, answer: Answer, items: Sequence[Part], *, include_usage: bool) -> bytes:
        """Write the stop, the usage and the end mark. `items`: all parts written so far."""
        ...

    def beside(self, raw: Native) -> bytes:
        """Write an event beside the parts, such as a keep-alive."""
        return b""

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises, and the end mark."""
        ...


class Layout(PartLayout, Protocol):
    """The layout of a wire whose parts stand alone."""

    numbered: Literal[True] = True


class GroupLayout(PartLayout, Protocol):
    """The layout of a wire that puts parts into items, and repeats all items at the end."""

    numbered: Literal["groups"] = "groups"

    def follow(self, last: JsonObject | None, events: int) -> None:
        """Continue counting after the last event that the caller received."""

    def group(self, native: Native | None, taken: Sequence[Native], number: int) -> JsonObject:
        """Return the item that holds a text, under an id that no other item has.

        `native`: the provider's item; None: it announced none."""
        ...

    def unannounced(self, native: Native | None) -> JsonObject:
        """Return the item for a text that came without one, or in one that can't be read."""
        ...

    def cited(self, part: Part, said: str, raw: Native, by: int) -> bytes:
        """Write a citation of words of a part, which have moved by a number of characters."""
        ...


class FlatLayout(Protocol):
    """How a wire writes a streamed message whose parts neither begin nor end, so that each event
    stands alone. Methods that write return the bytes of zero or more events."""

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
        """Write reasoning of a body that is written as events."""
        return self.said(Kind.REASONING, text)

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Track an event that was passed on unchanged. Some events with only text are not
        reported."""
        return

    def follow(self, last: JsonObject | None) -> None:
        """Write from here on, after the last event that the caller received."""
        return

    def next_attempt(self, *, apart: bool) -> bytes:
        """Write what separates attempts. `apart`: the next one's text is not joined to the last."""
        return b""

    def parts(self, signals: Sequence[AnySignal]) -> bool:
        """Return whether an event of a further attempt ends the current text part."""
        return False

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write what one event of another attempt carries beside text, calls, stop and usage, such
        as an image or a refusal. Without it, that is left out. b"": the wire has nothing of the
        kind."""
        return b""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the calls, the stop, the usage and the end mark."""
        ...

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises, and the end mark."""
        ...

    def failed(self, code: str, message: str, answer: Answer) -> bytes:
        """Write the same of an answer so far: where the SDK raises on nothing, with its usage and
        the provider's own stop, if that is not a clean one (`native_stop`)."""
        return self.error(code, message)
