"""The loop's guard (P8a): the same call with the same result, again and again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tenuto.core import hints
from tenuto.core.calls import ToolCall
from tenuto.core.transcript import Result

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
