"""What the parts of the reader share: scopes, arguments, branches, and the sites found so far."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tenuto.cli.program.makers import Argument, Maker
from tenuto.cli.program.sources import Module
from tenuto.cli.program.values import (
    NOTHING,
    Class,
    Function,
    Instance,
    Items,
    Opaque,
    Outside,
    Site,
    Value,
    Values,
    worth,
)


@dataclass(eq=False, slots=True)
class Scope:
    """The names of a module, a class or a call of a function."""

    module: Module
    parent: Scope | None = None
    names: dict[str, Values] = field(default_factory=dict)
    kind: str = "module"
    shared: set[str] = field(default_factory=set)
    returned: Values = NOTHING
    owner: Class | None = None
    first: Values = NOTHING


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call. `unseen` says that there may be more: "passed" if a caller that is
    not read passes them, "yes" if they come from elsewhere, "" if there are none."""

    positional: tuple[Values, ...] = ()
    named: tuple[tuple[str, Values], ...] = ()
    unseen: str = ""

    def get(self, argument: Argument) -> Values | None:
        """Return an argument, or None if it is not there."""
        name, _, key = argument.name.partition(".")
        found = dict(self.named).get(name)
        if found is None and argument.position is not None:
            place = argument.position
            found = self.positional[place] if place < len(self.positional) else None
        if found is None or not key:
            return found
        inside: Values = NOTHING
        for value in found:
            if isinstance(value, Items):
                inside |= dict(value.named).get(key, value.rest)
            elif isinstance(value, Opaque):
                inside |= {value}
        return inside or None

    def all(self) -> Values:
        """Return every value that is passed."""
        return NOTHING.union(*self.positional, *(values for _, values in self.named))


State = tuple[dict[str, Values], dict[tuple[Any, str], Values], int]
"""The names of a scope, the attributes of every object, and how many were written before."""


class Following(ABC):
    """What is known while a program is read, and the parts that other parts call.

    Attributes:
        sites: where the program makes clients.
        facts: what it does once for all clients, by name, each with "yes", "no" or "unknown".
        gave_up: whether it was too large to be followed to its end.
    """

    def __init__(self) -> None:
        self.sites: dict[tuple[str, int, int], Site] = {}
        self.facts: dict[str, set[str]] = {}
        self.gave_up = False
        self._heap: dict[tuple[Any, str], Values] = {}
        self._written: list[tuple[Any, str]] = []
        self._learned = 0
        self._fields: dict[str, Values] = {}
        self._functions: list[Function] = []
        self._called: set[tuple[ast.AST, ast.AST | None]] = set()
        self._instances: dict[Class, list[Instance]] = {}
        self._runs: dict[tuple[ast.AST, ast.AST | None], list[Values]] = {}
        self._stack: list[tuple[ast.AST, ast.AST | None]] = []
        self._decorating = False
        self._memo: dict[Any, Values] = {}
        self._steps = 0
        self._here: Scope | None = None

    @abstractmethod
    def _loaded(self, module: Module) -> Scope: ...
    @abstractmethod
    def _named_module(self, name: str, importer: Module) -> Module | None: ...
    @abstractmethod
    def _member(self, name: str, module: Module | None, member: str, scope: Scope) -> Values: ...
    @abstractmethod
    def on_import(self, node: ast.Import, scope: Scope) -> None: ...
    @abstractmethod
    def on_import_from(self, node: ast.ImportFrom, scope: Scope) -> None: ...
    @abstractmethod
    def _body(self, body: Sequence[ast.stmt], scope: Scope) -> bool: ...
    @abstractmethod
    def _assign(self, target: ast.expr, values: Values, scope: Scope) -> None: ...
    @abstractmethod
    def _defaults(self, args: ast.arguments, scope: Scope) -> dict[str, Values]: ...
    @abstractmethod
    def _eval(self, node: ast.expr, scope: Scope) -> Values: ...
    @abstractmethod
    def _joined(self, left: Values, right: Values) -> Values: ...
    @abstractmethod
    def _contents(self, values: Values) -> Values: ...
    @abstractmethod
    def _attribute(self, base: Value, name: str, scope: Scope) -> Values: ...
    @abstractmethod
    def _run(self, function: Function, first: Value | None, given: Given) -> Values: ...
    @abstractmethod
    def _call(
        self, callee: Value, given: Given, node: ast.Call | None, scope: Scope | None
    ) -> Values: ...

    def _site(self, maker: Maker, node: ast.expr, scope: Scope) -> Site:
        key = (scope.module.file, node.lineno, node.col_offset)
        if key not in self.sites:
            self.sites[key] = Site(scope.module, node, maker)
        return self.sites[key]

    def _lookup(self, name: str, scope: Scope) -> Values:
        at: Scope | None = scope
        while at is not None:
            if name in at.names and (at is scope or at.kind != "class"):
                return at.names[name]
            at = at.parent
        return frozenset({Outside(f"builtins.{name}")})

    def _bind(self, name: str, values: Values, scope: Scope) -> None:
        at: Scope | None = scope
        if name in scope.shared:
            at = scope.parent
            while at is not None and name not in at.names and at.parent is not None:
                at = at.parent
            if at is not None:
                at.names[name] = at.names.get(name, NOTHING) | values
            return
        scope.names[name] = values

    def _state(self, scope: Scope) -> State:
        return dict(scope.names), dict(self._heap), len(self._written)

    def _restore(self, state: State, scope: Scope) -> None:
        scope.names, self._heap = dict(state[0]), dict(state[1])
        if scope.kind == "class" and scope.owner is not None:
            scope.owner.members = scope.names

    def _merge(self, state: State, before: State, scope: Scope) -> None:
        """Add what another way from the state `before` led to."""
        for name, values in state[0].items():
            scope.names[name] = scope.names.get(name, values) | values
        for key in set(self._written[before[2] :]):
            both = self._heap.get(key, NOTHING) | state[1].get(key, NOTHING)
            if both:
                self._heap[key] = both

    def _write(self, owner: Instance | Class, name: str, values: Values) -> None:
        """Set an attribute of an object or a class."""
        key = owner, name
        if values != self._heap.get(key) and worth(values):
            self._learned += 1
        self._heap[key] = values
        self._written.append(key)
