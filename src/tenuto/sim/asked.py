"""What a request asks for, in words that no wire owns: rows, tools, budget.

A tool result is a row of its own here, also where a wire carries it inside of a user message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tenuto.sim import prose


@dataclass(frozen=True, slots=True)
class Row:
    """One message: who speaks, and its text.

    `resumes` says that the provider goes on from here by itself: a paused turn that was sent back.
    """

    role: Any
    text: str = ""
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `budget_tokens` is None where none is set; `prefill` where the server says."""

    model: str
    rows: tuple[Row, ...]
    counted: str = ""
    """The text whose length gives the input tokens."""
    tools: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Name and schema of each attached function."""
    forced: bool = False
    """A tool must be called."""
    budget_tokens: int | None = None
    stream: bool = False
    choices: int = 1
    include_usage: bool = False
    response_format: Mapping[str, Any] | None = None
    """As Chat Completions spells it."""
    thinking: bool = False
    """The answer begins with a signed chain of thought."""
    stop_sequences: tuple[str, ...] = ()
    prefill: str | None = None
    echoed: str = ""
    """What the answer is to repeat before its own text."""
    forms: frozenset[str] = frozenset()
    """How the answer is to be written, on wires where requests say so, in words of the wire."""


def first_prompt(rows: Sequence[Row]) -> str:
    """Return the text of the first user message, from which all answers are made.

    >>> first_prompt([Row("system", "s"), Row("user", "u")])
    'u'
    """
    return next((row.text for row in rows if row.role == "user"), "")


def answers_result(rows: Sequence[Row]) -> bool:
    """Return whether the text after a tool result is still to be said, or to be ended.

    A hint that follows an empty or a cut answer does not begin another turn.

    >>> ask = Row("user", "x")
    >>> answers_result([ask]), answers_result([ask, Row("tool", "ok"), ask])
    (False, True)
    """
    last = max((i for i, row in enumerate(rows) if row.role == "tool"), default=-1)
    whole = prose.prose(first_prompt(rows))
    return last >= 0 and not any(
        row.role == "assistant" and row.text.strip() == whole for row in rows[last + 1 :]
    )
