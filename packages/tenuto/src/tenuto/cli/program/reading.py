"""Reads a program: where it makes clients, and what becomes of them.

Theory of operation
-------------------
The reader goes through the source as Python would, statement by statement, but with sets of
`Value` instead of values, and it runs nothing. It follows names, attributes, containers, calls of
the program's own functions and classes, and imports between its files. After an `if`, a name may be
what either branch made of it. Functions that nobody in the program calls are entered last, with
arguments that the source does not show. Calls of other packages return something opaque, except
those that `makers` and Tenuto itself name.

So a client is followed from the place that makes it (a `Site`) to the calls that use it, and the
site notes whether they use it as it was made or as `tenuto.wrap()` returned it.

The class is put together from one file for each part: `following` (what they share), `http`,
`clients`, `attributes`, `calls`, `expressions`, `statements`, and this one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from tenuto.cli.program.following import Given, Scope
from tenuto.cli.program.makers import UNKNOWN_MAKER, maker_of
from tenuto.cli.program.sources import Module, Sources
from tenuto.cli.program.statements import Statements
from tenuto.cli.program.values import UNKNOWN, Function, Made, Outside, Own, Value, Values


class Reader(Statements):
    """Reads a program once."""

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self._all = sources.modules
        self._named: dict[str, list[Module]] = {}
        for module in sources.modules:
            self._named.setdefault(module.name, []).append(module)
        self._scopes: dict[str, Scope] = {}
        self._aliases = dict(_aliases(sources.modules))

    def read(self) -> None:
        """Read the program."""
        for module in self._all:
            self._loaded(module)
        loaded = self._covered()
        self._enter_all()
        guessed = self._covered()
        for key, site in self.sites.items():
            site.covered = set(loaded.get(key, ()))
        # Again, with what the first time left in attributes. Now it is known which functions have a
        # caller, and what they were given when they seemed to have none counts no more.
        self._enter_all()
        for key, site in self.sites.items():
            site.covered = site.covered or guessed.get(key, set())

    def _covered(self) -> dict[tuple[str, int, int], set[str]]:
        return {key: set(site.covered) for key, site in self.sites.items()}

    def _enter_all(self) -> None:
        """Read the functions that nobody calls."""
        self._memo.clear()
        self._runs.clear()
        # What was unknown may have come from a call that was read later.
        for key in [key for key, s in self.sites.items() if s.maker is UNKNOWN_MAKER]:
            del self.sites[key]
        for made in self._instances.values():
            made[:] = [each for each in made if not each.entered]
        for function in list(self._functions):
            if function.key not in self._called:
                self._enter(function)

    def _enter(self, function: Function) -> None:
        """Read a function that nobody calls, as if somebody did."""
        firsts: Sequence[Value | None] = [None]
        if function.owner is not None and "static" not in function.kinds:
            cls = function.owner
            firsts = self._instances.get(cls) or [
                self._instance(cls, Given(unseen="passed"), entered=True)
            ]
            if "class" in function.kinds:
                firsts = [cls]
        for first in firsts:
            before = function.key in self._called
            result = self._run(function, first, Given(unseen="passed"))
            if not before:
                self._called.discard(function.key)
            for value in result:
                if isinstance(value, Made) and not value.path:
                    value.site.escapes = True

    def _loaded(self, module: Module) -> Scope:
        scope = self._scopes.get(module.file)
        if scope is None:
            scope = self._scopes[module.file] = Scope(module)
            scope.names["__name__"] = UNKNOWN
            self._body(module.tree.body, scope)
        return scope

    def _own(self, name: str, importer: Module) -> Module | None:
        """Return the module of a name that is nearest to the one that imports it."""
        same = self._named.get(name, ())
        parts = PurePath(importer.file).parts

        def shared(module: Module) -> int:
            pairs = zip(PurePath(module.file).parts, parts, strict=False)
            return next((n for n, (a, b) in enumerate(pairs) if a != b), len(parts))

        return max(same, key=shared, default=None)

    def _named_module(self, name: str, importer: Module) -> Module | None:
        if (own := self._own(name, importer)) is not None:
            return own if own is not importer or "." in name else None
        if "." in name or maker_of(f"{name}.x") is None:
            found = self._aliases.get(name)
            here = found and PurePath(found.file).parent == PurePath(importer.file).parent
            if (
                found is not None
                and found is not importer
                and ("." in name or here or found.is_package)
            ):
                return found
        return None

    def _imported(self, name: str, scope: Scope) -> Value:
        module = self._named_module(name, scope.module)
        if module is None:
            return Outside(name)
        self._loaded(module)
        return Own(module)

    def on_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            if alias.asname:
                self._bind(alias.asname, frozenset({self._imported(alias.name, scope)}), scope)
            else:
                self._imported(alias.name, scope)
                self._bind(root, frozenset({self._imported(root, scope)}), scope)

    def on_import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        name = node.module or ""
        if node.level:
            parts = scope.module.name.split(".") if scope.module.name else []
            if not scope.module.is_package:
                parts = parts[:-1]
            parts = parts[: len(parts) - node.level + 1]
            name = ".".join([*parts, *([name] if name else [])])
        for alias in node.names:
            module = (
                self._own(name, scope.module)
                if node.level
                else self._named_module(name, scope.module)
            )
            if alias.name == "*":
                if module is not None:
                    scope.names.update(self._loaded(module).names)
                continue
            self._bind(
                alias.asname or alias.name, self._member(name, module, alias.name, scope), scope
            )

    def _member(self, name: str, module: Module | None, member: str, scope: Scope) -> Values:
        if module is not None:
            names = self._loaded(module).names
            if member in names:
                return names[member]
        below = f"{name}.{member}" if name else member
        own = self._own(below, scope.module) or self._named_module(below, scope.module)
        if own is not None:
            self._loaded(own)
            return frozenset({Own(own)})
        return UNKNOWN if module is not None else frozenset({Outside(below)})


def _aliases(modules: Sequence[Module]) -> Iterator[tuple[str, Module]]:
    """Yield the other names by which a program may import its modules: below each folder that is no
    package, such as `src`."""
    packages = {PurePath(m.file).parent for m in modules if m.is_package}
    for module in modules:
        parts = module.name.split(".")
        folder = PurePath(module.file).parent
        if module.is_package:
            folder = folder.parent
        for count in range(1, len(parts)):
            if folder not in packages:
                yield ".".join(parts[-count:]), module
            folder = folder.parent
