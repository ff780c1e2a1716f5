"""search: lines of files, within bounds of time and size."""

import time
from pathlib import Path

import pytest

from tenuto_agent.files import FileProblem
from tenuto_agent.files.tools import Files


@pytest.fixture
def planted(folder: Path) -> Path:
    (folder / "a").mkdir()
    (folder / ".git").mkdir()
    (folder / ".git" / "f").write_text("needle\n")
    (folder / "a" / "f.py").write_bytes(b"one\r\n  a Needle (x)\r\nneedle\r\n")
    (folder / "b.txt").write_text("needle at the end")
    (folder / "c.bin").write_bytes(b"needle\0")
    (folder / "large").write_text("needle\n" * 5_000)
    return folder


LEFT_OUT = "\n[Left out, as too large or no text: 2 files.]"


@pytest.mark.usefixtures("planted")
def test_lines_are_found_with_their_places(files: Files) -> None:
    assert files.search("needle") == "a/f.py:3: needle\nb.txt:1: needle at the end" + LEFT_OUT
    assert files.search("Needle (", "a") == "a/f.py:2:   a Needle (x)"
    assert files.search("NEEDLE", glob="**/*.py", ignore_case=True) == (
        "a/f.py:2:   a Needle (x)\na/f.py:3: needle"
    )
    assert files.search("needle", "b.txt") == "b.txt:1: needle at the end"
    assert files.search("none", "a") == "'none' was not found in 1 file."


@pytest.mark.usefixtures("planted")
def test_regular_expressions_are_searched_line_by_line(files: Files) -> None:
    assert files.search(r"^needle$", regex=True) == "a/f.py:3: needle" + LEFT_OUT
    assert files.search(r"\(X\)$", "a", regex=True, ignore_case=True) == "a/f.py:2:   a Needle (x)"
    assert files.search(r"one\s+a", "a", regex=True) == "'one\\s+a' was not found in 1 file."


@pytest.mark.parametrize("regex", [False, True])
def test_many_lines_are_cut_and_long_ones_shown_around_the_match(
    folder: Path, files: Files, regex: bool
) -> None:
    (folder / "f").write_text("é" * 500 + "x" + "e" * 500 + "\n" + "x\n" * 300)
    first, *others, remark = files.search("x", regex=regex).split("\n")
    assert first == "f:1: …" + "é" * 100 + "x" + "e" * 199 + "…"
    assert remark.startswith("[Not complete: only the first ")
    assert 100 < len(others) < 300


@pytest.mark.parametrize("pattern", ["", "a\nb", "x" * 1_001])
@pytest.mark.parametrize("regex", [False, True])
def test_a_pattern_that_cannot_match_is_refused(files: Files, pattern: str, regex: bool) -> None:
    with pytest.raises(FileProblem):
        files.search(pattern, regex=regex)


@pytest.mark.parametrize(
    "pattern",
    ["(", "*", "[", "(?P<a", "a{99999999999}", "(" * 500 + ")" * 500, "\\", "(?i"],
)
def test_an_expression_that_is_not_valid_is_refused(
    folder: Path, files: Files, pattern: str
) -> None:
    (folder / "f").write_text("x\n")
    with pytest.raises(FileProblem, match="the regular expression is not valid: ") as problem:
        files.search(pattern, regex=True)
    str(problem.value).encode()


def test_a_pattern_that_no_text_holds_is_not_found(folder: Path, files: Files) -> None:
    (folder / "f").write_text("x\n")
    for regex in (False, True):
        assert files.search("half \ud83d", regex=regex) == "'half \\ud83d' was not found in 1 file."


@pytest.mark.parametrize("pattern", ["(a|a)*b", "(a+)+b", "(.*)*(.*)*(.*)*x"])
def test_an_expression_that_would_take_forever_is_ended(folder: Path, pattern: str) -> None:
    (folder / "f").write_text("a" * 60 + "\n")
    began = time.monotonic()
    with pytest.raises(FileProblem, match="without repeats within repeats"):
        Files(folder, 1_000, 1_000, walk_s=0.5).search(pattern, regex=True)
    assert time.monotonic() - began < 5


def test_what_was_found_before_the_time_was_up_is_shown(folder: Path) -> None:
    (folder / "a").write_text("aab\n")
    (folder / "b").write_text("a" * 60 + "\n")
    said = Files(folder, 1_000, 1_000, walk_s=1.0).search("(a|a)*b", regex=True)
    assert said.startswith("a:1: aab\n[Not complete: the search ran out of its 1 s in b;")


def test_an_expression_does_not_bring_names_of_files_into_the_process(
    folder: Path, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A model may write a module that the searching process would import, were it run from there.
    for name in ("json.py", "re.py", "sitecustomize.py"):
        (folder / name).write_text("raise SystemExit('mine')\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    assert files.search("m.ne", regex=True).startswith("json.py:1: ")
