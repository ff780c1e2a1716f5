"""list_files, and the walk that it shares with search: sorted, bounded, and past no link."""

from __future__ import annotations

import stat
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from tenuto_agent.files.folder import Folder, is_link
from tenuto_agent.files.glob import Glob, States
from tenuto_agent.files.paths import is_git, quoted, showable
from tenuto_agent.files.problem import FileProblem
from tenuto_agent.files.root import Root, shown
from tenuto_agent.files.writing import UNFINISHED

MAX_ENTRIES: Final = 200_000
"""So many names are looked at in one walk."""

MAX_LISTED: Final = 1_000
"""So many paths stand in one result."""

MAX_DEPTH: Final = 64
"""So deep is a walk: each folder on the way is one open descriptor."""

NOT_ENTERED: Final = frozenset(
    {
        "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".hg", ".svn", ".cache",
        ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
    }
)  # fmt: skip
"""Folders of what programs made or fetched: entered only where the path names them."""


class EntryKind(StrEnum):
    """What a walk met, as the mark that stands behind its name in a list."""

    FILE = ""
    FOLDER = "/"
    LINK = " (a symbolic link, not followed)"
    OTHER = " (no ordinary file)"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a walk met; `folder` is open until the walk goes on."""

    folder: Folder
    names: tuple[str, ...]
    kind: EntryKind


@dataclass(slots=True)
class Walk:
    """A walk below a folder, along a pattern; afterwards it knows what it left out.

    Attributes:
        within_s: how long it may take.
        not_entered: folders that it stayed out of.
        unshowable: how many names it left out, as no result can hold them.
        stopped: why it ended early, "" where it did not.
        deadline_s: when it ends, by the monotonic clock.
    """

    glob: Glob
    within_s: float
    not_entered: set[str] = field(default_factory=set)
    unshowable: int = 0
    stopped: str = ""
    deadline_s: float = field(init=False)
    _left: int = MAX_ENTRIES

    def __post_init__(self) -> None:
        self.deadline_s = time.monotonic() + self.within_s

    def entries(
        self, folder: Folder, names: tuple[str, ...], states: States | None = None, depth: int = 0
    ) -> Generator[Entry]:
        """What matches, in the order of the names, folder by folder."""
        states = self.glob.start if states is None else states
        for name in folder.names(self._left + 1):
            if self.stopped or self._is_over():
                return
            after = self.glob.step(states, name)
            kind = _kind(folder, name)
            if not after or kind is None or is_git(name) or name.startswith(UNFINISHED):
                continue
            if not showable(name):
                self.unshowable += 1
                continue
            way = (*names, name)
            if self.glob.ends(after):
                yield Entry(folder, way, kind)
            if kind is EntryKind.FOLDER:
                yield from self._inside(folder, way, after, depth + 1)

    def _inside(
        self, folder: Folder, way: tuple[str, ...], states: States, depth: int
    ) -> Generator[Entry]:
        if way[-1] in NOT_ENTERED:
            self.not_entered.add(way[-1])
            return
        if depth > MAX_DEPTH:
            self.not_entered.add(f"folders more than {MAX_DEPTH} deep")
            return
        try:
            inner = folder.enter(way[-1])
        except (OSError, FileProblem):  # gone, swapped, or not ours to read
            self.not_entered.add(shown(way))
            return
        with inner:
            yield from self.entries(inner, way, states, depth)

    def _is_over(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self.stopped = f"stopped after {MAX_ENTRIES:,} names"
        elif time.monotonic() > self.deadline_s:
            self.stopped = f"stopped after {self.within_s:g} s"
        return bool(self.stopped)

    def remarks(self) -> list[str]:
        """What the result has to say of what is not in it."""
        said = []
        if self.not_entered:
            listed = sorted(self.not_entered)
            more = f" and {len(listed) - 10:,} more" if len(listed) > 10 else ""
            said.append(f"[Not entered: {', '.join(listed[:10])}{more}.]")
        if self.unshowable:
            said.append(f"[Left out for names that cannot be written: {self.unshowable:,}.]")
        if self.stopped:
            said.append(f"[Not complete: {self.stopped}; name a path or a narrower pattern.]")
        return said


def list_files(root: Root, pattern: str = "*", path: str = ".") -> str:
    """The files and folders below `path` that match the pattern."""
    way = root.names_of(path)
    walk = Walk(Glob(pattern), root.walk_s)
    found: list[str] = []
    left = root.limit_chars
    with root.folder(way) as folder, closing(walk.entries(folder, way)) as entries:
        for entry in entries:
            line = shown(entry.names) + entry.kind
            left -= len(line) + 1
            if len(found) == MAX_LISTED or left < 0:
                walk.stopped = f"only the first {len(found):,} are shown"
                break
            found.append(line)
    if not found:
        found.append(f"Nothing in {quoted(shown(way))} matches {pattern!a}.")
    return "\n".join(found + walk.remarks())


def _kind(folder: Folder, name: str) -> EntryKind | None:
    try:
        status = folder.status(name)
    except OSError:
        return None
    if is_link(status):
        return EntryKind.LINK
    if stat.S_ISDIR(status.st_mode):
        return EntryKind.FOLDER
    return EntryKind.FILE if stat.S_ISREG(status.st_mode) else EntryKind.OTHER
