"""edit_file: one passage for another, all other bytes as they were."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto_agent.files import FileProblem
from tenuto_agent.files.editing import replaced
from tenuto_agent.files.nearest import nearest
from tenuto_agent.files.tools import Files

PIECES = st.lists(
    st.sampled_from(["a", "b", "\n", "\r\n", "é", "😀", " ", "\rz"]), max_size=30
).map("".join)


def occurrences(text: str, part: str) -> int:
    return sum(text.startswith(part, at) for at in range(len(text)))


@given(st.text("ab\n é"), st.text("ab\n é", min_size=1, max_size=4), st.text("ab\n é", max_size=4))
def test_with_plain_line_endings_an_edit_is_pythons_own_replacement(
    body: str, old: str, new: str
) -> None:
    if occurrences(body, old) == 1 and old != new:
        assert replaced(body, old, new, "f")[0] == body.replace(old, new, 1)
    else:
        with pytest.raises(FileProblem):
            replaced(body, old, new, "f")


@given(PIECES, PIECES, st.text("ab\n", min_size=1, max_size=4), st.text("ab\n", max_size=4))
def test_what_is_around_an_edit_keeps_its_bytes_whatever_its_line_endings(
    before: str, after: str, old: str, new: str
) -> None:
    for ending in ("\n", "\r\n"):
        body = before + old.replace("\n", ending) + after
        try:
            changed, line = replaced(body, old, new, "f")
        except FileProblem:
            continue
        seen = body.replace("\r\n", "\n")
        assert changed.replace("\r\n", "\n") == seen.replace(old, new, 1).replace("\r\n", "\n")
        assert line == seen[: seen.index(old)].count("\n") + 1
        at = body.replace("\r\n", "\n").index(old)
        # The bytes around it, wherever the one place is.
        if before.replace("\r\n", "\n") == seen[:at]:
            assert changed.startswith(before)
            assert after.startswith("\n") or changed.endswith(after)


@given(
    st.lists(st.sampled_from(["x", "y", ""]), min_size=1, max_size=8), st.booleans(), st.booleans()
)
def test_a_file_of_crlf_stays_one(lines: list[str], bom: bool, ends: bool) -> None:
    mark = "\ufeff" if bom else ""
    body = mark + "\r\n".join([*lines, "here", "that"]) + ("\r\n" if ends else "")
    changed, _ = replaced(body, "here\n", "1\n2\r\n3\n", "f")
    assert changed == body.replace("here\r\n", "1\r\n2\r\n3\r\n")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\xef\xbb\xbfa\r\nb", "a\nb", "a\nx\nb", b"\xef\xbb\xbfa\r\nx\r\nb"),
        (b"a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", b"a\r\nB\nc\r\n"),
        (b"a\nb\n", "b\n", "", b"a\n"),
        (b"a\nb\n", "\nb", "", b"a\n"),
        (b"a\r\nb\r\n", "\nb", "", b"a\r\n"),
        (b"a", "a", "a\nb", b"a\nb"),
        ("é\n".encode(), "é", "ü", "ü\n".encode()),
        (b"\tx = 1\n", "x = 1", r"x = '\1\n'", b"\tx = '\\1\\n'\n"),
    ],
)
def test_an_edit_changes_the_file_and_nothing_else_in_it(
    folder: Path, files: Files, before: bytes, old: str, new: str, after: bytes
) -> None:
    (folder / "f").write_bytes(before)
    files.edit_file("f", old, new)
    assert (folder / "f").read_bytes() == after
    assert [p.name for p in folder.iterdir()] == ["f"]


def test_an_edit_says_where_it_was_made(folder: Path, files: Files) -> None:
    (folder / "f").write_text("1\n2\n3\n")
    assert files.edit_file("f", "2\n", "two\nand\n") == (
        "Changed f at line 2: 1 line replaced by 2 lines."
    )


def refused(folder: Path, files: Files, before: str, old: str, new: str = "new") -> str:
    (folder / "f").write_text(before)
    with pytest.raises(FileProblem) as problem:
        files.edit_file("f", old, new)
    assert (folder / "f").read_text() == before
    return str(problem.value)


def test_a_passage_that_stands_there_more_than_once_is_refused_with_its_places(
    folder: Path, files: Files
) -> None:
    said = refused(folder, files, "x\ny\nx\n", "x")
    assert said.startswith("old_text stands in f 2 times, at lines 1, 3. Nothing was changed")
    assert "2 times, at lines 1, 1." in refused(folder, files, "aaa", "aa")  # it overlaps itself
    assert "very often, at lines 1, 1, 1," in refused(folder, files, "a" * 5_000, "a")


def test_a_passage_that_does_not_stand_there_is_refused_with_the_nearest_lines(
    folder: Path, files: Files
) -> None:
    before = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
    said = refused(folder, files, before, "def g():\n  return 2\n")
    assert said == (
        "old_text does not stand in f. The nearest text begins at line 5; from line 6 it differs, "
        "in white space alone:\ndef g():\n    return 2\n"
    )
    assert "begins at line 6" in refused(folder, files, before, "return 222")
    assert "Nothing in it is like that" in refused(folder, files, before, "ZZZZ???")


def test_an_edit_that_changes_nothing_is_refused(folder: Path, files: Files) -> None:
    assert "old_text is empty" in refused(folder, files, "x", "")
    assert "the same" in refused(folder, files, "x", "x", "x")
    with pytest.raises(FileProblem, match="make it with create_file"):
        files.edit_file("none", "x", "y")


@given(st.text("ab \n", max_size=40), st.text("abc \n", min_size=1, max_size=20))
def test_a_nearest_text_is_found_or_not_but_never_fails(text: str, wanted: str) -> None:
    assert nearest(text, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("}\n" * 500_000, "}\n" * 100 + "x"),
        ("ab" * 200 + "\n", "ba" * 10_000),
        ("word \n" * 200_000, "w o r d"),
    ],
)
def test_the_nearest_of_a_large_text_is_found_in_time(text: str, wanted: str) -> None:
    assert len(nearest(text, wanted)) < 5_000  # the limit of time is pytest's
