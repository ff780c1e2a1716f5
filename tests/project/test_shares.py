"""docs/shares.md says what is in the recordings that are at hand."""

from __future__ import annotations

import json

import count_shares
import page_shares
import pytest


def test_the_figures_are_those_of_the_recordings() -> None:
    path = count_shares.corpus()
    if path is None:
        pytest.skip(f"there is no {count_shares.CORPUS} above the project")
    assert json.loads(count_shares.FIGURES.read_text("utf-8")) == count_shares.count(path)


def test_every_outcome_has_a_column() -> None:
    figures = json.loads(count_shares.FIGURES.read_text("utf-8"))
    told = {word for words in page_shares.COLUMNS.values() for word in words}
    for groups in figures.values():
        assert {word for counts in groups.values() for word in counts} <= told
    assert len(figures["sources"]) > 10
