"""The shapes of requests: which members an object has, of which types, and what others get.

A wire says what it takes in tables, and its own words in functions that make a refusal of a name or
a path. The rules here yield a refusal for each member that breaks them, in the order of the object.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenuto.sim.errors import Failure

Refuse = Callable[[str], Failure]
"""Writes the refusal of a member, of which it is given the name or the path."""
Types = type | tuple[type, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """The members that an object must have, and those that it may have besides.

    >>> sorted(Shape.of("text", may="citations").known)
    ['citations', 'text']
    """

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *required: str, may: str = "") -> Shape:
        """Return the shape with these members; those that it may have stand in one text."""
        return cls(frozenset(required), frozenset(may.split()))

    @property
    def known(self) -> frozenset[str]:
        """All members that it may have."""
        return self.required | self.optional

    def violations(
        self, path: str, value: Mapping[str, Any], missing: Refuse, strange: Refuse
    ) -> Iterator[Failure]:
        """Yield what an object lacks, then what it has besides; both are named by their paths."""
        for name in sorted(self.required - value.keys()):
            yield missing(f"{path}.{name}")
        yield from others(value, self.known, lambda name: strange(f"{path}.{name}"))


def others(names: Iterable[str], known: Collection[str], refuse: Refuse) -> Iterator[Failure]:
    """Yield the refusal of each name that is not known.

    >>> [made.document for made in others("ab", "a", lambda name: Failure(400, {"no": name}))]
    [{'no': 'b'}]
    """
    return (refuse(name) for name in names if name not in known)


def from_us(headers: Iterable[str], refuse: Refuse) -> Iterator[Failure]:
    """Yield the refusal of each header that must not leave a client of ours."""
    return (refuse(name) for name in headers if name.startswith("x-tenuto-"))


def of_other_types(
    value: Mapping[str, Any], types: Mapping[str, Types], refuse: Refuse
) -> Iterator[Failure]:
    """Yield the refusal of each member that is there, is not null, and is of another type."""
    for name, wanted in types.items():
        if value.get(name) is not None and not isinstance(value[name], wanted):
            yield refuse(name)
