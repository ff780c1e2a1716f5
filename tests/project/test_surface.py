"""What is public: the list of it, the pages that explain it, and what they import."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import page_surface
import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE_OF_ALL = {"reference.md", "behaviours.md"}
"""Pages that hold all there is, and explain nothing of it to who does not know the name yet."""
PAGES = [
    ROOT / "README.md",
    *(path for path in (ROOT / "docs").glob("*.md") if path.name not in MADE_OF_ALL),
    *(ROOT / "docs/guide").glob("*.md"),
    *(ROOT / "docs/monitoring").glob("*.md"),
]
UNEXPLAINED = {"__version__": "every package has one"}
NO_PYTHON = {"tenuto.toml", "tenuto.turns"}
"""Names of a file and of a logger."""
ATTRIBUTES = "opentelemetry.md"
"""The page that names attributes of spans in the same form."""
FENCED = re.compile(r"^ *```.*?\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?<![\w./@-])tenuto(?:\.[A-Za-z_]\w*)+")
IMPORT = re.compile(r"^ *(?:from|import) (tenuto\.[\w.]+)", re.MULTILINE)


def test_the_list_of_the_public_names_is_that_of_the_code() -> None:
    listed = (ROOT / "docs/surface.txt").read_text("utf-8")
    assert listed == page_surface.render(), "run `make docs`, and tell CHANGELOG.md what changed"


def test_each_module_and_each_public_name_stands_in_the_list() -> None:
    listed = page_surface.render()
    for module in page_surface.SURFACE:
        for name in import_module(module).__all__:
            title = f"{module}.{name}"
            assert title in page_surface.SURFACE or f"\n{title}" in listed, title


class Old:
    """A class of the surface."""

    def ask(self, text: str) -> str:
        return text

    @property
    def size(self) -> int:
        return 0


class Renamed(Old):
    ask = None  # type: ignore[assignment]

    def question(self, text: str) -> str:
        return text


class Wider(Old):
    def ask(self, text: str, times: int = 1) -> str:
        return text * times


class OtherType(Old):
    @property
    def size(self) -> float:  # type: ignore[override]
        return 0.0


@pytest.mark.parametrize("new", [Renamed, Wider, OtherType])
def test_a_changed_method_or_property_changes_the_list(
    new: type,
) -> None:
    before, after = list(page_surface.lines("X", Old)), list(page_surface.lines("X", new))
    assert before == ["X()", "X.ask(text: str) -> str", "X.size: int"]
    assert after != before


def test_each_public_name_is_explained_on_a_page_beside_the_reference() -> None:
    texts = [path.read_text("utf-8") for path in PAGES]
    code = "\n".join(part for text in texts for part in FENCED.findall(text))
    code += "\n".join(span for text in texts for span in SPAN.findall(FENCED.sub("", text)))
    public = {
        name
        for module in page_surface.SURFACE
        for name in import_module(module).__all__
        if not re.search(rf"\b{re.escape(name)}\b", code)
    }
    assert public == set(UNEXPLAINED)


def test_pages_import_public_modules_or_say_that_a_module_is_not_public() -> None:
    private = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for module in IMPORT.findall(text):
            room = ".".join(module.split(".")[:2])
            said = re.search(
                rf"`{room}`.{{0,60}} not part of the public\s+interface", text, re.DOTALL
            )
            if module not in page_surface.SURFACE and not said:
                private.append(f"{page.relative_to(ROOT)}: {module}")
    assert private == []


def test_each_name_of_the_package_that_a_page_gives_is_there() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("\n## Changes on the way")[0]
    texts = {path: path.read_text("utf-8") for path in PAGES if path.name != ATTRIBUTES}
    gone = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in {**texts, ROOT / "CHANGELOG.md": changelog}.items()
        for name in NAME.findall(text)
        if name not in NO_PYTHON and not is_there(name)
    ]
    assert gone == []


def is_there(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return True
