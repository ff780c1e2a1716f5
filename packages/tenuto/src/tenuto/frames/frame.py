"""`Frame`: one unit of a stream, as the provider framed it; and the known framings."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class FrameTooLarge(Exception):
    """A frame exceeds the limit. Internal to the turn, which reports it as a fault."""


class UnreadableFrame(Exception):
    """Bytes make no frame, and the start of the next one can't be found. Internal to the turn."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One unit of a stream as received. (A struct is made in a fifth of the time of a dataclass.)

    Attributes:
        raw: its bytes, with what ends it. Joined, these are the stream again.
        data: its content, nearly always JSON; None: none (comments, blank lines). For server-sent
            events, the data lines joined by newlines.
        name: the `event:` field of a server-sent event; "error": a message that reports a failed
            stream; else None.
        terminated: False: the stream ended before the frame did.
    """

    raw: bytes
    data: bytes | None
    name: str | None = None
    terminated: bool = True


class Framing(StrEnum):
    """The known framings."""

    BODY = "body"
    """One JSON object, or what is sent in its place."""
    EVENTS = "events"
    """Server-sent events."""
    ARRAY = "array"
    """A JSON array, element by element."""
    LINES = "lines"
    """JSON objects, one per line."""
    MESSAGES = "messages"
    """An AWS event stream."""
    PAGE = "page"
    """An HTML page, or anything else that no API answers with."""


HALF = b"(half)"
"""Data of half a frame at the end of a stream. It isn't JSON, so a reader recognizes it as
incomplete."""

UNREADABLE = b"(unreadable)"
"""Data of a frame for unreadable bytes, which a reader takes for garbage."""


def in_utf8(raw: bytes) -> bytes:
    r"""Return bytes as valid UTF-8: SDKs decode strictly and would raise an exception of no API's.

    >>> in_utf8(b"a\xff").decode()
    'a\ufffd'
    """
    if raw.isascii():
        return raw
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace").encode()
    return raw


def is_done(data: bytes) -> bool:
    """Return whether data is `[DONE]`, OpenAI's end mark, which gateways also add on other wires.
    Some of them write it as JSON."""
    return data.strip() in (b"[DONE]", b'"[DONE]"')
