"""The calls of one turn as jobs: each is checked, and grouped with those that may run in
parallel."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tenuto.core.answer.calls import ToolCall
from tenuto_agent import loop_hints
from tenuto_agent.function_tool import Failure, Tool
from tenuto_agent.shown import message_of, shown, unread
from tenuto_agent.toolbox import Toolbox, unfit
from tenuto_agent.transcript import Result

MOST_AT_ONCE: Final = 16
"""At most this many calls run in parallel."""


@dataclass(frozen=True, slots=True)
class Job:
    """A call that may run, or one that was rejected.

    Attributes:
        call: the model's call.
        tool: the tool to run; None: the call was rejected.
        keywords: the arguments as the tool's function takes them.
        refused: what the model is told about a rejected call.
    """

    call: ToolCall
    tool: Tool | None = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    refused: Failure | None = None

    @property
    def is_concurrent(self) -> bool:
        return self.tool is None or self.tool.concurrent

    @property
    def is_async(self) -> bool:
        """Return whether calling the function returns an awaitable without doing any work."""
        if self.tool is None:
            return False
        function = self.tool.function
        while isinstance(function, functools.partial):
            function = function.func
        called = getattr(function, "__call__", None)  # noqa: B004  # an object with an async one
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)

    def work(self) -> object:
        """Call the function, or return why it can't be called."""
        if self.tool is None:
            return self.refused
        return self.tool.function(**self.keywords)

    def result(self, value: object, limit_chars: int) -> Result:
        """Return the result for what the tool returned or raised."""
        if kind := unread(value):
            value = Failure(loop_hints.TOOL_GAVE_NO_VALUE.format(name=self.call.name, kind=kind))
        failed = isinstance(value, Failure | BaseException)
        text = shown(value.text if isinstance(value, Failure) else value, limit_chars)
        return Result(self.call.id, self.call.name, text, failed)


def groups_of(toolbox: Toolbox, calls: Sequence[ToolCall]) -> Iterator[list[Job]]:
    """Yield the calls in order, in groups that may run in parallel."""
    group: list[Job] = []
    for job in [_checked(toolbox, call) for call in calls]:
        together = all(each.is_concurrent for each in (*group, job))
        if group and (not together or len(group) == MOST_AT_ONCE):
            yield group
            group = []
        group.append(job)
    if group:
        yield group


def _checked(toolbox: Toolbox, call: ToolCall) -> Job:
    arguments = toolbox.check(call)
    if isinstance(arguments, Failure):
        return Job(call, refused=arguments)
    tool = toolbox[call.name]
    convert: Callable[[Mapping[str, Any]], dict[str, Any]] = tool.convert
    try:
        return Job(call, tool, convert(arguments))
    except Exception as error:  # noqa: BLE001  # types convert themselves and may raise anything
        fault = message_of(error) if isinstance(error, ValueError) else shown(error)
        return Job(call, refused=unfit(call.name, [fault]))


class Clock:
    """The time that is left for all calls together.

    >>> Clock(None).is_over(), Clock(0).is_over()
    (False, True)
    """

    def __init__(self, within_s: float | None) -> None:
        self._end = None if within_s is None else time.monotonic() + within_s

    def is_over(self) -> bool:
        """Return whether no time is left to begin anything."""
        return self._end is not None and time.monotonic() >= self._end

    def limit_s(self, tool: Tool) -> float | None:
        """Return the seconds that a call may take if it begins now; None: no limit."""
        left = [] if self._end is None else [max(0.0, self._end - time.monotonic())]
        own = [] if tool.timeout_s is None else [tool.timeout_s]
        return min(left + own, default=None)
