"""The demo: what it shows, what it says to a program, and that it leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenuto.cli import main
from tenuto.cli.demo_faults import FAULTS
from tenuto.cli.demo_sdk import Answered, judge
from tenuto.cli.model_server import ModelServer, ModelServerUnavailable, missing_wheels
from tenuto_sim import Simulator

COMMAND = [sys.executable, "-c", "import sys; from tenuto.cli import main; sys.exit(main())"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this project, nor of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("TENUTO_", "OPENAI_"))]:
        monkeypatch.delenv(name)


@pytest.mark.slow
def test_the_faults_are_recovered_or_told_truthfully(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--no-model", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["ok"]
    assert result["model"] == {"skipped": "not wanted (--no-model)", "answers": []}
    assert {row["fault"] for row in result["faults"]} == {fault.case for fault in FAULTS} - {""}
    assert all(row["good"] for row in result["faults"])
    bare = {row["bare"]["verdict"] for row in result["faults"]}
    assert bare == {"silent", "harmful", "raised", "truthful"}
    # One yardstick: the same answer is judged alike, whoever hands it out.
    assert all(
        row["bare"]["verdict"] == row["wrapped"]["verdict"]
        for row in result["faults"]
        if row["bare"]["detail"] == row["wrapped"]["detail"]
    )
    (cut,) = [r for r in result["faults"] if (r["fault"], r["mode"]) == ("length_always", "body")]
    assert cut["bare"]["verdict"] == cut["wrapped"]["verdict"] == "truthful"
    modes = [row["mode"] for row in result["faults"]]
    assert modes.count("body") >= 8
    assert modes.count("stream") >= 8


@pytest.mark.slow
def test_a_fault_that_is_not_recovered_makes_the_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TENUTO_EMPTY_RECOVERY", "false")
    assert main(["demo", "--no-model", "--fast", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert [row["fault"] for row in result["faults"] if not row["good"]] == ["empty_once"]


@pytest.mark.slow
def test_without_the_wheels_the_demo_says_so_and_goes_on_in_plain_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tenuto.cli.model_server.WHEELS", ("no_such_wheel",))
    assert main(["demo", "--fast"]) == 0
    said = capsys.readouterr().out
    assert "The small model is left out: the real model needs the packages no_such_wheel" in said
    assert "\x1b" not in said, "there is no terminal"
    assert "0 wrong." in said


@pytest.mark.slow
def test_live_asks_the_service_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Simulator() as service:
        monkeypatch.setenv("OPENAI_BASE_URL", service.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert main(["demo", "--live", "--model", "sim/normal", "--fast", "--json"]) == 0
        assert {request.json["model"] for request in service.requests} == {"sim/normal"}
    (row,) = json.loads(capsys.readouterr().out)["model"]["answers"]
    assert row["bare"]["finish"] == "length"
    assert row["uncut"]["text"].startswith(row["wrapped"]["text"])
    assert row["requests"] > 1


def test_live_with_a_model_that_the_service_does_not_know_fails_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Simulator() as service:
        monkeypatch.setenv("OPENAI_BASE_URL", service.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert main(["demo", "--live", "--model", "sim/none", "--json"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "tenuto: the model did not answer (NotFoundError)\n"


RIGHT = Answered("All of it.", (), "stop")
CALL = Answered("", (("f", '{"a": 1}'),), "tool_calls")


@pytest.mark.parametrize(
    ("got", "right", "verdict"),
    [
        (RIGHT, RIGHT, "recovered"),
        (CALL, CALL, "recovered"),
        (Answered("All", (), "length"), RIGHT, "truthful"),
        (Answered("", (), "length"), RIGHT, "truthful"),
        (Answered("All", (), "stop"), RIGHT, "silent"),
        (Answered("All", (), None), RIGHT, "silent"),
        (Answered("All of it.", (), "length"), Answered("All"), "silent"),
        (Answered("", (("f", '{"a'),), "tool_calls"), CALL, "harmful"),
        (Answered("", (("f", '{"a": 2}'),), "tool_calls"), CALL, "harmful"),
        (Answered("", CALL.calls, "length"), CALL, "silent"),
        (Answered(error="APIError"), RIGHT, "raised"),
        (Answered(error="KeyError", foreign=True), RIGHT, "harmful"),
    ],
)
def test_an_answer_is_judged_by_what_its_receiver_can_know(
    got: Answered, right: Answered, verdict: str
) -> None:
    assert judge(got, right, "recovered")[0] == verdict


def needs_wheels() -> None:
    if missing := missing_wheels():
        pytest.skip(f"the small model is not installed ({', '.join(missing)}); try: make model")


@pytest.mark.real_model
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_whole_demo_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    needs_wheels()
    assert main(["demo", "--fast", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    (row,) = result["model"]["answers"]
    assert row["verdict"] == "recovered"
    assert row["equal"]
    assert row["bare"]["finish"] == "length"


@pytest.mark.real_model
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_demo_leaves_no_process_behind() -> None:
    needs_wheels()
    process = subprocess.Popen(
        [*COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    children: list[str] = []
    end_s = time.monotonic() + 30
    while not children and time.monotonic() < end_s:
        time.sleep(0.1)
        children = children_of(process.pid)
    assert children
    time.sleep(1)  # not while the child is being made: nobody knows it yet
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=50)
    finally:
        process.kill()  # whatever it is that hangs must not outlive the test
    assert process.returncode == 130
    assert errors == ""
    assert [child for child in children if Path("/proc", child).exists()] == []


def children_of(pid: int) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue  # it has ended since
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(folder.name)
    return found


@pytest.mark.real_model
def test_a_server_that_does_not_come_up_in_time_is_told_and_ended() -> None:
    needs_wheels()
    server = ModelServer(start_timeout_s=0.01)
    with pytest.raises(ModelServerUnavailable, match=r"did not come up within 0\.01 s"):
        server.__enter__()
    assert server.process_id is None
