"""The commands that a page shows work for who reads it: from a clone while there is no release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"),
]
RELEASED = not re.search(
    r"^## \[0\.1\.0\] - unreleased$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
)
BY_NAME = re.compile(r"pip install (?:-U )?[\"']?tenuto\b.*")
FROM_A_CLONE = re.compile(r"pip install -e \S+|\.venv/bin/tenuto")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_installs_what_can_be_had(page: Path) -> None:
    wrong = FROM_A_CLONE if RELEASED else BY_NAME
    assert wrong.findall(page.read_text("utf-8")) == []


def test_the_first_commands_of_the_readme_run_in_a_clone() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"^ {4}(\S.*)$", text, re.MULTILINE)
    assert shown[0].startswith("make run")
    extras = re.findall(r'pip install -e "packages/tenuto\[([a-z,]+)\]"', text)
    project = (ROOT / "packages/tenuto/pyproject.toml").read_text("utf-8")
    assert extras, "an extra for the reader's SDK"
    assert all(f"\n{name} = [" in project for names in extras for name in names.split(","))


def test_the_commands_of_the_readme_name_the_tenuto_of_the_clone() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert re.findall(r"^ {4}tenuto .*$", text, re.MULTILINE) == []
