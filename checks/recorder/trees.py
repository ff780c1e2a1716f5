"""The two trees whose sources are played: this checkout, and one that Git unpacks beside it."""

from __future__ import annotations

import io
import os
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from checks.recorder import INSIDE

PROJECT = Path(__file__).resolve().parents[2]
MAIN = ("origin/main", "main")
"""Where a branch comes from, the first that there is."""

PLAYED = frozenset({"src", "packages", "examples", "recorder", "checks"})
"""What is unpacked of a commit: its source, the wires beside it, and its `inside.py`."""


class Tree(NamedTuple):
    """A checkout, or a part of one."""

    name: str
    folder: Path

    def sources(self) -> list[Path]:
        """Return the folders from which Python imports. Until 2026-11-28 there was one, `src`."""
        own = sorted(self.folder.glob("packages/*/src")) or [self.folder / "src"]
        return [*own, *self.folder.glob("examples/wires/src")]

    def environment(self) -> dict[str, str]:
        """Return the environment of a process that plays this tree's source."""
        # Until 2026-11-29 the recorder was a folder of its own.
        places = [self.folder / each / "inside.py" for each in ("checks/recorder", "recorder")]
        inside = next(filter(Path.exists, places), None)
        made = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, self.sources())),
            INSIDE: str(inside or ""),
        }
        if self.folder != PROJECT:
            # A temporary tree takes its bytecode files along when it is removed.
            made.pop("PYTHONPYCACHEPREFIX", None)
        return made


class NoSuchTree(Exception):
    """There is no commit to compare with. The message says what to name instead."""


@contextmanager
def unpacked(commit: str, project: Path = PROJECT) -> Iterator[Tree]:
    """Unpack a commit into a temporary folder, which is removed behind the block.

    Raises:
        NoSuchTree: Git does not know the commit.
    """
    with TemporaryDirectory(prefix="tenuto-base-", ignore_cleanup_errors=True) as folder:
        there = _line(project, "ls-tree", "--name-only", f"{commit}^{{commit}}").splitlines()
        packed = _git(
            project, "archive", "--format=zip", commit, *sorted(PLAYED.intersection(there))
        )
        if packed is None or not there:
            raise NoSuchTree(f"Git knows no commit {commit!r} here.")
        with zipfile.ZipFile(io.BytesIO(packed)) as files:
            files.extractall(folder)
        yield Tree(commit, Path(folder).resolve())


def usual_base(project: Path = PROJECT) -> tuple[str, str]:
    """Return the commit that a contributor means who names none, and the words that say why.

    It is the one where this branch left the main branch. On the main branch itself with nothing
    changed it is the last release, and before the first release the commit before.

    Raises:
        NoSuchTree: there is no such commit, or this is no Git checkout.
    """
    head = _line(project, "rev-parse", "HEAD")
    changed = bool(_line(project, "status", "--porcelain"))
    for main in MAIN:
        left = _line(project, "merge-base", "HEAD", main)
        if left and (left != head or changed):
            return left, f"where this branch left {main}"
    if tag := _line(project, "describe", "--tags", "--abbrev=0", "HEAD^"):
        return tag, "the last release"
    if before := _line(project, "rev-parse", "--verify", "HEAD^"):
        return before, "the commit before"
    raise NoSuchTree("There is no commit to compare with.")


def described(commit: str, project: Path = PROJECT) -> str:
    """Return a line that says which commit it is: its short hash, its day and its subject."""
    return _line(project, "show", "--no-patch", "--format=%h %cs %s", f"{commit}^{{commit}}")


def _line(project: Path, *given: str) -> str:
    """What Git says, "" where it refuses."""
    return (_git(project, *given) or b"").decode("utf-8", "replace").strip()


def _git(project: Path, *given: str) -> bytes | None:
    try:
        done = subprocess.run(["git", *given], cwd=project, capture_output=True, check=False)
    except FileNotFoundError:
        raise NoSuchTree("Git is not installed.") from None
    return done.stdout if done.returncode == 0 else None
