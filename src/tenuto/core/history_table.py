"""Say as data how a wire writes its histories, and what a repair does to one.

A history is rows. A row has a role and often a list of parts: texts, reasoning, calls, results. On
some wires a call or a result is a row of its own. A wire says in `Rules` where all of that stands;
`core.history` and `core.history_pairs` apply the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any, Final

JsonObject = dict[str, Any]
Path = tuple[str, ...]
"""The members that lead from an object to a value inside it."""


class Role(StrEnum):
    """Whose row it is, in words that all wires share."""

    MODEL = auto()  # what the model said, often with its calls
    STEP = auto()  # what the model did, without a text to show
    REASONING = auto()  # what led to the model's next row
    ANSWERS = auto()  # a row that may hold results of calls
    UNSEEN = auto()  # a reference to rows that the provider keeps
    UNKNOWN = auto()  # may be the model's
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Text:
    """A part that is text. A text with a signature is never blank."""

    signatures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A part that is reasoning: where the object stands that has the signature, and what its
    removal is called."""

    inside: Path = ()
    removal: str = "unsigned_thinking_removed"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool: where its id and its arguments stand."""

    id: Path = ()
    arguments: Path = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call, and where the call is named."""

    id: Path = ()


Shape = Text | Reasoning | Call | Result


class _Removed(Enum):
    REMOVED = auto()


REMOVED: Final = _Removed.REMOVED
"""Marks a member that is left out."""


@dataclass(frozen=True, slots=True)
class Json:
    """A value, given as its JSON."""

    text: str


@dataclass(frozen=True, slots=True)
class JsonText:
    """A text that holds the JSON of a value."""

    value: object


Changes = dict[Path, object]
"""New values of members: REMOVED, Json, JsonText, or the value itself."""


@dataclass(slots=True, eq=False)
class Entry:
    """A call or a result, compared by identity: an id may be used again.

    Attributes:
        id: the id of the call, "" where it has none.
        value: the part, or the whole row where it is a row of its own.
        row: the row that holds it, None where the repair made it.
        at: its number in the row's list of parts.
        named_at: where the id of the call stands in the value.
    """

    id: str
    value: Any
    row: Row | None = None
    at: int = 0
    named_at: Path = ()


@dataclass(eq=False)
class Row:
    """One row, and what becomes of it.

    Attributes:
        number: which of the caller's rows it is, None where the repair made it.
        value: the decoded row.
        role: whose row it is.
        size: how many parts it has, 0 where its parts are not a list.
        changes: new values of its members.
        inside: new values of its parts' members, by the number of the part.
        gone: the parts that are left out.
        blank: the texts that show nothing.
        front: results that go before its parts.
        joined: rows behind it whose parts go behind its own.
        calls: its calls, in order.
        results: its results, in order.
    """

    number: int | None
    value: Any
    role: Role = Role.OTHER
    size: int = field(default=0, init=False)
    changes: Changes | None = field(default=None, init=False)
    inside: Mapping[int, Changes] | None = field(default=None, init=False)
    gone: Collection[int] = field(default=(), init=False)
    blank: Collection[int] = field(default=(), init=False)
    front: Sequence[Entry] = field(default=(), init=False)
    joined: Sequence[Row] = field(default=(), init=False)
    calls: list[Entry] = field(default_factory=list, init=False)
    results: list[Entry] = field(default_factory=list, init=False)


def kind_by_type(part: JsonObject) -> str:
    """Return the `type` of a part, "" where that is no text.

    >>> kind_by_type({"type": "text"}), kind_by_type({"type": []})
    ('text', '')
    """
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def by_role(**roles: Role) -> Callable[[Any], Role]:
    """Return a function that tells rows by their member `role`.

    >>> by_role(assistant=Role.MODEL)({"role": "assistant"}), by_role()({"role": []})
    (<Role.MODEL: 'model'>, <Role.OTHER: 'other'>)
    """

    def role_of(row: Any) -> Role:
        name = row.get("role") if isinstance(row, dict) else None
        return roles.get(name, Role.OTHER) if isinstance(name, str) else Role.OTHER

    return role_of


def is_blank(content: Any) -> bool:
    """Return whether content shows nothing: no text, or nothing but parts of blank text.

    >>> is_blank(" "), is_blank([{"type": "text", "text": ""}]), is_blank([{"type": "image"}])
    (True, True, False)
    """
    if isinstance(content, str):
        return not content.strip()
    if not isinstance(content, list):
        return not content
    texts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return all(isinstance(text, str) and not text.strip() for text in texts)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a wire writes its histories, and which rules its provider has.

    Attributes:
        role_of: tells whose row a row is.
        stub: makes the result of a call that nobody answered.
        content: the member of a row that holds what it says.
        parts: the member of a row that holds its list of parts, "" where there is none.
        kind_of: tells the kind of a part.
        shapes: what a part of each kind is, by the role of its row.
        row_kind: the member that tells the kind of a row.
        rows: what a row of each kind is, where a row itself is a call or a result.
        parts_in: makes a list of parts of what a row of the model's says, where that may be written
            in several ways.
        is_empty: tells whether content other than a list of parts says nothing.
        beside: members that say something where the content says nothing.
        turns: the model's rows that follow each other are one turn.
        result_rows: a result is a row of its own.
        unique_ids: no two calls of the history may have the same id; otherwise none of one turn.
        pair: pairs calls and results where that is not done by turns; of the rows, these rules,
            whether the provider keeps rows before these, and what is done in words.
        answers: tells whether a result answers a call, where more than the id counts.
        ordered: results come first, in the order of their calls.
        moves: a result that stands elsewhere is moved behind its call.
        own_row: missing results get a row of their own, before what else the user said.
        signed_reasoning: reasoning without a signature is refused.
        private_parts: private keys are taken out of parts, too.
        blank_texts_go: a blank text is refused, unless it is all that the user said.
        empty_lists_go: an empty list of parts is refused beside a text.
        empty_turns_go: a turn of blank texts is left out.
        object_arguments: arguments are an object; otherwise a text that holds one.
        may_lack_arguments: a call without arguments is valid.
        alternates: no two rows of the user's or of the model's may follow each other.
        result_changes: tells what a result lacks that the provider wants.
        led_by_reasoning: reasoning must lead to a row of the model's.
    """

    role_of: Callable[[Any], Role]
    stub: Callable[[Any], Mapping[str, Any]]
    content: str = "content"
    parts: str = ""
    kind_of: Callable[[JsonObject], str] = kind_by_type
    shapes: Mapping[Role, Mapping[str, Shape]] = field(default_factory=dict)
    row_kind: str = "type"
    rows: Mapping[str, Shape] | None = None
    parts_in: Callable[[Any], Any] | None = None
    is_empty: Callable[[Any], bool] = is_blank
    beside: tuple[str, ...] = ()
    turns: bool = True
    result_rows: bool = False
    unique_ids: bool = False
    pair: Callable[[list[Row], Rules, bool, list[str]], list[Row]] | None = None
    answers: Callable[[Any, Any], bool] | None = None
    ordered: bool = True
    moves: bool = True
    own_row: bool = False
    signed_reasoning: bool = False
    private_parts: bool = False
    blank_texts_go: bool = False
    empty_lists_go: bool = False
    empty_turns_go: bool = False
    object_arguments: bool = False
    may_lack_arguments: bool = False
    alternates: bool = False
    result_changes: Callable[[JsonObject], Changes] | None = None
    led_by_reasoning: bool = False
