"""Server-sent events: split into events, losing no byte.

https://html.spec.whatwg.org/multipage/server-sent-events.html (read 2026-11-21). Beyond the
specification, an unterminated event at the end of the stream is returned too, since providers and
proxies end streams without the last blank line, and a cut must not look like a clean end. And a
line `error: {…}` is read as the data of an event named `error`: older llama.cpp servers, and those
built on them, report errors in a stream this way (`server_sent_event(sink, "error", …)` in
https://github.com/ggml-org/llama.cpp/blob/b4500/examples/server/utils.hpp).
"""

from __future__ import annotations

import re

from tenuto.frames.frame import Frame, FrameTooLarge

# A line end and one more; "\r\n" is one line end, not two.
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)")
_LINES = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"
_CR = 0x0D


class SseDecoder:
    """Incremental decoder. Any chunking gives the same events (S8).

    Args:
        limit_bytes: the largest event; 0: no limit.

    Raises (from `feed`):
        FrameTooLarge: an event exceeds the limit.

    >>> decoder = SseDecoder()
    >>> [event.data for event in decoder.feed(b"data: a\\n\\ndata: b")]
    [b'a']
    >>> [(event.data, event.terminated) for event in decoder.flush()]
    [(b'b', False)]
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()
        self._searched = 0
        self._first = True
        self._too_large = False

    @property
    def idle(self) -> bool:
        """Whether no part of an event is held, so that the next byte begins one."""
        return not self._pending

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the events that this chunk completes, often none or one."""
        if self._too_large:
            self._check()
        if not self._pending:
            # Nearly every provider sends one event per piece.
            if chunk[-1:] == b"\n" and not 0 < self._limit_bytes < len(chunk):
                event = _plain_event(chunk, True)
                if event is not None:
                    self._first = False
                    return [event]
            return self._split(chunk, False)
        self._pending += chunk  # in place: a long event in small chunks stays linear
        return self._split(self._pending, False)

    def flush(self) -> list[Frame]:
        """Return what remains at the end of the stream: at most one unterminated event."""
        self._check()
        events = self._split(self._pending, True)
        if self._pending:
            events.append(self._event(bytes(self._pending), False))
        self._pending, self._searched = bytearray(), 0
        return events

    def rest(self) -> bytes:
        """Return the rest of the stream as received, however large, for readers that stop early."""
        rest, self._pending, self._searched = bytes(self._pending), bytearray(), 0
        return rest

    def _check(self) -> None:
        if self._too_large:
            raise FrameTooLarge(
                f"an event of the stream is larger than event_max_bytes ({self._limit_bytes})"
            )

    def _split(self, buffer: bytes | bytearray, over: bool) -> list[Frame]:
        if not over and not 0 < self._limit_bytes < len(buffer):
            line_end = _line_end(buffer, self._searched)
            if line_end:
                return self._plainly_split(bytes(buffer), line_end)
        events: list[Frame] = []
        start, search, size = 0, self._searched, len(buffer)
        while (found := _BLANK_LINE.search(buffer, search)) is not None:
            end = found.end()
            if end == size and not over and buffer[end - 1] == _CR:
                break  # the next byte may belong to the same line end
            if 0 < self._limit_bytes < end - start:
                break
            events.append(self._event(bytes(buffer[start:end]), True))
            start = search = end
        if buffer is self._pending:
            del self._pending[:start]
        elif start < size:
            self._pending = bytearray(buffer[start:])
        # A blank line may straddle chunks by up to three bytes, so search those again.
        self._searched = max(0, len(self._pending) - 3)
        self._too_large = 0 < self._limit_bytes < len(self._pending)
        if not events:
            self._check()  # otherwise the events before it come first
        return events

    def _plainly_split(self, buffer: bytes, line_end: bytes) -> list[Frame]:
        """`_split` for streams whose lines all end alike, and whose events can't be too large."""
        events: list[Frame] = []
        blank_line, size = line_end * 2, len(line_end) * 2
        first = line_end[:1]  # a single byte is found in half the time
        start, find, has = 0, buffer.find, buffer.startswith
        while (at := find(first, start)) >= 0:
            if has(b"data: ", start) and has(blank_line, at):
                end = at + size
                events.append(Frame(buffer[start:end], buffer[start + 6 : at]))
                self._first = False
            else:
                end = find(blank_line, at) + size
                if end < size:
                    break
                events.append(self._event(buffer[start:end], True))
            start = end
        self._pending = bytearray(buffer[start:])
        self._searched = max(0, len(self._pending) - 3)
        return events

    def _event(self, raw: bytes, terminated: bool) -> Frame:
        event = _plain_event(raw, terminated)
        if event is not None:
            self._first = False
            return event
        body = raw.removeprefix(BOM) if self._first else raw
        self._first = False
        data: list[bytes] = []
        name: str | None = None
        for line in _LINES.split(body):
            key, _, value = line.partition(b":")
            if not key:  # a blank line, or a comment
                continue
            value = value[1:] if value.startswith(b" ") else value
            if key == b"data":
                data.append(value)
            elif key == b"event":
                name = value.decode("utf-8", "replace")
            elif key == b"error":
                data.append(value)
                name = "error"
        return Frame(raw, b"\n".join(data) if data else None, name, terminated)


def _line_end(buffer: bytes | bytearray, search: int) -> bytes:
    """Return the line end if all are the same; b"": they differ, or no event ends."""
    if buffer.find(b"\r", search) < 0:
        ends = buffer.find(b"\n\n", search) >= 0
        return b"\n" if ends and b"\r" not in buffer else b""
    if buffer.find(b"\r\n\r\n", search) < 0:
        return b""
    alike = buffer.count(b"\r") == buffer.count(b"\n") == buffer.count(b"\r\n")
    return b"\r\n" if alike else b""


def _plain_event(raw: bytes, terminated: bool) -> Frame | None:
    """Return an event of one `data:` line, with an optional `event:` line before it, without
    splitting: nearly every provider sends one of these forms. None: it has another form."""
    if raw[:6] == b"data: ":
        line_end = raw.find(b"\n") - len(raw)
        if line_end == -2:
            return None if b"\r" in raw else Frame(raw, raw[6:-2], None, terminated)
        if line_end == -3 and raw[-4:] == b"\r\n\r\n" and raw.find(b"\r") == len(raw) - 4:
            return Frame(raw, raw[6:-4], None, terminated)
    elif raw[:7] == b"event: " and b"\r" not in raw:
        at = raw.find(b"\n")
        if raw.startswith(b"\ndata: ", at) and raw.find(b"\n", at + 7) == len(raw) - 2:
            return Frame(raw, raw[at + 7 : -2], str(raw[7:at], "utf-8", "replace"), terminated)
    return None
