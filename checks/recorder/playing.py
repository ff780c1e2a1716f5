"""One turn through each of the ways in: the turn without I/O, and clients sync and async."""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import httpx2

import tenuto
from checks.recorder.far import Answer, Far
from checks.recorder.inside import forget
from checks.recorder.questions import Request

MOST_REQUESTS = 80
"""More than that is a loop without an end."""

TIMEOUT_S = 60.0
NEVER = -1
Stays = asyncio.Event


def steady() -> None:
    """Make this process play alike each time: every draw (the jitter of waits) is the middle one.
    Nothing is logged: the cases are full of what a user would want to hear of."""
    logging.disable()
    random.uniform = lambda a, b: (a + b) / 2
    random.random = lambda: 0.5


@dataclass
class Played:
    """What one turn did.

    Attributes:
        sent: each request that left, and each wait, in their order.
        head, received: what the caller got; `raised`: what was raised, "" where nothing was.
        progress: how many bytes the caller had after each piece of the far side.
        said: the answers of the far side.
        events, report: what was told.
        closed: whether the caller left before the end.
        written: how many pieces the caller got; `begun_at`: how many when each request left.
    """

    sent: list[Request | float] = field(default_factory=list)
    head: tuple[int, list[tuple[str, str]]] | None = None
    received: bytes = b""
    raised: str = ""
    progress: list[int] = field(default_factory=list)
    said: list[Answer] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    report: Any = None
    closed: bool = False
    written: int = 0
    begun_at: list[int] = field(default_factory=list)

    def answer(self, far: Far, request: Request) -> Answer:
        """Send a request, and keep it with its answer."""
        self.sent.append(request)
        if len(self.said) >= MOST_REQUESTS:
            raise RuntimeError(f"more than {MOST_REQUESTS} requests for one turn")
        self.said.append(far.answer(*request))
        return self.said[-1]


def by_turn(
    far: Far, asked: Request, policy: tenuto.Policy, close_behind: int = NEVER,
    *, watched: bool = True,
) -> Played:  # fmt: skip
    """Play a turn without I/O. `close_behind`: the caller leaves after so many of its pieces."""
    forget()
    played = Played()
    try:
        turn = tenuto.sansio.Turn(
            "POST", asked.url, asked.headers, asked.body, policy=policy,
            on_event=played.events.append if watched else None, timeout_s=TIMEOUT_S,
        )  # fmt: skip
    except tenuto.TurnError:
        played.raised = "no request for a turn"
        return played
    reply: Any = None
    pieces: Iterator[Any] = iter(())
    while (command := turn.next(reply)) is not None:
        reply = None
        match command:
            case tenuto.sansio.SendRequest(headers, body):
                named = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in headers)
                played.begun_at.append(played.written)
                answer = played.answer(far, Request(asked.url, named, body))
                pieces = _replies(answer)
                encoded = tuple((k.encode(), v.encode("latin-1")) for k, v in answer.headers)
                reply = tenuto.sansio.Head(answer.status, encoded)
            case tenuto.sansio.ReadMore():
                played.progress.append(len(played.received))
                reply = next(pieces)
            case tenuto.sansio.StartResponse(head):
                named = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in head.headers)
                played.head = (head.status, list(named))
                played.closed = close_behind == 0
            case tenuto.sansio.SendData(data):
                played.received += data
                played.written += 1
                played.closed = played.written == close_behind
            case tenuto.sansio.Sleep(seconds):
                played.sent.append(seconds)
            case tenuto.sansio.RaiseError(error):
                played.raised = f"{type(error).__name__}: {error}"
                played.closed = True
        if played.closed:
            turn.close()
            break
    played.report = turn.report
    return played


def _replies(answer: Answer) -> Iterator[Any]:
    yield from answer.pieces
    lost = tenuto.sansio.ConnectionLost(
        tenuto.FaultKind.CONNECTION, ConnectionError("the far side broke off")
    )
    yield from itertools.repeat(lost if answer.lost else b"")


class _Body(httpx.SyncByteStream, httpx2.SyncByteStream, httpx.AsyncByteStream,
            httpx2.AsyncByteStream):  # fmt: skip
    """The bytes of an answer; behind `stays_at` pieces nothing more comes, which `stays` tells."""

    def __init__(
        self, answer: Answer, library: Any, stays_at: int = NEVER, stays: Stays | None = None
    ) -> None:
        self._answer, self._library = answer, library
        self._stays_at, self._stays = stays_at, stays

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.pieces
        if self._answer.lost:
            raise self._library.ReadError("the far side broke off")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for number, piece in enumerate(self._answer.pieces):
            if number == self._stays_at and self._stays is not None:
                self._stays.set()
                await asyncio.Event().wait()
            yield piece
        if self._answer.lost:
            raise self._library.ReadError("the far side broke off")

    def close(self) -> None:
        """Nothing is open."""

    async def aclose(self) -> None:
        """Nothing is open."""


class _Transport:
    """In front of a far side in this process."""

    far: Far
    played: Played
    stays_at = NEVER
    stays: Stays | None = None

    def __init__(self, library: Any) -> None:
        self._library = library

    def handle_request(self, request: Any) -> Any:
        return self._answered(request, request.read())

    async def handle_async_request(self, request: Any) -> Any:
        return self._answered(request, await request.aread())

    def _answered(self, request: Any, body: bytes) -> Any:
        headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in request.headers.raw)
        made = self.played.answer(self.far, Request(str(request.url), headers, body))
        stream = _Body(made, self._library, self.stays_at, self.stays)
        return self._library.Response(made.status, headers=list(made.headers), stream=stream)

    def close(self) -> None:
        """Nothing is open."""

    async def aclose(self) -> None:
        """Nothing is open."""


def by_client(
    far: Far, asked: Request, policy: tenuto.Policy, *, watched: bool = False,
    close_behind: int = NEVER,
) -> Played:  # fmt: skip
    """Play a turn by `tenuto.http_client`, which reads a stream piece by piece."""
    with Series(policy, watched=watched) as series:
        return series.play(far, asked, close_behind)


class Series:
    """Turns of one sync client, one after the other: what one has taught counts in the next."""

    def __init__(self, policy: tenuto.Policy, *, watched: bool) -> None:
        self._transport: Any = _transports(httpx2, "BaseTransport")(httpx2)
        hear = self._hear if watched else None
        self._client = tenuto.http_client(
            policy=policy, on_event=hear, transport=self._transport, trust_env=False
        )

    def __enter__(self) -> Series:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _hear(self, event: Any) -> None:
        self._transport.played.events.append(event)

    def play(self, far: Far, asked: Request, close_behind: int = NEVER) -> Played:
        """Play one turn; `close_behind`: the caller leaves after so many of its pieces."""
        played = Played()
        self._transport.far, self._transport.played = far, played
        try:
            response = self._client.send(_made(httpx2, asked), stream=True)
            played.head = (response.status_code, list(response.headers.multi_items()))
            for number, piece in enumerate(response.iter_raw(), 1):
                played.received += piece
                if number == close_behind:
                    played.closed = True
                    break
            response.close()
        except Exception as error:  # noqa: BLE001 - what is raised is shown
            played.raised = f"{type(error).__name__}: {error}"
        return played


def by_async_client(
    far: Far, asked: Request, policy: tenuto.Policy, *, watched: bool = False,
    stays_at: int = NEVER,
) -> Played:  # fmt: skip
    """Play a turn by `tenuto.async_http_client`. `stays_at`: the far side stops there, and the task
    that waits is cancelled."""
    played = Played()
    runner().run(_played(played, far, asked, policy, watched, stays_at))
    return played


async def _played(
    played: Played, far: Far, asked: Request, policy: tenuto.Policy, watched: bool, stays_at: int
) -> None:
    hear = played.events.append if watched else None
    stays = asyncio.Event()
    transport: Any = _transports(httpx, "AsyncBaseTransport")(httpx)
    transport.far, transport.played = far, played
    transport.stays_at, transport.stays = stays_at, stays
    made = tenuto.async_http_client(
        "httpx", policy=policy, on_event=hear, transport=transport, trust_env=False
    )

    async def ask() -> None:
        response = await made.send(_made(httpx, asked), stream=True)
        played.head = (response.status_code, list(response.headers.multi_items()))
        async for piece in response.aiter_raw():
            played.received += piece
        await response.aclose()

    async with made:
        try:
            if stays_at == NEVER:
                await ask()
            else:
                await _cancelled(ask, stays)
        except asyncio.CancelledError:
            played.closed = True
        except Exception as error:  # noqa: BLE001 - what is raised is shown
            played.raised = f"{type(error).__name__}: {error}"


async def _cancelled(ask: Callable[[], Any], stays: Stays) -> None:
    """Let the task run until it waits for what never comes, then cancel it."""
    task = asyncio.ensure_future(ask())
    waits = asyncio.ensure_future(stays.wait())
    await asyncio.wait({task, waits}, return_when=asyncio.FIRST_COMPLETED)
    waits.cancel()
    task.cancel()
    await task


def _made(library: Any, asked: Request) -> Any:
    return library.Request("POST", asked.url, headers=list(asked.headers), content=asked.body)


_kinds: dict[tuple[str, str], Any] = {}


def _transports(library: Any, base: str) -> Any:
    key = (library.__name__, base)
    if key not in _kinds:
        _kinds[key] = type("Transport", (_Transport, getattr(library, base)), {})
    return _kinds[key]


_runner: list[asyncio.Runner] = []


def runner() -> asyncio.Runner:
    """The event loop of this process."""
    if not _runner:
        _runner.append(asyncio.Runner())
    return _runner[0]
