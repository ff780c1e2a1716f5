"""A slice of `make differential` runs in the tests, and the table that judges is tested by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checks.differential.judging import ROWS, Both, judge
from checks.differential.listed import LISTED, OPEN
from checks.differential.pairs import drawn
from checks.differential.run import RESULTS, tables
from checks.differential.sdks import SDKS, Seen
from checks.differential.truth import State, Truth

ROOT = Path(__file__).resolve().parents[2]
CALL = ("write_file", {"path": "a"})
WHOLE = Truth(State.WHOLE, "It is the moon.")
CUT = Truth(State.CUT, "It is the moon.")
REQUESTS: list[Any] = [{"messages": []}]


def judged(truth: Truth, bare: Seen, wrapped: Seen, *, asked: int = 1, raises: bool = False) -> Any:
    requests = REQUESTS, REQUESTS * asked
    return judge(Both(truth, bare, wrapped, frozenset({"stop"}), requests, raises))


def said(text: str, stop: str | None = "stop", **more: Any) -> Seen:
    return Seen(text, stop=stop, usage=(5, 7), **more)


@pytest.mark.parametrize(
    ("truth", "bare", "wrapped", "asked", "verdict"),
    [
        (WHOLE, said(WHOLE.text), said(WHOLE.text), 1, "equal"),
        (WHOLE, said(WHOLE.text), said(WHOLE.text), 2, "worse"),
        (WHOLE, said(WHOLE.text), said("It is."), 1, "worse"),
        (WHOLE, said(WHOLE.text), said(WHOLE.text, "length"), 1, "worse"),
        (WHOLE, said(WHOLE.text), said(WHOLE.text, error="X: y"), 1, "worse"),
        (WHOLE, said("", None, error="X: y"), said(WHOLE.text), 1, "better"),
        (CUT, said("It is", "length"), said(WHOLE.text), 2, "better"),
        (CUT, said("It is", "length"), said("It is", "length"), 2, "equal"),
        (CUT, said("It is", "length"), said("It", "length"), 2, "worse"),
        (CUT, said("It is", "length"), said("It is"), 2, "worse"),
        (CUT, said("It is", None), said("It is"), 1, "worse"),
        (CUT, said("It is", None), said("It is", "length"), 1, "better"),
        (CUT, said("It is", "length"), said("It is the sun", "length"), 2, "worse"),
        (Truth(State.CUT, calls=(CALL,)), said("", "length"), said("", calls=[CALL]), 2, "better"),
        (Truth(State.CUT, calls=(CALL,)), said("", calls=[CALL]), said(""), 2, "worse"),
    ],
)
def test_the_table_judges_a_pair_by_what_the_model_said(truth, bare, wrapped, asked, verdict):
    assert judged(truth, bare, wrapped, asked=asked).verdict == verdict


def test_a_cut_that_nobody_is_told_of_is_worse_where_an_error_was_asked_for():
    silent = said("It is", None)
    assert judged(CUT, silent, silent).verdict == "equal"
    assert judged(CUT, silent, silent, raises=True).verdict == "worse"
    assert judged(CUT, silent, replace(silent, error="X: y"), raises=True).verdict == "better"


def test_what_a_program_is_given_at_the_end_is_judged_as_well():
    bare, wrapped = (said(WHOLE.text, final=said(WHOLE.text)) for _ in range(2))
    assert judged(WHOLE, bare, wrapped).verdict == "equal"
    assert wrapped.final is not None
    wrapped.final.text = "It is."
    assert judged(WHOLE, bare, wrapped).verdict == "worse"


def test_at_most_twenty_kinds_are_listed_by_hand_each_with_a_reason():
    assert len(LISTED) <= 20
    assert all(reason.endswith(".") for reason in LISTED.values())
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_the_page_shows_the_table_that_judges():
    found = json.loads(RESULTS.read_text("utf-8"))
    assert {name: found[name] for name in ("rows", "listed")} == tables(), (
        "the table has changed: make differential WRITE=1"
    )


@pytest.mark.behaviour("P10")
@pytest.mark.timeout(300)
def test_in_a_slice_of_all_pairs_nobody_is_worse_off_than_with_the_bare_sdk():
    """In a process of its own, because the SDKs' clients leave sockets and warnings behind; in one,
    because importing all SDKs takes as long as many pairs."""
    command = [
        sys.executable,
        "-m",
        "checks.differential.worker",
        ",".join(SDKS),
        "0",
        "1",
        "slice",
    ]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    lines = [json.loads(line) for line in ran.stdout.splitlines()[1:]]
    assert {line["key"] for line in lines} == {pair.key for pair in drawn()}
    worse = {
        line["key"]
        for line in lines
        if line["verdict"] in ("worse", "open")
        and not {line["kind"], f"{line['sdk']}/{line['kind']}"} & LISTED.keys()
    }
    assert worse == OPEN, "a key that is no longer worse must leave OPEN"
