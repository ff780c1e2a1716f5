"""`tenuto watch` as a user meets it: what it says, what it refuses, and the text that it may show."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.telemetry import answer, chat

import tenuto
from tenuto.cli import main
from tenuto.cli.turn_text import text_of
from tenuto_sim import Simulator

RUN = "import sys; from tenuto.cli import main; sys.exit(main(sys.argv[1:]))"
TOKEN = "a token that is long enough"


@contextmanager
def watching(*arguments: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command while it runs, and what it says first."""
    command = [sys.executable, "-c", RUN, "watch", *arguments]
    environment = {**os.environ, **variables}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
        finally:
            process.kill()


def read(url: str, path: str, **more: Any) -> Any:
    return httpx.get(f"{url}api/{path}", **more).raise_for_status().json()


@pytest.mark.slow
@pytest.mark.behaviour("P6")
@pytest.mark.usefixtures("interrupts")
def test_it_serves_the_turns_of_a_folder_that_comes_later_until_it_is_interrupted(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "events"
    with watching(str(folder), "--json") as (process, line):
        policy = tenuto.Policy(backoff_s=0.0, events=str(folder))
        chat(answer("One ", stop="length"), answer("two."), policy=policy)
        url = json.loads(line)["url"]
        assert url.startswith("http://127.0.0.1:")
        turns: list[Any] = []
        while not (turns and turns[0]["state"] == "complete"):  # it reads the file meanwhile
            turns = read(url, "turns")["turns"]
        with httpx.stream("GET", f"{url}api/stream") as stream:
            told = stream.iter_lines()
            next(told)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert err == f"tenuto: waiting for {folder}\n"


@pytest.mark.slow
@pytest.mark.parametrize("content", ['{"choices": []}', '{"choices": []}\n'], ids=["half", "line"])
def test_a_file_without_events_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(content)
    with watching(str(file)) as (process, line):
        assert "Watching" in line
        process.terminate()
        assert process.communicate(timeout=20)[1].splitlines()[0] == (
            f"tenuto: {file}: its first line is not an event"
        )


@pytest.mark.slow
def test_elsewhere_it_says_how_to_give_the_token_and_never_shows_it(tmp_path: Path) -> None:
    arguments = (str(tmp_path), "--host", "0.0.0.0", "--token-env", "WATCH")
    with watching(*arguments, WATCH=TOKEN) as (_, line):
        assert "add ?token= and the value of WATCH" in line
        assert TOKEN not in line
        url = next(word for word in line.split() if word.startswith("http://"))
        headers = {"authorization": f"Bearer {TOKEN}", "host": "watch.example"}
        assert read(url, "totals", headers=headers)["totals"]["turns"] == 0
        assert httpx.get(url).status_code == 401


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["absent/events.jsonl"], "absent/events.jsonl: the folder absent does not exist"),
        (["absent/events"], "absent/events: the folder absent does not exist"),
        (["--no-such.jsonl"], "no such option"),
        (["-"], "cannot read standard input"),
        (["/dev/null"], "a pipe or a device"),
        (["x" * 300], "File name too long"),
        ([".", "--host", "0.0.0.0"], "on 0.0.0.0, readers need a token: use --token-env"),
        ([".", "--host", "::"], "on ::, readers need a token"),
        ([".", "--host", ""], "on all addresses, readers need a token"),
        ([".", "--token-env", "NO_SUCH_VARIABLE"], "the variable NO_SUCH_VARIABLE is not set"),
        ([".", "--token-env", "SHORT"], "a token has at least 16 characters"),
        ([".", "--captures", "."], "--captures and --show-content only work together"),
        ([".", "--show-content"], "--captures and --show-content only work together"),
        ([".", "--show-content", "--captures", "absent"], "absent is not a folder"),
        ([".", "--port", "70000"], "--port is 70000, but it must be a whole number"),
    ],
)
def test_what_cannot_be_watched_is_named(
    arguments: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHORT", "short")
    assert main(["watch", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert why in said.err


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["watch", str(tmp_path), "--port", port]) == 1
    assert f"cannot listen on 127.0.0.1 port {port}: " in capsys.readouterr().err


def test_without_its_server_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["watch", str(tmp_path)]) == 2
    assert "pip install 'tenuto[watch]'" in capsys.readouterr().err


@pytest.mark.behaviour("N10")
def test_the_text_of_a_captured_turn_comes_in_the_pieces_of_its_attempts(tmp_path: Path) -> None:
    heard: list[tenuto.Event] = []
    policy = tenuto.Policy(backoff_s=0, capture=str(tmp_path / "captures"))
    with (
        Simulator(token_chars=40) as sim,
        tenuto.http_client(policy=policy, on_event=heard.append) as client,
    ):
        for model in ("sim/normal", "sim/length_twice"):
            asked = {"model": model, "messages": [{"role": "user", "content": "Tell me."}]}
            got = client.post(f"{sim.base_url}/chat/completions", json=asked).json()
    (tmp_path / "captures" / "20261125T000000.000000Z-1-000001.json").write_text("odd")
    wanted = got["choices"][0]["message"]["content"]
    turn, began = heard[-1].turn, next(e.time for e in heard if e.turn == heard[-1].turn)
    found = text_of(tmp_path / "captures", turn, began)
    assert found is not None
    assert (len(found), "".join(found)) == (3, wanted)
    assert text_of(tmp_path / "captures", "another", began) is None
    assert text_of(tmp_path / "captures", turn, began - 60) is None
