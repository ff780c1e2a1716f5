"""The end of a turn that somebody wants from elsewhere, told to whatever the turn waits for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Cancellation:
    """Whether a turn shall end; `set` may be called from any thread, and again.

    >>> cancellation = Cancellation()
    >>> with cancellation.telling(lambda: print("It shall end.")):
    ...     cancellation.set()
    It shall end.
    >>> cancellation.is_set
    True
    """

    def __init__(self) -> None:
        self.is_set: bool = False
        self._lock = threading.RLock()  # a signal's handler may `set` in whatever thread holds it
        self._waiting: list[Callable[[], object]] = []

    def set(self) -> None:
        """End the turn: whoever waits is told."""
        with self._lock:
            self.is_set = True
            waiting = tuple(self._waiting)
        for tell in waiting:
            tell()

    @contextlib.contextmanager
    def telling(self, tell: Callable[[], object]) -> Iterator[None]:
        """Within it `tell` is called once the turn shall end, by the thread that wants it; at once
        where it shall already."""
        with self._lock:
            self._waiting.append(tell)
            late = self.is_set
        try:
            if late:
                tell()
            yield
        finally:
            with self._lock:
                self._waiting.remove(tell)

    @contextlib.contextmanager
    def telling_loop(self, tell: Callable[[], object]) -> Iterator[None]:
        """The same on the loop that is running."""
        loop = asyncio.get_running_loop()

        def pass_on() -> None:
            with contextlib.suppress(RuntimeError):  # it is over, and so is what waited
                loop.call_soon_threadsafe(tell)

        with self.telling(pass_on):
            yield


class TurnCancelled(Exception):  # no error: it was asked for
    """A wait ended because its turn shall end."""


class Waits:
    """Waits of a turn, one after another, each of which ends at once where the turn shall end.

    As with `asyncio.timeout` the task is cancelled and not told so. It is looked up at each wait:
    whoever iterates over a generator may do so from a new task each time.
    """

    def __init__(self, cancellation: Cancellation) -> None:
        self._cancellation = cancellation
        self._task: asyncio.Task[object] | None = None
        self._interrupted = False

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Within it `of` waits; `TurnCancelled` ends it without a word."""
        with contextlib.suppress(TurnCancelled), self._cancellation.telling_loop(self._interrupt):
            yield

    async def of(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What is asked for, once it is there.

        Raises:
            TurnCancelled: the turn shall end.
        """
        if self._cancellation.is_set:
            raise TurnCancelled
        self._task = task = asyncio.current_task()
        assert task is not None
        before = task.cancelling()
        try:
            answer = await ask()
        except asyncio.CancelledError:
            if self._taken_back(task) and task.cancelling() <= before:
                raise TurnCancelled from None
            raise
        finally:
            self._task = None
            self._taken_back(task)
        return answer

    def _interrupt(self) -> None:
        if self._task is not None and not self._interrupted:
            self._interrupted = True
            self._task.cancel()

    def _taken_back(self, task: asyncio.Task[object]) -> bool:
        """Whether the task was cancelled by us; from now on it is not."""
        was, self._interrupted = self._interrupted, False
        if was:
            task.uncancel()
        return was
