"""Reads calls: of the program's functions and classes, and of methods of containers and texts."""

from __future__ import annotations

import ast
import re

from tenuto.cli.program.attributes import Attributes
from tenuto.cli.program.clients import ENTERING, Clients
from tenuto.cli.program.following import Given, Scope
from tenuto.cli.program.makers import maker_of
from tenuto.cli.program.values import (
    NONE,
    NOTHING,
    PASSED,
    UNKNOWN,
    UNSEEN,
    Bound,
    Class,
    Const,
    Function,
    Http,
    Instance,
    Items,
    Made,
    Opaque,
    Outside,
    Super,
    Value,
    Values,
    has_client,
    key_of,
    worth,
)

MAX_DEPTH = 25
"""How many calls deep the program is followed."""

MAX_RUNS = 40
"""How often a function or a class is read with different arguments of which one is a client."""

MAX_DULL_RUNS = 4
"""How often it is read with different arguments of which none is."""

_FIELD = re.compile(r"\{[^{}]*\}")
"""A field of a text that is formatted."""


class Calls(Clients, Attributes):
    """Goes through what is called."""

    def on_call(self, node: ast.Call, scope: Scope) -> Values:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and scope.owner is not None:
            return frozenset({Super(scope.owner, each) for each in scope.first})
        given = self._given(node, scope)
        self._here = scope
        if isinstance(node.func, ast.Attribute):
            found = self._method(node.func, node, given, scope)
            if found is not None:
                return found
        return self._called_with(self._eval(node.func, scope), given, node, scope)

    def _method(
        self, func: ast.Attribute, node: ast.Call, given: Given, scope: Scope
    ) -> Values | None:
        """Return what a method of a container, a text or `super()` returns; None: it is another."""
        bases = self._eval(func.value, scope)
        if any(isinstance(v, Super) for v in bases):
            found: Values = NOTHING
            for base in bases:
                if isinstance(base, Super):
                    first: Value = base.first
                    cls = first.cls if isinstance(first, Instance) else first
                    methods = (
                        self._of_class(cls, func.attr, base.owner)
                        if isinstance(cls, Class)
                        else NOTHING
                    )
                    found |= self._called_with(self._taken(methods, first), given, node, scope)
            return found or UNKNOWN
        items = [v for v in bases if isinstance(v, Items)]
        if items and len(items) == len(bases):
            inside = NOTHING.union(*(v.all() for v in items))
            if func.attr in ("append", "add", "insert", "extend", "update", "setdefault"):
                new = given.all()
                added = self._contents(new) if func.attr in ("extend", "update") else new
                grown = frozenset(Items(v.named, v.rest | added) for v in items)
                if isinstance(func.value, ast.Name | ast.Attribute):
                    self._assign(func.value, grown, scope)
                return inside | new if func.attr == "setdefault" else NONE
            if func.attr == "items":
                pair = Items(((0, UNKNOWN), (1, inside)))
                return frozenset({Items((), frozenset({pair}))})
            if func.attr in ("values", "copy"):
                return frozenset({Items((), inside)})
            if func.attr in ("get", "pop"):
                key = key_of(given.positional[0]) if given.positional else None
                exact = [dict(v.named)[key] for v in items if key in dict(v.named)]
                return (NOTHING.union(*exact) if exact else inside) | NOTHING.union(
                    *given.positional[1:]
                )
            return inside or UNKNOWN
        texts = [v for v in bases if isinstance(v, Const) and isinstance(v.value, str)]
        if texts:
            if func.attr == "format":
                return frozenset(Const(_FIELD.sub(UNSEEN, v.value)) for v in texts)
            if func.attr in ("rstrip", "strip", "lower", "removesuffix", "lstrip"):
                return frozenset(texts)
        return None

    def _given(self, node: ast.Call, scope: Scope) -> Given:
        positional: list[Values] = []
        unseen = ""
        for each in node.args:
            if isinstance(each, ast.Starred):
                values = self._eval(each.value, scope)
                match list(values):
                    case [Items() as items] if not unseen:
                        positional += items.in_order()
                        unseen = self._unseen(items.rest, unseen) if items.rest else unseen
                    case _:
                        unseen = self._unseen(values, unseen)
            else:
                positional.append(self._eval(each, scope))
        named: dict[str, Values] = {}
        for word in node.keywords:
            values = self._eval(word.value, scope)
            if word.arg is not None:
                named[word.arg] = values
                continue
            for value in values:
                if isinstance(value, Items):
                    named |= {str(k): v for k, v in value.named}
                    unseen = self._unseen(value.rest, unseen) if value.rest else unseen
                else:
                    unseen = self._unseen(frozenset({value}), unseen)
        return Given(tuple(positional), tuple(named.items()), unseen)

    def _unseen(self, values: Values, before: str) -> str:
        passed = any(isinstance(v, Opaque) and v.passed for v in values)
        return "passed" if passed else before or "yes"

    def _called_with(
        self, callees: Values, given: Given, node: ast.Call | None, scope: Scope | None = None
    ) -> Values:
        found: Values = NOTHING
        made = frozenset(v for v in callees if isinstance(v, Made))
        if made:
            found |= self._use_of(made, given, node)
        for callee in callees - made:
            found |= self._call(callee, given, node, scope)
        unknown = [v for v in callees if isinstance(v, Opaque) and not v.accounted]
        if unknown and not made and node is not None and scope is not None:
            self._unknown_turn(node, given, scope)
        return found or UNKNOWN

    def _call(
        self, callee: Value, given: Given, node: ast.Call | None, scope: Scope | None
    ) -> Values:
        match callee:
            case Function():
                return self._run(callee, None, given)
            case Bound():
                return self._run(callee.function, callee.first, given)
            case Class():
                return self._new(callee, given, node, scope)
            case Instance():
                methods = self._of_class(callee.cls, "__call__")
                return self._called_with(self._taken(methods, callee), given, node, scope)
            case Outside() if node is not None and scope is not None:
                return self._outside(callee.name, given, node, scope)
            case Http() if node is not None:
                return self._sent(callee, given)
            case Opaque() if node is not None:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if name in ENTERING:
                    return given.all()
                return self._handed_out(name, given, node, accounted=callee.accounted)
            case _:
                return UNKNOWN

    def _run(self, function: Function, first: Value | None, given: Given) -> Values:
        node = function.node
        self._called.add(function.key)
        if function.key in self._stack or len(self._stack) >= MAX_DEPTH or self.gave_up:
            return UNKNOWN
        scope = Scope(
            function.scope.module,
            function.scope,
            kind="function",
            owner=function.owner or function.scope.owner,
        )
        key = (function, first, given, self._learned)
        if key in self._memo:
            return self._memo[key]
        runs = self._runs.setdefault(function.key, [])
        worthy = self._decorating or has_client(given.all())
        if len(runs) >= (MAX_RUNS if worthy else MAX_DULL_RUNS):
            return NOTHING.union(*runs)
        self._parameters(function, first, given, scope)
        self._stack.append(function.key)
        try:
            if isinstance(node, ast.Lambda):
                scope.returned = self._eval(node.body, scope)
            else:
                self._body(node.body, scope)
        finally:
            self._stack.pop()
        result = scope.returned or NONE
        self._memo[key] = result
        runs.append(result)
        return result

    def _parameters(
        self, function: Function, first: Value | None, given: Given, scope: Scope
    ) -> None:
        args = function.node.args
        places = [*args.posonlyargs, *args.args]
        positional = list(given.positional)
        if first is not None:
            positional.insert(0, frozenset({first}))
            scope.first = positional[0]
        elif function.scope.kind == "function":
            scope.first = function.scope.first
        named = dict(given.named)
        for place, arg in enumerate(places):
            if place < len(positional):
                scope.names[arg.arg] = positional[place]
            else:
                scope.names[arg.arg] = self._argument(function, arg, named, given)
        for arg in args.kwonlyargs:
            scope.names[arg.arg] = self._argument(function, arg, named, given)
        if args.vararg:
            more = tuple(enumerate(positional[len(places) :]))
            scope.names[args.vararg.arg] = frozenset(
                {Items(more, PASSED if given.unseen else NOTHING)}
            )
        if args.kwarg:
            rest = PASSED if given.unseen == "passed" else UNKNOWN if given.unseen else NOTHING
            scope.names[args.kwarg.arg] = frozenset({Items(tuple(named.items()), rest)})

    def _argument(
        self, function: Function, arg: ast.arg, named: dict[str, Values], given: Given
    ) -> Values:
        if arg.arg in named:
            return named.pop(arg.arg)
        default = function.defaults.get(arg.arg)
        if default is not None and (given.unseen != "passed" or worth(default)):
            return default
        handed = NOTHING
        if arg.annotation is not None and given.unseen == "passed":
            values = self._eval(arg.annotation, function.scope)
            handed = frozenset(v for v in values if isinstance(v, Made | Http | Instance))
        return handed or (default or NOTHING) | PASSED

    def _new(self, cls: Class, given: Given, node: ast.Call | None, scope: Scope | None) -> Values:
        for each in self._line(cls):
            for base in each.bases:
                maker = maker_of(base.name) if isinstance(base, Outside) else None
                if maker and node and scope and (maker.wraps or maker.ways):
                    return self._make(maker, given, node, scope)
        return frozenset({self._instance(cls, given)})

    def _instance(self, cls: Class, given: Given, *, entered: bool = False) -> Instance:
        key = ("new", cls, given)
        if key in self._memo:
            for value in self._memo[key]:
                if isinstance(value, Instance):
                    return value
        same = self._instances.setdefault(cls, [])
        if len(same) >= (MAX_RUNS if has_client(given.all()) else MAX_DULL_RUNS):
            return same[-1]
        made = Instance(cls, entered)
        self._memo[key] = frozenset({made})
        for each in self._line(cls):
            self._instances.setdefault(each, []).append(made)
        init = self._of_class(cls, "__init__")
        if init:
            called = [v.key in self._called for v in init if isinstance(v, Function)]
            self._called_with(self._taken(init, made), given, None)
            if entered and not all(called):
                self._called.difference_update(v.key for v in init if isinstance(v, Function))
        else:
            fields = [
                each.target.id
                for every in reversed(self._line(cls))
                for each in every.node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            ]
            for name, values in [*zip(fields, given.positional, strict=False), *given.named]:
                self._write(made, name, values)
            for method in self._of_class(cls, "__post_init__"):
                self._called_with(self._taken(frozenset({method}), made), Given(), None)
        return made

    def _entered(self, value: Value) -> Values:
        if isinstance(value, Instance):
            for name in ("__enter__", "__aenter__"):
                if method := self._of_class(value.cls, name):
                    return self._called_with(self._taken(method, value), Given(), None)
        return frozenset({value})
