"""How far a turn of an agent may go, and the guard against endless repetition."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from tenuto.core.answer.calls import ToolCall
from tenuto.core.errors import AgentError
from tenuto.core.settings.names import refuses_unknown
from tenuto.core.settings.rule import Rule
from tenuto_agent import loop_hints
from tenuto_agent.transcript import Result


@refuses_unknown(AgentError)
@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one turn of an agent, for all its steps together.

    Attributes:
        max_steps: requests of the loop. The calls of the last one still run.
        max_output_tokens: output tokens of the turn, including recovery; after that, no further
            step begins. If the provider reports no usage, three visible characters (bytes of UTF-8)
            count as a token. 0: no limit.
        timeout_s: wall-clock seconds after which no further step or attempt begins, and tools,
            bodies and silent connections are given up. A stream that is arriving is read to its
            end. 0: no limit.
        repeated_calls: how often in a row the same call may return the same result before the agent
            tells the model (P8a). 0: no limit.
        compact_at: the share of the model's context window at which the agent shortens the
            conversation before the next step, if the window is known (H7). 0: only when it is too
            long.

    Raises:
        AgentError: a value is not allowed; the message names the limit and the allowed values.

    >>> Limits(max_steps=0)
    Traceback (most recent call last):
        ...
    tenuto.core.errors.AgentError: max_steps is 0, but it must be a whole number, 1 or more
    """

    max_steps: int = 50
    max_output_tokens: int = 0
    timeout_s: float = 0.0
    repeated_calls: int = 3
    compact_at: float = 0.8

    def __post_init__(self) -> None:
        for field in fields(self):
            value, allowed = getattr(self, field.name), _ALLOWED[field.name]
            right = type(value) is int or (allowed.kind is float and type(value) is float)
            if not right or not allowed.least <= value <= allowed.most:
                raise AgentError(f"{field.name} is {value!r}, but it must be {allowed.allowed}")


_ALLOWED = {
    "max_steps": Rule(int, 1),
    "max_output_tokens": Rule(int),
    "timeout_s": Rule(float),
    "repeated_calls": Rule(int),
    "compact_at": Rule(float, 0, 1),
}

_ENDS_AFTER = 2
"""How many further repetitions end the turn after the model was told."""


class Guard:
    """Notices calls that lead nowhere.

    Args:
        allowed: how often the same calls may return the same results before the model is told; 0:
            no limit.
    """

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self._calls: Sequence[ToolCall] = ()
        self._came: object = None
        self._times = 0

    def told(self, calls: Sequence[ToolCall], results: tuple[Result, ...]) -> tuple[Result, ...]:
        """Return the results, with a note to the model if it repeats itself."""
        pairs = zip(calls, results, strict=True)
        came = [(call.name, result.text, result.failed) for call, result in pairs]
        again = came == self._came and all(map(_alike, calls, self._calls))
        self._times = self._times + 1 if again else 1
        self._calls, self._came = calls, came
        if self._allowed and self._times == self._allowed:
            note = loop_hints.REPEATED_CALL.format(times=self._times)
            return tuple(replace(result, text=f"{result.text}\n\n{note}") for result in results)
        return results

    @property
    def stuck(self) -> bool:
        """Return whether the model continued to repeat itself after it was told."""
        return bool(self._allowed) and self._times >= self._allowed + _ENDS_AFTER


def _alike(one: ToolCall, other: ToolCall) -> bool:
    """Return whether the arguments mean the same."""
    if one.arguments == other.arguments:
        return True
    try:
        return bool(json.loads(one.arguments) == json.loads(other.arguments))
    except ValueError:
        return False
