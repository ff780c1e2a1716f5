"""Server-sent events: bytes in, events out, no byte lost.

https://html.spec.whatwg.org/multipage/server-sent-events.html (read 2026-11-21). Beyond it: an event
that the end of the stream leaves unterminated is handed out too, since providers and proxies end
streams without the last blank line, and a cut must not look like a clean end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r)(?:\r\n|\n|\r)")
_LINES = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class EventTooLarge(Exception):
    """An event passed the limit; internal to the relay, which turns it into a fault."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event as it came.

    Attributes:
        raw: its bytes, the blank line that ends it included: joined, they are the stream again.
        data: the data lines joined by a newline; None where it has none (comments, blank lines).
        name: the `event:` field, or None.
        terminated: False for what the end of the stream left over.
    """

    raw: bytes
    data: bytes | None
    name: str | None = None
    terminated: bool = True


class SseDecoder:
    """Incremental decoder; feeding any chunking gives the same events (S8).

    Args:
        limit_bytes: the largest event; 0: no limit.

    Raises (from `feed`):
        EventTooLarge: an event passed the limit.

    >>> decoder = SseDecoder()
    >>> [event.data for event in decoder.feed(b"data: a\\n\\ndata: b")]
    [b'a']
    >>> [(event.data, event.terminated) for event in decoder.flush()]
    [(b'b', False)]
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        self._limit_bytes = limit_bytes
        self._pending = b""
        self._searched = 0
        self._first = True

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that this chunk completes, often none or one."""
        pending = self._pending + chunk if self._pending else chunk
        events: list[SseEvent] = []
        start = 0
        search = self._searched
        while (found := _BLANK_LINE.search(pending, search)) is not None:
            events.append(self._event(pending[start : found.end()], True))
            start = search = found.end()
        self._pending = pending[start:] if start else pending
        # A blank line may straddle chunks by up to three bytes: look at those again.
        self._searched = max(0, len(self._pending) - 3)
        if self._limit_bytes and len(self._pending) > self._limit_bytes:
            raise EventTooLarge(f"an event of the stream is larger than {self._limit_bytes} bytes")
        return events

    def flush(self) -> list[SseEvent]:
        """What the end of the stream left over: one unterminated event, or none."""
        raw, self._pending, self._searched = self._pending, b"", 0
        return [self._event(raw, False)] if raw else []

    def _event(self, raw: bytes, terminated: bool) -> SseEvent:
        # The form that nearly every provider sends, without a split.
        if raw.startswith(b"data: ") and raw.endswith(b"\n\n") and raw.find(b"\n") == len(raw) - 2:
            if b"\r" not in raw:
                self._first = False
                return SseEvent(raw, raw[6:-2])
        body = raw.removeprefix(_BOM) if self._first else raw
        self._first = False
        data: list[bytes] = []
        name: str | None = None
        for line in _LINES.split(body):
            key, colon, value = line.partition(b":")
            if not key:  # a blank line, or a comment
                continue
            value = value[1:] if value.startswith(b" ") else value
            if key == b"data":
                data.append(value)
            elif key == b"event":
                name = value.decode("utf-8", "replace")
        return SseEvent(raw, b"\n".join(data) if data else None, name, terminated)
