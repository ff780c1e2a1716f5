"""The border below a table's header, which a continuation may repeat from its beginning."""

from __future__ import annotations

import pytest

from tenuto.core.seam.seam import Seam, join, trailing_space

HEADER = "Here are the numbers:\n\n| Name | Count | Share |\n"
REST = "\n| a | 1 | 0.5 |\n| b | 1 | 0.5 |\n"
BORDERS = (
    "| --- | --- | ---: |",
    "|---|---|---|",
    "|:----|:---:|----:|",
    "| :------- | ------: | -------- |",
)


def joined(said: str, come: str) -> str:
    """What the caller reads if `come` arrives one character at a time."""
    base, space = trailing_space(said)
    seam = Seam(base, trimmed=space, again=())
    return base + "".join(map(seam.feed, come)) + seam.finish()


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("border", BORDERS)
def test_a_border_that_is_repeated_from_its_beginning_is_there_once(border: str) -> None:
    for cut in range(1, len(border)):
        said, whole = HEADER + border[:cut], HEADER + border + REST
        assert join(said, border + REST).rstrip() == whole.rstrip(), border[:cut]
        assert joined(said, border + REST).rstrip() == whole.rstrip(), border[:cut]


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize("border", BORDERS)
def test_a_border_that_goes_on_keeps_its_columns(border: str) -> None:
    for cut in range(1, len(border)):
        said, whole = HEADER + border[:cut], HEADER + border + REST
        assert join(said, border[cut:] + REST).rstrip() == whole.rstrip(), border[:cut]
        assert joined(said, border[cut:] + REST).rstrip() == whole.rstrip(), border[:cut]


@pytest.mark.behaviour("C15")
def test_a_row_of_marks_without_a_header_goes_on() -> None:
    said, come = "A drawing:\n\n|--", "|-- |\n|  |\n"
    assert join(said, come) == joined(said, come) == said + come


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize(
    ("said", "come"),
    [
        ("$$x = \\frac{1}{2} + \\frac{1}{2}", " + \\frac{1}{2} = \\frac{3}{2}$$ is it."),
        ("It cost 12.50 EUR, 12.50 EUR", ", 12.50 EUR and then nothing."),
        ("buffalo calling; buffalo calling", "; buffalo calling, all night."),
    ],
)
def test_a_series_of_equal_terms_has_a_further_one(said: str, come: str) -> None:
    assert join(said, come) == joined(said, come) == said + come


GRIDS = (
    "+---------------+-------------------+\n    | number (int)  | int               |\n    +---------------+-------------------+\n    | 1 | 2 |\n",
    "+----------+----------+\n| a        | b        |\n+----------+----------+\n| c | d |\n",
    "==========  ==========\na           b\n==========  ==========\nc           d\n",
    "----------------\nThe tides\n----------------\nThey rise and fall.\n",
    "┌──────────┬─────┐\n│ a        │ b   │\n┌──────────┬─────┐\n│ c        │ d   │\n",
)  # fmt: skip
"""Tables whose first border comes again below their header."""


def cuts(grid: str) -> range:
    return range(8, len(grid.partition("\n")[0]))


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("before", ["", "Here it is:\n\n", "Here:\n    "])
@pytest.mark.parametrize("grid", GRIDS)
def test_the_first_border_of_a_table_that_is_repeated_is_there_once(grid: str, before: str) -> None:
    for cut in cuts(grid):
        said = before + grid[:cut]
        if said.endswith(" "):
            continue
        assert join(said, grid) == joined(said, grid) == before + grid, grid[:cut]


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize("grid", GRIDS)
def test_the_first_border_of_a_table_that_goes_on_keeps_its_columns(grid: str) -> None:
    for cut in cuts(grid):
        if not grid[:cut].endswith(" "):
            said, come = grid[:cut], grid[cut:]
            assert join(said, come) == joined(said, come) == grid, said


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize(
    "come",
    ["----------\nIt is a rule.\n", "----------", "----------+\n| a |\n", "----------\n\n\n\n----------x"],
)  # fmt: skip
def test_a_row_of_marks_that_does_not_come_again_goes_on(come: str) -> None:
    said = "Below:\n\n----------"
    assert join(said, come) == joined(said, come) == said + come
