"""Counts what finishing a turn costs, prints the tables, and writes them into docs/costs.md.

Nothing here is timed: a simulator counts tokens. With --json it prints the figures as JSON; with
--keep it leaves the page as it is.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "costs.md"
BEGIN, END = "<!-- counted: begin -->", "<!-- counted: end -->"
DEAR = 1.1

sys.path.insert(0, str(PROJECT / "tests"))

from support.spending import WORLDS, Cost, Spread, World, asked_again, costs, spread  # noqa: E402

Counted = dict[World, list[Cost]]


def times(number: float) -> str:
    """A factor as the tables show it."""
    return f"{number:.2f} ×"


def output_rows(counted: Counted) -> Iterator[list[str]]:
    """Output billed, for each wire and kind of model."""
    yield ["Wire", "Model", "Turns", "Median", "90th percentile", "Maximum", "Reached by"]
    for world, every in counted.items():
        for which, chosen in (("all", every), ("with another answer", asked_again(every))):
            found = spread(chosen)
            turns = f"{found.turns} {which}"
            figures = (found.median, found.ninety, found.most)
            yield [world.wire, world.model, turns, *map(times, figures), f"`{found.dearest}`"]


def input_rows(counted: Counted) -> Iterator[list[str]]:
    """Input billed again, and how much of it a prompt cache knows."""
    yield [
        "Wire",
        "Model",
        "Further requests",
        "First input tokens",
        "Further input tokens",
        "Unchanged",
    ]
    for world, every in counted.items():
        shared = [shared for cost in every for shared in cost.shared]
        identical = sum(s.common_bytes for s in shared) / sum(s.messages_bytes for s in shared)
        first = sum(cost.first_input_tokens for cost in asked_again(every))
        further = sum(cost.further_input_tokens for cost in every)
        kept = all(s.rows_identical and s.head_identical for s in shared)
        share = f"{identical:.0%} of their bytes" if kept else "NOT ALL ROWS ARE KEPT"
        yield [world.wire, world.model, str(len(shared)), f"{first:,}", f"{further:,}", share]


def dear_rows(counted: Counted) -> Iterator[list[str]]:
    """The faults that cost more than a tenth more, by the dearer of body and stream."""
    yield ["Fault", *(f"{world.wire}, {world.model}" for world in counted)]
    found: dict[str, dict[World, float]] = defaultdict(dict)
    for world, every in counted.items():
        for cost in every:
            fault = cost.name.partition(" ")[0]
            found[fault][world] = max(found[fault].get(world, 0), cost.factor)
    dear = {fault: by for fault, by in found.items() if max(by.values()) > DEAR}
    for fault, by in sorted(dear.items(), key=lambda item: -max(item[1].values())):
        yield [f"`{fault}`", *(times(by[world]) if world in by else "–" for world in counted)]


def table(rows: Iterable[list[str]]) -> str:
    """Rows in Markdown, the first being the head."""
    head, *rest = rows
    lines = [head, ["---"] * len(head), *rest]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page_text(counted: Counted) -> str:
    """What stands between the marks of the page."""
    dear = f"Faults that cost more than {times(DEAR)} in any column, as a body or as a stream:"
    return "\n\n".join(
        [
            "Billed output tokens, as a multiple of those of the uncut answer:",
            table(output_rows(counted)),
            "Input tokens of turns with more than one answered request:",
            table(input_rows(counted)),
            dear,
            table(dear_rows(counted)),
        ]
    )


def as_json(counted: Counted) -> str:
    """Every turn, and how the turns of each world are spread."""
    out = []
    for world, every in counted.items():
        spreads: dict[str, Spread] = {"all": spread(every), "again": spread(asked_again(every))}
        turns = [asdict(cost) | {"factor": cost.factor} for cost in every]
        about = {"wire": world.wire, "model": world.model, "turns": turns}
        out.append(about | {name: asdict(value) for name, value in spreads.items()})
    return json.dumps(out, indent=2)


def main(arguments: list[str]) -> int:
    """Count, print, write."""
    counted: Counted = {}
    for world in WORLDS:
        counted[world] = list(costs(world))
        print(f"{world.wire}, {world.model}: {spread(counted[world])}", file=sys.stderr, flush=True)
    text = page_text(counted)
    print(as_json(counted) if "--json" in arguments else text)
    if "--keep" not in arguments:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
