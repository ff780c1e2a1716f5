"""Turns of the agent's own loop, over a client that recovers.

The loop reads no HTTP response: it gets the answer from the `CallContext` that it passes along
(`turn.drivers.call_context`). So this module builds no response and carries out the turn's commands
itself.
"""

from __future__ import annotations

import importlib
import weakref
from typing import Any, cast

from tenuto.clients.exchange import AsyncUpstream, Exchange, Upstream
from tenuto.clients.httpx_client import engine_of
from tenuto.clients.waking import traced, wake_sender
from tenuto.turn.drivers.call_context import CallContext
from tenuto.turn.drivers.commands import ConnectionLost, Request, Run, SendRequest
from tenuto.turn.drivers.drive import AsyncDrive, Drive

_EXTENSION = "tenuto"
"""The request extension that identifies a turn's request."""


class LoopTurn(Drive):
    """One turn, which `cancel` ends from any thread, whatever it is waiting for (C23).

    Args:
        client: a client of httpx2 or httpx that recovers.
        request: the request that the client built.
        context: the limits of the turn, which also receives its answer.
        stream: whether the request asks for a stream.
    """

    def __init__(self, client: Any, request: Any, context: CallContext, *, stream: bool) -> None:
        exchange, run = _begun(client, request, context)
        whole = context.within_s is None  # else the time is checked with each piece
        self._client, self._request, self._context = client, request, context

        def connect(command: SendRequest) -> Upstream | ConnectionLost:
            try:
                response = exchange.client.send(exchange.request_for(command), stream=True)
                return Upstream(exchange, response, whole=whole and exchange.is_read_whole(stream))
            except Exception as error:  # noqa: BLE001  # as for any other client
                return exchange.lost_or_raise(error)

        super().__init__(run, connect)
        request.extensions[_EXTENSION] = context
        request.extensions["trace"] = traced(weakref.ref(self), exchange.library.ReadError)

    def cancel(self) -> None:
        """End the turn, whether it is waiting to send or reading an answer."""
        self.stop()
        self._wake_sender()

    def _wake_sender(self) -> None:
        wake_sender(self._client, self._request, _EXTENSION, self._context)

    def _ring(self, thread: int) -> None:
        """End the wait of the turn's thread, because the time is over (C29a)."""
        if self._upstream is None:
            self._wake_sender()
        else:
            cast("Upstream", self._upstream).wake()


class AsyncLoopTurn(AsyncDrive):
    """Like `LoopTurn`, for asyncio; to end it, cancel its task."""

    def __init__(self, client: Any, request: Any, context: CallContext, *, stream: bool) -> None:
        exchange, run = _begun(client, request, context)
        whole = context.within_s is None  # else the time is checked with each piece

        async def connect(command: SendRequest) -> AsyncUpstream | ConnectionLost:
            try:
                response = await exchange.client.send(exchange.request_for(command), stream=True)
                return AsyncUpstream(
                    exchange, response, whole=whole and exchange.is_read_whole(stream)
                )
            except Exception as error:  # noqa: BLE001  # as for any other client
                return exchange.lost_or_raise(error)

        # httpx and httpx2 are built on anyio, whose sleep works with any event loop.
        anyio = importlib.import_module("anyio")
        super().__init__(run, connect, anyio.sleep, limit=anyio.move_on_after)


def _begun(client: Any, request: Any, context: CallContext) -> tuple[Exchange, Run]:
    engine = engine_of(client)
    assert engine is not None
    timeout_s = request.extensions["timeout"]["read"]
    headers = tuple(request.headers.raw)
    body = request.read()
    asked = engine.read(
        Request("POST", str(request.url), headers, body, timeout_s, context, fetches=True)
    )
    assert asked is not None, request.url
    original = client._tenuto_original  # noqa: SLF001  # the client that `recovering` copied
    return Exchange(original, request, asked.request, None), engine.run(asked)[1]
