"""What a wire has beside its code, or why it does without."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from support.facing_rows import FACING

from fuzz import asked
from recorder.questions import QUESTIONS
from tenuto.sim.wires import WIRES as SIMULATED
from tenuto.wires.registry import wires

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"

HAVING: Mapping[str, Collection[str]] = {
    "a folder in tests/fixtures": {folder.name for folder in FIXTURES.iterdir()},
    "a simulated wire in tenuto.sim": SIMULATED,
    "an asker in tests/support/facing_rows.py": {row.wire for row in FACING},
    "a recorded case in recorder/questions.py": QUESTIONS,
    "a fuzz target in fuzz/asked.py": {
        wire.name
        for wire in wires().values()
        for row in asked.ALL
        if row.speaks == wire.name or wire.is_request(row.path)
    },
}
"""What a wire needs, and the names of those that have it."""

WITHOUT: Mapping[tuple[str, str], str] = {
    ("watsonx", "a simulated wire in tenuto.sim"): "the simulator speaks it as a dialect of Chat",
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
