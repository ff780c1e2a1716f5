"""Reads attributes: of modules, of objects and classes of the program, and of what others made."""

from __future__ import annotations

import ast
from dataclasses import replace

from tenuto.cli.program.following import Following, Given, Scope
from tenuto.cli.program.values import (
    NOTHING,
    UNKNOWN,
    Bound,
    Class,
    Const,
    Function,
    Http,
    Instance,
    Made,
    Opaque,
    Outside,
    Own,
    Value,
    Values,
)


class Attributes(Following):
    """Looks attributes up."""

    def on_attribute(self, node: ast.Attribute, scope: Scope) -> Values:
        found: Values = NOTHING
        for base in self._eval(node.value, scope):
            found |= self._attribute(base, node.attr, scope)
        return found or UNKNOWN

    def _attribute(self, base: Value, name: str, scope: Scope) -> Values:
        match base:
            case Own():
                return self._member(base.module.name, base.module, name, scope)
            case Outside():
                below = self._named_module(f"{base.name}.{name}", scope.module)
                return frozenset({Own(below) if below else Outside(f"{base.name}.{name}")})
            case Made():
                return frozenset({replace(base, path=(*base.path, name))})
            case Http():
                return frozenset({replace(base, method=name)})
            case Instance():
                return self._of_instance(base, name)
            case Class():
                if (base, name) in self._heap:
                    return self._heap[base, name]
                return self._taken(self._of_class(base, name), base) or UNKNOWN
            case Opaque():
                stored = NOTHING if base.accounted else self._fields.get(name, NOTHING)
                return stored | {base}
            case Const(value=None):
                return NOTHING
            case _:
                return UNKNOWN

    def _of_instance(self, instance: Instance, name: str) -> Values:
        own = self._heap.get((instance, name), NOTHING)
        if own:
            return own
        found: Values = NOTHING
        for value in self._of_class(instance.cls, name):
            if isinstance(value, Function) and "property" in value.kinds:
                found |= self._run(value, instance, Given())
            else:
                found |= self._taken(frozenset({value}), instance)
        return found or self._fields.get(name, NOTHING) | UNKNOWN

    def _line(self, cls: Class) -> list[Class]:
        """Return a class and its base classes, in the order of look-up."""
        found, left = [], [cls]
        while left:
            each = left.pop(0)
            if each not in found:
                found.append(each)
                left += [base for base in each.bases if isinstance(base, Class)]
        return found

    def _of_class(self, cls: Class, name: str, after: Class | None = None) -> Values:
        line = self._line(cls)
        if after in line:
            line = line[line.index(after) + 1 :]
        for each in line:
            if (each, name) in self._heap:
                return self._heap[each, name]
            if name in each.members:
                return each.members[name]
        return NOTHING

    def _taken(self, values: Values, first: Value) -> Values:
        """Return methods bound to the object or class that they were taken from."""
        found: Values = NOTHING
        for value in values:
            if isinstance(value, Function) and "static" not in value.kinds:
                if isinstance(first, Class) and "class" not in value.kinds:
                    found |= {value}
                    continue
                if "class" in value.kinds and isinstance(first, Instance):
                    found |= {Bound(value, first.cls)}
                    continue
                found |= {Bound(value, first)}
            else:
                found |= {value}
        return found
