"""The short path of a wire: readings by which a healthy turn needs no machine.

Theory of operation
-------------------
Nearly every turn needs nothing: its request leaves as it came, and its answer is whole. Two typed
readings show it. They say yes only where the machine would do nothing but hand on the bytes; in
doubt they say no, and the machine looks at the same bytes. So a wrong no costs time and a wrong yes
would cost an answer: `fuzz/short.py` looks for one.

What is not looked at is skipped by msgspec, which holds it to the grammar of JSON all the same. Two
things pass it: bytes that are no UTF-8, for which each reading looks itself, and numbers that no
double holds, which nobody reads where they are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import msgspec

from tenuto.core import hints
from tenuto.wire.json import is_utf8


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


class Kind(Enum):
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


Said = tuple[Kind, str]
"""What an event says, and its text, "" for none."""

UNSURE: Said = (Kind.UNSURE, "")

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What typed readings raise."""

Named = Annotated[str, msgspec.Meta(min_length=1)]
"""An id or a name that is there."""

NOTICE_START = hints.NOTICE_START
"""Where this stands in a row of the model's, our notice may have to be taken out."""

NULL = msgspec.Raw(b"null")
"""What a member is that is not there, where its bytes are kept."""

read_text = msgspec.json.Decoder(str).decode
"""Reads a JSON string; raises `UNREADABLE` for all else."""

read_object = msgspec.json.Decoder(dict[str, Any]).decode
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
    event: Callable[[bytes], Said]
    ends_marked: bool = True
    named: bool = False
    holes: re.Pattern[bytes] = re.compile(rb'"obfuscation": ?"([a-zA-Z0-9]*)"')


def is_plain_text(body: bytes) -> bool:
    r"""Whether a request is UTF-8, and no key of it begins with a low line, which repairs take out
    of rows.

    >>> is_plain_text(b'{"x": 1}'), is_plain_text(b'{"_x": 1}'), is_plain_text(rb'{"\u005fx": 1}')
    (True, False, False)
    """
    if b'"_' in body or b"\\u005" in body:
        return False
    return body.isascii() or is_utf8(body)


def lacks_required(given: dict[str, Any], required: object) -> bool:
    """Whether arguments that came decoded lack a member that their tool requires, which tells that
    they were cut; an empty object counts as sent (T12a).

    >>> lacks_required({"a": 1}, ["a", "b"]), lacks_required({}, ["a"]), lacks_required({"a": 1}, 3)
    (True, False, False)
    """
    if not given or not isinstance(required, list):
        return False
    return any(isinstance(key, str) and key not in given for key in required)


def are_different(ids: Iterable[str]) -> bool:
    """Whether no id is there twice.

    >>> are_different(["a", "b"]), are_different(["a", "a"])
    (True, False)
    """
    listed = list(ids)
    return len(set(listed)) == len(listed)
