"""Matrices of which `make test` runs a part, and `make heavy` all.

The dimensions of such a matrix are parts that do not know of one another: which wire, SDK or library
it is, whether the client is async, whether the answer streams, what the policy says, how an answer
broke. What goes wrong there goes wrong with one value, or where two values meet. So `make test` runs
as few combinations as bring every two values together, which are the same ones each time
(`every_pair`).

Where one dimension holds most of what a test tells, such as the cases of the simulator, `make test`
runs each of its values with one of the others, in turn (`in_every_mode`, `in_one_way`). Where many
values say the same of the code, it runs one of so many (`one_in`).

Heavy combinations are not even made where nobody can want them (`make_heavy_too`): a test costs a
worker about a millisecond before it is left out.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pytest

from tenuto_sim import Case

Combination = tuple[Any, ...]
WAYS = ("sync", "async")
"""The two kinds of client."""


class Made:
    """What is made of a matrix.

    Attributes:
        heavy: whether what is heavy is made as well; the conftest says it by the expression of `-m`.
    """

    heavy = True


def param(*values: Any, heavy: bool, id: str) -> Any:  # noqa: A002 - as pytest calls it
    """One set of values of a matrix."""
    return pytest.param(*values, marks=pytest.mark.heavy if heavy else (), id=id)


def matrix(names: str | Sequence[str], params: Iterable[Any], **more: Any) -> pytest.MarkDecorator:
    """Parametrizes a test, without what is heavy where nobody wants that."""
    found = list(params)
    if not Made.heavy:
        found = [each for each in found if not each.marks] or found
    return pytest.mark.parametrize(names, found, **more)


def every_pair(
    only: Callable[..., bool] = lambda *_: True,
    indirect: Collection[str] = (),
    **dimensions: Iterable[Any],
) -> pytest.MarkDecorator:
    """Parametrizes a test over all combinations that `only` lets through."""
    found = [each for each in itertools.product(*dimensions.values()) if only(*each)]
    enough = covering(found)
    params = [
        param(*each, heavy=number not in enough, id=_id(each)) for number, each in enumerate(found)
    ]
    return matrix(tuple(dimensions), params, indirect=[*indirect])


def one_in(count: int, name: str, values: Iterable[Any], first: int = 0) -> pytest.MarkDecorator:
    """Parametrizes a test over values that all say much the same: of so many one is not heavy."""
    return matrix(
        name,
        [
            param(each, heavy=(number - first) % count != 0, id=getattr(each, "name", str(each)))
            for number, each in enumerate(values)
        ],
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
    "every", [param(False, heavy=False, id="some"), param(True, heavy=True, id="every")]
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
            param(
                case,
                mode,
                heavy=mode != one and case.name not in both,
                id=f"{case.name}-{mode}",
            )
            for mode in sorted(case.modes)
        ]
    return matrix(("case", "mode"), runs)


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
    words = (
        "-".join(value) if isinstance(value, tuple) else getattr(value, "__name__", str(value))
        for value in combination
    )
    return "-".join(words)
