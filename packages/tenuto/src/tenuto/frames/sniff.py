"""Detect the framing of an answer. No other module does.

The request determines how the caller reads, but the bytes show what arrived: proxies declare
streams with the wrong type, and pass pages and errors on as streams. The content type counts only
if the bytes don't show the framing, or haven't arrived yet.
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
"""Framings by words in a content type. `json` stands for a body or an array."""

_OF_AN_API = ("json", *_NAMED)
"""Words in the content types of API answers."""

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
"""Framings by the beginning of an answer, after white space."""

_PAGES = (b"<!doctype html", b"<html")
"""The same for pages, in any case."""

_MARKS = (BOM, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks. That of UTF-32 is one of these and zeros, or begins with zeros."""

_has_event_line = re.compile(rb"[\r\n](?:data|event):").search
"""Matches a line that is never JSON. Readers of events skip what comes before it."""

_LOOK_BYTES = 4096
"""The largest number of bytes examined."""


def begins(first: bytes) -> Framing | None:
    r"""Return the framing that the first bytes of an answer show; None: they don't show it.

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
    """Return the beginning of an answer, without white space and byte order marks. JSON may be in
    UTF-16 or UTF-32; half a character at the end is left out."""
    encoding = json.detect_encoding(first)
    if encoding not in ("utf-8", "utf-8-sig"):
        first = first[:_LOOK_BYTES].decode(encoding, "ignore").encode("utf-8", "ignore")
    return first.removeprefix(BOM).lstrip()


def named_by(content_type: str) -> Framing | None:
    """Return the framing that a content type names; None: it names several or none.

    >>> named_by("Text/Event-Stream; charset=utf-8").value, named_by("application/json")
    ('events', None)
    """
    return next((f for word, f in _NAMED.items() if word in content_type.lower()), None)


def is_of_an_api(content_type: str) -> bool:
    """Return whether a content type is that of an API answer. A missing one is accepted."""
    return not content_type or any(word in content_type.lower() for word in _OF_AN_API)


def framing_of(asked: Framing, content_type: str, first: bytes) -> Framing | None:
    r"""Return the framing of an answer; None: more bytes are needed.

    Args:
        asked: the framing that was requested. Bytes with an unknown beginning are read as this, if
            their content type is that of an API.
        content_type: as received; "": none.
        first: the first bytes received, decoded; b"": none yet.

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
        # One object is a line too, but lines are in UTF-8, which a second byte shows.
        if len(first) == 1:
            return None
        return asked if first.lstrip()[:1] == b"{" and b"\0" not in first else told
    if told is None and may_become_more(first):
        return None
    return told or (asked if is_of_an_api(content_type) else Framing.PAGE)


def may_become_more(first: bytes) -> bool:
    """Return whether further bytes may decide what these don't."""
    start = _start(first)
    may = any(word.startswith(start) for word in (*_STARTS, *_MARKS))
    if may or any(word.startswith(start.lower()) for word in _PAGES):
        return len(first) < _LOOK_BYTES
    return _may_begin_message(first)


def _may_begin_message(first: bytes) -> bool:
    """Return whether these may be the first bytes of a message. None is so large that its first
    byte exceeds one."""
    return first[:1] in (b"\0", b"\1") and len(first) < PRELUDE_BYTES
