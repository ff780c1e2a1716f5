"""`Codec`: decodes and encodes one framing of a stream.

Theory of operation
-------------------
A codec reads one stream, however it is chunked, and returns frames. A frame that nothing changes
leaves as its `raw`, so the codec repairs `raw` where readers of the framing would fail: bytes that
aren't UTF-8, a byte order mark, a last frame without its end, an event without its name. `encode`
makes Tenuto's own frames, and keeps no state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from tenuto.frames.frame import (
    UNREADABLE,
    Frame,
    FrameTooLarge,
    Framing,
    UnreadableFrame,
    in_utf8,
)
from tenuto.frames.sse import SseDecoder


class Codec(ABC):
    """Decodes and encodes the frames of one framing.

    Args:
        limit_bytes: the largest frame; 0: no limit.
        as_came: whether every byte must leave as received, without repairs.

    Attributes:
        framing: the framing.
        has_templates: whether a piece that matches a template may be passed on without decoding.
        failed: why the rest of the stream is unreadable; None: it is readable.
    """

    framing: Framing
    has_templates = False

    def __init__(self, limit_bytes: int = 0, *, as_came: bool = False) -> None:
        self.limit_bytes = limit_bytes
        self.as_came = as_came
        self.failed: Exception | None = None

    @property
    @abstractmethod
    def idle(self) -> bool:
        """Whether no part of a frame is held, so that the next byte begins one."""

    @abstractmethod
    def decode(self, data: bytes) -> list[Frame]:
        """Return the frames that these bytes complete, often none or one.

        Raises:
            FrameTooLarge: a server-sent event exceeds the limit. Other framings set `failed`."""

    @abstractmethod
    def flush(self) -> list[Frame]:
        """Return what remains at the end of the stream: at most one frame.

        Raises:
            FrameTooLarge: as in `decode`."""

    @abstractmethod
    def encode(self, data: bytes, name: str | None = None) -> bytes:
        """Return one of Tenuto's own frames with this JSON; b"": the framing has none for it.

        `name`: the name of a server-sent event; "error": the stream failed."""

    @abstractmethod
    def kept(self, raw: bytes) -> Frame:
        """Return the frame of bytes that were a frame's `raw`."""

    def recoded(self, events: bytes) -> bytes:
        """Return server-sent events, as layouts write them, in this framing."""
        decoder = SseDecoder()
        frames = [*decoder.feed(events), *decoder.flush()]
        return b"".join(self.encode(frame.data, frame.name) for frame in frames if frame.data)

    def is_comment(self, frame: Frame) -> bool:
        """Return whether a frame without data may come between those of any message."""
        return frame.terminated

    def rest(self) -> bytes:
        """Return the bytes of an incomplete frame, and forget them; b"": `behind_end` completes
        it."""
        return b""

    def behind_end(self, data: bytes, *, over: bool = False) -> bytes:
        """Return the bytes after the end of the message that may be passed on.

        Args:
            data: the bytes received.
            over: whether the stream has ended."""
        try:
            frames = self.flush() if over else self.decode(data)
        except FrameTooLarge:  # no part of the message
            return b""
        return b"".join(frame.raw for frame in frames)


class Splitter:
    """Splits a stream for a `SplitCodec`. It keeps bytes until they make a frame.

    Args:
        limit_bytes: the largest frame; 0: no limit.
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()

    @property
    def idle(self) -> bool:
        """Whether no part of a frame is held, so that the next byte begins one."""
        return not self._pending

    @property
    def pending(self) -> bytes:
        """The bytes that make no frame yet; at the end of an array, its closing bracket."""
        return bytes(self._pending)


SplitterT = TypeVar("SplitterT", bound=Splitter)


class SplitCodec(Codec, Generic[SplitterT]):
    """A codec that stops at the first unreadable byte. If every byte must leave as received, each
    further piece becomes an unreadable frame."""

    decoder: SplitterT
    _over = False

    @property
    def idle(self) -> bool:
        return self.decoder.idle

    def pending(self) -> bytes:
        """Return the bytes that make no frame yet."""
        return self.decoder.pending

    @abstractmethod
    def split(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that these bytes complete, as they are passed on.

        Raises:
            FrameTooLarge: a frame exceeds the limit.
            UnreadableFrame: the start of the next frame can't be found."""

    def decode(self, data: bytes) -> list[Frame]:
        if self._over:
            return [Frame(data, UNREADABLE)] if self.as_came else []
        frames: list[Frame] = []
        limit_bytes = 0 if self.as_came else self.limit_bytes
        try:
            for frame in self.split(data):
                if 0 < limit_bytes < len(frame.data or b"") + _EVENT_BYTES:
                    raise FrameTooLarge(_TOO_LARGE.format(limit_bytes))
                frames.append(frame)
        except (FrameTooLarge, UnreadableFrame) as error:
            self._over = True
            self.failed: Exception | None = None if self.as_came else error
            if self.as_came or isinstance(error, UnreadableFrame):
                frames.append(Frame(self.pending(), UNREADABLE))
        return frames


_EVENT_BYTES = len(b"data: \n\n")
"""These bytes count in every framing, so that one limit allows the same answers in all."""

_TOO_LARGE = "an event of the stream is larger than event_max_bytes ({})"


class Translated(Codec):
    """Translates frames of one framing for a caller that reads another."""

    def __init__(self, reads: Codec, writes: Codec) -> None:
        super().__init__()
        self.framing: Framing = reads.framing
        self._reads, self._writes = reads, writes

    @property
    def idle(self) -> bool:
        return self._reads.idle

    def decode(self, data: bytes) -> list[Frame]:
        frames = [self._translated(frame) for frame in self._reads.decode(data)]
        self.failed: Exception | None = self._reads.failed
        return frames

    def flush(self) -> list[Frame]:
        return [self._translated(frame) for frame in self._reads.flush()]

    def _translated(self, frame: Frame) -> Frame:
        half = not frame.terminated and not frame.raw
        raw = b""
        if frame.data and not half:
            raw = self._writes.encode(in_utf8(frame.data), frame.name)
        return Frame(raw, frame.data, frame.name, frame.terminated)

    def encode(self, data: bytes, name: str | None = None) -> bytes:
        return self._writes.encode(data, name)

    def kept(self, raw: bytes) -> Frame:
        return self._writes.kept(raw)
