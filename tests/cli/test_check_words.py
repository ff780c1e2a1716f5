"""What `tenuto check` prints tells a person something, and nothing that reads like a finding is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.stored import DONE, chat

from tenuto.cli import main


def answers(model: str | None, limit: int | None, whole: int, cut: int) -> list[dict[str, Any]]:
    """Answers of a model under a limit."""
    rows = [(DONE, "stop")] * whole + [("The moon pulls the se", "length")] * cut
    named = {} if model is None else {"model": model}
    under = {} if limit is None else {"max_tokens": limit}
    beside = {**named, **under, "completion_tokens": 90}
    return [{"completion": text, "finish_reason": stop, **beside} for text, stop in rows]


def printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: Sequence[object], *options: str
) -> str:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    main(["check", str(path), *options])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (answers("a", 90, 30, 10), ""),
        (answers("a", 90, 30, 10) + answers("a", None, 90, 10), ""),
        (answers("a", 90, 30, 10) + answers(None, None, 90, 0), ""),
        (answers(None, 90, 30, 10) + answers(None, 900, 90, 0), "worst: limit 90: 25 %"),
        (answers("a", 90, 30, 10) + answers("a", 900, 90, 0), "worst: limit 90: 25 %"),
        (answers("a", 90, 30, 10) + answers("b", 90, 90, 10), "worst: a at limit 90: 25 %"),
        (answers("a", None, 30, 10) + answers("b", None, 90, 0), "worst: a: 25 %"),
        (answers("a", None, 30, 10) + answers("b", None, 30, 10), ""),
        (answers("a", None, 30, 10) + answers("b", None, 3, 0), ""),
        (answers("a", 90, 60, 0) + answers("b", 90, 60, 0), ""),
        (answers("a", None, 36, 4) + answers("b", 90, 36, 4) + answers(None, None, 0, 20), ""),
    ],
    ids=range(11),
)
def test_the_worst_is_told_where_models_or_limits_can_be_compared(
    rows: list[Any], wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(tmp_path, capsys, rows)
    (line,) = [line for line in out.splitlines() if line.startswith("  cut by the limit")]
    assert line.partition("%")[2].strip() == wanted


TITLE = {
    "prompt": "A title",
    "completion": "Of Tides and Moons, and of What the Sailors Knew of Them before There Were Clocks",
}
TEXT = {"prompt": "Why?", "completion": DONE}
OFF = "The tide rises twice a day. The moon pulls the water of the sea towards it, and the"


def test_an_open_end_reads_as_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(tmp_path, capsys, [TEXT] * 60 + [TITLE])
    assert "1 of them ends without a mark, which alone is no finding" in out
    assert "could not be judged" not in out
    out = printed(tmp_path, capsys, [TEXT] * 60 + [TITLE] * 2)
    assert "2 of them end without a mark, which alone is no finding" in out


@pytest.mark.parametrize("rows", [[TITLE] * 30, [TEXT] * 10 + [{**TITLE, "completion": OFF}] * 30])
def test_answers_that_could_not_be_judged_are_told_with_what_helps(
    rows: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(tmp_path, capsys, rows)
    told = (
        "  30 answers could not be judged: they store no stop and no limit, and too many end "
        "openly for that to tell; give --limit or --requests, or store the stop"
    )
    assert told in out.splitlines()
    assert json.loads(printed(tmp_path, capsys, rows, "--json"))["undecided"] == 30
    for option in (["--limit", "512"],):
        assert "could not be judged" not in printed(tmp_path, capsys, rows, *option)


@pytest.mark.parametrize("given", ["1", "5", "1.0", "101%", "-1%", "nan", "inf", "", "%", "1 000%"])
def test_a_share_that_may_be_meant_otherwise_is_refused(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(chat()))
    assert main(["check", str(path), f"--fail-over={given}"]) == 2
    err = capsys.readouterr().err
    assert f"--fail-over is {given!r}, but it must be a share: 1% or 0.01" in err


@pytest.mark.parametrize("given", ["0", "0%", "100%", "0.01", "1%", "0.5 %", ".5"])
def test_a_share_is_a_percentage_or_a_number_below_one(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(chat(DONE, "stop")))
    assert main(["check", str(path), f"--fail-over={given}"]) == 0


@pytest.mark.parametrize("given", ["0", "-1", "two", ""])
def test_a_number_of_processes_is_a_whole_number_from_one_on(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(chat()))
    assert main(["check", str(path), f"--processes={given}"]) == 2
    assert "processes" in capsys.readouterr().err


def test_more_processes_than_ranges_are_not_started(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(chat(DONE, "stop")))
    assert main(["check", str(path), "--processes", "1000000"]) == 0
