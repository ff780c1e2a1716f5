"""How far a turn of an agent may go, and the guard against going round in circles (P8a)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from tenuto.core import hints
from tenuto.core.calls import ToolCall
from tenuto.core.errors import AgentError
from tenuto.core.rule import Rule
from tenuto.core.transcript import Result


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one turn of an agent may go; what stands here bounds all its steps together.

    Attributes:
        max_steps: requests of the loop; the last of them is still carried out.
        max_output_tokens: output tokens that the turn may use, attempts of recovery included; once
            they are used no further step begins. Where the provider tells no usage, three
            characters that can be seen (bytes of UTF-8) count as a token. 0: no limit.
        timeout_s: wall-clock seconds after which no further step or attempt begins, no tool goes
            on, no whole body is read on, and no silence of the model is waited out, though its
            connection be kept alive; a stream that is coming is read to its end. 0: no limit.
        repeated_calls: how often the same call may come to the same result, in a row, before the
            model is told so (P8a). 0: as often as it likes.
        compact_at: the share of the model's context window, as far as that is known, at which the
            conversation is shortened before the next step (H7). 0: only once it is too long.

    Raises:
        AgentError: a value is not allowed; the message names it and says what is.

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
"""So many repetitions after the model was told, the turn ends."""


class Guard:
    """Notices calls that lead nowhere.

    Args:
        allowed: how often the same calls may come to the same results before the model is told;
            0: always.
    """

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self._calls: Sequence[ToolCall] = ()
        self._came: object = None
        self._times = 0

    def told(self, calls: Sequence[ToolCall], results: tuple[Result, ...]) -> tuple[Result, ...]:
        """The results, with a word to the model where it goes round in circles."""
        pairs = zip(calls, results, strict=True)
        came = [(call.name, result.text, result.failed) for call, result in pairs]
        again = came == self._came and all(map(_alike, calls, self._calls))
        self._times = self._times + 1 if again else 1
        self._calls, self._came = calls, came
        if self._allowed and self._times == self._allowed:
            note = hints.REPEATED_CALL.format(times=self._times)
            return tuple(replace(result, text=f"{result.text}\n\n{note}") for result in results)
        return results

    @property
    def stuck(self) -> bool:
        """Whether the model went on so after it was told."""
        return bool(self._allowed) and self._times >= self._allowed + _ENDS_AFTER


def _alike(one: ToolCall, other: ToolCall) -> bool:
    """Whether the arguments mean the same."""
    if one.arguments == other.arguments:
        return True
    try:
        return bool(json.loads(one.arguments) == json.loads(other.arguments))
    except ValueError:
        return False
