"""Apply edits to a request: one way for all wires, and a table of paths for each.

Theory of operation
-------------------
The body is split into its top-level members, and the history into its rows, each kept as the bytes
that the caller sent (msgspec.Raw). An edit replaces or appends whole members or rows. Whatever no
edit names leaves as received, so that prompt caches hit and unknown fields survive (C7). A wire
gives the paths where edits belong, and functions for what no path can express: how to write rows,
how to ask for less reasoning, how to lift a forced tool choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    AppendContent,
    AppendUser,
    Content,
    DropConstraint,
    DropTools,
    Edit,
    FreeToolChoice,
    LowerReasoning,
    SetOutputLimit,
)
from tenuto.core.history.plan import plan_repairs
from tenuto.core.history.table import Row, Rules
from tenuto.wires.calls import schemas_in
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import schema_in
from tenuto.wires.given_back import taken_back
from tenuto.wires.history import apply_repairs
from tenuto.wires.instructions import WORD as BLANK_INSTRUCTION
from tenuto.wires.instructions import Instructions, may_be_blank
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.members import joined, list_in, listed, members_of, object_in, rows_of, value_of
from tenuto.wires.request import RequestFacts

Path = tuple[tuple[str, ...], ...]
"""Leads to a member, from the outside in. Each step lists all spellings of a name."""


def key_at(path: Path) -> str:
    """Return the path that `put` creates in a request without it, with dots.

    >>> key_at((("config",), ("maxTokens", "max_tokens")))
    'config.maxTokens'
    """
    return ".".join(names[0] for names in path)


@dataclass(frozen=True, slots=True)
class Paths:
    """The places in a request that edits change.

    Attributes:
        rows: the member that holds the history, or the prompt.
        output_limit: the path of the output limit in tokens. The first spelling that is present
            counts; if none is, the first is used.
        constraints: the paths of what constrains the output. The first that is present says which
            document is asked for.
        tools: the paths of the tools, and of how they are to be used.
        calls_need_tools: what marks a call or a result in a history that the provider refuses
            without tools; b"": it accepts each.
        not_empty: a member to remove if it held only a constraint; "": none.
        joined_anew: whether every edit rebuilds the list of rows.
    """

    rows: str
    output_limit: Path
    constraints: Sequence[Path]
    tools: Sequence[Path] = ()
    calls_need_tools: bytes = b""
    not_empty: str = ""
    joined_anew: bool = False


LESS_EFFORT = {
    "max": "low",
    "xhigh": "low",
    "high": "low",
    "medium": "low",
    "low": "minimal",
}
"""A lower value for each of OpenAI's reasoning efforts. Others can't be lowered."""


def put(members: dict[str, bytes], path: Path, value: bytes | None) -> None:
    """Set the value at a path, creating missing objects on the way. None: remove it, under all of
    its spellings.

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


def at(members: Mapping[str, bytes], path: Path) -> Any:
    """Return the value at a path, under the first of its spellings that has one; None: there is
    none.

    >>> at({"config": b'{"form": null, "Form": 5}'}, (("config",), ("form", "Form")))
    5
    """
    names, *inside = path
    values = (value_of(members.get(name)) for name in names)
    found = next((value for value in values if value is not None), None)
    for names in inside:
        values = (object_in(found).get(name) for name in names)
        found = next((value for value in values if value is not None), None)
    return found


class EditableRequest:
    """A request as bytes, with what was read from it (`wires.request.WireRequest`).

    A wire gives `paths`, and overrides how its rows are written: `assistant_rows` for the model's
    text so far, `user_row` for a hint, `call_rows` for calls with their results, `kept_rows` for
    the content of a paused turn. Where its requests differ otherwise, it overrides `tool_schemas`,
    `document_schema`, `output_limit_path`, `lower_reasoning`, `fit_reasoning`, `free_tool_choice`,
    for a history in several places `split_rows`, `rows_with` and `edited`, and for a prompt that is
    one text `split_rows` and `added_rows`.

    Args:
        body: its bytes.
        facts: what the turn needs to know about it.
        rows: the history as decoded values.
        rules: how to repair the wire's history; None: don't repair it.
        elsewhere: whether the provider keeps rows before these.
        instructed: the instructions, if they are in a member of their own.

    Attributes:
        instructions: where the wire keeps instructions that may not have blank texts; None:
            nowhere.
        repairs: the repairs of its history, in words; often empty.
        sent_members, sent_rows: the members of the request and the rows of its history, as they
            are sent without edits: those of the caller, with the repairs. `split` fills them.
    """

    paths: ClassVar[Paths]
    instructions: ClassVar[Instructions | None] = None

    def __init__(
        self,
        body: bytes,
        facts: RequestFacts,
        rows: Sequence[Any] = (),
        rules: Rules | None = None,
        *,
        elsewhere: bool = False,
        instructed: bytes = b"",
    ) -> None:
        self._body = body
        self._rules = rules
        self._plan: Sequence[Row] = ()
        self.repairs: tuple[str, ...] = ()
        if rules is not None:
            self._plan, self.repairs = plan_repairs(rows, rules, elsewhere)
        self._mends_rows = bool(self.repairs)
        if self.instructions is not None and may_be_blank(instructed):
            members = members_of(body)
            if self.instructions.mended(members):
                self.repairs += (BLANK_INSTRUCTION,)
        self.sent_members: dict[str, bytes] = {}
        self.sent_rows: list[bytes] = []
        self.facts = facts
        # Half a surrogate pair can't be split, so Tenuto leaves such a request alone.
        if b"\\" in body and (b"\\ud" in body or b"\\uD" in body):
            self.split()

    def split(self) -> None:
        """Fill `sent_members` and `sent_rows`, which a request that passes unchanged doesn't
        need."""
        if not self.sent_members:
            self.sent_members = members_of(self._body)
            if self.instructions is not None and BLANK_INSTRUCTION in self.repairs:
                changes = self.instructions.mended(self.sent_members)
                self.sent_members = {
                    key: raw
                    for key, item in self.sent_members.items()
                    if (raw := changes.get(key, item)) is not None
                }
            self.sent_rows = self.split_rows(self.sent_members.get(self.paths.rows, b"null"))
            if self._mends_rows and self._rules is not None:
                self.sent_rows = apply_repairs(self._plan, self.sent_rows, self._rules)

    @property
    def tools_may_go(self) -> bool:
        """Whether the provider accepts the request without the tools that it offers."""
        if not self.facts.tools or self.facts.call_forced or not self.paths.tools:
            return False
        mark = self.paths.calls_need_tools
        return not mark or mark not in self._body

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Return the JSON Schema of each attached tool, by name; {}: the tool has none."""
        self.split()
        return self.tool_schemas(value_of(self.sent_members.get("tools")))

    def document(self) -> JsonObject | None:
        """Return the JSON Schema of the document that it asks for. {}: JSON without a schema. None:
        it asks for no document, or the schema can't be read."""
        if not self.facts.structured or self.facts.one_of_words:
            return None
        self.split()
        forms = (at(self.sent_members, path) for path in self.paths.constraints)
        return self.document_schema(next((form for form in forms if form is not None), None))

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """Return the bytes of the request with these edits. Without edits and repairs, they are the
        caller's own."""
        if not edits and not self.repairs:
            return self._body
        return joined(self.edited(edits, dialect))

    def edited(self, edits: Sequence[Edit], dialect: Dialect) -> dict[str, bytes]:
        """Return the members of the request with these edits."""
        self.split()
        members = dict(self.sent_members)
        added: list[Any] = []
        limit: int | None = None
        for edit in edits:  # in order: a later edit may remove what an earlier one sets
            match edit:
                case SetOutputLimit(tokens, counted):
                    limit = tokens + counted
                    put(members, self.output_limit_path(members, dialect), encode(limit))
                case LowerReasoning():
                    self.lower_reasoning(members, dialect)
                case DropConstraint():
                    self._drop_constraint(members)
                case FreeToolChoice():
                    self.free_tool_choice(members)
                case DropTools():
                    for path in self.paths.tools:
                        put(members, path, None)
                case _:
                    added += self.added_rows(edit, members, dialect)
        if added or self.repairs or self.paths.joined_anew:
            members[self.paths.rows] = listed(self.rows_with(added))
        if limit is not None:  # last, since its effect on reasoning depends on the other edits
            self.fit_reasoning(members, limit)
        return members

    def added_rows(self, edit: Edit, members: dict[str, bytes], dialect: Dialect) -> Iterable[Any]:
        """Return the rows that an edit appends, and change the members that belong to them."""
        edit = taken_back(edit, dialect)
        match edit:
            case AppendAssistant(prefill=prefill):
                if prefill:
                    members |= {key: encode(value) for key, value in dialect.prefill_members}
                return self.assistant_rows(edit, dialect)
            case AppendUser(text):
                return [self.user_row(text)]
            case AppendContent(content):
                return self.kept_rows(content, members, dialect)
            case AppendCalls():
                return self.call_rows(edit, dialect)
        return []

    def _drop_constraint(self, members: dict[str, bytes]) -> None:
        """Remove the constraints on the output."""
        for path in self.paths.constraints:
            put(members, path, None)
        emptied = self.paths.not_empty
        if members.get(emptied) == b"{}" != self.sent_members.get(emptied):
            del members[emptied]

    # --- what a wire may say otherwise

    def split_rows(self, raw: bytes) -> list[bytes]:
        """Return the rows of the history from the member that holds it; null counts as absent."""
        return rows_of(raw)

    def assistant_rows(self, edit: AppendAssistant, dialect: Dialect) -> Iterable[Any]:
        """Return the rows for the model's answer so far."""
        return [{"role": "assistant", "content": edit.text}]

    def user_row(self, text: str) -> Any:
        """Return the row for a hint."""
        return {"role": "user", "content": text}

    def kept_rows(
        self, content: Content, members: dict[str, bytes], dialect: Dialect
    ) -> Iterable[Any]:
        """Return the rows that continue a paused turn, or change members to do so."""
        raise AssertionError("this wire keeps no content: no rung sends any back")

    def call_rows(self, edit: AppendCalls, dialect: Dialect) -> Iterable[Any]:
        """Return the rows for the model's calls, in a valid form, and a result for each."""
        raise AssertionError("this wire has no calls: no rung sends any back")

    def tool_schemas(self, tools: Any) -> dict[str, JsonObject]:
        """Return the JSON Schema of each of the caller's tools, by name."""
        return schemas_in(list_in(tools))

    def document_schema(self, form: Any) -> JsonObject | None:
        """Return the JSON Schema in the value of a constraint; None: it can't be read."""
        return schema_in(form)

    def output_limit_path(self, members: dict[str, bytes], dialect: Dialect) -> Path:
        """Return the path of the output limit."""
        return self.paths.output_limit

    def lower_reasoning(self, members: dict[str, bytes], dialect: Dialect) -> None:
        """Ask for less reasoning, if the request has a setting for it."""

    def fit_reasoning(self, members: dict[str, bytes], max_tokens: int) -> None:
        """Leave room for an answer if reasoning has a budget of its own."""

    def free_tool_choice(self, members: dict[str, bytes]) -> None:
        """Let the model choose which tools to call, unless it may call none."""

    def rows_with(self, added: Sequence[Any]) -> list[bytes]:
        """Return the rows with those that edits append, in the order that the provider requires."""
        return [*self.sent_rows, *map(encode, added)]
