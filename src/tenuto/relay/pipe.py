"""The pipe: request bytes in, response bytes out, and the machine between.

Theory of operation
-------------------
`Pipe.run()` is a generator of commands (`relay.commands`); a driver carries them out and sends the
replies back. One turn is one run: transmit, read the response through the wire into the builder,
ask the machine, and transmit again or end. The pipe holds what belongs to the turn (the text that is
kept, what the caller has been given); it decides nothing that a table decides.

A turn that needs nothing is handed on as the bytes that came (C25). Everything before the first
response header is left to the SDK, which retries it by itself (P1b).
"""

from __future__ import annotations

import json
import logging
import random
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from tenuto.core.actions import AppendAssistant, Edit, Finish, Recovery, Send, Status
from tenuto.core.events import OnEvent, Report
from tenuto.core.fault import Fault, FaultKind
from tenuto.core.hints import NOTICE
from tenuto.core.machine import Facts, State, View, step
from tenuto.core.outcome import Outcome, classify
from tenuto.core.policy import Policy
from tenuto.core.response import Builder, Response, ToolCall, think_closing, visible
from tenuto.core.runaway import is_runaway
from tenuto.core.seam import AfterThought, Joint, Seam, trailing_space
from tenuto.core.signals import Ended, FaultSeen, Usage
from tenuto.providers.learned import Learned
from tenuto.providers.table import Provider, by_headers
from tenuto.relay import schema
from tenuto.relay.commands import (
    READ,
    Command,
    Head,
    Lost,
    Open,
    Reply,
    Request,
    Reraise,
    Transmit,
    Wait,
    Write,
)
from tenuto.relay.encoding import Decoder, UndecodableBytes, decoder_for
from tenuto.relay.outlet import Outlet
from tenuto.relay.watch import Watch
from tenuto.wire.base import Answer, JsonObject, Wire, WireRequest
from tenuto.wire.json import decode_object
from tenuto.wire.sse import EventTooLarge, SseDecoder, SseEvent

log = logging.getLogger("tenuto")

Run = Generator[Command, Reply, None]

ERROR_BODY_MAX_BYTES = 1_048_576
"""More of an error response is not read; errors are short."""

_BODY_HEADERS = ("content-length", "content-encoding", "transfer-encoding")
_PREFILL = "prefill"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a turn needs from outside: all that is not pure.

    Attributes:
        policy: the limits.
        on_event: who watches, or None.
        learned: what providers taught, shared by all turns of a client.
        now: a steady clock, in seconds.
        jitter: a factor for waits, around 1.
    """

    policy: Policy
    on_event: OnEvent | None
    learned: Learned
    now: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = lambda: random.uniform(0.75, 1.25)  # noqa: S311 - no secret


@dataclass(slots=True)
class Attempt:
    """One attempt as it was received."""

    response: Response
    head: Head | None = None
    raw: bytes = b""
    value: JsonObject | None = None
    new_chars: int = 0
    http_error: bool = False
    tail: bytes = b""
    lost: Lost | None = None


class Pipe:
    """One turn.

    Args:
        wire: the format that the request speaks.
        parsed: the request as the wire reads it.
        request: the request as it came.
        provider: who is behind the URL, as far as that tells.
        around: the surroundings.
    """

    def __init__(
        self,
        wire: Wire,
        parsed: WireRequest,
        request: Request,
        provider: Provider,
        around: Surroundings,
    ) -> None:
        self._wire = wire
        self._parsed = parsed
        self._request = request
        self._provider = provider
        self._around = around
        self._policy = around.policy
        self._facts = parsed.facts
        self._base_url = request.url.partition("?")[0]
        ours = {k.lower(): v for k, v in request.headers if k[:8].lower() == "x-tenuto"}
        self._headers_for_us = bool(ours)
        switched_off = ours.get("x-tenuto", "").strip().lower() == "off"
        self._left_alone = "switched_off" if switched_off else self._facts.left_alone
        self._state = State(started_s=around.now())
        self._said = ""
        self._ceiling_tokens: int | None = None
        self._reasoning: list[str] = []
        self._open = False
        self._first: Attempt | None = None
        self._answered: Attempt | None = None  # the first whose body could be read
        self._outlet = Outlet(wire, self._policy.hold_max_bytes, bool(self._left_alone))
        self._watch = Watch(
            turn=uuid.uuid4().hex if around.on_event else "",
            model=self._facts.model,
            policy=self._policy,
            on_event=around.on_event,
            provider=provider.dialect.name,
        )

    def run(self) -> Run:
        """The turn as commands; sent replies, it ends after the last byte."""
        if self._parsed.repairs and not self._left_alone:
            self._watch.emit("history_repaired", repairs=list(self._parsed.repairs))
        try:
            yield from self._turn()
        finally:
            # Closed from outside before its end: the caller went away (C23).
            self._watch.cancelled(len(self._outlet.delivered_text or self._said))

    def _turn(self) -> Run:
        send = Send((), "", Recovery.RETRY)
        while True:
            if send.wait_s:
                yield Wait(send.wait_s * self._around.jitter())
            attempt = yield from self._attempt(send)
            if attempt is None:
                return
            action, outcome, facts = self._decide(attempt)
            if isinstance(action, Finish):
                report = self._watch.finished(action, outcome, facts)
                yield from self._finish(action, attempt, report)
                return
            if self._open and (text := self._outlet.stop_forwarding()):
                yield Write(text)
            send = action

    # --- one attempt ------------------------------------------------------------------------

    def _attempt(self, send: Send) -> Generator[Command, Reply, Attempt | None]:
        """Send the request with its edits and read what comes; None: it was handed on unread."""
        edits = () if self._left_alone else send.edits
        reply = yield self._transmit(edits)
        if isinstance(reply, Lost):
            if self._first is None:
                self._watch.ended = True
                yield Reraise(reply.error)
                return None
            return self._received(Attempt(_failed(reply.kind)))
        assert isinstance(reply, Head)
        self._provider = by_headers(self._provider, {k.lower(): v for k, v in reply.headers})
        self._watch.provider = self._provider.dialect.name
        decoder = decoder_for(reply.get("content-encoding"))
        if decoder is None or not 200 <= reply.status < 600 or 300 <= reply.status < 400:
            if self._first is None:
                self._watch.emit("left_alone", why="unreadable", outcome=None)
                yield from self._hand_on(reply, b"")
                return None
            return self._received(Attempt(_failed(FaultKind.GARBAGE), reply))
        if reply.status >= 400:
            return (yield from self._error(reply, decoder))
        content_type = reply.get("content-type")
        if "event-stream" in content_type or (self._facts.stream and "json" not in content_type):
            return (yield from self._stream(reply, decoder))
        return (yield from self._body(reply, decoder))

    def _transmit(self, edits: tuple[Edit, ...]) -> Transmit:
        if self._left_alone:
            body = self._request.body
        else:
            body = self._parsed.apply(edits, self._provider.dialect)
        number = self._state.attempts
        if not number and not self._headers_for_us:
            edited = body is not self._request.body
            return Transmit(self._request.headers, body, edited, self._time_left_s())
        headers = tuple(
            (
                key,
                f"{value}-tenuto-{number}"
                if number and key.lower() == "idempotency-key"
                else value,
            )
            for key, value in self._request.headers
            if not key.lower().startswith("x-tenuto")
        )
        return Transmit(headers, body, body is not self._request.body, self._time_left_s())

    def _time_left_s(self) -> float | None:
        """Seconds for a read: a whole body's turn may take as long as its caller waits (C28a)."""
        limit = self._timeout_s()
        if limit is None or self._state.attempts == 0:
            return None
        return max(limit - (self._around.now() - self._state.started_s), 0.001)

    def _timeout_s(self) -> float | None:
        return None if self._facts.stream else self._request.timeout_s

    def _joint(self) -> Joint | None:
        """Where this attempt's text is joined to what is kept; None where nothing is."""
        base, space = trailing_space(self._said)
        if not base:
            return None
        given = self._outlet.delivered_text if self._open else base
        if not visible(base):
            return AfterThought(self._said[len(given) :] + think_closing(base))
        edits = self._state.last_edits
        exact = any(isinstance(e, AppendAssistant) and e.prefill for e in edits)
        given_space = given[len(base) :]
        given_space = given_space if space.startswith(given_space) else ""
        return Seam(base, trimmed=space, delivered_trimmed=given_space, exact=exact)

    def _builder(self) -> Builder:
        return Builder(self._facts.max_tokens if self._first is None else None)

    def _error(self, head: Head, decoder: Decoder) -> Generator[Command, Reply, Attempt | None]:
        raw = b""
        while len(raw) < ERROR_BODY_MAX_BYTES:
            reply = yield READ
            if not isinstance(reply, bytes) or not reply:
                break
            raw += reply
        try:
            body = decoder.feed(raw)
        except UndecodableBytes:
            body = b""
        lowered = {key.lower(): value for key, value in head.headers}
        fault = self._wire.parse_fault(head.status, lowered, body)
        if fault.allowed_tokens:
            self._ceiling_tokens = fault.allowed_tokens
        if fault.kind is FaultKind.PREFILL_REJECTED:
            self._around.learned.deny(
                self._base_url, self._facts.model, _PREFILL, self._around.now()
            )
        builder = self._builder()
        builder.feed(FaultSeen(fault))
        return self._received(Attempt(builder.build(), head, raw, http_error=True))

    def _body(self, head: Head, decoder: Decoder) -> Generator[Command, Reply, Attempt | None]:
        pieces: list[bytes] = []
        size, limit = 0, self._policy.body_max_bytes
        lost: Lost | None = None
        while True:
            reply = yield READ
            if not isinstance(reply, bytes) or not reply:
                lost = reply if isinstance(reply, Lost) else None
                break
            pieces.append(reply)
            size += len(reply)
            if limit and size > limit:
                if self._first is None:
                    self._watch.emit("left_alone", why="body_too_large", outcome=None)
                    yield from self._hand_on(head, b"".join(pieces))
                    return None
                return self._received(Attempt(_failed(FaultKind.LIMIT), head))
        raw = b"".join(pieces)
        builder = self._builder()
        if lost is not None and lost.kind is FaultKind.GARBAGE:
            builder.feed(FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes")))
        value = None if lost else self._read_body(raw, decoder, builder)
        attempt = Attempt(builder.build(), head, raw, value, lost=lost)
        text = self._join(attempt)
        if self._open and (data := self._outlet.say(text)):
            yield Write(data)
        return self._received(attempt)

    def _read_body(self, raw: bytes, decoder: Decoder, builder: Builder) -> JsonObject | None:
        try:
            body = decoder.feed(raw)
        except UndecodableBytes:
            builder.feed(FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes")))
            return None
        value = decode_object(body)
        if not isinstance(value, dict):
            return None
        for signal in self._wire.parse_object(value, event=False):
            builder.feed(signal)
        builder.feed(Ended())
        return value

    def _join(self, attempt: Attempt) -> str:
        """Join a whole body's text to what is kept; returns what is new."""
        joint = self._joint()
        text = attempt.response.text
        if joint is None:
            self._said, attempt.new_chars = text, len(text)
            return text
        new = joint.feed(text) + joint.finish()
        if new:
            self._said = trailing_space(self._said)[0] + new
        attempt.new_chars = joint.new_chars
        return new

    def _stream(self, head: Head, decoder: Decoder) -> Generator[Command, Reply, Attempt | None]:
        builder, outlet = self._builder(), self._outlet
        joint = self._joint()
        outlet.begin(joint)
        sse = SseDecoder(self._policy.event_max_bytes)
        if not self._open:
            self._open = True
            yield Open(head.without(*_BODY_HEADERS))
        tail = b""
        lost: Lost | None = None
        while not builder.ended:
            reply = yield READ
            if not isinstance(reply, bytes):
                lost = reply if isinstance(reply, Lost) else None
                break
            try:
                events = sse.feed(decoder.feed(reply)) if reply else sse.flush()
            except EventTooLarge as error:
                builder.feed(FaultSeen(Fault(FaultKind.LIMIT, "event_too_large", str(error))))
                break
            except UndecodableBytes:
                builder.feed(FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes")))
                break
            if len(events) == 1:
                out, tail = outlet.event(events[0], builder), b""
            else:
                out, tail = self._take(events, builder)
            if builder.ended and outlet.transparent:
                # An SDK leaves at the end mark: what there is to tell is told before.
                out, tail = b"", out + tail
            if out:
                yield Write(out)
            if outlet.overfull:
                builder.feed(FaultSeen(Fault(FaultKind.LIMIT, "hold_back_exceeded")))
            if not reply or outlet.overfull:
                break
        if out := outlet.end():
            yield Write(out)
        attempt = Attempt(builder.build(), head, tail=tail, lost=lost)
        self._said = attempt.response.text if outlet.transparent else outlet.text
        attempt.new_chars = joint.new_chars if joint else len(attempt.response.text)
        return self._received(attempt)

    def _take(self, events: list[SseEvent], builder: Builder) -> tuple[bytes, bytes]:
        """Pass events through the outlet: what may go on now, and what came after the end."""
        out: list[bytes] = []
        for number, event in enumerate(events):
            out.append(self._outlet.event(event, builder))
            if builder.ended:
                return b"".join(out), b"".join(later.raw for later in events[number + 1 :])
        return b"".join(out), b""

    def _received(self, attempt: Attempt) -> Attempt:
        self._reasoning.append(attempt.response.reasoning)
        if self._first is None:
            self._first = attempt
        if self._answered is None and attempt.value:
            self._answered = attempt
        return attempt

    def _hand_on(self, head: Head, raw: bytes) -> Generator[Command, Reply, None]:
        """The rest of a response as it comes, unread."""
        self._watch.ended = True
        yield Open(head)
        if raw:
            yield Write(raw)
        yield from self._rest()

    def _rest(self, *, raises: bool = True) -> Generator[Command, Reply, None]:
        while isinstance(reply := (yield READ), bytes) and reply:
            yield Write(reply)
        if isinstance(reply, Lost) and raises:
            yield Reraise(reply.error)

    # --- the decision -----------------------------------------------------------------------

    def _decide(self, attempt: Attempt) -> tuple[Send | Finish, Outcome, Facts]:
        response = attempt.response
        facts = self._turn_facts(attempt)
        now_s = self._around.now()
        outcome = classify(response)
        self._state, action = self._step(response, facts, now_s)
        self._watch.observed(response, outcome, action)
        if isinstance(action, Send):
            left = View(self._state, response, facts, self._policy, now_s).tokens_left
            self._watch.sending(action, outcome, self._state, facts, left)
        elif self._left_alone and outcome is not Outcome.DONE:
            self._watch.emit("left_alone", why=self._left_alone, outcome=outcome.value)
        return action, outcome, facts

    def _step(self, response: Response, facts: Facts, now_s: float) -> tuple[State, Send | Finish]:
        try:
            return step(self._state, response, facts, self._policy, now_s)
        except Exception:  # `decide` is somebody else's code: it must not cost an answer
            log.exception("decide raised")
            policy = replace(self._policy, decide=None)
            return step(self._state, response, facts, policy, now_s)

    def _turn_facts(self, attempt: Attempt) -> Facts:
        response, request = attempt.response, self._facts
        cut = classify(response) is Outcome.TEXT_CUT
        return Facts(
            said=self._said,
            reasoning="".join(self._reasoning),
            new_chars=attempt.new_chars,
            runaway=cut and is_runaway(self._said),
            output_tokens=output_tokens(response, request.max_tokens),
            input_tokens=response.usage.input_tokens if response.usage else None,
            max_tokens=request.max_tokens,
            ceiling_tokens=self._ceiling_tokens,
            prefill=self._takes_prefill(),
            lower_reasoning=request.lower_reasoning,
            structured=request.structured,
            tools=request.tools,
            after_tool_result=request.after_tool_result,
            runnable=self._runnable(response),
            http_error=attempt.http_error,
            left_alone=self._left_alone,
            timeout_s=self._timeout_s(),
        )

    def _runnable(self, response: Response) -> tuple[ToolCall, ...]:
        if self._policy.truncated_calls != "execute_complete" or not response.calls:
            return ()
        return schema.runnable(response.calls, self._parsed.tool_parameters())

    def _takes_prefill(self) -> bool:
        if self._facts.ends_in_assistant or self._policy.prefill == "never":
            return False
        model, now_s = self._facts.model, self._around.now()
        if self._around.learned.denied(self._base_url, model, _PREFILL, now_s):
            return False
        return self._policy.prefill == "always" or self._provider.dialect.prefill

    # --- the end ----------------------------------------------------------------------------

    def _finish(self, finish: Finish, attempt: Attempt, report: Report) -> Run:
        """Show the caller how the turn ended (P1a)."""
        if self._as_it_came(finish, attempt):
            yield from self._untouched(attempt, report)
            return
        shown = self._wire.shown[finish.shown]
        complete = finish.status is Status.COMPLETE
        answer = self._answer(finish, attempt)
        bare = finish.status is Status.FAILED and not shown.received
        no_stop = (shown.error or bare) and not finish.as_received
        if not complete and (self._policy.on_incomplete == "error" or no_stop):
            yield from self._error_end(report, shown.error or finish.reason, answer)
            return
        if self._facts.stream and not self._open:
            yield from self._open_stream(attempt)
        if not complete and self._policy.on_incomplete == "notice":
            notice = NOTICE.format(reason=finish.reason.replace("_", " "))
            answer = replace(answer, text=answer.text + notice)
            if self._open:
                yield Write(
                    self._outlet.say_rest() + self._wire.render_text(self._envelope(), notice)
                )
        if self._open:
            yield Write(self._stream_end(answer, report))
            return
        # The last attempt may have no head at all: its connection was lost.
        shape = self._answered or attempt
        first, head = shape.value or {}, shape.head
        assert head is not None
        body = self._wire.render_body(first, attempt.value or first, answer)
        usage = ("x-tenuto-usage", usage_line(report))
        yield Open(self._edited(head, body).plus(usage))
        yield Write(body)

    def _open_stream(self, attempt: Attempt) -> Run:
        """Say what came as a body as the events that were asked for."""
        shape = self._answered or attempt
        assert shape.head is not None
        self._open = True
        self._outlet.envelope = self._wire.envelope(shape.value or {})
        head = shape.head.without(*_BODY_HEADERS, "content-type")
        yield Open(head.plus(("content-type", "text/event-stream; charset=utf-8")))
        if reasoning := "".join(self._reasoning):
            yield Write(self._wire.render_reasoning(self._envelope(), reasoning))
        if text := self._outlet.say(self._said):
            yield Write(text)

    def _as_it_came(self, finish: Finish, attempt: Attempt) -> bool:
        """Whether the caller gets the very bytes of this attempt."""
        if self._left_alone:
            return True
        response = attempt.response
        first = attempt is self._first
        if attempt.http_error and not self._open and not self._said.strip():
            return True  # the provider's own error says it best
        if self._facts.stream and not self._open:
            return False  # a body came: an SDK that waits for events would see none
        if not first or response.mended or self._outlet.writing:
            return False
        if finish.status is Status.COMPLETE:
            return True
        if self._policy.on_incomplete != "stop" or finish.whole_calls_only:
            return False
        if finish.as_received:
            return True
        shown = self._wire.shown[finish.shown]
        if shown.error or response.fault is not None or response.calls:
            return False
        return shown.received or shown.native == response.stop.raw

    def _untouched(self, attempt: Attempt, report: Report) -> Run:
        if self._open:
            if out := self._outlet.release() + attempt.tail:
                yield Write(out)
        if self._left_alone and attempt.lost is not None:  # as without Tenuto
            yield Reraise(attempt.lost.error)
            return
        if self._open:
            if attempt.lost is None:  # behind a break there is nothing
                # All was said: a connection that breaks behind the end mark is no news.
                yield from self._rest(raises=bool(self._left_alone))
            return
        assert attempt.head is not None
        head = attempt.head
        if report.attempts > 1:  # an error that retries did not mend: the SDK need not try as well
            head = head.plus(("x-should-retry", "false"), ("x-tenuto-usage", usage_line(report)))
        yield Open(head)
        yield Write(attempt.raw)
        yield from self._rest()  # of an error that was too long to be read

    def _answer(self, finish: Finish, attempt: Attempt) -> Answer:
        response = attempt.response
        calls = response.calls if finish.status is Status.COMPLETE else ()
        if finish.whole_calls_only:
            calls = self._runnable(response)
        shown = self._wire.shown[finish.shown]
        native = shown.native
        received = shown.received or finish.as_received or finish.status is Status.COMPLETE
        # Of a fault `raw` is an error code, which is no stop of the wire.
        if response.fault is None and received:
            native = response.stop.raw or native
        if native is None or calls:  # calls beside another stop would not be seen (E8)
            native = self._wire.clean_stop(calls)
        return Answer(
            text=self._said,
            reasoning="".join(self._reasoning),
            calls=calls,
            native_stop=native,
            usage=summed(self._watch.usage),
            raw_usage=self._raw_usage(attempt),
        )

    def _raw_usage(self, attempt: Attempt) -> JsonObject | None:
        if self._open:
            return self._outlet.raw_usage
        values = [a.value for a in (self._answered, attempt) if a is not None and a.value]
        return next((u for v in values if (u := self._wire.usage_object(v))), None)

    def _stream_end(self, answer: Answer, report: Report) -> bytes:
        envelope = self._envelope()
        include_usage = self._facts.include_usage or self._outlet.raw_usage is not None
        end = self._wire.render_end(envelope, answer, include_usage=include_usage)
        comment = _usage_comment(usage_line(report))
        return self._outlet.stop_forwarding() + self._outlet.say_rest() + comment + end

    def _envelope(self) -> JsonObject:
        return self._outlet.envelope or self._wire.bare_envelope(self._facts.model)

    def _error_end(self, report: Report, code: str, answer: Answer) -> Run:
        message = f"Tenuto could not finish this turn: {report.reason.replace('_', ' ')}."
        message += f" {report.advice}" if report.advice else ""
        fault = self._watch.last.fault if self._watch.last else None
        if fault is not None and fault.message:
            message += f" The provider said: {fault.message}"
        line = usage_line(report)
        if self._open:
            rest = self._outlet.stop_forwarding() + self._outlet.say_rest()
            event = self._wire.render_error_event(code, message)
            yield Write(rest + _usage_comment(line) + event)
            return
        body = self._wire.render_error(code, message, answer)
        head = Head(502, (("content-type", "application/json"), ("x-should-retry", "false")))
        yield Open(head.plus(("content-length", str(len(body))), ("x-tenuto-usage", line)))
        yield Write(body)

    def _edited(self, head: Head, body: bytes) -> Head:
        plain = head.without(*_BODY_HEADERS)
        return plain.plus(("content-length", str(len(body))))


def _usage_comment(line: str) -> bytes:
    return f": x-tenuto-usage {line}\n\n".encode()


def _failed(kind: FaultKind) -> Response:
    builder = Builder()
    builder.feed(FaultSeen(Fault(kind)))
    return builder.build()


def output_tokens(response: Response, cap_tokens: int | None) -> int:
    """Output tokens of a response: as reported, else estimated from its size and bounded by the
    request's limit (three bytes a token is on the high side for every common tokenizer)."""
    if response.usage is not None and response.usage.output_tokens is not None:
        return response.usage.output_tokens
    arguments = "".join(call.arguments for call in response.calls)
    size = len((response.text + response.reasoning + arguments).encode("utf-8", "replace"))
    estimate = -(-size // 3)
    return estimate if cap_tokens is None else min(estimate, cap_tokens)


def summed(usages: list[Usage | None]) -> Usage | None:
    """The usage of one call: the first attempt's input, the output of all (C19)."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return replace(
        known[0],
        output_tokens=_sum([usage.output_tokens for usage in known]),
        reasoning_tokens=_sum([usage.reasoning_tokens for usage in known]),
    )


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def usage_line(report: Report) -> str:
    """What was billed in all, attempt by attempt, as JSON on one line (C19)."""
    attempts = [
        None if u is None else {"input_tokens": u.input_tokens, "output_tokens": u.output_tokens}
        for u in report.usage
    ]
    billed = [u.output_tokens or 0 for u in report.usage if u is not None]
    value = {
        "status": report.status,
        "reason": report.reason,
        "attempts": attempts,
        "billed_output_tokens": sum(billed),
    }
    return json.dumps(value, separators=(",", ":"))
