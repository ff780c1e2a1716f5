"""`tenuto run` as a person and as a program meet it, and sessions that go on after a kill."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenuto.cli import main
from tenuto_agent import loop_hints
from tenuto_sim import Simulator

COMMAND = [sys.executable, "-c", "import sys; from tenuto.cli import main; sys.exit(main())"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings, keys or sessions of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TENUTO_") or "API_KEY" in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as sim:
        yield sim


def at(sim: Simulator, case: str = "normal") -> list[str]:
    return ["--model", f"openai-chat:sim/{case}", "--base-url", sim.base_url]


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["run", *arguments])
    return (code, *capsys.readouterr())


def given(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


# --- what is shown, and the exit code


def test_the_answer_goes_to_standard_output_and_all_else_beside_it(
    sim: Simulator, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, beside = ran(capsys, "Why tides?", *at(sim, "length_once"))
    assert (code, out) == (0, sim.expected("Why tides?", "length_once").text.rstrip("\n") + "\n")
    cut, summary = beside.splitlines()
    assert cut == "↻ the answer was cut: continuing it"
    assert summary.startswith("complete (completed): 1 step, 2 requests, ")


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize(
    ("case", "code", "said"),
    [
        ("length_always", 3, "partial (retry_limit): 1 step, 4 requests"),
        ("length_always", 3, "Raise max_tokens"),
        ("context_length_400", 1, "Shorten the conversation"),
        ("refusal", 1, "the model declined"),
        (
            "call_cut_twice",
            0,
            "↻ a tool call was broken (arguments_cut): it is not run, and asked for again",
        ),
    ],
)
def test_a_turn_that_is_not_whole_has_its_own_exit_code_and_says_what_can_be_done(
    sim: Simulator, capsys: pytest.CaptureFixture[str], case: str, code: int, said: str
) -> None:
    tools = ["--tools", "files"] if "call" in case else []
    got, _, beside = ran(capsys, "Why tides?", *at(sim, case), *tools)
    assert (got, said in beside) == (code, True), beside


def test_what_the_provider_says_of_an_error_is_told(
    sim: Simulator, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, beside = ran(capsys, "Hi", "--model", "anthropic-messages:m", "--base-url", sim.root_url)  # fmt: skip
    assert (code, out) == (1, "")
    assert "What failed: authentication 401: x-api-key header is required" in beside
    assert beside.endswith("No key was sent: name the environment variable with it in --key-variable.\n")  # fmt: skip


def test_a_server_that_is_not_there_is_named_with_the_systems_own_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENUTO_FAULT_RETRIES", "0")
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        code, _, beside = ran(
            capsys, "Hi", "--model", "openai-chat:m", "--base-url", f"http://{where}/v1"
        )
    assert code == 1
    assert f"no answer came from {where}: Connection refused (errno {errno.ECONNREFUSED})" in beside


def test_a_healthy_step_tells_of_no_recovery(
    sim: Simulator, capsys: pytest.CaptureFixture[str]
) -> None:
    def recoveries(case: str) -> int:
        _, said, _ = ran(capsys, "Hi", *at(sim, case), "--json")
        return sum(json.loads(line)["event"] == "recovered" for line in said.splitlines()[:-1])

    assert recoveries("normal") == 0
    assert recoveries("length_once") > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Hi"], "--model"),
        (["Hi", "--model", "anthropic:m"], "ANTHROPIC_API_KEY"),
        (["Hi", "--model", "nobody:m"], "nobody is neither a provider"),
        (["Hi", "--model", "openai-chat:m"], "base URL"),
        (
            ["Hi", "--model", "a:m", "--model", "b:m", "--base-url", "http://x"],
            "--base-url works with a single",
        ),
        (["Hi", "--model", "a:m", "--key-variable", "K"], "--key-variable needs --base-url"),
        (["Hi", "--model", "a:m", "--base-url", "http://x", "--key-variable", "K"], "variable K "),
        (["Hi", "--model", "ollama:m", "--root", "."], "--tools files"),
        (["Hi", "--model", "ollama:m", "--tools", "files", "--root", "none"], "none"),
        (["Hi", "--model", "ollama:m", "--max-steps", "0"], "--max-steps is 0"),
        (["Hi", "--model", "ollama:m", "--max-tokens", "0"], "--max-tokens is 0"),
        (["Hi", "--model", "ollama:m", "--session", "a b"], "--session 'a b'"),
        (["Hi", "--model", "ollama:m", "--session", "no/s"], "no/s cannot be opened"),
        ([" ", "--model", "ollama:m"], "the prompt is blank"),
    ],
)
def test_a_wrong_request_is_told_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, beside = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in beside
    assert len(beside.splitlines()) == 1


def test_the_key_for_a_server_of_ones_own_comes_from_the_variable_that_is_named(
    sim: Simulator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    mine = ["--model", "anthropic-messages:m", "--base-url", sim.root_url, "--key-variable", "MY_KEY"]  # fmt: skip
    assert ran(capsys, "Hi", *mine)[0] == 0


def test_a_program_gets_one_object_a_line(
    sim: Simulator, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["--tools", "files", "--session", "s", "--json"]
    code, out, beside = ran(capsys, "Why tides?", *at(sim, "call_cut_twice"), *arguments)
    assert (code, beside) == (0, "")
    events: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert {event["event"] for event in events} == {
        "recovered", "called", "returned", "step_ended", "said", "result",
    }  # fmt: skip
    called = [event for event in events if event["event"] == "called"]
    assert [event["synthetic"] for event in called][-1] is False
    assert events[-1]["event"] == "result"
    assert events[-1]["status"] == "complete"
    kept = (tmp_path / "state/tenuto/sessions/s.jsonl").read_text("utf-8")
    assert [next(iter(json.loads(line))) for line in kept.splitlines()] == [
        "tenuto_session", "user", "assistant", "began", "results", "assistant",
    ]  # fmt: skip


def test_prompts_come_from_standard_input_whole_or_line_by_line(
    sim: Simulator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given("Why\ntides?\n", monkeypatch)
    assert ran(capsys, "-", *at(sim))[0] == 0
    assert sim.requests[-1].json["messages"] == [{"role": "user", "content": "Why\ntides?\n"}]
    given("Why tides?\n\nAnd the moon?\n", monkeypatch)
    code, _, beside = ran(capsys, *at(sim))
    assert (code, beside.count("complete (completed)")) == (0, 2)
    assert [row["role"] for row in sim.requests[-1].json["messages"]] == ["user", "assistant", "user"]  # fmt: skip


@pytest.mark.behaviour("T17")
def test_the_output_limit_is_told_to_a_model_that_has_file_tools(
    sim: Simulator, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--tools", "files", "--system", "Be kind."]
    assert ran(capsys, "Hi", *at(sim), *files, "--max-tokens", "900")[0] == 0
    assert ran(capsys, "Hi", *at(sim), *files)[0] == 0
    known, unknown = (request.json["messages"][0]["content"] for request in sim.requests)
    assert known.startswith("Be kind.\n\nOne message of yours")
    assert "900 tokens" in known
    assert unknown == "Be kind."
    assert "1,300 characters" in json.dumps(sim.requests[0].json["tools"])


# --- what goes on


LONG = """
import sys, time
import tenuto
from pathlib import Path

@tenuto.agent.tool
def deploy(place: str = "") -> str:
    Path("running").touch()
    time.sleep(60)
    return "done"

model = tenuto.agent.Model("openai-chat:sim/tool", base_url=sys.argv[1])
with tenuto.agent.Session("work.jsonl") as session, tenuto.agent.Agent(model, tools=[deploy]) as agent:
    agent.conversation(session).run("Deploy it.")
"""


@pytest.mark.behaviour("H6", "T8")
def test_after_a_kill_in_mid_tool_the_session_goes_on_and_says_which_call_may_have_run(
    sim: Simulator, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG, sim.base_url])
    try:
        until((tmp_path / "running").exists)
        process.kill()  # its own SIGKILL: nothing can be tidied up
    finally:
        process.kill()
        process.wait(10)
    before = (tmp_path / "work.jsonl").read_bytes()
    code, _, beside = ran(capsys, "Go on.", *at(sim), "--session", "work.jsonl")
    assert code == 0
    assert beside.startswith("The call of deploy with {")
    assert "was interrupted and may or may not have run." in beside
    assert sim.requests[-1].status == 200
    told = [row for row in sim.requests[-1].json["messages"] if row["role"] == "tool"]
    assert [row["content"] for row in told] == [loop_hints.CALL_UNSURE]
    after = (tmp_path / "work.jsonl").read_bytes()
    assert after.startswith(before)
    assert loop_hints.CALL_UNSURE.encode() not in after
    assert "interrupted" not in ran(capsys, "And?", *at(sim), "--session", "work.jsonl")[2]
    first, second = (json.dumps(sim.requests[n].json["messages"])[:-1] for n in (-2, -1))
    assert second.startswith(first), "the history went out as before"


@pytest.mark.behaviour("C23")
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal there")
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_the_turn_and_the_session_goes_on(
    sim: Simulator, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        arguments = ["--model", "openai-chat:m", "--base-url", url, "--session", "s.jsonl"]
        process = subprocess.Popen(
            [*COMMAND, "run", "Hi", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip
        try:
            with contextlib.closing(silent.accept()[0]) as asked:
                asked.recv(10)
                process.send_signal(signal.SIGINT)
                out, beside = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert beside.startswith("The turn was interrupted; the session s.jsonl goes on.\n")
    assert "failed (cancelled): 1 step, 0 requests, tokens unknown" in beside
    code, _, beside = ran(capsys, "Hello?", *at(sim), "--session", "s.jsonl")
    assert (code, sim.requests[-1].status) == (0, 200)
    assert beside.startswith("The last turn ended before it was answered.")


def until(true: Any) -> None:
    for _ in range(400):
        if true():
            return
        time.sleep(0.05)
    raise TimeoutError


@pytest.mark.behaviour("C23")
@pytest.mark.skipif(os.name != "posix", reason="it takes a terminal")
@pytest.mark.usefixtures("interrupts")
def test_in_a_terminal_the_conversation_goes_on_after_an_interrupt() -> None:
    import pty

    keyboard, terminal = pty.openpty()
    with socket.create_server(("127.0.0.1", 0)) as gate:
        gate.settimeout(20)
        url = f"http://127.0.0.1:{gate.getsockname()[1]}/v1"
        process = subprocess.Popen(
            [*COMMAND, "run", "--model", "openai-chat:m", "--base-url", url],
            stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            for typed in (b"Hi\n", b"Still there?\n\x04"):
                os.write(keyboard, typed)
                with contextlib.closing(gate.accept()[0]) as asked:
                    asked.recv(10)
                    process.send_signal(signal.SIGINT)
            out, beside = process.communicate(timeout=20)
        finally:
            process.kill()
            os.close(keyboard)
            os.close(terminal)
    assert (process.returncode, out) == (130, "")
    assert beside.count("The turn was interrupted; the conversation goes on.") == 2
