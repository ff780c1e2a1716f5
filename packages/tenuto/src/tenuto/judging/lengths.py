"""How long answers are, and what a larger limit would win.

Theory of operation
-------------------
Of an answer that its limit cut, only a lower bound of its length is known. The lengths of answers
are close to log-normal, so a normal distribution is fitted to the logarithms of all lengths of a
model, where a cut answer counts as one that is longer than it is (expectation maximization for
data that are censored on the right: https://doi.org/10.1111/j.2517-6161.1977.tb01600.x). The tail
behind a limit then says what share of the answers that it cut a larger one would hold. That is an
estimate, and it is made only from enough whole answers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final, NamedTuple

_EXACT_UP_TO: Final = 1_024
_DIGITS: Final = 3


class Length(NamedTuple):
    """How long an answer is. `exact`: whether `number` is its tokens, else its characters."""

    exact: bool
    number: int


@lru_cache(65_536)
def rounded(tokens: int | None, chars: int) -> Length:
    """Return the length of an answer, of which large numbers keep three digits, so that answers
    can be counted together.

    >>> [rounded(*each).number for each in ((1_023, 0), (98_765, 0), (None, 1_007))]
    [1023, 98700, 1000]
    """
    exact = tokens is not None
    number = chars if tokens is None else tokens
    if number > _EXACT_UP_TO or not exact:
        step = 10 ** max(len(str(number)) - _DIGITS, 0)
        number = number // step * step
    return Length(exact, number)


# --- a histogram

_BINS_PER_DOUBLING: Final = 4
_FIRST_EDGE: Final = 16
MOST_BINS: Final = 68
_ROUNDING: Final = 1e-9


def bin_of(number: int) -> int:
    """Return the bin that a length belongs to: the first is below 16, and then four stand for each
    doubling.

    >>> [bin_of(number) for number in (0, 15, 16, 20, 511, 512, 608, 609)]
    [0, 0, 1, 2, 20, 21, 21, 22]
    """
    if number < _FIRST_EDGE:
        return 0
    exact = math.log2(number / _FIRST_EDGE) * _BINS_PER_DOUBLING
    return min(1 + int(exact + _ROUNDING), MOST_BINS - 1)


def edge_of(place: int) -> int:
    """Return the smallest length of a bin.

    >>> [edge_of(place) for place in (0, 1, 2, 20, 21, 22)]
    [0, 16, 20, 431, 512, 609]
    """
    if place == 0:
        return 0
    return math.ceil(_FIRST_EDGE * 2 ** ((place - 1) / _BINS_PER_DOUBLING) - _ROUNDING)


def histogram(counts: Mapping[tuple[int, str], int]) -> list[dict[str, Any]]:
    """Return how many answers of each class have a length within each bin, from the first bin that
    has any to the last.

    Args:
        counts: how many answers have this length and belong to this class.

    >>> histogram({(512, "cut"): 3, (600, "complete"): 2})
    [{'from': 512, 'to': 608, 'complete': 2, 'cut': 3}]
    """
    bins: dict[int, Counter[str]] = {}
    for (number, name), times in counts.items():
        bins.setdefault(bin_of(number), Counter())[name] += times
    if not bins:
        return []
    classes = sorted({name for found in bins.values() for name in found})
    return [
        {
            "from": edge_of(place),
            "to": edge_of(place + 1) - 1,
            **{name: bins.get(place, Counter())[name] for name in classes},
        }
        for place in range(min(bins), max(bins) + 1)
    ]


# --- what a larger limit would win

_LEAST_WHOLE: Final = 30
_LEAST_CUT: Final = 3
_ROUNDS: Final = 200
_ENOUGH: Final = 1e-6


def fitted(whole: Mapping[int, int], cut: Mapping[int, int]) -> NormalDist | None:
    """Return the distribution of the logarithms of lengths; None: there are too few to say.

    Args:
        whole: how many whole answers have each length.
        cut: how many answers were cut at each length, so that they would have been longer.

    >>> fitted({100: 50, 200: 100, 400: 50}, {512: 10}).mean > math.log(200)
    True
    >>> fitted({100: 2}, {512: 10}) is None
    True
    """
    seen = {math.log(n): times for n, times in whole.items() if n > 0}
    hidden = {math.log(n): times for n, times in cut.items() if n > 0}
    known, missing = sum(seen.values()), sum(hidden.values())
    if known < _LEAST_WHOLE or missing < _LEAST_CUT or missing > known or len(seen) < _LEAST_CUT:
        return None
    first = sum(x * times for x, times in seen.items())
    second = sum(x * x * times for x, times in seen.items())
    mean = first / known
    spread = math.sqrt(max(second / known - mean * mean, _ENOUGH))
    for _ in range(_ROUNDS):
        one, two = first, second
        for edge, times in hidden.items():
            above, squares = _above(edge, mean, spread)
            one += times * above
            two += times * squares
        total = known + missing
        before, mean = mean, one / total
        spread = math.sqrt(max(two / total - mean * mean, _ENOUGH))
        if abs(mean - before) < _ENOUGH:
            break
    return NormalDist(mean, spread)


_FARTHEST: Final = 6.0
"""In standard deviations: farther out, the tail is too thin for floating point."""


def _above(edge: float, mean: float, spread: float) -> tuple[float, float]:
    """Return the expectation of a value, and of its square, that is known to be above an edge."""
    z = min((edge - mean) / spread, _FARTHEST)
    standard = NormalDist()
    hazard = standard.pdf(z) / (1 - standard.cdf(z))
    value = max(mean + spread * hazard, edge)
    return value, max(mean * mean + spread * spread + spread * hazard * (edge + mean), value**2)


def won(lengths: NormalDist, limit: int, larger: int) -> float:
    """Return the share of the answers that a limit cut which a larger one would hold.

    >>> round(won(NormalDist(math.log(256), 0.7), 512, 1024), 2)
    0.85
    """
    behind = 1 - lengths.cdf(math.log(limit))
    if behind <= 0:
        return 1.0
    return min(1.0, 1 - (1 - lengths.cdf(math.log(larger))) / behind)
