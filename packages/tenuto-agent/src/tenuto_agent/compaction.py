"""Shortens a conversation that has become too long, and replaces what it leaves out.

It leaves out whole turns, or whole steps of the running turn, and never a call without its result.
The last rows are kept unchanged. A summary replaces the earlier ones, or a note that they are
missing if there is no summary.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tenuto_agent import loop_hints
from tenuto_agent.transcript import Assistant, Results, Row, User

KEPT_ROWS = 9
"""At most this many rows are kept: the last four steps, and the user's message before them."""

LEAST_ROWS = 3
"""A conversation with fewer rows can't be shortened."""

CHARS_PER_TOKEN = 4
"""Characters per token, if the provider reports no usage."""

RESULT_CHARS = 2_000
"""How many characters of each result the request for a summary contains."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to shorten a conversation.

    Attributes:
        left_out: the rows to leave out, which come before the others.
        kept: the rows to keep.
        task: the user's last message before the kept rows, if they begin in the middle of a turn;
            "" if they begin with a user's row.
    """

    left_out: tuple[Row, ...]
    kept: tuple[Row, ...]
    task: str

    def with_summary(self, summary: str) -> list[Row]:
        """Return the rows of the shorter conversation; `summary` is "" if there is none."""
        before = loop_hints.SUMMARY.format(summary=summary) if summary else loop_hints.NO_SUMMARY
        if self.task:
            return [User(f"{self.task}\n\n{before}"), *self.kept]
        return [User(before), Assistant(loop_hints.SUMMARY_READ), *self.kept]


def planned(rows: Sequence[Row], kept_chars: int = sys.maxsize) -> Plan | None:
    """Return how to shorten these rows; None if there are too few. At most `kept_chars` characters
    of the last rows are kept, but always the last turn or step.

    >>> rows = [User("a"), Assistant("b")] * 8 + [User("c")]
    >>> plan = planned(rows)
    >>> len(plan.left_out), len(plan.kept), plan.task
    (8, 9, '')
    """
    begins = [n for n, row in enumerate(rows) if n >= LEAST_ROWS and _may_begin(row, rows[n - 1])]
    if not begins:
        return None
    fits = (n for n in begins if len(rows) - n <= KEPT_ROWS and _chars(rows[n:]) <= kept_chars)
    cut = next(fits, begins[-1])
    left_out, kept = tuple(rows[:cut]), tuple(rows[cut:])
    if isinstance(kept[0], User):
        return Plan(left_out, kept, "")
    asked = next(row.text for row in reversed(left_out) if isinstance(row, User))
    return Plan(left_out, kept, asked)


def _may_begin(row: Row, before: Row) -> bool:
    """Return whether a turn, or a step within one, begins with this row."""
    return isinstance(row, User) or (isinstance(row, Assistant) and isinstance(before, Results))


def _chars(rows: Sequence[Row]) -> int:
    """Return roughly how many characters the rows take in a request."""
    total = 0
    for row in rows:
        match row:
            case User(text):
                total += len(text)
            case Assistant(text, calls, reasoning):
                total += len(text) + len(reasoning) + sum(len(call.arguments) for call in calls)
            case Results(results):
                total += sum(len(result.text) for result in results)
    return total


def told(rows: Sequence[Row], limit_chars: int) -> str:
    """Return the rows as a text for the summary, or the end of that text if it is too long.

    >>> told([User("Hi"), Assistant("Good day.")], 1000)
    'User: Hi\\n\\nAssistant: Good day.'
    """
    text = "\n\n".join(_told(row) for row in rows)
    return text if len(text) <= limit_chars else f"[…]\n\n{text[-limit_chars:]}"


def _told(row: Row) -> str:
    match row:
        case User(text):
            return f"User: {text}"
        case Assistant(text, calls):
            called = [f"Called {call.name} with {call.arguments[:RESULT_CHARS]}" for call in calls]
            return "\n".join([f"Assistant: {text}" if text.strip() else "Assistant:", *called])
        case Results(results):
            return "\n".join(
                f"{'Failed' if result.failed else 'Result'} of {result.name}: "
                f"{result.text[:RESULT_CHARS]}"
                for result in results
            )
