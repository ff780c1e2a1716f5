"""The short path of a turn: a healthy answer is forwarded before anything is built.

Theory of operation
-------------------
A `Short` has the interface of a run of the pipe (`turn.drivers.commands`). It serves a request that
leaves unchanged and has no listener. It sends the request and collects the answer. If the wire is
certain that the answer is complete, it forwards the bytes, and the turn is over. In all other cases
it starts the full path (`turn.pipeline.pipe`) with the same replies, so that the turn continues as
if there were no short path. The same happens if somebody asks for the report.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import structs

from tenuto.core.deciding.actions import Status
from tenuto.core.events.report import Report
from tenuto.core.settings.policy import Policy
from tenuto.frames.compression import UndecodableBytes, decoder_for
from tenuto.providers.provider import Row
from tenuto.providers.table import by_server
from tenuto.turn.drivers.commands import (
    READ,
    Command,
    Head,
    ReadMore,
    Reply,
    Request,
    Run,
    SendData,
    SendRequest,
    StartResponse,
)
from tenuto.turn.drivers.mark import DASH, OPEN, OURS, written
from tenuto.turn.record.recent import recent
from tenuto.turn.record.turn_log import TurnLog
from tenuto.turn.record.turn_record import TurnRecord, TurnRequest, new_id
from tenuto.turn.settings.environment import Environment
from tenuto.wires.answer_id import Ids
from tenuto.wires.base import Wire
from tenuto.wires.request import WireRequest


class TurnStarter(Protocol):
    """Starts the full path of a turn (`turn.pipeline.engine.Engine`)."""

    policy: Policy
    environment: Environment

    def read(self, request: Request, parsed: WireRequest | None = None) -> TurnRequest | None:
        """Read a request as its wire does."""
        ...

    def run(self, turn_request: TurnRequest) -> tuple[TurnRecord, Run]:
        """Begin a turn."""
        ...


class Short:
    """A turn that needs no machine as long as its answer is healthy.

    Args:
        engine: begins the machine.
        request: the request as it came, which leaves unchanged.
        wire, provider: those that the request is for.
        parsed: the request as its wire reads it; None if nothing has read it so far.
        max_tokens: its output limit (`Asks.max_tokens`).
        reports: whether anybody may ask for the report; if not, nothing of the machine is kept.

    Attributes:
        send: takes a reply and returns the next command; raises StopIteration at the end.
    """

    # Attributes that few turns set. As class attributes, they save time at the start of a turn.
    _forwarded_bytes = 0
    _has_head = False
    _is_coded = False
    _is_over = False
    _size = 0
    _waiting: deque[Reply]
    _turn = ""
    _ids: Ids | None = None  # those that were noted
    _record: TurnRecord | None = None
    _log: TurnLog | None = None
    _run: Run | None = None

    def __init__(
        self,
        engine: TurnStarter,
        request: Request,
        wire: Wire,
        provider: Row,
        parsed: WireRequest | None,
        max_tokens: int | None,
        *,
        reports: bool,
    ) -> None:
        self._engine = engine
        self._request = request
        self._wire = wire
        self._provider = provider
        self._parsed = parsed
        self._max_tokens = max_tokens
        self._reports = reports
        self._started_s = engine.environment.now()
        self._came: list[Reply] = []
        self.send: Callable[[Reply], Command] = self._transmit

    @property
    def request(self) -> Request:
        """The request as it came."""
        return self._request

    def ends_with(self, body: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether the turn is over with a body, decoded, of a good answer with these
        headers: the body is certainly whole, and the server's name doesn't identify a provider that
        reads it differently."""
        short = self._wire.short
        ids = None if short is None else short.ids_if_whole(body, self._max_tokens)
        if ids is None:
            return False
        # Of a known provider, the server needn't be identified.
        if not (self._provider.hosts or self._provider.server):
            for name, value in headers:
                if len(name) == 6 and name.lower() == b"server":
                    server = by_server(value.decode("latin-1"), self._wire.name)
                    if server.overrides:
                        return False
        self._ids = ids
        recent.add_plain(ids)
        return True

    def mark(self, *, events: bool) -> bytes:
        """Return the mark of the answer, whose head leaves now (`turn.drivers.mark`)."""
        if self._record is not None:
            return self._record.mark(events=events)
        self._turn = self._turn or new_id()
        if not events:
            return written(self._turn, Status.COMPLETE, marks_end=False)
        return written(self._turn, OPEN, marks_end=self._marks_end())

    def _marks_end(self) -> bool:
        """Return whether it is known that the stream will end in a mark."""
        return bool(self._provider.sends_stop)

    def close(self) -> None:
        """Close the turn: the caller stopped reading."""
        self._is_over = True
        if self._run is not None:
            self._run.close()
        else:
            self.send = stop_iteration

    @property
    def report(self) -> Report | None:
        """How the turn ended, as the machine reports it; None before the end."""
        if self._log is None and self._is_over:
            self._replay()
        return self._log.report if self._log is not None else None

    # --- a body ---------------------------------------------------------------------------------

    def _transmit(self, _: Reply) -> Command:
        self.send = self._on_head
        return SendRequest(self._request.headers, self._request.body, edited=False)

    def _on_head(self, reply: Reply) -> Command:
        self._came.append(reply)
        if not isinstance(reply, Head) or not 200 <= reply.status < 300:
            return self._start(None)
        for name, _ in reply.headers:
            if len(name) == 16 and name.lower() == b"content-encoding":
                self._is_coded = True
            elif len(name) > 7 and name[1] == DASH and name[:8].lower() == OURS:  # as `has_ours`
                return self._start(None)
        self.send = self._on_piece
        return READ

    def _on_piece(self, reply: Reply) -> Command:
        came = self._came
        came.append(reply)
        if not isinstance(reply, bytes):
            return self._start(None)
        if reply:
            self._size += len(reply)
            limit = self._engine.policy.body_max_bytes
            return self._start(None) if limit and self._size > limit else READ
        head, *pieces, _ = came
        assert isinstance(head, Head)
        raw = pieces[0] if len(pieces) == 1 else b"".join(pieces)  # type: ignore[arg-type]
        assert isinstance(raw, bytes)
        body = self._decoded(head, raw) if self._is_coded else raw
        if not self.ends_with(body, head.headers):
            return self._start(None)
        self._is_over = True
        self._whole = raw
        self.send = self._pass_on
        return StartResponse(head)

    def _decoded(self, head: Head, raw: bytes) -> bytes:
        """Return a body without its coding; b"" if it cannot be read."""
        decoder = decoder_for(head.coding, self._engine.policy.body_max_bytes)
        try:
            return b"" if decoder is None else decoder.feed(raw)
        except UndecodableBytes:
            return b""

    def _pass_on(self, _: Reply) -> Command:
        self.send = stop_iteration
        return SendData(self._whole, last=True)

    # --- the machine ----------------------------------------------------------------------------

    def _start(self, _: Reply) -> Command:
        """Start the machine and give it what came. Return the first command that is still to be
        carried out."""
        run = self._run = self._machine()
        self._waiting, self._came = deque(self._replies()), []
        self.send = run.send
        command = run.send(None)
        return self._given(run.send(self._waiting.popleft())) if self._waiting else command

    def _replies(self) -> list[Reply]:
        """Return what came so far."""
        return self._came

    def _machine(self) -> Run:
        engine = self._engine
        if self._ids is not None:
            recent.forget(self._ids)  # the machine notes them itself
        asked = engine.read(self._request, self._parsed)
        assert asked is not None, "the wire has read it, or would"
        asked = structs.replace(asked, started_s=self._started_s, turn=self._turn)
        turn, run = engine.run(asked)
        if engine.environment.serves:
            self._record = turn
        if self._reports:
            self._log = turn.log
        return run

    def _go_on(self, reply: Reply) -> Command:
        assert self._run is not None
        return self._given(self._run.send(reply))

    def _given(self, command: Command) -> Command:
        """Skip commands that were carried out already; return the next one."""
        run = self._run
        assert run is not None
        while True:
            if isinstance(command, ReadMore) and self._waiting:
                command = run.send(self._waiting.popleft())
            elif isinstance(command, StartResponse) and self._has_head:
                command = run.send(None)
            elif isinstance(command, SendData) and self._forwarded_bytes >= len(command.data):
                self._forwarded_bytes -= len(command.data)
                command = run.send(None)
            else:
                break
        if isinstance(command, SendData) and self._forwarded_bytes:
            command = SendData(command.data[self._forwarded_bytes :], command.last)
            self._forwarded_bytes = 0
        if isinstance(command, SendRequest):
            self._waiting.clear()  # the machine doesn't want the rest of that answer
        self._has_head = False
        self.send = self._go_on if self._waiting or self._forwarded_bytes else run.send
        return command

    def _replay(self) -> None:
        """Let the machine report how the turn ended. It receives what came, and goes no further."""
        run = self._machine()
        command = run.send(None)
        with contextlib.suppress(StopIteration):
            for reply in self._replies():
                while not isinstance(command, SendRequest | ReadMore):
                    command = run.send(None)
                command = run.send(reply)
            while not isinstance(command, SendRequest | ReadMore):
                command = run.send(None)
        run.close()


def stop_iteration(_: Reply) -> Command:
    """Raise StopIteration: the turn is over."""
    raise StopIteration
