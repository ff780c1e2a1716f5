"""The page in a headless Chromium: what it shows is what the metrics count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import browser
from support.load import ask, askers, drawn
from support.serving import serving

from tenuto.telemetry import Metrics, Tally
from tenuto.watch import Board, Watch
from tenuto.watch.board import HEADLINE
from tenuto.watch.stream import Pace
from tenuto_sim import Simulator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.behaviour("P6"),
]  # fmt: skip

TURNS = 100
SHOWN = "Number(document.documentElement?.dataset.sequence)"
COUNTS = """Object.fromEntries([...document.querySelectorAll("#totals dd")]
    .map((each) => [each.dataset.key, Number(each.textContent.replaceAll(",", ""))]))"""
TABLE = """[...document.querySelectorAll("#chart-table tbody tr")]
    .map((row) => [row.cells[1].textContent, row.cells[2].textContent, Number(row.cells[3].textContent)])"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    program = browser.found()
    if program is None:
        pytest.skip("no Chromium is installed; try: make chromium")
    with browser.browser(program, tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture(scope="module")
def tally() -> Tally:
    return Tally()


@pytest.fixture(scope="module")
def board() -> Board:
    return Board()


@pytest.fixture(scope="module")
def url(board: Board, tally: Tally, page: browser.Page) -> Iterator[str]:
    """The address of the page, which is open while the load is played."""
    metrics = Metrics(tally)

    def hear(event: Any) -> None:
        board(event)
        metrics(event)

    with serving(Watch(board, text_of=text_of, pace=Pace(interval_s=0.05))) as url:
        page.look()
        page.open(f"{url}/")
        page.wait_for(f"{SHOWN} === 0")
        with Simulator(token_chars=40) as sim, askers(sim, hear) as by_wire:
            for wire, *rest in drawn(TURNS):
                ask(by_wire[wire], wire, *rest)
        page.wait_for(f"{SHOWN} === {board.sequence}")
        yield url


HOSTILE = "<img src=x onerror=document.title='taken'>"


def text_of(turn: str, began: float) -> list[str]:
    return ["One ", HOSTILE]


def test_the_counts_on_the_page_are_those_of_the_metrics(
    url: str, page: browser.Page, tally: Tally
) -> None:
    shown = page.evaluate(COUNTS)
    assert shown.pop("running") == 0
    assert shown == {name: tally.total(metric, **labels) for name, metric, labels in HEADLINE}
    assert shown["turns"] == TURNS < shown["attempts"]


def test_the_stops_on_the_page_are_those_of_the_metrics(
    url: str, page: browser.Page, tally: Tally
) -> None:
    told: dict[tuple[str, str], int] = {}
    for model, stop, count in page.evaluate(TABLE):
        told[model, stop] = told.get((model, stop), 0) + count
    wanted: dict[tuple[str, str], int] = {}
    for series in tally.series("tenuto_attempts_total"):
        key = (series.labels["model"], series.labels["stop"].replace("_", " "))
        wanted[key] = wanted.get(key, 0) + int(series.total)
    assert told == wanted
    assert page.evaluate("document.querySelectorAll('#chart canvas').length") == 1


def test_each_turn_has_a_row_and_filters_leave_those_that_fit(
    url: str, page: browser.Page, board: Board
) -> None:
    rows = "document.querySelectorAll('#list tbody tr').length"
    assert page.evaluate(rows) == TURNS
    partial = sum(turn["state"] == "partial" for turn in board.turns())
    choose = "document.getElementById('state').value = {!r};"
    changed = "document.getElementById('state').dispatchEvent(new Event('change'));"
    assert page.evaluate(f"{choose.format('partial')} {changed} {rows}") == partial > 0
    assert page.evaluate(f"{choose.format('')} {changed} {rows}") == TURNS


def test_by_the_keyboard_alone_a_turn_is_opened_and_closed(
    url: str, page: browser.Page, board: Board
) -> None:
    page.evaluate("document.activeElement?.blur()")
    page.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.press("Enter")
    page.wait_for("document.activeElement.id === 'turns'")
    for _ in range(5):  # the state, the search, the box, the list, its first turn
        page.press("Tab")
    assert page.evaluate("document.activeElement.closest('#list') !== null")
    assert page.evaluate("document.activeElement.matches(':focus-visible')")
    page.press("Enter")
    page.wait_for("document.activeElement.id === 'detail-title'")
    newest = board.turns()[-1]["turn"]
    assert page.evaluate("document.getElementById('detail-title').textContent") == f"Turn {newest}"
    page.press("Escape")
    page.wait_for("document.getElementById('detail').hidden")
    assert page.evaluate("document.activeElement.closest('#list') !== null")


def test_a_continued_turn_shows_its_attempts_its_rungs_and_its_text_with_the_seam(
    url: str, page: browser.Page, board: Board
) -> None:
    continued = next(
        t for t in board.turns() if t["attempts"] == 4 and "continuation" in t["recoveries"]
    )
    told = board.turn(continued["turn"])
    assert told is not None
    page.evaluate(
        f"[...document.querySelectorAll('#list button')].find((each) => each.textContent.endsWith("
        f"{continued['turn'][-8:]!r})).click()"
    )
    page.wait_for(
        f"document.getElementById('detail-title')?.textContent.endsWith({continued['turn']!r})"
    )
    assert page.evaluate("document.querySelectorAll('.timeline > li').length") == 4
    taken = page.evaluate(
        "[...document.querySelectorAll('.ladder .taken')].map((each) => each.textContent)"
    )
    decided = [
        attempt["decision"]["rung"] for attempt in told["attempts"] if attempt["decision"]["rung"]
    ]
    assert len(taken) == len(decided) >= 3
    assert all("(taken)" in each and "if " in each for each in taken)
    assert page.evaluate("document.querySelector('.text').textContent") == f"One seam{HOSTILE}"
    assert page.evaluate("document.querySelectorAll('.text img').length") == 0
    assert page.evaluate("document.title") == "Tenuto: turns"


def test_a_screen_reader_finds_landmarks_headings_and_names(url: str, page: browser.Page) -> None:
    tree = page.tree()
    roles = [role for role, _ in tree]
    assert {"banner", "main", "region", "table", "columnheader", "rowheader", "status"} <= {*roles}
    for name in ("All turns", "Why attempts stopped, by the minute", "Turns"):
        assert ("heading", name) in tree
        assert ("region", name) in tree
    controls = ("button", "combobox", "searchbox", "checkbox", "link")
    assert [role for role, name in tree if role in controls and not name] == []
    live = page.evaluate("document.querySelector('[aria-live=polite]').textContent")
    assert "turns ended: " in live


def test_it_is_drawn_in_light_and_dark_and_fits_a_narrow_window(
    url: str, page: browser.Page, tmp_path: Path
) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    page.look()
    light = page.evaluate(back), page.picture()
    page.look(dark=True)
    dark = page.evaluate(back), page.picture()
    assert light[0] == "rgb(246, 247, 249)"
    assert dark[0] == "rgb(20, 22, 26)"
    assert light[1][:8] == dark[1][:8] == b"\x89PNG\r\n\x1a\n"
    assert light[1] != dark[1]
    page.look(width=380, height=700)
    page.wait_for("document.documentElement.scrollWidth <= 380")
    page.look()


def test_the_page_asks_nobody_else_and_complains_of_nothing(url: str, page: browser.Page) -> None:
    page.evaluate("1")  # what it said meanwhile is heard
    assert page.complaints == []
    assert [each for each in page.asked if not each.startswith(f"{url}/")] == []
    assert f"{url}/api/stream" in page.asked
