"""Describe as data how a wire writes histories, and what a repair changes.

A history is a list of rows. A row has a role and often a list of parts: texts, reasoning, calls,
results. On some wires, a call or a result is a row of its own. A wire's `Rules` say where all of
this is; `core.history.plan` and `core.history.pairs` apply them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any, Final

JsonObject = dict[str, Any]
Path = tuple[str, ...]
"""The members that lead from an object to a value inside it."""


class Role(StrEnum):
    """Whose row it is, in words that all wires share."""

    MODEL = auto()  # text of the model, often with its calls
    STEP = auto()  # an action of the model without text to show
    REASONING = auto()  # the reasoning before the model's next row
    ANSWERS = auto()  # a row that may hold results of calls
    UNSEEN = auto()  # a reference to rows that the provider keeps
    UNKNOWN = auto()  # may be the model's
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Text:
    """A part that is text. A text with a signature never counts as blank."""

    signatures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A part that is reasoning: the path to the object with the signature, and the word for its
    removal."""

    inside: Path = ()
    removal: str = "unsigned_thinking_removed"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool: the paths to its id and its arguments."""

    id: Path = ()
    arguments: Path = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call, and the path to the id of the call."""

    id: Path = ()


Shape = Text | Reasoning | Call | Result


class _Removed(Enum):
    REMOVED = auto()


REMOVED: Final = _Removed.REMOVED
"""Marks a member that is removed."""


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
    """A call or a result, compared by identity, since an id may be used again.

    Attributes:
        id: the id of the call; "" if it has none.
        value: the part, or the whole row if the row is the call or result.
        row: the row that holds it; None if the repair made it.
        at: its number in the row's list of parts.
        named_at: the path to the id of the call in the value.
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
        number: which of the caller's rows it is; None if the repair made it.
        value: the decoded row.
        role: whose row it is.
        size: the number of its parts; 0 if its parts are not a list.
        changes: new values of its members.
        inside: new values of its parts' members, by the number of the part.
        gone: the parts that are removed.
        blank: the texts that are blank.
        front: results to insert before its parts.
        joined: later rows whose parts are appended to its own.
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
    """Return the `type` of a part; "" if that is not a string.

    >>> kind_by_type({"type": "text"}), kind_by_type({"type": []})
    ('text', '')
    """
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def by_role(**roles: Role) -> Callable[[Any], Role]:
    """Return a function that returns a row's role by its member `role`.

    >>> by_role(assistant=Role.MODEL)({"role": "assistant"}), by_role()({"role": []})
    (<Role.MODEL: 'model'>, <Role.OTHER: 'other'>)
    """

    def role_of(row: Any) -> Role:
        name = row.get("role") if isinstance(row, dict) else None
        return roles.get(name, Role.OTHER) if isinstance(name, str) else Role.OTHER

    return role_of


def is_blank(content: Any) -> bool:
    """Return whether content is blank: no text, or nothing but parts with blank text.

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
class Served:
    """Calls that the provider runs itself, with their results in the model's own turn.

    Attributes:
        call: returns the id of a part that is such a call; None: it is another part.
        result: returns the id of the call that a part is the result of; None: it is no result.
    """

    call: Callable[[JsonObject], str | None]
    result: Callable[[JsonObject], str | None]


@dataclass(frozen=True, slots=True)
class Rules:
    """How a wire writes its histories, and which rules its provider has.

    Attributes:
        role_of: returns whose row a row is.
        stub: makes a result for a call that has none.
        content: the member of a row that holds its content.
        parts: the member of a row that holds its list of parts; "" if there is none.
        kind_of: returns the kind of a part.
        shapes: what a part of each kind is, by the role of its row.
        row_kind: the member with the kind of a row.
        rows: what a row of each kind is, if a row itself is a call or a result, or has one call
            in a member: `Call(("call", "id"), ("call", "input"))`. A row without it has none.
        parts_in: makes a list of parts of a model's row, if its content may be written in several
            ways.
        is_empty: returns whether content other than a list of parts is empty.
        beside: members that count as content if the content itself is empty.
        turns: whether consecutive rows of the model are one turn.
        result_rows: whether a result is a row of its own.
        unique_ids: whether ids of calls must be unique in the whole history; otherwise in one turn.
        pair: pairs calls and results, if that is not done by turns. It takes the rows, these rules,
            whether the provider keeps earlier rows, and the list of repairs in words.
        answers: returns whether a result answers a call, if more than the id counts.
        ordered: whether results come first, in the order of their calls.
        moves: whether a result that is elsewhere is moved after its call.
        own_row: whether missing results get a row of their own, before the user's other content.
        signed_reasoning: whether the provider rejects reasoning without a signature.
        private_parts: whether private keys are removed from parts, too.
        blank_texts_go: whether the provider rejects a blank text, unless it is all of the user's
            row.
        empty_lists_go: whether the provider rejects an empty list of parts beside a text.
        empty_turns_go: whether a turn of blank texts is left out.
        object_arguments: whether arguments are an object; otherwise they are a text that holds one.
        may_lack_arguments: whether a call without arguments is valid.
        alternates: whether rows of the user and the model must alternate.
        result_changes: returns the members of a result that the provider refuses as they are, with
            their new values, and the repair in a word; ({}, ""): none.
        bad_in_ids: matches characters that ids of calls may not have; None: there are none.
        most_id_chars: the most characters of an id; None: there is no limit.
        led_to: the kinds of parts that may not end a turn of the model, such as reasoning.
        bare_end: whether the last text of a history that ends in the model's row may not end in
            white space.
        no_empty_content: whether a content beside calls may be null, but not an empty list.
        sign: adds what the calls of the current turn lack to be valid; None: they lack nothing.
        led_by_reasoning: whether reasoning must be followed by a row of the model.
        served: the calls that the provider runs itself, if it rejects those without a result.
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
    result_changes: Callable[[JsonObject], tuple[Changes, str]] | None = None
    bad_in_ids: re.Pattern[str] | None = None
    most_id_chars: int | None = None
    led_to: Collection[str] = ()
    bare_end: bool = False
    no_empty_content: bool = False
    sign: Callable[[Sequence[Row]], list[str]] | None = None
    led_by_reasoning: bool = False
    served: Served | None = None


def change_inside(row: Row, at: int, changes: Changes) -> None:
    """Add changes of the members of one of a row's parts."""
    inside = row.inside or {}
    row.inside = {**inside, at: {**inside.get(at, {}), **changes}}


def member(value: Any, path: Path) -> Any:
    """Return the value at the end of a path; None if there is none."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
