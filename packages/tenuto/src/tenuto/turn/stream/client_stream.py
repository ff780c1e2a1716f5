"""The client stream: the one message that the caller sees, however many attempts it took.

Theory of operation
-------------------
During the first attempt, the client stream forwards the provider's events as the bytes that came.
It buffers what a recovery might have to change: events with nothing but white space (S4, C7), and
everything from the first event with a tool call, a stop, the usage or an error. If the turn ends
well, it flushes the buffer unchanged, so the caller has the same bytes as without Tenuto (P8).

An event that only closes a part (S4) waits until the next event shows that another part follows,
since a continuation may have to continue in that part.

If another attempt follows, the buffered text is delivered, with anything beside it. Calls, the stop
and the usage are dropped. From then on, the wire's writer continues the first message: the same id,
text without repetitions, one end. The writer sees every forwarded event, so it knows which part is
open. A repetition may span several parts. While the stitcher holds or removes text, what comes
between the parts waits for it; the text that is left is then split among the parts that it came in,
as in a whole body (S2).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.parts import (
    AnySignal,
    Kind,
    Message,
)
from tenuto.core.answer.signals import (
    CallDelta,
    ChoiceSeen,
    Closed,
    FaultSeen,
    ReasoningDelta,
    StopSeen,
    TextDelta,
)
from tenuto.core.seam.seam import ends_cut, trailing_space
from tenuto.core.seam.stitcher import Stitcher
from tenuto.frames.frame import Frame, Framing
from tenuto.frames.sse_codec import SseCodec
from tenuto.frames.templates import Templates
from tenuto.turn.drivers.call_context import CallContext, TextListener
from tenuto.turn.stream.attempt_writer import AttemptWriter
from tenuto.turn.stream.framing import StreamFraming, rule_for_events
from tenuto.turn.stream.held import (
    PART_AT_ONCE,
    WRITTEN,
    WRITTEN_OR_CLOSED,
    Held,
    Kinds,
    begins_part,
    carried_by,
    is_forwardable,
    texts_in,
)
from tenuto.turn.stream.merger import Merger, merger
from tenuto.turn.stream.plans import PlanStitcher
from tenuto.wires.base import Wire
from tenuto.wires.blocks_content import split_among
from tenuto.wires.json import JsonObject
from tenuto.wires.layout import FlatLayout
from tenuto.wires.stream import EventReader, event_object
from tenuto.wires.usage import of_turn, revised

_Placed = Sequence[AnySignal] | None
"""What the merger receives of an event: its signals; None if the event has no object."""

_TEMPLATE_MAX_BYTES = 4_096
"""Longer templates are not kept for another stream."""


class ClientStream:
    """What the caller receives of a streamed turn.

    Args:
        wire: the format.
        model: the model in the request.
        hold_max_bytes: how much may be held back; 0 for no limit.
        forwards_all: whether the turn is only observed: every byte is then forwarded at once.
        context: the loop that listens to the answer; None if there is none.
        templates: what events of other streams looked like, by the function that reads them; the
            client stream adds to it.
        framing: how the caller's stream is framed; None for server-sent events.
        holds_text: whether all text waits for the end, within `hold_max_bytes`.

    Attributes:
        writing: whether events are written by the wire rather than forwarded.
        broken: whether an event of the attempt could not be read, so that text after it would
            follow a gap.
    """

    def __init__(
        self,
        wire: Wire,
        model: str,
        hold_max_bytes: int,
        forwards_all: bool,
        context: CallContext | None = None,
        templates: Templates | None = None,
        framing: StreamFraming | None = None,
        *,
        holds_text: bool = False,
    ) -> None:
        self._wire = wire
        self._hold_max_bytes = hold_max_bytes
        self.forwards_all: bool = forwards_all
        self._framing = framing or StreamFraming(rule_for_events(SseCodec))
        self.writer: Merger | FlatLayout = merger(wire.layout(model))
        self._merger = self.writer if isinstance(self.writer, Merger) else None
        self._begun = False  # whether the writer knows which message it is
        self._last_forwarded = b""  # the last event that was forwarded unchanged
        self._noted = 0
        self._usages: list[JsonObject | None] = []  # what each attempt said of its usage
        self.ending: JsonObject = {}
        self.provider_error: JsonObject | None = None
        self._templates: Templates = {} if templates is None else templates
        # A reader that was made for one request reads events like others of its kind.
        self._read_by = wire.read.func if isinstance(wire.read, partial) else wire.read
        # Both belong to the current attempt.
        self._reader: EventReader
        self._attempt: AttemptWriter
        self._delivered: list[str] = []
        on_text = context.on_text if context is not None else None
        self._add_delivered = (
            self._delivered.append if on_text is None else self._deliver_and_pass_to(on_text)
        )
        self._on_reasoning = context.on_reasoning if context is not None else None
        self._held = Held()
        self._holds_text = holds_text
        self._holding_all = self._holds_long = False
        self._more_held = False
        self._pending = ""
        self.writing: bool = False
        self._signals = 0
        self.broken: bool = False

    def _deliver_and_pass_to(self, on_text: TextListener) -> Callable[[str], None]:
        def add_delivered(text: str) -> None:
            if text:
                self._delivered.append(text)
                on_text(text)

        return add_delivered

    @property
    def message(self) -> Message:
        """The parts of the attempt that began last."""
        return self._reader.message

    @property
    def content_count(self) -> int:
        """A counter that grows with everything that carries content, unlike a keep-alive."""
        return self._signals + len(self._delivered)

    @property
    def may_forward(self) -> bool:
        """Whether text may be forwarded at once: the first event has identified the message, and
        nothing has closed yet."""
        return self._begun and not (self._holding_all or self._holds_text)

    @property
    def delivered_text(self) -> str:
        """All text that the caller has received."""
        return "".join(self._delivered)

    @property
    def text(self) -> str:
        """All text of the message, including text that is held but will be delivered."""
        return self.delivered_text + self._pending

    @property
    def only_text(self) -> bool:
        """Whether the held events are only ones that the wire would write alike: a stop, usage, and
        text in events with nothing else that is new."""
        return not self._more_held

    def begin_message(self, value: JsonObject) -> None:
        """Read the identity of the message from its first event, or from a whole body."""
        self.writer.begin(value)
        self._begun = True

    def begin(
        self,
        seam: Stitcher | None,
        *,
        apart: bool = False,
        plan: PlanStitcher | None = None,
        withholds: bool = False,
    ) -> bytes:
        """Start an attempt. Once the caller has received anything, the wire writes.

        `apart`: whether the attempt is separate from the text so far, so that no seam waits for
        anything; `plan`: where its plan joins the plan so far; `withholds`: whether nothing of its
        text is shown before `set_text` says what is."""
        self._attempt = AttemptWriter(
            self._merger, seam, plan, self._hold_max_bytes, withholds=withholds
        )
        self.broken = False
        self._usages.append(None)
        self._reader = EventReader(self._wire, known=self._templates.get(self._read_by, ()))
        self._drop_held()
        if not self.writing and not self._begun:
            return b""
        self._start_writing()
        rest = self.flush_text() if apart else b""
        # The seam has the white space that is still to come; without a seam there was none.
        self._pending = ""
        return rest + self.framed(self.writer.next_attempt(apart=apart))

    def end(self, builder: Builder) -> bytes:
        """End an attempt; return what the seam still held."""
        self._count(builder)
        known = self._reader.matcher.known
        self._templates[self._read_by] = [t for t in known if len(t) <= _TEMPLATE_MAX_BYTES]
        return self._attempt.end(self, builder) if self.writing else b""

    def event(self, event: Frame, builder: Builder) -> bytes:
        """Add an event: feed its signals to the builder, and return the bytes to forward now."""
        # The first event identifies the message, and once something closes nothing flows any more.
        if self.may_forward:
            quick = self._reader.read_plain(event)
            if quick is not None:
                self._signals += 1
                builder.feed(quick)
                begun: _Placed = None
                kind = Kind.TEXT if isinstance(quick, TextDelta) else Kind.REASONING
                if not self.message.flow(kind, quick.text):
                    self._reader.read(event)
                    if any(map(begins_part, self._reader.placed)):
                        begun = self._reader.placed
                if self._on_reasoning is not None and isinstance(quick, ReasoningDelta):
                    self._on_reasoning(quick.text)
                return self._forward_quick(quick, event, begun)
        self._count(builder)
        signals, value = self._reader.read(event)
        self._signals += len(signals)
        kinds = {type(signal) for signal in signals}
        if value is not None:
            self._note(kinds, value)
        for signal in signals:
            builder.feed(signal)
        if FaultSeen in kinds and value is None and not self.forwards_all and not self._holding_all:
            self.broken = True
        if self._on_reasoning is not None and ReasoningDelta in kinds:
            self._on_reasoning("".join(s.text for s in signals if isinstance(s, ReasoningDelta)))
        placed = None if value is None else self._reader.placed
        if self._only_waits and not kinds and self._keeps_alive(event, value):
            return event.raw
        if self.writing and not self.forwards_all:
            return self._attempt.write(self, signals, event, placed)
        text = ""
        if TextDelta in kinds:
            text = "".join(s.text for s in signals if isinstance(s, TextDelta))
        if ChoiceSeen in kinds and not self.forwards_all:
            # Tenuto doesn't recover an answer with several choices (C28), so nothing need wait.
            self.forwards_all = True
            return self.flush() + self._forward_all(text, kinds, event)
        if self.forwards_all:
            return self._forward_all(text, kinds, event)
        return self._forward(text, kinds, event, placed)

    @property
    def _only_waits(self) -> bool:
        """Whether the caller receives nothing at the moment, or nothing as it comes (S4a)."""
        return not self.forwards_all and (self.writing or self._holds_long)

    def _keeps_alive(self, event: Frame, value: JsonObject | None) -> bool:
        """Return whether an event only keeps the connection alive."""
        if value is None:
            return event.data is None and self._framing.codec.is_comment(event)
        return bool(self._wire.keep_alive) and value.get("type") == self._wire.keep_alive

    def _forward_all(self, text: str, kinds: Kinds, event: Frame) -> bytes:
        self._add_delivered(text)
        self._holding_all = self._holding_all or StopSeen in kinds
        return event.raw

    def fast_path(self, builder: Builder, most_bytes: int) -> Callable[[bytes], bytes | None]:
        """Return a function that takes pieces of the stream that are one event like an earlier one,
        for `ReadMore`. Nearly all pieces are, so this does the work of `event` in as few steps as
        possible.

        `most_bytes`: the largest event; 0 for no limit. Only use it while `may_forward`."""
        reader, matcher, held = self._reader, self._reader.matcher, self._held.newest
        text_of = matcher.text
        add_text, add_delivered = builder.text_adder, self._add_delivered
        message, on_reasoning = self.message, self._on_reasoning
        most_bytes = most_bytes or sys.maxsize

        def forward(raw: bytes) -> bytes | None:
            text = text_of(raw)
            if text is None or len(raw) > most_bytes:
                return None
            if held or not matcher.template.plain or text.isspace() or text[-1] == "\ufffd":
                return forward_slowly(raw, text)
            part = message.open  # as in `flow`, without the call
            if part is not None and part.kind is Kind.TEXT and not part.closed:
                part.pieces.append(text)
            elif not message.flow(Kind.TEXT, text):
                return None
            add_text(text)
            add_delivered(text)
            self._last_forwarded = raw
            return raw

        def forward_slowly(raw: bytes, text: str) -> bytes | None:
            if 0 < self._hold_max_bytes < self._held.carried_bytes + len(raw):
                return None
            is_text = matcher.template.kind is TextDelta
            kind = Kind.TEXT if is_text else Kind.REASONING
            if not message.flow(kind, text):
                return None
            self._signals += 1
            if matcher.template.counts:
                reader.counting = raw[matcher.template.data_at]
            if is_text:
                add_text(text)
            else:
                builder.feed(ReasoningDelta(text))
                if on_reasoning is not None:
                    on_reasoning(text)
                text = ""
            if self.forwards_all:
                add_delivered(text)
                return raw
            return self._forward_plain(text, raw, None)

        return forward

    def _forward_quick(
        self, signal: TextDelta | ReasoningDelta, event: Frame, placed: _Placed
    ) -> bytes:
        """Do the same as `event` for the signal of nearly every event."""
        text = signal.text if isinstance(signal, TextDelta) else ""
        if self.forwards_all:
            self._add_delivered(text)
            return event.raw
        if self.writing:
            looks = isinstance(signal, ReasoningDelta)
            return self._attempt.write(
                self, [signal], event, self._placed_in(event) if looks else None
            )
        return self._forward_plain(text, event.raw, placed)

    def _forward_plain(self, text: str, raw: bytes, placed: _Placed) -> bytes:
        """Forward an event of text or reasoning, unless its text may have to be changed."""
        if text.isspace() or ends_cut(text):
            self._pending += text
            return self._hold(raw, placed, text)
        before = self.flush(text) if self._held.newest else b""
        if placed is not None:
            self._note_forwarded()
            self.writer.given(placed)
        if before:
            self._note_forwarded(text)
        else:
            self._pending += text
        if b"{" in raw:
            self._last_forwarded = raw
        return before + self._deliver(raw)

    def _count(self, builder: Builder) -> None:
        """Read the usage that came beside forwarded texts."""
        signals, usage = self._reader.counted()
        for signal in signals:
            builder.feed(signal)
        self._revise(usage)

    def _revise(self, usage: JsonObject | None) -> None:
        """Add usage of the attempt, which may revise what came before."""
        if usage is not None:
            self._usages[-1] = revised(self._usages[-1], usage)

    @property
    def in_messages(self) -> bool:
        """Whether the caller reads binary messages, in which AWS tells errors as exceptions."""
        return self._framing.writes.framing is Framing.MESSAGES

    @property
    def raw_usage(self) -> JsonObject | None:
        """The native usage object of the turn, whose counts of tokens are those of one attempt;
        None: none came."""
        return of_turn(self._usages, self._wire.summed_usage)

    def _note(self, kinds: Kinds, value: JsonObject) -> None:
        """Note what an event's object says about the whole message."""
        if not self._begun and FaultSeen not in kinds:
            self.begin_message(value)
        self._revise(self._wire.usage_object(value))
        if StopSeen in kinds:
            self.ending = value
        if FaultSeen in kinds and value.get("error") and not self.writing:
            self.provider_error = value

    # --- the first attempt: bytes as they came

    def _forward(self, text: str, kinds: Kinds, event: Frame, placed: _Placed) -> bytes:
        raw = event.raw
        if not event.terminated and placed is None:
            return self._hold(raw, None)  # half an event: only useful if nothing follows it
        if (self._holds_text and text) or CallDelta in kinds:
            self._holding_all = self._holds_long = True
        if self._holding_all or not is_forwardable(kinds):
            is_plain = not text or self._reader.matcher.text(event.raw) is not None
            written = WRITTEN if self._merger is None else WRITTEN_OR_CLOSED
            self._more_held = self._more_held or not (is_plain and kinds <= written)
            self._pending += text
            self._holding_all = self._holding_all or not (Closed in kinds and kinds <= PART_AT_ONCE)
            self._hold(raw, placed)
            if self._holds_text and self.overfull:  # longer than may be held: it flows from here on
                self._holds_text = self._holding_all = False
                return self.flush()
            return b""
        if not kinds and self._held.newest:
            return self._hold(raw, placed)
        return self._forward_plain(text, raw, placed)

    def _hold(self, raw: bytes, placed: _Placed, text: str = "") -> bytes:
        """Hold an event back. `text`: all that it carries, if it is text alone."""
        carries = len(text) if text and placed is None else carried_by(placed, raw)
        self._held.add(raw, carries=carries, has_object=placed is not None)
        return b""

    def _held_signals(self) -> Iterator[Sequence[AnySignal]]:
        """Yield what the held events carry, like `_placed_in`."""
        for raw in self._held.events():
            placed = self._placed_in(self._framing.writes.kept(raw))
            if placed is not None:
                yield placed

    def _placed_in(self, event: Frame) -> _Placed:
        """Return what an event carries, as the writer reads it; None if it has no object."""
        value = event_object(event)
        if not isinstance(value, dict):
            return None
        return self._wire.read(value, event=True)

    def flush(self, text: str = "") -> bytes:
        """Return the held events unchanged. `text`: the text of the event after them."""
        self._note_forwarded(self._pending)
        for placed in self._held_signals():
            self.writer.given(placed)
        out = self._held.whole()
        self._held.clear()
        self._pending += text
        self._deliver(out)
        self._noted = len(self._delivered)
        return out

    def _note_forwarded(self, text: str = "") -> None:
        """Report forwarded text to the merger. `text`: the text that is forwarded next."""
        if self._merger is not None:
            texts = self._delivered[self._noted :]
            self._noted = len(self._delivered)
            self._merger.note_forwarded_texts([*texts, text] if text else texts)

    def _start_writing(self) -> None:
        """Write events from here on, instead of forwarding them."""
        if self._last_forwarded and not self.writing:
            self._note_forwarded()
            last = event_object(self._framing.writes.kept(self._last_forwarded))
            self.writer.follow(last if isinstance(last, dict) else None)
        self.writing = True

    def _deliver(self, raw: bytes) -> bytes:
        if self._pending:
            self._add_delivered(self._pending)
            self._pending = ""
        return raw

    @property
    def most_held_bytes(self) -> int:
        """The most that was held at once, in bytes of what the events carry (S4a)."""
        return self._held.most_carried_bytes

    @property
    def overfull(self) -> bool:
        """Whether more is held than the policy allows."""
        return self._held.is_beyond(self._hold_max_bytes)

    # --- further attempts: one message, written by the wire

    def write_beside(self, placed: Sequence[AnySignal]) -> bytes:
        """Write what an event carries besides text."""
        rest = self.flush_text() if self._pending and self.writer.parts(placed) else b""
        return rest + self.framed(self.writer.passed(placed))

    def write_text(self, text: str) -> bytes:
        """Deliver text, except white space at its end, which waits for what follows."""
        text = self._pending + text
        ready = trailing_space(text)[0]
        self._pending = text[len(ready) :]
        if not ready:
            return b""
        self._add_delivered(ready)
        return self.framed(self.writer.text(ready))

    def set_text(self, text: str) -> None:
        """Set all text of the message. What the caller does not have of it comes with the end."""
        self._pending = text[len(self.delivered_text) :]

    def stop_forwarding(self, *, withholds: bool = False) -> bytes:
        """Drop the bytes that are held, but not their content; from here on the wire writes.
        `withholds`: also drop their text, which `set_text` repeats."""
        if withholds:
            self._drop_held()
            self._start_writing()
            self._pending = ""
            return b""
        held = list(self._held_signals())
        self._drop_held()
        self._start_writing()
        pending, self._pending = self._pending, ""
        texts = ["".join(texts_in(placed)) for placed in held]
        before, kept = split_among(texts, pending)
        out = [self.write_text(before)]
        for placed, text in zip(held, kept, strict=True):
            out += [self.write_beside(placed), self.write_text(text)]
        return b"".join(out)

    def _drop_held(self) -> None:
        self._held.clear()
        self._holding_all = False

    def flush_text(self) -> bytes:
        """Deliver all pending text, including white space."""
        self._start_writing()
        text, self._pending = self._pending, ""
        if not text:
            return b""
        self._add_delivered(text)
        return self.framed(self.writer.text(text))

    def framed(self, events: bytes) -> bytes:
        """Return events that the wire wrote in the framing that the caller reads."""
        return self._framing.writes.recoded(events)
