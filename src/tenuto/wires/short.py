"""The short path of a wire: readings by which a healthy turn needs no machine.

Theory of operation
-------------------
Nearly every turn needs nothing: its request leaves as it came, and its answer is whole. Two typed
readings show it. They say yes only where the machine would do nothing but hand on the bytes; in
doubt they say no, and the machine looks at the same bytes. So a wrong no costs time and a wrong yes
would cost an answer: `fuzz/short.py` looks for one.

What is not looked at is skipped by msgspec, which holds it to the grammar of JSON all the same. Two
things pass it that cannot be read: bytes that are no UTF-8, and whole numbers too long for Python.
Each reading looks for them itself (`wires.plain.is_readable`).

A wire's file is mostly a table of shapes, as msgspec's structs. What is refused is said by types as
far as possible: `error: None` for a member that must not tell anything, `NotBlank` for a text that
is not blank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar, Protocol

import msgspec

from tenuto.core import hints
from tenuto.wires.plain import is_readable


class Asks(msgspec.Struct, frozen=True):
    """What a request asks for.

    Attributes:
        stream: whether for a stream.
        follows: the id of the response that it goes on from, "" where it does not.
        model: the model, "" where it is not known; a stream is then left to the machine.
        max_tokens: the output limit, None where there is none.
        alone: whether something beside text is asked for, so that a stream is only watched.
    """

    stream: bool
    follows: str = ""
    model: str = ""
    max_tokens: int | None = None
    alone: bool = False


class EventKind(Enum):
    """What one event of a stream says, as far as it must be known to hand it on."""

    TEXT = "text"
    """A text of the answer, and nothing else."""
    OPENS = "opens"
    """That the message or a part of it begins."""
    NOTHING = "nothing"
    CLOSES = "closes"
    """That a part is over."""
    STOPS = "stops"
    """A clean stop, perhaps with the last text or the usage."""
    COUNTS = "counts"
    """The usage, and nothing else."""
    ENDS = "ends"
    """The end mark, behind a stop."""
    COMPLETES = "completes"
    """A clean stop that is the end mark as well."""
    UNSURE = "unsure"


EventSays = tuple[EventKind, str]
"""What an event says, and its text, "" for none."""

UNSURE: EventSays = (EventKind.UNSURE, "")

Named = Annotated[str, msgspec.Meta(min_length=1)]
"""An id, a name or a text that is there."""

NotBlank = Annotated[str, msgspec.Meta(pattern=r"\S")]
"""A text that is not blank."""

NULL: msgspec.Raw = msgspec.Raw(b"null")
"""What a member is that is not there, where its bytes are kept."""

read_text: Callable[[bytes | str], str] = msgspec.json.Decoder(str).decode
"""Reads a JSON string; raises `UNREADABLE` for all else."""

read_object: Callable[[bytes | str], dict[str, Any]] = msgspec.json.Decoder(dict[str, Any]).decode
"""Reads arguments; raises `UNREADABLE` for what is no whole JSON object, and for numbers that no
double holds."""


@dataclass(frozen=True, slots=True)
class ShortPath:
    """The readings of one wire.

    Attributes:
        parse_request, read: the wire's own, which these stand for. A wire that is made from
            another one with others in their place has no short path.
        asks: what a request asks for, of its body and its URL, where it is certain to be one of
            this wire that needs no repair; else None.
        is_whole: whether a body is certain to be a whole answer, text or calls, of which nothing
            has to change; of the body and that of its request.
        event: what an event of a stream says, of its data; `UNSURE` for whatever is more.
        ends_marked: whether a stream has an end mark; else it ends behind its stop.
        named: whether each event must have a name.
        holes: where in an event of text something stands that tells nothing: numbers that count on,
            and what pads events against eavesdroppers; each as the only group of a match.
    """

    parse_request: Callable[..., Any]
    read: Callable[..., Any]
    asks: Callable[[bytes, str], Asks | None]
    is_whole: Callable[[bytes, bytes], bool]
    event: Callable[[bytes], EventSays]
    ends_marked: bool = True
    named: bool = False
    holes: re.Pattern[bytes] = re.compile(rb'"obfuscation": ?"([a-zA-Z0-9]*)"')


# Each looks ahead or behind from one rare character, which `re` finds much quicker than two.
_has_private_key = re.compile(rb'_(?<="_)').search
_has_escaped_ascii = re.compile(rb"\\(?=u00[4-7])").search
_NOTICE = hints.NOTICE_START.strip().encode()


def is_plain_text(body: bytes) -> bool:
    r"""Whether a request can be read, and nothing in it looks like what repairs take out of rows: a
    key that begins with a low line, or our notice. Neither hides behind an escape.

    >>> is_plain_text(b'{"x": 1}'), is_plain_text(b'{"_x": 1}'), is_plain_text(rb'{"\u005fx": 1}')
    (True, False, False)
    """
    if _has_private_key(body) or _has_escaped_ascii(body) or _NOTICE in body:
        return False
    return is_readable(body)


class ObjectCall(Protocol):
    """A call whose arguments come decoded."""

    name: str
    args: dict[str, Any]


def lack_nothing(
    calls: Sequence[ObjectCall],
    request: bytes,
    declared: Callable[[bytes], Iterable[tuple[object, object]]],
) -> bool:
    """Whether no call lacks a member that a tool of its name requires, which tells that it was cut;
    an empty object counts as sent (T12a).

    Args:
        calls: the calls.
        request: the request that they answer.
        declared: reads the name of each tool from it, and what its schema says is required.
    """
    if not calls:
        return True
    for name, required in declared(request):
        for call in calls:
            if call.name == name and call.args and isinstance(required, list):
                for key in required:
                    if isinstance(key, str) and key not in call.args:
                        return False
    return True


class Event(msgspec.Struct, tag_field="type", kw_only=True):
    """An event of a wire whose events say their type; nothing else of it is looked at than what is
    named here and in its own class.

    Attributes:
        said: what all events of the class say; of a text it is not known before.
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
