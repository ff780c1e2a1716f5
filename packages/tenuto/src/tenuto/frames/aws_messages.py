"""AWS event streams, the framing of Amazon Bedrock's streams: decode and encode messages.

https://smithy.io/2.0/aws/amazon-eventstream.html (read through botocore 1.44, 2026-11-22:
`botocore/eventstream.py`, shape `ResponseStream` of bedrock-runtime). A message consists of its
length, the length of its headers, a checksum of the two, headers, payload, and a checksum of all.
InvokeModel wraps each event of a model in `{"bytes": base64}`. ConverseStream has events of its
own, named in a header. Both report a failed stream in a message of the type `exception`.

Messages are decoded into frames, so they are read like those of other framings. An event with its
name in a header becomes `{name: payload}`, as botocore gives it to its callers.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from zlib import crc32

import msgspec

from tenuto.frames.codec import SplitCodec, Splitter
from tenuto.frames.frame import HALF, Frame, FrameTooLarge, Framing, UnreadableFrame, in_utf8
from tenuto.frames.json import decode_object, encode

CONTENT_TYPE = "application/vnd.amazon.eventstream"

_read_prelude = struct.Struct(">III").unpack_from
_from_bytes = int.from_bytes  # the first byte is the highest
_write_checksum = struct.Struct(">I").pack
_SIZES_BYTES, PRELUDE_BYTES, _LEAST_BYTES = 8, 12, 16

_MOST_HEADERS_BYTES = 128 * 1024
MOST_BYTES = 24 * 1024 * 1024
"""The largest message that AWS's readers accept; botocore raises on a larger one."""

_SMALL_BYTES = 4096
"""The limit on headers is the same."""

_FIXED_BYTES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Sizes of the header types with a fixed size: booleans, integers, timestamp, UUID."""
_BYTES, _TEXT = 6, 7


class UnreadableMessage(UnreadableFrame):
    """The checksum, lengths or payload of a message are wrong."""


class AwsEventDecoder(Splitter):
    """Incremental decoder. Any chunking gives the same events (S8).

    Args:
        limit_bytes: the largest message; 0: 24 MiB, the largest that AWS allows.

    Raises (from `feed`, after it has returned the events before it):
        FrameTooLarge: a message's length exceeds the limit.
        UnreadableMessage: the bytes are no message.

    >>> decoder = AwsEventDecoder()
    >>> raw = render_event(b'{"type":"ping"}')
    >>> decoder.feed(raw[:20]), [event.data for event in decoder.feed(raw[20:])]
    ([], [b'{"type":"ping"}'])
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        super().__init__(limit_bytes or MOST_BYTES)
        self._small_bytes = min(self._limit_bytes, _SMALL_BYTES)
        self._needed = 0
        self._failed: Exception | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the events that this chunk completes, often none or one."""
        if self._pending:
            self._pending += chunk  # in place: a long message in small chunks stays linear
            if len(self._pending) < self._needed:
                return []
            chunk = bytes(self._pending)
        elif _LEAST_BYTES <= len(chunk) <= self._small_bytes and self._failed is None:
            event = _only_event(chunk)
            if event is not None:
                return [event]
        events: list[Frame] = []
        start, size_of_all, limit = 0, len(chunk), self._limit_bytes
        self._needed = PRELUDE_BYTES
        try:
            while self._failed is None and size_of_all - start >= PRELUDE_BYTES:
                size, headers_size, checksum = _read_prelude(chunk, start)
                whole = crc32(chunk[start : start + _SIZES_BYTES]) == checksum
                fits = headers_size + _LEAST_BYTES <= size <= limit
                if not whole or not fits or headers_size > _MOST_HEADERS_BYTES:
                    raise self._unsound(size, headers_size, whole)
                if size_of_all - start < size:
                    self._needed = size
                    break
                end = start + size
                events.append(_event(chunk[start:end], headers_size))
                start = end
        except (FrameTooLarge, UnreadableMessage) as error:
            self._failed, self._needed = error, 0
        self._pending = bytearray(chunk[start:])
        if self._failed is not None and not events:
            raise self._failed
        return events

    def _unsound(self, size: int, headers_size: int, whole: bool) -> Exception:
        """Return the error for an invalid prelude."""
        if not whole:
            return UnreadableMessage("the checksum of a message's lengths is wrong")
        if size < _LEAST_BYTES + headers_size or headers_size > _MOST_HEADERS_BYTES:
            return UnreadableMessage("the lengths of a message contradict each other")
        return FrameTooLarge(
            f"a message of the stream is larger than event_max_bytes ({self._limit_bytes})"
        )


def begins_message(raw: bytes) -> bool:
    """Return whether bytes begin with the lengths of a message and their checksum."""
    return len(raw) >= PRELUDE_BYTES and crc32(raw[:_SIZES_BYTES]) == _read_prelude(raw)[2]


_UNREADABLE = (msgspec.DecodeError, ValueError, IndexError, KeyError, struct.error)

_NO_EVENT = "initial-response"
"""The name of the protocol message that some streams begin with."""


_CHUNK = "chunk"
"""The name of an event that holds the model's own event, in base64."""


class _Chunk(msgspec.Struct, gc=False):
    data: bytes | None = msgspec.field(name="bytes", default=None)


_read_chunk = msgspec.json.Decoder(_Chunk).decode


def _event(raw: bytes, headers_size: int) -> Frame:
    """Return a whole message as an event. It has no data if it is neither a model's event nor an
    error."""
    if crc32(raw[:-4]) != _from_bytes(raw[-4:]):
        raise UnreadableMessage("the checksum of a message is wrong")
    headers_end = PRELUDE_BYTES + headers_size
    headers, payload = raw[PRELUDE_BYTES:headers_end], raw[headers_end:-4]
    try:
        known = _told if headers_size <= _MOST_KNOWN_BYTES else _tell
        named, headers_read = known(headers)
        if named:
            return Frame(raw, b"{%b:%b}" % (named, payload or b"{}"))
        if named is not None:
            return Frame(raw, _read_chunk(payload).data)
        return _other_event(raw, headers_read, payload)
    except _UNREADABLE as error:
        raise UnreadableMessage(f"a message cannot be read: {error}") from error


def _only_event(chunk: bytes) -> Frame | None:
    """Return the event of a chunk that is exactly one message, as nearly all are; None: a closer
    look is needed."""
    size, headers_size, checksum = _read_prelude(chunk)
    if size != len(chunk) or headers_size > _MOST_KNOWN_BYTES or headers_size + _LEAST_BYTES > size:
        return None
    if crc32(chunk[:_SIZES_BYTES]) != checksum or crc32(chunk[:-4]) != _from_bytes(chunk[-4:]):
        return None
    headers_end = PRELUDE_BYTES + headers_size
    try:
        named = _told(chunk[PRELUDE_BYTES:headers_end])[0]
        if named:
            return Frame(chunk, b"{%b:%b}" % (named, chunk[headers_end:-4] or b"{}"))
        if named is not None:
            return Frame(chunk, _read_chunk(chunk[headers_end:-4]).data)
    except _UNREADABLE:
        pass  # the closer look reports it
    return None


def _other_event(raw: bytes, headers: Mapping[str, str], payload: bytes) -> Frame:
    """Return a message that is not a named event."""
    match headers.get(":message-type"):
        case "exception":
            value = decode_object(payload)
            error = value if isinstance(value, dict) else {"message": payload.decode()}
            kind = headers.get(":exception-type")
            return Frame(raw, encode({**error, "type": kind}), "error")
        case "error":
            error = {"type": headers.get(":error-code"), "message": headers.get(":error-message")}
            return Frame(raw, encode(error), "error")
        case _:
            return Frame(raw, None)


_MOST_KNOWN_BYTES = 512


def _tell(raw: bytes) -> tuple[bytes | None, Mapping[str, str]]:
    """Return the JSON name of a named event (b"": a model's own event; None: no event), and the
    headers."""
    headers = dict(_headers(raw))
    name = headers.get(":event-type", _NO_EVENT)
    if headers.get(":message-type") != "event" or name == _NO_EVENT:
        return None, headers
    return b"" if name == _CHUNK else encode(name), headers


_told = lru_cache(maxsize=64)(_tell)
"""`_tell` with a cache: the headers of all events of one name are the same bytes."""


def _headers(raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield names and values of the text headers. All headers that define a message are text."""
    at = 0
    while at < len(raw):
        name_end = at + 1 + raw[at]
        kind = raw[name_end]
        begin = name_end + 1
        if kind in (_BYTES, _TEXT):
            (size,) = struct.unpack_from(">H", raw, begin)
            begin += 2
        else:
            size = _FIXED_BYTES[kind]
        if begin + size > len(raw):
            raise ValueError("a header is longer than all headers")
        if kind == _TEXT:
            yield raw[at + 1 : name_end].decode(), raw[begin : begin + size].decode()
        at = begin + size


def render_message(headers: dict[str, str], payload: bytes) -> bytes:
    """Encode a message with text headers.

    >>> render_message({}, b"").hex()
    '000000100000000005c248eb7d98c8ff'
    """
    head = b""
    for key, value in headers.items():
        name, text = key.encode(), value.encode()
        head += struct.pack(f">B{len(name)}sBH", len(name), name, _TEXT, len(text)) + text
    sizes = struct.pack(">II", _LEAST_BYTES + len(head) + len(payload), len(head))
    made = sizes + _write_checksum(crc32(sizes)) + head + payload
    return made + _write_checksum(crc32(made))


_JSON = {":content-type": "application/json"}
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def render_event(data: bytes) -> bytes:
    """Encode one event of a model, as InvokeModel writes it. Anthropic's SDK raises
    `APIStatusError` on an event whose object is an error of the model's own wire."""
    headers = {":event-type": "chunk", **_JSON, ":message-type": "event"}
    return render_message(headers, b'{"bytes":"%b"}' % base64.b64encode(data))


def render_named(data: bytes) -> bytes:
    """Encode one event of ConverseStream, from `{name: payload}`.

    >>> AwsEventDecoder().feed(render_named(b'{"messageStop":{"stopReason":"end_turn"}}'))[0].data
    b'{"messageStop":{"stopReason":"end_turn"}}'
    """
    try:
        (name, payload), *_ = ((key, bytes(raw)) for key, raw in _members(data).items())
    except msgspec.DecodeError:  # half a surrogate pair
        value = decode_object(data)
        name, said = next(iter(value.items())) if isinstance(value, dict) and value else ("", {})
        payload = encode(said)
    headers = {":event-type": name, **_JSON, ":message-type": "event"}
    return render_message(headers, payload)


def render_exception(kind: str, message: str) -> bytes:
    """Encode a message on which botocore raises `EventStreamError`. Nothing may follow it."""
    headers = {":exception-type": kind, **_JSON, ":message-type": "exception"}
    return render_message(headers, encode({"message": message}))


class MessageCodec(SplitCodec[AwsEventDecoder]):
    """Decodes and encodes binary messages.

    Args:
        render: writes a message.
        exceptions: whether Tenuto's errors are exceptions, as AWS's own SDKs expect. Anthropic's
            SDK fails on these, and raises on an error within an event.

    >>> MessageCodec().decode(MessageCodec().encode(b'{"type":"ping"}'))[0].data
    b'{"type":"ping"}'
    """

    framing = Framing.MESSAGES

    def __init__(
        self,
        limit_bytes: int = 0,
        *,
        as_came: bool = False,
        render: Callable[[bytes], bytes] = render_event,
        exceptions: bool = False,
    ) -> None:
        super().__init__(limit_bytes, as_came=as_came)
        self.decoder: AwsEventDecoder = AwsEventDecoder(limit_bytes)
        self._render = render
        self._exceptions = exceptions

    def split(self, data: bytes) -> Iterator[Frame]:
        while frames := self.decoder.feed(data):
            yield from frames if self.as_came else map(self._repaired, frames)
            if self.decoder.idle:
                break
            data = b""  # once more, since a message after them may be unreadable

    def _repaired(self, frame: Frame) -> Frame:
        data = frame.data
        if data is None or data.isascii():
            return frame
        readable = in_utf8(data)
        return frame if readable is data else Frame(self._render(readable), readable, frame.name)

    def flush(self) -> list[Frame]:
        rest = b"" if self._over else self.decoder.pending
        self._over = True
        if not rest:
            return []
        return [Frame(rest, None) if self.as_came else Frame(b"", HALF, None, False)]

    def encode(self, data: bytes, name: str | None = None) -> bytes:
        if name == "error" and self._exceptions:
            return _exception(data)
        return self._render(data)

    def kept(self, raw: bytes) -> Frame:
        return AwsEventDecoder().feed(raw)[0]


MODEL_FAILED = "modelStreamErrorException"
"""The exception for a failed model answer."""


def _exception(data: bytes) -> bytes:
    """Encode an error that Tenuto wrote, in any wire's shape, as an exception of AWS."""
    value = decode_object(data)
    value = value if isinstance(value, dict) else {}
    error = inner if isinstance(inner := value.get("error"), dict) else value
    return render_exception(MODEL_FAILED, str(error.get("message") or ""))
