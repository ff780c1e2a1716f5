"""The glossary explains words that the pages and the code use, and names what is there."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import members
import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROW = re.compile(r"^- \*\*([^*]+)\*\* \(`([^`]+)`\): (.+)$", re.MULTILINE)
ROWS = ROW.findall(GLOSSARY.read_text("utf-8"))
PAGES = "\n".join(
    path.read_text("utf-8")
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if path != GLOSSARY and path.parent.name != "decisions"
)
CODE = "\n".join(
    path.read_text("utf-8") for member in members.PUBLISHED for path in member.source.rglob("*.py")
)


def test_the_glossary_has_its_terms_in_order() -> None:
    terms = [term.lower() for term, _, _ in ROWS]
    assert len(terms) > 40
    assert terms == sorted(terms)
    items = GLOSSARY.read_text("utf-8").count("\n- ")
    assert items == len(ROWS), "a term that isn't read isn't tested"


@pytest.mark.parametrize("term", [term for term, _, _ in ROWS])
def test_a_term_stands_in_a_page_and_in_the_code(term: str) -> None:
    used = re.compile(rf"\b{re.escape(term)}(?:s|es|ed)?\b", re.IGNORECASE)
    plural = re.compile(rf"\b{re.escape(term.removesuffix('y'))}ies\b", re.IGNORECASE)
    assert used.search(PAGES) or plural.search(PAGES)
    assert used.search(CODE.replace("_", " ")) or plural.search(CODE)


@pytest.mark.parametrize(("term", "name"), [(term, name) for term, name, _ in ROWS])
def test_the_name_beside_a_term_is_in_the_code(term: str, name: str) -> None:
    if not name.startswith("tenuto."):
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", CODE), term
        return
    owner, _, last = name.rpartition(".")
    try:
        pkgutil.resolve_name(name)
    except AttributeError:  # a field of a dataclass is no attribute of the class
        assert last in pkgutil.resolve_name(owner).__dataclass_fields__
