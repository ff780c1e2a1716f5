"""The one folder that the tools work in: nothing outside of it is read or written.

No link is followed, wherever it leads: not in the way to a file, not as the file itself. A hard
link cannot be told from a file and is read as one; it is never written through, since each write
makes a new file. Whoever may change the folders above the root may exchange the root as well.
"""

from __future__ import annotations

import os
import posixpath
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tenuto.core.errors import ToolError
from tenuto_agent.files.folder import (
    BY_DESCRIPTOR,
    DescriptorFolder,
    Folder,
    PathFolder,
    is_link,
)
from tenuto_agent.files.paths import names_of, quoted
from tenuto_agent.files.problem import FileProblem, told_of

_CHUNK_BYTES = 1 << 20

WALK_S: Final = 10.0
"""So long is a walk."""


class Root:
    """The folder that the tools are confined to.

    Args:
        path: an existing folder. It may itself be reached through links.
        limit_bytes: no larger file is read, and none is made.
        limit_chars: so much of files one result shows.
        walk_s: seconds that a walk through it may take.
        by_path: work as on systems that open nothing below a descriptor.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        limit_bytes: int,
        limit_chars: int,
        *,
        walk_s: float = WALK_S,
        by_path: bool = not BY_DESCRIPTOR,
    ) -> None:
        self.path: Path = Path(path).resolve()
        if not self.path.is_dir():
            raise ToolError(f"the root of the file tools is not a folder: {path}")
        self.limit_bytes = limit_bytes
        self.limit_chars = limit_chars
        self.walk_s = walk_s
        self._spellings = (str(self.path), str(Path(path).absolute()))
        self._by_path = by_path
        self.writing: threading.Lock = (
            threading.Lock()
        )  # reading, changing and replacing a file is one step

    def names_of(self, path: str) -> tuple[str, ...]:
        """The names on the way to `path`, refused where it leads out."""
        return names_of(path, self._spellings)

    @contextmanager
    def folder(self, names: tuple[str, ...], *, make: bool = False) -> Iterator[Folder]:
        """The folder at the end of these names, open. With `make` what is missing of them is made,
        and taken away again if the body fails."""
        made: list[tuple[str, ...]] = []
        try:
            with (
                told_of(shown(names)),
                self._walk(names, made if make else None) as folder,
            ):
                yield folder
        except BaseException:
            for way in reversed(made):
                with suppress(OSError, FileProblem), self._walk(way[:-1], None) as parent:
                    parent.remove_folder(way[-1])
            raise

    def _walk(self, names: tuple[str, ...], made: list[tuple[str, ...]] | None) -> Folder:
        with told_of("the folder of the tools"):
            folder: Folder = (
                PathFolder(self.path) if self._by_path else DescriptorFolder(str(self.path))
            )
        for depth, name in enumerate(names):
            way = names[: depth + 1]
            with folder as here, told_of(shown(way)):
                if made is not None:
                    with suppress(FileExistsError):
                        here.make(name)
                        made.append(way)
                refuse_unless_folder(here, way)
                try:
                    folder = here.enter(name)
                except OSError:
                    refuse_unless_folder(here, way)  # it was swapped in between
                    raise
        return folder

    @contextmanager
    def parent(self, path: str, *, make: bool = False) -> Iterator[tuple[Folder, tuple[str, ...]]]:
        """The open folder that `path` lies in, and the names on the way to it."""
        names = self.names_of(path)
        if not names:
            raise FileProblem("that is the folder itself; name a file in it")
        with self.folder(names[:-1], make=make) as folder, told_of(shown(names)):
            yield folder, names


def shown(names: tuple[str, ...]) -> str:
    """The way as the model reads it."""
    return "/".join(names) or "."


def file_status(folder: Folder, names: tuple[str, ...]) -> os.stat_result | None:
    """What is known of the file at the end of `names`, None where there is nothing. Whatever is no
    ordinary file is refused."""
    try:
        status = folder.status(names[-1])
    except FileNotFoundError:
        return None
    if is_link(status):
        raise FileProblem(_of_link(folder, names))
    if stat.S_ISDIR(status.st_mode):
        raise FileProblem(f"{shown(names)} is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise FileProblem(f"{shown(names)} is no ordinary file")
    return status


def refuse_unless_folder(folder: Folder, names: tuple[str, ...]) -> None:
    """Say what stands where a folder should."""
    status = folder.status(names[-1])
    if is_link(status):
        raise FileProblem(_of_link(folder, names))
    if not stat.S_ISDIR(status.st_mode):
        raise FileProblem(f"{shown(names)} is not a folder")


def read(
    folder: Folder, names: tuple[str, ...], limit_bytes: int
) -> tuple[bytes, os.stat_result] | None:
    """The bytes of a file and what was known of it when it was opened; None where there is none."""
    if file_status(folder, names) is None:
        return None
    descriptor = folder.open(names[-1], os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem(f"{shown(names)} is no ordinary file")
        pieces: list[bytes] = []
        left = limit_bytes + 1
        while left > 0 and (piece := os.read(descriptor, min(left, _CHUNK_BYTES))):
            pieces.append(piece)
            left -= len(piece)
    finally:
        os.close(descriptor)
    if left <= 0:
        size = f"{status.st_size:,} bytes" if status.st_size > limit_bytes else "more"
        raise FileProblem(f"{shown(names)} has {size}; the limit of a file is {limit_bytes:,}")
    return b"".join(pieces), status


def _of_link(folder: Folder, names: tuple[str, ...]) -> str:
    """Of a link, with where it leads if that is inside."""
    text = f"{shown(names)} is a symbolic link, and links are not followed"
    with suppress(OSError, FileProblem):
        joined = posixpath.join(*names[:-1], folder.target(names[-1]))
        inside = posixpath.normpath(joined)
        if not inside.startswith(".."):
            text += f"; it points to {quoted(shown(names_of(inside)))}"
    return text
