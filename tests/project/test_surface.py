"""What is public: the list of it, the pages that explain it, and what they import."""

from __future__ import annotations

import pkgutil
import re
import subprocess
from importlib import import_module
from pathlib import Path

import page_reference
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
NO_PYTHON = {"tenuto.toml", "tenuto.turns", "tenuto.commands"}
"""Names of a file, of a logger and of a group of entry points."""
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


FROZEN, OPEN = page_surface.PARTS


def test_each_public_module_is_either_frozen_or_open() -> None:
    assert set(page_reference.MODULES) | {"tenuto.events"} == set(page_surface.SURFACE)
    assert len(page_surface.SURFACE) == len(set(page_surface.SURFACE))


def test_what_is_frozen_needs_nothing_that_may_change() -> None:
    text = page_surface.render()
    frozen, still_open = text.split(f"\n# {OPEN}\n")
    names = set(re.findall(r"^tenuto\.(?:\w+\.)*([A-Z]\w+)", still_open, re.MULTILINE))
    names -= set(re.findall(r"^tenuto\.(?:\w+\.)*([A-Z]\w+)", frozen, re.MULTILINE))
    assert sorted(name for name in names if re.search(rf"\b{name}\b", frozen)) == []


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ("f(a: int) -> str", "f(a: int) -> str", []),
        ("f(a: int) -> str", "f(a: int, *, b: int = 1) -> str", []),
        ("f(a: int) -> str", "f(a: int, b: int) -> str", ["f"]),
        ("f(a: int, b: int = 1) -> str", "f(a: int) -> str", ["f"]),
        ("f(a: int, b: int) -> str", "f(b: int, a: int) -> str", ["f"]),
        ("f(a: int) -> str", "f(a: int) -> bytes", ["f"]),
        ("f(\n    a: int,\n) -> str", "f(\n    a: int,\n    b: int = 1,\n) -> str", []),
        ("C: 'a', 'b'", "C: 'a', 'new', 'b'", []),
        ("C: 'a', 'b'", "C: 'b'", ["C"]),
        ("C.size: int", "C.size: float", ["C.size"]),
        ("NAME\nf()", "f()", ["NAME"]),
    ],
)
def test_what_breaks_programs_is_told_from_what_does_not(
    before: str, after: str, gone: list[str]
) -> None:
    told = page_surface.broken(f"# {FROZEN}\n{before}\n", f"# {FROZEN}\n{after}\n")
    assert told == gone


def test_no_release_of_0_1_takes_away_what_0_1_0_froze() -> None:
    shown = subprocess.run(
        ["git", "show", "v0.1.0:docs/surface.txt"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if shown.returncode:
        pytest.skip("there is no tag v0.1.0 yet")
    assert page_surface.broken(shown.stdout, page_surface.render()) == []


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
