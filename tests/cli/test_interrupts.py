"""Ctrl-C during `tenuto check`: one line, exit code 130, and what is finished stays."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.stored import chat


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """What runs the tests may ignore SIGINT, as shells do for what they put in the background, and
    programs inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


pytestmark = pytest.mark.skipif(os.name != "posix", reason="only Unix sends SIGINT to a program")

SCRIPT = [sys.executable, "-c", "import sys; from tenuto_command import main; sys.exit(main())"]
PAD = "The tide rises, and the moon pulls the sea with it. " * 12


def _interrupted(
    command: list[str], rows: Path, out: Path
) -> tuple[int, str, list[dict[str, object]]]:
    """Send SIGINT to all processes of a command once it has kept a row."""
    running = subprocess.Popen(
        [*command, "check", str(rows), "--out", str(out), "--processes", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    kept = out / "rows.jsonl"
    while running.poll() is None and not (kept.exists() and kept.stat().st_size):
        with suppress(subprocess.TimeoutExpired):
            running.wait(0.01)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    return running.returncode, err, [json.loads(line) for line in kept.read_text().splitlines()]


@pytest.mark.parametrize("count", [1, 6], ids=["one file", "several files"])
def test_ctrl_c_keeps_what_is_finished(count: int, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    answer = {"status_code": 200, "body": chat(PAD, "stop")}
    for name in range(count):
        batch = (
            {"custom_id": f"c{n}", "error": None, "response": answer}
            for n in range(90_000 // count)
        )
        lines = (json.dumps(row) + "\n" for row in batch)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.json").write_text("{}")  # of an earlier run
    code, err, rows = _interrupted(SCRIPT, folder, tmp_path / "report")
    assert code == 130
    said = re.fullmatch(r"tenuto: interrupted; the verdicts of ([\d,]+) rows are in \S+\n", err)
    assert said, err
    assert len(rows) == int(said[1].replace(",", "")) > 0
    assert len(rows) < 90_000
    assert [row["id"] for row in rows] == [f"c{row['line'] - 1}" for row in rows]  # type: ignore[operator]
    places = {(row["file"], row["line"]) for row in rows}
    assert len(places) == len(rows)
    assert not (tmp_path / "report" / "report.json").exists()


@pytest.mark.parametrize(
    "loaded",
    ["msgspec", "tenuto.core.errors", "cyclopts", "tenuto.judging.checking", "tenuto.cli.checked"],
)
def test_ctrl_c_while_it_starts_is_one_line(loaded: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(chat()) + "\n")
    running = subprocess.Popen(
        [SCRIPT[0], "-X", "importtime", *SCRIPT[1:], "check", str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    assert running.stderr
    said = []
    for line in running.stderr:
        if line.startswith("import time:"):
            if line.rpartition("|")[2].strip() == loaded:
                running.send_signal(signal.SIGINT)
            continue
        said.append(line)
    running.communicate()
    assert (running.returncode, said) == (130, ["tenuto: interrupted\n"])


def test_ctrl_c_while_processes_start_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    body = json.dumps(chat(PAD, "stop")) + "\n"
    for name in "ab":
        (folder / f"{name}.jsonl").write_text(body * 12_000)
    running = subprocess.Popen(
        [SCRIPT[0], "-X", "importtime", *SCRIPT[1:], "check", str(folder), "--processes", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, start_new_session=True,
    )  # fmt: skip
    assert running.stderr
    said, begun = [], 0
    for line in running.stderr:
        if line.startswith("import time:"):
            # The second process that loads the package is the one that starts the others.
            begun += line.rpartition("|")[2].strip() == "tenuto.core.errors"
            if begun == 2:
                begun += 1
                os.killpg(running.pid, signal.SIGINT)
            continue
        said.append(line)
    running.communicate()
    assert (running.returncode, said) == (130, ["tenuto: interrupted\n"])
