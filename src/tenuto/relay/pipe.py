"""The pipe: request bytes in, response bytes out, and the machine between.

Theory of operation
-------------------
`Pipe.run()` is a generator of commands (`relay.commands`); a driver carries them out and sends the
replies back. One turn is one run: transmit, read the response through the wire into the builder,
ask the machine, and transmit again or end. What belongs to the turn stands in its `Turn`; the pipe
decides nothing that a table decides.

A turn that needs nothing is handed on as the bytes that came (C25). Everything before the first
response header is left to the SDK, which retries it by itself (P1b).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator
from dataclasses import replace
from typing import TypeGuard

from tenuto.core.actions import AppendContent, Edit, Finish, Recovery, Send, Status, holds_prefill
from tenuto.core.edits import asked_tokens, asks_for_call
from tenuto.core.fault import Fault, FaultKind
from tenuto.core.joint import AfterThought, Joint
from tenuto.core.machine import settled, step
from tenuto.core.outcome import Outcome, classify
from tenuto.core.response import Builder, Response, think_closing, visible
from tenuto.core.runaway import is_runaway
from tenuto.core.seam import Seam, trailing_space
from tenuto.core.signals import Ended, FaultSeen
from tenuto.core.view import Facts, State, View
from tenuto.providers.models import output_tokens as output_tokens_of
from tenuto.providers.table import by_server
from tenuto.relay.commands import (
    BODY_HEADERS,
    READ,
    Command,
    Head,
    Lost,
    Open,
    Read,
    Reply,
    Reraise,
    Run,
    Transmit,
    Wait,
    Write,
)
from tenuto.relay.encoding import Decoder, UndecodableBytes, decoder_for
from tenuto.relay.ending import Ending, rest_of_response
from tenuto.relay.framing import Framing, begins, look_ahead, named_by
from tenuto.relay.gathering import gathered
from tenuto.relay.reframing import named
from tenuto.relay.turn import Attempt, Kept, Turn, failed
from tenuto.relay.usage import output_tokens
from tenuto.wire.base import JsonObject
from tenuto.wire.json import as_utf8, decode_object, encode, readable
from tenuto.wire.sse import EventTooLarge, SseDecoder, SseEvent
from tenuto.wire.stream import under_its_name

log = logging.getLogger("tenuto")


ERROR_BODY_MAX_BYTES = 1_048_576
"""More of an error response is not read; errors are short."""

_PREFILL, _OUTPUT, _WINDOW = "prefill", "output_tokens", "window_tokens"
"""What errors teach about a model."""


class Pipe:
    """Finishes one turn."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def run(self) -> Run:
        """The turn as commands; sent replies, it ends after the last byte."""
        if self._turn.parsed.repairs and not self._turn.left_alone:
            self._turn.watch.emit("history_repaired", repairs=list(self._turn.parsed.repairs))
        try:
            yield from self._run()
        finally:
            # Closed from outside before its end: the caller went away (C23).
            if not self._turn.watch.ended:
                said = self._turn.outlet.delivered_text or self._turn.said
                self._turn.watch.cancelled(len(said))

    def _run(self) -> Run:
        send = Send((), "", Recovery.RETRY)
        while True:
            if send.wait_s:
                yield Wait(send.wait_s * self._turn.around.jitter())
            attempt = yield from self._attempt(send)
            if attempt is None:
                return
            action, outcome, facts = self._decide(attempt)
            if isinstance(action, Finish):
                if action.status is Status.COMPLETE and self._turn.first is not None:
                    self._turn.around.successors.add(
                        self._turn.first.response.id, attempt.response.id
                    )
                report = self._turn.watch.finished(action, outcome, facts)
                yield from Ending(self._turn).show(action, attempt, report)
                return
            if self._turn.open and (text := self._turn.outlet.stop_forwarding()):
                yield Write(text)
            send = action

    # --- one attempt ------------------------------------------------------------------------

    def _attempt(self, send: Send) -> Generator[Command, Reply, Attempt | None]:
        """Send the request with its edits and read what comes; None: it was handed on unread."""
        edits = () if self._turn.left_alone else send.edits
        reply = yield self._transmit(edits)
        if isinstance(reply, Lost):
            if self._turn.first is None:
                self._turn.watch.ended = True
                yield Reraise(reply.error)
                return None
            return self._received(Attempt(failed(reply.kind, type(reply.error).__name__)))
        assert isinstance(reply, Head)
        if self._turn.provider.unknown and (server := reply.get(b"server")):
            self._turn.provider = by_server(server, self._turn.wire.name)
        self._turn.watch.provider = self._turn.provider.dialect.name
        decoder = decoder_for(reply.get(b"content-encoding"), self._turn.policy.body_max_bytes)
        if decoder is None or not 200 <= reply.status < 600 or 300 <= reply.status < 400:
            if self._turn.first is None:
                self._turn.watch.emit("left_alone", why="unreadable", outcome=None)
                yield from self._hand_on(reply, b"")
                return None
            return self._received(Attempt(failed(FaultKind.GARBAGE), reply))
        if reply.status >= 400:
            return (yield from self._error(reply, decoder))
        if holds_prefill(edits):
            self._turn.around.learned.allow(*self._turn.model, _PREFILL)
        if not self._turn.facts.stream:
            return (yield from self._body(reply, decoder, deque()))
        asked = Framing.EVENTS
        if asked is named_by(reply.get(b"content-type")):
            # It says that it is what was asked for: the head need not wait for what it is.
            yield from self._open(reply)
        framing, ahead = yield from look_ahead(asked, reply, self._turn.policy.body_max_bytes)
        if framing is asked:
            return (yield from self._stream(reply, decoder, ahead))
        return (yield from self._body(reply, decoder, ahead))

    def _open(self, head: Head) -> Run:
        """Hand on the head of a stream, if the caller has none yet."""
        if not self._turn.headed:
            self._turn.headed = True
            yield Open(head.without(*BODY_HEADERS), events=True)

    def _transmit(self, edits: tuple[Edit, ...]) -> Transmit:
        if self._turn.left_alone:
            body = self._turn.request.body
        else:
            body = self._turn.parsed.apply(edits, self._turn.provider.dialect)
            body = self._turn.around.successors.instead(body, self._turn.facts.follows)
        number = self._turn.state.attempts
        if not number and not self._turn.headers_for_us:
            edited = body is not self._turn.request.body
            return Transmit(self._turn.request.headers, body, edited, self._time_left_s())
        headers = tuple(
            (
                key,
                b"%b-tenuto-%d" % (value, number)
                if number and key.lower() == b"idempotency-key"
                else value,
            )
            for key, value in self._turn.request.headers
            if not key.lower().startswith(b"x-tenuto")
        )
        return Transmit(headers, body, body is not self._turn.request.body, self._time_left_s())

    def _time_left_s(self) -> float | None:
        """Seconds for a read: a whole body's turn may take as long as its caller waits (C28a)."""
        limit = self._turn.timeout_s()
        if limit is None or self._turn.state.attempts == 0:
            return None
        return max(limit - (self._turn.around.now() - self._turn.state.started_s), 0.001)

    def _joint(self) -> Joint | None:
        """Where this attempt's text is joined to what is kept; None where nothing is."""
        base, space = trailing_space(self._turn.said)
        if not base:
            return None
        given = self._turn.outlet.delivered_text if self._turn.open else base
        if not visible(base):
            return AfterThought(self._turn.said[len(given) :] + think_closing(base))
        exact = holds_prefill(self._turn.state.last_edits)
        given_space = given[len(base) :]
        given_space = given_space if space.startswith(given_space) else ""
        anew = asks_for_call(self._turn.state.last_edits)
        again = {0, *(kept.begins for kept in self._turn.kept)} if anew else ()
        return Seam(base, trimmed=space, delivered_trimmed=given_space, exact=exact, again=again)

    def _builder(self) -> Builder:
        return Builder(
            self._turn.facts.max_tokens if self._turn.first is None else None,
            self._turn.salt,
            self._turn.provider.overrides,
            self._turn.parsed.tool_parameters,
        )

    def _error(self, head: Head, decoder: Decoder) -> Generator[Command, Reply, Attempt | None]:
        raw = b""
        while len(raw) < ERROR_BODY_MAX_BYTES:
            reply = yield READ
            if not isinstance(reply, bytes) or not reply:
                break
            raw += reply
        try:
            body = as_utf8(decoder.feed(raw))
        except UndecodableBytes:
            body = b""
        lowered = {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in head.headers}
        fault = self._turn.wire.parse_fault(head.status, lowered, body)
        self._learn(fault)
        builder = self._builder()
        builder.feed(FaultSeen(fault))
        return self._received(Attempt(builder.build(), head, raw, http_error=True))

    def _learn(self, fault: Fault) -> None:
        """Keep what an error says about the model, for this turn and those that follow."""
        learned, now_s = self._turn.around.learned, self._turn.around.now()
        if fault.kind is FaultKind.PREFILL_REJECTED:
            learned.deny(*self._turn.model, _PREFILL, now_s)
        if fault.allowed_tokens:
            self._turn.ceiling_tokens = fault.allowed_tokens
        if fault.window_tokens:  # what is allowed is what this prompt leaves
            learned.limit(*self._turn.model, _WINDOW, fault.window_tokens, now_s)
        elif fault.allowed_tokens:
            learned.limit(*self._turn.model, _OUTPUT, fault.allowed_tokens, now_s)

    def _body(
        self, head: Head, decoder: Decoder, ahead: deque[Reply]
    ) -> Generator[Command, Reply, Attempt | None]:
        pieces: list[bytes] = []
        size, limit = 0, self._turn.policy.body_max_bytes
        lost: Lost | None = None
        while True:
            reply = ahead.popleft() if ahead else (yield READ)
            if not isinstance(reply, bytes) or not reply:
                lost = reply if isinstance(reply, Lost) else None
                break
            pieces.append(reply)
            size += len(reply)
            if limit and size > limit:
                if self._turn.first is None:
                    self._turn.watch.emit("left_alone", why="body_too_large", outcome=None)
                    yield from self._hand_on(head, b"".join(pieces))
                    return None
                return self._received(Attempt(failed(FaultKind.LIMIT), head))
        raw = b"".join(pieces)
        pieces.clear()  # bodies may be large: once is enough
        if lost is None and self._is_plain(raw):
            self._turn.watch.ended = True
            yield Open(head)
            yield Write(raw)
            return None
        builder = self._builder()
        if lost is not None and lost.kind is FaultKind.GARBAGE:
            builder.feed(FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes")))
        body = self._decoded(raw, decoder, builder)
        value = None if lost or body is None else self._read_body(body, builder)
        handed_out = not self._turn.left_alone
        if body and value is None and begins(body) is Framing.EVENTS:
            value = gathered(self._turn.wire, body, builder)
            if value and handed_out:
                raw = encode(value)
                head = named(head, b"application/json").of(raw)
        elif body and value and handed_out and (said := readable(body)) is not body:
            head, raw = head.of(said), said  # as in streams: SDKs decode strictly
        attempt = Attempt(builder.build(), head, raw, value, unread=value is None, lost=lost)
        apart = self._apart
        if self._turn.open and (data := self._turn.outlet.begin(None, apart=apart)):
            yield Write(data)
        text = self._join(attempt, apart)
        if self._turn.open and (data := self._turn.outlet.say(text)):
            yield Write(data)
        return self._received(attempt)

    def _is_plain(self, raw: bytes) -> bool:
        """Whether the turn is over with this body and nobody wants to hear of it."""
        turn = self._turn
        if turn.first is not None or turn.facts.stream:
            return False
        if turn.around.watched or turn.provider.overrides:
            return False
        return turn.wire.is_plain(raw)

    @property
    def _apart(self) -> bool:
        """Whether this attempt's text is not joined to what is kept: a paused turn goes on."""
        return any(isinstance(edit, AppendContent) for edit in self._turn.state.last_edits)

    def _decoded(self, raw: bytes, decoder: Decoder, builder: Builder) -> bytes | None:
        try:
            return decoder.feed(raw)
        except UndecodableBytes:
            builder.feed(FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes")))
            return None

    def _read_body(self, body: bytes, builder: Builder) -> JsonObject | None:
        value = decode_object(as_utf8(body))
        if not isinstance(value, dict):
            return None
        for signal in self._turn.wire.parse_object(value, event=False):
            builder.feed(signal)
        builder.feed(Ended())
        return value

    def _join(self, attempt: Attempt, apart: bool) -> str:
        """Join a whole body's text to what is kept; returns what is new."""
        joint = None if apart else self._joint()
        text, said = attempt.response.text, self._turn.said
        if joint is None:
            attempt.new_chars = len(text)
            self._keep(attempt, said + text if apart else text, len(said) if apart else 0, apart)
            return text
        new = joint.feed(text) + joint.finish()
        base = trailing_space(said)[0]
        attempt.new_chars = joint.new_chars
        self._keep(attempt, base + new if new else said, len(base) if new else len(said))
        return new

    def _keep(self, attempt: Attempt, said: str, begins: int, apart: bool = False) -> None:
        """All text that is kept from now on, of which this attempt's begins there."""
        self._turn.said = said
        if not begins and not apart:
            self._turn.kept = []
        self._turn.kept.append(Kept(attempt, begins, apart))

    def _stream(
        self, head: Head, decoder: Decoder, ahead: deque[Reply]
    ) -> Generator[Command, Reply, Attempt | None]:
        given = ahead[0] if decoder.plain and ahead and self._opens(ahead[0]) else None
        if given is not None:  # before anything is made for what follows it
            yield from self._open(head)
            yield Write(given)
        builder, outlet = self._builder(), self._turn.outlet
        apart, said = self._apart, self._turn.said
        joint = None if apart else self._joint()
        opening = outlet.begin(joint, apart=apart)
        sse = SseDecoder(self._turn.policy.event_max_bytes)
        if not self._turn.open:
            self._turn.open = True
            yield from self._open(head)
        if opening:
            yield Write(opening)
        kept: list[bytes] = []
        wants_content = self._turn.wire.wants_content
        names = self._turn.wire.named_events and not self._turn.left_alone
        read = READ
        # Of a further attempt every piece is asked for, so that the time limit is looked at (C29).
        flows = not outlet.writing and not outlet.writer.follows_text
        if decoder.plain and flows and not self._turn.state.attempts:
            most_bytes = self._turn.policy.event_max_bytes
            read = Read(outlet.taking(builder, kept if wants_content else None, most_bytes))
        tail = b""
        lost: Lost | None = None
        while not builder.ended:
            offered = read if sse.idle and outlet.flows else READ
            reply = ahead.popleft() if ahead else (yield offered)
            if not isinstance(reply, bytes):
                lost = reply if isinstance(reply, Lost) else None
                if lost is not None and lost.kind is FaultKind.LIMIT:
                    builder.feed(FaultSeen(Fault(lost.kind, "event_too_large", str(lost.error))))
                break
            try:
                events = sse.feed(decoder.feed(reply)) if reply else sse.flush()
            except EventTooLarge as error:
                builder.feed(FaultSeen(Fault(FaultKind.LIMIT, "event_too_large", str(error))))
                break
            except UndecodableBytes:
                builder.feed(FaultSeen(Fault(FaultKind.GARBAGE, "undecodable_bytes")))
                break
            if names:
                events = [under_its_name(event) for event in events]
            if wants_content:
                kept += [event.raw for event in events if event.data]
            if len(events) == 1:
                out, tail = outlet.event(events[0], builder), b""
            else:
                out, tail = self._take(events, builder)
            if builder.ended and outlet.transparent:
                # An SDK leaves at the end mark: what there is to tell is told before.
                out, tail = b"", out + tail
            if out and reply is not given:
                yield Write(out)
            if outlet.overfull:
                builder.feed(FaultSeen(Fault(FaultKind.LIMIT, "hold_back_exceeded")))
            elif self._is_late():
                builder.feed(FaultSeen(Fault(FaultKind.LIMIT, "turn_timeout")))
            elif reply:
                continue
            break
        if out := outlet.end(builder):
            yield Write(out)
        if builder.ended and not outlet.writing:
            tail += b"".join(event.raw for event in sse.flush())
        attempt = Attempt(builder.build(), head, events=kept, tail=tail, decoder=decoder, lost=lost)
        attempt.new_chars = joint.new_chars if joint else len(attempt.response.text)
        # What was only forwarded is what was read; one text is kept, not two.
        text = outlet.text if outlet.writing else attempt.response.text
        begins = len(said) if apart else len(trailing_space(said)[0]) if joint else 0
        self._keep(attempt, text, min(begins, len(text)), apart)
        return self._received(attempt)

    def _opens(self, piece: Reply) -> TypeGuard[bytes]:
        """Whether this is the event by which a stream only says that it begins, and no more: it is
        handed on whatever follows, so that the first of the caller's chunks waits for nothing."""
        opening = self._turn.wire.opening
        return (
            isinstance(piece, bytes)
            and bool(opening)
            and not self._turn.state.attempts
            and piece.startswith(opening)
            and piece.find(b"\n\n") == len(piece) - 2
            and b"\r" not in piece
            and b"\\" not in piece
            and b'"error"' not in piece
            and piece.isascii()
            and decode_object(piece[piece.find(b"{") :]) is not None  # else SDKs fail on it
        )

    def _is_late(self) -> bool:
        """Whether a further attempt runs on beyond the turn's time (C29). The first one may: it
        ends when it would have ended without Tenuto."""
        limit, state = self._turn.policy.turn_timeout_s, self._turn.state
        return bool(limit and state.attempts) and self._turn.around.now() - state.started_s > limit

    def _take(self, events: list[SseEvent], builder: Builder) -> tuple[bytes, bytes]:
        """Pass events through the outlet: what may go on now, and what came after the end."""
        out: list[bytes] = []
        for number, event in enumerate(events):
            out.append(self._turn.outlet.event(event, builder))
            if builder.ended:
                return b"".join(out), b"".join(later.raw for later in events[number + 1 :])
        return b"".join(out), b""

    def _received(self, attempt: Attempt) -> Attempt:
        self._turn.reasoning.append(attempt.response.reasoning)
        if self._turn.first is None:
            self._turn.first = attempt
        if self._turn.answered is None and attempt.value and attempt.response.fault is None:
            self._turn.answered = attempt
        return attempt

    def _hand_on(self, head: Head, raw: bytes) -> Generator[Command, Reply, None]:
        """The rest of a response as it comes, unread."""
        self._turn.watch.ended = True
        if not self._turn.headed:
            yield Open(head)
        if raw:
            yield Write(raw)
        yield from rest_of_response()

    # --- the decision -----------------------------------------------------------------------

    def _decide(self, attempt: Attempt) -> tuple[Send | Finish, Outcome, Facts]:
        response = attempt.response
        outcome = classify(response)
        if self._turn.policy.decide is None and (finish := settled(self._turn.state, outcome)):
            self._turn.watch.observed(response, outcome, finish)
            return finish, outcome, Facts(said=self._turn.said)
        facts = self._turn_facts(attempt)
        now_s = self._turn.around.now()
        self._turn.state, action = self._step(response, facts, now_s)
        self._turn.watch.observed(response, outcome, action)
        if isinstance(action, Send):
            left = View(self._turn.state, response, facts, self._turn.policy, now_s).tokens_left
            self._turn.watch.sending(action, outcome, self._turn.state, facts, left)
        elif facts.left_alone and outcome is not Outcome.DONE:
            self._turn.watch.emit("left_alone", why=facts.left_alone, outcome=outcome.value)
        return action, outcome, facts

    def _step(self, response: Response, facts: Facts, now_s: float) -> tuple[State, Send | Finish]:
        try:
            return step(self._turn.state, response, facts, self._turn.policy, now_s)
        except Exception:  # `decide` is somebody else's code: it must not cost an answer
            log.exception("decide raised")
            policy = replace(self._turn.policy, decide=None)
            return step(self._turn.state, response, facts, policy, now_s)

    def _turn_facts(self, attempt: Attempt) -> Facts:
        response, request = attempt.response, self._turn.facts
        cut = classify(response) is Outcome.TEXT_CUT
        return Facts(
            said=self._turn.said,
            content=self._turn.content(self._turn.said),
            reasoning="".join(self._turn.reasoning),
            new_chars=attempt.new_chars,
            runaway=cut and is_runaway(self._turn.said),
            output_tokens=self._output_tokens(attempt),
            input_tokens=response.usage.input_tokens if response.usage else None,
            max_tokens=request.max_tokens,
            least_tokens=request.least_tokens,
            ceiling_tokens=self._ceiling_tokens(),
            window_tokens=self._window_tokens(),
            prefill=self._takes_prefill(),
            lower_reasoning=request.lower_reasoning,
            structured=request.structured,
            tools=request.tools,
            after_tool_result=request.after_tool_result,
            runnable=self._turn.runnable(response),
            http_error=attempt.http_error,
            left_alone=self._turn.left_alone or request.sent_once,
            timeout_s=self._turn.timeout_s(),
        )

    def _ceiling_tokens(self) -> int | None:
        """What the provider said; and what its row or the model's says, and for bodies what the
        wire bears: of these no less than was asked."""
        request, dialect = self._turn.facts, self._turn.provider.dialect
        told = self._turn.ceiling_tokens or self._learned(_OUTPUT)
        bears = None if request.stream else self._turn.wire.body_ceiling_tokens(request.model)
        known = None if told else dialect.output_tokens or output_tokens_of(request.model)
        least = request.max_tokens or 0
        bounds = [max(n, least) for n in (bears, known) if n is not None]
        return min([told, *bounds] if told else bounds, default=None)

    def _window_tokens(self) -> int | None:
        return self._learned(_WINDOW) or self._turn.provider.dialect.window_tokens or None

    def _learned(self, what: str) -> int | None:
        around = self._turn.around
        return around.learned.tokens(*self._turn.model, what, around.now())

    def _output_tokens(self, attempt: Attempt) -> int:
        """Output tokens of an attempt; of a body that was lost, all that it was allowed."""
        asked = asked_tokens(self._turn.state.last_edits, self._turn.facts.max_tokens)
        if attempt.unread and asked is not None and attempt.response.usage is None:
            return asked
        return output_tokens(attempt.response, asked)

    def _takes_prefill(self) -> bool:
        wanted = self._turn.policy.prefill
        if self._turn.facts.prefill_barred or wanted == "never":
            return False
        dialect = self._turn.provider.dialect
        if wanted != "always" and not dialect.takes_prefill(self._turn.facts.model):
            return False
        return self._learned(_PREFILL) is None
