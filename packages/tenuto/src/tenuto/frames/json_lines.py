r"""JSON objects, one per line: split into lines, losing no byte.

https://github.com/ndjson/ndjson-spec (read 2026-11-22). Beyond the specification: an answer whose
first line is no complete object is one document, however many lines it has, and a byte order mark
before a line is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenuto.frames.codec import SplitCodec, Splitter
from tenuto.frames.frame import Frame, FrameTooLarge, Framing, in_utf8, is_done
from tenuto.frames.sse import BOM


class LineDecoder(Splitter):
    r"""Incremental decoder. Any chunking gives the same lines (S8). A line is returned as a frame:
    its bytes, and its data, which is None if it is blank.

    Args:
        limit_bytes: the largest line; 0: no limit.

    Raises (from `feed`):
        FrameTooLarge: a line exceeds the limit.

    >>> decoder = LineDecoder()
    >>> [line.data for line in decoder.feed(b'{"a":1}\n{"b"')]
    [b'{"a":1}']
    >>> [(line.data, line.terminated) for line in decoder.flush()]
    [(b'{"b"', False)]
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        super().__init__(limit_bytes)
        self._searched = 0
        self._first = True
        self._one_document = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the lines that this chunk completes, often none or one."""
        self._pending += chunk
        lines: list[Frame] = []
        while not self._one_document:
            end = self._pending.find(b"\n", self._searched) + 1
            if not end:
                self._searched = len(self._pending)
                break
            line = _line(bytes(self._pending[:end]), True)
            if self._first and line.data is not None:
                self._first = False
                if not line.data.endswith(b"}"):
                    self._one_document = True
                    break
            lines.append(line)
            del self._pending[:end]
            self._searched = 0
        if not lines and 0 < self._limit_bytes < len(self._pending):  # else lines would be lost
            raise FrameTooLarge(f"a line is larger than event_max_bytes ({self._limit_bytes})")
        return lines

    def flush(self) -> list[Frame]:
        """Return what remains at the end: at most one line."""
        rest, self._pending = bytes(self._pending), bytearray()
        self._searched = 0
        return [_line(rest, False)] if rest else []


def _line(raw: bytes, terminated: bool) -> Frame:
    return Frame(raw, raw.removeprefix(BOM).strip() or None, terminated=terminated)


class LineCodec(SplitCodec[LineDecoder]):
    r"""Decodes and encodes lines of JSON.

    The SDKs decode every line (`iter_lines` in `ollama/_client.py` of ollama-python 0.6.3), so only
    objects are passed on. Their lines end where Python's `splitlines` ends them, so other line ends
    within a text are written as escapes.

    >>> codec = LineCodec()
    >>> [frame.raw for frame in codec.decode(b'\xef\xbb\xbf{"a":1}\n\n')], codec.encode(b"{}")
    ([b'{"a":1}\n'], b'{}\n')
    """

    framing = Framing.LINES

    def __init__(self, limit_bytes: int = 0, *, as_came: bool = False) -> None:
        super().__init__(limit_bytes, as_came=as_came)
        self.decoder: LineDecoder = LineDecoder(limit_bytes)
        self._blank = b""  # blank lines wait for one with data

    def pending(self) -> bytes:
        return self._blank + self.decoder.pending

    def split(self, data: bytes) -> Iterator[Frame]:
        return self._lines(self.decoder.feed(data))

    def flush(self) -> list[Frame]:
        if self._over:  # `decode` has passed on all of it
            return []
        lines = list(self._lines(self.decoder.flush()))
        blank, self._blank = self._blank, b""
        return [*lines, Frame(blank, None, None, False)] if blank else lines

    def _lines(self, lines: list[Frame]) -> Iterator[Frame]:
        for line in lines:
            if not self.as_came:
                if line.data is not None:
                    yield _repaired(line, line.data)
            elif line.data is None:
                self._blank += line.raw
            else:
                blank, self._blank = self._blank, b""
                yield Frame(blank + line.raw, line.data, None, line.terminated)

    def encode(self, data: bytes, name: str | None = None) -> bytes:
        return b"" if is_done(data) else _whole_line(data)

    def kept(self, raw: bytes) -> Frame:
        return _line(raw, True)


def _repaired(line: Frame, data: bytes) -> Frame:
    raw = in_utf8(line.raw).removeprefix(BOM)
    # The caller reads a document of many lines as one line.
    raw = _whole_line(data) if b"\n" in data else _whole_line(raw.removesuffix(b"\n"))
    return Frame(raw, data, None, line.terminated)


def _whole_line(data: bytes) -> bytes:
    """Return JSON as one line for all readers."""
    line = data.replace(b"\n", b" ") + b"\n"
    if not line.isascii():
        for end, escape in _ENDS_A_LINE.items():
            line = line.replace(end, escape)
    return line


_ENDS_A_LINE = {end.encode(): b"\\u%04x" % ord(end) for end in "\x85\u2028\u2029"}
"""Characters that JSON allows in a text, but that readers of lines take for a line end."""
