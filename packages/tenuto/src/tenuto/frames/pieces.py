"""Join bytes that arrive in pieces."""

from __future__ import annotations


class Pieces:
    """Joins pieces as they arrive. A list of them would keep an object for each: pieces of two
    bytes would take twenty times their size.

    >>> pieces = Pieces()
    >>> pieces.add(b"ab"), pieces.add(b"c"), pieces.whole, pieces.size
    (None, None, b'abc', 3)
    """

    __slots__ = ("_joined", "_only")

    def __init__(self) -> None:
        self._only = b""
        self._joined: bytearray | None = None

    def add(self, piece: bytes) -> None:
        """Add the next piece."""
        if self._joined is not None:
            self._joined += piece
        elif not self._only:
            self._only = piece
        elif piece:
            self._joined = bytearray(self._only)
            self._joined += piece

    @property
    def size(self) -> int:
        """The number of bytes so far."""
        return len(self._only if self._joined is None else self._joined)

    @property
    def whole(self) -> bytes:
        """Return all bytes. A single piece is returned as the same object."""
        return self._only if self._joined is None else bytes(self._joined)
