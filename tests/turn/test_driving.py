"""What a driver does beside handing on: whom it closes and when, and that closing ends it wherever
it is just then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from support.far_sides import event

from tenuto.clients.aiobotocore_client import _Scope
from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Commands, ConnectionLost, Head, Request, SendRequest
from tenuto.turn.drivers.drive import AsyncDrive, Drive
from tenuto.turn.drivers.scripted import Script, Scripted, ScriptedUpstream, lost
from tenuto.turn.pipeline.engine import Engine

ASK = Request(
    "POST",
    "https://host/v1/chat/completions",
    (),
    b'{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
)
DONE = b"data: [DONE]\n\n"
CUT = Scripted.stream(event(b"Half of it "), event(b"", b'"length"'), DONE)
REST = Scripted.stream(event(b"and the rest."), event(b"", b'"stop"'), DONE)
FLOWING = Scripted.stream(*map(event, b"One by one they are said.".split()), *REST.pieces)
QUICK, SLOW = Policy(backoff_s=0.0), Policy(backoff_s=20.0, backoff_max_s=20.0)

SCOPES = pytest.mark.parametrize("scope", [anyio.CancelScope, _Scope], ids=["anyio", "asyncio"])


class Told(Exception):
    """What a driver raises here of a turn that was closed before its end."""


class AsyncScripted:
    """`AsyncUpstream` over a script; `finishing` is called where it is finished."""

    def __init__(self, upstream: ScriptedUpstream) -> None:
        self._upstream = upstream
        self.head = upstream.head
        self.pieces = self._read()
        self.finishing: Callable[[], Any] | None = None

    async def _read(self) -> AsyncIterator[bytes]:
        for piece in self._upstream:
            yield piece

    def lost(self, error: Exception) -> ConnectionLost | None:
        return self._upstream.lost(error)

    async def finish(self) -> None:
        if self.finishing is not None:
            await self.finishing()
        await self.close()

    async def close(self) -> None:
        self._upstream.close()


class Asked:
    """What a driver sends its requests with. `open_then`: how many responses were open at each;
    `again`: whether there was a second one."""

    def __init__(self, *answers: Scripted | ConnectionLost) -> None:
        self.script = Script(*answers)
        self.open_then: list[int] = []
        self.opened: list[AsyncScripted] = []
        self.again = asyncio.Event()

    @property
    def open(self) -> int:
        return sum(not upstream.closed for upstream in self.script.opened)

    def connect(self, command: SendRequest) -> ScriptedUpstream | ConnectionLost:
        self.open_then.append(self.open)
        return self.script.connect(command)

    async def connect_async(self, command: SendRequest) -> AsyncScripted | ConnectionLost:
        answer = self.connect(command)
        if len(self.open_then) > 1:
            self.again.set()
        if isinstance(answer, ConnectionLost):
            return answer
        self.opened.append(AsyncScripted(answer))
        return self.opened[-1]


def run_of(policy: Policy = QUICK, on_event: Callable[[Event], None] | None = None) -> Commands:
    run = Engine(policy, on_event).begin(ASK)
    assert run is not None
    return run


def text_of(pieces: list[Any]) -> bytes:
    return b"".join(piece for piece in pieces if isinstance(piece, bytes))


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("broken", [False, True], ids=["cut", "cut_and_a_lost_connection"])
def test_a_response_is_closed_before_more_is_asked_for(broken: bool) -> None:
    between = (lost(),) if broken else ()
    asked = Asked(CUT, *between, REST)
    given = text_of(list(Drive(run_of(), asked.connect).pieces()))
    assert b"and the rest." in given
    assert (asked.open_then, asked.open) == ([0] * (2 + broken), 0)


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("broken", [False, True], ids=["cut", "cut_and_a_lost_connection"])
async def test_an_async_response_is_closed_before_more_is_asked_for(broken: bool) -> None:
    between = (lost(),) if broken else ()
    asked = Asked(CUT, *between, REST)
    drive = AsyncDrive(run_of(), asked.connect_async, asyncio.sleep)
    given = text_of([piece async for piece in drive.pieces()])
    assert b"and the rest." in given
    assert (asked.open_then, asked.open) == ([0] * (2 + broken), 0)


@pytest.mark.behaviour("S4")
@pytest.mark.parametrize("answer", [REST, FLOWING], ids=["short", "flowing"])
async def test_pieces_of_nothing_end_no_stream(answer: Scripted) -> None:
    """Some transports give them."""
    pieces = [each for piece in answer.pieces for each in (b"", piece, b"")]
    sync, waits = Asked(Scripted.stream(*pieces)), Asked(Scripted.stream(*pieces))
    drive = AsyncDrive(run_of(), waits.connect_async, asyncio.sleep)
    whole = b"".join(piece for piece in answer.pieces if isinstance(piece, bytes))
    assert text_of(list(Drive(run_of(), sync.connect).pieces())) == whole
    assert text_of([piece async for piece in drive.pieces()]) == whole
    assert (len(sync.open_then), len(waits.open_then)) == (1, 1)


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("after", range(len(FLOWING.pieces) - 2))
def test_who_closes_between_two_pieces_gets_no_other(after: int) -> None:
    for when_closed in (None, Told):
        drive = Drive(run_of(), Asked(FLOWING).connect, when_closed)
        pieces = drive.pieces()
        for _ in range(after + 1):
            next(pieces)
        drive.close()
        with pytest.raises(when_closed or StopIteration):
            next(pieces)


@pytest.mark.behaviour("C23")
@pytest.mark.parametrize("after", range(len(FLOWING.pieces) - 2))
async def test_who_closes_between_two_async_pieces_gets_no_other(after: int) -> None:
    for when_closed in (None, Told):
        asked = Asked(FLOWING)
        drive = AsyncDrive(run_of(), asked.connect_async, asyncio.sleep, when_closed)
        pieces = drive.pieces()
        for _ in range(after + 1):
            await anext(pieces)
        await drive.close()
        with pytest.raises(when_closed or StopAsyncIteration):
            await anext(pieces)


@pytest.mark.behaviour("C23")
def test_who_watches_events_may_close_at_one_and_nothing_is_waited_for() -> None:
    def close(seen: Event) -> None:
        if seen.name == "stop_reason_observed":
            drive.close()  # what it raised would be kept from us
            closed.append(drive.closed)

    closed: list[bool] = []
    asked = Asked(Scripted.stream(event(b"Half of it "), lost()), REST)
    drive = Drive(run_of(SLOW, close), asked.connect, Told)
    began = time.monotonic()
    given: list[Head | bytes] = []
    with pytest.raises(Told):
        given.extend(drive.pieces())
    assert time.monotonic() - began < 5
    assert (closed, len(asked.open_then), asked.open) == ([True], 1, 0)


@pytest.mark.behaviour("C23")
async def test_who_closes_while_the_last_response_is_finished_asks_for_no_other() -> None:
    asked = Asked(CUT, REST)
    drive = AsyncDrive(run_of(), asked.connect_async, asyncio.sleep, Told, anyio.CancelScope)
    pieces = drive.pieces()
    await anext(pieces)
    asked.opened[0].finishing = drive.close
    with pytest.raises(Told):
        await rest_of(pieces)
    assert len(asked.open_then) == 1


@pytest.mark.behaviour("C23")
@SCOPES
@pytest.mark.parametrize("times", [1, 2])
async def test_closing_ends_a_wait_behind_a_lost_connection_at_once(scope: Any, times: int) -> None:
    asked = Asked(CUT, lost())
    drive = AsyncDrive(run_of(SLOW), asked.connect_async, asyncio.sleep, Told, scope)
    pieces = drive.pieces()

    async def close() -> None:
        await asked.again.wait()
        await asyncio.sleep(0.05)
        for _ in range(times):
            await drive.close()

    await anext(pieces)
    closing = asyncio.create_task(close())
    with pytest.raises(Told):
        await asyncio.wait_for(rest_of(pieces), 5)
    await closing


@pytest.mark.behaviour("C23")
@SCOPES
async def test_closing_behind_a_wait_cancels_nobody(scope: Any) -> None:
    asked = Asked(CUT, REST)
    drive = AsyncDrive(run_of(), asked.connect_async, asyncio.sleep, Told, scope)
    await rest_of(drive.pieces())
    await drive.close()
    await asyncio.sleep(0)
    assert len(asked.open_then) == 2


async def rest_of(pieces: AsyncIterator[Head | bytes]) -> None:
    async for _ in pieces:
        pass
