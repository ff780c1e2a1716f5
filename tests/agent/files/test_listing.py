"""list_files: what matches, in order, within bounds."""

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto_agent.files import FileProblem
from tenuto_agent.files.glob import Glob
from tenuto_agent.files.listing import MAX_DEPTH
from tenuto_agent.files.tools import Files


def plant(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x\n")


def test_what_matches_is_listed_in_order_without_git(folder: Path, files: Files) -> None:
    plant(folder, "b.py", "a/c.py", "a/d/e.py", "a/d/f.txt", ".git/config", ".env", "a/.git/x")
    assert files.list_files() == ".env\na/\nb.py"
    assert files.list_files("**") == ".env\na/\na/c.py\na/d/\na/d/e.py\na/d/f.txt\nb.py"
    assert files.list_files("**/*.py") == "a/c.py\na/d/e.py\nb.py"
    assert files.list_files("*.{py,txt}", "a/d") == "a/d/e.py\na/d/f.txt"
    assert files.list_files("*.rs") == "Nothing in '.' matches '*.rs'."


def test_what_programs_made_is_entered_only_by_name(folder: Path, files: Files) -> None:
    plant(folder, "a.js", "node_modules/x/i.js", ".venv/p.js", ".tenuto-unfinished-0")
    assert files.list_files("**/*.js") == "a.js\n[Not entered: .venv, node_modules.]"
    assert files.list_files("**/*.js", "node_modules/x") == "node_modules/x/i.js"


def test_a_long_list_is_cut_and_says_so(folder: Path, files: Files) -> None:
    plant(folder, *(f"{number:04}" for number in range(500)))
    *listed, remark = files.list_files().split("\n")
    assert listed == [f"{number:04}" for number in range(400)]
    assert (
        remark == "[Not complete: only the first 400 are shown; name a path or a narrower pattern.]"
    )
    files.limit_chars = 100_000
    assert "only the first 1,000 are shown" not in files.list_files()


def test_a_walk_ends_in_time(folder: Path) -> None:
    plant(folder, "a", "b")
    said = Files(folder, 1_000, 1_000, walk_s=-1.0).list_files()
    assert "[Not complete: stopped after -1 s" in said


@pytest.mark.skipif(os.name == "nt", reason="paths are shorter there")
def test_a_very_deep_folder_is_not_entered(folder: Path, files: Files) -> None:
    deep = "/".join(["d"] * (MAX_DEPTH + 10))
    files.create_file(f"{deep}/f", "x")
    assert f"[Not entered: folders more than {MAX_DEPTH} deep.]" in files.list_files("**/f")
    assert files.list_files("*", deep) == f"{deep}/f"


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="no such names there")
def test_names_that_no_result_can_hold_are_counted(folder: Path, files: Files) -> None:
    for name in (b"\xff", b"a\nb"):
        (folder / os.fsdecode(name)).touch()
    plant(folder, "ok")
    assert files.list_files() == "ok\n[Left out for names that cannot be written: 2.]"


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**", "a/b", True),
        ("**/*", "a", True),
        ("*", "a/b", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/x", False),
        ("**/a/**", "x/a/y", True),
        ("[ab]?", "bc", True),
        ("[!a]", "a", False),
        ("{a,b}/{c,d}", "b/c", True),
        ("{a,{b,c}}", "c", True),
        ("{a}", "{a}", True),
        ("./a//b", "a/b", True),
        ("A", "a", False),
    ],
)
def test_patterns_mean_what_globs_mean(pattern: str, path: str, matches: bool) -> None:
    assert Glob(pattern).matches(path.split("/")) is matches


@pytest.mark.parametrize("pattern", ["../*", "a/../../*", "/etc/*", "x" * 1_001, "{a,b}" * 10])
def test_a_pattern_that_leads_out_or_is_too_large_is_refused(files: Files, pattern: str) -> None:
    with pytest.raises(FileProblem):
        files.list_files(pattern)


@given(st.text("*?[]!{},/ab-^\\", max_size=20), st.text("ab/", max_size=8))
def test_any_pattern_matches_or_not_or_is_refused(pattern: str, path: str) -> None:
    with suppress(FileProblem):
        Glob(pattern).matches(path.split("/"))


def test_a_pattern_of_many_stars_is_no_work() -> None:
    began = time.process_time()
    glob = Glob("/".join(["**/" + "*a" * 100 + "b"] * 4))
    assert not glob.matches(["a" * 255] * 60)
    assert time.process_time() - began < 2
