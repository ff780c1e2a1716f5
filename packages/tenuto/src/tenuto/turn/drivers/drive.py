"""The drivers: take a command, perform it, return the reply. They decide nothing, and differ only
in how they wait: `_Driver` has what follows from a command and from closing.

A driver owns the response that is being read (`_upstream`), and knows whether anybody still wants
the turn (`_closed`, `_all_said`). The turn itself only changes inside `_next`.

A driver may be closed from elsewhere while a caller waits for its pieces (by a stop button, another
task, or the garbage collector, which closes generators in any order). So closing is separate from
the iterator, and harmless if repeated. A caller that then still asks for pieces gets an exception,
unless everything was sent. Without it, a turn that was closed early would look complete.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

from tenuto.turn.drivers.alarm import Alarm
from tenuto.turn.drivers.commands import (
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
    Unfinished,
    timed_out,
)


class _Response(Protocol):
    """One response of the provider. Its `pieces` are its bytes as they come. They are an iterator
    and not a method, since each layer less counts for every event."""

    @property
    def head(self) -> Head:
        """Status and headers."""
        ...

    def lost(self, error: Exception) -> ConnectionLost | None:
        """Return what an exception of `pieces` means; None if it is not one of the transport's."""
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
        """Release the connection, if that takes no time, and close: nothing more is wanted."""

    async def close(self) -> None:
        """Stop reading; may be called twice."""


Argument = TypeVar("Argument")
Result = TypeVar("Result")
_Answer = TypeVar("_Answer", Upstream, AsyncUpstream)

Broken = Callable[[str], Exception]
"""Makes the exception that the caller's transport raises if a stream breaks, with this message."""


def _ignore(_: bytes) -> None:
    """Return None: every piece is a reply."""


class _Driver(Generic[_Answer]):
    """What both drivers share: the turn, its state, and what follows from each command.

    Args:
        run, broken: as for `Drive`.
    """

    def __init__(self, run: Commands, broken: Broken | None) -> None:
        self._run = run
        self._broken = broken
        self._all_said = False
        self._closed = False
        self._upstream: _Answer | None = None

    def _next(self, reply: Reply) -> Command | None:
        """Send the turn a reply. Return its next command; None if the turn is over.

        Raises:
            Exception: the turn passes on an error, or was closed before everything was sent.
        """
        if not self._closed:
            try:
                command = self._run.send(reply)
            except StopIteration:
                if not self._closed:  # otherwise the run was closed
                    return None
            except ValueError:
                if not self._closed:  # otherwise another thread is inside the run, closing it
                    raise
            else:
                if isinstance(command, SendData):
                    self._all_said = self._all_said or command.last
                elif isinstance(command, RaiseError):
                    raise self._raised(command.error)
                return command
        if self._broken is not None and not self._all_said:
            raise self._broken("the turn was closed")
        return None

    def _raised(self, error: Exception) -> Exception:
        if self._broken is not None and isinstance(error, Unfinished):
            return self._broken(str(error))
        return error

    def _answered(self, answer: _Answer | ConnectionLost) -> Reply:
        """Take the answer to a request. Return the reply for the turn."""
        if isinstance(answer, ConnectionLost):
            self._upstream = None
            return answer
        self._upstream = answer
        return answer.head

    def _end(self) -> None:
        """End the turn; its upstream is still to be closed."""
        self._closed = True
        # If another thread or an event's listener is inside the run, it closes the run as soon as
        # it is out.
        with contextlib.suppress(ValueError):
            self._run.close()


class Drive(_Driver[Upstream]):
    """One turn for callers that block. `pieces()` is iterated once.

    Args:
        run: the turn.
        connect: sends one of its requests.
        broken: makes the exception for a turn that can't be finished, and for a caller that wants
            more of a turn that was closed before everything was sent. None: the latter's pieces
            just end, for a caller that closes only what it reads itself.
        wake: ends a wait, from another thread. It is called with the response that is read, or None
            during a wait for the head, and with the identifier of the waiting thread. None: nothing
            can end a wait, so limits of time are only checked between the pieces.
    """

    def __init__(
        self,
        run: Commands,
        connect: Callable[[SendRequest], Upstream | ConnectionLost],
        broken: Broken | None = None,
        wake: Callable[[Upstream | None, int], object] | None = None,
    ) -> None:
        super().__init__(run, broken)
        self._connect = connect
        self._wake = wake
        self._limit: Alarm | None = None
        self._alarm: threading.Event | None = None

    @property
    def closed(self) -> bool:
        """Whether nobody wants more of it."""
        return self._closed

    def pieces(self) -> Generator[Head | bytes, None, None]:
        """Yield the head, then the bytes for the caller."""
        reply: Reply = None
        try:
            while (command := self._next(reply)) is not None:
                reply = None
                match command:
                    case ReadMore():
                        if command.within_s is not None:
                            reply = self._read_within(command.within_s())
                            continue
                        upstream, take = self._upstream, command.take or _ignore
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
                    case SendData():  # no names in the parentheses: it comes with every event
                        yield command.data
                    case StartResponse(head):
                        yield head
                    case SendRequest():
                        self._leave()
                        if not self._closed:  # by a listener of an event, or by another thread
                            reply = self._answered(self._connected(command))
                    case Sleep(seconds):
                        self._leave()
                        self._sleep(seconds)
        finally:
            self.close()

    def stop(self) -> None:
        """End the upstream and any wait, from any thread. The thread that iterates over the pieces
        then ends the turn, and has everything received so far."""
        self._closed = True
        if self._alarm is not None:
            self._alarm.set()
        self._leave()

    def close(self) -> None:
        """End the turn and its upstream at once (C23), from any thread. If another thread waits in
        a read, the read ends with it if closing the upstream wakes that thread; otherwise with the
        next bytes, or the read's timeout."""
        self._closed = True
        if self._alarm is not None:
            self._alarm.set()
        self._end()
        self._leave()
        if self._limit is not None:
            self._limit.close()
            self._limit = None  # it refers to this driver

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
        return timed_out() if rang else answer

    def _read_within(self, left_s: float) -> bytes | ConnectionLost:
        """Return the next piece; b"" at the end."""
        upstream = self._upstream
        assert upstream is not None
        if left_s <= 0:
            return timed_out()
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
        return timed_out() if rang else reply

    def _alarm_in(self, seconds: float) -> Alarm:
        if self._limit is None:
            self._limit = Alarm(self._ring)
        self._limit.set(seconds)
        return self._limit

    def _ring(self, thread: int) -> None:
        if self._wake is not None:
            self._wake(self._upstream, thread)

    def _sleep(self, seconds: float) -> None:
        # Made before the flag is checked: a thread that closes meanwhile sees one of the two.
        self._alarm = threading.Event()
        if not self._closed:
            self._alarm.wait(seconds)

    def _leave(self) -> None:
        if self._upstream is not None:
            self._upstream.close()


class Scope(Protocol):
    """The interface of `anyio.CancelScope`: a wait within it can be cancelled."""

    def __enter__(self) -> Scope: ...

    def __exit__(self, kind: Any, error: Any, trace: Any, /) -> bool: ...

    def cancel(self) -> None:
        """End the wait. The scope swallows the cancellation that ends it."""


Limit = Callable[[float], AbstractContextManager[object]]
"""Like `anyio.move_on_after`: a wait within it ends after so many seconds, without an error."""


class AsyncDrive(_Driver[AsyncUpstream]):
    """The same for async callers.

    Args:
        run, connect, broken: as for `Drive`.
        sleep: the sleep of their event loop, in seconds.
        scope: makes a cancel scope of that loop. None: only the end of the waiting task ends a
            wait.
        limit: makes a context in which a wait ends after so many seconds, without an error. None:
            limits of time are only checked between the pieces.
    """

    def __init__(
        self,
        run: Commands,
        connect: Callable[[SendRequest], Awaitable[AsyncUpstream | ConnectionLost]],
        sleep: Callable[[float], Awaitable[None]],
        broken: Broken | None = None,
        scope: Callable[[], Scope] | None = None,
        limit: Limit | None = None,
    ) -> None:
        super().__init__(run, broken)
        self._connect = connect
        self._sleep = sleep
        self._scope = scope
        self._limit = limit
        self._waiting: Scope | None = None
        self._opened = False

    async def pieces(self) -> AsyncGenerator[Head | bytes, None]:
        """Yield the head, then the bytes for the caller."""
        reply: Reply = None
        try:
            while (command := self._next(reply)) is not None:
                reply = None
                match command:
                    case ReadMore():
                        if command.within_s is not None:
                            reply = await self._read_within(command.within_s())
                            continue
                        upstream, take = self._upstream, command.take or _ignore
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
                    case SendData():  # no names in the parentheses: it comes with every event
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
        """End the turn and any wait; its upstream is still to be closed."""
        self._end()
        if self._waiting is not None:
            self._waiting.cancel()

    async def _connected(self, command: SendRequest) -> AsyncUpstream | ConnectionLost | None:
        """Return the answer to a request; None if the turn is closed meanwhile."""
        if command.within_s is None or self._limit is None:
            return await self._unless_closed(self._connect, command)
        with self._limit(command.within_s()):
            return await self._unless_closed(self._connect, command)
        return timed_out()

    async def _read_within(self, left_s: float) -> bytes | ConnectionLost:
        """Return the next piece; b"" at the end."""
        if left_s <= 0:
            return timed_out()
        if self._limit is None:
            return await self._piece()
        with self._limit(left_s):
            return await self._piece()
        return timed_out()

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
        """Return the result of a wait; None if the turn is closed meanwhile. Nobody can close a
        turn before they have its head."""
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
