"""How edits change a request: one way for all wires, and for each a table of where things stand.

Theory of operation
-------------------
The body is split into its top-level members, and the history into its rows, each kept as the bytes
that the caller sent (msgspec.Raw). An edit replaces or appends whole members or rows; whatever no
edit names leaves as it came, so that prompt caches hit and unknown fields survive (C7). A wire says
by paths where an edit belongs, and has functions for what no path can say: how rows are written,
what less reasoning is, how a forced tool choice is lifted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tenuto.core.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    Content,
    DropConstraint,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputBudget,
)
from tenuto.core.history import plan_repairs
from tenuto.core.history_table import Rules
from tenuto.wires.base import Dialect, JsonObject, RequestFacts
from tenuto.wires.history import apply_repairs
from tenuto.wires.json import encode
from tenuto.wires.members import joined, listed, members_of, rows_of, value_of

Path = tuple[tuple[str, ...], ...]
"""Leads to a member, from the outside in; each step is all of its spellings."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Where in a request stands what edits change.

    Attributes:
        rows: the member that holds the history.
        output_limit: the path of the output limit in tokens. Of several spellings the first that is
            there counts; where none is, the first.
        constraints: the paths of what the output is constrained by.
    """

    rows: str
    output_limit: Path
    constraints: Sequence[Path]


LESS_EFFORT = {
    "max": "low",
    "xhigh": "low",
    "high": "low",
    "medium": "low",
    "low": "minimal",
}
"""Efforts of reasoning: what less means for each value of OpenAI's; others cannot be lowered."""


def put(members: dict[str, bytes], path: Path, value: bytes | None) -> None:
    """Set what a path leads to, and make the objects on the way that are missing. None: leave it
    out, under all of its spellings.

    >>> members = {"config": b'{"temperature": 1.0, "form": {}}'}
    >>> put(members, (("config",), ("max_tokens", "maxTokens")), b"8")
    >>> put(members, (("config",), ("form",)), None)
    >>> members
    {'config': b'{"temperature":1.0,"max_tokens":8}'}
    """
    names, *inside = path
    key = next((name for name in names if name in members), names[0])
    if inside:
        raw = members.get(key, b"{}")
        if not isinstance(value_of(raw), dict):
            raw = b"{}"
        if value is None and (key not in members or raw == b"{}"):
            return
        inner = members_of(raw)
        put(inner, tuple(inside), value)
        members[key] = joined(inner)
    elif value is not None:
        members[key] = value
    else:
        for name in names:
            members.pop(name, None)


class EditableRequest(ABC):
    """A request as bytes, with what was read of it (`wires.base.WireRequest`).

    Args:
        rows: the history as decoded values.
        rules: how the wire's history is repaired.
        facts: what the relay needs to know of it.

    Attributes:
        repairs: what had to be put right in its history, in words; often empty.
    """

    paths: ClassVar[Paths]

    def __init__(self, body: bytes, rows: Sequence[Any], rules: Rules, facts: RequestFacts) -> None:
        self._body = body
        self._rules = rules
        self._plan, self.repairs = plan_repairs(rows, rules)
        self._members: dict[str, bytes] = {}
        self._rows: list[bytes] = []
        self.facts = facts
        # Half a surrogate pair cannot be split: then this is no request for us.
        if b"\\" in body and (b"\\ud" in body or b"\\uD" in body):
            self._split()

    def _split(self) -> None:
        """Take the members and rows apart: a request that passes as it came needs none."""
        if not self._members:
            self._members = members_of(self._body)
            rows = rows_of(self._members[self.paths.rows])
            self._rows = apply_repairs(self._plan, rows, self._rules) if self.repairs else rows

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached tool, by name; {} for one that has none."""
        self._split()
        return self._schemas(value_of(self._members.get("tools")))

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without edits and repairs the caller's own."""
        if not edits and not self.repairs:
            return self._body
        return joined(self.edited(edits, dialect))

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """The members of the request with these edits."""
        self._split()
        members = dict(self._members)
        added: list[Any] = []
        for edit in edits:  # in their order: what one sets, a later one may take out again
            match edit:
                case SetOutputBudget(tokens):
                    put(members, self._output_limit(members, dialect), encode(tokens))
                case LowerReasoning():
                    self._lower_reasoning(members, dialect)
                case DropConstraint():
                    self._drop_constraint(members)
                case FreeToolChoice():
                    self._free_tool_choice(members)
                case _:
                    added += self._added(edit, members, dialect)
        if added or self.repairs:
            members[self.paths.rows] = listed(self._arranged([*self._rows, *self._written(added)]))
        return members

    def _added(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> Iterable[Any]:
        """Return the rows that an edit appends, and change the members that belong to them."""
        match edit:
            case AppendAssistant(prefill=prefill):
                if prefill:
                    members |= {key: encode(value) for key, value in dialect.prefill_members}
                return self._said(edit, dialect)
            case AppendUser(text):
                return [self._asked(text)]
            case AppendContent(content):
                return self._kept(content, members, dialect)
            case AppendCalls():
                return self._called(edit, dialect)
        return []

    # --- what a wire says

    @abstractmethod
    def _said(self, edit: AppendAssistant, dialect: Dialect) -> Iterable[Any]:
        """Return the rows that say what the model has said."""

    def _asked(self, text: str) -> Any:
        """Return the row that holds a hint of ours."""
        return {"role": "user", "content": text}

    def _kept(self, content: Content, members: dict[str, bytes], dialect: Dialect) -> Iterable[Any]:
        """Return the rows by which a paused turn goes on, or change members to that end."""
        raise AssertionError("this wire keeps no content: no rung sends any back")

    @abstractmethod
    def _called(self, edit: AppendCalls, dialect: Dialect) -> Iterable[Any]:
        """Return the rows that hold the model's calls, in a valid form, and a result for each."""

    @abstractmethod
    def _schemas(self, tools: Any) -> dict[str, JsonObject]:
        """Return the JSON Schema of each tool of the caller's, by name."""

    @abstractmethod
    def _lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        """Ask for less reasoning."""

    @abstractmethod
    def _free_tool_choice(self, members: dict[str, bytes]) -> None:
        """Leave it to the model which tools it calls, unless it may call none."""

    def _written(self, added: list[Any]) -> list[bytes]:
        """Return appended rows as bytes."""
        return [encode(row) for row in added]

    def _arranged(self, rows: list[bytes]) -> list[bytes]:
        """The rows, ours among them, as those who speak alike may want them arranged."""
        return rows

    def _output_limit(self, members: dict[str, bytes], dialect: Dialect) -> Path:
        """The path of the output limit."""
        return self.paths.output_limit

    def _drop_constraint(self, members: dict[str, bytes]) -> None:
        """Leave the form of the output to the model."""
        for path in self.paths.constraints:
            put(members, path, None)
