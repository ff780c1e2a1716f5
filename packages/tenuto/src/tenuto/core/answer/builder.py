"""Combine the signals of one attempt into a response.

Theory of operation
-------------------
`Builder.feed` takes signals in any order, and `Builder.build` returns the response so far. Only the
builder weighs conflicting evidence about the end (N3): an error counts first, then the gravest
native value, then the structure (calls, refusal), then the absence of all of these. Bodies and
streams go through the same builder, so that they cannot disagree. Each further choice has a builder
of its own: an answer is over when all of its choices are, and the gravest end counts (S6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import LACKS_REQUIRED, Calls, Parameters, ToolCall, worst_of
from tenuto.core.answer.closing import ends_closed
from tenuto.core.answer.fault import FAULT_CLASSES, Fault
from tenuto.core.answer.response import Response, is_visible
from tenuto.core.answer.signals import (
    Began,
    CallDelta,
    ChoiceSeen,
    Closed,
    Ended,
    FaultSeen,
    HalfSeen,
    OddSeen,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    TransferEnded,
    Usage,
    UsageSeen,
    WordsSeen,
)
from tenuto.core.answer.stop import (
    CALLS_MISSING,
    CLEAN,
    NO_STOP_BUT_FAULT,
    STOPS_DIFFER,
    Confidence,
    Stop,
    StopReason,
    graver,
    gravest,
)
from tenuto.core.answer.written_call import is_written_call

_NOTHING = (0, 0, 0)
"""The number of pieces of an answer before any has arrived."""

RUNNING = Stop(StopReason.UNKNOWN, terminal=False)
"""The stop of a stream that still runs: nothing is known yet, and nothing is over."""


_SAYS_NO_CUT = frozenset({*CLEAN, StopReason.PAUSED})
"""Stops beside which a call that lacks a required member is the model's own (T12b)."""


class Builder:
    """Combine signals into a `Response`.

    Args:
        cap_tokens: the output limit of the request; None if it is not known. A clean stop at
            this many tokens is suspicious (N12).
        salt: letters and digits that distinguish ids made up here from those of other turns.
        overrides: native stops, in lower case, that mean something else here (N11).
        parameters: returns the tools' parameters. It is only called at an answer's end.

    >>> builder = Builder()
    >>> for signal in (TextDelta("Hel"), TextDelta("lo"), Ended()):
    ...     builder.feed(signal)
    >>> response = builder.build()
    >>> response.text, response.stop.reason.value, response.stop.confidence.value
    ('Hello', 'end_turn', 'medium')
    """

    def __init__(
        self,
        cap_tokens: int | None = None,
        salt: str = "",
        overrides: Mapping[str, StopReason] | None = None,
        parameters: Parameters | None = None,
    ) -> None:
        self._cap_tokens = cap_tokens
        self._overrides = overrides
        self._overridden = False
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls = Calls(salt, parameters)
        self._stops: dict[tuple[str, str], StopSeen] = {}
        self._stop_repeated = False
        self._words: dict[str, str] = {}
        self._usage: Usage | None = None
        self._fault: Fault | None = None
        self._noted: set[type[Signal]] = set()  # signals that only count as seen or not
        self._transfer: TransferEnded | None = None
        self._call_pieces = self._empties = 0
        self._texts_before_call = 0
        self._closed_at = self._counted_at = _NOTHING
        self._empties_closed = 0
        self._counts_run = False
        self._late = False
        self._behind_stop = False  # whether content came after the last stop
        self._stops_run = False  # whether each piece of the text has a stop
        self._texts_at_stop = 0
        self._id = ""
        self._odd: list[str] = []
        self._repaired: list[str] = []
        self._others: dict[int, Builder] = {}  # the choices beyond the first, by their number
        self._make_other = partial(Builder, None, salt, overrides, parameters)

    @property
    def ended(self) -> bool:
        """Whether the end mark of the transfer was seen."""
        return Ended in self._noted

    @property
    def marked(self) -> bool:
        """Whether the provider marked the end of the answer: with a stop of each choice that
        nothing followed, or with the end mark."""
        own = not self._first_came or (self.has_stop and not self._stop_is_no_end())
        return self.ended or (own and all(other.marked for other in self._others.values()))

    @property
    def has_stop(self) -> bool:
        """Whether a stop came, of the first choice if there are several."""
        return bool(self._stops)

    @property
    def waits_for_choice(self) -> bool:
        """Whether one of several choices has no stop yet."""
        others = self._others.values()
        waits = (self._first_came and not self.has_stop) or not all(
            other.has_stop for other in others
        )
        return bool(others) and waits

    @property
    def _first_came(self) -> bool:
        """Whether anything of the first choice came. It need not be the first to come."""
        if not self._others or self._come != _NOTHING or self._stops or self._refusal:
            return True
        return bool(self._empties) or self._fault is not None or OtherSeen in self._noted

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    @property
    def text_adder(self) -> Callable[[str], None]:
        """A function that takes text of the answer, as `feed` takes a `TextDelta`. Use it only
        until the first stop: it doesn't note text that comes late."""
        return self._text.append

    def feed(self, signal: Signal) -> None:
        """Take one signal. This never raises; signals after the end are kept and noted."""
        self._FEEDERS[type(signal)](self, signal)

    def _feed_text(self, signal: TextDelta) -> None:
        if signal.text:
            self._text.append(signal.text)
        else:
            self._empties += 1
        if self._stops:
            self._late = True
            self._behind_stop = self._behind_stop or bool(signal.text.strip())

    def _feed_reasoning(self, signal: ReasoningDelta) -> None:
        if signal.text:
            self._reasoning.append(signal.text)
            self._behind_stop = self._behind_stop or bool(self._stops)
        else:
            self._empties += 1

    def _feed_refusal(self, signal: RefusalDelta) -> None:
        self._refusal.append(signal.text)
        self._behind_stop = self._behind_stop or bool(self._stops and signal.text)

    def _feed_call(self, signal: CallDelta) -> None:
        known = len(self._calls.slots)
        self._calls.feed(signal)
        self._call_pieces += 1
        if not signal.whole or len(self._calls.slots) > known:  # one that is sent again was earlier
            self._texts_before_call = len(self._text)
        if self._stops:
            self._late = self._behind_stop = True

    def _feed_stop(self, signal: StopSeen) -> None:
        self._behind_stop = False
        texts = len(self._text) - self._texts_at_stop
        if self._stops and texts:
            self._stops_run = texts == 1
        self._texts_at_stop = len(self._text)
        if self._overrides:
            signal = self._as_overridden(signal)
        key = (signal.field, signal.raw)
        if key in self._stops:
            self._stop_repeated = True
        else:
            self._stops[key] = signal

    def _feed_words(self, signal: WordsSeen) -> None:
        self._words |= signal.words

    def _feed_usage(self, signal: UsageSeen) -> None:
        before = self._usage
        self._usage = signal.usage if before is None else _later(before, signal.usage)
        come = self._come
        # Usage came between two pieces of the answer, so usage after the next piece is no sign of
        # the end either.
        between = self._counted_at not in (_NOTHING, come)
        self._counts_run = self._counts_run or signal.running or between
        self._counted_at = come

    @property
    def _come(self) -> tuple[int, int, int]:
        """The number of pieces of the answer so far, by kind."""
        return len(self._text), len(self._reasoning), self._call_pieces

    def _feed_fault(self, signal: FaultSeen) -> None:
        self._fault = self._fault or signal.fault

    def _feed_odd(self, signal: OddSeen) -> None:
        (self._repaired if signal.repaired else self._odd).append(signal.what)

    def _feed_beginning(self, signal: Began) -> None:
        self._id = self._id or signal.id

    def _feed_closing(self, signal: Closed) -> None:
        self._closed_at, self._empties_closed = self._come, self._empties

    def _feed_choice(self, signal: ChoiceSeen) -> None:
        other = self._others.get(signal.number)
        if other is None:
            other = self._others[signal.number] = self._make_other()
        for each in signal.signals:
            other.feed(each)

    def _feed_transfer_end(self, signal: TransferEnded) -> None:
        self._transfer = signal
        self._end_others(signal)

    def _feed_end(self, signal: Ended | HalfSeen) -> None:
        self._note(signal)
        self._end_others(signal)

    def _end_others(self, signal: Signal) -> None:
        for other in self._others.values():
            other.feed(signal)

    def _note(self, signal: Signal) -> None:
        self._noted.add(type(signal))

    _FEEDERS: ClassVar[dict[type[Signal], Callable[[Builder, Any], None]]] = {
        Began: _feed_beginning,
        TextDelta: _feed_text,
        ReasoningDelta: _feed_reasoning,
        RefusalDelta: _feed_refusal,
        CallDelta: _feed_call,
        OtherSeen: _note,
        OddSeen: _feed_odd,
        ChoiceSeen: _feed_choice,
        Closed: _feed_closing,
        StopSeen: _feed_stop,
        WordsSeen: _feed_words,
        UsageSeen: _feed_usage,
        FaultSeen: _feed_fault,
        HalfSeen: _feed_end,
        TransferEnded: _feed_transfer_end,
        Ended: _feed_end,
    }

    def _as_overridden(self, seen: StopSeen) -> StopSeen:
        reason = (self._overrides or {}).get(seen.raw.strip().lower())
        if reason is None:
            return seen
        self._overridden = True
        return StopSeen(seen.raw, seen.field, reason, readable=seen.readable, beside=seen.beside)

    def progress(self) -> Stop:
        """Return the stop as far as it is known while the stream still runs: `RUNNING` until a
        stop, an error or the end mark was seen. Content is judged only if there is no other
        evidence, so this is cheap enough to call after every event."""
        if self._fault is None and self.waits_for_choice and not self.ended:
            return RUNNING
        others = [other.progress() for other in self._others.values()]
        return gravest([*([self._own_progress()] if self._first_came else []), *others])

    def _own_progress(self) -> Stop:
        if self._fault is None and not self._stops:
            return self._built(over=False).stop
        slots = self._calls.slots
        calls = tuple(ToolCall(s.id, s.name, "", Finding.EMPTY) for s in slots[:1])
        return self._stop("", "".join(self._refusal), calls, over=False)

    def build(self, *, over: bool = True) -> Response:
        """Return the response so far. With `over=False`, the stream still runs: the stop is then
        `RUNNING` unless every choice has an end."""
        own = self._built(over=over)
        if not self._others:
            return own
        choices = [other.build(over=over) for other in self._others.values()]
        choices += [own] if self._first_came else []
        stop = gravest([choice.stop for choice in choices])
        stopped = all(choice.stopped for choice in choices)
        return replace(own, stop=stop, stopped=stopped, several=True)

    def _built(self, *, over: bool) -> Response:
        """Return the response of the first choice."""
        text = "".join(self._text)
        refusal = "".join(self._refusal)
        calls, odd = self._built_calls()
        behind = self._text[self._texts_before_call :]
        stop = self._stop(text, refusal, calls, over)
        if not calls and stop.reason in CLEAN and is_written_call(text, self._calls.tools):
            stop = replace(stop, anomalies=(*stop.anomalies, "call_written_as_text"))
        if calls and stop.terminal and (lacking := self._calls.lacking(calls)):
            if self._was_cut(stop):
                calls = tuple(_as_cut(call) if call.id in lacking else call for call in calls)
            else:
                stop = replace(stop, anomalies=(*stop.anomalies, "call_lacks_required"))
        if calls and stop.terminal and (worst := worst_of(calls)) is not Finding.WHOLE:
            stop = replace(stop, broken=worst.value)
        if odd or self._repaired:
            stop = replace(stop, anomalies=(*stop.anomalies, *self._repaired, *odd))
        return Response(
            text,
            "".join(self._reasoning),
            refusal,
            calls,
            self._usage,
            stop,
            self._fault,
            repaired=bool(odd),
            calls_alternate=self._calls.alternate,
            other=OtherSeen in self._noted,
            text_behind_calls=bool(calls) and is_visible("".join(behind)),
            stopped=self._all_clean() and not self._behind_stop,
            contradicted=self._contradicts_itself(),
            counted=self._counted_last(),
            unmarked=self._ended_unmarked(stop, calls),
            id=self._id,
        )

    def _all_clean(self) -> bool:
        """Return whether there is a stop, and every stop means a clean end."""
        seen = {seen.reason for seen in self._stops.values()}
        return bool(seen) and seen <= CLEAN

    def _contradicts_itself(self) -> bool:
        """Return whether two stops differ in what a reader does about them."""
        if len(self._stops) < 2 or self._others:
            return False
        told = {seen.reason for seen in self._stops.values() if not seen.explains}
        return len(told - {StopReason.STOP_SEQUENCE}) > 1

    def _built_calls(self) -> tuple[tuple[ToolCall, ...], Sequence[str]]:
        if not self._calls.slots:
            return (), (*self._odd, *dict.fromkeys(self._calls.odd))
        # An inferred end is no evidence that a call without arguments is complete (T12).
        clean = self._fault is None and self._all_clean() and not self._stop_is_no_end()
        calls, odd = self._calls.build(clean)
        return calls, (*self._odd, *odd)

    def _stop(self, text: str, refusal: str, calls: tuple[ToolCall, ...], over: bool) -> Stop:
        seen, anomalies = self._seen()
        if self._fault is not None:
            reason = FAULT_CLASSES[self._fault.kind].reason
            raw, where = (
                (seen.raw, seen.field) if seen else (self._fault.code or None, NO_STOP_BUT_FAULT)
            )
            detail = (seen.detail if seen else None) or self._fault.kind
            beside = {**dict(seen.beside if seen else ()), **self._words}
            return Stop(reason, raw, where, detail, Confidence.HIGH, anomalies, metadata=beside)
        if seen is None or (calls and not seen.raw):  # an end that says nothing is none (N1a)
            return self._absent(text, refusal, calls, over)
        reason = seen.reason
        if self._overridden:
            anomalies = (*anomalies, "stop_overridden")
        if self._late:
            anomalies = (*anomalies, "content_after_stop")
        if reason in CLEAN:
            if refusal:
                reason = StopReason.REFUSAL
            elif calls:
                reason = StopReason.TOOL_CALL
            elif reason is StopReason.TOOL_CALL:
                anomalies = (*anomalies, CALLS_MISSING)
            if self._at_cap():
                anomalies = (*anomalies, "suspected_truncation")
        sure, beside = _confidence(seen), {**dict(seen.beside), **self._words}
        return Stop(reason, seen.raw, seen.field, seen.detail, sure, anomalies, metadata=beside)

    def _seen(self) -> tuple[StopSeen | None, tuple[str, ...]]:
        """Return the native stop that counts, and the anomalies if there were several (S6)."""
        if not self._stops or self._stop_is_no_end():
            return None, ()
        if len(self._stops) == 1:
            return next(iter(self._stops.values())), ("stop_repeated",) * self._stop_repeated
        best, *others = self._stops.values()
        for other in others:
            if graver(best.reason, other.reason) is not best.reason:
                best = other
        if any(other.reason is not best.reason for other in self._stops.values()):
            return best, (STOPS_DIFFER,)
        return best, ("stop_repeated",) * self._stop_repeated

    def _stop_is_no_end(self) -> bool:
        """Return whether content came after the last stop, and then a break, a close that marks no
        end, or any end inside a word or a sentence. Such a stop is no evidence of an end (S1a):
        some relays send one with each piece of the reasoning or of the text, or with each call."""
        if self.ended or not (self._behind_stop or self._stops_run):
            return False
        if HalfSeen in self._noted or self._fault is not None:
            return True
        if self._transfer is None or not self._behind_stop:
            return False
        half = self._late and not self._calls.slots and not ends_closed("".join(self._text))
        return half or not self._transfer.delimited

    def _absent(self, text: str, refusal: str, calls: tuple[ToolCall, ...], over: bool) -> Stop:
        """Return the stop if there is no native value: inferred from the content after an orderly
        end, otherwise `DROPPED`."""
        if not self.marked:
            if not over:
                return RUNNING
            if not self._may_be_whole(calls) or not self._shows_its_end():
                return Stop(StopReason.DROPPED)
        note = ("no_stop",)
        if refusal:
            return Stop(StopReason.REFUSAL, confidence=Confidence.MEDIUM, anomalies=note)
        if calls:
            whole = all(call.finding is Finding.WHOLE for call in calls)
            reason = StopReason.TOOL_CALL if whole else StopReason.UNKNOWN
            sure = Confidence.MEDIUM if whole else Confidence.LOW
            return Stop(reason, confidence=sure, anomalies=note)
        if is_visible(text):
            return Stop(StopReason.END_TURN, confidence=Confidence.MEDIUM, anomalies=note)
        return Stop(StopReason.UNKNOWN, confidence=Confidence.LOW, anomalies=note)

    def _may_be_whole(self, calls: tuple[ToolCall, ...]) -> bool:
        """Return whether nothing shows that more was on its way when the transfer ended. A broken
        transfer, half an event, or a part or call without its end would show it (S3a)."""
        if self._transfer is None or HalfSeen in self._noted:
            return False
        closed = (self._closed_at, self._empties_closed) == (self._come, self._empties)
        if self._transfer.parts_close and not closed:
            return False
        return all(call.finding is Finding.WHOLE for call in calls)

    def _shows_its_end(self) -> bool:
        """Return whether an answer without a stop and without an end mark is over all the same:
        this provider sends no end mark, or the usage came last in a transfer that was complete."""
        transfer = self._transfer
        if transfer is None or transfer.unmarked:
            return transfer is not None
        return transfer.delimited and self._counted_last()

    def _counted_last(self) -> bool:
        """Return whether the usage came behind the content, and only there."""
        return self._counted_at == self._come != _NOTHING and not self._counts_run

    def _ended_unmarked(self, stop: Stop, calls: tuple[ToolCall, ...]) -> bool:
        """Return whether only the end of the transfer shows that the answer is over."""
        transfer = self._transfer
        if stop.reason is StopReason.DROPPED:
            return self._may_be_whole(calls)
        if transfer is None or not transfer.unmarked or self.marked:
            return False
        return not (transfer.delimited and self._counted_last())

    def _was_cut(self, stop: Stop) -> bool:
        """Return whether anything beside a call says that the answer was cut: the stop, a break, or
        a usage at the limit (T12b)."""
        return stop.reason not in _SAYS_NO_CUT or self._at_cap()

    def _at_cap(self) -> bool:
        if self._others:
            return False  # the usage is that of all choices
        used = self._usage.output_tokens if self._usage else None
        return used is not None and self._cap_tokens is not None and used >= self._cap_tokens


def _later(before: Usage, now: Usage) -> Usage:
    """Merge two reports of usage: each number of the later one replaces that of the earlier one,
    except that a prompt does not shrink."""
    inputs = [n for n in (before.input_tokens, now.input_tokens) if n is not None]
    return Usage(
        max(inputs, default=None),
        before.output_tokens if now.output_tokens is None else now.output_tokens,
        before.reasoning_tokens if now.reasoning_tokens is None else now.reasoning_tokens,
        before.cached_tokens if now.cached_tokens is None else now.cached_tokens,
    )


def _as_cut(call: ToolCall) -> ToolCall:
    return replace(call, finding=Finding.TRUNCATED, detail=LACKS_REQUIRED)


def _confidence(seen: StopSeen) -> Confidence:
    if not seen.readable:
        return Confidence.LOW
    return Confidence.HIGH if seen.known else Confidence.MEDIUM
