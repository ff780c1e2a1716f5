"""`Report`: how a turn ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenuto.core.answer.signals import Usage
from tenuto.core.answer.stop import Stop, printable
from tenuto.core.events.advice import advice_on

_STYLES = {"complete": "green", "partial": "yellow", "failed": "red"}
"""The colour of each status in rich."""


@dataclass(frozen=True, slots=True)
class Report:
    """How a turn ended (P1).

    A report renders as text (`str`), as plain values for JSON (`as_dict`), and in rich.

    Attributes:
        status: a value of `Status`: "complete", "partial" or "failed"; "" if Tenuto passed the
            answer on unread.
        reason: why the turn ended, in one word; "completed" for a complete turn.
        stop: the last response's stop, or None without a response. An unknown value is shortened,
            and holds none of the request's secrets.
        usage: the tokens of each attempt, in order; None for one that the provider did not count.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            for a complete turn. "stop": another request can't help until a person has changed
            something, such as a key or a base URL.
        rungs: the ids of the rungs that were taken, in order.
        left_out: keys of the caller's request that Tenuto left out because the provider rejected
            them.
        turn: the turn's id, which its events share; "" if there is none. Comparing reports ignores
            it.
        overridden: what the policy's `decide` last chose instead: the id of a rung, or "stop"; ""
            if it always agreed.
        never_came: the names of the tools that the model began to call, and whose calls never
            came. The others of the same message are in the answer.

    >>> report = Report("complete", "completed", None, (Usage(9, 4), Usage(13, 2)), "none")
    >>> print(report)
    complete: completed
    2 attempts, 22 input tokens, 6 output tokens
    """

    status: str
    reason: str
    stop: Stop | None
    usage: tuple[Usage | None, ...]
    suggestion: str
    rungs: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    turn: str = field(default="", compare=False)
    overridden: str = ""
    never_came: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """The number of requests that were answered, or failed. One that the caller left before its
        end does not count."""
        return len(self.usage)

    @property
    def advice(self) -> str:
        """One sentence on what may help; "" if nothing is needed."""
        return advice_on(self.reason, self.stop.detail if self.stop is not None else None)

    @property
    def input_tokens(self) -> int | None:
        """Input tokens of all attempts that the provider counted; None if it counted none."""
        return _sum([u.input_tokens for u in self.usage if u is not None])

    @property
    def output_tokens(self) -> int | None:
        """Output tokens of all attempts that the provider counted; None if it counted none."""
        return _sum([u.output_tokens for u in self.usage if u is not None])

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON.

        `stop` is None or an object of `Stop.as_dict`. `usage` has an object for each attempt, or
        None if the provider did not count it. Unknown numbers are None.

        >>> told = Report("failed", "empty_output", None, (None,), "retry", turn="7f").as_dict()
        >>> told["turn"], told["attempts"], told["output_tokens"], told["advice"]
        ('7f', 1, None, 'Try again, or say the request in other words.')
        """
        return {
            "turn": self.turn,
            "status": self.status,
            "reason": self.reason,
            "stop": self.stop.as_dict() if self.stop is not None else None,
            "attempts": self.attempts,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usage": [_counts(usage) for usage in self.usage],
            "rungs": list(self.rungs),
            "left_out": list(self.left_out),
            "overridden": self.overridden,
            "never_came": list(self.never_came),
            "suggestion": self.suggestion,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        return "\n".join(line for line in self._lines().values() if line)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Render the same lines in rich, the first in the colour of its status. They are made with
        the console that is passed in, so that this module does not import rich."""
        styles = {"ended": _STYLES.get(self.status, "")}
        for name, line in self._lines().items():
            if line:
                yield console.render_str(line, style=styles.get(name, ""), markup=False)

    def _lines(self) -> dict[str, str]:
        """Return the lines that a person reads; "" for those that have nothing to say."""
        status = self.status or "not read"
        ended = f"{status}: {self.reason.replace('_', ' ')}"
        stop = self.stop
        if stop is not None and stop.raw is not None:
            ended += f" (stop {printable(stop.raw)})"
        elif stop is not None:
            ended += f" (stop {stop.reason.value})"
        counts = [(self.attempts, "attempt")]
        tokens = (self.input_tokens, "input token"), (self.output_tokens, "output token")
        counts += [(n, word) for n, word in tokens if n is not None]
        spent = ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts)
        return {"ended": ended, "spent": spent, "advice": self.advice}


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _counts(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
