"""A slice of `make documents`: no invalid document is told complete."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
LEAST_VALID = 0.85
"""Of the slice's bodies and held streams; the whole run has a stricter bound."""


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.behaviour("C27a")
def test_no_document_that_its_schema_refuses_is_told_complete() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "checks.documents.run", "--slice", "--processes", "1", "--json"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["skipped"] == ""
    assert found["wrong"] == [], [made["key"] for made in found["wrong"]]
    assert found["odd"] == [], [(made["key"], made["notes"]) for made in found["odd"]]
    assert found["turns"] == 96
    for mode in ("body", "hold"):
        counts = found["counts"][mode]
        assert counts["raisable_valid"] >= LEAST_VALID * counts["raisable"], mode


def test_the_server_of_the_documents_knows_nothing_of_the_code_that_it_tests() -> None:
    says = (
        "import sys, checks.documents.server, checks.documents.checking;"
        " print([m for m in sys.modules if m.startswith('tenuto')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", says], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
