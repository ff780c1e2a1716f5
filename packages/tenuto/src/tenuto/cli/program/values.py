"""What an expression of a program may be, as far as its source shows.

An expression is read as a set of these values, because a branch or a call may lead to several.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tenuto.cli.program.makers import Maker
from tenuto.cli.program.sources import Module

UNSEEN = "\0"
"""Stands in a text for a part that the source does not show."""


@dataclass(frozen=True, slots=True)
class Const:
    """A constant: None, a number, or a text, in which `UNSEEN` stands for parts not known."""

    value: Any


@dataclass(frozen=True, slots=True)
class Outside:
    """A module, class or function that is not part of the program, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that the source does not show.

    Attributes:
        accounted: whether it was made of clients that were judged elsewhere, or was wrapped.
        passed: whether it is what an unseen caller passes.
        wrapped: whether `tenuto.wrap()` returned it.
    """

    accounted: bool = False
    passed: bool = False
    wrapped: bool = False


@dataclass(eq=False, slots=True)
class Site:
    """A place in the program that makes a client, or sends a turn with one that is not known.

    Attributes:
        covered: what the arguments of each of its calls say: "yes", "no", "partly", "unknown".
        wrapped: whether `tenuto.wrap()` gets what it makes.
        bare: the lines that use it although it is not wrapped.
        mixed: the lines that use it wrapped or not, as a condition decides.
        others: the calls that send no turn, such as those for embeddings.
        escapes: whether it is handed to code that is not read.
        assigned: the attributes that got a wrapped client.
        texts: the model's name or the URL, where it is known.
    """

    module: Module
    node: ast.expr
    maker: Maker
    covered: set[str] = field(default_factory=set)
    wrapped: bool = False
    bare: set[int] = field(default_factory=set)
    mixed: set[int] = field(default_factory=set)
    others: int = 0
    escapes: bool = False
    assigned: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    text: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """A client, or a model of a framework, that a site made.

    Attributes:
        wrapped: whether it is the copy that `tenuto.wrap()` returned.
        path: the attributes that were taken from it, such as chat, completions, create.
    """

    site: Site
    wrapped: bool = False
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Http:
    """An HTTP client, or a transport.

    Attributes:
        covered: whether Tenuto finishes what it sends; "unknown" if the source does not show it.
        base_url: the text before its URLs.
        node: the call that made it.
        method: the attribute that was taken from it, such as post.
    """

    covered: str
    module: Module | None = None
    node: ast.expr | None = None
    maker: Maker | None = None
    base_url: str = ""
    method: str = ""


@dataclass(eq=False, slots=True)
class Function:
    """A function of the program. `scope` is where it was defined. If a decorator made it, it
    `stands_for` the function that was decorated."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Any
    defaults: dict[str, frozenset[Value]]
    kinds: frozenset[str] = frozenset()
    owner: Class | None = None
    stands_for: ast.AST | None = None

    @property
    def key(self) -> tuple[ast.AST, ast.AST | None]:
        """What tells it from others: a decorator makes all its functions of one node."""
        return self.node, self.stands_for


@dataclass(frozen=True, slots=True)
class Bound:
    """A method with the object or the class that it was taken from."""

    function: Function
    first: Value


@dataclass(eq=False, slots=True)
class Class:
    """A class of the program."""

    node: ast.ClassDef
    scope: Any
    members: dict[str, frozenset[Value]]
    bases: tuple[Value, ...]


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a class of the program. Its attributes stand in the reader's heap. If it is
    `entered`, nobody in the program is seen to make it."""

    cls: Class
    entered: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list, tuple or set (`rest`), or a dict (`named` by its constant keys, and `rest`)."""

    named: tuple[tuple[Any, frozenset[Value]], ...] = ()
    rest: frozenset[Value] = frozenset()

    def holding(self, key: Any, values: frozenset[Value]) -> Items:
        """Return the same with values under a key; None: under a key that is not known."""
        if key is None:
            return Items(self.named, self.rest | values)
        return Items(tuple({**dict(self.named), key: values}.items()), self.rest)

    def in_order(self) -> list[frozenset[Value]]:
        """Return the values whose positions are known."""
        named = dict(self.named)
        return [named[n] for n in range(len(named)) if n in named]

    def all(self) -> frozenset[Value]:
        """Return everything in it."""
        return self.rest.union(*(values for _, values in self.named))


@dataclass(frozen=True, slots=True)
class Own:
    """A module of the program."""

    module: Module


@dataclass(frozen=True, slots=True)
class Super:
    """What `super()` returns in a method of `owner` for the object or class `first`."""

    owner: Class
    first: Value


Value = (
    Const
    | Outside
    | Opaque
    | Made
    | Http
    | Function
    | Bound
    | Class
    | Instance
    | Items
    | Own
    | Super
)
Values = frozenset[Value]

NOTHING: Values = frozenset()
UNKNOWN: Values = frozenset({Opaque()})
ACCOUNTED: Values = frozenset({Opaque(accounted=True)})
PASSED: Values = frozenset({Opaque(passed=True)})
NONE: Values = frozenset({Const(None)})


def worth(values: Iterable[Value]) -> Values:
    """Return those values that are clients, or may lead to one."""
    return frozenset(v for v in values if is_worth(v))


def is_worth(value: Value) -> bool:
    """Return whether a value is a client, or may lead to one."""
    match value:
        case Items():
            return any(map(is_worth, value.all()))
        case Opaque():
            return value.accounted
        case Made() | Http() | Instance():
            return True
        case _:
            return False


def has_client(values: Iterable[Value]) -> bool:
    """Return whether a value is a client, or holds one."""
    return any(
        has_client(value.all()) if isinstance(value, Items) else isinstance(value, Made | Http)
        for value in values
    )


def text_of(value: Value) -> str:
    """Return a value as a part of a text."""
    match value:
        case Const(value=str() as text):
            return text
        case Const(value=None):
            return ""
        case Http():
            return value.base_url
        case _:
            return UNSEEN


def key_of(values: Values) -> Any:
    """Return the text or number that an expression is; None: it is not known."""
    if len(values) == 1:
        (value,) = values
        if isinstance(value, Const) and isinstance(value.value, str | int):
            return value.value
    return None


def truth_of(values: Values) -> bool | None:
    """Return whether all values are true, or all false; None: it is not known."""
    found: set[bool | None] = set()
    for value in values:
        match value:
            case Const(value=str() as text) if UNSEEN in text:
                found.add(None)
            case Const():
                found.add(bool(value.value))
            case Opaque() | Outside() | Items() | Own():
                found.add(None)
            case _:
                found.add(True)
    return found.pop() if len(found) == 1 else None


def covers(value: Value) -> str:
    """Return whether Tenuto finishes what is sent with a value: yes, no or unknown."""
    match value:
        case Http():
            return value.covered
        case Made():
            if value.wrapped or value.site.covered == {"yes"}:
                return "yes"
            return "no" if value.site.maker.wraps else "yes"
        case Opaque():
            return "yes" if value.wrapped else "unknown"
        case Function() | Bound():
            return "yes"
        case _:
            return "no"
