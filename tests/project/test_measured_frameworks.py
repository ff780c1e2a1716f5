"""The tables that `make frameworks` writes: a part for each API, narrow enough to be read."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "frameworks.md"

sys.path.append(str(ROOT / "checks" / "frameworks"))

import table  # noqa: E402


def measured(wire: str, verdicts: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """What `run.py` writes of cases, each with the verdict on the bare client and on "error"."""
    results = [
        {"case": case, "mode": "body", "way": "sync", "column": column, "verdict": verdict}
        for case, both in verdicts.items()
        for column, verdict in zip(("bare", "error"), both, strict=True)
    ]
    return {"version": "1.0", "wire": wire, "recipe": "error", "results": results}


def test_each_api_has_its_part_and_faults_that_come_out_alike_share_a_row() -> None:
    found = {
        "openai": measured("openai-chat", {"cut": ("told", "right"), "empty": ("harmful", "told")}),
        "anthropic": measured("anthropic-messages", {"cut": ("told", "right")}),
        "agno": measured("openai-chat", {"cut": ("silent", "right"), "drop": ("silent", "right")}),
    }
    lines = list(table.by_api(found))
    assert [line for line in lines if line.startswith("###")] == [
        "### Over Chat Completions",
        "#### openai, by fault",
        "#### agno, by fault",
        "### Over Anthropic Messages",
        "#### anthropic, by fault",
    ]
    assert "| silent → right | `cut`, `drop` |" in lines
    assert lines.index("| harmful → told | `empty` |") < lines.index("| told → right | `cut` |")
    assert '|  | Tenuto, `"error"`, as above | 2 | 0 | 0 | 0 | 1 of 1 |' in lines


def test_the_page_has_a_part_for_each_api_and_a_table_for_each_framework() -> None:
    written = PAGE.read_text("utf-8").partition(table.MARK)[2]
    assert re.findall(r"^### Over (.*)$", written, re.MULTILINE) == list(table.APIS.values())
    named = re.findall(r"^#### (.*), by fault$", written, re.MULTILINE)
    assert sorted(named) == sorted(table.NAMES)


def test_no_table_of_the_page_is_wider_than_seven_columns() -> None:
    rows = re.findall(r"^\|.*\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert max(row.count("|") - 1 for row in rows) <= 7
