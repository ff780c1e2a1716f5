"""`HTTPTransport` and `AsyncHTTPTransport`: the pipe for programs that build the HTTP client.

Theory of operation
-------------------
A transport gets a request after the client's hooks and authentication, and returns one response.
Ours runs the same pipe as a client that recovers (`httpx_client.sending`), and sends each attempt
through the transport below it. It reads every response as a stream, since a client does not tell
its transport whether it will read the body at once.

httpx and httpx2 only call a transport's methods and never check its class. So one class serves
both, and the first request tells which library's transport to make.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

from tenuto.clients.http_client import MAX_CONNECTIONS, MAX_KEEPALIVE_CONNECTIONS
from tenuto.clients.httpx_client import HANDLED, sending, sending_async
from tenuto.clients.libraries import LIBRARIES, library_of_class, library_of_request
from tenuto.clients.wrap import engine
from tenuto.core.errors import PolicyError, UnsupportedClient
from tenuto.core.events.event import OnEvent
from tenuto.core.settings.names import refuses_unknown
from tenuto.core.settings.policy import RULES, Policy

if TYPE_CHECKING:
    import httpx
    import httpx2

    class _Sync(httpx.BaseTransport, httpx2.BaseTransport):
        def __enter__(self) -> Self: ...
        def handle_request(self, request: Any) -> Any: ...

    class _Async(httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):
        async def __aenter__(self) -> Self: ...
        async def handle_async_request(self, request: Any) -> Any: ...
else:
    _Sync = _Async = object


class _Below:
    """The transport below one of ours, sync or async.

    Args:
        given: the caller's; None: the library's own, made at the first request.
        name: the library's class; `method`: the method that sends a request.
    """

    def __init__(self, given: Any, name: str, method: str) -> None:
        self._name = name
        self._method = method
        self._library: Any = None
        self._lock = threading.Lock()
        self.transport = given
        self._is_given = given is not None

    def of(self, request: Any) -> Any:
        """Return the transport that sends this request.

        Raises:
            UnsupportedClient: the client is of neither library, or of another one than the first
                client; or a given transport doesn't serve this kind of client.
        """
        if self._is_given:
            if not hasattr(self.transport, self._method):
                raise UnsupportedClient(
                    f"{type(self.transport).__qualname__} has no method {self._method}; "
                    f"pass tenuto.{self._name} a transport that has it"
                )
            cls: Any = type(self.transport)
            own = library_of_class(cls, ("HTTPTransport", "AsyncHTTPTransport"))
            if own is not None and library_of_request(request) not in (own, None):
                raise _of_another_library(own, request)
            return self.transport
        library = library_of_request(request)
        with self._lock:
            if self.transport is None and library is not None:
                limits = library.Limits(
                    max_connections=MAX_CONNECTIONS,
                    max_keepalive_connections=MAX_KEEPALIVE_CONNECTIONS,
                )
                self._library, self.transport = library, getattr(library, self._name)(limits=limits)
        if library is None or library is not self._library:
            raise _of_another_library(self._library, request)
        return self.transport


def _of_another_library(library: Any, request: Any) -> UnsupportedClient:
    asked = type(request).__module__.partition(".")[0]
    name = library.__name__ if library else " or ".join(LIBRARIES)
    return UnsupportedClient(
        f"this transport is for {name}, and the client is of {asked}; create one for each client"
    )


def _sends(given: Any, *methods: str) -> Any:
    """Return the given transport, or the one below it if it is ours, so that wrapping twice is
    wrapping once.

    Raises:
        UnsupportedClient: it is not a transport. The check is made here because SDKs take an error
            of a request for a failed connection, and try again."""
    below = getattr(given, "_given", given)
    if below is None or (not isinstance(below, type) and any(hasattr(below, m) for m in methods)):
        return below
    found = (
        f"the class {below.__qualname__}" if isinstance(below, type) else type(below).__qualname__
    )
    raise UnsupportedClient(
        f"transport is {found}, but it must be an object with {' or '.join(methods)}, or none; "
        "a policy is given as policy=, a proxy as httpx.HTTPTransport(proxy=…)"
    )


_ASYNC_ONLY = (
    "tenuto.AsyncHTTPTransport serves only async clients; give a sync client "
    "tenuto.HTTPTransport(), which serves both"
)


@refuses_unknown(PolicyError, settings=RULES)
class AsyncHTTPTransport(_Async):
    """A transport for an async client of httpx or httpx2 that finishes the turns sent through it.

    Args:
        transport: sends each attempt; None: the library's own `AsyncHTTPTransport`, as for
            `HTTPTransport`.
        policy: the limits; None: as for `http_client`.
        on_event: called with each `Event` of each turn, from the task that runs the turn.

    Raises:
        PolicyError: as for `http_client`.
        UnsupportedClient: as for `HTTPTransport`.

    >>> import httpx
    >>> client = httpx.AsyncClient(transport=AsyncHTTPTransport(), timeout=600)
    """

    _METHODS: tuple[str, ...] = ("handle_async_request",)

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | httpx2.AsyncBaseTransport | None = None,
        *,
        policy: Policy | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        self._given: Any = _sends(transport, *self._METHODS)
        # Whoever builds the client may hand its answers on to another program.
        self._tenuto_engine = engine(policy, on_event).serving()
        self._below_async = _Below(self._given, "AsyncHTTPTransport", "handle_async_request")

    def __deepcopy__(self, _: object) -> Self:
        """Return the transport itself, as frameworks copy their settings."""
        return self

    async def _once_async(self, request: Any, *, stream: bool) -> Any:
        response = await self._below_async.of(request).handle_async_request(request)
        response.request = request
        return response

    _finish_async = sending_async(_once_async, responds=True)

    async def handle_async_request(self, request: Any) -> Any:
        """Handle a request, as the library's own transports do."""
        send = self._once_async if HANDLED in request.extensions else self._finish_async
        return await send(request, stream=True)

    def handle_request(self, request: Any) -> Any:
        """Refuse a sync client.

        Raises:
            UnsupportedClient: always."""
        raise UnsupportedClient(_ASYNC_ONLY)

    def __enter__(self) -> Self:
        """Refuse a sync client, as `handle_request` does."""
        raise UnsupportedClient(_ASYNC_ONLY)

    def close(self) -> None:
        """Do nothing: for a sync client, nothing was opened."""

    async def aclose(self) -> None:
        """Close the transport below."""
        if (close := getattr(self._below_async.transport, "aclose", None)) is not None:
            await close()

    async def __aenter__(self) -> Self:
        """Enter the transport that was given, if any."""
        if (enter := getattr(self._given, "__aenter__", None)) is not None:
            await enter()
        return self

    async def __aexit__(self, *error: Any) -> None:
        """Leave the transport that was given, or close the one that was made."""
        if (leave := getattr(self._given, "__aexit__", None)) is not None:
            await leave(*error)
        else:
            await self.aclose()


@refuses_unknown(PolicyError, settings=RULES)
class HTTPTransport(AsyncHTTPTransport, _Sync):
    """A transport for a client of httpx or httpx2 that finishes the turns sent through it.

    Use it with frameworks that build the HTTP client themselves: as `Client(transport=…)`, in
    `mounts`, or in a dictionary of keyword arguments. It serves sync and async clients of either
    library. Requests that aren't turns of a model pass through untouched.

    The client's hooks, cookies, redirects and authentication see one request and one response per
    turn, however many attempts it took. Each attempt has the headers of that request. If a
    signature covers the request's body, Tenuto leaves the turn alone, because it can't sign another
    request: wrap the SDK's client instead (`wrap`). A client that Tenuto has wrapped already
    doesn't need this transport.

    Args:
        transport: sends each attempt; None: the library's own `HTTPTransport` (for an async client
            its `AsyncHTTPTransport`) with 1,000 connections, 100 of them kept alive. Pass your own
            to set certificates, a proxy or HTTP/2: on a client with a transport, httpx ignores
            `verify`, `proxy` and the environment's proxies.
        policy: the limits; None: as for `http_client`.
        on_event: called with each `Event` of each turn, from the thread or task that runs the turn.

    Raises:
        PolicyError: as for `http_client`.
        UnsupportedClient: `transport` is not a transport; or on a request, if the client is of
            neither library, if clients of both libraries share the transport, or if `transport`
            doesn't serve this kind of client.

    A wrong `x-tenuto` header, or a `tenuto.policy()` block that `policy` doesn't allow, gets a
    response with status 400, and Tenuto sends nothing. SDKs raise it as their own error, such as
    `openai.BadRequestError`, with the message of the `PolicyError`. An exception would be taken for
    a failed connection, and the SDK would try again. `wrap` and `http_client` raise the
    `PolicyError` itself.

    Set the client's `timeout` (in seconds), which is 5 s by default:

    >>> import httpx
    >>> client = httpx.Client(transport=HTTPTransport(), timeout=600)
    >>> mounts = {"https://api.openai.com": HTTPTransport()}
    >>> client = httpx.Client(mounts=mounts, timeout=600)
    """

    _METHODS = ("handle_request", "handle_async_request")

    def __init__(
        self,
        transport: httpx.BaseTransport | httpx2.BaseTransport | None = None,
        *,
        policy: Policy | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        given: Any = transport
        super().__init__(given, policy=policy, on_event=on_event)
        self._below = _Below(self._given, "HTTPTransport", "handle_request")

    @property
    def _pool(self) -> Any:
        """The connections below, in which `waking` finds the one that carries a request."""
        transport = self._below.transport
        return transport._pool  # noqa: SLF001 - see private_seams

    def _once(self, request: Any, *, stream: bool) -> Any:
        response = self._below.of(request).handle_request(request)
        response.request = request
        return response

    _finish = sending(_once, responds=True)

    def handle_request(self, request: Any) -> Any:
        """Handle a request, as the library's own transports do."""
        send = self._once if HANDLED in request.extensions else self._finish
        return send(request, stream=True)

    def close(self) -> None:
        """Close the transport below."""
        if (close := getattr(self._below.transport, "close", None)) is not None:
            close()

    def __enter__(self) -> Self:
        """Enter the transport that was given, if any."""
        if (enter := getattr(self._given, "__enter__", None)) is not None:
            enter()
        return self

    def __exit__(self, *error: Any) -> None:
        """Leave the transport that was given, or close the one that was made."""
        if (leave := getattr(self._given, "__exit__", None)) is not None:
            leave(*error)
        else:
            self.close()
