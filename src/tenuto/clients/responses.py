"""What a turn looks like to the caller of httpx or httpx2: a response, and the stream of its bytes.

Both are classes of the library with fewer layers in them: what a turn gives needs no decoding, and
nobody asked for pieces of another size, so a piece is handed on as it comes. A layer counts per
event.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator
from contextlib import aclosing
from functools import cache
from typing import Any, Protocol

from tenuto.turn.drive import AsyncDrive, Drive


class _Exchange(Protocol):
    library: Any

    def wake(self) -> None:
        """Nobody waits any more for what it is sending."""

    def closed(self) -> None:
        """The caller's response is over."""


def stream_of(exchange: _Exchange, turn: Drive, pieces: Any) -> Any:
    """The bytes of a turn, as the library wants them."""
    return _stream_class(exchange.library)(exchange, turn, pieces)


def async_stream_of(exchange: _Exchange, turn: AsyncDrive, pieces: Any) -> Any:
    """The same for async callers."""
    return _async_stream_class(exchange.library)(exchange, turn, pieces)


@cache
def response_class(library: Any) -> Any:
    """A response of the library over such a stream."""

    class Response(library.Response):  # type: ignore[misc]
        is_stream_consumed: bool
        _num_bytes_downloaded: int

        def __reduce__(self) -> tuple[Any, ...]:
            """A copy, or what is unpickled, is one of the library's: it has no stream."""
            return library.Response.__new__, (library.Response,), self.__getstate__()

        def iter_bytes(self, chunk_size: int | None = None) -> Generator[bytes, None, None]:
            """As the library's own."""
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
            """As the library's own."""
            if not _is_as_it_comes(self, chunk_size, library.AsyncByteStream):
                async with aclosing(super().aiter_bytes(chunk_size)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            self.is_stream_consumed = True
            ours = type(self.stream) is _async_stream_class(library)  # nobody's that wraps it
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
    """Whether bytes are asked for that can be handed on as they come."""
    over = response.is_stream_consumed or response.is_closed
    right = chunk_size is None and isinstance(response.stream, kind)
    return right and not over and "content-encoding" not in response.headers


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
            self._exchange.wake()
            self._exchange.closed()

    return TurnStream


@cache
def _async_stream_class(library: Any) -> Any:
    class TurnStream(library.AsyncByteStream):  # type: ignore[misc]
        """The bytes of a turn, as the library wants them.

        It is the iterator as well: only the collector may close the generator itself, for whoever
        did so at the same time would be told that it is running. `pieces` is that generator, for
        the response that iterates over it and never closes it: a layer less for each piece."""

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
