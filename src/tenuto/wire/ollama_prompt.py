"""Requests of Ollama as bytes: what all have in common, and those with a prompt.

A prompt is the words of the user: what the model said, and what is asked of it now, is told behind
them. A raw one goes to the model as it stands, so that the model goes on at its end by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.core.actions import (
    AppendAssistant,
    AppendContent,
    AppendFailedCalls,
    AppendUser,
    DropConstraint,
    DropKeys,
    Edit,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.wire.base import Dialect, JsonObject, RequestFacts
from tenuto.wire.json import encode
from tenuto.wire.members import joined, members_of, value_of, with_members

BUDGET = "num_predict"
"""The option that is the output limit."""


def less_thinking(think: Any) -> str | bool | None:
    """What less means for a value of `think`; None where it cannot be lowered. Models that can
    think do so unless they are told not to.

    >>> less_thinking("high"), less_thinking(None), less_thinking("low") is None
    ('low', False, True)
    """
    if think is None or think is True:
        return False
    return "low" if think in ("max", "high", "medium") else None


class EditedRequest:
    """A request as bytes: what those with messages and those with a prompt have in common."""

    def __init__(self, body: bytes, facts: RequestFacts) -> None:
        self._body = body
        self._members: dict[str, bytes] = {}
        self.facts = facts
        self.repairs: tuple[str, ...] = ()

    def _split(self) -> None:
        """The members as bytes: a request that passes as it came needs none."""
        if not self._members:
            self._members = members_of(self._body)

    def edited(self, edits: Sequence[Edit]) -> dict[str, bytes]:
        """The members, with the edits that are about none of the conversation."""
        self._split()
        members = dict(self._members)
        for edit in edits:
            match edit:
                case SetOutputBudget(tokens):
                    raw = members.get("options", b"{}")
                    options = raw if isinstance(value_of(raw), dict) else b"{}"
                    members["options"] = with_members(options, {BUDGET: encode(tokens)})
                case LowerReasoning():
                    less = less_thinking(value_of(members.get("think")))
                    members["think"] = encode(less or False)
                case DropConstraint():
                    members.pop("format", None)
                case DropKeys(keys):
                    members = {k: raw for k, raw in members.items() if k not in keys}
        return members  # no tool can be forced here


class PromptRequest(EditedRequest):
    """A request with a prompt (`wire.base.WireRequest`)."""

    def __init__(self, body: bytes, facts: RequestFacts, *, raw: bool) -> None:
        super().__init__(body, facts)
        self._raw = raw
        if b"\\ud" in body or b"\\uD" in body:
            self._split()  # half a surrogate pair cannot be: then this is no request for us

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Nothing: a prompt comes without tools."""
        return {}

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without any, the caller's own."""
        if not edits:
            return self._body
        members = self.edited(edits)
        prompt, said = str(value_of(members["prompt"])), False
        for edit in edits:
            match edit:
                case AppendAssistant(text):
                    prompt, said = prompt + ("" if self._raw else "\n\n") + text, True
                case AppendUser(text) if not (self._raw and said):
                    prompt += f"\n\n{text}"
                case AppendContent() | AppendFailedCalls():
                    raise AssertionError("a prompt has no tools, and keeps no content")
        return joined(members | {"prompt": encode(prompt)})
