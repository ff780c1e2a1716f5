"""Draws the ladders: what Tenuto does about each outcome, from the tables of the machine."""

from collections.abc import Iterator
from pathlib import Path

from site_svg import box, figure, line, text

from tenuto.core.deciding.endings import ENDINGS
from tenuto.core.deciding.ladders import LADDERS
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.rung import Rung

WIDTH, INDENT, ROW, GAP = 760, 22, 30, 26
"""In units of the drawing, which are pixels where there is room."""

RAILS = (INDENT - 10, INDENT + 12)
SENDS = "sends again"

TITLE = """For each outcome, its rungs from first to last, and what each leads to.
The tables below say the same in words."""
CAPTION = """Tenuto takes the first rung that applies and whose budget is not spent. A rung sends a
request again, or ends the turn. After the last rung the turn ends as the last line says:
with text, or without."""


def render(_root: Path) -> str:
    """All ladders, one below the other, then what ends a turn at once."""
    lines: list[str] = []
    y = 8
    for outcome, ladder in LADDERS.items():
        if ladder:
            lines += _ladder(outcome, ladder, y)
            y += 34 + ROW * (len(ladder) + 1) + GAP
    at_once = [outcome for outcome, ladder in LADDERS.items() if not ladder]
    lines.append(text(8, y + 18, "these end the turn at once", "name"))
    y += 34
    for outcome in at_once:
        lines += _row(y, _words(outcome), _end(outcome))
        y += ROW
    return figure("ladders-title", lines, size=(WIDTH, y), title=TITLE, says=CAPTION)


def _ladder(outcome: Outcome, ladder: tuple[Rung, ...], top: int) -> Iterator[str]:
    yield text(8, top + 18, _words(outcome), "name")
    y = top + 34
    height = ROW * (len(ladder) + 1)
    for x in RAILS:
        yield line((x, x), (y, y + height - 6), "rail")
    for number, rung in enumerate(ladder, 1):
        yield line(RAILS, (y + ROW // 2, y + ROW // 2), "rung")
        yield from _row(y, f"{number}. {rung.sentence}", list(_leads_to(outcome, rung)))
        y += ROW
    yield from _row(y, f"no rung is left: {ENDINGS[outcome].reason}", _end(outcome))


def _row(y: int, words: str, leads: list[str]) -> Iterator[str]:
    """A line of words, and what it leads to at the right."""
    base = y + ROW // 2 + 5
    yield text(INDENT + 26, base, words, "says")
    x = WIDTH - 4
    for each in reversed(leads):
        kind = "sends" if each == SENDS else each
        width = 16 + 8 * len(each)
        x -= width
        yield box(x, y + 4, width, ROW - 8, kind, round_=11)
        yield text(x + width / 2, base, each, kind, "middle")
        x -= 6


def _leads_to(outcome: Outcome, rung: Rung) -> Iterator[str]:
    if rung.edits is not None:
        yield SENDS
    elif rung.ends is not None:
        yield str(rung.ends[0])
    else:
        yield from _end(outcome)


def _end(outcome: Outcome) -> list[str]:
    """How a turn ends with text, and without."""
    ending = ENDINGS[outcome]
    return list(dict.fromkeys((str(ending.kept), str(ending.bare))))


def _words(outcome: Outcome) -> str:
    return outcome.replace("_", " ")
