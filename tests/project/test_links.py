"""Every relative link of every page leads to a file that is there, and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    # What `make site` has built is looked at by `make check-site`.
    if not any(part.startswith(".") for part in page.relative_to(ROOT).parts)
    and page.relative_to(ROOT).parts[0] != "site"
)
LINK = re.compile(r"(?<!\\)\[[^\]\[]*(?:\[[^\]]*\][^\]\[]*)*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|``.*?``|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    """The relative links of a page; what looks like one in code is none."""
    prose = CODE.sub("`", page.read_text("utf-8"))
    return [target for target in LINK.findall(prose) if not re.match(r"\w+:", target)]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page; a repeated one is numbered."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    made: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", prose, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        made.add(f"{slug}-{count}" if count else slug)
    return made


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_headings_have_the_anchors_that_they_have_on_github(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# What `decide` is asked\n## T. Tools, cut\n## A\n```\n# no\n```\n## A\n")
    assert anchors(page) == {"what-decide-is-asked", "t-tools-cut", "a", "a-1"}


def test_links_are_found_in_prose_and_not_in_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[`a`](b.md) [c](https://d) `[e](f)` [g\nh](i.md#j)\n```\n[k](l)\n```\n")
    assert links(page) == ["b.md", "i.md#j"]
