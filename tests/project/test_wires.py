"""What a wire has beside its code, or why it does without."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from support.facing_rows import FACING

from checks.fuzz import asked
from checks.recorder.questions import QUESTIONS
from examples.wires.tests.at_hand import every_wire as wires
from examples.wires.tests.at_hand import fixture_folders
from tenuto_sim.wires import WIRES as SIMULATED

ROOT = Path(__file__).resolve().parents[2]

HAVING: Mapping[str, Collection[str]] = {
    "a folder in tests/fixtures": {folder.name for folder in fixture_folders()},
    "a simulated wire in tenuto_sim": SIMULATED,
    "an asker in tests/support/facing_rows.py": {row.wire for row in FACING},
    "a recorded case in checks/recorder/questions.py": QUESTIONS,
    "a fuzz target in checks/fuzz/asked.py": {
        wire.name
        for wire in wires().values()
        for row in asked.ALL
        if row.speaks == wire.name or wire.is_request(row.path)
    },
}
"""What a wire needs, and the names of those that have it."""

WITHOUT: Mapping[tuple[str, str], str] = {
    ("watsonx", "a simulated wire in tenuto_sim"): "the simulator speaks it as a dialect of Chat",
    ("watsonx", "an asker in tests/support/facing_rows.py"): "it is asked in Chat's cases",
}
"""Why a wire does without."""


def lacking(names: Collection[str]) -> list[str]:
    """What wires lack, in sentences for their authors."""
    return [
        f"the wire {name} lacks {what}; see docs/guide/write-a-wire.md, or say in WITHOUT why"
        for name in names
        for what, having in HAVING.items()
        if name not in having and (name, what) not in WITHOUT
    ]


def test_each_wire_has_what_it_needs_or_a_reason() -> None:
    assert lacking(wires()) == []


def test_a_wire_that_has_nothing_is_told_what_it_lacks() -> None:
    (first, *others) = lacking(["brook"])
    assert first.startswith("the wire brook lacks a folder in tests/fixtures")
    assert len(others) == len(HAVING) - 1


@pytest.mark.parametrize("lacks", WITHOUT)
def test_no_reason_is_left_over(lacks: tuple[str, str]) -> None:
    name, what = lacks
    assert name in wires()
    assert name not in HAVING[what]


def test_a_wire_of_another_package_imports_the_kit_alone() -> None:
    found = {}
    for file in [*(ROOT / "examples").glob("*/*.py"), *(ROOT / "examples/wires/src").rglob("*.py")]:
        tree = ast.walk(ast.parse(file.read_text("utf-8")))
        named = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
        own = {name for name in named if name.partition(".")[0] == "tenuto"}
        found[str(file.relative_to(ROOT))] = own
    assert len(found) > 9
    assert set().union(*found.values()) == {"tenuto", "tenuto.wire_kit"}
    assert found["examples/own_wire/brook.py"] == {"tenuto"}  # from tenuto import wire_kit as kit


def test_the_wire_that_the_guide_shows_is_one_file_of_at_most_200_lines() -> None:
    (file,) = (ROOT / "examples/own_wire").glob("*.py")
    assert len(file.read_text("utf-8").splitlines()) <= 200
