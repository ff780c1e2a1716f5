"""Streams that are one array of JSON: bytes in, elements out, no byte lost.

Without `alt=sse` Google's APIs write a stream as the elements of one array, each as soon as it is
there (https://cloud.google.com/apis/design/design_patterns#streaming).
"""

from __future__ import annotations

import re

from tenuto.frames.frame import FrameTooLarge

_find_brace = re.compile(rb'[{}"]').search
_find_end_of_text = re.compile(rb'[\\"]').search


class ArrayDecoder:
    """Incremental decoder of an array of objects; any chunking gives the same elements (S8).

    Args:
        limit_bytes: the largest element; 0: no limit.

    >>> decoder = ArrayDecoder()
    >>> decoder.feed(b'[{"a": "}"'), decoder.feed(b'}\\n,\\n{}]'), decoder.rest
    ([], [b'[{"a": "}"}', b'\\n,\\n{}'], b']')
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()
        self._at = 0
        self._depth = 0
        self._in_text = False

    @property
    def rest(self) -> bytes:
        """What is no element yet: at the end, the closing bracket."""
        return bytes(self._pending)

    def feed(self, data: bytes) -> list[bytes]:
        """The elements that these bytes complete, each with what stands before it.

        Raises:
            FrameTooLarge: an element passed the limit."""
        self._pending += data
        elements: list[bytes] = []
        while (end := self._end_of_element()) is not None:
            elements.append(bytes(self._pending[:end]))
            del self._pending[:end]
            self._at = 0
        if 0 < self._limit_bytes < len(self._pending):
            raise FrameTooLarge(f"an element is larger than event_max_bytes ({self._limit_bytes})")
        return elements

    def _end_of_element(self) -> int | None:
        while self._at < len(self._pending):
            find = _find_end_of_text if self._in_text else _find_brace
            found = find(self._pending, self._at)
            if found is None:
                self._at = len(self._pending)
                break
            mark, self._at = found[0], found.end()
            if mark == b"\\":
                if self._at == len(self._pending):  # the escaped one is still to come
                    self._at = found.start()
                    break
                self._at += 1
            elif mark == b'"':
                self._in_text = not self._in_text
            else:
                self._depth += 1 if mark == b"{" else -1
                if self._depth == 0:
                    return self._at
        return None
