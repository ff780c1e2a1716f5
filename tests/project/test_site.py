"""How the pages of the repository become pages of the site. `make check-site` looks at the site itself."""

import doctest
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import ModuleType

import pytest
import site_build
import site_charts
import site_ladders
import site_llms
import site_pages
from project.test_links import PAGES, ROOT, anchors

from tenuto.core.deciding.ladders import LADDERS

LINKS = site_pages.Links(ROOT, site_pages.sources(ROOT))


def staged(text: str, source: str = "docs/guide/policies.md") -> str:
    return site_pages.page(text, source, LINKS, ROOT)


def test_every_page_of_the_documentation_has_a_place_in_the_menu_of_the_site() -> None:
    places = set(site_pages.sources(ROOT).values())
    assert site_build.unlisted(ROOT, places) == [], "give it a row in nav of zensical.toml"


def test_a_page_that_no_menu_has_and_a_row_without_a_page_are_both_named() -> None:
    places = set(site_pages.sources(ROOT).values()) | {"new.md"}
    assert site_build.unlisted(ROOT, places - {"design.md"}) == ["design.md", "new.md"]


@pytest.mark.parametrize("module", [site_pages, site_llms])
def test_the_examples_of_the_tools_are_right(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_links_lead_to_pages_of_the_site_and_keep_their_anchors() -> None:
    given = "[a](../policy.md#x) [b](README.md) [c](../../README.md) [`d`](../monitoring/)\n"
    assert staged(given) == (
        "[a](../policy.md#x) [b](index.md) [c](../index.md) [`d`](../monitoring/index.md)\n"
    )
    assert staged("[a](https://b.c/d.md) [b](#x) `[c](d.md)`\n") == (
        "[a](https://b.c/d.md) [b](#x) `[c](d.md)`\n"
    )


def test_a_link_into_the_source_is_plain_text_while_the_source_has_no_address() -> None:
    links = site_pages.Links(ROOT, site_pages.sources(ROOT))
    links.source_url = ""
    assert (
        links.target("../packages/tenuto/src/tenuto/core/deciding/ladders.py", "docs/design.md")
        is None
    )
    links.source_url = "https://code.test/tenuto"
    assert links.target(
        "../packages/tenuto/src/tenuto/core/deciding/ladders.py", "docs/design.md"
    ) == ("https://code.test/tenuto/blob/main/packages/tenuto/src/tenuto/core/deciding/ladders.py")


def test_headings_get_the_anchors_that_they_have_on_github() -> None:
    for page in PAGES:
        source = page.relative_to(ROOT).as_posix()
        if source not in LINKS.places:
            continue
        given = re.findall(
            r"^#+ .*\{ #(\S+) \}$", staged(page.read_text("utf-8"), source), re.MULTILINE
        )
        assert set(given) == anchors(page), source


def test_lists_and_code_are_written_as_the_generator_reads_them() -> None:
    assert (
        staged("Two:\n- a\n  - b\n\n    c\n\nend\n") == "Two:\n\n- a\n    - b\n\n        c\n\nend\n"
    )
    assert staged("1. a\n\n   ```python call\n   b()\n   ```\n") == (
        "1. a\n\n    ```python\n    b()\n    ```\n"
    )
    after = "- a\n\n```python\nb(\n    c\n)\n```\n"
    assert staged(after) == after, "what is not indented is no part of the item before"
    assert staged("| `a\\|b` |\n") == "| `a|b` |\n"


def test_the_ladders_are_drawn_with_every_rung_in_place_of_the_mermaid_text() -> None:
    page = staged((ROOT / "docs/ladders.md").read_text("utf-8"), "docs/ladders.md")
    assert "mermaid" not in page
    drawn = site_ladders.render(ROOT)
    assert drawn in page
    rungs = sum(len(ladder) for ladder in LADDERS.values())
    assert drawn.count('class="rung"') == rungs > 0


@pytest.mark.parametrize(
    ("chart", "source", "row"),
    [
        (site_charts.frameworks, "docs/frameworks.md", r"^\|.*\| bare \|(?: \d+ \|){4}  \|$"),
        (site_charts.performance, "docs/performance.md", r"^\|[^|]+\| ≤ .*$"),
    ],
)
def test_a_chart_has_each_row_of_its_table(
    chart: Callable[[Path], str], source: str, row: str
) -> None:
    drawn = unescape(chart(ROOT))
    rows = re.findall(row, (ROOT / source).read_text("utf-8"), re.MULTILINE)
    named = [line.strip("| ").split("|")[0].strip() for line in rows]
    assert named
    assert [name for name in named if f">{name}<" not in drawn] == []


def test_a_picture_whose_place_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"docs/ladders\.md has no line"):
        staged("# Ladders\n", "docs/ladders.md")


def test_language_models_get_every_page_of_the_menu_with_its_first_sentence(tmp_path: Path) -> None:
    texts = {
        place: site_pages.plain((ROOT / source).read_text("utf-8"), source, LINKS)
        for source, place in site_pages.sources(ROOT).items()
    }
    for place in texts:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    site_llms.write(ROOT, tmp_path, texts)
    index = (tmp_path / "llms.txt").read_text("utf-8")
    assert "- [Design](design.md): This page explains how Tenuto works inside" in index
    full = (tmp_path / "llms-full.txt").read_text("utf-8")
    assert "<!-- guide/drop-in.md -->" in full
    assert "<svg" not in full
    assert (tmp_path / "guide/drop-in.md").is_file()
