"""The response of a turn, for callers of httpx or httpx2, and its stream of bytes.

Both are subclasses of the library's classes with fewer layers. A turn's bytes need no decoding, so
if the caller sets no chunk size, each piece is passed on as it arrives. A layer costs time for each
event.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator
from contextlib import aclosing
from functools import cache
from typing import Any, Protocol

from tenuto.turn.drivers.drive import AsyncDrive, Drive


class _Exchange(Protocol):
    library: Any

    def wake(self) -> None:
        """Wake the thread that waits for an attempt whose answer is no longer needed."""

    def closed(self) -> None:
        """Note that the caller's response has ended."""


def stream_of(exchange: _Exchange, turn: Drive, pieces: Any) -> Any:
    """Return the bytes of a turn as a sync stream of the library."""
    return _stream_class(exchange.library)(exchange, turn, pieces)


def async_stream_of(exchange: _Exchange, turn: AsyncDrive, pieces: Any) -> Any:
    """Like `stream_of`, for async callers."""
    return _async_stream_class(exchange.library)(exchange, turn, pieces)


@cache
def response_class(library: Any) -> Any:
    """Return a subclass of the library's `Response` for the stream of a turn."""

    class Response(library.Response):  # type: ignore[misc]
        is_stream_consumed: bool
        _num_bytes_downloaded: int

        def __reduce__(self) -> tuple[Any, ...]:
            """Copy and unpickle to the library's own `Response`: the result has no stream."""
            return library.Response.__new__, (library.Response,), self.__getstate__()

        def iter_bytes(self, chunk_size: int | None = None) -> Generator[bytes, None, None]:
            """Yield the decoded bytes, as the library does."""
            if not _is_as_it_comes(self, chunk_size, library.SyncByteStream):
                yield from super().iter_bytes(chunk_size)
                return
            self.is_stream_consumed = True
            try:
                for piece in self.stream:
                    self._num_bytes_downloaded += len(piece)
                    yield piece
            except library.RequestError as error:
                error.request = self.request
                raise
            finally:
                self.close()

        async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
            """Yield the decoded bytes, as the library does."""
            if not _is_as_it_comes(self, chunk_size, library.AsyncByteStream):
                async with aclosing(super().aiter_bytes(chunk_size)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            self.is_stream_consumed = True
            ours = type(self.stream) is _async_stream_class(library)  # and nothing that wraps it
            try:
                async for piece in self.stream.pieces if ours else self.stream:
                    self._num_bytes_downloaded += len(piece)
                    yield piece
            except library.RequestError as error:
                error.request = self.request
                raise
            finally:
                await self.aclose()

    Response.__module__, Response.__qualname__ = library.__name__, Response.__name__
    return Response


def _is_as_it_comes(response: Any, chunk_size: int | None, kind: Any) -> bool:
    """Return whether the caller asks for bytes that can be passed on as they arrive."""
    over = response.is_stream_consumed or response.is_closed
    right = chunk_size is None and isinstance(response.stream, kind)
    return right and not over and "content-encoding" not in response.headers


@cache
def _stream_class(library: Any) -> Any:
    class TurnStream(library.SyncByteStream):  # type: ignore[misc]
        """The bytes of a turn as a stream of the library."""

        def __init__(self, exchange: _Exchange, turn: Drive, pieces: Any) -> None:
            self._exchange = exchange
            self._turn = turn
            self._pieces = pieces

        def __iter__(self) -> Iterator[bytes]:
            return self._pieces  # type: ignore[no-any-return]

        def close(self) -> None:
            self._turn.close()
            self._exchange.wake()
            self._exchange.closed()

    return TurnStream


@cache
def _async_stream_class(library: Any) -> Any:
    class TurnStream(library.AsyncByteStream):  # type: ignore[misc]
        """The bytes of a turn as a stream of the library.

        It is its own iterator, so that the caller doesn't close the generator: closing it while it
        runs raises an error. `pieces` is the generator, for our response, which iterates over it
        directly and never closes it. That saves a layer for each piece."""

        def __init__(self, exchange: _Exchange, turn: AsyncDrive, pieces: Any) -> None:
            self._exchange = exchange
            self._turn = turn
            self.pieces = pieces

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        def __anext__(self) -> Awaitable[bytes]:
            return self.pieces.__anext__()  # type: ignore[no-any-return]

        async def aclose(self) -> None:
            await self._turn.close()
            self._exchange.closed()

    return TurnStream
