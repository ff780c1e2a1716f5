"""Recovering clients of aiobotocore: the async counterparts of what waits in `botocore_client`.

aiobotocore has two transports. This module supports its default, aiohttp; a client that uses the
other (`httpx_session`) can't be wrapped.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import importlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, cast

from tenuto.clients.botocore_exchange import (
    Exchange,
    as_botocore,
    asked_of,
    head_of,
    is_final,
)
from tenuto.core.errors import UnsupportedClient
from tenuto.turn.drivers.commands import ConnectionLost, Head, SendRequest, decoded
from tenuto.turn.drivers.drive import AsyncDrive

DRAIN_S = 0.1
"""How long to wait, in seconds, for the rest of a response after its last event, so that its
connection can be used again."""


def endpoint(base: Any) -> type:
    """Return a subclass of an endpoint's class that finishes turns."""
    if any(cls.__name__ == "AnyioEndpoint" for cls in base.__mro__):
        raise UnsupportedClient("cannot wrap a client of aiobotocore whose transport is httpx")

    class Recovering(base):  # type: ignore[misc]
        """An endpoint that finishes its turns."""

        async def _send(self, request: Any) -> Any:
            asked = asked_of(request)
            run = self._tenuto_engine.begin(asked) if asked is not None else None
            if asked is None or run is None:
                return await super()._send(request)
            exchange = Exchange(self, request, asked)

            async def connect(command: SendRequest) -> _Upstream | ConnectionLost:
                try:
                    made = exchange.made(command)
                    made = made if made is request else await made
                    answer = None if made is request else await self._answered(exchange, made)
                    sender = self if exchange.first is None else _staying_with_its_host(self)
                    answer = answer or await base._send(sender, made)  # noqa: SLF001 - see private_seams
                    body = None if made.stream_output else await answer.content
                    return _Upstream(exchange, answer, body)
                except Exception as error:  # noqa: BLE001 - handlers raise what they like
                    return exchange.lost_or_raise(error)

            limit = _Limit
            turn = AsyncDrive(run, connect, asyncio.sleep, exchange.broken, _Scope, limit)
            return await _driven(exchange, turn)

        async def _answered(self, exchange: Exchange, request: Any) -> Any:
            """Return what a handler answers in place of the network, or None if none does."""
            emitted = await self._event_emitter.emit(exchange.before_send, request=request)
            return next((answer for _, answer in emitted if answer is not None), None)

        async def _needs_retry(
            self, attempts: Any, operation: Any, asked: Any,
            response: Any = None, caught_exception: Any = None,
        ) -> Any:  # fmt: skip
            if is_final(response):
                return False
            retry = super()._needs_retry
            return await retry(attempts, operation, asked, response, caught_exception)

    return Recovering


def _staying_with_its_host(endpoint: Any) -> Any:
    """Return an endpoint over the same connections that follows no redirect, as botocore's own
    doesn't. aiohttp would send the conversation to another host (H10)."""
    staying = copy.copy(endpoint)
    staying.http_session = session = copy.copy(endpoint.http_session)
    sessions = session._sessions.items()  # noqa: SLF001 - see private_seams
    vars(session)["_sessions"] = {proxy: _Staying(one) for proxy, one in sessions}
    return staying


class _Staying:
    """A session of aiohttp that follows no redirect."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def request(self, *args: Any, **options: Any) -> Any:
        """Return the request, to be awaited."""
        return self._session.request(*args, allow_redirects=False, **options)


async def _driven(exchange: Exchange, turn: AsyncDrive) -> Any:
    """Return the caller's response; reading it drives the turn."""
    pieces = turn.pieces()
    head = await anext(pieces)
    assert isinstance(head, Head)
    url = exchange.request.url
    response = importlib.import_module("aiobotocore.awsrequest").AioAWSResponse
    if exchange.is_stream(head):
        return response(url, head.status, decoded(head.headers), _Turn(turn, pieces))
    body = b"".join([cast("bytes", piece) async for piece in pieces])
    if (same := exchange.untouched(head, body)) is not None:
        return same
    head, body = as_botocore(head, body)
    return response(url, head.status, decoded(head.headers), _Whole(url, body))


class _Scope:
    """`turn.drivers.drive.Scope` of asyncio alone, by the rules of `asyncio.timeout`:
    https://docs.python.org/3/library/asyncio-task.html#task-cancellation"""

    def __enter__(self) -> _Scope:
        self._task = asyncio.current_task()
        assert self._task is not None
        self._before = self._task.cancelling()
        self._cancelled = False
        return self

    def cancel(self) -> None:
        assert self._task is not None
        if not self._cancelled:  # a second cancellation would look like the caller's
            self._cancelled = True
            self._task.cancel()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if not self._cancelled:
            return False
        assert self._task is not None
        # The task was also cancelled from elsewhere, so that cancellation continues.
        ours = self._task.uncancel() <= self._before
        return ours and kind is not None and issubclass(kind, asyncio.CancelledError)


class _Limit(_Scope):
    """A scope that cancels itself after this many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> _Limit:
        super().__enter__()
        self._timer = asyncio.get_running_loop().call_later(max(self._seconds, 0.0), self.cancel)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self._timer.cancel()
        return super().__exit__(kind, error, trace)


class _Upstream:
    """`turn.drivers.drive.AsyncUpstream` over a response."""

    def __init__(self, exchange: Exchange, response: Any, body: bytes | None) -> None:
        self._exchange = exchange
        self._raw = response.raw
        aiohttp = importlib.import_module("aiohttp").ClientError
        self._known = (aiohttp, exchange.exceptions.HTTPClientError, TimeoutError, OSError)
        self.head = head_of(response)
        exchange.opened(response, self.head, body)
        self.pieces: AsyncIterator[bytes] = _once(body) if body is not None else _chunks(self._raw)

    def lost(self, error: Exception) -> ConnectionLost | None:
        return self._exchange.lost(error) if isinstance(error, self._known) else None

    async def finish(self) -> None:
        with contextlib.suppress(TimeoutError, *self._known):
            async with asyncio.timeout(DRAIN_S):
                async for _ in self.pieces:
                    pass
        await self.close()

    async def close(self) -> None:
        self._raw.close()


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


async def _chunks(raw: Any) -> AsyncGenerator[bytes, None]:
    async for chunk, _ in raw.content.iter_chunks():
        yield chunk


class _Turn:
    """The bytes of a turn, as `aiobotocore.eventstream.AioEventStream` reads them."""

    def __init__(self, turn: AsyncDrive, pieces: AsyncGenerator[Head | bytes, None]) -> None:
        self._turn = turn
        self._pieces = cast("AsyncIterator[bytes]", pieces)
        self._closing: asyncio.Task[None] | None = None
        self.content = self

    async def iter_chunks(self) -> AsyncIterator[tuple[bytes, bool]]:
        """Yield the pieces, each as soon as it arrives."""
        async for piece in self._pieces:
            yield piece, True

    def close(self) -> None:
        """End the turn and its upstream at once; callers don't wait for it."""
        self._turn.end()
        self._closing = asyncio.ensure_future(self._turn.close())


class _Whole:
    """A whole body, as `aiobotocore.response.AioStreamingBody` reads it."""

    def __init__(self, url: str, body: bytes) -> None:
        self.url = url
        self._body = body
        self._at = 0
        self.content = self

    async def read(self, amt: int = -1) -> bytes:
        """Return the next bytes, or all of them for a negative number."""
        end = len(self._body) if amt is None or amt < 0 else self._at + amt
        piece = self._body[self._at : end]
        self._at += len(piece)
        return piece

    def at_eof(self) -> bool:
        """Return whether everything was read."""
        return self._at >= len(self._body)

    def close(self) -> None:
        """Do nothing, because nothing is open."""
