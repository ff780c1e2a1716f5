"""Ends a turn from another thread or task, whatever the turn is waiting for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Cancellation:
    """Whether a turn is to end. `set` may be called from any thread, and repeatedly.

    >>> cancellation = Cancellation()
    >>> with cancellation.telling(lambda: print("It shall end.")):
    ...     cancellation.set()
    It shall end.
    >>> cancellation.is_set
    True
    """

    def __init__(self) -> None:
        self.is_set: bool = False
        self._lock = threading.RLock()  # a signal handler may call `set` in the same thread
        self._waiting: list[Callable[[], object]] = []

    def set(self) -> None:
        """End the turn, and notify everything that waits."""
        with self._lock:
            self.is_set = True
            waiting = tuple(self._waiting)
        for tell in waiting:
            tell()

    @contextlib.contextmanager
    def telling(self, tell: Callable[[], object]) -> Iterator[None]:
        """Within this context, call `tell` when the turn is to end, in the thread that ends it, or
        at once if it has ended already."""
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
        """Do the same on the running event loop."""
        loop = asyncio.get_running_loop()

        def pass_on() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, so nothing waits
                loop.call_soon_threadsafe(tell)

        with self.telling(pass_on):
            yield


class TurnCancelled(Exception):  # not an error, since the caller wanted it
    """A wait ended because its turn is to end."""


class Waits:
    """Waits of a turn, one after another, each of which ends at once when the turn is to end.

    As in `asyncio.timeout`, the task is cancelled, and the cancellation doesn't reach the caller.
    The task is looked up at each wait, because each step of a generator may run in a new task.
    """

    def __init__(self, cancellation: Cancellation) -> None:
        self._cancellation = cancellation
        self._task: asyncio.Task[object] | None = None
        self._interrupted = False

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Within this context, `of` waits; `TurnCancelled` ends the context silently."""
        with contextlib.suppress(TurnCancelled), self._cancellation.telling_loop(self._interrupt):
            yield

    async def of(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the awaited result.

        Raises:
            TurnCancelled: the turn is to end.
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
        """Return whether this object cancelled the task, and undo the cancellation."""
        was, self._interrupted = self._interrupted, False
        if was:
            task.uncancel()
        return was
