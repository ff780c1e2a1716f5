"""What a measurement is, and the ways in which it is taken.

Only processor time of this process counts (`time.process_time`), but where waiting is what is
measured: waiting for the network, and whatever else the machine does, is left out. Two ways that
are compared take turns within one run, so that a machine that changes its speed changes both.

What waits for each event of a stream is measured with the cores kept `awake`. The host of a
virtual machine gives away a core that sleeps, and gives it back with cold caches: what that costs
differed by as much as a third from one stream to the next.
"""

from __future__ import annotations

import gc
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

ROUNDS = 41
"""Rounds of a comparison; odd, so that the median is one of them, and so many that it moves by no
more than 0.02 from run to run."""

REPEATS = 9
"""Repeats of a single measurement; the quickest counts, the others were disturbed."""

WAITS = 301
"""Repeats of what is measured by the clock on the wall, where a neighbour's work counts too."""

_LEAST_S = 0.03
_WARMING = 5


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        name: what was measured.
        measured: the number.
        unit: "×" for a ratio, else what is counted, such as "µs per chunk".
        target: the most that it should be, None where there is none.
        beside: what the number was made from, "" for nothing worth telling.
    """

    name: str
    measured: float
    unit: str
    target: float | None = None
    beside: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if self.target is None:
            return "no target"
        return "met" if round(self.measured, 2) <= self.target else "missed"  # as it is shown


def _spent_s(work: Callable[[], object]) -> float:
    gc.collect()
    start_s = time.process_time()
    work()
    return time.process_time() - start_s


_SPINNING = """\
import os, sys
if hasattr(os, "sched_setscheduler"):  # runs only where nothing else would
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
elif hasattr(os, "nice"):
    os.nice(19)
while os.getppid() == int(sys.argv[1]):
    for _ in range(100_000):
        pass
"""


@contextmanager
def awake() -> Iterator[None]:
    """Keep every core awake with work that makes way for any other, as long as the context."""
    command = [sys.executable, "-c", _SPINNING, str(os.getpid())]
    spinning = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
        assert all(child.poll() is None for child in spinning), "a core was left to sleep"
    finally:
        for child in spinning:
            child.kill()
            child.wait()


def ratio(
    name: str,
    bare: Callable[[], object],
    with_us: Callable[[], object],
    per_round: int,
    target: float | None,
) -> Figure:
    """How many times the processor time of `bare` it takes `with_us`.

    `per_round`: how many units (chunks, bodies) one call of either works through."""
    for work in (bare, with_us):
        work()
    ratios, bares, ours = [], [], []
    for number in range(ROUNDS):
        # A B, then B A: whoever comes second finds warmer caches.
        if number % 2:
            with_us_s, bare_s = _spent_s(with_us), _spent_s(bare)
        else:
            bare_s, with_us_s = _spent_s(bare), _spent_s(with_us)
        ratios.append(with_us_s / bare_s)
        bares.append(bare_s)
        ours.append(with_us_s)
    before_us, after_us = (statistics.median(all_s) / per_round * 1e6 for all_s in (bares, ours))
    lowest, _, highest = statistics.quantiles(ratios, n=4)
    beside = (
        f"{before_us:.1f} → {after_us:.1f} µs each; half of the rounds {lowest:.2f}–{highest:.2f}"
    )
    return Figure(name, statistics.median(ratios), "×", target, beside)


def waited_ratio(
    name: str, bare: Callable[[], float], with_us: Callable[[], float], target: float
) -> Figure:
    """How many times as long as for `bare` one waits for `with_us`, by the clock on the wall; both
    return the seconds that count. The two take turns, and the medians of many are compared."""
    waits_s: list[list[float]] = [[], []]
    ways = [(bare, waits_s[0]), (with_us, waits_s[1])]
    for work, _ in ways * _WARMING:
        work()
    gc.collect()
    for _ in range(WAITS):
        for work, waited_s in ways:
            waited_s.append(work())
        ways.reverse()
    before_s, after_s = (statistics.median(waited_s) for waited_s in waits_s)
    beside = f"{before_s * 1e3:.2f} → {after_s * 1e3:.2f} ms, medians of {WAITS} each"
    return Figure(name, after_s / before_s, "×", target, beside)


def each_us(*ways: tuple[Callable[[], object], int]) -> list[float]:
    """Microseconds of processor time for one unit of each way: a call, and how many units it works
    through. Ways that are given together take turns."""
    times = [_enough(work) for work, _ in ways]
    best_s = [math.inf] * len(ways)
    for _ in range(REPEATS):
        for number, (work, _) in enumerate(ways):
            took_s = _repeated_s(work, times[number]) / times[number]
            best_s[number] = min(best_s[number], took_s)
    return [s / units * 1e6 for s, (_, units) in zip(best_s, ways, strict=True)]


def _enough(work: Callable[[], object]) -> int:
    """How often to call, so that the clock's grain does not count."""
    times = 1
    while (took_s := _repeated_s(work, times)) < _LEAST_S:
        times = max(times * 2, int(times * 1.2 * _LEAST_S / max(took_s, 1e-6)))
    return times


def _repeated_s(work: Callable[[], object], times: int) -> float:
    gc.collect()
    start_s = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - start_s
