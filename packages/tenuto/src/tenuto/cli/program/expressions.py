"""Reads expressions: what each may be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from tenuto.cli.program.calls import Calls
from tenuto.cli.program.following import Scope
from tenuto.cli.program.values import (
    ACCOUNTED,
    NONE,
    NOTHING,
    UNKNOWN,
    Class,
    Const,
    Function,
    Items,
    Opaque,
    Outside,
    Values,
    key_of,
    text_of,
    truth_of,
    worth,
)

MAX_STEPS = 2_000_000
"""How many expressions are read at most. A program of 100,000 lines takes fewer."""

MAX_VALUES = 40
"""How many values an expression may have. Beyond, only clients are kept."""


class Expressions(Calls):
    """Reads expressions."""

    def _eval(self, node: ast.expr, scope: Scope) -> Values:
        self._steps += 1
        if self._steps > MAX_STEPS:
            self.gave_up = True
            return UNKNOWN
        read = _EXPRESSIONS.get(type(node))
        if read is None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._eval(child, scope)
            return UNKNOWN
        values: Values = read(self, node, scope)
        return worth(values) | UNKNOWN if len(values) > MAX_VALUES else values

    def on_name(self, node: ast.Name, scope: Scope) -> Values:
        return self._lookup(node.id, scope)

    def on_constant(self, node: ast.Constant, scope: Scope) -> Values:
        plain = isinstance(node.value, str | int | float | bool | None)
        return frozenset({Const(node.value)}) if plain else UNKNOWN

    def on_joined_str(self, node: ast.JoinedStr, scope: Scope) -> Values:
        texts: Values = frozenset({Const("")})
        for part in node.values:
            texts = self._joined(texts, self._eval(part, scope))
        return texts

    def on_formatted_value(self, node: ast.FormattedValue, scope: Scope) -> Values:
        return self._eval(node.value, scope)

    def on_bin_op(self, node: ast.BinOp, scope: Scope) -> Values:
        left, right = self._eval(node.left, scope), self._eval(node.right, scope)
        if isinstance(node.op, ast.Add):
            return self._joined(left, right)
        self._escape(left | right, node)
        return ACCOUNTED if worth(left | right) else UNKNOWN

    def _joined(self, left: Values, right: Values) -> Values:
        items = [v for v in left | right if isinstance(v, Items)]
        if items:
            return frozenset({Items((), NOTHING.union(*(v.all() for v in items)))})
        ends = [[text_of(v) for v in list(side)[:4]] for side in (left, right)]
        return frozenset(Const(a + b) for a in ends[0] for b in ends[1])

    def on_bool_op(self, node: ast.BoolOp, scope: Scope) -> Values:
        found: Values = NOTHING
        for part in node.values:
            values = self._eval(part, scope)
            truth = truth_of(values)
            if isinstance(node.op, ast.Or):
                found = (found - NONE) | values
                if truth is True:
                    return found
            else:
                if truth is False:
                    return found | values
                found = values | (found & NONE)
        return found

    def on_if_exp(self, node: ast.IfExp, scope: Scope) -> Values:
        truth = truth_of(self._eval(node.test, scope))
        if truth is not None:
            return self._eval(node.body if truth else node.orelse, scope)
        return self._eval(node.body, scope) | self._eval(node.orelse, scope)

    def on_compare(self, node: ast.Compare, scope: Scope) -> Values:
        left = self._eval(node.left, scope)
        right = [self._eval(each, scope) for each in node.comparators]
        match node.ops:
            case [ast.Is() | ast.IsNot()] if right[0] == NONE:
                some = {isinstance(v, Const) and v.value is None for v in left}
                some |= {True} if any(isinstance(v, Opaque) for v in left) else set()
                if len(some) == 1 and not any(isinstance(v, Opaque) for v in left):
                    return frozenset({Const(some.pop() == isinstance(node.ops[0], ast.Is))})
            case _:
                pass
        return UNKNOWN

    def on_unary_op(self, node: ast.UnaryOp, scope: Scope) -> Values:
        truth = truth_of(self._eval(node.operand, scope))
        if isinstance(node.op, ast.Not) and truth is not None:
            return frozenset({Const(not truth)})
        return UNKNOWN

    def on_named_expr(self, node: ast.NamedExpr, scope: Scope) -> Values:
        values = self._eval(node.value, scope)
        self._assign(node.target, values, scope)
        return values

    def on_await(self, node: ast.Await, scope: Scope) -> Values:
        return self._eval(node.value, scope)

    def on_yield(self, node: ast.Yield, scope: Scope) -> Values:
        if node.value is not None:
            scope.returned |= self._eval(node.value, scope)
        return UNKNOWN

    def on_yield_from(self, node: ast.YieldFrom, scope: Scope) -> Values:
        scope.returned |= self._contents(self._eval(node.value, scope))
        return UNKNOWN

    def on_lambda(self, node: ast.Lambda, scope: Scope) -> Values:
        function = Function(node, scope, self._defaults(node.args, scope))
        self._functions.append(function)
        return frozenset({function})

    def on_list(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Values:
        each = [self._eval(item, scope) for item in node.elts]
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return frozenset({Items((), NOTHING.union(*map(self._contents, each)))})
        return frozenset({Items(tuple(enumerate(each)))})

    def on_dict(self, node: ast.Dict, scope: Scope) -> Values:
        named: dict[Any, Values] = {}
        rest: Values = NOTHING
        for key, value in zip(node.keys, node.values, strict=True):
            values = self._eval(value, scope)
            if key is None:
                for item in values:
                    if isinstance(item, Items):
                        named |= dict(item.named)
                        rest |= item.rest
                    else:
                        rest |= UNKNOWN
                continue
            known = key_of(self._eval(key, scope))
            if known is None:
                rest |= values
            else:
                named[known] = values
        return frozenset({Items(tuple(named.items()), rest)})

    def on_list_comp(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope
    ) -> Values:
        inner = self._comprehended(node.generators, scope)
        return frozenset({Items((), self._eval(node.elt, inner))})

    def on_dict_comp(self, node: ast.DictComp, scope: Scope) -> Values:
        inner = self._comprehended(node.generators, scope)
        self._eval(node.key, inner)
        return frozenset({Items((), self._eval(node.value, inner))})

    def _comprehended(self, generators: Sequence[ast.comprehension], scope: Scope) -> Scope:
        inner = Scope(scope.module, scope, kind="function", owner=scope.owner, first=scope.first)
        for each in generators:
            self._assign(each.target, self._contents(self._eval(each.iter, inner)), inner)
            for test in each.ifs:
                self._eval(test, inner)
        return inner

    def on_subscript(self, node: ast.Subscript, scope: Scope) -> Values:
        base = self._eval(node.value, scope)
        if any(isinstance(v, Outside) and v.name.endswith(".Annotated") for v in base):
            parts = node.slice.elts[1:] if isinstance(node.slice, ast.Tuple) else []
            return NOTHING.union(UNKNOWN, *(self._eval(part, scope) for part in parts))
        key = key_of(self._eval(node.slice, scope))
        found: Values = NOTHING
        for value in base:
            match value:
                case Items():
                    named = dict(value.named)
                    found |= named[key] if key in named else value.all()
                case Class() | Outside():  # a generic class
                    found |= {value}
                case Opaque():
                    found |= {value}
                case _:
                    found |= UNKNOWN
        return found or UNKNOWN

    def _contents(self, values: Values) -> Values:
        found: Values = NOTHING
        for value in values:
            match value:
                case Items():
                    found |= value.all()
                case Const():
                    found |= UNKNOWN
                case _:
                    found |= {value}
        return found or UNKNOWN


_EXPRESSIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Name: Expressions.on_name,
    ast.Constant: Expressions.on_constant,
    ast.JoinedStr: Expressions.on_joined_str,
    ast.FormattedValue: Expressions.on_formatted_value,
    ast.BinOp: Expressions.on_bin_op,
    ast.BoolOp: Expressions.on_bool_op,
    ast.IfExp: Expressions.on_if_exp,
    ast.Compare: Expressions.on_compare,
    ast.UnaryOp: Expressions.on_unary_op,
    ast.NamedExpr: Expressions.on_named_expr,
    ast.Await: Expressions.on_await,
    ast.Yield: Expressions.on_yield,
    ast.YieldFrom: Expressions.on_yield_from,
    ast.Lambda: Expressions.on_lambda,
    ast.List: Expressions.on_list,
    ast.Dict: Expressions.on_dict,
    ast.ListComp: Expressions.on_list_comp,
    ast.DictComp: Expressions.on_dict_comp,
    ast.Subscript: Expressions.on_subscript,
    ast.Call: Expressions.on_call,
    ast.Attribute: Expressions.on_attribute,
    ast.Starred: Expressions.on_await,
    ast.Tuple: Expressions.on_list,
    ast.Set: Expressions.on_list,
    ast.SetComp: Expressions.on_list_comp,
    ast.GeneratorExp: Expressions.on_list_comp,
}
"""How each kind of expression is read. All others are opaque."""
