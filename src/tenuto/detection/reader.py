"""Read answers from whatever form they are at hand in.

Theory of operation
-------------------
One reader serves `detect` and `StreamDetector`, so that a response read at once and one read in
pieces cannot differ (S8). Its first byte that is no white space tells a body from a stream, and one
of lines from one of binary messages: a body is kept until its end and decoded as a whole, a stream
is read event by event. An object on a line of its own, with another one below, is the first event
of a stream of such lines. Objects (dicts, those of SDKs) are told apart by their wire. Where no
wire is named, the first object whose shape a wire knows decides.

What no wire knows is no answer, unless it broke off before it could show what it is. A second
answer behind a whole one begins a reading of its own, and so does the event by which another stream
begins, behind a cut one too, so that several answers are not taken for one (N14).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeGuard

from tenuto.core.answer.builder import RUNNING, Builder
from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import (
    CallDelta,
    Ended,
    FaultSeen,
    ReasoningDelta,
    Signal,
    StopSeen,
    TextDelta,
    UsageSeen,
)
from tenuto.core.answer.stop import (
    BROKE_OFF_UNREAD,
    CALLS_MISSING,
    NO_ANSWER,
    NOTHING_CAME,
    SEVERAL_ANSWERS,
    UNREAD,
    Confidence,
    Stop,
    StopReason,
)
from tenuto.detection.documents import (
    AWS_LENGTHS,
    SPACE_AND_BOM,
    begins_events,
    begins_object,
    below_heading,
    documents,
    first_object,
    is_cut,
    may_be_heading,
    may_be_source,
)
from tenuto.detection.encodings import as_utf8
from tenuto.detection.envelopes import out_of_batch
from tenuto.detection.errors import error_shown, phrase_status
from tenuto.detection.foreign import foreign, unwrapped
from tenuto.detection.lookalikes import is_lookalike
from tenuto.detection.notices import holds_none
from tenuto.detection.objects import plain
from tenuto.detection.openings import is_opening, may_open, names_role
from tenuto.detection.replies import Failure, Reply, Unread, fault_of
from tenuto.frames.aws_messages import PRELUDE_BYTES, MessageCodec, begins_message
from tenuto.frames.codec import Codec
from tenuto.frames.frame import Frame
from tenuto.frames.json_lines import LineCodec
from tenuto.frames.pieces import Pieces
from tenuto.frames.sse_codec import SseCodec
from tenuto.providers.registry import named
from tenuto.wires.answer_id import answer_id
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject, decode_object, encode
from tenuto.wires.registry import wire_for_frame, wire_for_shape, wires, wires_for_path
from tenuto.wires.stops import unread_stop
from tenuto.wires.stream import EventReader, event_object, garbled

_GENERAL = (FaultKind.SERVER, FaultKind.INVALID_REQUEST)
"""What an error table says of an error of which it knows no more."""
_TELLS_NO_STOP = (TextDelta, ReasoningDelta, UsageSeen)
_BYTES = (bytes, bytearray, memoryview)
"""Not `bytes | …` where it is used: that makes a type for every chunk."""

_begins_answer = re.compile(
    rb'\A\s*\[?\s*\{\s*"(?:choices|candidates)"|"id"\s*:\s*"(?:chatcmpl-|msg_|resp_|gen-)'
    rb'|"object"\s*:\s*"(?:chat\.comp|text_comp|response"|interaction)'
    rb'|"type"\s*:\s*"(?:message|response)|"output"\s*:\s*\{\s*"message"'
    rb'|\A[^\[]{0,200}"message"\s*:\s*\{\s*"role"\s*:\s*"assistant"'
).search
"""Matches the beginning of a body that broke off and can only be an answer."""

_ENDS = (StopSeen, FaultSeen)
_ERRORS_FROM = 300
"""HTTP statuses from this on bring no answer."""
_CHUNKS = frozenset({"choices", "candidates"})
_IN_BODIES = frozenset(
    {"choices", "candidates", "promptFeedback", "content", "output", "message", "response"}
    | {"generations", "text", "results", "steps", "outputs", "generated_text"}
)
"""The members in which a whole body holds its answer. An error has none of them."""
_SHOWS_BYTES = 2_000
"""How much of the beginning shows what broke off."""


class Reading(NamedTuple):
    """One answer as it was read. `wire`: by which wire; None: by none, or by several that write an
    error alike. `strange`: whether whole events came that no wire knows, and none that one does."""

    response: Response
    wire: Wire | None
    strange: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether it is an answer, or may be the beginning of one."""
        return self.response.stop.detail not in (NO_ANSWER.detail, UNREAD.detail)

    @property
    def is_known(self) -> bool:
        """Whether it is an answer, or nothing speaks against it."""
        return self.is_answer and not self.strange and self.response.stop != NOTHING_CAME


def _only(stop: Stop, *, strange: bool = False) -> Reading:
    return Reading(Response("", "", "", (), None, stop), None, strange)


class Reader:
    """Reads answers from pieces of any form.

    >>> reader = Reader(None)
    >>> reader.take('{"choices": [{"message": {"content": "Hi"}, ')
    >>> reader.take('"finish_reason": "length"}]}')
    >>> [reading.response.stop.raw for reading in reader.finish()]
    ['length']
    """

    def __init__(self, wire: str | None) -> None:
        # A provider may speak several wires: its name says which is likely, not which it is.
        self._name = wire
        self._named, self._likely, self._overrides = named(wire)
        self._before: list[Reading] = []
        self._codec: Codec
        self._head = Pieces()
        self._body: Pieces | None = None
        self._may_be_lines = False
        self._line_over = False
        self._streams = False
        self._first = b""  # the first bytes of a stream of which no wire knows anything yet
        self._came = False  # whether anything came at all
        self._unread_source = False
        self._mixed = False  # whether chunks of several streams alternate
        self._above: Pieces | None = None  # what came below a comment or an HTTP head
        self._begin()

    def _begin(self) -> None:
        """Begin an answer."""
        self._wire = self._named
        self._builder = Builder(overrides=self._overrides)
        self._reader: EventReader | None = None
        self._reader_of_error: Wire | None = None
        self._error_shown = Confidence.HIGH  # how surely the first object is an error
        self._shown: JsonObject | None = None  # the first object, which may name the answer's id
        self._told_id = ""  # the id, if a framework gave it
        self._steady: bool | None = None  # whether the second event names the first one's id
        self._known = False  # whether a wire knows anything of it
        self._whole = False  # whether a whole body was read
        self._holds_calls = True  # whether calls would stand in it, if there were any
        self._running = False  # whether it came as events
        self._stopped = False  # whether a stop was read
        self._verdict: Stop | None = None  # what it is instead of an answer
        self._strange = False  # whether a whole event came that no wire knows
        self._unread: Frame | None = None  # the first event that no wire can read
        self._cut = False  # whether half an event was left at the end
        self._needle = b""  # the id as it stands in an event
        self._away = False  # whether the last chunk had another id
        self._progress = RUNNING
        self._progressed = False

    @property
    def progress(self) -> Stop:
        """The stop as far as it is known; worked out when it is asked for."""
        if self._progressed:
            self._progress, self._progressed = self._as_sure(self._builder.progress()), False
        return self._progress

    @property
    def text(self) -> str:
        """The text of the answer that is being read, as far as it came."""
        return self._builder.text

    def take(self, source: object) -> None:
        """Take a piece."""
        if type(source) is bytes:  # what nearly every piece is
            self._bytes(source)
            return
        if isinstance(source, str):
            source = source.encode("utf-8", "surrogatepass")
        if isinstance(source, _BYTES):
            self._bytes(bytes(source))
        elif isinstance(source, list | tuple):
            for item in source:
                if isinstance(item, list | tuple):
                    self._came = self._came or bool(item)
                    self._inner(item)
                else:
                    self._item(item)
        else:
            self._came = True
            self._value(plain(source))

    def _inner(self, items: Sequence[object]) -> None:
        """Take a list within a list: the events of one of several streams. Lists within it are none
        of an answer."""
        inner = Reader(self._name)
        for item in items:
            if not isinstance(item, list | tuple):
                inner._item(item)
        found = inner.finish()
        if any(reading.is_known for reading in found):
            if self._known:
                self._next()
            self._before += found
        elif items:
            self._nothing()

    def _item(self, item: object) -> None:
        """Take an item of a list: an event, a piece of bytes, or one of several answers."""
        if isinstance(item, str):
            item = item.encode("utf-8", "surrogatepass")
        if isinstance(item, _BYTES):
            item = as_utf8(bytes(item))
        if isinstance(item, bytes):
            self._piece(item)
            return
        self._came = True
        value = plain(item)
        if value is None:
            self._nothing()
        else:
            self._value(value)

    def _piece(self, data: bytes) -> None:
        between = not self._streams or self._codec.idle
        value = decode_object(data) if between else None
        if isinstance(value, dict) and self._is_apart(value):
            self._end_body()
            self._streams = False
            if self._verdict is not None:
                self._next()
            self._came = True
            self._object(value, data)
        elif self._whole and not self._streams and self._body is None and not may_be_source(data):
            self._nothing()
        else:
            self._bytes(data)

    def _is_apart(self, value: JsonObject) -> bool:
        """Return whether an object is no piece of the object that began before it, if any did."""
        if self._body is None:
            return True
        return self._body.whole.startswith(b"{") and wire_for_shape(value) is not None

    def _end_body(self) -> None:
        if self._body is not None:
            body, self._body = self._body.whole, None
            self._line_over = False
            if body:
                self._document(body)

    def _value(self, value: object) -> None:
        if isinstance(value, dict):
            self._object(value)
        elif isinstance(value, list):
            self._objects(value)
        elif isinstance(value, Reply):
            self._reply(value)
        elif isinstance(value, Failure):
            self._failure(value)
        elif isinstance(value, Unread):
            self._unread_source = True

    def finish(self) -> list[Reading]:
        """Return what was read of each answer, the end of the last one included. There is always at
        least one reading: what holds no answer is read as none. You can call this again."""
        self._end_stream()
        if self._body is not None:
            self._end_body()
            self._body = Pieces()
        if self._mixed:
            return [_only(SEVERAL_ANSWERS)]
        self._below_heading()
        found = list(self._before)
        if self._known or self._verdict is not None or not found:
            found.append(self._built())
        answers = [reading for reading in found if reading.is_answer]
        others = [reading for reading in found if not reading.is_answer]
        # That something is cut is no evidence of an answer beside what is none.
        if others and all(each.response.stop == BROKE_OFF_UNREAD for each in answers):
            return others[-1:]
        return found if len(answers) > 1 else answers or found[-1:]

    def _end_stream(self) -> None:
        while self._streams:  # another stream may stand in the rest of the first one
            codec, left = self._codec, self._codec.flush()
            self._events(left)
            if self._codec is codec:
                self._cut = self._cut or any(event.data for event in left)
                return

    def _below_heading(self) -> None:
        """Read what stands below lines of comments, or below the head of an HTTP response."""
        if self._above is None or self._known or self._before:
            return
        body, self._above = below_heading(self._above.whole), None
        inner = Reader(self._name)
        inner.take(body)
        found = inner.finish()
        if any(reading.is_known for reading in found):
            self._before += found

    def _built(self) -> Reading:
        if not self._known:
            return _only(self._verdict or self._unknown(), strange=self._strange)
        if self._reader is not None:
            self._feed(self._reader.counted()[0])
        response = self._builder.build()
        if self._error_shown is not Confidence.HIGH:
            response = replace(response, stop=self._as_sure(response.stop))
        if not self._holds_calls and CALLS_MISSING in response.stop.anomalies:
            left = tuple(odd for odd in response.stop.anomalies if odd != CALLS_MISSING)
            response = replace(response, stop=replace(response.stop, anomalies=left))
        return Reading(response, self._wire or self._reader_of_error)

    def _as_sure(self, stop: Stop) -> Stop:
        """Return a stop with the confidence that its error has. In a form that many programs share,
        its kind would be a guess."""
        shown = self._error_shown
        if shown is Confidence.HIGH or stop.reason is not StopReason.ERROR:
            return stop
        return replace(
            stop, detail=stop.detail if shown is Confidence.MEDIUM else None, confidence=shown
        )

    def _unknown(self) -> Stop:
        """Return what it is of which no wire knows anything."""
        if self._unread_source:
            return UNREAD
        if not self._came:
            return NOTHING_CAME
        if not self._streams or not self._may_be_broken():
            return NO_ANSWER
        return Stop(StopReason.DROPPED) if self._names_one else BROKE_OFF_UNREAD

    def _may_be_broken(self) -> bool:
        """Return whether a stream broke off before its first whole event."""
        if isinstance(self._codec, MessageCodec):
            return len(self._first) < PRELUDE_BYTES or begins_message(self._first)
        begun = begins_events(self._first) is not None
        return begun and (self._cut or not self._strange)

    def _next(self) -> None:
        """Begin another answer."""
        self._before.append(self._built())
        self._begin()

    # --- bytes

    def _bytes(self, data: bytes) -> None:
        if self._streams:
            if self._reader is not None and self._codec.idle and not self._builder.ended:
                signal = self._reader.said_alike(data)
                if signal is not None and self._reader.follow(signal):
                    self._builder.feed(signal)
                    return
            if not self._known:
                if len(self._first) < _SHOWS_BYTES:
                    self._first += data[:_SHOWS_BYTES]
                self._keep(data)
            self._events(self._codec.decode(data))
        elif self._body is not None:
            self._body.add(data)
            if self._may_be_lines:
                self._tell_lines(self._body, data)
        else:
            self._head.add(data)
            begin = data.lstrip(SPACE_AND_BOM)[:1]  # before it came nothing else
            if not begin:
                return
            self._came = True
            head, self._head = self._head.whole, Pieces()
            if begin in (b"{", b"["):
                self._may_be_lines = begin == b"{"
                self._body = Pieces()
                self._bytes(head.lstrip(SPACE_AND_BOM))
            else:
                if self._whole and begins_events(head) is not None:
                    self._next()
                self._streams = True
                made = MessageCodec if begin in AWS_LENGTHS else SseCodec
                self._codec = made(as_came=True)
                self._first = head.lstrip(SPACE_AND_BOM)[:_SHOWS_BYTES]
                self._above = Pieces()
                self._keep(head)
                self._events(self._codec.decode(head))

    def _keep(self, data: bytes) -> None:
        if self._above is not None:
            self._above.add(data)
            if not may_be_heading(self._first):
                self._above = None

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
            self._first = whole[:_SHOWS_BYTES]
            self._events(self._codec.decode(whole))

    def _document(self, body: bytes) -> None:
        value = decode_object(body)
        if isinstance(value, dict):
            self._object(value, body)
        elif isinstance(value, list):
            self._objects(value)
        elif value is None and (values := documents(body)):
            self._objects(values)
        elif value is None:
            self._unparsed(body)

    def _unparsed(self, body: bytes) -> None:
        if self._known or self._before:
            self._unreadable(body)
            return
        begun = _begins_answer(body[:_SHOWS_BYTES]) is not None or self._names_one
        if not is_cut(body):
            if begun:
                self._failure(Failure(Fault(FaultKind.GARBAGE), None))
        else:
            self._verdict = Stop(StopReason.DROPPED) if begun else BROKE_OFF_UNREAD

    @property
    def _names_one(self) -> bool:
        """Whether a wire or a provider was named, so that what comes is said to be an answer."""
        return self._named is not None or self._likely is not None

    def _objects(self, values: Sequence[object]) -> None:
        for value in values:
            if isinstance(value, dict):
                self._object(value)
            elif isinstance(value, bytes):
                self._unreadable(value)
            elif isinstance(value, list):
                self._inner(value)
            else:
                self._nothing()

    def _nothing(self) -> None:
        """Note an item that is nothing, such as None, in its place. Amid the events of a stream it
        has none."""
        if self._whole or not self._known:
            self._no_answer()

    def _unreadable(self, data: bytes) -> None:
        """Note bytes among several answers that are no document: a line that was cut, or that is
        something else."""
        if self._known:
            self._next()
        if begins_events(data) is not None:
            inner = Reader(self._name)
            inner.take(data)
            self._before += inner.finish()
            return
        begun = _begins_answer(data[:_SHOWS_BYTES]) is not None or self._names_one
        cut = Stop(StopReason.DROPPED) if begun else BROKE_OFF_UNREAD
        self._before.append(_only(cut if is_cut(data) else NO_ANSWER))

    def _events(self, events: Sequence[Frame]) -> None:
        for number, event in enumerate(events):
            if self._turns(event):
                self._turn(events[number:])
                return
            if event.data is None:
                continue
            if self._running and self._opens_another_event(event):
                self._next()
            if self._over and not self._goes_on(event):
                continue
            reader = self._reader
            if reader is None or reader.wire is not self._wire:
                if lines := _unparted(event):
                    self._events(lines)
                    continue
                if self._lines and _is_held(value := event_object(event)):
                    self._object(value, event.data)
                    continue
                reader = self._reader_for(event)
                if reader is None:
                    continue
            # What nearly every event is, by the quick reading: it tells of no stop.
            quick = reader.flowing(event)
            if quick is not None and reader.follow(quick):
                self._running = True
                self._builder.feed(quick)
                continue
            if self._lines and not self._running and isinstance(value := event_object(event), dict):
                self._object(value, event.data)
            else:
                self._running = True
                self._feed([*reader.counted()[0], *reader.read(event)[0]])

    def _turns(self, event: Frame) -> bool:
        """Return whether whole bodies follow a stream of events here, or such a stream follows
        lines."""
        if isinstance(self._codec, SseCodec):
            if not self._known or not begins_object(event.raw):
                return False
            value = first_object(event.raw)
            return value is not None and self._is_body_apart(unwrapped(out_of_batch(value)))
        return self._lines and self._whole and begins_events(event.raw) is not None

    def _turn(self, events: Iterable[Frame]) -> None:
        """Read the rest of the bytes from their form on anew."""
        rest = b"".join(event.raw for event in (*events, *self._codec.flush()))
        self._streams = self._line_over = False
        self._bytes(rest)

    def _opens_another_event(self, event: Frame) -> bool:
        data = event.data or b""
        if self._steady is None:
            told = self._id.encode("utf-8", "surrogatepass")
            self._needle = b'"%b"' % told if told else b""
            self._steady = bool(told) and self._needle in data
        if self._needle and (self._needle in data) is self._away:
            self._tell_mixed(event_object(event))
        if may_open(data) is None:
            return False
        value = event_object(event)
        return isinstance(value, dict) and self._opens_another(value)

    def _tell_mixed(self, value: object) -> None:
        """Note whether a chunk is of another stream, or of the first one behind a chunk of another:
        then several streams alternate. Some relays give each chunk an id of its own, but none
        comes back to an earlier one."""
        if not isinstance(value, dict) or _CHUNKS.isdisjoint(value):
            return
        told, id_here = answer_id(value), self._id
        self._mixed = self._mixed or (self._away and bool(told) and told == id_here)
        self._away = bool(told and id_here) and told != id_here

    def _opens_another(self, value: JsonObject) -> bool:
        """Return whether an event amid a stream, or behind it, is the first one of another. Some
        relays repeat the first event, and some give each chunk an id of its own."""
        told, id_here = answer_id(value), self._id
        differs = bool(told and id_here) and told != id_here
        if is_opening(value):
            if told and told == id_here:
                return self._over
            so_far = self._builder.build(over=False)
            said = bool(so_far.text or so_far.reasoning or so_far.calls)
            return self._over or differs or said
        role, alone = names_role(value)
        return role and differs and (self._over or alone or bool(self._steady))

    @property
    def _lines(self) -> bool:
        """Whether each event is a line, which may be an answer of its own."""
        return self._streams and isinstance(self._codec, LineCodec)

    @property
    def _id(self) -> str:
        """The id of the answer that is being read; "" if it names none. Seldom asked for."""
        return self._told_id or answer_id(self._shown)

    @property
    def _over(self) -> bool:
        """Whether the answer has an end, so that what follows may be another one."""
        return self._stopped or self._builder.ended

    def _goes_on(self, event: Frame) -> bool:
        """Return whether an event behind an end is read: it still belongs to the answer, or begins
        another one."""
        value = event_object(event)
        if self._lines and self._whole and not isinstance(value, dict):
            self._unreadable(event.data or b"")
            return False
        if isinstance(value, dict):
            if self._lines:
                self._object(value, event.data or b"")
                return False
            if self._is_of_another(value):
                self._next()
                return True
        return not self._builder.ended

    def _reader_for(self, event: Frame) -> EventReader | None:
        """Return the reader of the first event that a wire knows; None if none knows this one."""
        wire = self._wire_of(event)
        if wire is None:
            self._strange = self._strange or event.terminated
            value = event_object(event)
            if isinstance(value, dict) and self._lines:
                self._no_answer()
            elif self._lines and self._before:
                self._unreadable(event.data or b"")
            elif self._unread is None and not isinstance(value, dict):
                self._unread = event
            return None
        value = event_object(event)
        if not self._known and isinstance(value, dict):
            self._shown = value
        self._known = True
        reader = self._reader_of(wire)
        if self._unread is not None:  # garbage, now that its wire is known
            self._feed(reader.read(self._unread)[0])
            self._unread = None
        return reader

    def _reader_of(self, wire: Wire) -> EventReader:
        if self._reader is None or self._reader.wire is not wire:
            self._reader = EventReader(wire, wire.make_incremental())
        return self._reader

    def _wire_of(self, event: Frame) -> Wire | None:
        if self._wire is None and isinstance(self._codec, MessageCodec):
            self._wire = wire_for_frame(event.raw)
        value = event_object(event)
        if isinstance(value, dict) and self._holds_none(value):
            return None
        if self._wire is not None:
            return self._wire
        if isinstance(value, dict):
            return self._wire_for(value)
        data = event.data or b""
        return next((wire for wire in wires().values() if wire.is_terminator(data)), None)

    # --- objects

    def _object(self, value: JsonObject, body: bytes = b"") -> None:
        value = unwrapped(out_of_batch(value))
        if self._holds_none(value):
            self._no_answer()
            return
        if (status := phrase_status(value)) is not None:
            reply = Reply(status, {}, encode(value))
            self._failure(Failure(fault_of(reply, wires()["openai-chat"]), None))
            return
        if self._running:
            self._tell_mixed(value)
        another = self._running and (self._opens_another(value) or self._is_body_apart(value))
        if another or (self._over and self._is_of_another(value)):
            self._next()
        told = foreign(value)
        if told is not None:
            for number, answer in enumerate(told):
                if number:
                    self._next()
                self._known, self._whole = True, answer.whole
                self._holds_calls = answer.content
                self._told_id = self._told_id or answer.id
                self._feed([*answer.signals, *([Ended()] if answer.whole else [])])
            return
        wire = self._wire_for(value)
        if wire is None:
            self._no_answer()
            return
        self._shown = self._shown or value
        if wire.is_event(value) or (self._running and self._lines):
            self._known = self._running = True
            self._feed(self._reader_of(wire).signals(value))
            return
        if self._reader is not None:  # what ends a stream may look like a body
            value = self._reader.new(value)
        signals = wire.parse_object(value, event=False)
        if garbled(body, signals):
            self._known = True
            return
        if self._running and not signals:
            return  # an event that a helper of an SDK adds
        if not any(isinstance(one, _ENDS) for one in signals) and unread_stop(value) is not None:
            self._wire = self._named
            self._no_answer()
            return
        self._known = self._whole = True
        self._feed([*signals, Ended()])

    def _holds_none(self, value: JsonObject) -> bool:
        asked = not (self._names_one or self._running)
        return holds_none(value) or (asked and is_lookalike(value))

    def _no_answer(self) -> None:
        """Note an object that is no answer, unless it stands amid the events of one."""
        if not self._known or self._over:
            if self._known:
                self._next()
            self._before.append(_only(NO_ANSWER))

    def _is_body_apart(self, value: JsonObject) -> bool:
        """Return whether an object is a whole body that names another answer than the one that is
        being read: by its id, or by another wire where one of them has none."""
        told, id_here = answer_id(value), self._id
        if _IN_BODIES.isdisjoint(value) or (told and told == id_here):
            return False
        wire = wire_for_shape(value)
        if wire is None or wire.is_event(value) or (wire.last_is_body and not self._over):
            return False
        if told and id_here:
            return True
        return self._named is None and self._wire not in (None, wire)

    def _is_of_another(self, value: JsonObject) -> bool:
        """Return whether an object behind the end of an answer belongs to another one. Some wires
        end a stream with an object that looks like a whole body, and some send more behind it."""
        if self._is_body_apart(value):
            return True
        wire = self._wire if self._wire is not None and not self._whole else wire_for_shape(value)
        if foreign(value) is not None:
            wire = None
        if self._running and self._builder.ended and wire and wire.is_terminator(b"[DONE]"):
            return any(map(_speaks, wire.parse_object(value, event=True)))
        told = answer_id(value)
        if told and told == self._id:
            return self._whole and (wire is None or not wire.last_is_body)
        if wire is None:
            return self._whole
        said = wire.parse_object(value, event=wire.is_event(value))
        speaks = any(map(_speaks, said))
        if told and self._id:
            return speaks
        if not wire.last_is_body:
            return self._whole
        ends_once = value.get("done") is True and not self._running  # Ollama
        return (speaks or ends_once) and (self._lines or self._builder.ended)

    def _wire_for(self, value: JsonObject) -> Wire | None:
        """Return the wire of an object. A wire that was named is believed unless the object has the
        shape of another one. An error looks alike on most wires: whoever knows what it means may
        read it, else whoever sees that it is one."""
        if self._wire is not None:
            if not self._known and not _shows(self._wire, value):
                self._wire = wire_for_shape(value) or self._wire
            return self._wire
        likely = self._likely
        if likely is not None and likely.looks_like(value):
            self._wire = likely
            return likely
        self._wire = wire_for_shape(value)
        if self._wire is not None and likely is None and _says_nothing(self._wire, value):
            self._wire = None
            return None
        if self._wire is not None or likely is not None:
            if value.get("type") == "error":  # of Anthropic's form, which others write too
                self._error_shown = error_shown(value) or Confidence.HIGH
            self._reader_of_error = likely
            return self._wire or likely
        return self._wire_of_error(value)

    def _wire_of_error(self, value: JsonObject) -> Wire | None:
        shown = error_shown(value)
        if shown is None:
            return None
        readers = {
            wire: seen.fault.kind
            for wire in wires().values()
            for seen in wire.parse_object(value, event=True)
            if isinstance(seen, FaultSeen)
        }
        if readers:
            self._error_shown = shown
        knowing = next((wire for wire, kind in readers.items() if kind not in _GENERAL), None)
        if len(readers) == 1:
            (self._reader_of_error,) = readers
        return knowing or next(iter(readers), None)

    def _reply(self, reply: Reply) -> None:
        """Read an HTTP response: an error, or bytes as they were received."""
        if self._over:
            self._next()
        wire = self._named or self._likely or next(iter(wires_for_path(reply.path)), None)
        if reply.status >= _ERRORS_FROM:
            self._failure(Failure(fault_of(reply, wire or wires()["openai-chat"]), wire))
            return
        inner = Reader(self._name)
        inner.take(reply.content)
        self._before += inner.finish()

    def _failure(self, failure: Failure) -> None:
        """Read an exception of an SDK: it ends the answer that is being read, if any."""
        if self._over:
            self._next()
        self._known = True
        if self._wire is None:
            self._reader_of_error = failure.wire
        self._feed([FaultSeen(failure.fault)])

    def _feed(self, signals: Sequence[Signal]) -> None:
        for signal in signals:
            self._builder.feed(signal)
            if not isinstance(signal, _TELLS_NO_STOP):
                self._progressed = True
                self._stopped = self._stopped or _is_end(signal)


def _is_held(value: object) -> TypeGuard[JsonObject]:
    """Return whether an object is one of a framework, or holds an answer as a part."""
    if not isinstance(value, dict):
        return False
    return foreign(value) is not None or unwrapped(out_of_batch(value)) is not value


def _shows(wire: Wire, value: JsonObject) -> bool:
    """Return whether an object has the shape of a wire."""
    shows = wire.claims or wire.signed
    return wire.looks_like(value) or (shows is not None and shows(value))


def _says_nothing(wire: Wire, value: JsonObject) -> bool:
    """Return whether all that a wire reads in an object is a stop that no table knows, without an
    id or a model: something else that has members of those names."""
    if not {"id", "model", "object", "modelVersion", "model_version"}.isdisjoint(value):
        return False
    signals = wire.parse_object(value, event=wire.is_event(value))
    stops = [one for one in signals if isinstance(one, StopSeen)]
    unknown = [one.reason is StopReason.UNKNOWN and one.readable for one in stops]
    if not stops or not all(unknown):
        return False
    told = (isinstance(one, ReasoningDelta | CallDelta | UsageSeen | FaultSeen) for one in signals)
    return not any(told) and not any(map(_speaks, signals))


def _is_end(signal: Signal) -> bool:
    """Return whether a signal is an end of an answer. Behind an event that cannot be read, more of
    it may come."""
    if isinstance(signal, FaultSeen):
        return signal.fault.kind is not FaultKind.GARBAGE
    return isinstance(signal, StopSeen)


def _speaks(signal: Signal) -> bool:
    """Return whether a signal is a piece of an answer."""
    return (isinstance(signal, TextDelta) and bool(signal.text)) or isinstance(signal, CallDelta)


def _unparted(event: Frame) -> list[Frame]:
    """The events of a recording that has lost the blank lines between them: each line of data is an
    object then. Often none."""
    lines = (event.data or b"").split(b"\n")
    if len(lines) == 1 or not all(isinstance(decode_object(line), dict) for line in lines):
        return []
    return [Frame(b"data: %b\n\n" % line, line, event.name) for line in lines]
