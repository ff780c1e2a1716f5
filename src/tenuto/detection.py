"""`detect()` and `StreamDetector`: why a response ended, from whatever form it is at hand in.

Theory of operation
-------------------
One reader serves both, so that a response read at once and one read in pieces cannot differ (S8).
Its first byte that is no white space tells a body from a stream, and one of lines from one of
binary messages: a body is kept until its end and decoded as a whole, a stream is read event by
event. An object on a line of its own, with another one below, is the first event of a stream of
such lines. Objects (dicts, those of SDKs) are told apart by their wire. Where no wire is named, the
first object whose shape a wire knows decides.

Nothing in here raises, whatever it is given (N6).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import lru_cache

from tenuto.core.builder import RUNNING, Builder
from tenuto.core.fault import FaultKind
from tenuto.core.response import Response
from tenuto.core.signals import (
    Ended,
    FaultSeen,
    ReasoningDelta,
    Signal,
    TextDelta,
    UsageSeen,
)
from tenuto.core.stop import Stop, StopReason, printable
from tenuto.frames.aws_messages import MessageCodec
from tenuto.frames.codec import Codec
from tenuto.frames.frame import Frame
from tenuto.frames.json_lines import LineCodec
from tenuto.frames.pieces import Pieces
from tenuto.frames.sse_codec import SseCodec
from tenuto.providers.registry import named
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject, decode_object, decode_strictly
from tenuto.wires.registry import wire_for_frame, wire_for_shape, wires
from tenuto.wires.stream import EventReader, event_object, garbled

log: logging.Logger = logging.getLogger("tenuto")

_SPACE_AND_BOM = b" \t\r\n\xef\xbb\xbf"
_AWS_LENGTHS = (b"\0", b"\1")
"""A message of an AWS event stream begins with its length in four bytes, at most 24 MiB."""
_GENERAL = (FaultKind.SERVER, FaultKind.INVALID_REQUEST)
"""What an error table says of an error of which it knows no more."""
_TELLS_NO_STOP = (TextDelta, ReasoningDelta, UsageSeen)
_BYTES = (bytes, bytearray, memoryview)
"""Not `bytes | …` where it is used: that makes a type for every chunk."""


def detect(source: object, *, wire: str | None = None) -> Stop:
    """Why a response ended. Never raises.

    Args:
        source: an object of an official SDK, a dict, the bytes or text of a body or of a recorded
            stream, or a list of a stream's events in any of these forms.
        wire: the name of a wire (`openai-chat`) or of a provider (`deepseek`), with a version if
            there are several (`acme@2`). None: Tenuto detects the wire. It does so for an unknown
            name too, and logs a warning once.

    Returns:
        the stop. It is DROPPED with low confidence if bytes, text or events end without an end
        mark. That includes text that is no answer at all, such as an HTML page. It is UNKNOWN with
        low confidence for whole objects and events whose format no wire knows. What the provider's
        values mean:
        https://platform.openai.com/docs/api-reference/chat/object

    >>> detect({"object": "chat.completion", "choices": [
    ...     {"index": 0, "message": {"content": "Hi"}, "finish_reason": "length"}]}).reason.value
    'max_tokens'
    >>> detect(b'{"choices": [{"mess').reason.value
    'dropped'
    >>> detect(42).reason.value
    'unknown'
    """
    try:
        return read(source, wire=wire).stop
    except Exception:  # noqa: BLE001 - somebody else's object: whatever it raises, this must not
        return Stop(StopReason.UNKNOWN)


def read(source: object, *, wire: str | None = None) -> Response:
    """The whole response that a source holds; the arguments are those of `detect`."""
    return recognize(source, wire=wire)[0]


def recognize(source: object, *, wire: str | None = None) -> tuple[Response, Wire | None]:
    """The same, and the wire by which it was read; None where no wire knows anything of it.

    >>> recognize("Good morning.")[1] is None
    True
    """
    reader = _Reader(wire)
    reader.take(_whole(source))
    response = reader.finish()
    return response, reader.wire


class StreamDetector:
    """Detects why a response ends while it is still arriving.

    Feed it what arrives, in pieces of any size. It never raises, and takes a few microseconds for a
    piece.

    Args:
        wire: the name of a wire (`openai-chat`) or of a provider (`deepseek`), with a version if
            there are several (`acme@2`). None: Tenuto detects the wire from the first object that
            it recognizes. It does so for an unknown name too, and logs a warning once.

    >>> detector = StreamDetector("openai-chat")
    >>> stop = detector.feed(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}')
    >>> stop.terminal, stop.confidence.value
    (False, 'low')
    >>> end = b'data: {"choices":[{"delta":{},"finish_reason":"length"}]}'
    >>> stop = detector.feed(b"\\n\\n" + end + b"\\n\\n")
    >>> stop.terminal, stop.reason.value, stop.confidence.value
    (True, 'max_tokens', 'high')
    >>> detector.finalize().reason.value
    'max_tokens'

    A stream that breaks off:

    >>> detector.reset()
    >>> detector.feed({"choices": [{"delta": {"content": "Hi"}}]}).terminal
    False
    >>> detector.finalize().reason.value
    'dropped'
    """

    def __init__(self, wire: str | None = None) -> None:
        self._name = wire
        self.reset()

    def reset(self) -> None:
        """Forget everything, to begin with another response."""
        self._reader = _Reader(self._name)

    def feed(self, piece: object) -> Stop:
        """Feed a piece: bytes or text cut anywhere, or one event as a dict or an SDK's object.

        Returns:
            the stop so far. It has low confidence and is not terminal until the response names a
            stop, reports an error, or ends in order. Only `finalize` judges tool calls and empty
            answers.
        """
        try:
            self._reader.take(piece)
            return self._reader.progress
        except Exception:  # noqa: BLE001 - somebody else's object, as in `detect`
            return RUNNING

    def finalize(self) -> Stop:
        """Return the final stop, when nothing more arrives. It is always terminal, and the same as
        `detect` returns for the whole response. You can call this again."""
        try:
            return self._reader.finish().stop
        except Exception:  # noqa: BLE001 - somebody else's object, as in `detect`
            return Stop(StopReason.UNKNOWN)


@lru_cache(maxsize=256)  # once for each name
def _tell_unknown(name: str) -> None:
    log.warning("no wire or provider is named %s: found from the shape", printable(name))


class _Reader:
    """Reads one response from pieces of any form."""

    def __init__(self, wire: str | None) -> None:
        # A provider may speak several wires: its name says which is likely, not which it is.
        self._wire, self._likely, overrides = named(wire)
        if wire and isinstance(wire, str) and (self._wire or self._likely) is None:
            _tell_unknown(wire)
        self._builder = Builder(overrides=overrides)
        self._codec: Codec
        self._reader: EventReader | None = None
        self._head = Pieces()
        self._body: Pieces | None = None
        self._may_be_lines = False
        self._line_over = False
        self._streams = False
        self._read_any = False
        self._reader_of_error: Wire | None = None
        self._foreign = False
        self._strange = False
        self._unread: Frame | None = None  # the first event that no wire can read
        self._cut = False  # half an event was left at the end
        self._progress = RUNNING
        self._progressed = False

    @property
    def wire(self) -> Wire | None:
        """The wire that is read, as far as it is known yet."""
        return self._wire or self._reader_of_error

    @property
    def progress(self) -> Stop:
        """The stop as far as it is known; worked out when it is asked for."""
        if self._progressed:
            self._progress, self._progressed = self._builder.progress(), False
        return self._progress

    def take(self, source: object) -> None:
        """Take a piece."""
        if type(source) is bytes:  # what nearly every piece is
            self._read_any = True
            self._bytes(source)
            return
        if isinstance(source, str):
            source = source.encode("utf-8", "surrogatepass")
        if isinstance(source, _BYTES):
            self._read_any = True
            self._bytes(bytes(source))
            return
        if isinstance(source, list | tuple):
            self._read_any = True
            for item in source:
                if not isinstance(item, list | tuple):
                    self.take(item)
            return
        value = _plain(source)
        if isinstance(value, dict):
            self._read_any = True
            self._object(value)
        else:
            self._foreign = True

    def finish(self) -> Response:
        """The response, its end included."""
        if self._foreign and not self._read_any:
            return Response("", "", "", (), None, Stop(StopReason.UNKNOWN))
        if self._body is not None:
            body, self._body = self._body.whole, Pieces()
            self._document(body)
        if self._streams:
            left = self._codec.flush()
            self._events(left)
            self._cut = self._cut or any(event.data for event in left)
            if self._strange and self.wire is None and not self._cut:
                return Response("", "", "", (), None, Stop(StopReason.UNKNOWN))
        if self._reader is not None:
            self._feed(self._reader.counted()[0])
        return self._builder.build()

    # --- bytes

    def _bytes(self, data: bytes) -> None:
        if self._streams:
            if self._reader is not None and self._codec.idle and not self._builder.ended:
                signal = self._reader.said_alike(data)
                if signal is not None and self._reader.follow(signal):
                    self._builder.feed(signal)
                    return
            self._events(self._codec.decode(data))
        elif self._body is not None:
            self._body.add(data)
            if self._may_be_lines:
                self._tell_lines(self._body, data)
        else:
            self._head.add(data)
            begin = data.lstrip(_SPACE_AND_BOM)[:1]  # before it came nothing else
            if not begin:
                return
            head, self._head = self._head.whole, Pieces()
            if begin in (b"{", b"["):
                self._may_be_lines = begin == b"{"
                self._body = Pieces()
                self._bytes(head.lstrip(_SPACE_AND_BOM))
            else:
                self._streams = True
                made = MessageCodec if begin in _AWS_LENGTHS else SseCodec
                self._codec = made(as_came=True)
                self._events(self._codec.decode(head))

    def _tell_lines(self, body: Pieces, data: bytes) -> None:
        """Whether it is objects of one line each: known when something follows the first line."""
        rest = data
        if not self._line_over:
            _, end, rest = data.partition(b"\n")
            self._line_over = bool(end)
        if not (begin := rest.lstrip()[:1]):
            return
        self._may_be_lines = False
        whole = body.whole
        line = whole.partition(b"\n")[0]
        if begin == b"{" and isinstance(decode_object(line), dict):
            self._body, self._streams = None, True
            self._codec = LineCodec(as_came=True)
            self._events(self._codec.decode(whole))

    def _document(self, body: bytes) -> None:
        value = decode_object(body)
        if isinstance(value, list):
            self.take(value)
        elif isinstance(value, dict):
            self._object(value, body)

    def _events(self, events: Iterable[Frame]) -> None:
        if self._builder.ended:
            return
        for event in events:
            if event.data is None:
                continue
            reader = self._reader
            if reader is None or reader.wire is not self._wire:
                if lines := _unparted(event):
                    self._events(lines)
                    if self._builder.ended:
                        return
                    continue
                wire = self._wire or self._wire_of(event)
                if wire is None:
                    self._strange = True
                    if self._unread is None and not isinstance(event_object(event), dict):
                        self._unread = event
                    continue
                reader = self._reader_of(wire)
                if self._unread is not None:  # garbage, now that its wire is known
                    self._feed(reader.read(self._unread)[0])
                    self._unread = None
            # What nearly every event is, by the quick reading: it tells of no stop.
            quick = reader.flowing(event)
            if quick is not None and reader.follow(quick):
                self._builder.feed(quick)
                continue
            self._feed([*reader.counted()[0], *reader.read(event)[0]])
            if self._builder.ended:
                return

    def _reader_of(self, wire: Wire) -> EventReader:
        if self._reader is None or self._reader.wire is not wire:
            self._reader = EventReader(wire, wire.make_incremental())
        return self._reader

    def _wire_of(self, event: Frame) -> Wire | None:
        if isinstance(self._codec, MessageCodec) and (wire := wire_for_frame(event.raw)):
            self._wire = wire
            return wire
        value = event_object(event)
        if isinstance(value, dict):
            return self._known(value)
        data = event.data or b""
        return next((wire for wire in wires().values() if wire.is_terminator(data)), None)

    # --- objects

    def _object(self, value: JsonObject, body: bytes = b"") -> None:
        wire = self._wire or self._known(value)
        if wire is None:
            self._feed([Ended()])
        elif wire.is_event(value):
            self._feed(self._reader_of(wire).signals(value))
        else:
            if self._reader is not None:  # what ends a stream may look like a body
                value = self._reader.new(value)
            signals = wire.parse_object(value, event=False)
            if not garbled(body, signals):
                self._feed([*signals, Ended()])

    def _known(self, value: JsonObject) -> Wire | None:
        """The wire of an object. An error looks alike on most wires: whoever knows what it means
        may read it, else whoever sees that it is one."""
        likely = self._likely
        if likely is not None and likely.looks_like(value):
            self._wire = likely
            return likely
        self._wire = wire_for_shape(value)
        if self._wire is not None or likely is not None:
            self._reader_of_error = likely
            return self._wire or likely
        readers = {
            wire: seen.fault.kind
            for wire in wires().values()
            for seen in wire.parse_object(value, event=True)
            if isinstance(seen, FaultSeen)
        }
        if len(readers) == 1:
            (self._reader_of_error,) = readers
        knowing = (wire for wire, kind in readers.items() if kind not in _GENERAL)
        return next(knowing, next(iter(readers), None))

    def _feed(self, signals: list[Signal]) -> None:
        for signal in signals:
            self._builder.feed(signal)
            if not isinstance(signal, _TELLS_NO_STOP):
                self._progressed = True


def _unparted(event: Frame) -> list[Frame]:
    """The events of a recording that has lost the blank lines between them: each line of data is an
    object then. Often none."""
    lines = (event.data or b"").split(b"\n")
    if len(lines) == 1 or not all(isinstance(decode_object(line), dict) for line in lines):
        return []
    return [Frame(b"data: %b\n\n" % line, line, event.name) for line in lines]


def _whole(source: object) -> object:
    """A body as the object that it holds; anything else as it is."""
    if type(source) is bytes and source.startswith(b"{"):
        document = decode_strictly(source)
        return document if isinstance(document, dict) else source
    return source


_DUMPS: tuple[tuple[str, dict[str, object]], ...] = (
    ("model_dump", {"mode": "json", "warnings": False}),  # enums as their values (N4)
    ("model_dump", {"warnings": False}),
    ("to_dict", {}),
    ("dict", {}),
)
"""How SDKs' objects become plain values, the first that works."""


def _plain(item: object) -> object:
    """An SDK's object as plain values; anything else as it is."""
    if isinstance(item, dict | type):
        return item
    try:
        item = _unwrapped(item)
    except Exception:  # noqa: BLE001 - somebody else's object: whatever it raises, we must not
        return None
    dumped = item
    for name, given in _DUMPS:
        try:
            dump = getattr(item, name, None)
            if callable(dump):
                return dump(**given)
        except Exception:  # noqa: BLE001 - as above
            dumped = None
    return dumped


def _unwrapped(item: object) -> object:
    """The object that an SDK's event holds beside nothing else of the answer. The streaming helper
    of openai-python wraps each chunk (and adds events of its own):
    https://github.com/openai/openai-python/blob/main/helpers.md
    mistralai wraps each event of a stream:
    https://github.com/mistralai/client-python#server-sent-event-streaming
    """
    if getattr(item, "type", None) == "chunk":
        return getattr(item, "chunk", item)
    if type(item).__name__ == "CompletionEvent":
        return getattr(item, "data", item)
    return item
