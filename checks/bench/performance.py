"""Measures what Tenuto costs, prints the table, and writes it to docs/performance.md.

With --json it prints the figures as JSON; with --keep it leaves the page as it is. With
--part=turns (or another) it measures that part alone, here, and prints a figure as JSON per line.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from parts import agent, memory, pieces, short, telemetry, turns, untuned
from parts.figures import REPEATS, ROUNDS, Figure

WITH_AND_WITHOUT = """\
A ratio compares the official SDK with and without `tenuto.wrap`. The time to the first chunk is
wall-clock time; the server sends an event every millisecond, many times as fast as a model. Streams
of one event at a time are measured while low-priority work keeps the cores busy."""

OF_OTHERS = """\
Tenuto wasn't tuned for these streams. They have one word per delta and were written from memory;
their source describes them."""

LISTENING = """\
The turns are healthy ones. With a listener, Tenuto reads every turn in full; without one, it takes
a shortcut."""

STEPS = """\
A step is one request of the agent's loop: 40 tokens of text, a tool call, and the tool. The share
of HTTP is what the same client needs to send and read the same bytes without an agent."""

PEAKS = """\
The figure is the peak that Python allocates for one turn, without what the caller allocates."""

CALLS = """\
The turn runs through `tenuto.sansio.Turn` without a listener. The table counts its Python calls,
which don't depend on the machine, and gives its time in units of `sum(range(1000))`."""


@dataclass(frozen=True)
class Part:
    """One group of figures, measured in a process of its own, and one section of the page."""

    title: str
    figures: Callable[[], Iterator[Figure]]
    says: str = ""
    """What a reader of the section's table must know."""


PARTS: dict[str, Part] = {
    "turns": Part("In front of an SDK", turns.figures, WITH_AND_WITHOUT),
    "untuned": Part("In front of an SDK: streams of others", untuned.figures, OF_OTHERS),
    "telemetry": Part("With events, log lines, metrics and spans", telemetry.figures, LISTENING),
    "agent": Part("Tenuto's agent", agent.figures, STEPS),
    "memory": Part("Memory", memory.figures, PEAKS),
    "short": Part("A turn without an SDK", short.figures, CALLS),
    "pieces": Part("The parts of a turn", pieces.figures),
}
"""In the order of the page: what most readers look for comes first."""

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"

HEAD = """\
<!-- Written by `make bench`: run it again instead of editing this file. -->

# Performance

This page shows how much processor time and memory Tenuto adds to a client's process.
"""

METHOD = f"""\
## How it is measured

The server runs in another process and answers with recorded bytes. Each section has its own
process.

* **A ratio** (×) compares two ways in one run. The two take turns for {ROUNDS} rounds, and the
  table shows the median of the rounds' ratios.
* **A single figure** is the fastest of {REPEATS} repeats.
"""


def when_and_where() -> str:
    """The day, the Python and the cores: what a figure depends on, and nothing else."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    load = f", {os.getloadavg()[0]:.1f} of them busy" if hasattr(os, "getloadavg") else ""
    return f"Measured on {day} with {python} on {os.cpu_count()} cores{load} on average."


def row(figure: Figure) -> list[str]:
    """One line of the table."""
    joint = "" if figure.unit == "×" else " "
    target = "–" if figure.target is None else f"≤ {figure.target:.2f}"
    measured = f"{figure.measured:.2f}{joint}{figure.unit}"
    return [figure.name, target, measured, figure.verdict, figure.beside or "–"]


def table(figures: list[Figure]) -> str:
    """The table in Markdown."""
    head = ["What", "Target", "Measured", "Verdict", "Beside"]
    lines = [head, ["---"] * len(head), *map(row, figures)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def apart(name: str) -> Iterator[Figure]:
    """The figures of a part as they come. It runs in a process of its own: what one leaves behind
    (memory in pieces, code that the interpreter has fitted to other callers) is not in the next."""
    command = [sys.executable, __file__, f"--part={name}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            yield Figure(**json.loads(line))
    if child.returncode:
        raise SystemExit(f"the part {name} ended with {child.returncode}")


def page(measured: dict[str, list[Figure]]) -> str:
    """The page in Markdown: the answer first, then a section for each part, then the method."""
    sections = [f"{HEAD}\n{in_short(measured)}\n\n{when_and_where()}"]
    for name, figures in measured.items():
        part = PARTS[name]
        said = [f"## {part.title}", part.says, table(figures)]
        sections.append("\n\n".join(filter(None, said)))
    return "\n\n".join([*sections, METHOD])


def in_short(measured: dict[str, list[Figure]]) -> str:
    """What most readers want to know, in two sentences."""
    ratios = [each.measured for name in ("turns", "untuned") for each in measured[name]]
    figures = [each for part in measured.values() for each in part if each.target is not None]
    missed = [each.name for each in figures if each.verdict == "missed"]
    targets = "All are met." if not missed else f"Missed: {'; '.join(missed)}."
    return textwrap.fill(
        f"In front of an official SDK, a healthy turn takes {min(ratios):.2f} to {max(ratios):.2f} "
        f"times the SDK's own time. {len(figures)} figures have a target. {targets}",
        100,
    )


def main(arguments: list[str]) -> int:
    """Measure, print, write."""
    for name, part in PARTS.items():
        if f"--part={name}" in arguments:
            for figure in part.figures():
                print(json.dumps(asdict(figure)), flush=True)
            return 0
    measured: dict[str, list[Figure]] = {name: [] for name in PARTS}
    for name, figures in measured.items():
        for figure in apart(name):
            print("  ".join(row(figure)), file=sys.stderr, flush=True)
            figures.append(figure)
    every = [figure for figures in measured.values() for figure in figures]
    if "--json" in arguments:
        rows = [{**asdict(figure), "verdict": figure.verdict} for figure in every]
        print(json.dumps({"about": when_and_where(), "figures": rows}, indent=2))
    else:
        print(f"\n{when_and_where()}\n\n{table(every)}")
    if "--keep" not in arguments:
        PAGE.write_text(page(measured), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
