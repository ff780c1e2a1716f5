"""docs/shares.md: what `make shares` counted in recorded answers, from tools/shares.json."""

from __future__ import annotations

import json
from typing import Any

from count_shares import FIGURES
from page import code, table

HEAD = """\
# Shares of recorded answers

Public projects record the answers of real services for their tests. This page counts what is in
{answers:,} such recordings, of {sources} repositories, as
[`tenuto.judge`](guide/check-stored-answers.md) reads them: {cut:,} ({cut_share}) were cut by the
output limit, {empty:,} ({empty_share}) hold no text, and {broken:,} ({broken_share}) are broken.

**This says nothing about the answers of your own program.** A project records what it wants to
test: some of these limits were set to cut, and errors were provoked. The shares say what such
recordings hold, and how they differ from one source to the next. For your own answers, run
`tenuto check` on them.
"""
COLUMNS = {
    "Complete": ("done", "open_end"),
    "Cut": ("text_cut", "arguments_cut", "thinking_cut", "likely_cut"),
    "Empty": ("empty", "thinking_only"),
    "Broken": (
        "fault", "dropped", "runaway", "arguments_malformed", "calls_missing", "call_written",
        "document_invalid",
    ),
    "Other": ("blocked", "refused", "overflow", "paused", "cancelled", "unknown"),
    "No answer": ("no_answer",),
}  # fmt: skip
"""What the columns count, by outcome."""

AFTER = """
- **Complete**: the answer ended by itself, or in tool calls.
- **Cut**: its output limit ended its text, a call or its reasoning.
- **Empty**: it has no content, or only reasoning.
- **Broken**: an error stands in its place, its stream broke off, or a call in it cannot be read.
- **Other**: it was blocked, refused, paused or cancelled, or its stop is in no table.
- **No answer**: an embedding, a list of models and the like.

`make shares` counts again, where the recordings are at hand. They are not part of the project.
"""


def render() -> str:
    """The page."""
    figures: dict[str, dict[str, dict[str, int]]] = json.loads(FIGURES.read_text("utf-8"))
    sources = figures["sources"]
    totals = dict.fromkeys(COLUMNS, 0)
    for counts in sources.values():
        for column, number in _columns(counts).items():
            totals[column] += number
    answers = sum(totals.values()) - totals["No answer"]
    words: dict[str, Any] = {"answers": answers, "sources": len(sources)}
    for column in ("Cut", "Empty", "Broken"):
        words[column.lower()] = totals[column]
        words[f"{column.lower()}_share"] = _share(totals[column], answers)
    lines = [HEAD.format(**words), "## By source\n", *_table("Repository", sources)]
    lines += ["\n## By API\n", *_table("API", figures["wires"], as_code=True), AFTER]
    return "\n".join(lines)


def _columns(counts: dict[str, int]) -> dict[str, int]:
    return {name: sum(counts.get(word, 0) for word in words) for name, words in COLUMNS.items()}


def _table(title: str, groups: dict[str, dict[str, int]], *, as_code: bool = False) -> list[str]:
    rows = []
    for group, counts in groups.items():
        columns = _columns(counts)
        none = columns.pop("No answer")
        answers = sum(columns.values())
        shares = [_share(number, answers) for number in columns.values()]
        name = code(group) if as_code else group
        rows.append([name, f"{answers:,}", *shares, f"{none:,}" if none else ""])
    return table([title, "Answers", *COLUMNS], rows)


def _share(number: int, of: int) -> str:
    return f"{100 * number / of:.1f} %" if number and of else ""
