"""Open a file of text as UTF-8, whatever its encoding: spreadsheets and PowerShell write UTF-16."""

from __future__ import annotations

import io
from typing import IO, Any, Final, cast

from tenuto.judging.stores import GZIP, ZSTD, open_bytes, open_unpacked

_MARK_BYTES: Final = 16
_PIECE_CHARS: Final = 65_536


def open_text(path: str) -> IO[bytes]:
    """Open a file, unpack it, and turn its text into UTF-8.

    Raises:
        OSError: it cannot be read.
    """
    file: Any = open_unpacked(path)
    if not hasattr(file, "peek"):
        file = io.BufferedReader(file)
    encoding = encoding_of(file.peek(_MARK_BYTES)[:_MARK_BYTES])
    return cast("IO[bytes]", io.BufferedReader(_AsUtf8(file, encoding)) if encoding else file)


def is_plain(path: str) -> bool:
    """Return whether the bytes of a file are those of its text, so that it can be read in ranges.

    Raises:
        OSError: it cannot be read.
    """
    with open_bytes(path) as file:
        head = file.read(_MARK_BYTES)
    return not head.startswith((GZIP, ZSTD)) and not encoding_of(head)


class _AsUtf8(io.RawIOBase):
    """The bytes of a text in UTF-8."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding, errors="replace", newline="")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left:
            self._left = self._text.read(_PIECE_CHARS).encode("utf-8", "replace")
        view = memoryview(buffer)
        size = min(len(view), len(self._left))
        view[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        self._text.close()
        super().close()


def encoding_of(head: bytes) -> str:
    """Return the encoding of a text that is not UTF-8, by how it begins; "": it may be UTF-8.

    >>> encoding_of(b"\\xff\\xfe{\\0"), encoding_of(b'{\\0"\\0a\\0"\\0'), encoding_of(b'{"a"')
    ('utf-16', 'utf-16-le', '')
    """
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    first, second = head[0:16:2], head[1:16:2]  # of two-byte characters that are all of ASCII
    if len(second) >= _LEAST_CHARS and not any(second) and all(first):
        return "utf-16-le"
    return "utf-16-be" if len(second) >= _LEAST_CHARS and not any(first) and all(second) else ""


_LEAST_CHARS: Final = 4
