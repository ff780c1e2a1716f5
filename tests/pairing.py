"""Matrices of which `make test` runs a part, and `make heavy` all.

The dimensions of such a matrix are parts that do not know of one another: which wire, SDK or library
it is, whether the client is async, whether the answer streams, what the policy says, how an answer
broke. What goes wrong there goes wrong with one value, or where two values meet. So `make test` runs
as few combinations as bring every two values together, which are the same ones each time
(`every_pair`).

Where one dimension holds most of what a test tells, such as the cases of the simulator, `make test`
runs each of its values with one of the others, in turn (`in_every_mode`, `in_one_way`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pytest

from tenuto.sim import Case

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


some_or_every = pytest.mark.parametrize(
    "every",
    [pytest.param(False, id="some"), pytest.param(True, id="every", marks=pytest.mark.heavy)],
)
"""For a test that goes through many things by itself, and only through some of them unless `every`."""


def one_mode(number: int, case: Case) -> str:
    """Whether `make test` runs a case as a body or as a stream: one of its modes, in turn."""
    modes = sorted(case.modes)
    return modes[number % len(modes)]


def in_every_mode(cases: Iterable[Case], both: Collection[str] = ()) -> pytest.MarkDecorator:
    """Parametrizes a test over cases, as bodies and as streams: one of the two, in turn. The cases
    that `both` names reach in each what no other does, and run as both."""
    runs = []
    for number, case in enumerate(cases):
        one = one_mode(number, case)
        runs += [
            pytest.param(
                case,
                mode,
                marks=() if mode == one or case.name in both else pytest.mark.heavy,
                id=f"{case.name}-{mode}",
            )
            for mode in sorted(case.modes)
        ]
    return pytest.mark.parametrize(("case", "mode"), runs)


def in_one_way(items: Iterable[pytest.Item], way: str) -> None:
    """Mark as heavy which of a test's items need not run: each combination of its other parameters
    runs with one value of `way`, the one that has met its parameters least. Where there is nothing
    but the way, all stay."""
    runs: dict[tuple[Any, ...], dict[Any, pytest.Item]] = {}
    for item in items:
        given: Mapping[str, Any] = item.callspec.params  # type: ignore[attr-defined]
        if item.get_closest_marker("heavy") is None:
            others = tuple((name, _key(value)) for name, value in given.items() if name != way)
            runs.setdefault(others, {})[given[way]] = item
    if len(runs) < 2:
        return
    met: Counter[Any] = Counter()
    for others, ways in runs.items():
        least = {each: (sum(met[other, each] for other in others), met[each]) for each in ways}
        one = min(least, key=least.__getitem__)
        met.update([one, *((other, one) for other in others)])
        for each, item in ways.items():
            if each != one:
                item.add_marker(pytest.mark.heavy)


def _key(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else id(value)


def _id(combination: Combination) -> str:
    words = ("-".join(value) if isinstance(value, tuple) else str(value) for value in combination)
    return "-".join(words)
