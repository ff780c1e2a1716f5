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
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from parts import agent, memory, pieces, short, telemetry, turns, untuned
from parts.figures import REPEATS, ROUNDS, Figure

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "pieces": pieces.figures,
    "short": short.figures,
    "memory": memory.figures,
    "turns": turns.figures,
    "untuned": untuned.figures,
    "agent": agent.figures,
    "telemetry": telemetry.figures,
}

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"

HEAD = f"""\
<!-- Written by `make bench`: run it again instead of editing this file. -->

# Performance

This page shows how much processor time and memory Tenuto adds to a client's process. The server
runs in another process and answers with recorded bytes. Each group of figures has its own process.

* **Ratios** compare the official SDK with and without `tenuto.wrap` in one run. The two take turns
  for {ROUNDS} rounds, and the table shows the median of the rounds' ratios.
* **Single figures** are the fastest of {REPEATS} repeats.
* **The time to the first chunk** is wall-clock time. The server sends an event every millisecond,
  many times as fast as a model.
* **Streams of one event at a time** are measured while low-priority work keeps the cores busy.
* **Memory** is the peak that Python allocates for one turn, without what the caller allocates.
* **A step of the agent** is one request of its loop: 40 tokens of text, a tool call, and the tool.
  The share of HTTP is what the same client needs to send and read the same bytes without an agent.
* **A turn without an SDK** runs through `tenuto.sansio.Turn` without a listener. The table counts
  its Python calls, which don't depend on the machine, and gives its time in units of
  `sum(range(1000))`.
* **Listening** is measured on healthy turns. With a listener, Tenuto reads every turn in full;
  without one, it takes a shortcut.
* **A stream of others** is one that Tenuto wasn't tuned for, with one word per delta, written from
  memory. Its source describes it.
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


def main(arguments: list[str]) -> int:
    """Measure, print, write."""
    for name, measured in PARTS.items():
        if f"--part={name}" in arguments:
            for figure in measured():
                print(json.dumps(asdict(figure)), flush=True)
            return 0
    figures: list[Figure] = []
    for name in PARTS:
        for figure in apart(name):
            print("  ".join(row(figure)), file=sys.stderr, flush=True)
            figures.append(figure)
    text = table(figures)
    if "--json" in arguments:
        rows = [{**asdict(figure), "verdict": figure.verdict} for figure in figures]
        print(json.dumps({"about": when_and_where(), "figures": rows}, indent=2))
    else:
        print(f"\n{when_and_where()}\n\n{text}")
    if "--keep" not in arguments:
        PAGE.write_text(f"{HEAD}\n{when_and_where()}\n\n{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
