"""The bytes of what was translated for the pipe, so that what it hands on leaves as it came."""

from __future__ import annotations

from collections import Counter, deque


class Kept:
    """Bytes in the order in which they came, each under the data that the pipe sees of them.

    >>> kept = Kept()
    >>> kept.add(b"1", b"1 "), kept.add(b"2", b" 2"), kept.take(b"2"), kept.take(b"1")
    (None, None, b' 2', None)
    """

    def __init__(self) -> None:
        self._rows: deque[tuple[bytes, bytes]] = deque()
        self._numbers: Counter[bytes] = Counter()

    def add(self, data: bytes, raw: bytes) -> None:
        """Keep the bytes `raw` under `data`."""
        self._rows.append((data, raw))
        self._numbers[data] += 1

    def take(self, data: bytes) -> bytes | None:
        """The bytes that came as this data, None where none did. Those before them were dropped by
        the pipe, which keeps the order."""
        if data not in self._numbers:
            return None
        while True:
            told, raw = self._rows.popleft()
            self._numbers[told] -= 1
            if not self._numbers[told]:
                del self._numbers[told]
            if told == data:
                return raw

    def clear(self) -> None:
        """Forget all: another attempt begins."""
        self._rows.clear()
        self._numbers.clear()
