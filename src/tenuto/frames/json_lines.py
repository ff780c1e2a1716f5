r"""Objects of JSON, one a line: bytes in, lines out, no byte lost.

https://github.com/ndjson/ndjson-spec (read 2026-11-22). Beyond it: an answer whose first line is no
object by itself is one document, however many lines it has; a mark of the encoding before a line
is none of it.
"""

from __future__ import annotations

from tenuto.frames.frame import Frame, FrameTooLarge
from tenuto.frames.sse import BOM


class LineDecoder:
    r"""Incremental decoder; feeding any chunking gives the same lines (S8). A line is told as an
    event: its bytes, and its data, None where it is blank.

    Args:
        limit_bytes: the largest line; 0: no limit.

    Raises (from `feed`):
        FrameTooLarge: a line passed the limit.

    >>> decoder = LineDecoder()
    >>> [line.data for line in decoder.feed(b'{"a":1}\n{"b"')]
    [b'{"a":1}']
    >>> [(line.data, line.terminated) for line in decoder.flush()]
    [(b'{"b"', False)]
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()
        self._searched = 0
        self._first = True
        self._one_document = False

    @property
    def idle(self) -> bool:
        """Whether no part of a line is held: what comes next begins one."""
        return not self._pending

    def feed(self, chunk: bytes) -> list[Frame]:
        """The lines that this chunk completes, often none or one."""
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
        if 0 < self._limit_bytes < len(self._pending):
            raise FrameTooLarge(f"a line is larger than event_max_bytes ({self._limit_bytes})")
        return lines

    def flush(self) -> list[Frame]:
        """What the end left over: at most one line."""
        rest, self._pending = bytes(self._pending), bytearray()
        self._searched = 0
        return [_line(rest, False)] if rest else []


def _line(raw: bytes, terminated: bool) -> Frame:
    return Frame(raw, raw.removeprefix(BOM).strip() or None, terminated=terminated)
