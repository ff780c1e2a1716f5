"""Bytes that are packed, or that are text in another encoding than UTF-8, as files are stored."""

from __future__ import annotations

import codecs
import zlib

from tenuto.detection.replies import BrokeOff, Unread

MOST_BYTES = 64 * 2**20
"""So many bytes are unpacked at most: a few packed ones may hold any number."""

_GZIP = b"\x1f\x8b"
_MARK = b"\x1e"
"""No JSON text has this character in it."""

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # which begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, each with the encoding that it shows."""


def as_utf8(data: bytes) -> bytes | Unread | BrokeOff:
    """Return bytes that gzip or zlib packed, or that are UTF-16 or UTF-32 with a byte order mark,
    as UTF-8; `Unread` if they hold more than `MOST_BYTES`. A sequence of JSON texts loses its
    marks. Any other bytes are returned as they are. Packed bytes that were cut are unpacked as far
    as they go; `BrokeOff` if that is nowhere.

    >>> as_utf8("{}".encode("utf-16")), as_utf8(zlib.compress(b"{}")), as_utf8(b"xy")
    (b'{}', b'{}', b'xy')
    """
    if data.startswith(_GZIP) or _may_be_zlib(data):
        try:
            whole = unpacked(data, MOST_BYTES)
        except zlib.error:
            return data
        except EOFError:
            return BrokeOff()
        if len(whole) > MOST_BYTES:
            return Unread()
        data = whole
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    return without_marks(data if encoding is None else data.decode(encoding, "replace").encode())


def without_marks(data: bytes) -> bytes:
    """Return a sequence of JSON texts as lines, without the mark before each (RFC 7464). Any other
    bytes are returned as they are.

    >>> without_marks(b"\\x1e{}\\n\\x1e[]\\n")
    b'{}\\n[]\\n'
    """
    return data.replace(_MARK, b"") if data.startswith(_MARK) else data


def _may_be_zlib(data: bytes) -> bool:
    """Return whether bytes begin with the two of zlib (RFC 1950, 2.2). "x^" is text, too."""
    return data[:1] == b"x" and int.from_bytes(data[:2], "big") % 31 == 0


def unpacked(data: bytes, most_bytes: int) -> bytes:
    """Return what all members of a packed file hold, as far as they go, and at most one byte more
    than the limit.

    Raises:
        zlib.error: the bytes aren't packed.
        EOFError: they broke off before any of what they hold."""
    whole = b""
    while data and len(whole) <= most_bytes:
        unpacker = zlib.decompressobj(32 + zlib.MAX_WBITS)  # gzip or zlib, as the header says
        try:
            whole += unpacker.decompress(data, most_bytes + 1 - len(whole))
        except zlib.error:
            if not whole:
                raise
            break  # something else behind a whole member
        if not (whole or unpacker.eof):
            raise EOFError
        data = unpacker.unused_data
    return whole
