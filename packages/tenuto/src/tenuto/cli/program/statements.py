"""Reads statements, in the order in which Python runs them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tenuto.cli.program.expressions import Expressions
from tenuto.cli.program.following import Given, Scope, State
from tenuto.cli.program.values import (
    NOTHING,
    UNKNOWN,
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
    Own,
    Value,
    Values,
    covers,
    key_of,
    truth_of,
    worth,
)


class Statements(Expressions):
    """Reads statements."""

    def on_return(self, node: ast.Return, scope: Scope) -> bool:
        if node.value is not None:
            scope.returned |= self._eval(node.value, scope)
        return True

    def on_raise(self, node: ast.Raise, scope: Scope) -> bool:
        if node.exc is not None:
            self._eval(node.exc, scope)
        return True

    def on_break(self, node: ast.stmt, scope: Scope) -> bool:
        return True

    def on_global(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        scope.shared.update(node.names)

    def on_assign(self, node: ast.Assign, scope: Scope) -> None:
        values = self._eval(node.value, scope)
        for target in node.targets:
            self._assign(target, values, scope)

    def on_ann_assign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self._assign(node.target, self._eval(node.value, scope), scope)

    def on_aug_assign(self, node: ast.AugAssign, scope: Scope) -> None:
        values = self._eval(node.value, scope)
        loaded = ast.copy_location(loading(node.target), node)
        self._assign(node.target, self._joined(self._eval(loaded, scope), values), scope)

    def on_expr(self, node: ast.Expr, scope: Scope) -> None:
        self._eval(node.value, scope)

    def on_if(self, node: ast.If, scope: Scope) -> bool:
        return self._either(node.test, node.body, node.orelse, scope)

    def on_for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        items = self._contents(self._eval(node.iter, scope))
        self._loop(node.body, node.orelse, scope, lambda: self._assign(node.target, items, scope))

    def on_while(self, node: ast.While, scope: Scope) -> None:
        def test() -> None:
            self._eval(node.test, scope)

        self._loop(node.body, node.orelse, scope, test)

    def on_try(self, node: ast.Try, scope: Scope) -> bool:
        before = self._state(scope)
        ended = self._body(node.body, scope) or self._body(node.orelse, scope)
        after = self._state(scope)
        alive = None if ended else after
        for handler in node.handlers:
            self._restore(before, scope)
            self._merge(after, before, scope)
            if handler.name:
                scope.names[handler.name] = UNKNOWN
            if not self._body(handler.body, scope):
                if alive is not None:
                    self._merge(alive, before, scope)
                alive = self._state(scope)
        self._restore(alive or after, scope)
        return self._body(node.finalbody, scope) or alive is None

    def on_with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in node.items:
            entered: Values = NOTHING
            for value in self._eval(item.context_expr, scope):
                entered |= self._entered(value)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, entered, scope)
        return self._body(node.body, scope)

    def on_match(self, node: ast.Match, scope: Scope) -> bool:
        subject = self._eval(node.subject, scope)
        before = self._state(scope)
        alive: State | None = before
        for case in node.cases:
            self._restore(before, scope)
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                    scope.names[part.name] = subject
            if not self._body(case.body, scope):
                if alive is not None:
                    self._merge(alive, before, scope)
                alive = self._state(scope)
        self._restore(alive or before, scope)
        return False

    def on_function_def(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        names = (ast.unparse(each).rpartition(".")[2] for each in node.decorator_list)
        kinds = {_KINDS.get(name, "") for name in names}
        function = Function(
            node,
            scope,
            self._defaults(node.args, scope),
            frozenset(kinds),
            scope.owner,
        )
        made = function
        for decorator in reversed(node.decorator_list):
            made = self._decorated(decorator, made, scope)
        # Those of its decorators come first: they are read with what the decorators pass.
        self._functions.append(function)
        self._bind(node.name, frozenset({made}), scope)

    def _decorated(self, decorator: ast.expr, function: Function, scope: Scope) -> Function:
        """Return the function that one of the program's decorators makes of another. Decorators of
        other packages, and those that hand out something else, are taken to change nothing."""
        before, self._decorating = self._decorating, True
        try:
            values = self._eval(decorator, scope)
            own = [v for v in values if isinstance(v, Function | Bound | Instance)]
            given = Given((frozenset({function}),))
            made = [v for each in own for v in self._call(each, given, None, None)]
        finally:
            self._decorating = before
        match [v for v in made if isinstance(v, Function)]:
            case [new] if new is not function:
                stands = replace(
                    new, kinds=function.kinds, owner=function.owner, stands_for=function.node
                )
                self._functions = [stands if each is new else each for each in self._functions]
                return stands
            case _:
                return function

    def on_class_def(self, node: ast.ClassDef, scope: Scope) -> None:
        bases: list[Value] = []
        for base in node.bases:
            bases += [v for v in self._eval(base, scope) if isinstance(v, Class | Outside)]
        cls = Class(node, scope, {}, tuple(bases))
        inner = Scope(scope.module, scope, kind="class", owner=cls)
        self._body(node.body, inner)
        cls.members = inner.names
        self._bind(node.name, frozenset({cls}), scope)

    def _body(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        """Read statements; return whether none behind them is reached."""
        return any(self._statement(each, scope) for each in body)

    def _statement(self, node: ast.stmt, scope: Scope) -> bool:
        read = _STATEMENTS.get(type(node))
        if read is not None:
            return bool(read(self, node, scope))
        if isinstance(node, ast.Import):
            self.on_import(node, scope)
        elif isinstance(node, ast.ImportFrom):
            self.on_import_from(node, scope)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._eval(child, scope)
        return False

    def _assign(self, target: ast.expr, values: Values, scope: Scope) -> None:
        match target:
            case ast.Name():
                self._bind(target.id, values, scope)
                for value in values:
                    if isinstance(value, Made) and not value.site.target:
                        value.site.target = target.id
            case ast.Attribute():
                for base in self._eval(target.value, scope):
                    self._set(base, target.attr, values, only=True)
            case ast.Tuple() | ast.List():
                inside = self._contents(values)
                for position, each in enumerate(target.elts):
                    exact = [dict(v.named).get(position) for v in values if isinstance(v, Items)]
                    known = [v for v in exact if v is not None]
                    got = NOTHING.union(*known) if known else inside
                    self._assign(each.value if isinstance(each, ast.Starred) else each, got, scope)
            case ast.Subscript():
                key = key_of(self._eval(target.slice, scope))
                changed: Values = NOTHING
                for base in self._eval(target.value, scope):
                    if isinstance(base, Items):
                        changed |= {base.holding(key, values)}
                        continue
                    if isinstance(base, Opaque):
                        self._escape_softly(values)
                    changed |= {base}
                if isinstance(target.value, ast.Name | ast.Attribute):
                    self._assign(target.value, changed, scope)
            case ast.Starred():
                self._assign(target.value, values, scope)

    def _set(self, base: Value, name: str, values: Values, *, only: bool) -> None:
        match base:
            case Instance() | Class():
                self._write(base, name, values)
            case Made():
                good = any(
                    (isinstance(v, Made) and v.wrapped) or (isinstance(v, Opaque) and v.wrapped)
                    or (isinstance(v, Http) and v.covered == "yes")
                    for v in values
                )  # fmt: skip
                if good:
                    base.site.assigned.add(name)
            case Outside():
                self.facts.setdefault(f"{base.name}.{name}", set()).update(map(covers, values))
                self._escape_softly(values)
            case Own():
                names = self._loaded(base.module).names
                names[name] = names.get(name, NOTHING) | values
            case Opaque():
                self._fields[name] = self._fields.get(name, NOTHING) | worth(values)
                self._escape_softly(values)
            case _:
                pass

    def _either(
        self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt], scope: Scope
    ) -> bool:
        truth = truth_of(self._eval(test, scope))
        if truth is not None and not isinstance(test, ast.Name):
            return self._body(body if truth else other, scope)
        before = self._state(scope)
        self._narrow(test, scope, holds=True)
        ended = self._body(body, scope)
        after = self._state(scope)
        self._restore(before, scope)
        self._narrow(test, scope, holds=False)
        other_ended = self._body(other, scope)
        if other_ended and not ended:
            self._restore(after, scope)
        elif not ended:
            self._merge(after, before, scope)
        return ended and other_ended

    def _narrow(self, test: ast.expr, scope: Scope, *, holds: bool) -> None:
        """Keep what a name or an attribute may be if a test of it holds, or does not."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._narrow(operand, scope, holds=not holds)
            case ast.Compare(
                left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(None)]
            ):
                is_none = isinstance(test.ops[0], ast.Is) == holds
                self._keep(left, scope, is_none=is_none)
            case ast.Name() | ast.Attribute():
                self._keep(test, scope, is_none=not holds)
            case ast.BoolOp(op=ast.And(), values=parts) if holds:
                for part in parts:
                    self._narrow(part, scope, holds=True)
            case _:
                pass

    def _keep(self, node: ast.expr, scope: Scope, *, is_none: bool) -> None:
        if not isinstance(node, ast.Name | ast.Attribute):
            return
        values = self._eval(node, scope)
        empty = {v for v in values if isinstance(v, Const) and not v.value}
        kept = frozenset(empty) if is_none else values - empty
        opaque = frozenset(v for v in values if isinstance(v, Opaque))
        kept |= opaque if is_none else NOTHING
        if kept and kept != values:
            self._assign(node, kept, scope)

    def _loop(
        self, body: Sequence[ast.stmt], other: Sequence[ast.stmt], scope: Scope,
        begin: Callable[[], None],
    ) -> None:  # fmt: skip
        before = self._state(scope)
        for _ in range(2):
            begin()
            self._body(body, scope)
            self._merge(before, before, scope)
        self._body(other, scope)

    def _defaults(self, args: ast.arguments, scope: Scope) -> dict[str, Values]:
        places = [*args.posonlyargs, *args.args]
        pairs = list(zip(reversed(places), reversed(args.defaults), strict=False))
        pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
        return {arg.arg: self._eval(default, scope) for arg, default in pairs}


_STATEMENTS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Return: Statements.on_return,
    ast.Raise: Statements.on_raise,
    ast.Break: Statements.on_break,
    ast.Global: Statements.on_global,
    ast.Assign: Statements.on_assign,
    ast.AnnAssign: Statements.on_ann_assign,
    ast.AugAssign: Statements.on_aug_assign,
    ast.Expr: Statements.on_expr,
    ast.If: Statements.on_if,
    ast.For: Statements.on_for,
    ast.While: Statements.on_while,
    ast.Try: Statements.on_try,
    ast.With: Statements.on_with,
    ast.Match: Statements.on_match,
    ast.FunctionDef: Statements.on_function_def,
    ast.ClassDef: Statements.on_class_def,
    ast.Continue: Statements.on_break,
    ast.Nonlocal: Statements.on_global,
    ast.AsyncFor: Statements.on_for,
    ast.TryStar: Statements.on_try,
    ast.AsyncWith: Statements.on_with,
    ast.AsyncFunctionDef: Statements.on_function_def,
}
"""How each kind of statement is read. Of all others, the expressions are."""

_KINDS = {
    "staticmethod": "static",
    "classmethod": "class",
    "property": "property",
    "cached_property": "property",
}
"""What decorators make of a method."""


def loading(node: ast.expr) -> ast.expr:
    new = ast.parse(ast.unparse(node), mode="eval").body
    return ast.fix_missing_locations(new)
