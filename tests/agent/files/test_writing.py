"""create_file and append_file: what is on the disk afterwards, and after what goes wrong."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tenuto_agent.files import FileProblem
from tenuto_agent.files.tools import Files

posix = pytest.mark.skipif(os.name == "nt", reason="modes and fork are of POSIX")


def calls(*each: Callable[[], str]) -> tuple[Callable[[], str], ...]:
    return each


def test_a_file_is_created_with_the_folders_on_its_way(folder: Path, files: Files) -> None:
    assert files.create_file("a/b/c.txt", "é\n\n") == "Created a/b/c.txt: 2 lines, 4 bytes."
    assert (folder / "a/b/c.txt").read_bytes() == "é\n\n".encode()
    assert [p.name for p in (folder / "a/b").iterdir()] == ["c.txt"]


def test_a_file_that_exists_is_replaced_only_when_that_is_asked_for(
    folder: Path, files: Files
) -> None:
    (folder / "f").write_text("old")
    with pytest.raises(FileProblem, match=r"f exists already \(3 bytes\) and was not changed"):
        files.create_file("f", "new")
    assert (folder / "f").read_text() == "old"
    assert files.create_file("f", "new\n", overwrite=True) == "Replaced f: 1 line, 4 bytes."
    assert (folder / "f").read_text() == "new\n"


def test_creating_the_same_file_twice_does_no_harm(folder: Path, files: Files) -> None:
    files.create_file("f", "same")
    before = (folder / "f").stat()
    assert "nothing was changed" in files.create_file("f", "same")
    assert (folder / "f").stat().st_ino == before.st_ino


def test_a_long_file_is_its_beginning_with_the_pieces_appended(folder: Path, files: Files) -> None:
    files.create_file("f", "one\ntw")
    said = files.append_file("f", "o\nthree")
    assert said == (
        "Appended 7 characters to f, which has now 3 lines, 13 bytes "
        "(no line ending at the end). It ends with this line:\nthree"
    )
    assert (folder / "f").read_text() == "one\ntwo\nthree"
    with pytest.raises(FileProblem, match="begin it with create_file"):
        files.append_file("g", "x")
    with pytest.raises(FileProblem, match="content is empty"):
        files.append_file("f", "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfa\r\n", b"\xef\xbb\xbfa\r\nb\r\nc\r\n"),
        (b"a\n", b"a\nb\nc\n"),
        (b"", b"b\r\nc\n"),
    ],
)
def test_what_is_appended_gets_the_line_endings_of_the_file(
    folder: Path, files: Files, before: bytes, after: bytes
) -> None:
    (folder / "f").write_bytes(before)
    files.append_file("f", "b\r\nc\n")
    assert (folder / "f").read_bytes() == after


@pytest.mark.parametrize("content", ["a\0b", "half \ud83d of a pair", "x" * 20_001])
def test_what_could_not_be_read_again_is_not_written(
    folder: Path, files: Files, content: str
) -> None:
    (folder / "f").write_text("old")
    for call in calls(
        lambda: files.create_file("new/g", content),
        lambda: files.create_file("f", content, overwrite=True),
        lambda: files.append_file("f", content),
        lambda: files.edit_file("f", "old", content),
    ):
        with pytest.raises(FileProblem):
            call()
    assert [p.name for p in folder.iterdir()] == ["f"]
    assert (folder / "f").read_text() == "old"


@posix
def test_modes_stay_and_new_files_get_the_usual_one(folder: Path, files: Files) -> None:
    (folder / "f").write_text("old\n")
    (folder / "f").chmod(0o751)
    files.append_file("f", "x\n")
    files.edit_file("f", "old", "new")
    files.create_file("f", "all new\n", overwrite=True)
    assert stat.S_IMODE((folder / "f").stat().st_mode) == 0o751
    (folder / "usual").touch()
    files.create_file("g", "x")
    assert (folder / "g").stat().st_mode == (folder / "usual").stat().st_mode


@posix
def test_a_write_protected_file_is_not_replaced(folder: Path, files: Files) -> None:
    (folder / "f").write_text("old")
    (folder / "f").chmod(0o444)
    for call in calls(
        lambda: files.create_file("f", "x", overwrite=True),
        lambda: files.append_file("f", "x"),
        lambda: files.edit_file("f", "old", "x"),
    ):
        with pytest.raises(FileProblem, match="f is write-protected"):
            call()
    assert (folder / "f").read_text() == "old"


def test_a_hard_link_to_a_file_outside_is_not_written_through(folder: Path, files: Files) -> None:
    outside = folder.parent / "outside"
    outside.write_text("old\n")
    (folder / "f").hardlink_to(outside)
    files.append_file("f", "x\n")
    files.edit_file("f", "old", "new")
    assert outside.read_text() == "old\n"
    assert (folder / "f").read_text() == "new\nx\n"


def test_pieces_appended_from_many_threads_are_all_there(folder: Path, files: Files) -> None:
    files.create_file("f", "")
    threads = [
        threading.Thread(target=files.append_file, args=("f", f"{number}\n"))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((folder / "f").read_text().split(), key=int) == [str(n) for n in range(20)]


def run(script: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


KILLED_AT_EACH_CALL = """
import os, sys
from pathlib import Path
from tenuto_agent.files.tools import Files

folder = Path(sys.argv[1])
old, new = "old\\n" * 1_000, "old\\n" * 1_000 + "new\\n" * 1_000
files = Files(folder, 1_000_000, 1_000)
seen = set()
for last in range(1000):
    (folder / "f").write_text(old)
    child = os.fork()
    if child == 0:
        left = [last]
        def count(frame, event, function):
            if event == "c_call":
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)
        sys.setprofile(count)
        files.append_file("f", "new\\n" * 1_000)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = (folder / "f").read_text()
    assert text in (old, new), len(text)
    seen.add(text == new)
    assert len(list(folder.iterdir())) <= 2
    assert files.list_files() == "f", files.list_files()
    for left_behind in folder.glob(".tenuto-unfinished-*"):
        left_behind.unlink()
    if status == 0:
        break
assert seen == {True, False}
print(last)
"""


@posix
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(folder: Path) -> None:
    assert int(run(KILLED_AT_EACH_CALL, folder)) > 30


DISK_FULL = """
import resource, sys
from pathlib import Path
from tenuto_agent.files import FileProblem
from tenuto_agent.files.tools import Files

folder = Path(sys.argv[1])
files = Files(folder, 1_000_000, 1_000)
files.create_file("f", "old")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for call in (
    lambda: files.append_file("f", "x" * 5000),
    lambda: files.edit_file("f", "old", "x" * 5000),
    lambda: files.create_file("f", "x" * 5000, overwrite=True),
    lambda: files.create_file("a/b/c", "x" * 5000),
):
    try:
        call()
    except FileProblem as problem:
        print(problem)
"""


@posix
def test_a_write_that_fails_leaves_all_as_it_was(folder: Path) -> None:
    assert run(DISK_FULL, folder).split("\n") == [
        *["f: File too large"] * 3,
        "a/b/c: File too large",
        "",
    ]
    assert [p.name for p in folder.iterdir()] == ["f"]
    assert (folder / "f").read_text() == "old"


def test_a_file_that_somebody_else_changed_meanwhile_is_not_overwritten(folder: Path) -> None:
    from tenuto_agent.files.root import read
    from tenuto_agent.files.writing import put

    (folder / "f").write_text("old")
    root = Files(folder, 1_000, 1_000)
    with root.parent("f") as (inner, names):
        found = read(inner, names, 100)
        assert found is not None
        (folder / "f").write_text("theirs")
        with pytest.raises(FileProblem, match="changed by someone else meanwhile"):
            put(inner, names, b"ours", found[1])
    assert [p.name for p in folder.iterdir()] == ["f"]
    assert (folder / "f").read_text() == "theirs"


def test_a_file_that_somebody_else_made_meanwhile_is_not_overwritten(
    folder: Path, files: Files
) -> None:
    from tenuto_agent.files.writing import put

    with files.parent("f") as (inner, names):
        (folder / "f").write_text("theirs")
        with pytest.raises(FileExistsError):
            put(inner, names, b"ours", None)
    assert [p.name for p in folder.iterdir()] == ["f"]
    assert (folder / "f").read_text() == "theirs"
