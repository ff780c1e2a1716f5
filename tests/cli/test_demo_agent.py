"""The agent's demo: what it shows, what it says to a program, and that it can fail."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from tenuto.cli import main
from tenuto.cli.demo_agent import WIRES, play
from tenuto.cli.demo_faults import Faults
from tenuto.cli.demo_script import ANSWERS
from tenuto_sim import Step

KINDS = Faults("openai-chat").kinds
CALLS = sum(len(answer.calls) for answer in ANSWERS)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this project, nor of whoever runs the tests, and no folder left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("TENUTO_")]:
        monkeypatch.delenv(name)


@pytest.mark.behaviour("T1", "T4", "T5", "T8", "C1", "E3", "S3", "H9")
@pytest.mark.parametrize("wire", WIRES)
def test_the_project_comes_out_the_same_with_faults_and_without(
    wire: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "agent", "--wire", wire, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["ok"]
    assert said["identical"]
    assert said["ran_twice"] == []
    assert said["tool_runs"] == CALLS
    assert said["requests_refused"] == 0
    assert said["faults_met"] == said["faults_recovered"] >= len(KINDS)
    assert all(row["met"] for row in said["faults"])
    assert [turn["status"] for turn in said["turns"]] == ["complete", "complete"]
    folder = Path(said["folder"])
    assert (folder / "command.py").read_text().count("word_counts") == 2
    assert said["requests"] > said["requests_without_faults"] == len(ANSWERS)


def test_each_step_call_fault_and_recovery_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "agent"]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    lines = said.splitlines()
    assert sum(line.startswith("Step ") for line in lines) == len(ANSWERS)
    called = [line for line in lines if line.startswith("  call ") and "(not run)" not in line]
    assert len(called) == CALLS
    faults = [line for line in lines if line.startswith("  fault ")]
    assert len(faults) == sum(line.startswith("  recovery ") for line in lines) >= len(KINDS)
    assert any("(not run)" in line for line in lines)
    assert "identical to the fault-free run\tyes" in lines
    assert lines[-1].startswith("folder\t")


def test_a_fault_that_is_not_recovered_makes_the_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TENUTO_EMPTY_RECOVERY", "false")
    assert main(["demo", "agent", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["ok"]
    assert not said["identical"]
    assert said["faults_recovered"] < said["faults_met"]


def test_a_wire_that_is_not_played_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "agent", "--wire", "telex"]) == 2
    assert "but it must be one of anthropic-messages, " in capsys.readouterr().err


def test_a_run_that_comes_again_and_another_file_are_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    made = play(folder, "openai-chat")
    assert made.equals(made)
    assert made.twice == []
    again = replace(made, runs=(*made.runs, made.runs[0]))
    assert again.twice == [made.runs[0][0]]
    assert not again.equals(made)
    assert not replace(made, files={**made.files, "README.md": b""}).equals(made)


def test_every_third_response_has_a_fault_and_some_are_in_a_row() -> None:
    faults = Faults("openai-chat")
    broken = [n for n in range(24) if faults(n, ANSWERS[0]) != Step()]
    assert broken == [2, 5, 8, 11, 12, 14, 17, 20, 23]
    assert {*faults.met} == {kind.name for kind in KINDS}
    only_text = Faults("openai-chat")
    assert only_text(2, ANSWERS[-1]) == KINDS[0].of_text
