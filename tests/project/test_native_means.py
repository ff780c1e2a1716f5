"""The table of the providers' own means is whole, and each row has its test (C30)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from page_native import MEANS, NONE

from tenuto.wires.registry import wires

ROOT = Path(__file__).resolve().parents[2]

TESTS = sorted({test for row in MEANS for test in row.tests})


def behaviours_of(path: str, name: str) -> set[str]:
    """The ids that a test carries."""
    tree = ast.parse((ROOT / "tests" / path).read_text("utf-8"))
    (found,) = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    calls = [each for each in found.decorator_list if isinstance(each, ast.Call)]
    return {
        argument.value
        for call in calls
        if ast.unparse(call.func) == "pytest.mark.behaviour"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


@pytest.mark.behaviour("C30")
def test_each_wire_has_a_row_or_a_reason() -> None:
    named = {wire for row in MEANS for wire in row.wires}
    assert not named & NONE.keys()
    assert named | NONE.keys() == {name for name, wire in wires().items() if not wire.only_read}


@pytest.mark.behaviour("C30")
def test_a_wire_whose_streams_can_be_fetched_has_a_row_for_it() -> None:
    fetched = "test_a_stream_that_breaks_at_any_event_is_fetched_on_as_if_it_had_not"
    rows = {w for row in MEANS for w in row.wires if any(fetched in test for test in row.tests)}
    assert rows == {name for name, wire in wires().items() if wire.cursors is not None}


@pytest.mark.behaviour("C30")
@pytest.mark.parametrize(("path", "name"), TESTS)
def test_each_row_has_a_test_that_proves_a_promise(path: str, name: str) -> None:
    assert behaviours_of(path, name)
