"""The rules that the requests of all wires share: which members an object has, of which types, and
that calls and results stand in pairs.

A wire says what it takes in tables, and its own words in functions that make a refusal. The rules
yield a refusal for each breach. Only the first is ever sent: a rule may rely on what those before
it let pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any

from tenuto.sim.errors import Failure

Violations = Iterator[Failure]
Refuse = Callable[[str], Failure]
"""Writes the refusal of a member, of which it is given the name or the path."""
Object = Mapping[str, Any]
Type = type | UnionType
Types = Mapping[str, Type]
"""By the names of members."""


@dataclass(frozen=True, slots=True)
class Words:
    """How a provider refuses a member, by its path: one that is missing, one that it does not know,
    and one of another type, of which it is told the type that it takes and the value."""

    missing: Refuse
    unknown: Refuse
    mistyped: Callable[[str, Type, Any], Failure]

    def of_types(
        self, value: Object, types: Types, path: str = "", *, null: bool = False
    ) -> Violations:
        """Yield the refusal of each member of another type; see `of_other_types` for `null`."""

        def refuse(name: str) -> Failure:
            return self.mistyped(path + name, types[name], value[name])

        return of_other_types(value, types, refuse, null=null)


@dataclass(frozen=True, slots=True)
class Shape:
    """The members that an object must have, those that it may have besides (None: any others), and
    their types.

    >>> Shape.of("id name", may="caller").required
    ('id', 'name')
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] | None = ()
    types: Types = field(default_factory=dict)

    @classmethod
    def of(cls, required: str = "", may: str | None = "", types: Types | None = None) -> Shape:
        """Return the shape with these members, their names in one text each."""
        optional = None if may is None else tuple(may.split())
        return cls(tuple(required.split()), optional, types or {})

    def violations(self, path: str, value: Object, words: Words) -> Violations:
        """Yield what an object lacks, what it has besides, and what is of another type."""
        yield from lacking(value, self.required, lambda name: words.missing(f"{path}.{name}"))
        known = value if self.optional is None else self.required + self.optional
        yield from others(value, known, lambda name: words.unknown(f"{path}.{name}"))
        yield from words.of_types(value, self.types, f"{path}.")


def lacking(value: Object, names: Iterable[str], refuse: Refuse) -> Violations:
    """Yield the refusal of each name that an object lacks."""
    return (refuse(name) for name in names if name not in value)


def others(names: Iterable[str], known: Collection[str], refuse: Refuse) -> Violations:
    """Yield the refusal of each name that is not known.

    >>> [made.document for made in others("ab", "a", lambda name: Failure(400, {"no": name}))]
    [{'no': 'b'}]
    """
    return (refuse(name) for name in names if name not in known)


def from_us(names: Iterable[str], refuse: Refuse, *begin: str) -> Violations:
    """Yield the refusal of each name that must not leave a client of ours: it begins with one of
    these, or as our headers do."""
    return (refuse(name) for name in names if name.startswith(begin or "x-tenuto-"))


def of_other_types(
    value: Object, types: Types, refuse: Refuse, *, null: bool = False
) -> Violations:
    """Yield the refusal of each member of another type; `null`: a null is as good as nothing."""
    for name, wanted in types.items():
        absent = name not in value or (null and value[name] is None)
        if not absent and not isinstance(value[name], wanted):
            yield refuse(name)


def unpaired(
    rows: Iterable[tuple[Sequence[str] | None, Iterable[str]]],
    no_result: Callable[[Sequence[str], int], Failure],
    no_call: Callable[[Sequence[str], int], Failure],
) -> Violations:
    """Yield what is wrong where the rows behind calls are to hold a result of each.

    Args:
        rows: what names the results of each row, None where it is no row of results, and its calls.
        no_result: the refusal of calls without a result, with the number of their row.
        no_call: the refusal of results without a call, with the number of theirs. The second
            result of a call has none.

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
