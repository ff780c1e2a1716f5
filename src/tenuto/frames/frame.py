"""A frame: one unit of a stream, as the provider framed it; and the framings that there are."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class FrameTooLarge(Exception):
    """A frame passed the limit; internal to the turn, which turns it into a fault."""


class UnreadableFrame(Exception):
    """Bytes are no frame, and nothing says where the next one begins; internal to the turn."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One unit of a stream as it came. (A struct is made in a fifth of the time of a dataclass.)

    Attributes:
        raw: its bytes, what ends it included: joined, they are the stream again.
        data: what it carries, nearly always JSON; None where it carries nothing (comments, blank
            lines). Of server-sent events: the data lines joined by a newline.
        name: the `event:` field of a server-sent event; "error" for a message that says that the
            stream failed; else None.
        terminated: False for what the end of the stream left over.
    """

    raw: bytes
    data: bytes | None
    name: str | None = None
    terminated: bool = True


class Framing(StrEnum):
    """The framings that are known."""

    BODY = "body"
    """One object of JSON, or what stands in its place."""
    EVENTS = "events"
    """Server-sent events."""
    ARRAY = "array"
    """An array of JSON, element by element."""
    LINES = "lines"
    """Objects of JSON, one a line."""
    MESSAGES = "messages"
    """An AWS event stream."""
    PAGE = "page"
    """A page of HTML, or what else no API answers with."""


HALF = b"(half)"
"""Data of a frame that stands for half of one, with which a stream ended: no JSON, so that a reader
knows it for half of something."""

UNREADABLE = b"(unreadable)"
"""Data of a frame that stands for bytes which are none: a reader takes it for garbage."""


def in_utf8(raw: bytes) -> bytes:
    r"""Return bytes that are UTF-8: SDKs decode strictly and would raise an exception of no API's.

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
    """Whether data is `[DONE]`: OpenAI's end mark, which gateways write where nobody reads it."""
    return data.strip() == b"[DONE]"
