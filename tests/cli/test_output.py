"""What every command does with an output that takes nothing, or not every character."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenuto.cli import main

pytestmark = pytest.mark.behaviour("P8b")

COMMAND = [sys.executable, "-m", "tenuto"]
FULL = Path("/dev/full")
BODY = json.dumps(
    {"choices": [{"index": 0, "message": {"content": "Größe €"}, "finish_reason": "stop"}]},
    ensure_ascii=False,
)

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows closes no descriptor of a child")
with_a_full_device = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TENUTO_")]:
        monkeypatch.delenv(name)
    (tmp_path / "turns").mkdir()
    (tmp_path / "turns/one.json").write_text(BODY, encoding="utf-8")
    ended = {"v": 1, "event": "turn_ended", "time": 0.0, "turn": "t", "attempt": 1}
    (tmp_path / "events.jsonl").write_text(json.dumps(ended) + "\n")


def run(
    *arguments: str, env: dict[str, str] | None = None, out: Any = subprocess.PIPE
) -> tuple[int, str, str]:
    """The exit code, the output and the errors of the program."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, **(env or {})},
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


@contextlib.contextmanager
def full() -> Iterator[Any]:
    with FULL.open("wb") as device:
        yield device


@with_a_full_device
@pytest.mark.parametrize(
    "command",
    ["policy --json", "explain turns", "sim --port 0 --json"],
)
def test_an_output_that_is_full_is_told_in_one_line(command: str) -> None:
    with full() as device:
        code, _, errors = run(*command.split(), out=device)
    said = "tenuto: cannot write to standard output: No space left on device\n"
    assert (code, errors) == (1, said)


@on_posix
@pytest.mark.parametrize("command", ["policy", "tail --no-follow events.jsonl"])
def test_an_output_that_is_closed_is_told_in_one_line(command: str) -> None:
    closing = ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, *command.split()]
    done = subprocess.run(closing, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, "tenuto: standard output is closed\n")


@on_posix
def test_an_input_that_is_closed_is_told_in_one_line() -> None:
    closing = ["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "detect", "-"]
    done = subprocess.run(closing, capture_output=True, text=True, check=False, timeout=60)
    said = "tenuto: - cannot be read: standard input is closed\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", r"Gr\xf6\xdfe \u20ac"), ("ascii:replace", "Gr??e ?")],
)
def test_a_character_that_the_output_lacks_is_an_escape(encoding: str, shown: str) -> None:
    # With UTF-8 mode on, Python would not read the variable's encoding.
    asked = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    code, out, errors = run("explain", "--show-content", "turns/one.json", env=asked)
    assert (code, errors) == (0, "")
    assert shown in out


def test_a_width_of_0_hides_nothing() -> None:
    terminal = {"COLUMNS": "0", "TTY_COMPATIBLE": "1", "FORCE_COLOR": "1", "NO_COLOR": "1"}
    code, out, _ = run("providers", env=terminal)
    assert code == 0
    assert "api.openai.com" in out


def test_texts_of_a_folder_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--show-content", "turns"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "turns is a folder; name its files" in shown.err
