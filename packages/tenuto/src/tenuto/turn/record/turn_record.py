"""The record of one turn: everything that attempts add to, and that the turn's end is made from.

`TurnRecord` owns the state of a turn, and the objects that hold some of it. What the request and
the environment say never changes. These parts may change the rest:

    attributes                          changed by
    first, answered, stopped, reasoning `received`, once an attempt is over
    the time limits                     `begin_attempt`, `begin_stream`
    provider                            `answered_by`, if the server names itself
    taught                              `turn.decision`
    kept_text, kept, proven             `turn.receiving.stitching`
    upstream                            `turn.pipeline.pipe`, with each head
    state, left_alone, ceiling_tokens,  `turn.decision`; `turn.receiving.fetching` spends budgets
      resumed
    headed, open                        `turn.receiving.streams`, which shows the head and the first
                                        events
    log                                 itself: it adds up the report and sends the events
    client_stream, framing              themselves, as `turn.receiving.streams` feeds them: what was
                                        given to the caller, what waits, how the bytes are framed

Besides it, `turn.receiving.streams` or `turn.receiving.bodies` makes an `Attempt` with its
response, and `turn.decision` and `turn.receiving.stitching` set what is kept of it. A `CallContext`
belongs to the loop that sends the request; `turn.decision`, `turn.pipeline.pipe` and
`turn.pipeline.ending` store the end in it. A turn on the short path has no record.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.closing import ends_closed
from tenuto.core.answer.response import is_visible
from tenuto.core.answer.signals import TransferEnded
from tenuto.core.answer.stop import CLEAN
from tenuto.core.deciding.actions import Content, DropKeys, Edit, Status, reasoning_in
from tenuto.core.deciding.edits import asked_tokens, asks_for_call
from tenuto.core.deciding.view import State
from tenuto.core.settings.policy import Policy
from tenuto.providers.provider import Row
from tenuto.providers.table import by_server
from tenuto.schema.documents import Document
from tenuto.telemetry.redaction import Redactor
from tenuto.turn.drivers.call_context import CallContext
from tenuto.turn.drivers.commands import Head, LeftS, ReadMore, Request, reading
from tenuto.turn.drivers.mark import NAME, OPEN, Mark, written
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_log import TurnLog
from tenuto.turn.settings.environment import Environment
from tenuto.turn.stream.client_stream import ClientStream
from tenuto.turn.stream.framing import StreamFraming, rule_of
from tenuto.turn.stream.plans import Plans
from tenuto.wires.answer import AttemptContent
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect, taught_by
from tenuto.wires.request import RequestFacts, WireRequest
from tenuto.wires.stop_sequences import stop_sequences
from tenuto.wires.unsupported import Unsupported

if TYPE_CHECKING:
    from tenuto.turn.record.event_sender import EventSender


@dataclass(frozen=True, slots=True)
class Kept:
    """An attempt of which the turn keeps something: where its text begins in the turn's text, and
    whether it is separate from the text before it."""

    attempt: Attempt
    begins: int
    apart: bool


_process = uuid.uuid4().hex
_number = itertools.count(1)


def _begin_anew() -> None:
    """Give the turns of a forked process ids that differ from those of its parent."""
    global _process  # noqa: PLW0603 - it belongs to the process
    _process = uuid.uuid4().hex


def new_id() -> str:
    """Return the id of a turn that has no record so far."""
    return f"{_process}{next(_number):08x}"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


class TurnRequest(msgspec.Struct, frozen=True):
    """A request for a turn.

    Attributes:
        request: the request as it came.
        wire: the format that it speaks.
        provider: the provider, as far as its URL shows.
        path: the path of its URL.
        parsed: the request as the wire reads it.
        started_s: when the turn began, by the clock of the environment.
        policy: the limits of the turn.
        headers_for_us: whether any of its headers are meant for Tenuto.
        is_off: whether the caller has switched Tenuto off for it.
        turn: the id that its answer has been marked with; "" if it has none so far.
    """

    request: Request
    wire: Wire
    provider: Row
    path: str
    parsed: WireRequest
    started_s: float
    policy: Policy
    headers_for_us: bool
    is_off: bool
    turn: str = ""


_RETRIES = b"x-stainless-retry-count"
"""The header in which SDKs of OpenAI, Anthropic and others count their retries."""


class TurnRecord:
    """One turn, for one request, within its environment.

    Attributes:
        left_alone: why the turn is only observed; "" if it is not.
        model: the base URL and the model's name, under which lessons about a model are kept.
        state: the machine's state.
        kept_text: all text that is kept.
        kept: the attempts that it came from, in order.
        proven: both, before anything was added to a document whose whole is not proven (C27a);
            None if nothing was.
        refuted: whether what completed a document turned out not to match its schema.
        reasoning: the reasoning of each attempt; of a plan, only what is new.
        plans: the plans before calls.
        taught: what errors of this turn showed about the model's rows
            (`wires.dialect.TaughtDialect`).
        first: the first attempt; answered: the first whose body could be read.
        stopped: the newest attempt that ended in a stop of the provider's own which is not clean.
        upstream: the mark of the attempt that is being received, if another Tenuto gave it;
            resumed: whether such an attempt broke off on its way and was resumed (E9a).
        headed: whether the caller has the head; open: whether the caller receives events.
        reading: the command to read on for as long as there is time.
        within_s: returns the seconds left for the current read; None if there is no limit.
    """

    def __init__(self, turn_request: TurnRequest, environment: Environment) -> None:
        self.wire: Wire = turn_request.wire
        self.parsed: WireRequest = turn_request.parsed
        self.request: Request = turn_request.request
        self.path: str = turn_request.path
        self.provider: Row = turn_request.provider
        self.environment = environment
        self.policy: Policy = turn_request.policy
        self.facts: RequestFacts = turn_request.parsed.facts
        self.headers_for_us: bool = turn_request.headers_for_us
        self.left_alone: str = "switched_off" if turn_request.is_off else self.facts.left_alone
        self._number = next(_number)
        self.context: CallContext | None = turn_request.request.context
        spent = self.context.spent if self.context is not None else {}
        self.model: tuple[str, str] = self.request.url.partition("?")[0], self.facts.model
        self.state: State = State(started_s=turn_request.started_s, spent=spent)
        self.kept_text = ""
        self.kept: list[Kept] = []
        self.proven: tuple[str, list[Kept]] | None = None
        self.refuted = False
        self.ceiling_tokens: int | None = None
        self.reasoning: list[str] = []
        self.taught: frozenset[str] = frozenset()
        self.plans: Plans = Plans(turn_request.wire.plan)
        self._just_ended = False  # an attempt, while it was unknown whether that means anything
        self.headed = False
        self.open = False
        self.first: Attempt | None = None
        self.answered: Attempt | None = None
        self.stopped: Attempt | None = None
        self.upstream: Mark | None = None
        self.resumed = False
        self.redactor: Redactor = Redactor(turn_request.request.url, turn_request.request.headers)
        turn = turn_request.turn or f"{_process}{self._number:08x}"
        provider = turn_request.provider.dialect.name
        self.log: TurnLog = TurnLog(
            turn,
            self.facts.model,
            provider,
            self.redactor,
            environment,
            turn_request.started_s,
            self.wire.name,
            stream=self.facts.stream,
        )
        self._end_by(None)

    @property
    def events(self) -> EventSender | None:
        """Sends the turn's events; None if nobody listens, or not yet."""
        return self.log.events

    @cached_property
    def framing(self) -> StreamFraming:
        """How the turn's stream is framed."""
        alone, named = bool(self.left_alone), self.wire.named_events
        lines = self.wire.streams_lines
        rule = rule_of(self.request, self.path, named=named, left_alone=alone, streams_lines=lines)
        return StreamFraming(rule, self.policy.event_max_bytes, left_alone=alone)

    @cached_property
    def client_stream(self) -> ClientStream:
        """What the caller receives of a stream."""
        hold = self.policy.hold_max_bytes
        alone, templates = bool(self.left_alone), self.environment.templates
        return ClientStream(
            self.wire,
            self.facts.model,
            hold,
            alone,
            self.context,
            templates,
            framing=self.framing,
            holds_text=self.document is not None and self.policy.structured_streams == "hold",
        )

    @cached_property
    def document(self) -> Document | None:
        """The JSON document that the request asks for; None if it asks for none."""
        if not self.facts.structured or self.facts.one_of_words:
            return None
        return Document(self.parsed.document(), self.facts.begun)

    @property
    def puts_together(self) -> bool:
        """Whether the current attempt may complete a document that is kept in part. Nothing of it
        is shown before the whole is proven (C27a)."""
        if self.document is None or self.state.apart or self.left_alone:
            return False
        return is_visible(self.kept_text) and not asks_for_call(self.state.last_edits)

    @property
    def apart(self) -> bool:
        """Whether the current attempt's text goes on exactly where the kept text ends: after a
        pause, and where the provider goes on by itself from all that came."""
        return self.state.apart and not self.text_after_checkpoint

    @property
    def text_after_checkpoint(self) -> str:
        """The text behind the place from which the provider goes on by itself: it says that again.
        "" if there is none (C30)."""
        last = self.kept[-1].attempt.message if self.state.going and self.kept else None
        return last.text_since_checkpoint if last is not None and last.checkpoint else ""

    @property
    def given(self) -> str:
        """The text that the caller has received."""
        return self.client_stream.delivered_text if self.open else ""

    @property
    def held_bytes(self) -> int:
        """The most bytes of the stream that were held back at once."""
        client_stream = vars(self).get(
            "client_stream"
        )  # a body has none, and needs none to be made
        return client_stream.most_held_bytes if client_stream is not None else 0

    @cached_property
    def stop_sequences(self) -> tuple[str, ...]:
        """The stop sequences of the request."""
        return stop_sequences(self.request.body)

    @cached_property
    def unsupported(self) -> Unsupported:
        """What may be left out of the request if the provider rejects it by name (H5)."""
        opted = frozenset(self.policy.drop_unsupported)
        return Unsupported(self.wire.name, self.provider.dialect, opted, self.request.body)

    @property
    def dialect(self) -> Dialect:
        """The provider's variant of the wire, with what its errors taught about it."""
        learned = self.environment.learned.words(*self.model, self.environment.now())
        return taught_by(self.provider.dialect, self.taught | learned)

    def body(self, edits: Sequence[Edit]) -> bytes:
        """Return the request with these edits. Without an edit or a repair, these are the caller's
        own bytes. All rows of a loop are Tenuto's, so what was learned counts without edits too."""
        ours = edits or self.context is not None
        made = self.parsed.apply(edits, self.dialect if ours else self.provider.dialect)
        for edit in edits:
            if isinstance(edit, DropKeys):  # last, since it removes keys of our own rows as well
                made = self.unsupported.without(made, edit.keys)
        return made

    def shown(self, head: Head) -> Head:
        """Return a head for the caller. It names what was left out of the request (H5), and the
        turn if somebody may look for it, because of its events, because it took several attempts,
        or because the answer is partial."""
        went = ", ".join(self.log.left_out).encode("ascii", "replace")
        shown = head.plus((b"x-tenuto-left-out", went)) if went else head
        report = self.log.report
        partial = report is not None and report.status == Status.PARTIAL
        told = self.log.has_listener or len(self.log.usage) > 1 or partial
        if not told or self.left_alone or head.get(NAME):  # an upstream's mark stays
            return shown
        return shown.plus((b"x-tenuto-turn", self.log.turn.encode()))

    def mark(self, *, events: bool) -> bytes:
        """Return the mark of the answer, whose head leaves now (`turn.drivers.mark`)."""
        report = self.log.report
        # Nothing is known of an answer that is passed on unread.
        read = self.headed and not self.left_alone
        marks_end = events and read and bool(self.marks_ends)
        return written(
            self.log.turn, report.status if report is not None else OPEN, marks_end=marks_end
        )

    def builder(self) -> Builder:
        """Return a builder for an attempt's response."""
        # Letters and digits that distinguish this turn's own ids from those of others.
        salt = f"{self._number ^ int(_process[:5], 16):05x}"[-5:]
        return Builder(
            asked_tokens(self.state.last_edits, self.facts.max_tokens),
            salt,
            self.provider.overrides,
            self.parsed.tool_parameters,
        )

    def received(self, attempt: Attempt) -> Attempt:
        """Note an attempt, once it is over."""
        self.log.ids.append(attempt.id)
        reasoning = attempt.response.reasoning
        if self.provider.dialect.reasoning_echoed:  # remove what the model continued from
            reasoning = reasoning.removeprefix(reasoning_in(self.state.last_edits))
            reasoning = reasoning if reasoning.strip() else ""
        self.reasoning.append(self.plans.keep(attempt.message, attempt.response, reasoning))
        if self.first is None:
            self.first = attempt
        if self.answered is None and attempt.value and attempt.response.fault is None:
            self.answered = attempt
        if attempt.names_stop and attempt.response.stop.reason not in CLEAN:
            self.stopped = attempt
        return attempt

    def answered_by(self, server: str) -> None:
        """Note the provider that the server names, if the URL does not show it."""
        self.provider = by_server(server, self.wire.name)
        self.log.provider = name = self.provider.dialect.name
        if self.events is not None:
            self.events.provider = name

    def content(self, contributions: Sequence[AttemptContent]) -> Content:
        """Return the content of the attempts in `contributions`, merged, in the wire's own form."""
        return self.wire.content(contributions) if contributions else ()

    def contributions(self, text: str) -> list[AttemptContent]:
        """Return the attempts of which something is kept; `text` is all of their text."""
        ends = [*(kept.begins for kept in self.kept), len(text)][1:]
        return [
            AttemptContent(
                a.value,
                text[k.begins : end],
                k.apart,
                a.response.text,
                a.message,
            )
            for k, end in zip(self.kept, ends, strict=True)
            for a in (k.attempt,)
        ]

    @property
    def marks_ends(self) -> bool | None:
        """Whether this provider marks the end of a stream; None while it is unknown (S3a). A later
        attempt shows nothing about an earlier one."""
        if self.upstream is not None and self.upstream.marks_end:
            return True
        told = self.provider.sends_stop
        if told is not None or self._just_ended:
            return told
        return self.environment.learned.marks_ends(*self.model, self.environment.now())

    @property
    def learned_unmarked(self) -> bool:
        """Whether Tenuto learned that this provider marks no ends, though no row says so."""
        return self.provider.sends_stop is None and self.marks_ends is False

    def transfer_ended(self, builder: Builder, head: Head) -> None:
        """Note that a stream ended without an error."""
        marks = self.marks_ends
        known = marks is False and (self.provider.sends_stop is False or self._believes(builder))
        builder.feed(TransferEnded(_is_delimited(head), self.wire.parts_close, known))
        self._just_ended = self._just_ended or (marks is None and not builder.marked)

    def _believes(self, builder: Builder) -> bool:
        """Return whether what was learned about unmarked ends holds for this answer. If the policy
        asks for certainty, a text that ends inside a word or a sentence is not complete (S3c)."""
        response = builder.build(over=False)
        if not response.calls and not is_visible(response.text):
            return False
        certain = self.policy.on_incomplete != "stop" and not response.calls
        return not certain or ends_closed(response.text)

    def ended(self, builder: Builder) -> None:
        """Learn from a finished stream whether this provider marks its end."""
        if builder.marked and self.provider.sends_stop is None and not self.left_alone:
            self.environment.learned.ended_marked(*self.model, self.environment.now())

    def timeout_s(self) -> float | None:
        """Return how long the caller waits for the turn, in seconds: as long as for a whole body,
        and no longer than a loop has left. None: for ever."""
        waits = None if self.facts.stream else self.request.timeout_s
        left = self.context.within_s if self.context is not None else None
        return min((limit for limit in (waits, left) if limit is not None), default=None)

    def begin_attempt(self) -> float | None:
        """Start the clock for an attempt's head, and for its body if it has one (C29a). The limit
        is the time left for the turn, and for a further attempt also how long the caller waits for
        a read.

        Returns the seconds left; None if nothing limits them, since a first attempt takes as long
        as without Tenuto."""
        now_s, begun_s = self.environment.now(), self.state.started_s
        ends = [self._recovery_ends_s()]
        if self.context is not None and self.context.within_s is not None:
            ends.append(begun_s + self.context.within_s)
        if self.state.attempts and self.request.timeout_s is not None:
            ends.append((now_s if self.facts.stream else begun_s) + self.request.timeout_s)
        ends_s = min((end for end in ends if end is not None), default=None)
        self._end_by(ends_s)
        return None if ends_s is None else max(ends_s - now_s, 0.001)

    def begin_stream(self) -> None:
        """Begin to read a stream. From now on, only the policy's own limit ends it."""
        self._end_by(self._recovery_ends_s())

    def _recovery_ends_s(self) -> float | None:
        """Return when a further attempt must be over: `turn_timeout_s` after the end of the first
        one; None if there is no limit."""
        limit = self.policy.turn_timeout_s
        return self.state.answered_s + limit if limit and self.state.attempts else None

    def _end_by(self, ends_s: float | None) -> None:
        """Limit the reads from here on; None for no limit."""
        now = self.environment.now
        self.within_s: LeftS | None = None if ends_s is None else lambda: ends_s - now()
        self.reading: ReadMore = reading(self.within_s)

    @property
    def deadline_passed(self) -> bool:
        """Whether no time is left for the current read."""
        return self.within_s is not None and self.within_s() <= 0

    @property
    def is_sdk_retry(self) -> bool:
        """Whether the SDK says that it sends this request again because its last one failed. A body
        whose connection breaks is then left to it, so that the two don't multiply."""
        counted = next((v for k, v in self.request.headers if k.lower() == _RETRIES), b"0")
        return self.context is None and counted.strip() not in (b"", b"0")

    def loop_deadline_passed(self) -> bool:
        """Return whether a loop has no time left for this turn: Tenuto then waits out no further
        silence."""
        left = self.context.within_s if self.context is not None else None
        return left is not None and self.environment.now() - self.state.started_s > left


def _is_delimited(head: Head) -> bool:
    """Return whether a transfer marked its own end. On HTTP/1.1 a header says so, or says that the
    end of the connection is the end. On HTTP/2 every transfer does, and there is no such header."""
    closes = "close" in head.get(b"connection").lower()
    return not closes or bool(head.get(b"content-length") or head.get(b"transfer-encoding"))
