"""Decode and encode server-sent events, for clients that read all fields and for those that read
only data lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Set
from enum import StrEnum

from tenuto.frames.codec import Codec
from tenuto.frames.frame import Frame, Framing, in_utf8, is_done
from tenuto.frames.json import decode_object
from tenuto.frames.sse import BOM, SseDecoder


class Mute(StrEnum):
    """Events that say nothing, on which some SDKs fail."""

    EMPTY = "empty"
    """With data that is empty, or white space."""
    NAMED = "named"
    """Without data, but with a name."""
    FIELDS = "fields"
    """Without data and name, but with another field: `retry`, `id`."""
    BEHIND_ID = "behind_id"
    """A comment or a blank line, once an event had an `id`."""


class SseCodec(Codec):
    """Decodes and encodes server-sent events.

    Args:
        named: whether events without a name get the `type` of their object as their name, since an
            SDK ignores them otherwise.
        fails_on: the events without content that the caller's SDK fails on, which are left out.

    >>> SseCodec().encode(b'{"type":"ping"}', "ping")
    b'event: ping\\ndata: {"type":"ping"}\\n\\n'
    >>> [frame.raw for frame in SseCodec(named=True).decode(b'data: {"type":"ping"}\\n\\n')]
    [b'event: ping\\ndata: {"type":"ping"}\\n\\n']
    """

    framing: Framing = Framing.EVENTS
    has_templates = True

    def __init__(
        self,
        limit_bytes: int = 0,
        *,
        as_came: bool = False,
        named: bool = False,
        fails_on: Set[Mute] = frozenset(),
    ) -> None:
        super().__init__(limit_bytes, as_came=as_came)
        self._decoder = SseDecoder(limit_bytes)
        self._named = named
        self._fails_on = fails_on
        self._had_id = False
        # Checked before calling `_repaired`, which would cost a call for each event.
        self._is_odd = _has_no_name if named else _may_be_mute if fails_on else None
        self._behind: codecs.IncrementalDecoder | None = None

    @property
    def idle(self) -> bool:
        return self._decoder.idle

    def decode(self, data: bytes) -> list[Frame]:
        frames = self._decoder.feed(data)
        for frame in frames:
            if not frame.raw.isascii() or (self._is_odd is not None and self._is_odd(frame.raw)):
                return frames if self.as_came else [self._repaired(frame) for frame in frames]
        return frames

    def flush(self) -> list[Frame]:
        frames = self._decoder.flush()
        return frames if self.as_came else [self._repaired(frame) for frame in frames]

    def _repaired(self, frame: Frame) -> Frame:
        raw, name = frame.raw, frame.name
        if self._fails_on:
            raw = self._without_mute(frame)
            if not raw:
                return Frame(b"", frame.data, name, frame.terminated)
        if not raw.isascii():
            raw = in_utf8(raw).removeprefix(BOM)  # SDKs take it for a part of the first name
        if not frame.terminated and isinstance(decode_object(frame.data or b""), dict):
            raw = raw.rstrip() + b"\n\n"
        if self._named and name is None and (name := _type_of(frame)):
            raw = b"event: %b\n%b" % (name.encode(), raw.lstrip(b"\r\n"))
        return frame if raw is frame.raw else Frame(raw, frame.data, name, frame.terminated)

    def _without_mute(self, frame: Frame) -> bytes:
        """Return the bytes of a frame without those that the SDK would take for an event of their
        own; b"": it is nothing else."""
        raw = frame.raw
        if _is_mute(frame):
            fields = {line.partition(b":")[0] for line in raw.splitlines() if line[:1] != b":"}
            fields.discard(b"")
            kind = Mute.EMPTY if frame.data is not None else Mute.FIELDS
            if frame.data is None and not fields & _FIELDS:
                kind = Mute.BEHIND_ID
                if not self._had_id:
                    return raw
            elif frame.data is None and b"event" in fields and not fields & _COUNTED:
                kind = Mute.NAMED
            self._had_id = self._had_id or (b"id" in fields and kind not in self._fails_on)
            return b"" if kind in self._fails_on else raw
        if self._had_id and Mute.BEHIND_ID in self._fails_on:
            raw = raw.lstrip(b"\r\n")
        self._had_id = self._had_id or _has_id(raw) is not None
        return raw

    def encode(self, data: bytes, name: str | None = None) -> bytes:
        begin = b"event: %b\n" % name.encode() if name else b""
        return b"%bdata: %b\n\n" % (begin, _one_line(data))

    def kept(self, raw: bytes) -> Frame:
        decoder = SseDecoder()
        return [*decoder.feed(raw), *decoder.flush()][0]

    def recoded(self, events: bytes) -> bytes:
        return events

    def is_comment(self, frame: Frame) -> bool:
        return frame.terminated and frame.raw.startswith(b":")

    def rest(self) -> bytes:
        return super().rest() if self._fails_on else self._decoder.rest()

    def behind_end(self, data: bytes, *, over: bool = False) -> bytes:
        # Bytes after the end aren't split into events, and a piece may end within a character.
        if self.as_came:
            return data
        if self._fails_on:  # its SDK may read on
            return super().behind_end(data, over=over)
        self._behind = self._behind or codecs.getincrementaldecoder("utf-8")("replace")
        return self._behind.decode(data, over).encode()


class DataLineCodec(SseCodec):
    r"""Decodes and encodes events that consist only of data lines.

    The SDK of Gemini takes every line that does not begin with `data: ` for a piece of an error
    that arrives line by line (`_iter_response_stream` in google/genai/_api_client.py of 3.4). It
    fails on comments, event names, end marks, and data without the space. The provider writes none
    of these, but proxies and Tenuto's own layouts do.
    >>> DataLineCodec().recoded(b": hello\nevent: message\ndata:{}\n\ndata: [DONE]\n\n")
    b'data: {}\n\n'
    """

    def __init__(self, limit_bytes: int = 0, *, as_came: bool = False) -> None:
        super().__init__(limit_bytes, as_came=as_came)
        self._is_odd = _has_odd_line

    def _repaired(self, frame: Frame) -> Frame:
        frame = super()._repaired(frame)
        if not _has_odd_line(frame.raw):
            return frame
        data = frame.data
        raw = b"" if data is None or not data.strip() else self.encode(data)
        return Frame(raw, frame.data, frame.name, frame.terminated)

    def encode(self, data: bytes, name: str | None = None) -> bytes:
        return b"" if not data or is_done(data) else b"data: %b\n\n" % _one_line(data)

    def recoded(self, events: bytes) -> bytes:
        return Codec.recoded(self, events) if _has_odd_line(events) else events

    def rest(self) -> bytes:
        return Codec.rest(self)

    def behind_end(self, data: bytes, *, over: bool = False) -> bytes:
        return Codec.behind_end(self, data, over=over)


def _is_mute(frame: Frame) -> bool:
    """Return whether an event has no content. The half of one at the end may have more."""
    return frame.terminated and not (frame.data or b"").strip()


_FIELDS = frozenset({b"event", b"retry", b"id"})
_COUNTED = frozenset({b"retry", b"id"})
_may_be_mute = re.compile(rb"(?!(?:event: ?[^\r\n]+\r?\n)?data: ?[{\[])").match
_has_id = re.compile(rb"(?:\A|\n|\r)id(?:[:\r\n]|\Z)").search
_has_no_name = re.compile(rb"(?!event: )").match
_has_odd_line = re.compile(
    rb"(?:\A|\n|\r)(?:data:(?:[^ ]| *(?:[\r\n]|\Z))|(?!data: |[\r\n]|\Z))|\[DONE\]"
).search


def _type_of(frame: Frame) -> str | None:
    """Return the `type` of a frame's object, if it can be the name of an event."""
    value = decode_object(frame.data) if frame.data else None
    name = value.get("type") if isinstance(value, dict) else None
    return name if isinstance(name, str) and name.isidentifier() else None


def _one_line(data: bytes) -> bytes:
    """Return JSON on one line: a line end within it can only be white space."""
    return data.replace(b"\r", b" ").replace(b"\n", b" ")
