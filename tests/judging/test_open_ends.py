"""What SQL says of the end of a plain text, `judge` says too."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from judging.test_settled import both_ways, write
from support.tables import duckdb

from tenuto import judge
from tenuto.judging.open_ends import EVIDENCE, how_open
from tenuto.judging.sentences import LEADING_WORDS

LEADING = sorted(word for word in LEADING_WORDS if word.isascii())
PIECES = (
    *(" ", " ", " ", ", ", ". ", ". ", "! ", "? ", " - ", "-", "--", "'", "'s ", "\n", "\n\n", "\n- ", "\n1. ", "1. ", "12"),
    *(": ", "; ", ".", "...", "\u2026 ", "(", ")", " [", "**", "`", '"', " = ", "_", "/", "  ", "\t", "\u00a0", "#", "a.b", "é", "好。"),
    *(" Dr. ", " vs. ", " no. ", " prof. ", " e.g. ", ". the", ". The", "! The", "tides. However", "co-op", "A", "I", "x" * 39, "x" * 31),
)  # fmt: skip
PLAIN = (" ", " ", " ", " ", ", ", ". ", ". ", "? ", "-", "'", " Dr. ", "tides. However", "12")
QUIET = (" ", " ", " ", ", ", "-", "'", "12 ")
WORDS = ("tide", "moon", "The", "However", "water", "sea", "rises", "NASA", "Of", "prof", "twice", "falls")  # fmt: skip


def texts(chance: Random, count: int) -> list[str]:
    """Texts of pieces, most of them plain, in which words stand between marks."""
    made = []
    for _ in range(count):
        pieces = chance.choice((PIECES, PLAIN, QUIET))
        size = chance.choice((4, 9, 20, 60, 400))
        parts = [f"{chance.choice(WORDS)}{chance.choice(pieces)}" for _ in range(size)]
        last = chance.choice((*WORDS, chance.choice(LEADING), chance.choice(LEADING).title()))
        made.append("Tide " + "".join(parts) + (" " if chance.random() < 0.8 else "") + last)
    return made


def told_of(found: list[str]) -> list[tuple[str, str | None]]:
    with duckdb.connect() as connection:
        query = f"SELECT t, {how_open('t')} FROM (SELECT unnest(?) AS t)"
        rows: list[tuple[str, str | None]] = connection.execute(query, [found]).fetchall()
    return rows


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.heavy) for seed in range(2, 12))]
)
def test_how_a_text_is_told_to_break_off_is_what_judge_says(seed: int) -> None:
    seen = dict.fromkeys(EVIDENCE, 0)
    for text, told in told_of(texts(Random(seed), 3_000)):
        if told is not None:
            row = {"generated_text": text, "num_generated_tokens": 90}
            assert judge(row).evidence == EVIDENCE[told], text
            seen[told] += 1
    assert min(seen.values()) >= 30, "each way to break off is told in SQL"


@pytest.mark.behaviour("J1")
@pytest.mark.parametrize("limit", [None, 25])
@pytest.mark.parametrize("tokens", ["INTEGER", None])
def test_of_texts_that_break_off_the_totals_are_those_of_judging_each(
    tmp_path: Path, tokens: str | None, limit: int | None
) -> None:
    chance = Random(3)
    found = [*texts(chance, 300), *["Tide and moon, " * 9 + "the sea"] * 40]
    if tokens is None:
        columns = [("prompt", "VARCHAR"), ("completion", "VARCHAR")]
        rows: list[tuple[Any, ...]] = [("Why?", text) for text in found]
    else:
        columns = [("generated_text", "VARCHAR"), ("num_generated_tokens", tokens)]
        rows = [(text, min(20 + len(text), 30)) for text in found]
    both_ways(write(tmp_path / "a.parquet", (columns, rows)), limit)
