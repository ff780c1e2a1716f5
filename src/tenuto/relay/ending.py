"""The end of a turn: what the caller sees (P1a).

One table of the wire says how each outcome shows; what needs nothing is handed on as it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenuto.core.actions import Content, Finish, Status
from tenuto.core.fault import FaultKind
from tenuto.core.hints import NOTICE
from tenuto.core.outcome import Outcome
from tenuto.core.policy import Policy
from tenuto.core.report import Report
from tenuto.core.response import Response
from tenuto.core.stop import StopReason
from tenuto.frames.compression import UndecodableBytes
from tenuto.relay.commands import (
    READ,
    Head,
    Headers,
    Lost,
    Open,
    Reply,
    Reraise,
    Run,
    Wait,
    Write,
)
from tenuto.relay.streams import open_as_events
from tenuto.relay.turn import Attempt, Turn
from tenuto.relay.usage import counted, summed, usage_comment, usage_line
from tenuto.wire.base import Answer, JsonObject, Shown, Spoken
from tenuto.wire.stops import in_other_words, look_up


def ends_in_error(finish: Finish, shown: Shown, policy: Policy) -> bool:
    """Whether the caller gets an error: it asked for one, or the wire has no stop that says it."""
    if finish.status is Status.COMPLETE:
        return False
    bare = finish.status is Status.FAILED and not shown.received
    no_stop = (shown.error is not None or bare) and not finish.as_received
    return policy.on_incomplete == "error" or no_stop


_MESSAGE_CHARS = 2_000
"""As much of a provider's own words is repeated in an error."""

_MISREAD = frozenset({"no_stop", "content_after_stop"})
"""Anomalies of whole answers that some readers lose the text of: Strands wants a stop, and looks at
nothing behind it. Who asks for errors asks for certainty, so these are put right for them."""


_ASKS_TO_WAIT = (b"retry-after", b"retry-after-ms")
"""Headers by which a provider asks to wait: an error in place of its own hands them on (P5)."""

_LOST = {
    FaultKind.TIMEOUT: "ended in a timeout",
    FaultKind.CONNECTION: "lost its connection",
}
"""How an attempt ended of which the provider says nothing."""

_WHOSE = {
    FaultKind.LIMIT: "A limit was passed",
    FaultKind.NOT_THIS_API: "What came",
    FaultKind.REDIRECTED: "What came",
    FaultKind.CONNECTION: "What failed",
    FaultKind.TIMEOUT: "What failed",
}
"""What stands before the words of a fault that are ours and not the provider's."""


class Ending:
    """Shows the caller how a turn ended."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._last: Attempt | None = None

    def show(self, finish: Finish, attempt: Attempt, report: Report) -> Run:
        """The head and the bytes that are still to come."""
        self._last = attempt
        if attempt.lost and attempt is self._turn.first and self._nothing_came(finish):
            # Nothing of ours was sent either: the SDK retries by itself, and its users know its own
            # exception (P1b).
            yield Reraise(attempt.lost.error)
            return
        if self._as_it_came(finish, attempt):
            yield from self._untouched(attempt, report)
            return
        shown = self._turn.wire.shown[finish.shown]
        complete = finish.status is Status.COMPLETE
        answer = self._answer(finish, attempt)
        if ends_in_error(finish, shown, self._turn.policy):
            kind = attempt.lost.kind if attempt.lost else None
            yield from self._error_end(report, shown.error or finish.reason, answer, kind)
            return
        if self._turn.facts.stream and not self._turn.open:
            yield from open_as_events(self._turn, attempt)
        if not complete and self._turn.policy.on_incomplete == "notice":
            notice = NOTICE.format(reason=finish.reason.replace("_", " "))
            text = answer.text + notice
            spoken = self._turn.spoken(text)
            answer = replace(answer, text=text, content=self._content(spoken), spoken=spoken)
            if self._turn.open:
                outlet = self._turn.outlet
                yield Write(outlet.say_rest() + outlet.framed(outlet.writer.text(notice)))
        if self._turn.open:
            yield Write(self._stream_end(answer, report), last=True)
            return
        # The last attempt may have no head at all: its connection was lost.
        shape = self._turn.answered or attempt
        first, head = shape.value or {}, shape.head
        assert head is not None
        body = self._turn.wire.render_body(first, attempt.value or first, answer)
        usage = (b"x-tenuto-usage", usage_line(report).encode())
        yield Open(self._turn.shown(counted(head, answer.usage).of(body).plus(usage)))
        yield Write(body, last=True)

    def _nothing_came(self, finish: Finish) -> bool:
        return finish.status is Status.FAILED and not self._turn.headed

    def _as_it_came(self, finish: Finish, attempt: Attempt) -> bool:
        """Whether the caller gets the very bytes of this attempt."""
        if self._turn.left_alone:
            return True
        response = attempt.response
        first = attempt is self._turn.first
        bare = finish.status is Status.FAILED and not self._turn.said.strip()
        if attempt.http_error and not self._turn.headed and bare:
            return True  # the provider's own error says it best
        if self._turn.facts.stream and not self._turn.open:
            return False  # a body came: an SDK that waits for events would see none
        if not first or response.mended or (self._turn.open and self._turn.outlet.writing):
            return False
        if finish.status is Status.COMPLETE:
            if response.stop.reason in (StopReason.DROPPED, StopReason.ERROR):
                return False  # half an event may stand at its end
            if self._turn.policy.on_incomplete != "error":
                return True
            if response.calls and not self._says_that_it_calls(response):
                return False  # whoever goes by the stop would pass over them
            if not self._turn.open:
                return True
            outlet = self._turn.outlet
            return not outlet.only_text or not _MISREAD.intersection(response.stop.anomalies)
        if self._turn.policy.on_incomplete != "stop" or finish.whole_calls_only:
            return False
        if finish.as_received:
            return not response.calls
        shown = self._turn.wire.shown[finish.shown]
        if shown.error or response.fault is not None or response.calls:
            return False
        return shown.received or shown.native == response.stop.raw

    def _says_that_it_calls(self, response: Response) -> bool:
        """Whether the native stop is the one that this wire has beside calls, in whatever words."""
        wire, raw = self._turn.wire, response.stop.raw or ""
        usual = {wire.clean_stop(response.calls).lower()}
        if self._turn.facts.call_forced:
            usual.add(wire.forced_stop)
        seen = look_up(raw, "", {**in_other_words(wire.stops), **wire.stops})
        called = seen is not None and seen.reason is StopReason.TOOL_CALL
        return called or raw.strip().lower() in usual

    def _untouched(self, attempt: Attempt, report: Report) -> Run:
        if self._turn.open:
            yield from rest_of_stream(
                attempt, self._turn.outlet.release(), left_alone=bool(self._turn.left_alone)
            )
            return
        if attempt.lost is not None and not self._turn.headed:  # as without Tenuto
            yield Reraise(attempt.lost.error)
            return
        assert attempt.head is not None
        head = attempt.head
        if report.attempts > 1:  # an error that retries did not mend: the SDK need not try as well
            line = usage_line(report).encode()
            head = head.plus((b"x-should-retry", b"false"), (b"x-tenuto-usage", line))
        if not self._turn.headed:
            yield Open(self._turn.shown(head))
        yield Write(attempt.raw, last=not attempt.more)
        if attempt.more:
            yield from rest_of_response()

    def whole(self, finish: Finish, attempt: Attempt) -> Answer:
        """The answer with all that there is of it, whether or not the caller has seen some."""
        return self._answer(finish, attempt, whole=True)

    def _answer(self, finish: Finish, attempt: Attempt, *, whole: bool = False) -> Answer:
        response = attempt.response
        calls = response.calls if finish.status is Status.COMPLETE else ()
        if finish.whole_calls_only:
            calls = self._turn.runnable(response)
        shown = self._turn.wire.shown[finish.shown]
        native = shown.native
        received = shown.received or finish.as_received or finish.status is Status.COMPLETE
        # Of a fault `raw` is an error code, which is no stop of the wire.
        if response.fault is None and received:
            native = response.stop.raw or native
            if finish.status is Status.PARTIAL and attempt is not self._turn.first:
                native = self._not_clean(native, shown)
        if finish.without_stop:
            native = None
        elif native is None or calls:  # calls beside another stop would not be seen (E8)
            native = self._turn.wire.clean_stop(calls)
        spoken = self._turn.spoken(self._turn.said)
        return Answer(
            text=self._turn.said,
            reasoning="".join(self._turn.reasoning),
            calls=calls,
            content=self._turn.merged(spoken) if whole else self._content(spoken),
            native_stop=native,
            ending=self._last_words(attempt, native),
            usage=summed(self._turn.watch.usage),
            raw_usage=self._raw_usage(attempt),
            spoken=spoken,
        )

    def _last_words(self, attempt: Attempt, native: str | None) -> JsonObject:
        if attempt.stopped_at:  # in the words of those who name the sequence
            return {"stop_reason": native, "stop_sequence": attempt.stopped_at}
        return self._turn.outlet.ending if self._turn.open else attempt.value or {}

    def _not_clean(self, native: str | None, shown: Shown) -> str | None:
        """The stop of a text that was cut and not finished: a clean one, such as that of a refusal
        to go on, would pass it for whole."""
        wire = self._turn.wire
        clean = wire.clean_stop(())
        if native != clean or not self._turn.said:
            return native
        return shown.native if shown.native != clean else wire.shown[Outcome.TEXT_CUT].native

    def _content(self, spoken: Sequence[Spoken]) -> Content:
        """For bodies: of a stream the caller has all that there is but its end."""
        return () if self._turn.facts.stream else self._turn.merged(spoken)

    def _raw_usage(self, attempt: Attempt) -> JsonObject | None:
        if self._turn.open:
            return self._turn.outlet.raw_usage
        values = [a.value for a in (self._turn.answered, attempt) if a is not None and a.value]
        return next((u for v in values if (u := self._turn.wire.usage_object(v))), None)

    def _stream_end(self, answer: Answer, report: Report) -> bytes:
        outlet = self._turn.outlet
        include_usage = self._turn.facts.include_usage or outlet.raw_usage is not None
        rest = outlet.stop_forwarding() + outlet.say_rest()
        end = outlet.writer.end(answer, include_usage=include_usage)
        return rest + outlet.framed(usage_comment(usage_line(report)) + end)

    def _error_end(self, report: Report, code: str, answer: Answer, lost: FaultKind | None) -> Run:
        message = f"Tenuto could not finish this turn: {report.reason.replace('_', ' ')}."
        if report.advice:
            message += f" {report.advice}"
        fault = self._turn.watch.last.fault if self._turn.watch.last else None
        if how := _LOST.get(lost or (fault.kind if fault else FaultKind.SERVER)):
            message += f" The last of {report.attempts} attempts {how}."
        if fault is not None and fault.message:
            said = self._turn.telling(fault.message, _MESSAGE_CHARS)
            message += f" {_WHOSE.get(fault.kind, 'The provider said')}: {said}"
        line = usage_line(report)
        if self._turn.headed:
            outlet = self._turn.outlet
            spoken = outlet.stop_forwarding() + outlet.say_rest()
            event = outlet.framed(usage_comment(line) + outlet.writer.error(code, message))
            # An SDK raises at this event and reads no further: upstream is let go before it.
            yield Wait(0.0)
            yield Write(spoken + event, last=True)
            return
        body = self._turn.wire.render_error(code, message, answer)
        status = self._turn.wire.error_status
        head = Head(status, ((b"content-type", b"application/json"), (b"x-should-retry", b"false")))
        told = (b"x-tenuto-usage", line.encode())
        asked = [pair for pair in self._last_headers() if pair[0].lower() in _ASKS_TO_WAIT]
        head = head.plus((b"content-length", b"%d" % len(body)), told, *asked)
        yield Open(self._turn.shown(head))
        yield Write(body, last=True)

    def _last_headers(self) -> Headers:
        """Those of the last attempt, where it was an error's."""
        last = self._last
        return last.head.headers if last is not None and last.http_error and last.head else ()


def hand_on(turn: Turn, head: Head, raw: bytes, why: str) -> Run:
    """Hand on a response as it came, unread, and what is still to come of it; `raw`: what came."""
    if turn.events is not None:
        turn.events.left_alone(why)
    turn.watch.handed_on(head.status)
    if not turn.headed:
        yield Open(head)
    if raw:
        yield Write(raw)
    yield from rest_of_response()


def rest_of_response() -> Run:
    """Hand on what is left of a response as it comes."""
    while isinstance(reply := (yield READ), bytes) and reply:
        yield Write(reply)
    if isinstance(reply, Lost):
        yield Reraise(reply.error)


def rest_of_stream(attempt: Attempt, held: bytes, *, left_alone: bool) -> Run:
    """Hand on what was held back of a stream's end, and what stands behind it."""
    codec = attempt.codec
    assert codec is not None
    data = held + attempt.tail
    reply: Reply = attempt.lost
    breaks = left_alone and reply is not None  # and that is told of
    while True:
        if data:
            yield Write(data, last=not breaks)
        # Behind a break there is nothing.
        reply = reply if attempt.lost else (yield READ)
        if not isinstance(reply, bytes) or not reply:
            break
        try:
            data = codec.behind_end(attempt.decoder.feed(reply) if attempt.decoder else reply)
        except UndecodableBytes:
            break
    if data := codec.behind_end(b"", over=True):
        yield Write(data)
    if left_alone and isinstance(reply, Lost):
        # Else all was said: a connection that breaks behind the end mark is no news.
        yield Reraise(reply.error)
