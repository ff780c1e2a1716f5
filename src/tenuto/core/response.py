"""What the signals of one attempt add up to.

Theory of operation
-------------------
`Builder.feed` takes signals in any order; `Builder.build` says what they amount to so far. It is
the only place where the several findings about an end are weighed (N3): an error first, then the
gravest native value, then the structure (calls, refusal), then nothing at all. Bodies and streams
go through the same builder, so that they cannot disagree.

Tool calls keep their raw argument text. Whether it is whole is judged here, strictly, and never
from a parsed object: parsers of the official SDKs make a cut call look whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tenuto.core.arguments import Finding, judge
from tenuto.core.fault import FAULT_CLASSES, Fault
from tenuto.core.record import record
from tenuto.core.signals import (
    Began,
    CallDelta,
    Closed,
    Ended,
    FaultSeen,
    OddSeen,
    OtherSeen,
    ReasoningDelta,
    RefusalDelta,
    Signal,
    StopSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from tenuto.core.stop import CLEAN, Confidence, Stop, StopReason, graver

THINK_BLOCK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


def visible(text: str) -> str:
    """Text without think blocks (closed or cut) and without white space around it (E1).

    >>> visible("<think>hm</think> yes "), visible("<think>cut in thoug")
    ('yes', '')
    """
    if "<think" in text:
        text = THINK_BLOCK.sub("", text)
    return text.strip()


def is_visible(text: str) -> bool:
    """Whether anything of `visible(text)` is left; text without think blocks is not copied for it.

    >>> is_visible(" yes"), is_visible(" \\n"), is_visible("<think>cut in thoug")
    (True, False, False)
    """
    if "<think" in text:
        text = THINK_BLOCK.sub("", text)
    return bool(text) and not text.isspace()


def think_closing(text: str) -> str:
    """What closes a think block that `text` leaves open, "" where none is open.

    >>> think_closing("<think>cut in thoug"), think_closing("<think>hm</think>")
    ('\\n</think>\\n\\n', '')
    """
    for tag in ("think", "thinking"):
        if text.rfind(f"<{tag}>") > text.rfind(f"</{tag}>"):
            return f"\n</{tag}>\n\n"
    return ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of the model.

    Attributes:
        id: the provider's id, or one of ours where it gave none or gave one twice.
        name: the tool's name, "" where the model gave none.
        arguments: the text to hand on: the raw text where it is a whole JSON object, the inner text
            where it was encoded twice, otherwise the raw text as far as it came.
        finding: whether that text is whole, empty, truncated or malformed.
        detail: a finer word for the finding, often "".
        free: True where the tool takes text of any form; `arguments` is then that text.
        extra: further keys of the call as the provider gave them, None where there were none.
    """

    id: str
    name: str
    arguments: str
    finding: Finding
    detail: str = ""
    free: bool = False
    extra: Mapping[str, object] | None = None


@record
class Response:
    """One attempt, read to its end (or as far as it came).

    Attributes:
        text: the answer's text, raw, think blocks included.
        reasoning: reasoning that came in a field of its own.
        refusal: text by which the model declined, "" where it did not.
        calls: the tool calls in the order of their first appearance.
        usage: the tokens of this attempt, None where the provider gave none.
        stop: why it ended.
        fault: the error that ended it, or None.
        mended: True where the calls differ from what the provider wrote (ids, types, encoding), so
            that handing on the bytes as they came would hand on the oddity too (T13).
        other: whether there is content that is neither text nor a call, such as an image.
        id: the provider's id, where a later request can go on from it; "" elsewhere.
    """

    text: str
    reasoning: str
    refusal: str
    calls: tuple[ToolCall, ...]
    usage: Usage | None
    stop: Stop
    fault: Fault | None = None
    mended: bool = False
    other: bool = False
    id: str = ""


Parameters = Callable[[], Mapping[str, Mapping[str, Any]]]
"""Gives the JSON Schema of each tool's parameters, by the tool's name."""


@dataclass(slots=True)
class _Slot:
    """A tool call while it is being collected."""

    index: int | None
    id: str
    name: str
    parts: list[str] = field(default_factory=list)
    free: bool = False
    may_be_empty: bool = False
    may_lack_id: bool = False
    decoded: bool = False
    unreadable: bool = False
    extra: dict[str, object] = field(default_factory=dict)


class _Calls:
    """Sorts call deltas into calls (T13, quirks Q5–Q9): by index, else by id, else a new id or name
    begins a new call. Providers leave out the index, repeat it, send "" for the id, or give two
    calls one id."""

    def __init__(self, salt: str, parameters: Parameters | None) -> None:
        self._salt = salt
        self._parameters = parameters
        self.slots: list[_Slot] = []
        self.odd: list[str] = []

    def feed(self, delta: CallDelta) -> None:
        slot = self._find(delta)
        if slot is None and delta.unreadable and not (delta.id or delta.name):
            return  # it belongs to something that is no call
        self.odd.extend(delta.odd)
        if slot is None:
            if delta.index is not None and any(s.index == delta.index for s in self.slots):
                self.odd.append("call_index_repeated")  # readers by index would take them for one
            slot = _Slot(delta.index, delta.id or "", delta.name or "")
            self.slots.append(slot)
        else:
            slot.id = slot.id or delta.id or ""
            slot.name = slot.name or delta.name or ""
        if delta.whole and delta.arguments is not None:
            # It may only add to what was said before: what contradicts it is judged as it came.
            if delta.arguments.startswith("".join(slot.parts)):
                slot.parts = [delta.arguments]
                slot.unreadable = slot.unreadable and not delta.arguments
            else:
                self.odd.append("call_arguments_differ")
        elif delta.arguments:
            slot.parts.append(delta.arguments)
        if delta.unreadable:
            slot.unreadable = True
            self.odd.append("arguments_unreadable")
        slot.free = slot.free or delta.free
        slot.may_be_empty = slot.may_be_empty or delta.may_be_empty
        slot.may_lack_id = slot.may_lack_id or delta.may_lack_id
        slot.decoded = slot.decoded or delta.decoded
        if delta.extra:
            slot.extra.update(delta.extra)

    def _find(self, delta: CallDelta) -> _Slot | None:
        if delta.whole and delta.id:
            named = [slot for slot in self.slots if slot.id == delta.id]
            if named:
                return next((s for s in named if s.index == delta.index), named[0])
        if delta.index is not None:
            # Backwards: where one index serves several calls, the newest one is meant.
            for slot in reversed(self.slots):
                if slot.index == delta.index:
                    another = _differ(delta.id, slot.id) or _differ(delta.name, slot.name)
                    return None if another else slot
            return None
        if delta.id:
            return next(
                (s for s in reversed(self.slots) if s.id == delta.id and not delta.name), None
            )
        if delta.name:
            return None
        return self.slots[-1] if self.slots else None

    def build(self, clean: bool) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
        """The calls as they stand, and what had to be put right in them. `clean` says that the stop
        allows empty arguments to mean {} (T12)."""
        calls: list[ToolCall] = []
        odd = list(self.odd)
        taken: set[str] = set()
        for number, slot in enumerate(self.slots):
            raw = "".join(slot.parts)
            found = judge(raw)
            finding, text, detail = found.finding, found.text, found.detail
            if slot.unreadable:
                finding, text, detail = Finding.MALFORMED, raw, "unreadable"
            elif slot.free:
                finding, text, detail = Finding.WHOLE, raw, "free"
            elif finding is Finding.EMPTY:
                # Some providers call a tool without parameters with "" or null.
                finding, text = (Finding.WHOLE, "{}") if clean else (Finding.TRUNCATED, raw)
                if not slot.may_be_empty:
                    odd.append("arguments_empty")
            elif finding is Finding.WHOLE and text != raw:
                odd.append("arguments_encoded_twice")
            if slot.decoded and finding is Finding.WHOLE and self._lacks(slot.name, text):
                finding, detail = Finding.TRUNCATED, "lacks_required"
            if not slot.name and finding is Finding.WHOLE:
                finding, detail = Finding.MALFORMED, "no_name"
            call_id = slot.id
            if not call_id or call_id in taken:
                if call_id or not slot.may_lack_id:
                    odd.append("call_id_duplicate" if call_id else "call_id_missing")
                call_id = _fresh_id(self._salt, number, taken)
            taken.add(call_id)
            extra = slot.extra or None
            calls.append(ToolCall(call_id, slot.name, text, finding, detail, slot.free, extra))
        return tuple(calls), tuple(dict.fromkeys(odd))

    def _lacks(self, name: str, arguments: str) -> bool:
        """Whether arguments lack a member that their tool requires: of a call that was decoded
        before it came, nothing else tells that it was cut (Q4, Q43 of the wires' quirks)."""
        if self._parameters is None:
            return False
        required = self._parameters().get(name, {}).get("required")
        given = json.loads(arguments)
        return isinstance(required, list) and any(
            isinstance(key, str) and key not in given for key in required
        )


def _later(before: Usage, now: Usage) -> Usage:
    """A later report replaces an earlier one in all that it says."""
    return Usage(
        before.input_tokens if now.input_tokens is None else now.input_tokens,
        before.output_tokens if now.output_tokens is None else now.output_tokens,
        before.reasoning_tokens if now.reasoning_tokens is None else now.reasoning_tokens,
        before.cached_tokens if now.cached_tokens is None else now.cached_tokens,
    )


def _differ(one: str | None, other: str) -> bool:
    return bool(one and other) and one != other


def _fresh_id(salt: str, number: int, taken: Iterable[str]) -> str:
    """An id of nine letters and digits, which the strictest provider (Mistral) accepts."""
    prefix = f"t{salt:0<5.5}" if salt else "tenuto"
    while (made := f"{prefix}{number:03d}") in set(taken):
        number += 1
    return made


RUNNING = Stop(StopReason.UNKNOWN, terminal=False)
"""The stop of a stream that still runs: nothing is known, and nothing is over."""


def worst_of(calls: Iterable[ToolCall]) -> Finding:
    """The worst finding: one broken call breaks the batch (T4), and a malformed one cannot be made
    whole. Arguments that never came were cut."""
    findings = {call.finding for call in calls}
    if Finding.MALFORMED in findings:
        return Finding.MALFORMED
    return Finding.TRUNCATED if findings - {Finding.WHOLE} else Finding.WHOLE


def _confidence(seen: StopSeen) -> Confidence:
    if not seen.readable:
        return Confidence.LOW
    return Confidence.HIGH if seen.known else Confidence.MEDIUM


class Builder:
    """Adds signals up to a `Response`.

    Args:
        cap_tokens: the output limit of the request, or None where it is not known; a clean stop at
            exactly this many tokens is suspicious (N12).
        salt: letters and digits by which ids made up here differ from those of other turns.
        overrides: native stops, in small letters, that mean something else here (N11).
        parameters: gives the tools' parameters, asked only of calls that came decoded.

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
        self._calls = _Calls(salt, parameters)
        self._stops: dict[tuple[str, str], StopSeen] = {}
        self._stop_repeated = False
        self._usage: Usage | None = None
        self._fault: Fault | None = None
        self._ended = False
        self._late = False
        self._other = False
        self._id = ""
        self._odd: list[str] = []

    @property
    def ended(self) -> bool:
        """Whether the transfer's own end mark was seen."""
        return self._ended

    @property
    def saying(self) -> Callable[[str], None]:
        """Takes texts of the answer, as `feed` takes a `TextDelta`, for as long as no stop has
        been seen: it notes none that comes late."""
        return self._text.append

    def feed(self, signal: Signal) -> None:
        """Take one signal. Never raises; signals after the end are kept and noted."""
        self._TAKEN_BY[type(signal)](self, signal)

    def _take_text(self, signal: TextDelta) -> None:
        self._text.append(signal.text)
        if self._stops:
            self._late = True

    def _take_reasoning(self, signal: ReasoningDelta) -> None:
        self._reasoning.append(signal.text)

    def _take_refusal(self, signal: RefusalDelta) -> None:
        self._refusal.append(signal.text)

    def _take_call(self, signal: CallDelta) -> None:
        self._calls.feed(signal)
        if self._stops:
            self._late = True

    def _take_stop(self, signal: StopSeen) -> None:
        if self._overrides:
            signal = self._as_overridden(signal)
        key = (signal.field, signal.raw)
        if key in self._stops:
            self._stop_repeated = True
        else:
            self._stops[key] = signal

    def _take_usage(self, signal: UsageSeen) -> None:
        before = self._usage
        self._usage = signal.usage if before is None else _later(before, signal.usage)

    def _take_fault(self, signal: FaultSeen) -> None:
        self._fault = self._fault or signal.fault

    def _take_other(self, signal: OtherSeen) -> None:
        self._other = True

    def _take_odd(self, signal: OddSeen) -> None:
        self._odd.append(signal.what)

    def _take_beginning(self, signal: Began) -> None:
        self._id = self._id or signal.id

    def _take_closing(self, signal: Closed) -> None:
        """A part ended: what it held has come."""

    def _take_end(self, signal: Ended) -> None:
        self._ended = True

    _TAKEN_BY: ClassVar[dict[type[Signal], Callable[[Builder, Any], None]]] = {
        Began: _take_beginning,
        TextDelta: _take_text,
        ReasoningDelta: _take_reasoning,
        RefusalDelta: _take_refusal,
        CallDelta: _take_call,
        OtherSeen: _take_other,
        OddSeen: _take_odd,
        Closed: _take_closing,
        StopSeen: _take_stop,
        UsageSeen: _take_usage,
        FaultSeen: _take_fault,
        Ended: _take_end,
    }

    def _as_overridden(self, seen: StopSeen) -> StopSeen:
        reason = (self._overrides or {}).get(seen.raw.strip().lower())
        if reason is None:
            return seen
        self._overridden = True
        return StopSeen(seen.raw, seen.field, reason, readable=seen.readable)

    def progress(self) -> Stop:
        """The stop as far as it is known while the stream still runs: `RUNNING` until a stop, an
        error or the end mark was seen. Content is not judged unless nothing else tells, so that
        asking after every event is cheap."""
        if self._fault is None and not self._stops:
            return self.build(over=False).stop
        slots = self._calls.slots
        calls = tuple(ToolCall(s.id, s.name, "", Finding.EMPTY) for s in slots[:1])
        return self._stop("", "".join(self._refusal), calls, over=False)

    def build(self, *, over: bool = True) -> Response:
        """What has come so far. `over=False` asks while the stream still runs: the stop is then
        `RUNNING` unless an end was seen."""
        text = "".join(self._text)
        refusal = "".join(self._refusal)
        calls, odd = self._built_calls()
        stop = self._stop(text, refusal, calls, over)
        if calls and stop.terminal and (worst := worst_of(calls)) is not Finding.WHOLE:
            stop = replace(stop, broken=worst.value)
        if odd:
            stop = replace(stop, anomalies=(*stop.anomalies, *odd))
        return Response(
            text,
            "".join(self._reasoning),
            refusal,
            calls,
            self._usage,
            stop,
            self._fault,
            mended=bool(odd),
            other=self._other,
            id=self._id,
        )

    def _built_calls(self) -> tuple[tuple[ToolCall, ...], Sequence[str]]:
        if not self._calls.slots:
            return (), (*self._odd, *dict.fromkeys(self._calls.odd))
        # An end that is only inferred does not say that a call without arguments is whole (T12).
        seen = {seen.reason for seen in self._stops.values()}
        calls, odd = self._calls.build(self._fault is None and bool(seen) and seen <= CLEAN)
        return calls, (*self._odd, *odd)

    def _stop(self, text: str, refusal: str, calls: tuple[ToolCall, ...], over: bool) -> Stop:
        seen, anomalies = self._seen()
        if self._fault is not None:
            reason = FAULT_CLASSES[self._fault.kind].reason
            raw, where = (seen.raw, seen.field) if seen else (self._fault.code or None, "error")
            detail = (seen.detail if seen else None) or self._fault.kind
            return Stop(reason, raw, where, detail, Confidence.HIGH, anomalies)
        if seen is None:
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
                reason = StopReason.END_TURN
                anomalies = (*anomalies, "tool_calls_missing")
            if self._at_cap():
                anomalies = (*anomalies, "suspected_truncation")
        return Stop(reason, seen.raw, seen.field, seen.detail, _confidence(seen), anomalies)

    def _seen(self) -> tuple[StopSeen | None, tuple[str, ...]]:
        """The native stop that is believed, with what was odd about there being several (S6)."""
        if not self._stops:
            return None, ()
        best, *others = self._stops.values()
        for other in others:
            if graver(best.reason, other.reason) is not best.reason:
                best = other
        if any(other.reason is not best.reason for other in self._stops.values()):
            return best, ("stops_differ",)
        return best, ("stop_repeated",) if self._stop_repeated else ()

    def _absent(self, text: str, refusal: str, calls: tuple[ToolCall, ...], over: bool) -> Stop:
        """No native value at all: inferred from the content after an orderly end, else dropped."""
        if not self._ended:
            return Stop(StopReason.DROPPED) if over else RUNNING
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

    def _at_cap(self) -> bool:
        used = self._usage.output_tokens if self._usage else None
        return used is not None and self._cap_tokens is not None and used == self._cap_tokens
