"""The drivers: take a command, perform it, feed the reply back. They decide nothing, and differ
only in waiting: what follows from a command, and from closing, stands in `_Driver`.

A driver owns the response that is being read (`_upstream`), and whether anybody still wants the
turn (`_closed`, `_all_said`). The turn itself changes only inside of `_next`.

A driver may be closed from elsewhere while its pieces are waited for (a stop button, another task,
the garbage collector, which closes generators in any order): closing is separate from the iterator
and harmless when it is repeated. Whoever still asks for pieces then is told by an exception, unless
all was said: what just ended would look like a turn that was read to its end.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

from tenuto.turn.alarm import Alarm
from tenuto.turn.commands import (
    Command,
    Commands,
    ConnectionLost,
    Head,
    RaiseError,
    ReadMore,
    Reply,
    SendData,
    SendRequest,
    Sleep,
    StartResponse,
    late,
)


class _Response(Protocol):
    """One response of the provider. Its `pieces` are its bytes as they come: an iterator and not a
    method to be called, since every layer less counts per event."""

    @property
    def head(self) -> Head:
        """Status and headers."""
        ...

    def lost(self, error: Exception) -> ConnectionLost | None:
        """What an exception of `pieces` means, None where it is none of the transport's."""
        ...


class Upstream(_Response, Protocol):
    """A response for callers that block."""

    pieces: Iterator[bytes]

    def close(self) -> None:
        """Stop reading; may be called twice."""


class AsyncUpstream(_Response, Protocol):
    """The same for async callers."""

    pieces: AsyncIterator[bytes]

    async def finish(self) -> None:
        """Nothing more is wanted: give its connection back where that takes no time, and close."""

    async def close(self) -> None:
        """Stop reading; may be called twice."""


Argument = TypeVar("Argument")
Result = TypeVar("Result")
_Answer = TypeVar("_Answer", Upstream, AsyncUpstream)

WhenClosed = Callable[[], Exception]
"""Makes what is raised where more is asked for of a turn that was closed before its end."""


def _takes_nothing(_: bytes) -> None:
    """Every piece is a reply."""


class _Driver(Generic[_Answer]):
    """What both drivers have alike: the turn, its state, and what follows from each command.

    Args:
        run, when_closed: as for `Drive`.
    """

    def __init__(self, run: Commands, when_closed: WhenClosed | None) -> None:
        self._run = run
        self._when_closed = when_closed
        self._all_said = False
        self._closed = False
        self._upstream: _Answer | None = None

    def _next(self, reply: Reply) -> Command | None:
        """Give the turn a reply. Return its next command; None: the turn is over.

        Raises:
            Exception: the turn hands on an error, or was closed before all was said.
        """
        if not self._closed:
            try:
                command = self._run.send(reply)
            except StopIteration:
                if not self._closed:  # else it was the run that was closed
                    return None
            except ValueError:
                if not self._closed:  # else another thread is just inside the run, closing it
                    raise
            else:
                if isinstance(command, SendData):
                    self._all_said = self._all_said or command.last
                elif isinstance(command, RaiseError):
                    raise command.error
                return command
        if self._when_closed is not None and not self._all_said:
            raise self._when_closed()
        return None

    def _answered(self, answer: _Answer | ConnectionLost) -> Reply:
        """Take what answers a request. Return the reply to it."""
        if isinstance(answer, ConnectionLost):
            self._upstream = None
            return answer
        self._upstream = answer
        return answer.head

    def _end(self) -> None:
        """End the turn; its upstream is still to be closed."""
        self._closed = True
        # Whoever is just inside the run (another thread, an event's watcher) closes it as soon as
        # it is out.
        with contextlib.suppress(ValueError):
            self._run.close()


class Drive(_Driver[Upstream]):
    """One turn for callers that block. `pieces()` is iterated once.

    Args:
        run: the turn.
        connect: sends a request of it.
        when_closed: makes the exception for who asks for more of a turn that was closed before all
            was said; None: the pieces just end, for a caller that closes what only it reads.
        wake: ends a wait for the head (given None) or for more of a response, from another thread,
            given the identifier of the one that waits; None: nobody can, and limits of time are
            looked at between the pieces alone.
    """

    def __init__(
        self,
        run: Commands,
        connect: Callable[[SendRequest], Upstream | ConnectionLost],
        when_closed: WhenClosed | None = None,
        wake: Callable[[Upstream | None, int], object] | None = None,
    ) -> None:
        super().__init__(run, when_closed)
        self._connect = connect
        self._wake = wake
        self._limit: Alarm | None = None
        self._alarm: threading.Event | None = None

    @property
    def closed(self) -> bool:
        """Whether nobody wants more of it."""
        return self._closed

    def pieces(self) -> Generator[Head | bytes, None, None]:
        """First the head, then the bytes for the caller."""
        reply: Reply = None
        try:
            while (command := self._next(reply)) is not None:
                reply = None
                match command:
                    case ReadMore():
                        if command.within_s is not None:
                            reply = self._read_within(command.within_s())
                            continue
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
                    case SendData():  # without names in the brackets: it comes with every event
                        yield command.data
                    case StartResponse(head):
                        yield head
                    case SendRequest():
                        self._leave()
                        if not self._closed:  # by who was told of an event, or by another thread
                            reply = self._answered(self._connected(command))
                    case Sleep(seconds):
                        self._leave()
                        self._sleep(seconds)
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
        self._end()
        self._leave()
        if self._limit is not None:
            self._limit.close()
            self._limit = None  # it refers to us

    def _connected(self, command: SendRequest) -> Upstream | ConnectionLost:
        if command.within_s is None:
            return self._connect(command)
        self._upstream = None
        alarm = self._alarm_in(command.within_s())
        try:
            answer = self._connect(command)
        finally:
            rang = alarm.off()
        if rang and not isinstance(answer, ConnectionLost):
            answer.close()
        return late() if rang else answer

    def _read_within(self, left_s: float) -> bytes | ConnectionLost:
        """The next piece; b"" at the end."""
        upstream = self._upstream
        assert upstream is not None
        if left_s <= 0:
            return late()
        alarm = self._alarm_in(left_s)
        try:
            reply: bytes | ConnectionLost = next((piece for piece in upstream.pieces if piece), b"")
        except Exception as error:
            lost = upstream.lost(error)
            if lost is None:
                raise
            reply = lost
        finally:
            rang = alarm.off()
        return late() if rang else reply

    def _alarm_in(self, seconds: float) -> Alarm:
        if self._limit is None:
            self._limit = Alarm(self._ring)
        self._limit.set(seconds)
        return self._limit

    def _ring(self, thread: int) -> None:
        if self._wake is not None:
            self._wake(self._upstream, thread)

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


Limit = Callable[[float], AbstractContextManager[object]]
"""What `anyio.move_on_after` is: a wait within it ends after so many seconds, without an error."""


class AsyncDrive(_Driver[AsyncUpstream]):
    """The same for async callers.

    Args:
        run, connect, when_closed: as for `Drive`.
        sleep: that of their event loop, in seconds.
        scope: makes a scope of it; None: a wait ends with the task that waits, and by nothing else.
        limit: makes a context within which a wait ends after so many seconds, without an error;
            None: limits of time are looked at between the pieces alone.
    """

    def __init__(
        self,
        run: Commands,
        connect: Callable[[SendRequest], Awaitable[AsyncUpstream | ConnectionLost]],
        sleep: Callable[[float], Awaitable[None]],
        when_closed: WhenClosed | None = None,
        scope: Callable[[], Scope] | None = None,
        limit: Limit | None = None,
    ) -> None:
        super().__init__(run, when_closed)
        self._connect = connect
        self._sleep = sleep
        self._scope = scope
        self._limit = limit
        self._waiting: Scope | None = None
        self._opened = False

    async def pieces(self) -> AsyncGenerator[Head | bytes, None]:
        """First the head, then the bytes for the caller."""
        reply: Reply = None
        try:
            while (command := self._next(reply)) is not None:
                reply = None
                match command:
                    case ReadMore():
                        if command.within_s is not None:
                            reply = await self._read_within(command.within_s())
                            continue
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
                    case SendData():  # without names in the brackets: it comes with every event
                        yield command.data
                    case StartResponse(head):
                        self._opened = True
                        yield head
                    case SendRequest():
                        await self._leave()
                        answer = await self._connected(command)
                        if answer is not None:
                            reply = self._answered(answer)
                    case Sleep(seconds):
                        await self._leave()
                        await self._unless_closed(self._sleep, seconds)
            if not self._closed:
                await self._leave()
        finally:
            await self.close()

    async def close(self) -> None:
        """End the turn and its upstream at once (C23), from any task of its loop."""
        self.end()
        if self._upstream is not None:
            await self._upstream.close()

    def end(self) -> None:
        """End the turn, and whatever is waited for; its upstream is still to be closed."""
        self._end()
        if self._waiting is not None:
            self._waiting.cancel()

    async def _connected(self, command: SendRequest) -> AsyncUpstream | ConnectionLost | None:
        """What answers a request; None where the turn is closed meanwhile."""
        if command.within_s is None or self._limit is None:
            return await self._unless_closed(self._connect, command)
        with self._limit(command.within_s()):
            return await self._unless_closed(self._connect, command)
        return late()

    async def _read_within(self, left_s: float) -> bytes | ConnectionLost:
        """The next piece; b"" at the end."""
        if left_s <= 0:
            return late()
        if self._limit is None:
            return await self._piece()
        with self._limit(left_s):
            return await self._piece()
        return late()

    async def _piece(self) -> bytes | ConnectionLost:
        upstream = self._upstream
        assert upstream is not None
        try:
            async for piece in upstream.pieces:
                if piece:
                    return piece
        except Exception as error:
            lost = upstream.lost(error)
            if lost is None:
                raise
            return lost
        return b""

    async def _unless_closed(
        self, wait: Callable[[Argument], Awaitable[Result]], argument: Argument
    ) -> Result | None:
        """What is waited for; None where the turn is closed meanwhile. Nobody can close a turn
        whose head he does not have yet."""
        if self._scope is None or not self._opened:
            return await wait(argument)
        if self._closed:
            return None
        scope = self._waiting = self._scope()
        with scope:
            try:
                return await wait(argument)
            finally:
                self._waiting = None
        return None

    async def _leave(self) -> None:
        if self._upstream is not None:
            await self._upstream.finish()
