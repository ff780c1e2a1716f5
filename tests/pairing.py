"""Matrices of which `make test` runs a part, and `make heavy` all.

The dimensions of such a matrix are parts that do not know of one another: which wire, SDK or library
it is, whether the client is async, whether the answer streams, what the policy says, how an answer
broke. What goes wrong there goes wrong with one value, or where two values meet. So `make test` runs
as few combinations as bring every two values together, which are the same ones each time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import pytest

Combination = tuple[Any, ...]


def every_pair(
    only: Callable[..., bool] = lambda *_: True,
    indirect: Collection[str] = (),
    **dimensions: Iterable[Any],
) -> pytest.MarkDecorator:
    """Parametrizes a test over all combinations that `only` lets through."""
    found = [each for each in itertools.product(*dimensions.values()) if only(*each)]
    enough = covering(found)
    return pytest.mark.parametrize(
        tuple(dimensions),
        [
            pytest.param(*each, marks=() if number in enough else pytest.mark.heavy, id=_id(each))
            for number, each in enumerate(found)
        ],
        indirect=[*indirect],
    )


def covering(combinations: Sequence[Combination]) -> set[int]:
    """The numbers of combinations that hold every two values that any of them holds.

    >>> len(covering([*itertools.product("ab", "cd", "ef")]))
    4
    """
    pairs = [set(itertools.combinations(enumerate(each), 2)) for each in combinations]
    missing: set[Any] = set().union(*pairs)
    taken: set[int] = set()
    while missing:
        best = max(range(len(pairs)), key=lambda number: len(pairs[number] & missing))
        taken.add(best)
        missing -= pairs[best]
    return taken


def _id(combination: Combination) -> str:
    words = ("-".join(value) if isinstance(value, tuple) else str(value) for value in combination)
    return "-".join(words)
