"""Real rows of public projects (`shared/stored_rows`, not part of the project), and recorded answers of
real services (`shared/corpus`).

Run as a program it prints the figures: `python tests/judging/test_stored_rows.py`.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.recorded import corpus

from tenuto import Outcome, Verdict, judge

NAME = Path("shared/stored_rows/rows.jsonl.gz")
CUT = {
    Outcome.TEXT_CUT,
    Outcome.ARGUMENTS_CUT,
    Outcome.THINKING_CUT,
    Outcome.RUNAWAY,
    Outcome.DROPPED,
}
MEANS: dict[str, set[Outcome]] = {
    "complete": {Outcome.DONE, Outcome.REFUSED, Outcome.EMPTY},  # a stop says nothing of those
    "tool_call": {Outcome.DONE},
    "cut": CUT,
    "error": {Outcome.FAULT, Outcome.ARGUMENTS_MALFORMED, Outcome.BLOCKED},
    "unclear": {Outcome.UNKNOWN},
}
REASONS: dict[str, set[Outcome]] = {
    "end_turn": {Outcome.DONE},
    "stop_sequence": {Outcome.DONE},
    "tool_call": {Outcome.DONE},
    "max_tokens": CUT,
    "context_window_exceeded": {Outcome.OVERFLOW},
    "safety_blocked": {Outcome.BLOCKED},
    "refusal": {Outcome.REFUSED},
    "paused": {Outcome.PAUSED},
    "malformed_tool_call": {Outcome.ARGUMENTS_MALFORMED},
    "error": {Outcome.FAULT},
    "cancelled": {Outcome.CANCELLED},
    "unknown": {Outcome.UNKNOWN, Outcome.NO_ANSWER},
    "dropped": {Outcome.DROPPED, Outcome.NO_ANSWER},
}


@cache
def rows() -> list[dict[str, Any]]:
    found = (up / NAME for up in Path(__file__).parents if (up / NAME).exists())
    path = next(found, None)
    if path is None:
        pytest.skip(f"no {NAME} above {Path(__file__).parent}: the rows are kept elsewhere")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def judged() -> list[tuple[dict[str, Any], Verdict]]:
    return [(row["label"], judge(row["row"])) for row in rows()]


def figures() -> dict[str, Any]:
    counts: Counter[str] = Counter()
    wrong = []
    for label, verdict in judged():
        if not label["answer"]:
            counts["no answers"] += 1
            counts["no answers claimed"] += verdict.outcome is not Outcome.NO_ANSWER
        elif label["outcome"] in MEANS:
            alt = label.get("alt") or []
            means = set().union(*(MEANS[word] for word in (label["outcome"], *alt)))
            counts["with a stop"] += 1
            counts["read right"] += verdict.outcome in means
            counts["cut, called complete"] += (
                label["outcome"] == "cut" and verdict.outcome is Outcome.DONE
            )
            if verdict.outcome not in means:
                wrong.append((label["kind"], label["outcome"], verdict))
        else:
            counts["without a stop"] += 1
            unsure = verdict.outcome is Outcome.DONE and not verdict.stop_is_stored
            counts["without a stop, certainly done"] += unsure and verdict.certain
    return {**counts, "wrong": wrong}


@pytest.mark.behaviour("J1", "N14")
def test_stored_rows_are_read_as_they_are_labelled() -> None:
    found = figures()
    assert found["read right"] >= 0.95 * found["with a stop"], found["wrong"]
    assert found["cut, called complete"] == 0
    assert found["no answers claimed"] == 0
    assert found["without a stop, certainly done"] == 0


# The own API of Text Generation Inference, which is archived, is no wire any more.
OF_NO_WIRE = frozenset({"openllmetry-d68bf2a0df91"})

# Errors of which nothing says that a model's API wrote them, where they stand alone: a token that
# AWS refuses, a key that Google, Azure, Mistral or OpenRouter does not know.
OF_ANYBODY = frozenset(
    {"ruby_llm-b5af0e682c4c", "langchaingo-da4b1ce0a683", "ruby_llm-08327cbfef8b"}
    | {"ruby_llm-338877b29846", "ruby_llm-a5c01dc568ef"}
)


@pytest.mark.behaviour("J1")
def test_recorded_answers_are_judged_as_they_are_labelled() -> None:
    wrong, count = [], 0
    for wire, records in corpus().items():
        for name, raw, labels in records:
            verdict = judge(raw)
            if name in OF_NO_WIRE:
                assert verdict.outcome is Outcome.NO_ANSWER
                continue
            if name in OF_ANYBODY:
                assert verdict.evidence == ("any_error",)
                continue
            count += 1
            assert not ("max_tokens" in labels and verdict.outcome is Outcome.DONE), name
            means = set().union(*(REASONS[label] for label in labels))
            # The label is that of the stop, which says nothing of an answer that is empty.
            if verdict.outcome not in means and verdict.evidence != ("stop", "empty"):
                wrong.append((wire, name, labels, verdict))
    assert len(wrong) <= 0.001 * count, wrong


if __name__ == "__main__":
    for word, number in figures().items():
        print(f"{word}: {number}")
