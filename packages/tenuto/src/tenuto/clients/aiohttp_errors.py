"""The errors of aiohttp for those of httpx, for a client that would ask through aiohttp by itself.

Tenuto sends through httpx in its place (`google_client`). The caller's `except aiohttp.ClientError`
has to catch what it caught before (P1c), so a failure leaves as aiohttp raises it for the same
break. The error of httpx is its cause.
"""

from __future__ import annotations

import importlib
import socket
import ssl
from collections.abc import AsyncIterator
from functools import cache
from types import SimpleNamespace
from typing import Any

from tenuto.clients.exchange import IN_BODY

_CONNECTORS: tuple[tuple[type[OSError], str], ...] = (
    (socket.gaierror, "ClientConnectorDNSError"),
    (ssl.SSLCertVerificationError, "ClientConnectorCertificateError"),
    (ssl.SSLError, "ClientConnectorSSLError"),
    (OSError, "ClientConnectorError"),
)
"""What aiohttp raises if it cannot connect, by the system's error: the first row that fits."""


def raising_as_aiohttp(client: Any, library: Any) -> Any:
    """Let an async client that recovers raise the errors of aiohttp; return it."""
    base: Any = type(client)
    client.__class__ = _subclass(base, library)
    return client


@cache
def _subclass(base: Any, library: Any) -> Any:
    async def send(self: Any, request: Any, **options: Any) -> Any:
        if "/interactions" in request.url.path:  # the SDK asks for these through httpx by itself
            return await base.send(self, request, **options)
        try:
            response = await base.send(self, request, **options)
        except (library.TransportError, library.DecodingError) as error:
            raise _error(library, error, request.url) from error
        if not response.is_closed:
            response.stream = _stream_class(library)(response.stream)
        return response

    members = {"send": send, "__del__": lambda self: None, "__module__": base.__module__}
    return type(base.__name__, (base,), members)


@cache
def _stream_class(library: Any) -> Any:
    class Stream(library.AsyncByteStream):  # type: ignore[misc]
        """The bytes of a response, as they come."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async for piece in self._stream:
                    yield piece
            except (library.TransportError, library.DecodingError) as error:
                vars(error)[IN_BODY] = True
                raise _error(library, error, None) from error

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Stream


def _error(library: Any, error: Exception, url: Any) -> Exception:
    """Return the error of aiohttp for one of httpx, with its notes, which say what Tenuto did."""
    made: Exception = _made(library, error, url)
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made


def _made(library: Any, error: Exception, url: Any) -> Any:
    aiohttp: Any = importlib.import_module("aiohttp")
    if isinstance(error, library.TimeoutException):
        return TimeoutError()
    if IN_BODY in vars(error) or isinstance(error, library.DecodingError):
        words = f"Response payload is not completed: {error or type(error).__name__}"
        return aiohttp.ClientPayloadError(words)
    system = _system_error(error)
    if isinstance(error, library.ConnectError):
        key = SimpleNamespace(host=url.host, port=url.port, ssl=True, is_ssl=url.scheme == "https")
        name = next(name for kind, name in _CONNECTORS if isinstance(system, kind))
        kind = getattr(aiohttp, name, aiohttp.ClientConnectorError)  # older ones lack that for DNS
        return kind(key, system)
    if isinstance(error, library.RemoteProtocolError):
        return aiohttp.ServerDisconnectedError()
    return aiohttp.ClientOSError(*system.args)


def _system_error(error: BaseException) -> OSError:
    """Return the system's error behind one of httpx."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, OSError):
        behind = behind.__cause__ or behind.__context__
    return behind if behind is not None else OSError(str(error))
