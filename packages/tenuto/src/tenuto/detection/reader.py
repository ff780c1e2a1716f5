"""Read answers from whatever form they are at hand in.

Theory of operation
-------------------
`detect` and `StreamDetector` share one reader, so a response read at once and one read in pieces
can't differ (S8). `SourceBytes` tells the form of the bytes: a body is kept until its end and
decoded as a whole, a stream is read event by event. Objects (dicts, those of SDKs) are read as they
are. `OpenAnswer` chooses the wire, and collects what one answer says.

If no wire knows something, it is no answer, unless it broke off before it could show what it is. A
second answer behind a whole one begins a reading of its own, and so does the event by which another
stream begins, behind a cut one too, so that several answers aren't taken for one (N14).
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.stop import (
    BROKE_OFF_UNREAD,
    NO_ANSWER,
    NOTHING_CAME,
    SEVERAL_ANSWERS,
    UNREAD,
    Stop,
    StopReason,
)
from tenuto.detection.begun import is_begun
from tenuto.detection.documents import (
    begins_events,
    begins_object,
    below_heading,
    documents,
    first_object,
    is_cut,
    is_end_mark,
    items_of_open_array,
    may_be_source,
    objects_amid,
)
from tenuto.detection.encodings import as_utf8
from tenuto.detection.envelopes import out_of_batch
from tenuto.detection.evidence import moved_wire
from tenuto.detection.foreign import Foreign, foreign, paired, unwrapped
from tenuto.detection.loose_json import tidied
from tenuto.detection.objects import plain
from tenuto.detection.open_answer import OpenAnswer, is_held
from tenuto.detection.reading import Reading, answers_of, nothing_for, only_stop
from tenuto.detection.replies import BrokeOff, Failure, Reply, Unread, failure_in_phrase, failure_of
from tenuto.detection.source_bytes import SourceBytes, unparted
from tenuto.frames.frame import Frame
from tenuto.frames.pieces import Pieces
from tenuto.providers.registry import named
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.registry import wire_for_shape
from tenuto.wires.stream import EventReader, event_object

_BYTES = (bytes, bytearray, memoryview)
"""Not `bytes | …` where it is used: that makes a type for every chunk."""


class Reader:
    """Reads answers from pieces of any form.

    >>> reader = Reader(None)
    >>> reader.feed('{"choices": [{"message": {"content": "Hi"}, ')
    >>> reader.feed('"finish_reason": "length"}]}')
    >>> [reading.response.stop.raw for reading in reader.finish()]
    ['length']
    """

    def __init__(self, wire: str | None) -> None:
        # A provider may speak several wires: its name says which is likely, not which it is.
        self._name = wire
        self._named, self._likely, self._overrides = named(wire)
        self._before: list[Reading] = []
        self._source = SourceBytes()
        self._came = False  # whether anything came at all
        self._unread_source = False
        self._mixed = False  # whether chunks of several streams alternate
        self._left: set[str] = set()  # the ids of the answers that another one followed too early
        self._begin()

    def _begin(self) -> None:
        self._answer = OpenAnswer(self._named, self._likely, self._overrides, self._left)

    @property
    def progress(self) -> Stop:
        """The stop as far as it is known; worked out when it is asked for."""
        return self._answer.progress

    @property
    def text(self) -> str:
        """The text of the answer that is being read, as far as it came."""
        return self._answer.builder.text

    def feed(self, source: object) -> None:
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
                self._item(item)
        else:
            self._came = True
            self._value(plain(source))

    def _inner(self, items: Sequence[object]) -> None:
        """Take a list within a list: the events of one of several streams, or a message in a pair.
        Lists within it are none of an answer."""
        self._came = self._came or bool(items)
        if (message := paired(items)) is not None:
            self._object(message)
            return
        inner = Reader(self._name)
        for item in items:
            if not isinstance(item, list | tuple):
                inner._item(item)
        found = inner.finish()
        if any(reading.is_known for reading in found):
            if self._answer.known:
                self._next()
            self._before += found
        elif items:
            self._nothing()

    def _item(self, item: object) -> None:
        """Take an item of a list: an event, a piece of bytes, or one of several answers."""
        if isinstance(item, list | tuple):
            self._inner(item)
            return
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
        source, answer = self._source, self._answer
        between = not source.streams or source.codec.idle
        value = decode_object(data) if between else None
        if isinstance(value, dict) and self._is_apart(value):
            self._end_body()
            source.streams = False
            if self._answer.verdict is not None:
                self._next()
            self._came = True
            self._object(value, data)
        elif (
            answer.whole and not source.streams and source.body is None and not may_be_source(data)
        ):
            self._nothing()
        else:
            self._bytes(data)

    def _is_apart(self, value: JsonObject) -> bool:
        """Return whether an object is no piece of the object that began before it, if any did."""
        body = self._source.body
        if body is None:
            return True
        return body.whole.startswith(b"{") and wire_for_shape(value) is not None

    def _end_body(self) -> None:
        if body := self._source.end_body():
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
        elif isinstance(value, BrokeOff):
            if self._answer.known:
                self._next()
            self._before.append(only_stop(self._cut(b"")))

    def finish(self) -> list[Reading]:
        """Return what was read of each answer, the end of the last one included. There is always at
        least one reading: what holds no answer is read as none. You can call this again."""
        self._end_stream()
        if self._source.body is not None:
            self._end_body()
            self._source.body = Pieces()
        if self._mixed or self._answer.mixed:
            return [only_stop(SEVERAL_ANSWERS)]
        self._amid_prose()
        found = list(self._before)
        if self._answer.known or self._answer.verdict is not None or not found:
            found.append(self._built())
        return answers_of(found)

    def _end_stream(self) -> None:
        source = self._source
        while source.streams:  # another stream may stand in the rest of the first one
            codec, left = source.codec, source.codec.flush()
            self._events(left)
            if source.codec is codec:
                answer = self._answer
                answer.cut = answer.cut or any(event.data for event in left)
                return

    def _amid_prose(self) -> None:
        """Read what stands below lines of comments, below the head of an HTTP response, or amid any
        other text."""
        text = None if self._answer.known or self._before else self._source.prose()
        if text is None:
            return
        body = below_heading(text)
        below = self._inside(body) if body else []
        if any(reading.is_known for reading in below):
            self._before += below
        else:
            self._read_amid(text)

    def _read_amid(self, text: bytes) -> None:
        """Read the objects in a text that is something else, if one is an answer: an error that
        many programs write is none."""
        found = self._inside(objects) if (objects := objects_amid(text)) else []
        if any(reading.is_counted and not reading.is_guess for reading in found):
            self._before += found

    def _inside(self, source: object) -> list[Reading]:
        inner = Reader(self._name)
        inner.feed(source)
        return inner.finish()

    def _built(self) -> Reading:
        answer = self._answer
        if answer.known:
            return answer.built()
        return only_stop(answer.verdict or self._unknown(), strange=answer.strange)

    def _unknown(self) -> Stop:
        """Return what it is of which no wire knows anything."""
        if self._unread_source:
            return UNREAD
        if not self._came:
            return NOTHING_CAME
        source, answer = self._source, self._answer
        if not source.streams or not source.is_broken(cut=answer.cut, strange=answer.strange):
            return nothing_for(answer.moved)
        return Stop(StopReason.DROPPED) if answer.names_one else BROKE_OFF_UNREAD

    def _next(self) -> None:
        """Begin another answer."""
        if not self._answer.is_over:
            self._left.add(self._answer.id)
        self._before.append(self._built())
        self._mixed = self._mixed or self._answer.mixed
        self._begin()

    # --- bytes

    def _bytes(self, data: bytes) -> None:
        source, answer = self._source, self._answer
        if source.streams:
            # Each message has a checksum, so none is like another.
            events = None if source.in_messages else answer.events
            if events is not None and source.codec.idle and not answer.builder.ended:
                signal = events.match_template(data)
                if signal is not None and events.add_to_part(signal):
                    answer.builder.feed(signal)
                    return
            if not answer.known:
                source.keep_beginning(data)
            self._events(source.codec.decode(data))
        elif source.body is not None:
            self._events(source.add(data))
        elif (head := source.begin(data)) is not None:
            self._came = True
            if answer.whole and begins_events(head) is not None:
                self._next()
            self._events(source.open(head))

    def _document(self, body: bytes) -> None:
        value = decode_object(body)
        if isinstance(value, dict):
            self._object(value, body)
        elif isinstance(value, list):
            self._objects(value)
        elif value is None and (told := self._inside(items_of_open_array(body)))[-1].has_stop:
            self._before += told  # nothing but the end of the array is missing
        elif value is None and (values := documents(body)):
            self._objects(values)
        elif value is None and not is_cut(body) and (tidy := tidied(body)) != body:
            self._document(tidy)
        elif value is None:
            self._unparsed(body)

    def _unparsed(self, body: bytes) -> None:
        if self._answer.known or self._before:
            self._unreadable(body)
        elif is_cut(body):
            self._answer.verdict = self._cut(body)
        elif self._begins_answer(body):
            self._failure(Failure(Fault(FaultKind.GARBAGE), None, self._answer.sure))
        else:
            self._read_amid(body)

    def _begins_answer(self, data: bytes) -> bool:
        return self._answer.names_one or is_begun(data)

    def _cut(self, data: bytes) -> Stop:
        """Return what bytes are that broke off."""
        return Stop(StopReason.DROPPED) if self._begins_answer(data) else BROKE_OFF_UNREAD

    def _objects(self, values: Sequence[object]) -> None:
        for value in values:
            if isinstance(value, dict):
                self._object(value)
            elif isinstance(value, bytes):
                if not (is_end_mark(value) and self._answer.whole):
                    self._unreadable(value)
            elif isinstance(value, list):
                self._inner(value)
            else:
                self._nothing()

    def _nothing(self) -> None:
        """Note an item that is nothing, such as None, in its place. Amid the events of a stream it
        has none."""
        if self._answer.whole or not self._answer.known:
            self._no_answer()

    def _unreadable(self, data: bytes) -> None:
        """Note bytes among several answers that are no document: a line that was cut, or that is
        something else."""
        values = documents(tidied(data)) if begins_object(data) else []
        if any(isinstance(value, dict) for value in values):
            self._objects(values)
            return
        if self._answer.known:
            self._next()
        if begins_events(data) is not None and b"data:" in data:
            self._before += self._inside(data)
        else:
            self._before.append(only_stop(self._cut(data) if is_cut(data) else NO_ANSWER))

    def _events(self, events: Sequence[Frame]) -> None:
        for number, event in enumerate(events):
            if self._turns(event):
                self._bytes(self._source.end_stream(events[number:]))
                return
            if event.data is None:
                continue
            if self._answer.running and self._answer.opens_another_event(event):
                self._next()
            if self._answer.is_over and not self._goes_on(event):
                continue
            answer, in_lines = self._answer, self._source.in_lines
            reader = answer.events
            if reader is None or reader.wire is not answer.wire:
                if lines := unparted(event):
                    self._events(lines)
                    continue
                if in_lines and is_held(value := event_object(event)):
                    self._object(value, event.data)
                    continue
                if (reader := self._reader_for(event)) is None:
                    continue
            # What nearly every event is, by the quick reading: it tells of no stop.
            quick = reader.read_plain(event)
            if quick is not None and reader.add_to_part(quick):
                answer.running = True
                answer.builder.feed(quick)
                continue
            if in_lines and not answer.running and isinstance(value := event_object(event), dict):
                self._object(value, event.data)
            else:
                answer.running = True
                answer.feed([*reader.counted()[0], *reader.read(event)[0]])

    def _turns(self, event: Frame) -> bool:
        """Return whether whole bodies follow a stream of events here, or such a stream follows
        lines."""
        source, answer = self._source, self._answer
        if source.in_sse:
            if not answer.known or not begins_object(event.raw):
                return False
            value = first_object(event.raw)
            return value is not None and answer.is_body_apart(unwrapped(out_of_batch(value)))
        return source.in_lines and answer.whole and begins_events(event.raw) is not None

    def _goes_on(self, event: Frame) -> bool:
        """Return whether an event behind an end is read: it still belongs to the answer, or begins
        another one."""
        value, in_lines = event_object(event), self._source.in_lines
        if in_lines and self._answer.whole and not isinstance(value, dict):
            self._unreadable(event.data or b"")
            return False
        if isinstance(value, dict):
            if in_lines:
                self._object(value, event.data or b"")
                return False
            if self._answer.is_of_another(value, in_lines=False):
                self._next()
                return True
        return self._answer.takes_late(value)

    def _reader_for(self, event: Frame) -> EventReader | None:
        """Return the reader of the first event that a wire knows; None if none knows this one."""
        source, answer = self._source, self._answer
        wire = answer.wire_of_event(event, in_messages=source.in_messages)
        value = event_object(event)
        if wire is None:
            answer.strange = answer.strange or event.terminated
            if isinstance(value, dict):
                answer.moved = answer.moved or moved_wire(value)
            if isinstance(value, dict) and source.in_lines:
                self._no_answer(moved_wire(value))
            elif source.in_lines and self._before:
                self._unreadable(event.data or b"")
            elif answer.unread is None and not isinstance(value, dict):
                answer.unread = event
            return None
        if not answer.known and isinstance(value, dict):
            answer.first = value
        answer.known = True
        reader = answer.events_of(wire)
        if answer.unread is not None:  # garbage, now that its wire is known
            answer.feed(reader.read(answer.unread)[0])
            answer.unread = None
        return reader

    # --- objects

    def _object(self, value: JsonObject, body: bytes = b"") -> None:
        held = out_of_batch(value)
        if held is value:
            self._bare_object(unwrapped(value), body)
            return
        # A line of a batch is an answer, an error, or nothing, whatever stands in the others.
        if self._answer.known:
            self._next()
        self._bare_object(unwrapped(held), b"")
        self._answer.close()

    def _bare_object(self, value: JsonObject, body: bytes) -> None:
        if self._answer.holds_none(value):
            self._no_answer()
            return
        if (failure := failure_in_phrase(value, self._answer.sure)) is not None:
            self._failure(failure)
            return
        if self._answer.is_behind(value, in_lines=self._source.in_lines):
            self._next()
        if (parts := foreign(value)) is not None:
            self._foreign(parts)
            return
        if not self._answer.add_object(value, body, in_lines=self._source.in_lines):
            self._no_answer(moved_wire(value))

    def _foreign(self, parts: Sequence[Foreign]) -> None:
        """Add the answers in an object of a framework: the first belongs to the one that is being
        read."""
        for number, part in enumerate(parts):
            if number:
                self._next()
            self._answer.add_foreign(part)

    def _no_answer(self, moved: str = "") -> None:
        """Note an object that is no answer, unless it stands amid the events of one. `moved`: the
        wire of another package that could read it; "": none is known."""
        if not self._answer.known or self._answer.is_over:
            if self._answer.known:
                self._next()
            self._before.append(only_stop(nothing_for(moved)))

    def _reply(self, reply: Reply) -> None:
        """Read an HTTP response: an error, or bytes as they were received."""
        if reply.is_error:
            wire = self._named or self._likely
            self._failure(failure_of(reply, wire, named=wire is not None))
            return
        if self._answer.is_over:
            self._next()
        self._before += self._inside(reply.content)

    def _failure(self, failure: Failure) -> None:
        """Read an exception of an SDK: it ends the answer that is being read, if any."""
        if self._answer.is_over:
            self._next()
        self._answer.add_failure(failure)
