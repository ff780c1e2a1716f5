"""What `tenuto check` does with paths that cannot be read: it names them, and reads the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from support.stored import DONE, chat

from tenuto.cli import main
from tenuto.judging.checking import Options, check

ROW = json.dumps(chat(DONE, "stop")) + "\n"

unix = pytest.mark.skipif(os.name != "posix", reason="only Unix has these")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def gone(folder: Path) -> Path:
    return folder / "gone.jsonl"


def dangling(folder: Path) -> Path:
    (folder / "link.jsonl").symlink_to(folder / "nowhere.jsonl")
    return folder / "link.jsonl"


def looping(folder: Path) -> Path:
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    return folder / "loop.jsonl"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.jsonl")
    return folder / "pipe.jsonl"


def without_files(folder: Path) -> Path:
    (folder / "nothing").mkdir()
    return folder / "nothing"


ODD = pytest.mark.parametrize(
    ("make", "why"),
    [
        (gone, "No such file or directory"),
        (dangling, "it is a link to a file that is not there"),
        (looping, "symbolic links"),
        (pipe, "it is a pipe or a device"),
        (without_files, "there is no file in it that ends in .jsonl"),
    ],
)


@unix
@ODD
def test_a_path_that_cannot_be_read_is_named_and_the_others_are_read(
    make: Callable[[Path], Path], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.jsonl"
    good.write_text(ROW * 3)
    odd = str(make(tmp_path))
    code, out, err = told(capsys, odd, str(good))
    assert (code, err) == (2, "")
    assert out.startswith("3 answers in 1 file")
    (line,) = [line for line in out.splitlines() if line.startswith(f"  {odd}: ")]
    assert why in line
    code, out, _ = told(capsys, odd, str(good), "--json")
    (one,) = json.loads(out)["refused"]
    assert one["file"] == odd
    assert why in one["why"]


@unix
@ODD
def test_if_nothing_can_be_read_one_sentence_says_so(
    make: Callable[[Path], Path], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = str(make(tmp_path))
    code, out, err = told(capsys, odd)
    assert (code, out) == (2, "")
    assert err.startswith(f"tenuto: {odd} cannot be read: ")
    assert why in err
    assert err.count("\n") == 1
    code, out, err = told(capsys, odd, str(tmp_path / "too.jsonl"))
    assert (code, out) == (2, "")
    assert err.startswith(f"tenuto: {odd} cannot be read: ")
    assert f"; {tmp_path}/too.jsonl: No such file or directory" in err
    assert err.count("\n") == 1


@unix
@pytest.mark.parametrize("make", [dangling, looping, pipe])
def test_what_a_folder_cannot_give_is_named(
    make: Callable[[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.jsonl").write_text(ROW)
    odd = make(tmp_path)
    (tmp_path / "notes.txt").symlink_to("nowhere")  # never read, and so never missed
    code, out, _ = told(capsys, str(tmp_path))
    assert code == 2
    assert out.startswith("1 answer in 1 file")
    assert f"  {odd}: " in out
    assert "notes.txt" not in out


def test_an_option_that_is_mistyped_stays_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.jsonl").write_text(ROW)
    code, out, err = told(capsys, str(tmp_path / "good.jsonl"), "--limt")
    assert (code, out) == (2, "")
    assert "--limt is not an option" in err


def test_an_empty_path_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "")[::2] == (2, "tenuto: a path is empty; name a file or a folder\n")


@unix
def test_a_file_is_read_once_whatever_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs"
    (folder / "in").mkdir(parents=True)
    (folder / "a.jsonl").write_text(ROW)
    (folder / "latest.jsonl").symlink_to("a.jsonl")
    (folder / "in" / "up").symlink_to("..")  # a loop
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "b.jsonl").write_text(ROW)
    (folder / "linked").symlink_to(tmp_path / "other")
    code, out, _ = told(capsys, str(folder), f"{folder}/a.jsonl", f"{tmp_path}/./runs/a.jsonl")
    assert code == 0
    assert out.startswith("2 answers in 2 files")


def test_a_file_that_vanishes_in_between_is_named(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for path in paths:
        Path(path).write_text(ROW)

    def on_piece(*_: Any) -> None:
        Path(paths[1]).unlink(missing_ok=True)

    found = check(paths, Options(), on_piece=on_piece)
    assert found.tally.rows == 2
    assert found.refused == [(paths[1], "No such file or directory")]
    found = check(paths, Options())
    assert found.refused == [(paths[1], "No such file or directory")]


@unix
@pytest.mark.parametrize("what", ["a.jsonl", "in", "in/b.jsonl"])
def test_what_nobody_may_read_is_named(what: str) -> None:
    with TemporaryDirectory() as place:  # pytest closes its own to everybody else
        Path(place).chmod(0o755)
        folder = Path(place) / "results"
        (folder / "in").mkdir(parents=True)
        for name in ("a.jsonl", "in/b.jsonl", "z.jsonl"):
            (folder / name).write_text(ROW)
        (folder / what).chmod(0)
        done = _as_nobody(str(folder))
        assert done.returncode == 2, done.stderr
        assert f"  {folder / what}: Permission denied" in done.stdout
        assert done.stdout.startswith("2 answers in 2 files")
        alone = _as_nobody(str(folder / what))
        assert (alone.returncode, alone.stdout) == (2, "")
        assert alone.stderr == f"tenuto: {folder / what} cannot be read: Permission denied\n"
        (folder / what).chmod(0o755)


AS_NOBODY = """
import contextlib, io, os, sys
from tenuto.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main(["check", "nothing"])  # imports all, of which nobody may be able to read nothing
if os.getuid() == 0:
    os.setuid(65534)
sys.exit(main())
"""


def _as_nobody(path: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user that permissions bind."""
    command = [sys.executable, "-c", AS_NOBODY, "check", path]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class TestFilesWithoutRows:
    @pytest.mark.parametrize(
        ("name", "text", "why"),
        [
            ("a.jsonl", "", "it is empty"),
            ("a.jsonl", "\n \n\n", "it has blank lines only"),
            ("a.jsonl", "\ufeff\n", "it has blank lines only"),
            ("a.csv", "finish_reason,completion\n", "it has a header and no rows"),
            ("a.csv", "", "it is empty"),
            ("a.json", "[]", "it has no rows"),
        ],
    )
    def test_one_is_named_with_the_reason(
        self, name: str, text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        code, out, _ = told(capsys, str(path))
        assert (code, out) == (2, f"0 answers in 1 file\n  {path}: {why}\n")

    def test_among_others_it_is_named_and_fails_no_run(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "a.jsonl").write_text(ROW)
        (tmp_path / "b.jsonl").write_text("")
        code, out, _ = told(capsys, str(tmp_path))
        assert code == 0
        assert f"  {tmp_path}/b.jsonl: it is empty" in out
        code, out, _ = told(capsys, str(tmp_path), "--json")
        assert json.loads(out)["empty"] == [{"file": f"{tmp_path}/b.jsonl", "why": "it is empty"}]

    def test_many_are_named_in_few_lines(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for number in range(100):
            (tmp_path / f"{number:03}.jsonl").write_text(ROW if number == 7 else "")
        code, out, _ = told(capsys, str(tmp_path))
        assert code == 0
        assert len(out.splitlines()) < 30
        assert "and 79 others, which --json names" in out
