"""Actions: what to do next, and how to edit the caller's request for it.

An edit is an instruction to a wire, never a rendered request. The wire applies it to the JSON that
the caller sent, and leaves every other byte alone. Edits don't accumulate over attempts: each
action names all of its edits, relative to the caller's request (T10).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.outcome import Outcome

Content = tuple[Mapping[str, Any], ...]
"""The model's answer in the wire's own form, part by part, for wires that want it back this way; ()
on other wires. The machine never looks into it."""


@dataclass(frozen=True, slots=True)
class AppendAssistant:
    """Append the model's text so far. It is never blank, and never ends in white space.

    `prefill`: append it as the beginning of the model's own answer, in the wire's way; the model
    then continues exactly at its end. `reasoning`: the reasoning before the text, for providers
    that want it back (C20); others never receive it. `content`: the whole answer, including
    everything that is not text, for wires that keep it."""

    text: str
    prefill: bool = False
    reasoning: str = ""
    content: Content = ()


@dataclass(frozen=True, slots=True)
class AppendReasoning:
    """Append the model's reasoning as the beginning of its own answer, so that it continues with
    the answer itself (E4). Reasoning is turned off, since the model has reasoned enough."""

    reasoning: str


@dataclass(frozen=True, slots=True)
class AppendContent:
    """Send back what the wire needs to go on with a paused or broken answer (C26, C30): the answer
    itself, verbatim, or what the provider gave for that."""

    content: Content


@dataclass(frozen=True, slots=True)
class AppendUser:
    """Append one user row with a hint. `for_call`: the hint asks for a call; `for_rest`: and before
    it, for the rest of a text that was cut (C24a)."""

    text: str
    for_call: bool = False
    for_rest: bool = False


@dataclass(frozen=True, slots=True)
class AppendCalls:
    """Append the model's calls in a valid form, each with a result of its own. `failed`: for each
    result, whether it says that the call failed; () if all do."""

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
    """Set the output limit to this many tokens, in whichever key the request uses.

    `counted`: the tokens of earlier requests that the provider counts towards the number as well,
    which is greater by them (C30)."""

    tokens: int
    counted: int = 0


@dataclass(frozen=True, slots=True)
class LowerReasoning:
    """Lower reasoning to the least that the wire's setting allows."""


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """Remove the output constraint (JSON mode, schema): the rest of a document is not a
    document."""


@dataclass(frozen=True, slots=True)
class DropKeys:
    """Leave out keys that the provider rejects. The answer is the same without them (H5)."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FreeToolChoice:
    """Make a forced tool choice free, so that the model can continue text (C28a)."""


@dataclass(frozen=True, slots=True)
class DropTools:
    """Leave out the tools, so that the model can only answer in text (E2a)."""


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
    | DropTools
)
"""One change of a further request, which `EditableRequest.edited` applies."""

ROWS = (AppendAssistant, AppendReasoning, AppendContent, AppendUser, AppendCalls)
"""The edits that add to the conversation."""


def holds_prefill(edits: Iterable[Edit]) -> bool:
    """Return whether a request with these edits ends in the beginning of the model's own answer.

    >>> holds_prefill([AppendAssistant("Half", prefill=True)]), holds_prefill([AppendUser("Go on")])
    (True, False)
    """
    return any(
        isinstance(edit, AppendReasoning) or (isinstance(edit, AppendAssistant) and edit.prefill)
        for edit in edits
    )


def reasoning_in(edits: Iterable[Edit]) -> str:
    """Return the reasoning that a request with these edits continues from; "" if there is none.

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
    """The kind of recovery that a request belongs to, for events and reports."""

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
        edits: all edits of this request; if empty, it is sent as the caller sent it.
        rung: the id of the rung that decided.
        recovery: the kind of recovery.
        wait_s: seconds to wait first; 0 for no wait.
        told: whether the provider named that wait; it is then kept exactly.
        overridden: what the policy's `decide` chose instead of the table's action; "" if nothing.
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
        reason: why the turn ended, in one word (`completed`, `retry_limit`, `output_cap`, …).
        shown: the outcome that the caller sees (P1a). It differs from the outcome of the last
            response if an earlier cut describes the text that is kept.
        rung: the id of the rung that decided; "" if no rung was left.
        whole_calls_only: whether the caller gets only the calls that may run (T3).
        as_received: whether the caller sees the last response's own stop, whatever `shown` is.
        without_stop: whether the caller sees no stop, since the provider sent none (S3a).
        overridden: what the policy's `decide` chose instead of the table's action; "" if nothing.
        calls: the calls that the caller gets, if they are not those of the last response (T4a).
        never_came: the names of the tools whose calls were begun and never came (T4a).
        beside_cut: whether `calls` came whole in a first answer that was cut. The caller sees its
            stop with them, so that a program that goes by the stop runs none of them (T3).
    """

    status: Status
    reason: str
    shown: Outcome
    rung: str = ""
    whole_calls_only: bool = False
    as_received: bool = False
    without_stop: bool = False
    overridden: str = ""
    calls: tuple[ToolCall, ...] = ()
    never_came: tuple[str, ...] = ()
    beside_cut: bool = False


Action = Send | Finish
