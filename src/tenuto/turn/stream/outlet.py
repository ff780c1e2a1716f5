"""The outlet: the one message that the caller sees of a stream, however many attempts it took.

Theory of operation
-------------------
While the first attempt runs, the provider's events are handed on as the bytes that came. What might
have to be changed is held back: events with nothing but white space (S4, C7), and everything from
the first event with a tool call, a stop, the usage or an error. At the end of a good turn, the held
events follow unchanged, so the caller has the same bytes as without Tenuto (P8).

An event that only closes a part (S4) is held until the next one shows that another part follows,
since a continuation may have to continue in that part.

If another attempt is needed, the held text is delivered, and anything beside it. Calls, the stop
and the usage are dropped, and from then on the wire's writer continues the first message: the same
id, text without repetitions, one end. The writer sees every event that is handed on, so that it
knows which part is open. A repetition may span several parts. While the joint holds text or removes
it, what comes between the parts waits for it, and the text that is handed on is then split among
the parts it came in, as in a whole body (S2).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.parts import (
    AnySignal,
    Beside,
    CallPiece,
    Kind,
    Message,
    Opened,
    PartClosed,
    Piece,
    Restated,
)
from tenuto.core.answer.response import broke_off, is_at_limit
from tenuto.core.answer.signals import (
    Began,
    CallDelta,
    ChoiceSeen,
    Closed,
    Ended,
    FaultSeen,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    UsageSeen,
)
from tenuto.core.seam.joint import Joint
from tenuto.core.seam.seam import ends_cut, trailing_space
from tenuto.frames.frame import Frame, Framing
from tenuto.frames.sse_codec import SseCodec
from tenuto.frames.templates import Templates
from tenuto.turn.drivers.call_context import CallContext, Told
from tenuto.turn.stream.framing import StreamFraming, rule_for_events
from tenuto.turn.stream.held import Held, carried_by
from tenuto.turn.stream.merger import Merger, merger
from tenuto.turn.stream.plans import PlanJoint
from tenuto.wires.base import Wire
from tenuto.wires.blocks_content import dealt
from tenuto.wires.json import JsonObject
from tenuto.wires.layout import FlatLayout
from tenuto.wires.stream import EventReader, event_object
from tenuto.wires.usage import of_turn, revised

_Kinds = Set[type[Signal]]
_Told = Sequence[AnySignal] | None
"""What the merger receives of an event: its signals; None if the event has no object."""

_FLOWING: _Kinds = {Began, TextDelta, ReasoningDelta, RefusalDelta, OtherSeen}
_FLOWING_OR_COUNT: _Kinds = {*_FLOWING, UsageSeen}
_WRITTEN: _Kinds = {TextDelta, StopSeen, UsageSeen, Ended}
_WRITTEN_OR_CLOSED: _Kinds = {*_WRITTEN, Closed}
_CLOSED: _Kinds = {Closed}
_WHOLE: _Kinds = {Closed, TextDelta, ReasoningDelta, RefusalDelta}
"""What an event has that closes a part, some of whose text came only now."""

_TEMPLATE_MAX_BYTES = 4_096
"""Longer templates are not kept for another stream."""


class Outlet:
    """What the caller receives of a streamed turn.

    Args:
        wire: the format.
        model: the model in the request.
        hold_max_bytes: how much may be held back; 0 for no limit.
        transparent: whether the turn is only watched: every byte is then handed on at once.
        context: the loop that listens to the answer; None if there is none.
        templates: what events of other streams looked like, by the function that reads them; the
            outlet adds to it.
        framing: how the caller's stream is framed; None for server-sent events.
        holds_text: whether all text waits for the end, within `hold_max_bytes`.

    Attributes:
        broken: whether an event of the attempt could not be read, so that text after it would
            follow a gap.
    """

    def __init__(
        self,
        wire: Wire,
        model: str,
        hold_max_bytes: int,
        transparent: bool,
        context: CallContext | None = None,
        templates: Templates | None = None,
        framing: StreamFraming | None = None,
        *,
        holds_text: bool = False,
    ) -> None:
        self._wire = wire
        self._hold_max_bytes = hold_max_bytes
        self.transparent: bool = transparent
        self._framing = framing or StreamFraming(rule_for_events(SseCodec))
        self.writer: Merger | FlatLayout = merger(wire.layout(model))
        self._merger = self.writer if isinstance(self.writer, Merger) else None
        self._begun = False  # whether the writer knows which message it is
        self._last = b""  # the last event that was handed on unchanged
        self._followed = 0
        self._usages: list[JsonObject | None] = []  # what each attempt said of its usage
        self.ending: JsonObject = {}
        self.told_error: JsonObject | None = None
        self._templates: Templates = {} if templates is None else templates
        # A reader that was made for one request reads events like others of its kind.
        self._read_by = wire.read.func if isinstance(wire.read, partial) else wire.read
        self._reader: EventReader  # of the current attempt
        self._delivered: list[str] = []
        said = context.said if context is not None else None
        self._give = self._delivered.append if said is None else self._telling(said)
        self._thought = context.thought if context is not None else None
        self._held = Held()
        self._holds_text = holds_text
        self._withholds = False
        self._holding_all = self._holds_long = False
        self._more_held = False
        self._pending = ""
        self._writing = False
        self._joint: Joint | None = None
        # The texts of an attempt that its joint holds or removed, each in its pieces, and what came
        # behind it.
        self._unsaid: list[tuple[list[str], list[Sequence[AnySignal]]]] = []
        self._unsaid_bytes = 0
        self._plan: PlanJoint | None = None
        self._spoke = False
        self._part_ended = False
        self._signals = 0
        self.broken: bool = False

    def _telling(self, said: Told) -> Callable[[str], None]:
        def give(text: str) -> None:
            if text:
                self._delivered.append(text)
                said(text)

        return give

    @property
    def message(self) -> Message:
        """The parts of the attempt that began last."""
        return self._reader.message

    @property
    def writing(self) -> bool:
        """Whether events are written by the wire rather than forwarded."""
        return self._writing

    @property
    def heard(self) -> int:
        """A counter that grows with everything that carries content, unlike a keep-alive."""
        return self._signals + len(self._delivered)

    @property
    def flows(self) -> bool:
        """Whether text may be handed on at once: the first event has identified the message, and
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
        """Take the identity of the message from its first event, or from a whole body."""
        self.writer.begin(value)
        self._begun = True

    def begin(
        self,
        seam: Joint | None,
        *,
        apart: bool = False,
        plan: PlanJoint | None = None,
        withholds: bool = False,
    ) -> bytes:
        """Start an attempt. Once the caller has received anything, the wire writes.

        `apart`: whether the attempt is separate from the text so far, so that no seam is owed
        anything; `plan`: where its plan joins the plan so far; `withholds`: whether nothing of its
        text is shown before `owe` says what is."""
        self._joint, self._plan, self._withholds = seam, plan, withholds
        self._spoke = self._part_ended = self.broken = False
        self._unsaid, self._unsaid_bytes = [], 0
        self._usages.append(None)
        self._reader = EventReader(self._wire, known=self._templates.get(self._read_by, ()))
        self._drop_held()
        if not self._writing and not self._begun:
            return b""
        self._take_over()
        rest = self.say_rest() if apart else b""
        # The seam knows of the white space that is owed; without a seam there was none.
        self._pending = ""
        return rest + self.framed(self.writer.next_attempt(apart=apart))

    def end(self, builder: Builder) -> bytes:
        """End an attempt; return what the seam still held."""
        self._count(builder)
        known = self._reader.matcher.known
        self._templates[self._read_by] = [t for t in known if len(t) <= _TEMPLATE_MAX_BYTES]
        seam, self._joint = self._joint, None
        plan, self._plan = self._plan, None
        if (seam is None and plan is None) or not self._writing:
            return b""
        response = builder.build()
        broke = broke_off(response)
        rest = plan.rest(broke_off=broke) if plan is not None else ()
        out = self.framed(self.writer.passed(rest)) if rest else b""
        if seam is None:
            return out
        return out + self._settle(seam.finish(broke_off=broke, at_limit=is_at_limit(response)))

    def event(self, event: Frame, builder: Builder) -> bytes:
        """Take one event: feed its signals to the builder, and return the bytes to hand on now."""
        # The first event identifies the message, and once something closes nothing flows any more.
        if self.flows:
            quick = self._reader.flowing(event)
            if quick is not None:
                self._signals += 1
                builder.feed(quick)
                begun: _Told = None
                kind = Kind.TEXT if isinstance(quick, TextDelta) else Kind.REASONING
                if not self.message.flow(kind, quick.text):
                    self._reader.read(event)
                    if any(map(_begins_part, self._reader.placed)):
                        begun = self._reader.placed
                if self._thought is not None and isinstance(quick, ReasoningDelta):
                    self._thought(quick.text)
                return self._flowing(quick, event, begun)
        self._count(builder)
        signals, value = self._reader.read(event)
        self._signals += len(signals)
        kinds = {type(signal) for signal in signals}
        if value is not None:
            self._note(kinds, value)
        for signal in signals:
            builder.feed(signal)
        if FaultSeen in kinds and value is None and not self.transparent and not self._holding_all:
            self.broken = True
        if self._thought is not None and ReasoningDelta in kinds:
            self._thought("".join(s.text for s in signals if isinstance(s, ReasoningDelta)))
        told = None if value is None else self._reader.placed
        if self._only_waits and not kinds and self._keeps_alive(event, value):
            return event.raw
        if self._writing and not self.transparent:
            return self._write(signals, event, told)
        text = ""
        if TextDelta in kinds:
            text = "".join(s.text for s in signals if isinstance(s, TextDelta))
        if ChoiceSeen in kinds and not self.transparent:
            # Tenuto doesn't recover an answer with several choices (C28), so nothing need wait.
            self.transparent = True
            return self.release() + self._watched(text, kinds, event)
        if self.transparent:
            return self._watched(text, kinds, event)
        return self._forward(text, kinds, event, told)

    @property
    def _only_waits(self) -> bool:
        """Whether the caller receives nothing at the moment, or nothing as it comes (S4a)."""
        return not self.transparent and (self._writing or self._holds_long)

    def _keeps_alive(self, event: Frame, value: JsonObject | None) -> bool:
        """Return whether an event only keeps the connection alive."""
        if value is None:
            return event.data is None and self._framing.codec.is_comment(event)
        return bool(self._wire.keep_alive) and value.get("type") == self._wire.keep_alive

    def _watched(self, text: str, kinds: _Kinds, event: Frame) -> bytes:
        self._give(text)
        self._holding_all = self._holding_all or StopSeen in kinds
        return event.raw

    def taking(self, builder: Builder, most_bytes: int) -> Callable[[bytes], bytes | None]:
        """Return a function that takes pieces of the stream that are one event like an earlier one,
        for `ReadMore`. Nearly all pieces are, so this does the work of `event` in as few steps as
        possible.

        `most_bytes`: the largest event; 0 for no limit. Only use it while `flows`."""
        reader, matcher, held = self._reader, self._reader.matcher, self._held.newest
        text_of = matcher.text
        say, give, thought = builder.saying, self._give, self._thought
        message = self.message
        most_bytes = most_bytes or sys.maxsize

        def take(raw: bytes) -> bytes | None:
            text = text_of(raw)
            if text is None or len(raw) > most_bytes:
                return None
            if held or not matcher.template.plain or text.isspace() or text[-1] == "\ufffd":
                return take_slowly(raw, text)
            part = message.open  # as in `flow`, without the call
            if part is not None and part.kind is Kind.TEXT and not part.closed:
                part.pieces.append(text)
            elif not message.flow(Kind.TEXT, text):
                return None
            say(text)
            give(text)
            self._last = raw
            return raw

        def take_slowly(raw: bytes, text: str) -> bytes | None:
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
                say(text)
            else:
                builder.feed(ReasoningDelta(text))
                if thought is not None:
                    thought(text)
                text = ""
            if self.transparent:
                give(text)
                return raw
            return self._settled(text, raw, None)

        return take

    def _flowing(self, signal: TextDelta | ReasoningDelta, event: Frame, told: _Told) -> bytes:
        """Do the same as `event` for the signal of nearly every event."""
        text = signal.text if isinstance(signal, TextDelta) else ""
        if self.transparent:
            self._give(text)
            return event.raw
        if self._writing:
            looks = isinstance(signal, ReasoningDelta)
            return self._write([signal], event, self._told_by(event) if looks else None)
        return self._settled(text, event.raw, told)

    def _settled(self, text: str, raw: bytes, told: _Told) -> bytes:
        """Forward an event that flows, unless its text may have to be changed."""
        if text.isspace() or ends_cut(text):
            self._pending += text
            return self._hold(raw, told, text)
        before = self.release(text) if self._held.newest else b""
        if told is not None:
            self._follow()
            self.writer.given(told)
        if before:
            self._follow(text)
        else:
            self._pending += text
        if b"{" in raw:
            self._last = raw
        return before + self._deliver(raw)

    def _count(self, builder: Builder) -> None:
        """Take the usage that came beside texts that flowed."""
        signals, usage = self._reader.counted()
        for signal in signals:
            builder.feed(signal)
        self._revise(usage)

    def _revise(self, usage: JsonObject | None) -> None:
        """Take what the attempt says of its usage, which may revise what it said before."""
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

    def _note(self, kinds: _Kinds, value: JsonObject) -> None:
        """Note what an event's object says about the whole message."""
        if not self._begun and FaultSeen not in kinds:
            self.begin_message(value)
        self._revise(self._wire.usage_object(value))
        if StopSeen in kinds:
            self.ending = value
        if FaultSeen in kinds and value.get("error") and not self._writing:
            self.told_error = value

    # --- the first attempt: bytes as they came

    def _forward(self, text: str, kinds: _Kinds, event: Frame, told: _Told) -> bytes:
        raw = event.raw
        if not event.terminated and told is None:
            return self._hold(raw, None)  # half an event: only useful if nothing follows it
        if (self._holds_text and text) or CallDelta in kinds:
            self._holding_all = self._holds_long = True
        if self._holding_all or not _flows(kinds):
            alike = not text or self._reader.matcher.text(event.raw) is not None
            written = _WRITTEN if self._merger is None else _WRITTEN_OR_CLOSED
            self._more_held = self._more_held or not (alike and kinds <= written)
            self._pending += text
            self._holding_all = self._holding_all or not (Closed in kinds and kinds <= _WHOLE)
            self._hold(raw, told)
            if self._holds_text and self.overfull:  # longer than may be held: it flows from here on
                self._holds_text = self._holding_all = False
                return self.release()
            return b""
        if not kinds and self._held.newest:
            return self._hold(raw, told)
        return self._settled(text, raw, told)

    def _hold(self, raw: bytes, told: _Told, text: str = "") -> bytes:
        """Hold an event. `text`: all that it carries, if it flowed."""
        carries = len(text) if text and told is None else carried_by(told, raw)
        self._held.add(raw, carries=carries, is_told=told is not None)
        return b""

    def _told(self) -> Iterator[Sequence[AnySignal]]:
        """Yield what the held events carry, like `_told_by`."""
        for raw in self._held.told():
            told = self._told_by(self._framing.writes.kept(raw))
            if told is not None:
                yield told

    def _told_by(self, event: Frame) -> _Told:
        """Return what an event carries, as the writer reads it; None if it has no object."""
        value = event_object(event)
        if not isinstance(value, dict):
            return None
        return self._wire.read(value, event=True)

    def release(self, text: str = "") -> bytes:
        """Return the held events unchanged. `text`: the text of the event after them."""
        self._follow(self._pending)
        for told in self._told():
            self.writer.given(told)
        out = self._held.whole()
        self._held.clear()
        self._pending += text
        self._deliver(out)
        self._followed = len(self._delivered)
        return out

    def _follow(self, text: str = "") -> None:
        """Tell the merger which texts were handed on, and that this one is next."""
        if self._merger is not None:
            texts = self._delivered[self._followed :]
            self._followed = len(self._delivered)
            self._merger.said([*texts, text] if text else texts)

    def _take_over(self) -> None:
        """Let the wire write from here on."""
        if self._last and not self._writing:
            self._follow()
            last = event_object(self._framing.writes.kept(self._last))
            self.writer.follow(last if isinstance(last, dict) else None)
        self._writing = True

    def _deliver(self, raw: bytes) -> bytes:
        if self._pending:
            self._give(self._pending)
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

    def _write(self, signals: list[Signal], event: Frame, told: _Told) -> bytes:
        if event.data is None:  # fields without data belong to another message
            return b""
        out: list[bytes] = []
        # Text before a call need not wait for the call: little text ever follows one.
        full = 0 < self._hold_max_bytes < self._unsaid_bytes
        if self._joint and (full or (self._part_ended and CallDelta in map(type, signals))):
            out.append(self._settle(self._joint.finish()))
            self._joint = None
        if told is not None:
            told = told if self._plan is None else self._plan.of(told)
            if self._unsaid and any(map(_has_place, told)):
                self._unsaid[-1][1].append(told)
                self._unsaid_bytes += carried_by(told, event.raw)
            else:
                out.append(self._pass(told))
        for signal in signals:
            if isinstance(signal, TextDelta):
                self._spoke = self._spoke or bool(signal.text)
                out.append(self._join(signal.text))
            elif isinstance(signal, Closed):
                self._part_ended = self._spoke
        return b"".join(out)

    def _pass(self, told: Sequence[AnySignal]) -> bytes:
        """Write what an event carries besides text."""
        rest = self.say_rest() if self._pending and self.writer.parts(told) else b""
        return rest + self.framed(self.writer.passed(told))

    def _join(self, text: str) -> bytes:
        """Deliver what the joint hands on of a text."""
        if self._withholds:
            return b""
        given = self._joint.feed(text) if self._joint else text
        if self._merger is None or not text:
            return self.say(given)
        if given == text and not self._unsaid:
            self._merger.heard(text)
            return self.say(given)
        if not self._unsaid or self._unsaid[-1][1]:
            self._unsaid.append(([], []))
        self._unsaid[-1][0].append(text)
        return self._settle(given) if given else b""

    def _settle(self, given: str) -> bytes:
        """Deliver what the joint handed on of the texts that it held, with what came between them.
        What it removed came first."""
        runs, self._unsaid, self._unsaid_bytes = self._unsaid, [], 0
        texts = ["".join(pieces) for pieces, _ in runs]
        before, kept = dealt(texts, given)
        if not runs:
            return self.say(before)
        kept[0] = before + kept[0]
        out: list[bytes] = []
        for (_, behind), text, rest in zip(runs, texts, kept, strict=True):
            if self._merger is not None:
                self._merger.heard(text)
            out.append(self.say(rest))
            out += map(self._pass, behind)
        return b"".join(out)

    def say(self, text: str) -> bytes:
        """Deliver text, except white space at its end, which waits for what follows."""
        text = self._pending + text
        ready = trailing_space(text)[0]
        self._pending = text[len(ready) :]
        if not ready:
            return b""
        self._give(ready)
        return self.framed(self.writer.text(ready))

    def owe(self, said: str) -> None:
        """Take all text of the message. What the caller does not have of it comes with the end."""
        self._pending = said[len(self.delivered_text) :]

    def stop_forwarding(self, *, withholds: bool = False) -> bytes:
        """Drop the bytes that are held, but not their content; from here on the wire writes.
        `withholds`: also drop their text, which `owe` repeats."""
        if withholds:
            self._drop_held()
            self._take_over()
            self._pending = ""
            return b""
        held = list(self._told())
        self._drop_held()
        self._take_over()
        pending, self._pending = self._pending, ""
        texts = ["".join(_texts_in(told)) for told in held]
        before, kept = dealt(texts, pending)
        out = [self.say(before)]
        for told, text in zip(held, kept, strict=True):
            out += [self._pass(told), self.say(text)]
        return b"".join(out)

    def _drop_held(self) -> None:
        self._held.clear()
        self._holding_all = False

    def say_rest(self) -> bytes:
        """Deliver all pending text, including white space."""
        self._take_over()
        text, self._pending = self._pending, ""
        if not text:
            return b""
        self._give(text)
        return self.framed(self.writer.text(text))

    def framed(self, events: bytes) -> bytes:
        """Return events that the wire wrote in the framing that the caller reads."""
        return self._framing.writes.recoded(events)


def _texts_in(told: Sequence[AnySignal]) -> Iterator[str]:
    """Yield the pieces of text of an event."""
    for signal in told:
        if isinstance(signal, Piece | Opened) and signal.kind is Kind.TEXT:
            yield (signal.text if isinstance(signal, Piece) else signal.says) or ""


def _begins_part(signal: AnySignal) -> bool:
    """Return whether a piece may be the first of a part that no other signal announces."""
    return isinstance(signal, Piece) and signal.holds is not None


def _has_place(signal: AnySignal) -> bool:
    """Return whether the writer needs this at its place among the texts."""
    if isinstance(signal, Piece):
        return signal.kind is not Kind.TEXT or signal.raw is not None
    if isinstance(signal, Beside):
        return bool(signal.place)
    return isinstance(signal, Opened | CallPiece | PartClosed | Restated)


def _flows(kinds: _Kinds) -> bool:
    """Return whether an event may be handed on at once: it carries text or reasoning and nothing
    that ends anything, or nothing at all. Usage beside text is a running count."""
    return not kinds or (kinds <= _FLOWING_OR_COUNT and not kinds.isdisjoint(_FLOWING))
