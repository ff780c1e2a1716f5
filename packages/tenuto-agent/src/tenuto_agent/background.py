"""Work in the background: an event loop, and threads that need not be waited for.

Without a running loop, an async tool needs one. It must be the same loop for all calls, because
clients that a tool keeps (HTTP pools, sessions with servers) are bound to the loop of their first
use. So one loop runs in a thread of its own from the first use until the process ends.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

T = TypeVar("T")

_END_S: Final = 2.0  # how long running tasks may clean up when the process ends


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine on the loop in the background. Cancelling the future cancels the coroutine.

    >>> async def answer():
    ...     return 42
    >>> submit(answer()).result()
    42
    """
    return asyncio.run_coroutine_threadsafe(work, _loop_not_of_this_thread())


def in_thread(function: Callable[[], T]) -> Future[T]:
    """Call a function in a thread of its own, with the current context variables.

    A thread that doesn't end blocks neither the caller nor the process, which can ignore its
    future.

    >>> in_thread(lambda: 6 * 7).result()
    42
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a thread can't be stopped, so the future can't either
    context = contextvars.copy_context()

    def work() -> None:
        try:
            value = context.run(function)
        except BaseException as error:  # noqa: BLE001  # raised to the caller by the future
            future.set_exception(error)
        else:
            future.set_result(value)

    threading.Thread(target=work, name="tenuto-tool", daemon=True).start()
    return future


class _Background:
    """A loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="tenuto-loop", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def end(self) -> None:
        try:
            asyncio.run_coroutine_threadsafe(_cancel_others(), self.loop).result(_END_S)
        except TimeoutError:
            return  # leave it, because the process is ending
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(_END_S)
        if not self.thread.is_alive():
            self.loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


_running: list[_Background] = []
_lock = threading.Lock()


def _loop_not_of_this_thread() -> asyncio.AbstractEventLoop:
    """Return the first loop. If a tool on that loop runs an agent and waits, return the next one,
    because the tool's own loop is blocked."""
    here = threading.current_thread()
    with _lock:
        free = next((each for each in _running if each.thread is not here), None)
        if free is None:
            free = _Background()
            _running.append(free)
    return free.loop


def _forget() -> None:
    """Start over in a child process, which doesn't have its parent's threads."""
    global _lock  # noqa: PLW0603  # another thread may have held it while the process was forked
    _lock = threading.Lock()
    _running.clear()


@atexit.register
def _end() -> None:
    for each in _running:
        each.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
