"""Recovering HTTP clients: any httpx or httpx2 client, with the pipe at its `send`.

Theory of operation
-------------------
`recovering(client)` makes a shallow copy of a client, in a subclass of the client's own class. The
copy shares everything with the original: transports, proxies, cookies, headers, hooks, auth. Only
`send` differs. A request to a model goes through the pipe, which sends each attempt with the
original class's `send`, so hooks, auth flows and redirects see every attempt. Every other request
passes through untouched. If an SDK signed a request before `send`, Tenuto signs each request that
it makes for the turn (`signing`).

A transport that recovers (`transport`) has the same pipe one level below: `sending` and
`sending_async` create the method of either. A client marks each request, and a transport below it
only forwards marked requests, because two pipes would each continue what the other gave up on.

The copy keeps the original alive. The SDKs' own clients close their connections when they are
garbage-collected, and the copy must not do that while the original is still in use.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from tenuto.clients.exchange import AsyncUpstream, Exchange, Upstream, answering_url
from tenuto.clients.libraries import LIBRARIES, library_of, library_of_request
from tenuto.clients.redirects import send_within, send_within_async
from tenuto.clients.responses import async_stream_of, stream_of
from tenuto.clients.signing import Signer, sealed, signer_of
from tenuto.clients.two_ways import warn_of_missing_client
from tenuto.core.errors import PolicyError
from tenuto.turn.drivers.commands import ConnectionLost, Head, Headers, Request, SendRequest
from tenuto.turn.drivers.drive import AsyncDrive, Drive
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.settings.per_request import changes_policy
from tenuto.turn.short_path.body import Short


def recovering(client: Any, engine: Engine) -> Any:
    """Return a copy of the client that finishes its turns.

    If the client is wrapped already, replace its engine."""
    original = original_of(client)
    library = library_of(original)
    if library is None:
        raise TypeError(f"{type(client).__name__} is not a client of {' or '.join(LIBRARIES)}")
    wrapped = copy.copy(original)
    cls: Any = type(original)
    wrapped.__class__ = _subclass(cls)
    vars(wrapped).update(_tenuto_original=original, _tenuto_engine=engine)
    return wrapped


def original_of(client: Any) -> Any:
    """Return the client that a recovering one was made from, and any other client itself."""
    return getattr(client, "_tenuto_original", client)


def stop_recovering(client: Any) -> None:
    """Let a recovering client send as the client that it was made from."""
    client.__class__ = type(original_of(client))
    vars(client).pop(ENGINE, None)


def engine_of(client: object) -> Engine | None:
    """Return the engine of a client, whether it or its transport recovers; None if neither does."""
    for one in (client, getattr(client, "_transport", None)):
        engine = getattr(one, ENGINE, None)
        if isinstance(engine, Engine):
            return engine
    return None


@cache
def _subclass(base: type) -> type:
    """Return a subclass of a client's class that recovers, with the same name for display."""
    # The SDKs' clients close themselves when garbage-collected; the original does that here.
    members = {
        "send": sending_of(base),
        "build_request": _build_request(base),
        "__del__": lambda self: None,
        "__module__": base.__module__,
    }
    return type(base.__name__, (base,), members)


def _build_request(base: Any) -> Any:
    """Return a `build_request` that checks a request's own policy. SDKs take an error in `send` for
    a failed connection, and try again; an error here reaches the caller."""

    def build_request(self: Any, *args: Any, **options: Any) -> Any:
        request = base.build_request(self, *args, **options)
        headers: Headers = tuple(request.headers.raw)
        if changes_policy(headers):
            try:
                body = request.content
            except RuntimeError:  # it is streamed, so that its model is not known yet
                body = b""
            self._tenuto_engine.check(_request(request, str(request.url), headers, body))
        return request

    return build_request


def sending_of(base: type) -> Any:
    """Return the `send` for a subclass of this class, whose instances have `_tenuto_engine`."""
    is_async = any(cls.__name__ == "AsyncClient" for cls in base.__mro__)
    return sending_async(_marked_async(base)) if is_async else sending(_marked(base))


ENGINE = "_tenuto_engine"
"""The attribute that marks a client or transport that recovers."""

HANDLED = "tenuto_handled"
"""The request extension that is set while a client that recovers sends the request."""


def _marked(base: Any) -> Any:
    """Call a client's own `send`, for requests that the pipe has processed."""

    def marked(self: Any, request: Any, **options: Any) -> Any:
        request.extensions[HANDLED] = True
        try:
            if (answered_by := answering_url(request)) is not None:
                return send_within(base, self, request, options, answered_by)
            return base.send(self, request, **options)
        finally:
            request.extensions.pop(HANDLED, None)

    return marked


def _marked_async(base: Any) -> Any:
    async def marked(self: Any, request: Any, **options: Any) -> Any:
        request.extensions[HANDLED] = True
        try:
            if (answered_by := answering_url(request)) is not None:
                return await send_within_async(base, self, request, options, answered_by)
            return await base.send(self, request, **options)
        finally:
            request.extensions.pop(HANDLED, None)

    return marked


def sending(once: Any, *, responds: bool = False) -> Any:
    """Return the method of a client or a transport that finishes turns.

    Args:
        once: the method that sends one request: `once(self, request, stream=…, **options)`. `self`
            has its engine as `_tenuto_engine`.
        responds: whether an error in a request's own policy becomes a response; False: it raises
            `PolicyError`.
    """

    def send(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
        engine: Engine = self._tenuto_engine
        url, signer = str(request.url), signer_of(request)
        headers: Headers = tuple(request.headers.raw)
        taken = None
        if engine.is_turn(request.method, url) and (signer or sealed(headers) is None):
            asked = _request(request, url, headers, request.read())
            try:
                taken = engine.begin_quick(asked)
            except PolicyError as error:
                return _refused(engine, asked, error, request if responds else None)
        if taken is None:
            if _without_ours(request, signer) and signer is not None:
                signer.sign(request)
            return once(self, request, stream=stream, **options)
        warn_of_missing_client()
        exchange = Exchange(self, request, taken.request, signer, serves=engine.environment.serves)

        def attempt(made: Any) -> Upstream | ConnectionLost:
            try:
                if signer is not None and made is not request:
                    signer.sign(made)
                response = once(self, made, stream=True, **options)
                return Upstream(exchange, response, whole=exchange.is_read_whole(stream))
            except Exception as error:  # noqa: BLE001 - hooks raise what they like
                return exchange.lost_or_raise(error)

        early: Upstream | ConnectionLost | None = None
        if isinstance(taken, Short):
            early = attempt(request)
            if isinstance(early, Upstream):
                whole = early.whole_body()
                if whole and taken.ends_with(whole, early.raw_headers):
                    exchange.mark(taken)
                    taken.close()  # ends the cycle with its next step, without garbage collection
                    return exchange.first

        def connect(command: SendRequest) -> Upstream | ConnectionLost:
            nonlocal early
            answer, early = early, None
            return attempt(exchange.request_for(command)) if answer is None else answer

        marking, run = (taken, taken) if isinstance(taken, Short) else engine.run(taken)
        turn = Drive(run, connect, exchange.broken, exchange.wake_from)
        pieces = turn.pieces()
        head = next(pieces)
        assert isinstance(head, Head)
        head = exchange.marked(head, marking)
        if not stream or head.status in exchange.read_by_hooks:
            data = b"".join(cast("Iterator[bytes]", pieces))
            return exchange.untouched(head, data) or exchange.response(head, content=data)
        return exchange.response(head, stream=stream_of(exchange, turn, pieces))

    return send


def sending_async(once: Any, *, responds: bool = False) -> Any:
    """Return the same for async callers."""

    async def send(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
        engine: Engine = self._tenuto_engine
        url, signer = str(request.url), signer_of(request)
        headers: Headers = tuple(request.headers.raw)
        taken = None
        if engine.is_turn(request.method, url) and (signer or sealed(headers) is None):
            asked = _request(request, url, headers, await request.aread())
            try:
                taken = engine.begin_quick(asked)
            except PolicyError as error:
                return _refused(engine, asked, error, request if responds else None)
        if taken is None:
            if _without_ours(request, signer) and signer is not None:
                await signer.sign(request)
            return await once(self, request, stream=stream, **options)
        warn_of_missing_client()
        exchange = Exchange(self, request, taken.request, signer, serves=engine.environment.serves)

        async def attempt(made: Any) -> AsyncUpstream | ConnectionLost:
            try:
                if signer is not None and made is not request:
                    await signer.sign(made)
                response = await once(self, made, stream=True, **options)
                return AsyncUpstream(exchange, response, whole=exchange.is_read_whole(stream))
            except Exception as error:  # noqa: BLE001 - hooks raise what they like
                return exchange.lost_or_raise(error)

        early: AsyncUpstream | ConnectionLost | None = None
        if isinstance(taken, Short):
            early = await attempt(request)
            if isinstance(early, AsyncUpstream):
                whole = await early.whole_body()
                if whole and taken.ends_with(whole, early.raw_headers):
                    exchange.mark(taken)
                    taken.close()  # ends the cycle with its next step, without garbage collection
                    await early.close()
                    return exchange.first

        async def connect(command: SendRequest) -> AsyncUpstream | ConnectionLost:
            nonlocal early
            answer, early = early, None
            return await attempt(exchange.request_for(command)) if answer is None else answer

        # httpx and httpx2 use anyio, whose waits work on any running event loop.
        anyio = importlib.import_module("anyio")
        marking, run = (taken, taken) if isinstance(taken, Short) else engine.run(taken)
        scope, limit = anyio.CancelScope, anyio.move_on_after
        turn = AsyncDrive(run, connect, anyio.sleep, exchange.broken, scope, limit)
        pieces = turn.pieces()
        head = await anext(pieces)
        assert isinstance(head, Head)
        head = exchange.marked(head, marking)
        if not stream or head.status in exchange.read_by_hooks:
            data = b"".join([cast("bytes", piece) async for piece in pieces])
            return exchange.untouched(head, data) or exchange.response(head, content=data)
        return exchange.response(head, stream=async_stream_of(exchange, turn, pieces))

    return send


def _refused(engine: Engine, asked: Request, error: PolicyError, request: Any) -> Any:
    """Return the response to a request that is not sent. Without a request of the library, for
    which it could be, raise the error in its policy."""
    if request is None:
        raise error
    head, body = engine.refusal(asked, error)
    library = library_of_request(request)
    assert library is not None
    headers = list(head.headers)
    return library.Response(head.status, headers=headers, content=body, request=request)


def _without_ours(request: Any, signer: Signer | None) -> bool:
    """Remove the headers that are meant for Tenuto, and any signature over them; return whether
    there were any. Headers in a signature that Tenuto can't renew stay, because the provider would
    reject the request without them."""
    ours = [name for name in request.headers if name.lower().startswith("x-tenuto")]
    if ours and signer is None:
        held = sealed(request.headers.raw) or ()
        ours = [name for name in ours if name.lower().encode() not in held]
    if not ours:
        return False
    for name in ours:
        del request.headers[name]
    if signer is not None:
        request.headers = type(request.headers)(signer.unsigned(tuple(request.headers.raw)))
    return True


def _request(request: Any, url: str, headers: Headers, body: bytes) -> Request:
    timeout = request.extensions.get("timeout") or {}
    return Request(request.method, url, headers, body, timeout.get("read"), fetches=True)
