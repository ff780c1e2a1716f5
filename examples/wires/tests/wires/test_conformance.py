"""The fixtures of these wires, read as those of Tenuto's own are."""

from __future__ import annotations

from pathlib import Path

import pytest
from wires.test_conformance import assert_reads

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDERS = sorted(path.parent for path in FIXTURES.glob("*/*/expect.json"))


@pytest.mark.behaviour("N1", "N1a", "N2", "N3", "N4", "S1", "S6", "S8", "S9")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_a_fixture_reads_as_it_says_whole_byte_by_byte_and_in_random_pieces(folder: Path) -> None:
    assert_reads(folder)
