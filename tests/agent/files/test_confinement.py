"""Nothing outside of the root is read, written, listed or searched, whatever the path."""

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.core.errors import ToolError
from tenuto_agent.files import FileProblem
from tenuto_agent.files.folder import BY_DESCRIPTOR
from tenuto_agent.files.paths import is_git, names_of
from tenuto_agent.files.tools import Files

SECRET = "the secret of somebody else"

links = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")


def each_tool(files: Files, path: str) -> list[Callable[[], str]]:
    return [
        lambda: files.read_file(path),
        lambda: files.create_file(path, "x"),
        lambda: files.create_file(path, "x", overwrite=True),
        lambda: files.edit_file(path, "secret", "x"),
        lambda: files.append_file(path, "x"),
        lambda: files.list_files("**", path),
        lambda: files.search("e", path),
    ]


def state(folder: Path) -> dict[str, object]:
    """All that is in a folder: links as they are, and files with their bytes."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else (path.stat().st_mode, None)
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "lies outside"),
        ("//etc/passwd", "lies outside"),
        ("../root2/f", "'..' is not followed"),
        ("a/../../f", "'..' is not followed"),
        ("a/..", "'..' is not followed"),
        ("..", "'..' is not followed"),
        ("a\0", "characters that no name may have"),
        ("a\u202egpj.exe", "characters that no name may have"),
        ("d/" * 201, "more than 200 folders deep"),
        ("a\nb", "characters that no name may have"),
        ("a\x1b[2J", "characters that no name may have"),
        ("half \ud83d of a pair", "characters that no name may have"),
        ("a\\..\\b", "with / between its names"),
        ("C:\\x", "with / between its names"),
        ("x/" * 5_000, "longer than 4096 characters"),
        (".git/hooks/pre-commit", "what git keeps"),
        ("a/.GIT/config", "what git keeps"),
        (".git", "what git keeps"),
    ],
)
def test_a_path_that_leads_out_or_into_git_is_refused_by_its_letters(
    folder: Path, files: Files, path: str, why: str
) -> None:
    (folder.parent / "root2").mkdir()
    (folder.parent / "root2" / "f").write_text(SECRET)
    before = state(folder.parent)
    for call in each_tool(files, path):
        with pytest.raises(FileProblem) as problem:
            call()
        assert why in str(problem.value)
        str(problem.value).encode()  # it can be sent
    assert state(folder.parent) == before


def test_an_absolute_path_is_taken_within_the_root_alone(folder: Path, files: Files) -> None:
    files.create_file(str(folder / "a" / "f"), "x")
    assert (folder / "a" / "f").read_text() == "x"
    for path in (f"{folder}2/f", f"{folder}/../f", str(folder.parent)):
        with pytest.raises(FileProblem):
            files.create_file(path, "x")
    assert [p.name for p in folder.parent.iterdir()] == ["root"]


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".Git",
        ".git.",
        ".git ",
        ".g\u200cit",
        "\ufeff.git",
        "．git",
        "git~1",
        ".git::$INDEX_ALLOCATION",
    ],
)
def test_what_some_file_system_takes_for_git_is_known(name: str) -> None:
    assert is_git(name)


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", "a.git", ".gitmodules"])
def test_what_is_not_gits_own_is_left(name: str) -> None:
    assert not is_git(name)


@pytest.mark.parametrize(
    "name",
    [
        "CON",
        "nul.txt",
        "com1",
        "LPT9.log",
        "aux .c",
        "COM¹",
        "CONIN$",
        "a:b",
        "f::$DATA",
        "a?",
        "x.",
        "x ",
    ],
)
def test_names_that_windows_reserves_are_refused_there_and_are_names_elsewhere(name: str) -> None:
    with pytest.raises(FileProblem, match="no name of a file on Windows"):
        names_of(f"a/{name}", windows=True)
    assert names_of(f"a/{name}", windows=False) == ("a", name)


@links
def test_links_are_not_followed_wherever_they_stand_and_lead(folder: Path, files: Files) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text(SECRET)
    (folder / "in").mkdir()
    (folder / "to_file").symlink_to(outside / "f")
    (folder / "to_folder").symlink_to(outside)
    (folder / "up").symlink_to("..")
    (folder / "dangling").symlink_to(outside / "new")
    (folder / "loop").symlink_to("loop")
    (folder / "inside").symlink_to("in")
    before = state(folder.parent)
    for path in (
        "to_file", "to_folder/f", "to_folder/new/f", "up/outside/f", "dangling", "dangling/f", "loop",
        "inside/f",
    ):  # fmt: skip
        for call in each_tool(files, path):
            with pytest.raises(FileProblem, match="is a symbolic link, and links are not followed"):
                call()
    assert state(folder.parent) == before
    listed = files.list_files("**")
    assert "in/\n" in listed
    assert "outside" not in listed
    assert SECRET not in files.search("secret")
    with pytest.raises(FileProblem, match="it points to 'in'"):
        files.read_file("inside")


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(
    st.one_of(NAMES, st.sampled_from(["..", ".", "", "OUT", "ROOT"])), min_size=1, max_size=5
)
TARGETS = [
    "OUT/f",
    "OUT",
    "OUT/new",
    "..",
    "../outside/f",
    "../../outside",
    "a",
    "b/c",
    ".",
    "/etc/passwd",
]
ENTRIES = st.lists(
    st.tuples(
        st.lists(NAMES, min_size=1, max_size=3), st.sampled_from(["file", "folder", *TARGETS])
    ),
    max_size=6,
)
CALLS = st.lists(st.tuples(PATHS, st.integers(0, 6)), min_size=1, max_size=6)


@contextmanager
def two_folders() -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory() as name:
        base = Path(name).resolve()
        (base / "root").mkdir()
        (base / "outside").mkdir()
        (base / "outside" / "f").write_text(SECRET)
        yield base / "root", base / "outside"


def grow(root: Path, outside: Path, names: list[str], what: str) -> None:
    path = root.joinpath(*names)
    if path.is_symlink() or not path.parent.resolve().is_relative_to(root):
        return  # the test itself stays inside
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "file":
        path.write_text("old\n")
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to(what.replace("OUT", str(outside)))


@links
@settings(max_examples=60)
@given(ENTRIES, CALLS, st.booleans())
def test_no_path_through_any_links_reads_or_writes_outside(
    entries: list[tuple[list[str], str]], calls: list[tuple[list[str], int]], by_path: bool
) -> None:
    with two_folders() as (root, outside):
        for names, what in entries:
            with suppress(OSError, RuntimeError):  # something else stands there
                grow(root, outside, names, what)
        links_before = {str(p): p.readlink() for p in root.rglob("*") if p.is_symlink()}
        files = Files(root, 1_000, 1_000, by_path=by_path)
        for parts, number in calls:
            path = "/".join(parts).replace("OUT", str(outside)).replace("ROOT", str(root))
            try:
                said = each_tool(files, path)[number]()
            except FileProblem as problem:
                said = str(problem)
            assert SECRET not in said
            assert "root:x:0" not in said
        assert state(outside) == {"f": SECRET.encode()}
        assert sorted(p.name for p in root.parent.iterdir()) == ["outside", "root"]
        assert {str(p): p.readlink() for p in root.rglob("*") if p.is_symlink()} == links_before
        assert not list(root.rglob(".tenuto*"))


@links
@pytest.mark.skipif(not BY_DESCRIPTOR, reason="without descriptors a swap may go unseen")
def test_a_folder_that_becomes_a_link_between_check_and_use_leads_nowhere(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text(SECRET)
    (folder / "d").mkdir()
    (folder / "link").symlink_to(outside)
    files = Files(folder, 1_000, 1_000)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for one, other in [("d", "aside"), ("link", "d"), ("d", "link"), ("aside", "d")]:
                with suppress(OSError):  # a tool has made `d` anew meanwhile
                    (folder / one).rename(folder / other)
            if (folder / "aside").exists():
                shutil.rmtree(folder / "aside")

    swapping = threading.Thread(target=swap)
    swapping.start()
    went = {True: 0, False: 0}
    try:
        for _ in range(60):
            for call in each_tool(files, "d/f"):
                try:
                    said, fine = call(), True
                except FileProblem as problem:
                    said, fine = str(problem), False
                went[fine] += 1
                assert SECRET not in said
    finally:
        over.set()
        swapping.join()
    assert state(outside) == {"f": SECRET.encode()}
    assert min(went.values()) > 0, went


@links
def test_a_file_that_becomes_a_link_or_a_pipe_after_the_check_is_not_followed_nor_waited_for(
    folder: Path, files: Files
) -> None:
    (folder.parent / "outside").write_text(SECRET)
    (folder / "link").symlink_to(folder.parent / "outside")
    (folder / "to_folder").symlink_to(folder.parent)
    (folder / "dangling").symlink_to(folder.parent / "new")
    os.mkfifo(folder / "pipe")
    with files.folder(()) as inner:  # as it is after the checks
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY | os.O_CREAT):
            for name in ("link", "dangling"):
                with pytest.raises((OSError, FileProblem)):
                    inner.open(name, flags)
        with pytest.raises((OSError, FileProblem)):
            inner.enter("to_folder")
        os.close(inner.open("pipe", os.O_RDONLY))
        with pytest.raises(OSError, match=r"No such device|not configured"):
            inner.open("pipe", os.O_WRONLY)
    assert not (folder.parent / "new").exists()


@links
def test_a_root_that_became_a_link_is_refused(folder: Path, files: Files) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text(SECRET)
    folder.rmdir()
    folder.symlink_to(outside)
    for call in each_tool(files, "f"):
        with pytest.raises(FileProblem):
            call()
    assert state(outside) == {"f": SECRET.encode()}


@links
def test_a_root_may_itself_be_reached_through_a_link(folder: Path) -> None:
    (folder.parent / "link").symlink_to(folder)
    files = Files(folder.parent / "link", 1_000, 1_000)
    files.create_file("f", "x\n")
    assert files.read_file(str(folder.parent / "link" / "f")).endswith("x")


def test_a_root_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    for path in (tmp_path / "f", tmp_path / "none"):
        with pytest.raises(ToolError, match="is not a folder"):
            Files(path, 1, 1)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc here")
def test_no_call_leaves_a_descriptor_open(folder: Path, files: Files) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "f").write_text("x\n")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in ("a/f", "a", "a/f/g", "../x", "a/none/x"):
        for call in each_tool(files, path):
            with suppress(FileProblem):
                call()
    files.search("x", regex=True)
    with pytest.raises(FileProblem):
        files.search("(", regex=True)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@links
def test_a_file_that_was_begun_where_the_folder_came_to_lead_is_not_left_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / "d").mkdir()
    files = Files(folder, 1_000, 1_000, by_path=True)
    opened = os.open

    def swapped(path: object, *how: int, **known: int) -> int:
        """Somebody puts a link in the place of the folder, just before the file is made."""
        if ".tenuto-unfinished-" in str(path) and not (folder / "aside").exists():
            (folder / "d").rename(folder / "aside")
            (folder / "d").symlink_to(outside)
        return opened(path, *how, **known)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(FileProblem):
        files.create_file("d/f", "text")
    assert list(outside.iterdir()) == []
    assert list((folder / "aside").iterdir()) == []


@links
def test_a_file_that_is_being_written_is_not_left_where_its_folder_has_become_a_link(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = folder.parent / "outside"
    (folder / "d").mkdir()
    files = Files(folder, 1_000, 1_000, by_path=True)
    synced = os.fsync

    def moved(descriptor: int) -> None:
        """Somebody takes the folder out, and leaves a link to it."""
        synced(descriptor)
        if not outside.exists():
            (folder / "d").rename(outside)
            (folder / "d").symlink_to(outside)

    monkeypatch.setattr(os, "fsync", moved)
    with pytest.raises(FileProblem):
        files.create_file("d/f", "text")
    assert list(outside.iterdir()) == []
