"""Runs the calls of one turn.

Theory of operation
-------------------
All calls are checked before any of them runs. Then they run in order; neighbouring calls run side
by side if all their tools allow it. A call that is refused, raises or takes too long has a failed
result, and the others continue.

`_side_by_side` runs everything that involves waiting: async tools, time limits, several calls at
once. It runs on the caller's loop, or on the background loop if the caller has none. Otherwise, a
plain function in a sync run is called directly, in the caller's own thread.

When the turn is cancelled, no further call begins, and the runner waits for as little as possible.
Calls that did not finish have no result.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tenuto.core.answer.calls import ToolCall
from tenuto_agent import loop_hints
from tenuto_agent.background import in_thread, submit
from tenuto_agent.cancellation import Cancellation
from tenuto_agent.function_tool import Failure
from tenuto_agent.jobs import Clock, Job, groups_of
from tenuto_agent.shown import RESULT_LIMIT_CHARS
from tenuto_agent.toolbox import Toolbox
from tenuto_agent.transcript import Result

_GRACE_S: Final = 1.0  # how long a cancelled async tool may clean up
_LAST_S: Final = (
    0.1  # how long a tool in a thread may still take when the turn ends; it may have ended the turn
)

Began = Callable[[ToolCall], object]
Ended = Callable[[ToolCall, Result], object]


def _nobody(*_: object) -> None:
    pass


@dataclass(slots=True)
class CallRunner:
    """Runs the calls of one turn and returns a result for each, in order.

    Args:
        toolbox: the tools.
        within_s: seconds for all calls, from now on. When they are over, running calls are
            abandoned and the others don't begin. None: no limit. If there is a limit, here or on
            its tool, a plain function runs in a thread, which is abandoned when the time is over.
        limit_chars: how many characters of one result the model sees; 0: all of them.
        began: called with each call just before it runs, but not if it is refused.
        ended: called with each call and its result as soon as there is one.
        cancellation: ends the run at once; calls that did not finish have no result.

    >>> from tenuto.core.answer.arguments import Finding
    >>> def divide(a: int, b: int) -> float:
    ...     return a / b
    >>> good = ToolCall("call_1", "divide", '{"a": 6, "b": 2}', Finding.WHOLE)
    >>> bad = ToolCall("call_2", "divide", '{"a": 6, "b": 0}', Finding.WHOLE)
    >>> for result in CallRunner(Toolbox([divide])).run([good, bad]):
    ...     print(result.call_id, result.text, result.failed)
    call_1 3.0 False
    call_2 ZeroDivisionError: division by zero True
    """

    toolbox: Toolbox
    within_s: float | None = None
    limit_chars: int = RESULT_LIMIT_CHARS
    began: Began = _nobody
    ended: Ended = _nobody
    cancellation: Cancellation = field(default_factory=Cancellation)
    _clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self._clock = Clock(self.within_s)

    def run(self, calls: Sequence[ToolCall]) -> tuple[Result, ...]:
        """Run the calls from a thread that runs no event loop.

        Raises:
            KeyboardInterrupt: passes through; async calls are cancelled.
            Exception: only what `began` and `ended` raise.
        """
        results: list[Result] = []
        for group in groups_of(self.toolbox, calls):
            if self.cancellation.is_set:
                break
            if _can_run_here(group, self._clock):
                results += map(self._here, group)
            else:
                results += self._in_background(group)
        return tuple(results)

    async def arun(self, calls: Sequence[ToolCall]) -> tuple[Result, ...]:
        """Like `run`, on the running event loop: async tools run on it, plain functions in threads.

        Raises:
            CancelledError: passes through, after the async tools were cancelled.

        >>> from tenuto.core.answer.arguments import Finding
        >>> async def greet(name: str) -> str:
        ...     return f"Good day, {name}."
        >>> call = ToolCall("call_1", "greet", '{"name": "Ada"}', Finding.WHOLE)
        >>> asyncio.run(CallRunner(Toolbox([greet])).arun([call]))[0].text
        'Good day, Ada.'
        """
        results: list[Result] = []
        for group in groups_of(self.toolbox, calls):
            if self.cancellation.is_set:
                break
            self._begin(group)
            results += _without_interrupt(await self._side_by_side(group, self.ended))
        return tuple(results)

    def _begin(self, group: Sequence[Job]) -> None:
        for job in group:
            if job.tool and not self._clock.is_over():
                self.began(job.call)

    # --- one call

    def _here(self, job: Job) -> Result:
        if job.tool:
            self.began(job.call)
        value = _called(job.work)
        if inspect.isawaitable(value):
            value = _called(submit(_awaited(value)).result)
        if isinstance(value, KeyboardInterrupt):
            raise value
        result = job.result(value, self.limit_chars)
        self.ended(job.call, result)
        return result

    # --- several calls, or one that involves waiting

    def _in_background(self, group: Sequence[Job]) -> list[Result]:
        """Run `_side_by_side` on the background loop, and call `ended` in the caller's own
        thread."""
        self._begin(group)
        told: queue.SimpleQueue[tuple[ToolCall, Result] | None] = queue.SimpleQueue()
        running = submit(self._side_by_side(group, lambda *pair: told.put(pair)))
        try:
            running.add_done_callback(lambda _: told.put(None))
            while (pair := told.get()) is not None:
                self.ended(*pair)
        except BaseException:
            running.cancel()
            raise
        return _without_interrupt(running.result())

    async def _side_by_side(
        self, group: Sequence[Job], ended: Ended
    ) -> list[Result | KeyboardInterrupt | None]:
        stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def tell() -> None:
            if not stopped.done():
                stopped.set_result(None)

        async def run(job: Job) -> Result | KeyboardInterrupt | None:
            value = await _value(job, self._clock, stopped)
            if value is _LEFT:
                return None
            if isinstance(value, KeyboardInterrupt):
                return value
            result = job.result(value, self.limit_chars)
            ended(job.call, result)
            return result

        running = [asyncio.ensure_future(run(job)) for job in group]
        try:
            with self.cancellation.telling_loop(tell):
                return list(await asyncio.gather(*running))
        finally:  # if `ended` raised, the other calls are still running
            late = [task for task in running if not task.done() and task.cancel()]
            if late:
                await asyncio.wait(late)


def _can_run_here(group: Sequence[Job], clock: Clock) -> bool:
    """Return whether the calls involve no waiting: at most one runs, a plain function without a
    time limit."""
    running = [job for job in group if job.tool]
    if len(running) > 1:
        return False
    return all(not j.is_async and j.tool and clock.limit_s(j.tool) is None for j in running)


def _called(work: Callable[[], object]) -> object:
    """Return what the work returns or raises. A tool may raise anything (T15), even SystemExit.
    Exceptions become values because a future refuses some of them."""
    try:
        return work()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001
        return error


async def _awaited(value: Any) -> object:
    """Like `_called`, for an awaitable. Here KeyboardInterrupt is a value, too: if raised, it would
    end the loop itself."""
    try:
        return await value
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001
        return error


def _without_interrupt(results: Sequence[Result | KeyboardInterrupt | None]) -> list[Result]:
    for each in results:
        if isinstance(each, KeyboardInterrupt):
            raise each
    return [each for each in results if isinstance(each, Result)]


_LEFT: Final = object()  # the value of a call that did not finish before its turn was cancelled


async def _value(job: Job, clock: Clock, stopped: asyncio.Future[None]) -> object:
    """Return what the tool returned or raised, or a `Failure` if it ran out of time."""
    if job.tool is None:
        return job.work()
    if clock.is_over():
        return Failure(loop_hints.NO_TIME_LEFT)
    limit_s = clock.limit_s(job.tool)
    task = asyncio.ensure_future(_performed(job))
    try:
        await asyncio.wait((task, stopped), timeout=limit_s, return_when=FIRST_COMPLETED)
        if stopped.done() and not job.is_async:
            await asyncio.wait((task,), timeout=_LAST_S)
    except asyncio.CancelledError:
        await _end(task)
        raise
    if stopped.done():
        if not task.done():
            await _end(task)
        return _LEFT if not task.done() or task.cancelled() else task.result()
    if not task.done():
        await _end(task)
        text = loop_hints.TOOL_TIMED_OUT.format(
            name=job.call.name, timeout_s=round(limit_s or 0, 2)
        )
        is_over = job.is_async and task.done() and not job.tool.remote
        return Failure(text if is_over else text + loop_hints.TOOL_GOES_ON)
    if task.cancelled():  # the tool did that itself: nothing else cancels the task
        return asyncio.CancelledError()
    return task.result()


async def _end(task: asyncio.Future[object]) -> None:
    """Cancel the task and give it a limited time to clean up."""
    task.cancel()
    await asyncio.wait((task,), timeout=_GRACE_S)


async def _performed(job: Job) -> object:
    if job.is_async:
        value = _called(job.work)
    else:
        value = await _awaited(asyncio.wrap_future(in_thread(lambda: _called(job.work))))
    return await _awaited(value) if inspect.isawaitable(value) else value
