"""The short path of a wire: readings that show that a turn needs no changes.

Theory of operation
-------------------
Nearly every turn needs no changes: its request leaves as received, and its answer is complete. Two
typed readings show this. They say yes only if the full path would pass the same bytes on, and say
no in doubt; the full path then reads the same bytes. A wrong no costs time, while a wrong yes would
cost an answer, so `checks/fuzz/short.py` looks for one.

msgspec skips the rest, but still checks its JSON grammar. Two things pass that can't be read: bytes
that aren't UTF-8, and whole numbers too long for Python. Each reading checks for them itself
(`wires.plain.is_readable`).

A wire's file is mostly a table of shapes, as msgspec structs. Types express most refusals: `error:
None` for a member that must be absent or null, `NotBlank` for a text that must not be blank.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar

import msgspec

from tenuto.core import hints
from tenuto.wires.answer_id import Ids
from tenuto.wires.plain import is_readable


class Asks(msgspec.Struct, frozen=True):
    """What a request asks for.

    Attributes:
        stream: whether it asks for a stream.
        follows: the id of the response that it continues; "": none.
        model: the model; "": not known, so the full path takes a stream.
        max_tokens: the output limit in tokens; None: there is none; 0 or less: it isn't known.
        alone: whether it asks for more than text, so that a stream is only observed.
    """

    stream: bool
    follows: str = ""
    model: str = ""
    max_tokens: int | None = None
    alone: bool = False


class EventKind(Enum):
    """What one event of a stream means for passing it on."""

    TEXT = "text"
    """Text of the answer, and nothing else."""
    OPENS = "opens"
    """The beginning of the message or of a part."""
    NOTHING = "nothing"
    CLOSES = "closes"
    """The end of a part."""
    STOPS = "stops"
    """A clean stop, perhaps with the last text or the usage."""
    COUNTS = "counts"
    """The usage, and nothing else."""
    ENDS = "ends"
    """The end mark, after a stop."""
    COMPLETES = "completes"
    """A clean stop that is the end mark too."""
    UNSURE = "unsure"


EventSays = tuple[EventKind, str]
"""The kind of an event, and its text; "": none."""

UNSURE: EventSays = (EventKind.UNSURE, "")

Named = Annotated[str, msgspec.Meta(min_length=1)]
"""An id, a name or a text that is not empty."""

NotBlank = Annotated[str, msgspec.Meta(pattern=r"\S")]
"""A text that is not blank."""

NULL: msgspec.Raw = msgspec.Raw(b"null")
"""The value of a missing member that is kept as bytes."""

read_text: Callable[[bytes | str], str] = msgspec.json.Decoder(str).decode
"""Reads a JSON string. Raises `UNREADABLE` for anything else."""

read_object: Callable[[bytes | str], dict[str, Any]] = msgspec.json.Decoder(dict[str, Any]).decode
"""Reads arguments. Raises `UNREADABLE` for anything but a complete JSON object, and for numbers
that no double holds."""


@dataclass(frozen=True, slots=True)
class ShortPath:
    """The readings of one wire.

    Attributes:
        parse_request, read: the wire's own functions, which these readings replace. A wire that is
            made from another one with different functions has no short path.
        asks: what a request asks for, from its body and its URL; None: it may not be a request of
            this wire, or may need a repair.
        ids_if_whole: the ids of a body that is certainly a complete answer, text or calls, and
            needs no change; None: it may need one. Takes the body and `Asks.max_tokens`.
        event: the meaning of an event of a stream, from its data; `UNSURE`: it may carry more.
        ends_marked: whether a stream has an end mark. False: it ends after its stop.
        named: whether each event must have a name.
        opens: how the events begin that must open the message, in this order, if its SDK fails
            without them.
        holes: the irrelevant places in a text event: numbers that count up, and padding against
            eavesdroppers. Each is the only group of a match.
    """

    parse_request: Callable[..., Any]
    read: Callable[..., Any]
    asks: Callable[[bytes, str], Asks | None]
    ids_if_whole: Callable[[bytes, int | None], Ids | None]
    event: Callable[[bytes], EventSays]
    ends_marked: bool = True
    named: bool = False
    opens: tuple[bytes, ...] = ()
    holes: re.Pattern[bytes] = re.compile(rb'"obfuscation": ?"([a-zA-Z0-9]*)"')


# Each looks ahead or behind from one rare character, which `re` finds much faster than two.
_has_private_key = re.compile(rb'_(?<="_)').search
_has_escaped_ascii = re.compile(rb"\\(?=u00[4-7])").search
_NOTICE = hints.NOTICE_START.strip().encode()


def is_plain_text(body: bytes) -> bool:
    r"""Return whether a request can be read and shows no sign of what repairs remove from rows: a
    key that begins with an underscore, or Tenuto's notice. Escapes don't hide either.

    >>> is_plain_text(b'{"x": 1}'), is_plain_text(b'{"_x": 1}'), is_plain_text(rb'{"\u005fx": 1}')
    (True, False, False)
    """
    if _has_private_key(body) or _has_escaped_ascii(body) or _NOTICE in body:
        return False
    return is_readable(body)


def is_below(max_tokens: int | None, used: int | None) -> bool:
    """Return whether an answer certainly ended below its limit. A call that lacks a required member
    was cut if it did not, and is the model's own otherwise (T12b).

    Args:
        max_tokens: the limit; None: there is none; 0 or less: it isn't known.
        used: the output tokens; None: they aren't known.

    >>> is_below(None, None), is_below(100, 99), is_below(100, 100), is_below(100, None)
    (True, True, False, False)
    """
    return max_tokens is None or (used is not None and used < max_tokens)


class Event(msgspec.Struct, tag_field="type", kw_only=True):
    """An event of a wire whose events name their type. Only the members named here and in its own
    class are read.

    Attributes:
        said: the meaning of all events of the class. For a text it isn't known beforehand.
    """

    error: None = None
    response: None = None
    said: ClassVar[EventSays] = UNSURE


class Opens(Event):
    """See `EventKind.OPENS`, and so on."""

    said: ClassVar[EventSays] = (EventKind.OPENS, "")


class SaysNothing(Event):
    """`EventKind.NOTHING`."""

    said: ClassVar[EventSays] = (EventKind.NOTHING, "")


class Closes(Event):
    """`EventKind.CLOSES`."""

    said: ClassVar[EventSays] = (EventKind.CLOSES, "")


class Stops(Event):
    """`EventKind.STOPS`."""

    said: ClassVar[EventSays] = (EventKind.STOPS, "")


class Ends(Event):
    """`EventKind.ENDS`."""

    said: ClassVar[EventSays] = (EventKind.ENDS, "")


class Completes(Event):
    """`EventKind.COMPLETES`."""

    said: ClassVar[EventSays] = (EventKind.COMPLETES, "")
