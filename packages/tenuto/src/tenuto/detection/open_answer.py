"""The answer that a reader is reading, and which objects and events belong to it.

Where no wire is named, the first object whose shape a wire knows decides on the wire. An object
that names another id, or opens a stream, begins another answer (N14).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from tenuto.core.answer.builder import RUNNING, Builder
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.signals import (
    ChoiceSeen,
    Ended,
    FaultSeen,
    ReasoningDelta,
    Signal,
    StopSeen,
    TextDelta,
    UsageSeen,
)
from tenuto.core.answer.stop import CALLS_MISSING, ERROR_AFTER_END, Confidence, Stop, StopReason
from tenuto.detection.envelopes import out_of_batch
from tenuto.detection.errors import error_shown
from tenuto.detection.evidence import is_lookalike, is_notice
from tenuto.detection.foreign import Foreign, foreign, unwrapped
from tenuto.detection.openings import is_opening, may_be_opening, names_role
from tenuto.detection.reading import Reading
from tenuto.detection.replies import Failure
from tenuto.detection.shown_error import ShownError
from tenuto.detection.wire_shown import (
    has_content,
    has_only_a_strange_stop,
    holds_content,
    names_itself,
    shows,
    wires_of_error,
)
from tenuto.frames.frame import Frame
from tenuto.wires.answer_id import answer_id
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject
from tenuto.wires.registry import in_order, wire_for_frame, wire_for_shape
from tenuto.wires.stops import unread_stop
from tenuto.wires.stream import EventReader, event_object, garbled

_ENDS = (StopSeen, FaultSeen)
_TELLS_NO_STOP = (TextDelta, ReasoningDelta, UsageSeen)
_CHUNKS = frozenset({"choices", "candidates", "response_metadata"})
_IN_BODIES = frozenset(
    {"choices", "candidates", "promptFeedback", "content", "output", "message", "response"}
    | {"generations", "text", "results", "steps", "outputs", "generated_text"}
)
"""The members in which a whole body holds its answer. An error has none of them."""


class OpenAnswer:
    """An answer as far as it has come.

    Args:
        named: the wire that was named.
        likely: the wire of the provider that was named. A provider may speak several wires.
        overrides: native stops that mean something else with this provider.
        left: the ids of answers before it that had no end when another one began.

    Attributes:
        wire: the wire that reads it, once one is known.
        builder: weighs what was read.
        events: reads the events of a stream, once one came that a wire knows.
        given_id: the id, if a framework's object gave it.
        known: whether a wire knows anything of it.
        whole: whether a whole body was read.
        running: whether it came as events.
        holds_calls: whether its calls would be in what was read, if it had any.
        first: the first object, which may name the answer's id.
        error_wire: the wire that read an error whose own wire isn't known.
        verdict: what it is instead of an answer; None: nothing else so far.
        strange: whether a whole event came that no wire knows.
        unread: the first event that no wire can read.
        cut: whether half an event was left at the end.
        mixed: whether chunks of several streams alternate.
        moved: the wire of another package that could read it; "": none is known.
    """

    def __init__(
        self,
        named: Wire | None,
        likely: Wire | None,
        overrides: Mapping[str, StopReason] | None,
        left: Collection[str] = (),
    ) -> None:
        self._named = named
        self._likely = likely
        self._left = left
        self.wire: Wire | None = named
        self.builder: Builder = Builder(overrides=overrides)
        self.events: EventReader | None = None
        self.given_id: str = ""
        self.known: bool = False
        self.whole: bool = False
        self.running: bool = False
        self.holds_calls: bool = True
        self.first: JsonObject | None = None
        self.error_wire: Wire | None = None
        self.verdict: Stop | None = None
        self.strange: bool = False
        self.unread: Frame | None = None
        self.cut: bool = False
        self.mixed: bool = False
        self.moved: str = ""
        self._error = ShownError()
        # The last object and its wire, and the signals that were read in it: both are asked for
        # several times.
        self._last_shape: tuple[JsonObject | None, Wire | None] = (None, None)
        self._last_signals: tuple[JsonObject, Wire, bool, Sequence[Signal]] | None = None
        self._steady: bool | None = None  # whether the second event names the first one's id
        self._stopped = False  # whether a stop was read
        self._closed = False  # whether nothing more belongs to it
        self._needle = b""  # the id as it is written in an event
        self._late_fault: FaultKind | None = None  # of an error that came behind the end mark
        self._away = False  # whether the last chunk had another id
        self._progress = RUNNING
        self._progressed = False

    @property
    def progress(self) -> Stop:
        """The stop as far as it is known; worked out when it is asked for."""
        if self._progressed:
            self._progress, self._progressed = self._sure(self.builder.progress()), False
        return self._progress

    @property
    def names_one(self) -> bool:
        """Whether a wire or a provider was named, so that what comes is said to be an answer."""
        return self._named is not None or self._likely is not None

    @property
    def sure(self) -> Confidence:
        """How sure it is that what came is of an API, where nothing in it tells."""
        return Confidence.HIGH if self.names_one else Confidence.LOW

    @property
    def is_over(self) -> bool:
        """Whether the answer has an end, so that what follows may be another one."""
        return self._stopped or self.builder.ended

    def close(self) -> None:
        """Note that nothing more belongs to what was read, if anything was: it came in an envelope
        of its own."""
        self._closed = self.known
        if self.known:
            self.feed([Ended()])

    @property
    def id(self) -> str:
        """The id of the answer; "" if it names none. Seldom asked for."""
        return self.given_id or answer_id(self.first)

    def feed(self, signals: Sequence[Signal]) -> None:
        """Add what was read of the answer."""
        ended = self.builder.ended
        for signal in signals:
            if ended and isinstance(signal, FaultSeen):
                self._late_fault = signal.fault.kind
                continue
            self.builder.feed(signal)
            if not isinstance(signal, _TELLS_NO_STOP):
                self._progressed = True
                self._stopped = self._stopped or _is_end(signal)

    def add_foreign(self, part: Foreign) -> None:
        """Add what an object of a framework says."""
        self.known, self.whole, self.holds_calls = True, part.whole, part.content
        self.running = not part.whole
        self.given_id = self.given_id or part.id
        self.feed([*part.signals, *([Ended()] if part.whole else [])])

    def add_object(self, value: JsonObject, body: bytes, *, in_lines: bool) -> bool:
        """Add an event or a whole body. Return False if it is neither.

        `body`: its bytes, if they are at hand; `in_lines`: whether each event is a line."""
        wire = self.wire_for(value)
        if wire is None:
            return False
        self.first = self.first or value
        if wire.is_event(value) or (self.running and in_lines):
            self.known = self.running = True
            self.feed(self.events_of(wire).signals(value))
            return True
        if self.events is not None:  # what ends a stream may look like a body
            value = self.events.new(value)
        is_last = self.running and wire.last_is_body
        signals = self._signals(wire, value, event=is_last)
        if garbled(body, signals):
            self.known = True
            return True
        if self.running and not signals:
            return True  # an event that a helper of an SDK adds
        if not any(map(_tells_end, signals)) and unread_stop(value) is not None:
            self.wire = self._named
            return False
        self.known = True
        self.feed(signals)
        if not (is_last and self.builder.waits_for_choice):  # each choice has a last event
            self.whole = True
            self.feed([Ended()])
        return True

    def takes_late(self, value: object) -> bool:
        """Return whether an event behind a stop still belongs to the answer. Behind the end mark,
        an error is noted: the answer is whole."""
        if not self.builder.ended:
            return True
        if isinstance(value, dict) and self.wire is not None:
            read = self.wire.parse_object(value, event=True)
            self.feed([one for one in read if isinstance(one, FaultSeen)])
        return False

    def add_failure(self, failure: Failure) -> None:
        """Add what an exception or an HTTP response says. Behind the beginning of an answer, it is
        surely that answer's. Nothing that follows belongs to it."""
        if not self.known:
            self._error = ShownError(failure.sure, raised=True)
        self.known = True
        if self.wire is None:
            self.error_wire = failure.wire
        self.feed([FaultSeen(failure.fault)])
        self.close()

    def built(self) -> Reading:
        """Return what was read of an answer that a wire knows."""
        if self.events is not None:
            self.feed(self.events.counted()[0])
        response = self.builder.build()
        stop = self._sure(response.stop)
        if not self.holds_calls and CALLS_MISSING in stop.anomalies:
            stop = replace(stop, anomalies=tuple(a for a in stop.anomalies if a != CALLS_MISSING))
        if (late := self._late_fault) is not None:
            told = {**stop.metadata, ERROR_AFTER_END: late.value}
            stop = replace(stop, anomalies=(*stop.anomalies, ERROR_AFTER_END), metadata=told)
        if stop is not response.stop:
            response = replace(response, stop=stop)
        return Reading(response, self.wire or self.error_wire)

    def _sure(self, stop: Stop) -> Stop:
        return self._error.stop(stop, has_wire=self.wire is not None)

    # --- what belongs to another answer

    def holds_none(self, value: JsonObject) -> bool:
        """Return whether an object is surely no answer, nor an event of one."""
        asked = not (self.names_one or self.running)
        if is_notice(value):
            return True
        if not asked or not is_lookalike(value, self._shape):
            return False
        return error_shown(value) is None and foreign(value) is None

    def opens_another_event(self, event: Frame) -> bool:
        """Return whether an event amid a stream is the first one of another stream."""
        data = event.data or b""
        if self._steady is None:
            this_id = self.id.encode("utf-8", "surrogatepass")
            self._needle = b'"%b"' % this_id if this_id else b""
            self._steady = bool(this_id) and self._needle in data
        turns = bool(self._needle) and (self._needle in data) is self._away
        opens = may_be_opening(data) is not None
        value = event_object(event) if turns or opens else None
        if not isinstance(value, dict) or (not opens and _CHUNKS.isdisjoint(value)):
            return False
        return self.opens_another(value)

    def opens_another(self, value: JsonObject) -> bool:
        """Return whether an event amid a stream, or behind it, is the first one of another. Some
        relays repeat the first event, and some give each chunk an id of its own."""
        new_id, this_id = answer_id(value), self.id
        differs = bool(new_id and this_id) and new_id != this_id
        if self._steady is None:
            self._steady = bool(new_id) and new_id == this_id
        self._note_mixed(value, new_id, differs=differs)
        if is_opening(value):
            so_far = self.builder.build(over=False)
            with_content = bool(so_far.text or so_far.reasoning or so_far.calls)
            return self.is_over or differs or with_content
        if not differs:
            return False
        role, alone = names_role(value)
        if role and (self.is_over or alone or self._steady):
            return True
        return self._is_piece_of_another(value)

    def _note_mixed(self, value: JsonObject, new_id: str, *, differs: bool) -> None:
        """Note whether a chunk is of a stream that another one interrupted: then several streams
        alternate. Some relays give each chunk an id of its own, but none comes back to an earlier
        one."""
        if _CHUNKS.isdisjoint(value):
            return
        back = (self._away and not differs) or new_id in self._left
        self.mixed = self.mixed or (back and bool(new_id))
        self._away = differs

    def _is_piece_of_another(self, value: JsonObject) -> bool:
        """Return whether an event with another id has content of its own answer: the last chunk of
        some streams has another id, too, and nothing but a stop or the usage. Where each chunk has
        an id of its own, only another wire's content shows it."""
        if parts := foreign(value):
            return bool(self._steady) and any(map(has_content, parts[0].signals))
        if holds_content(self.wire, value):
            return bool(self._steady)
        wire = wire_for_shape(value) if self._named is None else None
        return wire is not self.wire and holds_content(wire, value)

    def is_body_apart(self, value: JsonObject) -> bool:
        """Return whether an object is a whole body of another answer: it has another id or, where
        one of the two has none, another wire."""
        new_id, this_id = answer_id(value), self.id
        if _IN_BODIES.isdisjoint(value) or (new_id and new_id == this_id):
            return False
        wire = wire_for_shape(value)
        if wire is None or wire.is_event(value) or (wire.last_is_body and not self.is_over):
            return False
        if new_id and this_id:
            return True
        return self._named is None and self.wire not in (None, wire)

    def is_behind(self, value: JsonObject, *, in_lines: bool) -> bool:
        """Return whether an object is of another answer. `in_lines`: whether each event is a
        line."""
        if self._closed:
            return True
        if self.running and (self.opens_another(value) or self.is_body_apart(value)):
            return True
        return self.is_over and self.is_of_another(value, in_lines=in_lines)

    def is_of_another(self, value: JsonObject, *, in_lines: bool) -> bool:
        """Return whether an object behind the end of an answer belongs to another one. Some wires
        end a stream with an object that looks like a whole body, and some send more behind it.

        `in_lines`: whether each event is a line."""
        if self.is_body_apart(value):
            return True
        wire = self.wire if self.wire is not None and not self.whole else wire_for_shape(value)
        if foreign(value) is not None:
            wire = None
        if self.running and self.builder.ended and wire and wire.is_terminator(b"[DONE]"):
            return holds_content(wire, value)
        new_id = answer_id(value)
        if new_id and new_id == self.id:
            return self.whole and (wire is None or not wire.last_is_body)
        if wire is None:
            return self.whole
        signals = wire.parse_object(value, event=wire.is_event(value))
        apart = self.whole and (in_lines or not self.running)
        if apart and any(isinstance(one, FaultSeen) for one in signals):
            return True
        with_content = any(map(has_content, signals))
        if new_id and self.id:
            return with_content
        if not wire.last_is_body:
            return self.whole
        ends_once = value.get("done") is True and not self.running  # Ollama
        return (with_content or ends_once) and (in_lines or self.builder.ended)

    # --- which wire reads it

    def events_of(self, wire: Wire) -> EventReader:
        """Return the reader of a stream of this wire."""
        if self.events is None or self.events.wire is not wire:
            self.events = EventReader(wire, wire.make_incremental())
        return self.events

    def wire_of_event(self, event: Frame, *, in_messages: bool) -> Wire | None:
        """Return the wire of an event; None if no wire knows it. `in_messages`: whether events are
        binary messages, which the framing alone may tell."""
        if self.wire is None and in_messages:
            self.wire = wire_for_frame(event.raw)
        value = event_object(event)
        if isinstance(value, dict) and self.holds_none(value):
            return None
        if self.wire is not None:
            return self.wire
        if isinstance(value, dict):
            return self.wire_for(value)
        if self.strange:  # other programs end their streams with such a mark, too
            return None
        data = event.data or b""
        each = (wire for known in in_order() for wire in known.values())
        return next((wire for wire in each if wire.is_terminator(data)), None)

    def wire_for(self, value: JsonObject) -> Wire | None:
        """Return the wire of an object. A wire that was named is believed unless the object has the
        shape of another one. An error looks alike on most wires: whoever knows what it means may
        read it, else whoever sees that it is one."""
        if self.wire is not None:
            if not self.known and not shows(self.wire, value):
                self.wire = wire_for_shape(value) or self.wire
            return self.wire
        likely = self._likely
        if likely is not None and likely.looks_like(value):
            self.wire = likely
            return likely
        self.wire = self._shape(value)
        if self.wire is not None and likely is None and not names_itself(value):
            event = self.wire.is_event(value)
            if has_only_a_strange_stop(self._signals(self.wire, value, event=event)):
                self.wire = None
                return None
        if self.wire is not None or likely is not None:
            shared = "error" in value or "code" in value  # in forms that others write too
            if shared and not self.names_one:
                self._error = ShownError(error_shown(value) or Confidence.HIGH, value)
            self.error_wire = likely
            return self.wire or likely
        return self._wire_of_error(value)

    def _shape(self, value: JsonObject) -> Wire | None:
        """Return the wire whose shape an object has. Two steps ask for that of the same object."""
        if value is not self._last_shape[0]:
            self._last_shape = value, wire_for_shape(value)
        return self._last_shape[1]

    def _signals(self, wire: Wire, value: JsonObject, *, event: bool) -> Sequence[Signal]:
        """Return what a wire reads in an object. Two steps ask for that of the same object."""
        read = self._last_signals
        if read is None or value is not read[0] or (wire, event) != read[1:3]:
            read = self._last_signals = value, wire, event, wire.parse_object(value, event=event)
        return read[3]

    def _wire_of_error(self, value: JsonObject) -> Wire | None:
        sure = error_shown(value)
        if sure is None:
            return None
        wire, alone = wires_of_error(value)
        if wire is not None:
            self._error = ShownError(sure, value)
        if alone:
            self.error_wire = wire
        return wire


def is_held(value: object) -> TypeGuard[JsonObject]:
    """Return whether an object is one of a framework, or holds an answer as a part."""
    if not isinstance(value, dict):
        return False
    return foreign(value) is not None or unwrapped(out_of_batch(value)) is not value


def _is_end(signal: Signal) -> bool:
    """Return whether a signal is an end of an answer. Behind an event that cannot be read, more of
    it may come."""
    if isinstance(signal, FaultSeen):
        return signal.fault.kind is not FaultKind.GARBAGE
    return isinstance(signal, StopSeen)


def _tells_end(signal: Signal) -> bool:
    """Return whether a signal tells how a choice ended."""
    if isinstance(signal, ChoiceSeen):
        return any(map(_tells_end, signal.signals))
    return isinstance(signal, _ENDS)
