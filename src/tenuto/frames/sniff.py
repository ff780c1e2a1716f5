"""How an answer is framed: the one place that says so.

What was asked for says how the caller reads. The bytes say what came: proxies name streams wrongly,
and hand on pages and errors under the name of a stream. The content type is asked only where the
bytes do not tell, or are not there yet.
"""

from __future__ import annotations

import codecs
import json
import re

from tenuto.frames.aws_messages import PRELUDE_BYTES, begins_message
from tenuto.frames.frame import Framing
from tenuto.frames.sse import BOM

_NAMED = {
    "event-stream": Framing.EVENTS,
    "vnd.amazon.eventstream": Framing.MESSAGES,
}
"""By what stands in a content type. `json` names a body and an array alike."""

_OF_AN_API = ("json", *_NAMED)
"""What stands in the content types that answers have."""

_STARTS = {
    b"{": Framing.BODY,
    b"[": Framing.ARRAY,
    b":": Framing.EVENTS,
    b"data:": Framing.EVENTS,
    b"event:": Framing.EVENTS,
    b"id:": Framing.EVENTS,
    b"retry:": Framing.EVENTS,
    b"error:": Framing.EVENTS,
}
"""By what an answer begins with, white space aside."""

_PAGES = (b"<!doctype html", b"<html")
"""The same of pages, whose letters may be large or small."""

_MARKS = (BOM, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""What may stand before it; that of UTF-32 is one of these and zeros, or begins with zeros."""

_has_event_line = re.compile(rb"[\r\n](?:data|event):").search
"""No JSON has such a line; a reader of events leaves out what stands before it."""

_LOOK_BYTES = 4096
"""No more than that is looked at."""


def begins(first: bytes) -> Framing | None:
    r"""The framing that the first bytes of an answer tell of; None where they do not.

    >>> begins(b"\n\n{").value, begins(b"da") is None
    ('body', True)
    """
    if begins_message(first):
        return Framing.MESSAGES
    if _may_begin_message(first):
        return None
    start = _start(first)
    if start[:_LOOK_BYTES].lower().startswith(_PAGES):
        return Framing.PAGE
    if _has_event_line(start, 0, _LOOK_BYTES):
        return Framing.EVENTS
    return next((framing for word, framing in _STARTS.items() if start.startswith(word)), None)


def _start(first: bytes) -> bytes:
    """What an answer begins with, white space and marks of its encoding aside. A document of JSON
    may be in UTF-16 or UTF-32; half a character at the end of what came is none yet."""
    encoding = json.detect_encoding(first)
    if encoding not in ("utf-8", "utf-8-sig"):
        first = first[:_LOOK_BYTES].decode(encoding, "ignore").encode("utf-8", "ignore")
    return first.removeprefix(BOM).lstrip()


def named_by(content_type: str) -> Framing | None:
    """The framing that a content type names; None where it names several or none.

    >>> named_by("Text/Event-Stream; charset=utf-8").value, named_by("application/json")
    ('events', None)
    """
    return next((f for word, f in _NAMED.items() if word in content_type.lower()), None)


def is_of_an_api(content_type: str) -> bool:
    """Whether a content type is one that answers have; who names none says nothing against it."""
    return not content_type or any(word in content_type.lower() for word in _OF_AN_API)


def framing_of(asked: Framing, content_type: str, first: bytes) -> Framing | None:
    r"""The framing of an answer; None: it takes more bytes to tell.

    Args:
        asked: what was asked for. Bytes that begin like nothing that is known are read as that,
            where they are named as something of an API.
        content_type: as it came; "" for none.
        first: the first bytes that came, decoded; b"" while there are none.

    >>> framing_of(Framing.EVENTS, "application/json", b"data: {}\n\n").value
    'events'
    >>> framing_of(Framing.EVENTS, "text/event-stream", b'{"error":{}}').value
    'body'
    >>> framing_of(Framing.EVENTS, "text/plain", b"da") is None
    True
    """
    if not first:
        return None
    told = begins(first)
    if told is Framing.BODY and asked is Framing.LINES:
        # One object is a line as well, but lines are in UTF-8, which a second byte tells.
        if len(first) == 1:
            return None
        return asked if first.lstrip()[:1] == b"{" and b"\0" not in first else told
    if told is None and may_become_more(first):
        return None
    return told or (asked if is_of_an_api(content_type) else Framing.PAGE)


def may_become_more(first: bytes) -> bool:
    """Whether further bytes may tell what these do not."""
    start = _start(first)
    may = any(word.startswith(start) for word in (*_STARTS, *_MARKS))
    if may or any(word.startswith(start.lower()) for word in _PAGES):
        return len(first) < _LOOK_BYTES
    return _may_begin_message(first)


def _may_begin_message(first: bytes) -> bool:
    """Whether it takes more bytes to tell a message. None is so large that its first byte is above
    one."""
    return first[:1] in (b"\0", b"\1") and len(first) < PRELUDE_BYTES
