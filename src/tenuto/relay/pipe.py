"""The pipe: request bytes in, response bytes out, and the machine between.

Theory of operation
-------------------
`Pipe.run()` is a generator of commands (`relay.commands`); a driver carries them out and sends the
replies back. One turn is one run: transmit, read the response through the wire into the builder,
ask the machine, and transmit again or end. What belongs to the turn stands in its `Turn`; the pipe
decides nothing that a table decides. What comes is read in `bodies` and `streams`, joined to what
is kept in `joining`, judged in `decision`, and shown in `ending`.

A turn that needs nothing is handed on as the bytes that came (C25). Everything before the first
response header is left to the SDK, which retries it by itself (P1b).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import replace
from functools import partial

from tenuto.core.actions import Edit, Finish, Recovery, Send, Status, holds_prefill
from tenuto.core.fault import Fault, FaultKind
from tenuto.core.signals import FaultSeen
from tenuto.frames.compression import Decoder, UndecodableBytes, decoder_for
from tenuto.frames.frame import Framing
from tenuto.frames.pieces import Pieces
from tenuto.frames.sniff import named_by
from tenuto.providers.table import by_server
from tenuto.relay.bodies import read_body
from tenuto.relay.commands import (
    Command,
    Head,
    Lost,
    Reply,
    Reraise,
    Run,
    Transmit,
    Wait,
    Write,
)
from tenuto.relay.decision import decide, learn, took_prefill
from tenuto.relay.ending import Ending, hand_on
from tenuto.relay.look_ahead import look_ahead
from tenuto.relay.no_answer import is_good, not_of_this_api, unreachable, with_words
from tenuto.relay.streams import open_head, read_stream
from tenuto.relay.turn import Attempt, Turn, failed
from tenuto.wire.json import as_utf8

ERROR_BODY_MAX_BYTES = 1_048_576
"""More of an error response is not read; errors are short."""

Reading = Generator[Command, Reply, Attempt | None]
"""Reads one attempt."""


class Pipe:
    """Finishes one turn."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def run(self) -> Run:
        """The turn as commands; sent replies, it ends after the last byte."""
        events, parsed = self._turn.events, self._turn.parsed
        if events is not None:
            stream = self._turn.facts.stream
            events.turn_started(self._turn.wire.name, self._turn.request.url, stream=stream)
            if parsed.repairs and not self._turn.left_alone:
                events.history_repaired(parsed.repairs)
        try:
            yield from self._run()
        finally:
            # Closed from outside before its end: the caller went away (C23).
            if not self._turn.watch.ended:
                said = self._turn.outlet.delivered_text or self._turn.said
                self._turn.watch.cancelled(len(said), self._turn.held_bytes)
                if self._turn.carried is not None:
                    self._turn.carried.given = said

    def _run(self) -> Run:
        send = Send((), "", Recovery.RETRY)
        while True:
            if send.wait_s:
                yield from self._wait(send)
            attempt = yield from self._attempt(send)
            if attempt is None:
                return
            if (other := not_of_this_api(attempt)) is not None:
                attempt.response = failed(other)
            action, outcome, facts = decide(self._turn, attempt)
            if isinstance(action, Finish):
                if action.status is Status.COMPLETE and self._turn.first is not None:
                    self._turn.around.successors.add(
                        self._turn.first.response.id, attempt.response.id
                    )
                held_bytes = self._turn.held_bytes
                report = self._turn.watch.finished(action, outcome, facts, held_bytes)
                ending = Ending(self._turn)
                if self._turn.carried is not None:
                    answer = ending.whole(action, attempt)
                    fault = attempt.response.fault
                    if fault is not None:  # some repeat the key that they refuse
                        fault = with_words(fault, attempt)
                        fault = replace(fault, message=self._turn.telling(fault.message, 2_000))
                    self._turn.carried.refusal = attempt.response.refusal
                    self._turn.carried.ended(report, answer, fault, self._turn.state.spent)
                yield from ending.show(action, attempt, report)
                return
            if self._turn.open and (text := self._turn.outlet.stop_forwarding()):
                yield Write(text)
            send = action

    def _wait(self, send: Send) -> Run:
        seconds = send.wait_s * (1.0 if send.told else self._turn.around.jitter())
        begun_s = self._turn.around.now()
        try:
            yield Wait(seconds)
        finally:
            if self._turn.events is not None:
                self._turn.events.waited(seconds, begun_s, asked=send.told)

    # --- one attempt ------------------------------------------------------------------------

    def _attempt(self, send: Send) -> Generator[Command, Reply, Attempt | None]:
        """Send the request with its edits and read what comes; None: it was handed on unread."""
        edits = () if self._turn.left_alone else send.edits
        command, events, url = self._transmit(edits), self._turn.events, self._turn.request.url
        if events is not None:
            max_tokens, said = self._turn.facts.max_tokens, self._turn.said
            events.attempt_started(send, edits, max_tokens, len(said))
        reply = yield command
        if isinstance(reply, Lost):
            if self._turn.first is None and self._turn.carried is None:
                self._turn.watch.left_to_the_sdk(partial(unreachable, reply, url), reply)
                yield Reraise(reply.error)
                return None
            if events is not None:
                events.no_head_came(reply)
            lost = reply if self._turn.left_alone else None
            attempt = Attempt(failed(unreachable(reply, url)), lost=lost)
            return self._turn.received(attempt)
        assert isinstance(reply, Head)
        if events is not None:
            events.head_came()
        if self._turn.provider.unknown and (server := reply.get(b"server")):
            self._turn.provider = by_server(server, self._turn.wire.name)
        self._turn.watch.provider = self._turn.provider.dialect.name
        decoder = decoder_for(reply.coding, self._turn.policy.body_max_bytes)
        error = 400 <= reply.status < 600
        readable = decoder is not None and (error or is_good(reply))
        if not readable and self._turn.first is None and self._turn.carried is None:
            yield from hand_on(self._turn, reply, b"", "unreadable")
            return None
        if error:
            return (yield from self._error(reply, decoder))
        if decoder is None or not readable:
            fault = Fault(FaultKind.GARBAGE, "undecodable_bytes")
            return self._turn.received(Attempt(failed(fault), reply))
        if holds_prefill(edits):
            took_prefill(self._turn)
        if not self._turn.facts.stream:
            return (yield from read_body(self._turn, reply, decoder, deque()))
        read = yield from self._reading(reply, decoder)
        return (yield from read)

    def _reading(self, head: Head, decoder: Decoder) -> Generator[Command, Reply, Reading]:
        """Look how the answer to a request for a stream is framed, and return what reads it. (It is
        not read in here: each generator around it would cost time for every piece.)"""
        framing = self._turn.framing
        says_events = named_by(head.get(b"content-type")) is Framing.EVENTS
        if says_events and framing.asked is Framing.EVENTS:
            # It says that it is what was asked for: the head need not wait for what it is.
            yield from open_head(self._turn, head)
        limit_bytes, within_s = self._turn.policy.body_max_bytes, self._turn.within_s
        came, ahead = yield from look_ahead(framing.asked, head, limit_bytes, within_s)
        begun = framing.began(head, came)
        if says_events or (begun is not None and came is not Framing.EVENTS):
            yield from open_head(self._turn, begun or head)
        if begun is None:
            return read_body(self._turn, head, decoder, ahead)
        return read_stream(self._turn, begun, decoder, ahead)

    def _transmit(self, edits: tuple[Edit, ...]) -> Transmit:
        if self._turn.left_alone:
            body = self._turn.request.body
        else:
            body = self._turn.body(edits)
            body = self._turn.around.successors.instead(body, self._turn.facts.follows)
        number, left_s = self._turn.state.attempts, self._turn.begin_attempt()
        within_s = self._turn.within_s
        edited = body is not self._turn.request.body
        if not number and not self._turn.headers_for_us:
            return Transmit(self._turn.request.headers, body, edited, left_s, within_s)
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
        return Transmit(headers, body, edited, left_s, within_s)

    def _error(
        self, head: Head, decoder: Decoder | None
    ) -> Generator[Command, Reply, Attempt | None]:
        pieces, lost, more = Pieces(), None, False
        while not more:
            reply = yield self._turn.reading
            if isinstance(reply, bytes):
                pieces.add(reply)
            elif isinstance(reply, Lost) and not self._turn.late:
                lost = reply
            if not reply or lost or self._turn.late:
                break
            more = pieces.size >= ERROR_BODY_MAX_BYTES
        raw = pieces.whole
        if self._turn.late:  # an error is worth telling of though its words were cut
            head = head.without(b"content-length")
        try:
            body = as_utf8(decoder.feed(raw)) if decoder is not None else b""
        except UndecodableBytes:
            body = b""
        lowered = {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in head.headers}
        # A wait until some date is counted from the response's own, where it has one.
        lowered.setdefault("date", self._turn.around.date())
        fault = self._turn.wire.parse_fault(head.status, lowered, body)
        learn(self._turn, fault)
        builder = self._turn.builder()
        builder.feed(FaultSeen(fault))
        attempt = Attempt(builder.build(), head, raw, http_error=True, more=more, lost=lost)
        return self._turn.received(attempt)
