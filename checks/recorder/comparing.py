"""Plays every case with the sources of two trees at the same time, and says which differ.

Each tree has processes of its own, because a process imports one source; together they use all
cores. A process (`play`) writes a line of JSON for each case, and this one pairs the lines.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from checks.recorder import catalogue, playing
from checks.recorder.inside import CASES_ON
from checks.recorder.questions import QUESTIONS
from checks.recorder.trees import PROJECT, Tree

Columns = dict[str, str]
"""The digest of each column of a case."""

TOLD_EVERY_S = 10.0
ENDED = "ended"


class CannotPlay(Exception):
    """A process that plays one of the trees ended before its last case."""


@dataclass
class Compared:
    """What two trees do in the same cases.

    Attributes:
        names: of the two trees.
        cases: how many cases each tree has, once that is known.
        played: how many were played by both.
        differ: by key the columns that differ; none: only one tree has the case.
        failed: cases that raised in the recorder itself, with either source. They say nothing.
        unasked: wires that only the other tree's simulator has, by its name: they are not played.
    """

    names: tuple[str, str]
    cases: dict[str, int] = field(default_factory=dict)
    played: int = 0
    differ: dict[str, list[str]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    unasked: dict[str, list[str]] = field(default_factory=dict)
    alone: dict[str, tuple[str, Columns]] = field(default_factory=dict)
    """Cases of which one tree has said what it does, with its name."""

    def take(self, name: str, key: str, columns: Columns) -> None:
        """Take what one tree did in a case."""
        if key not in self.alone:
            self.alone[key] = name, columns
            return
        other = self.alone.pop(key)[1]
        self.played += 1
        if other != columns:
            both = {**other, **columns}
            self.differ[key] = [c for c in both if other.get(c) != columns.get(c)]
        if "failed" in columns or "failed" in other:
            self.failed.append(key)

    def end(self) -> None:
        """Take the cases that only one tree has for differences."""
        self.differ |= {key: [] for key in self.alone}

    def lines(self) -> Iterator[str]:
        """Say what was found, one case a line, and the sums at the end."""
        for name, wires in self.unasked.items():
            yield f"{name} simulates wires that nothing asks for here: {', '.join(wires)}"
        for key, columns in sorted(self.differ.items()):
            yield f"{key}: {', '.join(columns) or f'only {self.alone[key][0]} has it'}"
        for key in sorted(set(self.failed) - self.differ.keys()):
            yield f"{key}: failed alike with both, so that nothing was compared"
        counts = Counter(column for columns in self.differ.values() for column in columns)
        sums = ", ".join(f"{column} {count:,}" for column, count in counts.most_common())
        differ = f"{len(self.differ):,} differ" + (f" ({sums})" if sums else "")
        yield f"{self.played:,} cases played by both, {differ}"


def compare(
    trees: tuple[Tree, Tree],
    choice: Sequence[str] = (),
    tell: Callable[[str], None] = lambda line: None,
    compared: Compared | None = None,
    cores: int | None = None,
) -> Compared:
    """Play the cases with both sources.

    Args:
        trees: whose sources are played.
        choice: the arguments of `play` that choose cases.
        tell: is told how far it is, and how much time is left.
        compared: what is filled, for a caller who may interrupt.
        cores: for how many there are processes; None: those that this process may use.

    Raises:
        CannotPlay: with one of the sources the cases cannot be played.
    """
    made = compared or Compared((trees[0].name, trees[1].name))
    lines: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    shares = max(1, (cores or _cores()) // len(trees))
    began = told = time.monotonic()
    with ExitStack() as stack:
        for tree in trees:
            for number in range(shares):
                stack.enter_context(_process(tree, f"{number}/{shares}", choice, lines))
        running = len(trees) * shares
        while running:
            name, line = lines.get()
            if "key" in line:
                made.take(name, line["key"], line["columns"])
            elif ENDED not in line:
                known = len(made.cases)
                made.cases[name] = line["cases"]
                made.unasked |= {name: line["unasked"]} if line["unasked"] else {}
                if known < len(made.cases) == len(trees):
                    began = told = time.monotonic()  # what both need to begin says nothing
                    tell(f"Playing {max(made.cases.values()):,} cases with both sources")
            elif line[ENDED]:
                raise CannotPlay(f"The cases cannot be played with the source of {name}.")
            else:
                running -= 1
            if made.played and (now := time.monotonic()) - told >= TOLD_EVERY_S:
                told = now
                tell(_progress(made, now - began))
    made.end()
    return made


def _progress(made: Compared, took_s: float) -> str:
    most = max(made.cases.values(), default=0)
    left_s = took_s / made.played * (most - made.played)
    done = f"{_clock(took_s)}  {made.played:,} of {most:,} cases, {len(made.differ):,} differ"
    return f"{done}, about {_clock(left_s)} left"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def _process(
    tree: Tree, share: str, choice: Sequence[str], lines: queue.SimpleQueue[tuple[str, Any]]
) -> Iterator[None]:
    """Run a process that plays a share of the cases, and end it with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "checks.recorder", "play", "--share", share, *choice],
        cwd=PROJECT,
        env=tree.environment(),
        stdout=subprocess.PIPE,
    )

    def read() -> None:
        assert process.stdout is not None
        with process.stdout as said:
            for line in said:
                lines.put((tree.name, json.loads(line)))
        lines.put((tree.name, {ENDED: process.wait()}))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield
    finally:
        process.kill()
        process.wait()
        reader.join()


def play(share: str, only: Sequence[str], *, of_simulator: bool, every: int) -> None:
    """Play a share of the cases with the source that this process imports, and write the digests
    to the standard output: what `compare` runs."""
    playing.steady()
    # What is printed elsewhere must not stand between the lines.
    out, sys.stdout = sys.stdout, sys.stderr
    found = catalogue.cases(only, of_simulator=of_simulator, every=every)
    unasked = sorted(set(CASES_ON) - QUESTIONS.keys())
    print(json.dumps({"cases": len(found), "unasked": unasked}), file=out, flush=True)
    number, _, of = share.partition("/")
    for key, case in catalogue.share(found, int(number), int(of)):
        columns = {
            column: hashlib.sha256(text).hexdigest()[:16]
            for column, text in catalogue.played(case).items()
        }
        print(json.dumps({"key": key, "columns": columns}), file=out, flush=True)
