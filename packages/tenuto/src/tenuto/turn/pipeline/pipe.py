"""The pipe: request bytes in, response bytes out, and the machine between.

Theory of operation
-------------------
`run` is a generator of commands (`turn.drivers.commands`). A driver carries them out and sends the
replies back. One run is one turn, and repeats three steps until the turn ends:

1. receive: send the request, and read what comes (`bodies`, `streams`; `stitching` for its text);
2. decide: ask the machine what follows (`decision`);
3. present: show the caller how the turn ended (`ending`).

The turn's `TurnRecord` holds its state, and says who may change it. The pipe has no state of its
own, and tables make the decisions. If a turn needs no change, the pipe forwards the bytes as they
came (C25). It leaves failures before the first response header to the SDK, which retries them by
itself (P1b).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from functools import partial

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.signals import FaultSeen
from tenuto.core.deciding.actions import Edit, Finish, Recovery, Send, holds_prefill
from tenuto.frames.compression import Decoder, UndecodableBytes, decoder_for
from tenuto.frames.frame import Framing
from tenuto.frames.pieces import Pieces
from tenuto.frames.sniff import named_by
from tenuto.turn.decision import decide, learn, took_prefill
from tenuto.turn.drivers.commands import (
    Command,
    ConnectionLost,
    Head,
    RaiseError,
    Reply,
    Run,
    SendData,
    SendRequest,
    Sleep,
)
from tenuto.turn.drivers.mark import has_ours, mark_in, without_ours
from tenuto.turn.pipeline.ending import finish_turn
from tenuto.turn.receiving.bodies import read_body
from tenuto.turn.receiving.streams import open_head, read_stream
from tenuto.turn.receiving.unread import pass_unread
from tenuto.turn.receiving.unrecognized import (
    is_unrecognized,
    may_be_unrecognized,
    not_of_this_api,
    unreachable,
)
from tenuto.turn.record.attempt import Attempt, failed, id_of
from tenuto.turn.record.recent import RecentTurn, recent, text_hash
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.stream.framing import look_ahead
from tenuto.wires.json import as_utf8

ERROR_BODY_MAX_BYTES = 1_048_576
"""The most that is read of an error response; errors are short."""

Receiving = Generator[Command, Reply, Attempt | None]
"""Receives one attempt; None if it was passed on unread, and the turn is over."""


def run(turn: TurnRecord) -> Run:
    """Finish a turn. Yield its commands, which end after the last byte."""
    if turn.events is not None:
        turn.events.turn_started(turn.request.url)
        if turn.parsed.repairs and not turn.left_alone:
            turn.events.history_repaired(turn.parsed.repairs)
    action: Send | Finish = Send((), "", Recovery.RETRY)
    raised: str | None = None
    try:
        while isinstance(action, Send):
            if action.wait_s:
                yield from _wait(turn, action)
            attempt = yield from _receive(turn, action)
            if attempt is None:
                return
            if (other := not_of_this_api(attempt)) is not None:
                attempt.response = failed(other)
            action, outcome, facts = decide(turn, attempt)
            if isinstance(action, Finish):
                yield from finish_turn(turn, action, outcome, facts, attempt)
            elif turn.open and (
                text := turn.client_stream.stop_forwarding(withholds=turn.puts_together)
            ):
                yield SendData(text)
    except Exception as error:  # the policy's `decide` named no rung
        raised = type(error).__name__
        raise
    finally:
        # Closed from outside before its end: the caller left (C23).
        if not turn.log.ended:
            kept_text = turn.client_stream.delivered_text or turn.kept_text
            turn.log.cancelled(len(kept_text), turn.held_bytes, raised)
            ids = (*turn.log.ids, id_of(turn.client_stream.message if turn.open else None))
            recent.add(turn.log.turn, ids, RecentTurn(turn.log.report, text_hash(kept_text)))
            if turn.context is not None:
                turn.context.given = kept_text


def _wait(turn: TurnRecord, send: Send) -> Run:
    seconds = send.wait_s * (1.0 if send.told else turn.environment.jitter())
    begun_s = turn.environment.now()
    try:
        yield Sleep(seconds)
    finally:
        if turn.events is not None:
            turn.events.waited(seconds, begun_s, asked=send.told)


def _receive(turn: TurnRecord, send: Send) -> Receiving:
    """Send the request with its edits, and read what comes."""
    edits = () if turn.left_alone else send.edits
    command, events, ahead = _transmit(turn, edits), turn.events, deque[Reply]()
    if events is not None:
        events.attempt_started(send, edits, turn.facts.max_tokens, len(turn.kept_text))
    reply = yield command
    if isinstance(reply, ConnectionLost):
        url = turn.request.url
        if turn.first is None and turn.context is None:
            turn.log.left_to_the_sdk(partial(unreachable, reply, url), reply)
            yield RaiseError(reply.error)
            return None
        if events is not None:
            events.no_head_came(reply)
        lost = reply if turn.left_alone else None
        return turn.received(Attempt(failed(unreachable(reply, url)), lost=lost))
    assert isinstance(reply, Head)
    turn.upstream = None
    if has_ours(reply.headers):
        turn.upstream = mark_in(reply.headers)
        if turn.upstream is None or turn.environment.serves:
            reply = without_ours(reply)
    if may_be_unrecognized(turn) and (yield from is_unrecognized(turn, reply, ahead)):
        came = [piece for piece in ahead if isinstance(piece, bytes)]
        yield from pass_unread(turn, reply, b"".join(came), "another_shape")
        return None
    if events is not None:
        events.head_came(reply.status)
    if turn.provider.unknown and (server := reply.get(b"server")):
        turn.answered_by(server)
    decoder = decoder_for(reply.coding, turn.policy.body_max_bytes)
    error = 400 <= reply.status < 600
    readable = decoder is not None and (error or reply.is_good)
    if not readable and turn.first is None and turn.context is None:
        yield from pass_unread(turn, reply, b"", "unreadable")
        return None
    if error:
        return (yield from _receive_error(turn, reply, decoder))
    if decoder is None or not readable:
        fault = Fault(FaultKind.GARBAGE, "undecodable_bytes")
        return turn.received(Attempt(failed(fault), reply))
    if holds_prefill(edits):
        took_prefill(turn)
    if not turn.facts.stream:
        return (yield from read_body(turn, reply, decoder, ahead))
    receive = yield from _look(turn, reply, decoder, ahead)
    return (yield from receive)


def _transmit(turn: TurnRecord, edits: tuple[Edit, ...]) -> SendRequest:
    request, body = turn.request, turn.request.body
    if not turn.left_alone:
        body = turn.environment.replaced_ids.rewrite(turn.body(edits), turn.facts.follows)
    number, left_s = turn.state.attempts, turn.begin_attempt()
    headers = request.headers
    if number or turn.headers_for_us:
        headers = tuple(
            (
                key,
                b"%b-tenuto-%d" % (value, number)
                if number and key.lower() == b"idempotency-key"
                else value,
            )
            for key, value in headers
            if not key.lower().startswith(b"x-tenuto")
        )
    return SendRequest(headers, body, body is not request.body, left_s, turn.within_s)


def _look(
    turn: TurnRecord, head: Head, decoder: Decoder, ahead: deque[Reply]
) -> Generator[Command, Reply, Receiving]:
    """Find out how the answer to a request for a stream is framed, and return what reads it. (It is
    not read here, since each generator around it would cost time for every piece.)"""
    framing = turn.framing
    says_events = named_by(head.get(b"content-type")) is Framing.EVENTS
    if says_events and framing.asked is Framing.EVENTS:
        # The answer says that it is what was requested, so the head need not wait for its content.
        yield from open_head(turn, head)
    limit_bytes = turn.policy.body_max_bytes
    came, ahead = yield from look_ahead(framing.asked, head, limit_bytes, turn.within_s, ahead)
    begun = framing.began(head, came)
    if says_events or (begun is not None and came is not Framing.EVENTS):
        yield from open_head(turn, begun or head)
    if begun is None:
        return read_body(turn, head, decoder, ahead)
    return read_stream(turn, begun, decoder, ahead)


def _receive_error(turn: TurnRecord, head: Head, decoder: Decoder | None) -> Receiving:
    pieces, lost, more = Pieces(), None, False
    while not more:
        reply = yield turn.reading
        if isinstance(reply, bytes):
            pieces.add(reply)
        elif isinstance(reply, ConnectionLost) and not turn.deadline_passed:
            lost = reply
        if not reply or lost or turn.deadline_passed:
            break
        more = pieces.size >= ERROR_BODY_MAX_BYTES
    raw = pieces.whole
    if turn.deadline_passed:  # an error should be reported even if its message was cut
        head = head.without(b"content-length")
    try:
        body = as_utf8(decoder.feed(raw)) if decoder is not None else b""
    except UndecodableBytes:
        body = b""
    lowered = {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in head.headers}
    # A wait until a date is counted from the response's own date, if it has one.
    lowered.setdefault("date", turn.environment.date())
    fault = turn.wire.parse_fault(head.status, lowered, body)
    learn(turn, fault)
    builder = turn.builder()
    builder.feed(FaultSeen(fault))
    attempt = Attempt(builder.build(), head, raw, http_error=True, more=more, lost=lost)
    return turn.received(attempt)
