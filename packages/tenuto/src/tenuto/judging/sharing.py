"""Share tasks among processes, and return what each makes of them as it comes.

Theory of operation
-------------------
A process gets a task, sends any number of results, and then gets the next one. So nothing that is
finished waits for a long task, and a process that the system ends, as it does when memory runs out,
loses its own task alone. multiprocessing's pools wait for that task for ever.

Ctrl-C is for the process that started the others: it blocks SIGINT while it starts them, and they
inherit that.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Final, NamedTuple


class Lost(NamedTuple):
    """The process that worked at a task has ended."""


class _Failed(NamedTuple):
    error: Exception


_DONE: Final = None


def shared(
    tasks: Sequence[Any], processes: int, work: Callable[[Any], Iterator[Any]], preload: str
) -> Iterator[tuple[int, Any]]:
    """Return the number of a task and one of its results, as they come. Behind the last of a task,
    None comes in place of a result; if its process has ended, `Lost` comes before.

    Args:
        tasks: what is to be done.
        processes: how many to use at most.
        work: what a process does with a task. It is sent to each process once.
        preload: the module that all of them need.
    """
    context = _context(preload)
    left = enumerate(tasks)
    working: dict[Connection, tuple[Any, int]] = {}
    try:
        for _ in range(min(processes, len(tasks))):
            _start(context, work, left, working)
        while working:
            for one in wait(list(working)):
                connection: Any = one
                process, number = working[connection]
                try:
                    result = connection.recv()
                except (EOFError, OSError):
                    del working[connection]
                    process.join()
                    yield number, Lost()
                    yield number, _DONE
                    _start(context, work, left, working)
                    continue
                if isinstance(result, _Failed):
                    raise result.error
                yield number, result
                if result is _DONE and not _give(connection, process, left, working):
                    del working[connection]
                    connection.close()
                    process.join()
    finally:
        for process, _ in working.values():
            process.terminate()
            process.join()


def _start(context: Any, work: Any, left: Iterator[Any], working: dict[Any, Any]) -> None:
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True)
    with _uninterrupted():
        process.start()
    theirs.close()
    if not _give(ours, process, left, working):
        ours.close()


def _give(connection: Any, process: Any, left: Iterator[Any], working: dict[Any, Any]) -> bool:
    """Give the next task to a process, and return whether there was one."""
    found = next(left, None)
    if found is None:
        return False
    number, task = found
    working[connection] = (process, number)
    with suppress(OSError):  # it has ended; told when its results are read
        connection.send(task)
    return True


def _serve(connection: Connection, work: Callable[[Any], Iterator[Any]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, ConnectionError):  # there are no more tasks, or nobody wants them
        while True:
            task = connection.recv()
            try:
                for result in work(task):
                    connection.send(result)
            except ConnectionError:
                raise
            except Exception as error:  # noqa: BLE001 - raised where the results are read
                connection.send(_Failed(error))
            connection.send(_DONE)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block SIGINT, where the system can, so that processes that start inherit that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context(preload: str) -> multiprocessing.context.BaseContext:
    """Return how processes are started: from one that has imported the module, where the system can
    do that. Elsewhere each imports it again."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    resource_tracker.ensure_running()  # it would unblock SIGINT when it starts
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", preload])
    return context
