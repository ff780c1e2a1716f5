"""What `tenuto detect` and `tenuto explain` are pointed at: pipes, devices, and text for terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tenuto.cli import main
from tenuto.command_kit import printing

COMMAND = [sys.executable, "-c", "import sys; from tenuto.cli import main; sys.exit(main())"]
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
ODD_KINDS = pytest.mark.parametrize("kind", ["pipe", "device"])
READERS = pytest.mark.parametrize("command", ["detect", "explain"])


def odd_file(kind: str, folder: Path) -> str:
    """What a name may stand for that never ends."""
    if kind == "device":
        return "/dev/zero"
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


@READERS
@pytest.mark.skipif(os.name != "posix", reason="only Unix has such files")
@ODD_KINDS
def test_what_may_never_end_is_refused_by_name(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = odd_file(kind, tmp_path)
    assert main([command, name]) == 2
    beside = capsys.readouterr().err
    assert name in beside
    assert "a pipe or a device" in beside


@pytest.mark.skipif(os.name != "posix", reason="only Unix has such files")
@ODD_KINDS
def test_a_policy_that_may_never_end_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    name = odd_file(kind, tmp_path)
    done = subprocess.run(
        [*COMMAND, "explain", "--policy", name, "-"],
        check=False,
        input=b"{}",
        capture_output=True,
        timeout=20,  # seconds; it once read for ever
        preexec_fn=_with_little_memory,
    )
    beside = done.stderr.decode()
    assert done.returncode == 2, beside
    assert f"{name}: cannot be read: it is a pipe or a device" in beside


def _with_little_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))


@READERS
@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no /dev/fd here")
def test_what_a_shell_has_opened_is_read(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    get, put = os.pipe()
    os.write(put, b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"length"}]}')
    os.close(put)
    try:
        assert main([command, f"/dev/fd/{get}"]) == 0
    finally:
        os.close(get)
    assert "max_tokens" in capsys.readouterr().out


@READERS
def test_no_more_is_read_than_may_be(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(printing, "READ_MAX_BYTES", 10)
    (tmp_path / "large").write_bytes(b"x" * 11)
    assert main([command, str(tmp_path / "large")]) == 2
    assert "it has more than 10 bytes" in capsys.readouterr().err


def capture() -> dict[str, Any]:
    """A capture with something for a terminal in every text of it."""
    body = {"model": "m", ESCAPE: ESCAPE, "messages": [{"role": "user", "content": "Hi"}]}
    answer = {"choices": [{"message": {"content": ESCAPE}, "finish_reason": ESCAPE}]}
    return {
        "tenuto_capture": 1,
        "wire": f"openai-chat{ESCAPE}",
        "provider": ESCAPE,
        "model": ESCAPE,
        "policy": {},
        "attempts": [
            {
                "request": {
                    "method": "POST",
                    "url": f"https://host/v1/chat/completions?{ESCAPE}",
                    "headers": [],
                    "edited": False,
                    "body": {"bytes": 9, "text": json.dumps(body)},
                },
                "response": {
                    "status": 200,
                    "headers": [["x", ESCAPE[:-1]]],
                    "body": {"bytes": 9, "text": json.dumps(answer)},
                },
                "lost": None,
                "report": {
                    "reason": ESCAPE,
                    "raw": ESCAPE,
                    "detail": ESCAPE,
                    "confidence": ESCAPE,
                    "anomalies": [ESCAPE],
                    "outcome": ESCAPE,
                    "rung": ESCAPE,
                },
            }
        ],
        "report": {"status": ESCAPE, "reason": ESCAPE},
    }


@pytest.mark.behaviour("N10")
@pytest.mark.parametrize("options", [[], ["--json"], ["--show-content"]])
@pytest.mark.parametrize("wire", ["openai-chat", f"openai-chat{ESCAPE}"])
@pytest.mark.parametrize("several", [False, True])
def test_explain_prints_nothing_that_a_terminal_would_obey(
    options: list[str],
    wire: str,
    several: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "turn.json"
    file.write_text(json.dumps(capture() | {"wire": wire}), "utf-8")
    main(["explain", *options, *[str(file)] * (1 + several)])
    said = capsys.readouterr()
    assert said.out.strip()
    odd = [c for c in said.out + said.err if not c.isprintable() and c not in "\n\t"]
    assert odd == []
    if options == ["--json"]:
        assert json.loads(said.out.splitlines()[0])["attempts"]


@pytest.mark.behaviour("N10")
def test_detect_prints_nothing_that_a_terminal_would_obey() -> None:
    answer = {"choices": [{"message": {"content": "Hi"}, "finish_reason": ESCAPE}]}
    for options in ([], ["--json"]):
        done = subprocess.run(
            [*COMMAND, "detect", *options, "-"],
            input=json.dumps(answer),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.replace("\n", "").isprintable()
