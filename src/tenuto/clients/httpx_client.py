"""Recovering HTTP clients: any httpx or httpx2 client, with the pipe at its `send`.

Theory of operation
-------------------
`recovering(client)` makes a shallow copy of a client whose class is a subclass of the client's own.
The copy shares everything with the original: transports, proxies, cookies, headers, hooks, auth.
Only `send` differs: a request that asks a model for a turn goes through the pipe, and each attempt
of the turn through the original class's `send`, so that hooks, auth flows and redirects see every
attempt. Everything else passes through untouched. What an SDK had signed before `send` is signed
anew for each attempt whose request is made here (`signing`).

The original is kept alive by the copy: the SDKs' own clients close their connections when they are
collected, and the copy must not be the one to do that while somebody still uses the original.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import time
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from datetime import timedelta
from functools import cache
from types import ModuleType
from typing import Any, cast

from tenuto.clients.signing import Signer, is_sealed, signer_of
from tenuto.clients.waking import traced, wake_reader, wake_sender
from tenuto.core.fault import FaultKind
from tenuto.relay.commands import BODY_HEADERS, Head, Headers, Lost, Request, Transmit
from tenuto.relay.drive import AsyncDrive, Drive
from tenuto.relay.engine import Engine

LIBRARIES = ("httpx2", "httpx")
"""The two libraries, the one that current SDKs stand on first."""


CARRIED = "tenuto"
"""The extension of a request in which a loop of our own carries what it gives the pipe along."""

DRAIN_S = 0.1
"""How long the rest of a response that has said its last is waited for, so that its connection can
be used again; the openai SDK waits as long."""


def library_of(client: object) -> ModuleType | None:
    """The library that a client's class comes from, or None.

    >>> library_of(object()) is None
    True
    """
    cls: Any = type(client)
    return _library_of_class(cls)


@cache
def _library_of_class(client: Any) -> ModuleType | None:
    for cls in client.__mro__:
        root = cls.__module__.partition(".")[0]
        if root in LIBRARIES and cls.__name__ in ("Client", "AsyncClient"):
            return importlib.import_module(root)
    return None


def recovering(client: Any, engine: Engine) -> Any:
    """A client like this one, whose turns are finished.

    Wrapping one that recovers already replaces its engine."""
    original = getattr(client, "_tenuto_original", client)
    library = library_of(original)
    if library is None:
        raise TypeError(f"{type(client).__name__} is no client of {' or '.join(LIBRARIES)}")
    wrapped = copy.copy(original)
    cls: Any = type(original)
    wrapped.__class__ = _subclass(cls)
    vars(wrapped).update(_tenuto_original=original, _tenuto_engine=engine)
    return wrapped


def engine_of(client: object) -> Engine | None:
    """The engine of a client that recovers, or None."""
    engine = getattr(client, "_tenuto_engine", None)
    return engine if isinstance(engine, Engine) else None


@cache
def _subclass(base: type) -> type:
    """A subclass of a client's class that recovers; its name stays, for those who print it."""
    is_async = any(cls.__name__ == "AsyncClient" for cls in base.__mro__)
    send = _async_send(base) if is_async else _send(base)
    # The SDKs' clients close themselves when collected: here the original does that.
    members = {"send": send, "__del__": lambda self: None, "__module__": base.__module__}
    return type(base.__name__, (base,), members)


def _send(base: Any) -> Any:
    def send(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
        engine: Engine = self._tenuto_engine
        url, signer = str(request.url), signer_of(request)
        headers: Headers = tuple(request.headers.raw)
        asked = None
        if engine.is_turn(request.method, url) and (signer or not is_sealed(headers)):
            asked = engine.read(_request(request, url, headers, request.read()))
        if asked is None:
            if _without_ours(request, signer) and signer is not None:
                signer.sign(request)
            return base.send(self, request, stream=stream, **options)
        exchange = _Exchange(self, request, asked.request, signer)

        def attempt(made: Any) -> _Upstream | Lost:
            try:
                if signer is not None and made is not request:
                    signer.sign(made)
                response = base.send(self, made, stream=True, **options)
            except Exception as error:  # noqa: BLE001 - hooks raise what they like
                return exchange.lost_or_raise(error)
            return _Upstream(exchange, response, whole=not stream)

        early: _Upstream | Lost | None = None
        if not engine.needs_turn(asked):
            early = attempt(request)
            if isinstance(early, _Upstream):
                whole = early.whole_body()
                if whole and asked.wire.is_plain(whole):
                    return exchange.first

        def connect(command: Transmit) -> _Upstream | Lost:
            nonlocal early
            answer, early = early, None
            return attempt(exchange.request_for(command)) if answer is None else answer

        turn = Drive(engine.run(asked)[1], connect)
        carried = asked.request.carried
        if carried is not None:
            request.extensions["trace"] = traced(lambda: not turn.closed, exchange.ended)

            def close() -> None:
                turn.close()
                wake_sender(self, request, CARRIED, carried)

            carried.closing = close
            if carried.closed:
                close()
        pieces = turn.pieces()
        head = next(pieces, None)
        if head is None:
            raise exchange.ended()
        assert isinstance(head, Head)
        if not stream or head.status in exchange.read_by_hooks:
            data = b"".join(cast("Iterator[bytes]", pieces))
            return exchange.untouched(head, data) or exchange.response(head, content=data)
        made = _stream_class(exchange.library)(exchange, turn, pieces)
        return exchange.response(head, stream=made)

    return send


def _async_send(base: Any) -> Any:
    async def send(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
        engine: Engine = self._tenuto_engine
        url, signer = str(request.url), signer_of(request)
        headers: Headers = tuple(request.headers.raw)
        asked = None
        if engine.is_turn(request.method, url) and (signer or not is_sealed(headers)):
            asked = engine.read(_request(request, url, headers, await request.aread()))
        if asked is None:
            if _without_ours(request, signer) and signer is not None:
                await signer.sign(request)
            return await base.send(self, request, stream=stream, **options)
        exchange = _Exchange(self, request, asked.request, signer)

        async def attempt(made: Any) -> _AsyncUpstream | Lost:
            try:
                if signer is not None and made is not request:
                    await signer.sign(made)
                response = await base.send(self, made, stream=True, **options)
            except Exception as error:  # noqa: BLE001 - hooks raise what they like
                return exchange.lost_or_raise(error)
            return _AsyncUpstream(exchange, response, whole=not stream)

        early: _AsyncUpstream | Lost | None = None
        if not engine.needs_turn(asked):
            early = await attempt(request)
            if isinstance(early, _AsyncUpstream):
                whole = await early.whole_body()
                if whole and asked.wire.is_plain(whole):
                    await early.close()
                    return exchange.first

        async def connect(command: Transmit) -> _AsyncUpstream | Lost:
            nonlocal early
            answer, early = early, None
            return await attempt(exchange.request_for(command)) if answer is None else answer

        # httpx and httpx2 stand on anyio: its sleep is that of whichever loop is running.
        sleep = importlib.import_module("anyio").sleep
        turn = AsyncDrive(engine.run(asked)[1], connect, sleep)
        pieces = turn.pieces()
        head = await anext(pieces)
        assert isinstance(head, Head)
        if not stream or head.status in exchange.read_by_hooks:
            data = b"".join([cast("bytes", piece) async for piece in pieces])
            return exchange.untouched(head, data) or exchange.response(head, content=data)
        made = _async_stream_class(exchange.library)(exchange, turn, pieces)
        return exchange.response(head, stream=made)

    return send


def _without_ours(request: Any, signer: Signer | None) -> bool:
    """Take out the headers that are meant for Tenuto (P8c), and with them a signature over them;
    returns whether there were any."""
    ours = [name for name in request.headers if name.lower().startswith("x-tenuto")]
    if not ours or (signer is None and is_sealed(request.headers.raw)):
        return False
    for name in ours:
        del request.headers[name]
    if signer is not None:
        request.headers = type(request.headers)(signer.unsigned(tuple(request.headers.raw)))
    return True


def _request(request: Any, url: str, headers: Headers, body: bytes) -> Request:
    timeout = request.extensions.get("timeout") or {}
    carried = request.extensions.get(CARRIED)
    return Request(request.method, url, headers, body, timeout.get("read"), carried)


class _Exchange:
    """One turn of one client: makes requests for attempts, and the response for the caller."""

    def __init__(self, client: Any, request: Any, asked: Request, signer: Signer | None) -> None:
        library = library_of(client)
        assert library is not None
        self.signer = signer
        self.library = library
        self.failures = (library.HTTPError, OSError)
        self.client = client
        self.request = request
        self.asked = asked
        self.remade = False
        self.started_s = time.perf_counter()
        self.first: Any = None
        self.first_head: Head | None = None
        self.first_whole = False
        self.read_by_hooks: set[int] = set()  # statuses: what they stand for can be read again
        # Weak: a cycle would leave it to the collector to stop a turn that is abandoned.
        self.answer: Any = None

    def request_for(self, command: Transmit) -> Any:
        """The request of one attempt; the caller's own where nothing differs."""
        same = not command.edited and command.headers == self.asked.headers
        if same and command.timeout_s is None and self.first is None:
            return self.request
        self.remade = True
        extensions = dict(self.request.extensions)
        if command.timeout_s is not None:
            timeout = dict(extensions.get("timeout") or {})
            extensions["timeout"] = {**timeout, "read": command.timeout_s}
        headers = command.headers
        if self.signer is not None:
            headers = self.signer.unsigned(headers)
        return self.library.Request(
            self.request.method,
            self.request.url,
            headers=[p for p in headers if p[0].lower() != b"content-length"],
            content=command.body,
            extensions=extensions,
        )

    def opened(self, response: Any, head: Head, whole: bool) -> None:
        """An attempt's response has begun; the first one is kept."""
        if response.is_stream_consumed:
            self.read_by_hooks.add(head.status)
        if self.first is None:
            self.first, self.first_head, self.first_whole = response, head, whole

    def lost_or_raise(self, error: Exception) -> Lost:
        """A request that could not be made. Hooks, auth flows and a client that was closed raise
        what they like: once an attempt was answered, that must not cost what it said (C5)."""
        if isinstance(error, self.failures):
            return self.lost(error)
        if self.first is None:
            raise error
        return Lost(FaultKind.CALLER, error)

    def ended(self) -> Exception:
        """What is raised where a turn was closed before its response began."""
        return self.library.ReadError("the turn was closed", request=self.request)  # type: ignore[no-any-return]

    def lost_in_reading(self, error: Exception) -> Lost | None:
        """A failure of the transport, as a value; None: it is something else."""
        return self.lost(error) if isinstance(error, self.failures) else None

    def lost(self, error: Exception) -> Lost:
        """A failure of the transport, as a value."""
        kinds = (
            (self.library.TimeoutException, FaultKind.TIMEOUT),
            (self.library.DecodingError, FaultKind.GARBAGE),
        )
        kind = next((kind for cls, kind in kinds if isinstance(error, cls)), FaultKind.CONNECTION)
        return Lost(kind, error)

    def untouched(self, head: Head, data: bytes) -> Any:
        """The first attempt's own response, where the caller is to have just that; else None."""
        first = self.first
        same = self.first_whole and head is self.first_head and not self.remade
        return first if same and data is first.content else None

    def response(self, head: Head, **body: Any) -> Any:
        """The caller's response; what is not the pipe's comes from the first attempt's."""
        extensions = dict(self.first.extensions) if self.first is not None else {}
        response = self.library.Response(
            head.status,
            headers=list(head.headers),
            **body,
            request=self.request,
            extensions=extensions,
            history=list(self.first.history) if self.first is not None else None,
        )
        if self.first is not None:
            response.default_encoding = self.first.default_encoding
        self.answer = weakref.ref(response)
        if "content" in body:
            self.closed()
        return response

    def closed(self) -> None:
        """The caller's response is over: its time is what the turn took."""
        answer = self.answer() if self.answer is not None else None
        if answer is not None:
            answer.elapsed = timedelta(seconds=time.perf_counter() - self.started_s)


DECODED_BY_BOTH = frozenset({"", "identity", "gzip", "deflate"})
"""Codings that both libraries decode without a further package."""


def _head(response: Any, whole: bool) -> tuple[Head, bool]:
    """The head for the pipe, and whether the library reads and decodes the body: where nobody wants
    it piece by piece and the library can, and where a response hook has done so already."""
    head = Head(response.status_code, tuple(response.headers.raw))
    coding = head.get(b"content-encoding").strip().lower()
    if response.is_stream_consumed or (whole and coding in DECODED_BY_BOTH):
        return head.without(*BODY_HEADERS), True
    return head, False


class _Upstream:
    """`relay.drive.Upstream` over a response."""

    def __init__(self, exchange: _Exchange, response: Any, whole: bool) -> None:
        self._exchange = exchange
        self._response = response
        self.head, whole = _head(response, whole)
        self._whole = whole and self.head.status < 300
        exchange.opened(response, self.head, whole)
        # `stream` is what `iter_raw()` iterates over; every layer less counts per event.
        self.pieces: Iterator[Any] = _whole(response) if whole else iter(response.stream)

    def whole_body(self) -> bytes:
        """The body of a success that nobody wants piece by piece, and that the library reads; else
        b"". It is read again later."""
        if not self._whole:
            return b""
        try:
            return self._response.read()  # type: ignore[no-any-return]
        except self._exchange.failures as error:
            self.pieces = _broken(error)
            return b""
        except BaseException:
            self.close()  # the caller goes away (C23)
            raise

    def lost(self, error: Exception) -> Lost | None:
        return self._exchange.lost_in_reading(error)

    def close(self) -> None:
        # While another thread waits in it, that one closes it as soon as it wakes.
        waiting = getattr(self.pieces, "gi_running", False)
        if not (waiting and wake_reader(self._response)):
            self._response.close()


_open: set[Any] = set()
"""The generators of open responses, kept from the collector: of a turn that is abandoned it would
close them beside us, and a generator that is closed twice at once complains."""


class _AsyncUpstream:
    """`relay.drive.AsyncUpstream` over a response."""

    def __init__(self, exchange: _Exchange, response: Any, whole: bool) -> None:
        self._exchange = exchange
        self._response = response
        self.head, whole = _head(response, whole)
        self._whole = whole and self.head.status < 300
        exchange.opened(response, self.head, whole)
        # The stream itself and not `aiter_raw()`: that leaves the inner generator to the collector,
        # which then outlives its event loop.
        self.pieces: Any = aiter(_whole_async(response) if whole else response.stream)
        _open.add(self.pieces)

    async def whole_body(self) -> bytes:
        """The body of a success that nobody wants piece by piece, and that the library reads; else
        b"". It is read again later."""
        if not self._whole:
            return b""
        try:
            return await self._response.aread()  # type: ignore[no-any-return]
        except self._exchange.failures as error:
            _open.discard(self.pieces)
            self.pieces = _broken_async(error)
            _open.add(self.pieces)
            return b""
        except BaseException:
            await self.close()  # the caller goes away (C23)
            raise

    def lost(self, error: Exception) -> Lost | None:
        return self._exchange.lost_in_reading(error)

    async def finish(self) -> None:
        anyio = importlib.import_module("anyio")
        with anyio.move_on_after(DRAIN_S), contextlib.suppress(*self._exchange.failures):
            async for _ in self.pieces:
                await anyio.lowlevel.checkpoint()
        await self.close()

    async def close(self) -> None:
        _open.discard(self.pieces)
        # While another task waits in it, closing the response is what ends it.
        running = getattr(self.pieces, "ag_running", False)
        if isinstance(self.pieces, AsyncGenerator) and not running:
            await self.pieces.aclose()
        await self._response.aclose()


def _whole(response: Any) -> Iterator[bytes]:
    yield response.read()


async def _whole_async(response: Any) -> AsyncGenerator[bytes, None]:
    yield await response.aread()


def _broken(error: Exception) -> Iterator[bytes]:
    """A body whose reading has failed already."""
    raise error
    yield b""


async def _broken_async(error: Exception) -> AsyncGenerator[bytes, None]:
    raise error
    yield b""


@cache
def _stream_class(library: Any) -> Any:
    class TurnStream(library.SyncByteStream):  # type: ignore[misc]
        """The bytes of a turn, as the library wants them."""

        def __init__(self, exchange: _Exchange, turn: Drive, pieces: Any) -> None:
            self._exchange = exchange
            self._turn = turn
            self._pieces = pieces

        def __iter__(self) -> Iterator[bytes]:
            return self._pieces  # type: ignore[no-any-return]

        def close(self) -> None:
            self._turn.close()
            self._exchange.closed()

    return TurnStream


@cache
def _async_stream_class(library: Any) -> Any:
    class TurnStream(library.AsyncByteStream):  # type: ignore[misc]
        """The bytes of a turn, as the library wants them.

        It is the iterator as well: only the collector may close the generator itself, for whoever
        did so at the same time would be told that it is running."""

        def __init__(self, exchange: _Exchange, turn: AsyncDrive, pieces: Any) -> None:
            self._exchange = exchange
            self._turn = turn
            self._pieces = pieces

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        def __anext__(self) -> Awaitable[bytes]:
            return self._pieces.__anext__()  # type: ignore[no-any-return]

        async def aclose(self) -> None:
            await self._turn.close()
            self._exchange.closed()

    return TurnStream
