"""Bytes that come in pieces and are wanted as a whole."""

from __future__ import annotations


class Pieces:
    """Joins pieces as they come. A list of them would keep an object for each: pieces of two bytes
    take twenty times their size in one.

    >>> pieces = Pieces()
    >>> pieces.add(b"ab"), pieces.add(b"c"), pieces.whole, pieces.size
    (None, None, b'abc', 3)
    """

    __slots__ = ("_joined", "_only")

    def __init__(self) -> None:
        self._only = b""
        self._joined: bytearray | None = None

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        if self._joined is not None:
            self._joined += piece
        elif not self._only:
            self._only = piece
        elif piece:
            self._joined = bytearray(self._only)
            self._joined += piece

    @property
    def size(self) -> int:
        """Bytes so far."""
        return len(self._only if self._joined is None else self._joined)

    @property
    def whole(self) -> bytes:
        """All of them; a single piece is given back as the object that it was."""
        return self._only if self._joined is None else bytes(self._joined)
