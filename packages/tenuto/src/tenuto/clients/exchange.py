"""One turn over a client of httpx or httpx2: requests for its attempts, and their responses."""

from __future__ import annotations

import contextlib
import importlib
import time
import weakref
from collections.abc import AsyncGenerator, Iterator
from datetime import timedelta
from typing import Any

from tenuto.clients.libraries import library_of_request
from tenuto.clients.responses import response_class
from tenuto.clients.signing import Signer
from tenuto.clients.waking import wake_reader, wake_sender
from tenuto.core.answer.fault import FaultKind
from tenuto.frames.frame import Framing
from tenuto.frames.sniff import named_by
from tenuto.turn.drivers.commands import BODY_HEADERS, ConnectionLost, Head, Request, SendRequest
from tenuto.turn.drivers.mark import NAME, Marking, has_ours, mark_in, marked

DRAIN_S = 0.1
"""How long to wait, in seconds, for the rest of a response after its last event, so that its
connection can be used again. The openai SDK waits as long."""


IN_BODY = "tenuto_in_body"
"""The attribute of an error that ended the reading of a body. Where a body is read at once, nothing
else tells it from an error before the head."""

_MARK = "tenuto_exchange"
"""The request extension that identifies a further attempt's request."""

_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
"""The headers that tell where a body ends. The caller's don't fit another body, and servers refuse
a request with both. For a body of bytes, the library writes the length."""


class Exchange:
    """One turn of one client or transport: makes requests for attempts, and the response for the
    caller.

    Attributes:
        signer: signs the requests; None: nothing does.
        library: httpx or httpx2, whichever the caller uses; `failures`: the errors of its
            transport.
        client, request: the caller's own; `client` may be a transport. `asked`: the request as the
            pipe has it. `serves`: whether the answer is marked, since it may go to another program.
        first: the first attempt's response; None before it arrives. `first_whole`: whether the
            library reads its body.
        unread: the error that ended the reading of the first attempt's whole body; None: there is
            none, or a further attempt followed.
        remade: whether a request of ours was sent in place of the caller's.
        read_by_hooks: the statuses of responses that a response hook has read. Its reading can be
            repeated.
        answer: a weak reference to the caller's response. A cycle would leave it to the garbage
            collector to stop an abandoned turn.
    """

    # On the class: a turn whose first answer is plain never sets most of these.
    remade: bool = False
    first: Any = None
    first_whole: bool = False
    unread: Exception | None = None
    read_by_hooks: frozenset[int] = frozenset()
    answer: Any = None

    def __init__(
        self,
        client: Any,
        request: Any,
        asked: Request,
        signer: Signer | None,
        *,
        serves: bool = False,
    ) -> None:
        library = library_of_request(request)
        assert library is not None
        self.signer = signer
        self.library = library
        self.failures: tuple[Any, type[OSError]] = (library.HTTPError, OSError)
        self.client = client
        self.request = request
        self.asked = asked
        self.serves = serves
        self.started_s: float = time.perf_counter()

    def is_read_whole(self, stream: bool) -> bool:
        """Return whether the library reads an attempt's whole body at once. A further attempt is
        read piece by piece, so that each piece shows whether time is left."""
        return not stream and self.first is None

    def request_for(self, command: SendRequest) -> Any:
        """Return the request of one attempt; the caller's own if nothing differs."""
        same = not command.edited and command.headers == self.asked.headers
        if same and command.timeout_s is None and self.first is None:
            return self.request
        self.remade = True
        extensions = dict(self.request.extensions)
        if (longest_s := command.timeout_s) is not None:
            given = {"read": longest_s, **(extensions.get("timeout") or {})}
            extensions["timeout"] = {
                key: longest_s if each is None else min(each, longest_s)
                for key, each in given.items()
            }
        if self.first is not None:  # before that, the caller has nothing to close
            extensions[_MARK] = self
            self.unread = None
        headers = command.headers
        if self.signer is not None:
            headers = self.signer.unsigned(headers)
        fetches = command.url is not None
        return self.library.Request(
            "GET" if fetches else self.request.method,
            command.url or self.request.url,
            headers=[p for p in headers if p[0].lower() not in _FRAMING],
            content=None if fetches else command.body,
            extensions=extensions,
        )

    def opened(self, response: Any, whole: bool, raw: list[tuple[bytes, bytes]]) -> None:
        """Note that an attempt's response has begun, and keep the first one. Headers of Tenuto's
        that the upstream made up are removed (`turn.drivers.mark`). `raw`: the response's headers.

        Raises:
            StreamClosed: the library's own, if a response hook has closed the response unread."""
        unread = response.is_closed and not response.is_stream_consumed
        if unread and (whole or response.status_code < 400):  # for an error, the status is enough
            raise self.library.StreamClosed
        if response.is_stream_consumed:
            self.read_by_hooks |= {response.status_code}
        if self.first is None:
            self.first, self.first_whole = response, whole
        if has_ours(raw) and (self.serves or mark_in(raw) is None):
            for name in [name for name in response.headers if name.lower().startswith("x-tenuto")]:
                del response.headers[name]

    def mark(self, marking: Marking) -> None:
        """Mark the first attempt's response, which is the caller's (`turn.drivers.mark`)."""
        if self.serves:
            self.first.headers[NAME.decode()] = marking.mark(events=False).decode()

    def marked(self, head: Head, marking: Marking) -> Head:
        """Return the head of the caller's response, with a mark if it needs one."""
        if not self.serves:
            return head
        kind = head.get(b"content-type")
        return marked(head, marking.mark(events=named_by(kind) is Framing.EVENTS))

    def head_of(self, response: Any, whole: bool) -> Head:
        """Return the head of a response; with `whole`, the library reads and decodes the body."""
        head = Head(response.status_code, tuple(response.headers.raw))
        return head.without(*BODY_HEADERS) if whole else head

    def lost_or_raise(self, error: Exception) -> ConnectionLost:
        """Return a failure to send as a value. Hooks, auth flows and closed clients may raise
        anything: before the first answer it is raised, and after that it must not cost the text
        received so far (C5)."""
        if isinstance(error, self.failures):
            return self.lost(error)
        if self.first is None:
            raise error
        return ConnectionLost(FaultKind.CALLER, error)

    def broken(self, message: str) -> Exception:
        """Return the library's error for a stream that breaks."""
        return self.library.ReadError(message, request=self.request)  # type: ignore[no-any-return]

    def lost_in_reading(self, response: Any, error: Exception) -> ConnectionLost | None:
        """Return a failure of the transport as a value; None: it is another error."""
        if not isinstance(error, self.failures):
            return None
        vars(error)[IN_BODY] = True
        if response is self.first and self.first_whole:
            self.unread = error
        return self.lost(error)

    def lost(self, error: Exception) -> ConnectionLost:
        """Return a failure of the transport as a value."""
        kinds = (
            (self.library.TimeoutException, FaultKind.TIMEOUT),
            (self.library.DecodingError, FaultKind.GARBAGE),
        )
        kind = next((kind for cls, kind in kinds if isinstance(error, cls)), FaultKind.CONNECTION)
        return ConnectionLost(kind, error)

    def untouched(self, head: Head, data: bytes) -> Any:
        """Return the first attempt's own response if it is exactly what the caller gets, apart from
        our headers; else None.

        Raises:
            Exception: the transport's own, if the only attempt ended in it. The caller has received
                nothing, even if it asked for events (P1b)."""
        if self.unread is not None:
            raise self.unread
        if not self.first_whole or self.remade or data is not self.first.content:
            return None
        for name, value in head.headers:
            if name.startswith(b"x-tenuto"):
                self.first.headers[name.decode()] = value.decode()
        return self.first

    def response(self, head: Head, **body: Any) -> Any:
        """Return the caller's response, with everything but the turn's bytes from the first
        attempt."""
        extensions = dict(self.first.extensions) if self.first is not None else {}
        made = response_class(self.library) if "stream" in body else self.library.Response
        response = made(
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

    def wake(self) -> None:
        """Wake the thread that waits for a further attempt's response, which is no longer
        needed."""
        if self.remade:
            wake_sender(self.client, self.request, _MARK, self)

    def wake_from(self, upstream: Any, _: int) -> None:
        """Wake the thread that waits for a further attempt, or for more of its response, because
        the time is over (C29a)."""
        if upstream is None:
            self.wake()
        else:
            upstream.wake()

    def closed(self) -> None:
        """Note that the caller's response has ended; its elapsed time is that of the turn."""
        answer = self.answer() if self.answer is not None else None
        if answer is not None:
            answer.elapsed = timedelta(seconds=time.perf_counter() - self.started_s)


def answering_url(request: Any) -> Any:
    """Return the URL that answered a turn first, after all redirects, for the request of a further
    attempt; None for any other request."""
    exchange = request.extensions.get(_MARK)
    return exchange.first.request.url if isinstance(exchange, Exchange) else None


DECODED_BY_BOTH = frozenset({b"", b"identity", b"gzip", b"deflate"})
"""Content codings that both libraries decode without another package."""


def _is_read_whole(response: Any, raw: list[tuple[bytes, bytes]], wanted: bool) -> bool:
    """Return whether the library reads and decodes the body: if the caller doesn't want a stream
    and the library can decode it, or if a response hook has done so already.

    `raw` is the response's headers; searching it is much faster than looking up a header."""
    if response.is_stream_consumed:
        return True
    if not wanted:
        return False
    name = b"content-encoding"
    codings = [value for key, value in raw if len(key) == len(name) and key.lower() == name]
    coding = b", ".join(codings)  # several header lines are one list
    return coding.strip().lower() in DECODED_BY_BOTH


class _Answer:
    """One attempt's response, as shared by sync and async. It builds the head when it is needed.

    Attributes:
        raw_headers: the response's headers as received."""

    def __init__(self, exchange: Exchange, response: Any, whole: bool) -> None:
        self._exchange = exchange
        self._response = response
        self.raw_headers: list[tuple[bytes, bytes]] = response.headers.raw
        self._whole = _is_read_whole(response, self.raw_headers, whole)
        exchange.opened(response, self._whole, self.raw_headers)

    _head: Head | None = None

    @property
    def head(self) -> Head:
        """Status and headers."""
        if self._head is None:
            self._head = self._exchange.head_of(self._response, self._whole)
        return self._head

    def lost(self, error: Exception) -> ConnectionLost | None:
        """Return what an exception while reading means, or None if it isn't the transport's."""
        return self._exchange.lost_in_reading(self._response, error)

    def _is_body(self) -> bool:
        return self._whole and self._response.status_code < 300


class Upstream(_Answer):
    """`turn.drivers.drive.Upstream` over a response."""

    def __init__(self, exchange: Exchange, response: Any, whole: bool) -> None:
        super().__init__(exchange, response, whole)
        # `iter_raw()` iterates over `stream`, too; each layer costs time for each event.
        self.pieces: Iterator[Any] = _whole(response) if self._whole else iter(response.stream)

    def whole_body(self) -> bytes:
        """Return the body of a success, if the caller doesn't want a stream and the library reads
        it; else b"". The pipe reads it again later."""
        if not self._is_body():
            return b""
        try:
            return self._response.read()  # type: ignore[no-any-return]
        except self._exchange.failures as error:
            self.pieces = _broken(error)
            return b""
        except BaseException:
            self.close()  # the caller was interrupted (C23)
            raise

    def wake(self) -> None:
        """Wake the thread that reads the response."""
        wake_reader(self._response)

    def close(self) -> None:
        # If another thread is waiting in the response, it closes it when it wakes up.
        waiting = getattr(self.pieces, "gi_running", False)
        if not (waiting and wake_reader(self._response)):
            self._response.close()


_open: set[Any] = set()
"""The generators of open responses, kept alive. If a turn is abandoned, the garbage collector would
close them while we do, and closing a generator twice at once is an error."""


class AsyncUpstream(_Answer):
    """`turn.drivers.drive.AsyncUpstream` over a response."""

    def __init__(self, exchange: Exchange, response: Any, whole: bool) -> None:
        super().__init__(exchange, response, whole)
        # The stream itself and not `aiter_raw()`, which leaves the inner generator to the garbage
        # collector, so that it outlives its event loop.
        self.pieces: Any = aiter(_whole_async(response) if self._whole else response.stream)
        _open.add(self.pieces)

    async def whole_body(self) -> bytes:
        """Return the body of a success, if the caller doesn't want a stream and the library reads
        it; else b"". The pipe reads it again later."""
        if not self._is_body():
            return b""
        try:
            return await self._response.aread()  # type: ignore[no-any-return]
        except self._exchange.failures as error:
            _open.discard(self.pieces)
            self.pieces = _broken_async(error)
            return b""
        except BaseException:
            await self.close()  # the caller was interrupted (C23)
            raise

    async def finish(self) -> None:
        if getattr(self.pieces, "ag_frame", self) is None:  # the generator has ended
            await self.close()
            return
        anyio = importlib.import_module("anyio")
        with anyio.move_on_after(DRAIN_S), contextlib.suppress(*self._exchange.failures):
            async for _ in self.pieces:
                await anyio.lowlevel.checkpoint()
        await self.close()

    async def close(self) -> None:
        _open.discard(self.pieces)
        # If another task is waiting in the response, closing the response ends the wait.
        running = getattr(self.pieces, "ag_running", False)
        if isinstance(self.pieces, AsyncGenerator) and not running:
            await self.pieces.aclose()
        await self._response.aclose()


def _whole(response: Any) -> Iterator[bytes]:
    yield response.read()


async def _whole_async(response: Any) -> AsyncGenerator[bytes, None]:
    yield await response.aread()


def _broken(error: Exception) -> Iterator[bytes]:
    """Return a body that fails when it is read."""
    raise error
    yield b""


async def _broken_async(error: Exception) -> AsyncGenerator[bytes, None]:
    raise error
    yield b""
