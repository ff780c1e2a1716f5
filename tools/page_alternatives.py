"""Blocks of docs/guide/what-you-use.md: a library's rows of the table in docs/frameworks.md."""

from collections.abc import Iterator
from pathlib import Path

import site_charts
from page import table

ROOT = Path(__file__).resolve().parent.parent


def render(name: str) -> str:
    """Return how a library's turns came out, alone and with Tenuto, for each 100 turns."""
    return "\n".join(table(["", *site_charts.VERDICTS], _rows(name))) + "\n"


def _rows(name: str) -> Iterator[list[str]]:
    within = False
    for title, policy, counts in site_charts.counted((ROOT / "docs/frameworks.md").read_text()):
        within = title.rpartition(" ")[0] == name if title else within
        if within:
            shares = (f"{100 * count / sum(counts):.0f}" for count in counts)
            yield [policy.replace("bare", "without Tenuto").removesuffix(", as above"), *shares]
