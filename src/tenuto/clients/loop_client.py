"""Turns of a loop of our own, over a client that recovers.

The loop reads no response: what there is to know of an answer is told to it by what it gives along
(`turn.call_context`). So none is made, and the commands of the turn are carried out right here.
"""

from __future__ import annotations

import importlib
import weakref
from typing import Any, cast

from tenuto.clients.exchange import AsyncUpstream, Exchange, Upstream
from tenuto.clients.httpx_client import engine_of
from tenuto.clients.waking import traced, wake_sender
from tenuto.turn.call_context import CallContext
from tenuto.turn.commands import ConnectionLost, Request, Run, SendRequest
from tenuto.turn.drive import AsyncDrive, Drive

_EXTENSION = "tenuto"
"""The extension of a request by which it is found again."""


class LoopTurn(Drive):
    """One turn, which `cancel` ends from any thread, whatever it waits for (C23).

    Args:
        client: one that recovers, of httpx2 or httpx.
        request: as the client makes it.
        context: what goes along, and takes what comes of it.
        stream: whether a stream was asked for.
    """

    def __init__(self, client: Any, request: Any, context: CallContext, *, stream: bool) -> None:
        exchange, run = _begun(client, request, context)
        whole = context.within_s is None  # else its time is looked at with each piece
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
        """End it, before or while it is sent and answered."""
        self.stop()
        self._wake_sender()

    def _wake_sender(self) -> None:
        wake_sender(self._client, self._request, _EXTENSION, self._context)

    def _ring(self, thread: int) -> None:
        """There is no time left (C29a)."""
        if self._upstream is None:
            self._wake_sender()
        else:
            cast("Upstream", self._upstream).wake()


class AsyncLoopTurn(AsyncDrive):
    """The same for asyncio, where a task is cancelled to end it."""

    def __init__(self, client: Any, request: Any, context: CallContext, *, stream: bool) -> None:
        exchange, run = _begun(client, request, context)
        whole = context.within_s is None  # else its time is looked at with each piece

        async def connect(command: SendRequest) -> AsyncUpstream | ConnectionLost:
            try:
                response = await exchange.client.send(exchange.request_for(command), stream=True)
                return AsyncUpstream(
                    exchange, response, whole=whole and exchange.is_read_whole(stream)
                )
            except Exception as error:  # noqa: BLE001  # as for any other client
                return exchange.lost_or_raise(error)

        # httpx and httpx2 stand on anyio: its sleep is that of whichever loop is running.
        anyio = importlib.import_module("anyio")
        super().__init__(run, connect, anyio.sleep, limit=anyio.move_on_after)


def _begun(client: Any, request: Any, context: CallContext) -> tuple[Exchange, Run]:
    engine = engine_of(client)
    assert engine is not None
    timeout_s = request.extensions["timeout"]["read"]
    headers = tuple(request.headers.raw)
    body = request.read()
    asked = engine.read(Request("POST", str(request.url), headers, body, timeout_s, context))
    assert asked is not None, request.url
    original = client._tenuto_original  # noqa: SLF001  # that of `recovering`
    return Exchange(original, request, asked.request, None), engine.run(asked)[1]
