"""Actions: what to do next, and the edits of the caller's own request that it takes.

An edit is an instruction to a wire, never a rendered request: the wire applies it to the JSON that
the caller sent and leaves every other byte alone. Edits are never stacked over attempts; each
action names all of them, relative to the caller's request (T10).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tenuto.core.calls import ToolCall
from tenuto.core.outcome import Outcome

Content = tuple[Mapping[str, Any], ...]
"""What a model said in the wire's own form, part by part, for wires that want it back so; the
machine never looks into it. () on the others."""


@dataclass(frozen=True, slots=True)
class AppendAssistant:
    """Append what the model has said. `prefill`: as the beginning of its own answer, in the wire's
    own way; the model then goes on exactly at its end. Never blank, never ends in white space.
    `reasoning`: what led to it, for providers that want it back (C20); the others never see it.
    `content`: the same with all that is no text, for wires that keep that."""

    text: str
    prefill: bool = False
    reasoning: str = ""
    content: Content = ()


@dataclass(frozen=True, slots=True)
class AppendReasoning:
    """Append what the model has thought as the beginning of its own answer, so that it goes on with
    the answer itself (E4). It has thought enough: reasoning is turned off."""

    reasoning: str


@dataclass(frozen=True, slots=True)
class AppendContent:
    """Append what the model has said, verbatim, as the wire wants a paused turn back (C26)."""

    content: Content


@dataclass(frozen=True, slots=True)
class AppendUser:
    """Append one user row that holds a hint. `for_call`: it asks for a call, not for more text."""

    text: str
    for_call: bool = False


@dataclass(frozen=True, slots=True)
class AppendCalls:
    """Append the model's calls in a valid form, each answered by a result of its own. `failed`:
    which of the results say that their call failed; (): all do."""

    text: str
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]
    reasoning: str = ""
    content: Content = ()
    failed: tuple[bool, ...] = ()

    @property
    def answers(self) -> tuple[tuple[ToolCall, str, bool], ...]:
        """Each call with the text of its result, and whether it failed."""
        failed = self.failed or (True,) * len(self.calls)
        return tuple(zip(self.calls, self.results, failed, strict=True))


@dataclass(frozen=True, slots=True)
class SetOutputLimit:
    """Ask for at most this many output tokens, in whichever key the request uses."""

    tokens: int


@dataclass(frozen=True, slots=True)
class LowerReasoning:
    """Ask for the least reasoning that the wire's knob allows."""


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """Take the output constraint (JSON mode, schema) away: the rest of a document is none."""


@dataclass(frozen=True, slots=True)
class DropKeys:
    """Leave out keys that the provider rejects; the answer is the same without them (H5)."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FreeToolChoice:
    """Turn a forced tool choice into a free one, so that text can be continued (C28a)."""


Edit = (
    AppendAssistant
    | AppendReasoning
    | AppendContent
    | AppendUser
    | AppendCalls
    | SetOutputLimit
    | LowerReasoning
    | DropConstraint
    | DropKeys
    | FreeToolChoice
)


def holds_prefill(edits: Iterable[Edit]) -> bool:
    """Whether a request with these edits ends in the beginning of the model's own answer.

    >>> holds_prefill([AppendAssistant("Half", prefill=True)]), holds_prefill([AppendUser("Go on")])
    (True, False)
    """
    return any(
        isinstance(edit, AppendReasoning) or (isinstance(edit, AppendAssistant) and edit.prefill)
        for edit in edits
    )


def reasoning_in(edits: Iterable[Edit]) -> str:
    """The reasoning that a request with these edits goes on from, "" where it does from none.

    >>> reasoning_in([AppendReasoning("Hm")]), reasoning_in([AppendUser("Go on")])
    ('Hm', '')
    """
    return next((edit.reasoning for edit in edits if isinstance(edit, AppendReasoning)), "")


class Status(StrEnum):
    """How a turn ended: with the whole answer, with a part of it, or with nothing usable (P1)."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


class Recovery(StrEnum):
    """What kind of recovery a request belongs to; events and reports are told apart by it."""

    CONTINUATION = "continuation"
    TOOL_REPAIR = "tool_repair"
    EMPTY = "empty"
    RETRY = "retry"
    PAUSE = "pause"
    REQUEST_REPAIR = "request_repair"


@dataclass(frozen=True, slots=True)
class Send:
    """Send the caller's request with these edits, after waiting.

    Attributes:
        edits: all edits of this request; none: the request as the caller sent it.
        rung: the id of the rung that decided.
        recovery: what kind of recovery it is.
        wait_s: seconds to wait before, 0 for none.
        told: whether the provider named that wait: it is kept as it is.
        overridden: what the policy's `decide` chose in place of the table, "" where nothing.
    """

    edits: tuple[Edit, ...]
    rung: str
    recovery: Recovery
    wait_s: float = 0.0
    told: bool = False
    overridden: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """End the turn.

    Attributes:
        status: complete, partial or failed.
        reason: one word: why it ended (`completed`, `retry_limit`, `output_cap`, …).
        shown: the outcome by which the caller sees it (P1a); it differs from the last response's
            where an earlier cut is the truth about the text that is kept.
        rung: the id of the rung that decided, "" where the ladder was spent.
        whole_calls_only: True where the calls that may run are handed on without the others (T3).
        as_received: True where the last response is the truth, however it would show otherwise.
        without_stop: True where the caller sees no stop, since none came (S3a).
        overridden: what the policy's `decide` chose in place of the table, "" where nothing.
    """

    status: Status
    reason: str
    shown: Outcome
    rung: str = ""
    whole_calls_only: bool = False
    as_received: bool = False
    without_stop: bool = False
    overridden: str = ""


Action = Send | Finish
