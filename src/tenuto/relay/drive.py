"""The drivers: take a command, perform it, feed the reply back. They decide nothing, and differ
only in waiting.

A driver may be closed from elsewhere while its pieces are waited for (a stop button, another task,
the garbage collector, which closes generators in any order): closing is separate from the iterator
and harmless when it is repeated. Whoever still asks for pieces then is told by an exception, unless
all was said: what just ended would look like a turn that was read to its end.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any, Protocol, TypeVar, assert_never

from tenuto.relay.commands import Head, Lost, Open, Read, Reply, Reraise, Run, Transmit, Wait, Write


class Upstream(Protocol):
    """One response of the provider.

    Attributes:
        pieces: its bytes as they come. It is an iterator and not a method to be called: every layer
            less counts per event.
    """

    pieces: Iterator[bytes]

    @property
    def head(self) -> Head:
        """Status and headers."""

    def lost(self, error: Exception) -> Lost | None:
        """What an exception of `pieces` means, None where it is none of the transport's."""

    def close(self) -> None:
        """Stop reading; may be called twice."""


class AsyncUpstream(Protocol):
    """The same for async callers."""

    pieces: AsyncIterator[bytes]

    @property
    def head(self) -> Head:
        """Status and headers."""

    def lost(self, error: Exception) -> Lost | None:
        """What an exception of `pieces` means, None where it is none of the transport's."""

    async def finish(self) -> None:
        """Nothing more is wanted: give its connection back where that takes no time, and close."""

    async def close(self) -> None:
        """Stop reading; may be called twice."""


S = TypeVar("S")
T = TypeVar("T")

Closed = Callable[[], Exception]
"""Makes what is raised where more is asked for of a turn that was closed before its end."""


def _takes_nothing(_: bytes) -> None:
    """Every piece is a reply."""


class Drive:
    """One turn for callers that block. `pieces()` is iterated once.

    Args:
        run: the turn.
        connect: sends a request of it.
        when_closed: see `Closed`; None: the pieces just end, for a caller that closes what only it
            reads.
    """

    def __init__(
        self,
        run: Run,
        connect: Callable[[Transmit], Upstream | Lost],
        when_closed: Closed | None = None,
    ) -> None:
        self._run = run
        self._connect = connect
        self._when_closed = when_closed
        self._all_said = False
        self._upstream: Upstream | None = None
        self._closed = False
        self._alarm: threading.Event | None = None

    @property
    def closed(self) -> bool:
        """Whether nobody wants more of it."""
        return self._closed

    def pieces(self) -> Generator[Head | bytes, None, None]:
        """First the head, then the bytes for the caller."""
        reply: Reply = None
        try:
            while not self._closed:
                try:
                    command = self._run.send(reply)
                except StopIteration:
                    if self._closed:  # it was the run that was closed
                        break
                    return
                reply = None
                match command:
                    case Read():
                        upstream, take = self._upstream, command.take or _takes_nothing
                        assert upstream is not None
                        reply = b""
                        try:
                            for piece in upstream.pieces:
                                if out := take(piece):
                                    yield out
                                    if self._closed:
                                        break
                                elif piece and out is None:
                                    reply = piece
                                    break
                        except Exception as error:
                            reply = upstream.lost(error)
                            if reply is None:
                                raise
                    case Write():  # without names in the brackets: it comes with every event
                        if command.last:
                            self._all_said = True
                        yield command.data
                    case Open(head):
                        yield head
                    case Transmit():
                        self._leave()
                        answer = self._connect(command)
                        if isinstance(answer, Lost):
                            reply = answer
                        else:
                            self._upstream = answer
                            reply = answer.head
                    case Wait(seconds):
                        self._leave()
                        self._sleep(seconds)
                    case Reraise(error):
                        raise error
                    case _:
                        assert_never(command)
            if self._when_closed is not None and not self._all_said:
                raise self._when_closed()
        finally:
            self.close()

    def stop(self) -> None:
        """End the upstream, and whatever is waited for, from any thread; whoever iterates over the
        pieces ends the turn then, and has all that came of it."""
        self._closed = True
        if self._alarm is not None:
            self._alarm.set()
        self._leave()

    def close(self) -> None:
        """End the turn and its upstream at once (C23), from any thread. A read in which another
        thread waits ends with it where closing the upstream wakes that thread; else at the next
        bytes or the read's timeout."""
        self._closed = True
        if self._alarm is not None:
            self._alarm.set()
        # Where another thread is just inside the run, that one closes it as soon as it is out.
        with contextlib.suppress(ValueError):
            self._run.close()
        self._leave()

    def _sleep(self, seconds: float) -> None:
        # Made before the flag is looked at: whoever closes meanwhile sees one of the two.
        self._alarm = threading.Event()
        if not self._closed:
            self._alarm.wait(seconds)

    def _leave(self) -> None:
        if self._upstream is not None:
            self._upstream.close()


class Scope(Protocol):
    """What `anyio.CancelScope` is: who waits within it can be told to wait no longer."""

    def __enter__(self) -> Scope: ...

    def __exit__(self, kind: Any, error: Any, trace: Any, /) -> bool: ...

    def cancel(self) -> None:
        """End the wait. The scope swallows the cancellation that ends it."""


class AsyncDrive:
    """The same for async callers.

    Args:
        run, connect, when_closed: as for `Drive`.
        sleep: that of their event loop, in seconds.
        scope: makes a scope of it; None: a wait ends with the task that waits, and by nothing else.
    """

    def __init__(
        self,
        run: Run,
        connect: Callable[[Transmit], Awaitable[AsyncUpstream | Lost]],
        sleep: Callable[[float], Awaitable[None]],
        when_closed: Closed | None = None,
        scope: Callable[[], Scope] | None = None,
    ) -> None:
        self._run = run
        self._connect = connect
        self._when_closed = when_closed
        self._all_said = False
        self._sleep = sleep
        self._scope = scope
        self._waiting: Scope | None = None
        self._upstream: AsyncUpstream | None = None
        self._closed = False

    async def pieces(self) -> AsyncGenerator[Head | bytes, None]:
        """First the head, then the bytes for the caller."""
        reply: Reply = None
        try:
            while not self._closed:
                try:
                    command = self._run.send(reply)
                except StopIteration:
                    await self._leave()
                    return
                reply = None
                match command:
                    case Read():
                        upstream, take = self._upstream, command.take or _takes_nothing
                        assert upstream is not None
                        reply = b""
                        try:
                            async for piece in upstream.pieces:
                                if out := take(piece):
                                    yield out
                                    if self._closed:
                                        break
                                elif piece and out is None:
                                    reply = piece
                                    break
                        except Exception as error:
                            reply = upstream.lost(error)
                            if reply is None:
                                raise
                    case Write():  # without names in the brackets: it comes with every event
                        if command.last:
                            self._all_said = True
                        yield command.data
                    case Open(head):
                        yield head
                    case Transmit():
                        await self._leave()
                        answer = await self._unless_closed(self._connect, command)
                        if answer is None:
                            continue
                        if isinstance(answer, Lost):
                            reply = answer
                        else:
                            self._upstream = answer
                            reply = answer.head
                    case Wait(seconds):
                        await self._leave()
                        await self._unless_closed(self._sleep, seconds)
                    case Reraise(error):
                        raise error
                    case _:
                        assert_never(command)
            if self._when_closed is not None and not self._all_said:
                raise self._when_closed()
        finally:
            await self.close()

    async def close(self) -> None:
        """End the turn and its upstream at once (C23), from any task of its loop."""
        self._closed = True
        self._run.close()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.cancel()
        if self._upstream is not None:
            await self._upstream.close()

    async def _unless_closed(self, wait: Callable[[S], Awaitable[T]], how: S) -> T | None:
        """What is waited for; None where the turn is closed meanwhile. Before the first response
        nobody has what could be closed."""
        if self._scope is None or self._upstream is None:
            return await wait(how)
        if self._closed:
            return None
        scope = self._waiting = self._scope()
        with scope:
            try:
                return await wait(how)
            finally:
                self._waiting = None
        return None

    async def _leave(self) -> None:
        if self._upstream is not None:
            await self._upstream.finish()
