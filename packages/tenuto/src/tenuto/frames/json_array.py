"""Streams that are one JSON array: split into elements, losing no byte.

Without `alt=sse`, Google's APIs write a stream as the elements of one array, each as soon as it is
ready (https://cloud.google.com/apis/design/design_patterns#streaming).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenuto.frames.codec import SplitCodec, Splitter
from tenuto.frames.frame import HALF, Frame, FrameTooLarge, Framing, in_utf8

_find_brace = re.compile(rb'[{}"]').search
_find_end_of_text = re.compile(rb'[\\"]').search


class ArrayDecoder(Splitter):
    """Incremental decoder of an array of objects. Any chunking gives the same elements (S8).

    Args:
        limit_bytes: the largest element; 0: no limit.

    >>> decoder = ArrayDecoder()
    >>> decoder.feed(b'[{"a": "}"'), decoder.feed(b'}\\n,\\n{}]'), decoder.pending
    ([], [b'[{"a": "}"}', b'\\n,\\n{}'], b']')
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        super().__init__(limit_bytes)
        self._at = 0
        self._depth = 0
        self._in_text = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the elements that these bytes complete, each with what comes before it.

        Raises:
            FrameTooLarge: an element exceeds the limit."""
        self._pending += data
        elements: list[bytes] = []
        while (end := self._end_of_element()) is not None:
            elements.append(bytes(self._pending[:end]))
            del self._pending[:end]
            self._at = 0
        if not elements and 0 < self._limit_bytes < len(self._pending):  # else they would be lost
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
                if self._at == len(self._pending):  # the escaped character is still to come
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


class ArrayCodec(SplitCodec[ArrayDecoder]):
    """Decodes and encodes elements of a JSON array. A frame begins with what comes before its
    element: `[` or a comma. A whole answer that is no array is read as its only element.

    Args:
        bare: whether the stream is no array, so that it may end without a bracket.

    Attributes:
        closing: the bytes after the last element, if they end the array.

    >>> codec = ArrayCodec()
    >>> [frame.data for frame in codec.decode(b'[{"a":1}\\n,\\n{}')], codec.encode(b"{}")
    ([b'{"a":1}', b'{}'], b',\\r\\n{}')
    >>> codec.decode(b"\\n]"), codec.flush(), codec.closing
    ([], [], b'\\n]')
    """

    framing = Framing.ARRAY
    has_templates = True

    def __init__(self, limit_bytes: int = 0, *, as_came: bool = False, bare: bool = False) -> None:
        super().__init__(limit_bytes, as_came=as_came)
        self.decoder: ArrayDecoder = ArrayDecoder(limit_bytes)
        self._ends = (b"", b"]") if bare else (b"]",)
        self._first = True
        self.closing: bytes = b""

    def split(self, data: bytes) -> Iterator[Frame]:
        return map(self._frame, self.decoder.feed(data))

    def _frame(self, element: bytes) -> Frame:
        at = element.index(b"{")
        data = element[at:]
        if not self.as_came:
            parting = b"[" if self._first else b","
            if parting not in element[:at]:
                element = (b"[" if self._first else _PARTING) + data
            if not data.isascii() and (readable := in_utf8(data)) is not data:
                element = element[: -len(data)] + readable
        self._first = False
        return Frame(element, data)

    def flush(self) -> list[Frame]:
        rest = b"" if self._over else self.decoder.pending
        self.decoder = ArrayDecoder()
        if self.as_came:
            return [Frame(rest, None, None, False)] if rest else []
        if rest.strip() == b"]":
            self.closing = rest
        return [] if rest.strip() in self._ends else [Frame(b"", HALF, None, False)]

    def encode(self, data: bytes, name: str | None = None) -> bytes:
        return _PARTING + data if data else b""

    def kept(self, raw: bytes) -> Frame:
        return Frame(raw, raw[raw.index(b"{") :])


_PARTING = b",\r\n"


def begun(elements: bytes, *, first: bool) -> bytes:
    """Return elements as they follow others, or as the first of their array.

    >>> begun(b",\\r\\n{}", first=True), begun(b"\\n,\\n{}", first=False)
    (b'[{}', b'\\n,\\n{}')
    """
    begins = elements.partition(b"{")[0]
    if (b"[" if first else b",") in begins:
        return elements
    return (b"[" if first else _PARTING) + elements[len(begins) :]
