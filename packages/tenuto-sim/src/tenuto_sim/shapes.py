"""The rules that the requests of all wires share: the members of an object, their types, and that
calls and results match.

Each wire has tables of what it accepts, and functions that write its refusals. The rules yield a
refusal for each violation. Only the first is sent, so a rule may rely on the earlier rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any

from tenuto_sim.errors import Failure

Violations = Iterator[Failure]
Refuse = Callable[[str], Failure]
"""Writes the refusal of a member from its name or path."""
Object = Mapping[str, Any]
Type = type | UnionType
Types = Mapping[str, Type]
"""Types by the name of a member."""


@dataclass(frozen=True, slots=True)
class Words:
    """How a provider rejects a member, by its path: a missing one, an unknown one, and one of the
    wrong
    type, for which it is passed the right type and the value."""

    missing: Refuse
    unknown: Refuse
    mistyped: Callable[[str, Type, Any], Failure]

    def of_types(
        self, value: Object, types: Types, path: str = "", *, null: bool = False
    ) -> Violations:
        """Yield the refusal of each member of the wrong type; see `of_other_types` for `null`."""

        def refuse(name: str) -> Failure:
            return self.mistyped(path + name, types[name], value[name])

        return of_other_types(value, types, refuse, null=null)


@dataclass(frozen=True, slots=True)
class Shape:
    """The required members of an object, its optional members (None: any), and
    their types.

    >>> Shape.of("id name", may="caller").required
    ('id', 'name')
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] | None = ()
    types: Types = field(default_factory=dict)

    @classmethod
    def of(cls, required: str = "", may: str | None = "", types: Types | None = None) -> Shape:
        """Return the shape with these members; names are separated by spaces."""
        optional = None if may is None else tuple(may.split())
        return cls(tuple(required.split()), optional, types or {})

    def violations(self, path: str, value: Object, words: Words) -> Violations:
        """Yield a refusal of each missing member, unknown member, and member of the wrong type."""
        yield from lacking(value, self.required, lambda name: words.missing(f"{path}.{name}"))
        known = value if self.optional is None else self.required + self.optional
        yield from others(value, known, lambda name: words.unknown(f"{path}.{name}"))
        yield from words.of_types(value, self.types, f"{path}.")


def lacking(value: Object, names: Iterable[str], refuse: Refuse) -> Violations:
    """Yield the refusal of each name that an object lacks."""
    return (refuse(name) for name in names if name not in value)


def others(names: Iterable[str], known: Collection[str], refuse: Refuse) -> Violations:
    """Yield the refusal of each unknown name.

    >>> [made.document for made in others("ab", "a", lambda name: Failure(400, {"no": name}))]
    [{'no': 'b'}]
    """
    return (refuse(name) for name in names if name not in known)


def from_us(names: Iterable[str], refuse: Refuse, *begin: str) -> Violations:
    """Yield the refusal of each name that Tenuto must never send: one that begins with one of
    these, or
    like a header of Tenuto's."""
    return (refuse(name) for name in names if name.startswith(begin or "x-tenuto-"))


def of_other_types(
    value: Object, types: Types, refuse: Refuse, *, null: bool = False
) -> Violations:
    """Yield the refusal of each member of the wrong type; with `null`, a null counts as absent."""
    for name, wanted in types.items():
        absent = name not in value or (null and value[name] is None)
        if not absent and not isinstance(value[name], wanted):
            yield refuse(name)


def unpaired(
    rows: Iterable[tuple[Sequence[str] | None, Iterable[str]]],
    no_result: Callable[[Sequence[str], int], Failure],
    no_call: Callable[[Sequence[str], int], Failure],
) -> Violations:
    """Yield what is wrong with the results that must follow calls.

    Args:
        rows: for each row, the ids of its results (None if it holds none), and of its calls.
        no_result: writes the refusal of calls without a result, from their names and their row's
        number.
        no_call: writes the refusal of results without a call, likewise. A second result of the same
        call
            counts as having none.

    >>> rows = [(None, ["a", "b"]), (["a"], [])]
    >>> def refuse(names, row): return Failure(400, {"row": row, "names": names})
    >>> [made.document for made in unpaired(rows, refuse, refuse)]
    [{'row': 0, 'names': ['b']}]
    """
    pending: list[str] = []
    caller = 0
    for number, (results, calls) in enumerate(rows):
        if results is None:
            if pending:
                yield no_result(pending, caller)
            pending, caller = list(calls), number
            continue
        strange = []
        for name in results:
            if name in pending:
                pending.remove(name)
            else:
                strange.append(name)
        if strange:
            yield no_call(strange, number)
    if pending:
        yield no_result(pending, caller)
