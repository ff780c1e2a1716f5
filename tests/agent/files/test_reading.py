"""read_file: what is shown of a file, and what is refused."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tenuto_agent.files import FileProblem
from tenuto_agent.files.tools import Files


def calls(*each: Callable[[], str]) -> tuple[Callable[[], str], ...]:
    return each


def test_a_file_is_shown_plain_with_its_lines_counted(folder: Path, files: Files) -> None:
    (folder / "a.py").write_bytes(b"one\n\ttwo\nthree\n")
    assert files.read_file("a.py") == "a.py: lines 1 to 3 of 3\none\n\ttwo\nthree"
    assert files.read_file("./a.py", 2, 2) == "a.py: lines 2 to 2 of 3\n\ttwo"
    assert files.read_file(str(folder / "a.py"), 3, 99) == "a.py: lines 3 to 3 of 3\nthree"


@pytest.mark.parametrize(
    ("raw", "head"),
    [
        (b"", "f: empty, 0 lines"),
        (b"\xef\xbb\xbf", "f: empty, 0 lines (starts with a byte order mark)"),
        (b"a", "f: lines 1 to 1 of 1 (no line ending at the end)"),
        (b"a\r\nb\r\n", "f: lines 1 to 2 of 2 (CRLF line endings)"),
        (b"a\r\nb\n", "f: lines 1 to 2 of 2 (mixed line endings)"),
        (b"\xef\xbb\xbfa\n", "f: lines 1 to 1 of 1 (starts with a byte order mark)"),
        (b"\n", "f: lines 1 to 1 of 1"),
        ("a\u2028b\x0cc\x85d\n".encode(), "f: lines 1 to 1 of 1"),
    ],
)
def test_what_the_lines_do_not_show_is_said(
    folder: Path, files: Files, raw: bytes, head: str
) -> None:
    (folder / "f").write_bytes(raw)
    assert files.read_file("f").split("\n")[0] == head


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"\x89PNG\0\0", "f is a binary file of 6 bytes"),
        (b"ab\xff", "f is not UTF-8 text (byte 2 of 3)"),
        ("häß".encode("latin-1"), "f is not UTF-8 text (byte 1 of 3)"),
        ("a".encode("utf-16"), "f is a binary file"),
        (b"a" * 20_001, "f has 20,001 bytes; the limit of a file is 20,000"),
    ],
)
def test_what_is_no_text_or_too_large_is_refused(
    folder: Path, files: Files, raw: bytes, why: str
) -> None:
    (folder / "f").write_bytes(raw)
    for call in calls(
        lambda: files.read_file("f"),
        lambda: files.append_file("f", "x"),
        lambda: files.edit_file("f", "a", "b"),
    ):
        with pytest.raises(FileProblem) as problem:
            call()
        assert why in str(problem.value)
    assert (folder / "f").read_bytes() == raw


def test_a_long_file_is_shown_in_parts_that_say_how_to_go_on(folder: Path, files: Files) -> None:
    lines = [f"line {number} " + "x" * 90 for number in range(1, 101)]
    (folder / "f").write_text("\n".join(lines) + "\n")
    seen: list[str] = []
    while len(seen) < 100:
        head, *shown = files.read_file("f", len(seen) + 1).split("\n")
        assert head.startswith(f"f: lines {len(seen) + 1} to ")
        if shown[-1].startswith("[More"):
            assert (
                shown.pop()
                == f"[More follows: read on with start_line={len(seen) + len(shown) + 1}.]"
            )
        seen += shown
    assert seen == lines


def test_a_line_that_is_too_long_is_cut_and_says_so(folder: Path, files: Files) -> None:
    (folder / "f").write_text("x" * 5_000 + "\ny\n")
    shown = files.read_file("f").split("\n")
    assert shown[1] == "x" * 2_000
    assert shown[2:] == [
        "[Line 1 goes on for 3,000 characters more.]",
        "[More follows: read on with start_line=2.]",
    ]


@pytest.mark.parametrize("lines", [(0, None), (-1, None), (2, 1), (4, None)])
def test_a_range_that_is_none_is_refused(
    folder: Path, files: Files, lines: tuple[int, int | None]
) -> None:
    (folder / "f").write_text("1\n2\n3\n")
    with pytest.raises(FileProblem):
        files.read_file("f", *lines)


def test_what_is_missing_and_what_is_no_file_is_said(folder: Path, files: Files) -> None:
    (folder / "d").mkdir()
    for path, why in [
        ("x", "x does not exist"),
        ("d/x", "d/x does not exist"),
        ("x/y", "x does not exist"),
        ("d", "d is a folder, not a file"),
        (".", "that is the folder itself"),
    ]:
        with pytest.raises(FileProblem, match=why):
            files.read_file(path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_pipes_and_devices_are_refused_at_once(folder: Path, files: Files) -> None:
    os.mkfifo(folder / "pipe")
    for call in calls(
        lambda: files.read_file("pipe"),
        lambda: files.create_file("pipe", "x", overwrite=True),
        lambda: files.append_file("pipe", "x"),
        lambda: files.edit_file("pipe", "x", "y"),
    ):
        with pytest.raises(FileProblem, match="pipe is no ordinary file"):
            call()
    assert files.search("x") == "'x' was not found in 0 files."
    assert files.list_files() == "pipe (no ordinary file)"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev here")
def test_devices_below_the_root_are_not_read() -> None:
    system = Files("/dev", 1_000, 1_000)
    with pytest.raises(FileProblem, match="zero is no ordinary file"):
        system.read_file("zero")
