"""Draws charts from the measured tables of the pages, so that a chart cannot say something else."""

import re
from collections.abc import Iterator
from pathlib import Path

from site_svg import box, figure, text

WIDTH, ROW = 760, 26
"""In units of the drawing, which are pixels where there is room."""

VERDICTS = ("right", "told", "silent", "harmful")

FRAMEWORKS_LEFT = 250
FRAMEWORKS_TITLE = """What each framework makes of the simulator's faults, alone and with Tenuto.
The table in Frameworks has the figures."""
FRAMEWORKS_CAPTION = """Cases of the simulator, by what the framework makes of each. Right: the
whole answer. Told: an error or a truthful stop reason. Silent: a broken answer that looks complete.
Harmful: a broken call ran, or the conversation broke."""

AS_ABOVE = (", as above", " (recommended)")
"""What a row of the table says of the page, and what the chart says instead."""

TARGETS_LEFT = 470
TARGETS_TITLE = (
    """Each measured figure as a share of its target. The table below has the figures."""
)
TARGETS_CAPTION = """Each figure as a share of the most that it may be: shorter is better. A full
red bar is a figure beyond its target. The table has the units."""


def frameworks(root: Path) -> str:
    """How many faults each framework gets right, alone and with Tenuto: docs/frameworks.md."""
    lines, y = list(_legend()), 44
    for name, policy, counts in counted((root / "docs/frameworks.md").read_text("utf-8")):
        if name:
            y += 8
            lines.append(text(0, y + 14, name, "name"))
            y += 22
        lines.append(text(14, y + 16, policy.replace(*AS_ABOVE), "says"))
        lines += _stacked(y, policy, counts)
        y += ROW
    size = (WIDTH, y)
    return figure(
        "frameworks-title", lines, size=size, title=FRAMEWORKS_TITLE, says=FRAMEWORKS_CAPTION
    )


def counted(page: str) -> Iterator[tuple[str, str, list[int]]]:
    """Name (only on the first row of a framework), policy, and the four counts."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        counts = cells[2:-1]  # the last cell compares with the SDK
        if len(counts) == len(VERDICTS) and all(cell.isdigit() for cell in counts):
            yield cells[0], cells[1].replace("`", ""), [int(cell) for cell in counts]


def _legend() -> Iterator[str]:
    for number, verdict in enumerate(VERDICTS):
        x = FRAMEWORKS_LEFT + 100 * number
        yield box(x, 6, 14, 14, verdict, round_=3)
        yield text(x + 20, 18, verdict, "says")


def _stacked(y: int, policy: str, counts: list[int]) -> Iterator[str]:
    """One bar; a number stands in each part that has room for it."""
    total, x = sum(counts), float(FRAMEWORKS_LEFT)
    for verdict, count in zip(VERDICTS, counts, strict=True):
        width = (WIDTH - FRAMEWORKS_LEFT) * count / total
        if count:
            title = f"{policy}: {verdict}, {count} of {total}"
            yield box(x, y, width, ROW - 4, verdict, title=title)
        if width > 26:
            yield text(x + width / 2, y + 16, str(count), f"inside {verdict}", "middle")
        x += width


def performance(root: Path) -> str:
    """How much of its target each measured figure uses: docs/performance.md."""
    width, y = WIDTH - TARGETS_LEFT, 26
    lines = [text(TARGETS_LEFT, 16, "0", "says"), text(WIDTH, 16, "target", "says", "end")]
    for what, most, figure_, unit in _measured((root / "docs/performance.md").read_text("utf-8")):
        title = f"{what}: {figure_:g} {unit}, at most {most:g}"
        share = max(min(figure_ / most, 1.0), 0.01)
        kind = "right" if figure_ <= most else "harmful"
        lines.append(text(0, y + 15, what, "says"))
        lines.append(box(TARGETS_LEFT, y + 4, width, 14, "track", round_=3))
        lines.append(box(TARGETS_LEFT, y + 4, width * share, 14, kind, round_=3, title=title))
        y += 22
    return figure(
        "targets-title", lines, size=(WIDTH, y + 4), title=TARGETS_TITLE, says=TARGETS_CAPTION
    )


def _measured(page: str) -> Iterator[tuple[str, float, float, str]]:
    """Name, target, figure and unit of each row whose target is "at most"."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 5 or not (most := re.fullmatch(r"≤ ([\d.,]+).*", cells[1])):
            continue
        if measured := re.match(r"([\d.,]+)(.*)", cells[2]):
            yield cells[0], _number(most[1]), _number(measured[1]), measured[2].strip()


def _number(text: str) -> float:
    return float(text.replace(",", ""))
