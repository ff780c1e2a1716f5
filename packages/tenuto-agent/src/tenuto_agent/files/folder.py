"""One open folder, and what may be done with the names in it.

Theory of operation: a path is checked in vain if it is then opened by its letters, since a folder
in it may have become a link in between. So a path is never opened. The walk goes name by name, each
opened below the descriptor of the folder before it and without following a link; whoever swaps a
name meanwhile is met by a refusal or by the folder that was there. Where the system has no such
calls (Windows), `PathFolder` looks before and after instead: what was opened must be what stood
there, and the folder must still lie where it lay. A swap there and back in between goes unseen.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, Self

from tenuto_agent.files.problem import FileProblem

BY_DESCRIPTOR: Final = (
    {os.open, os.stat, os.mkdir, os.rmdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd
    and os.scandir in os.supports_fd
    and os.link in os.supports_follow_symlinks
    and hasattr(os, "O_NOFOLLOW")
)
"""Whether the system opens names below a descriptor: Linux and macOS do."""

# No link is followed, no pipe waited for, no terminal taken, and Windows does not change the bytes.
_SAFE: Final = sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")
)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_LINK_TAGS: Final = (0xA000000C, 0xA0000003)  # Windows: symbolic links, and junctions


def is_link(status: os.stat_result) -> bool:
    """Whether the entry leads elsewhere."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) in _LINK_TAGS


class Folder:
    """An open folder. Names are single names, and every method may raise OSError.

    Args:
        here: what lists it: its descriptor, or its path.
        below: the descriptor that its names are looked up below; None: they are looked up by path.
    """

    def __init__(self, here: int | Path, below: int | None) -> None:
        self._here = here
        self._below = below

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def _at(self, name: str) -> str:
        """What the system finds that name by."""
        raise NotImplementedError

    def stay(self) -> None:
        """Refuse where the folder has come to lead elsewhere."""

    def status(self, name: str) -> os.stat_result:
        """Of the entry itself, not of what it points to."""
        return os.stat(self._at(name), dir_fd=self._below, follow_symlinks=False)

    def target(self, name: str) -> str:
        """What a symbolic link says."""
        return os.readlink(self._at(name), dir_fd=self._below)

    def enter(self, name: str) -> Folder:
        """The folder of that name, opened; never through a link."""
        raise NotImplementedError

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor of the file of that name; never through a link."""
        return os.open(self._at(name), flags | _SAFE, mode, dir_fd=self._below)

    def names(self, limit: int) -> list[str]:
        """At most `limit` names, sorted."""
        self.stay()
        with os.scandir(self._here) as entries:
            return sorted(entry.name for entry in islice(entries, limit))

    def make(self, name: str) -> None:
        self.stay()
        os.mkdir(self._at(name), dir_fd=self._below)

    def discard(self, name: str) -> None:
        """Remove a file that was made here, wherever the folder has come to lie."""
        os.unlink(self._at(name), dir_fd=self._below)

    def remove_folder(self, name: str) -> None:
        self.stay()
        os.rmdir(self._at(name), dir_fd=self._below)

    def place(self, made: str, name: str, *, new: bool) -> None:
        """Give the file `made` the name `name` in one step; `new` fails where that exists."""
        self.stay()
        source, target = self._at(made), self._at(name)
        if new:
            try:
                # Not every system without descriptors of folders knows `follow_symlinks`.
                follow = self._below is None
                below = {"src_dir_fd": self._below, "dst_dir_fd": self._below}
                os.link(source, target, **below, follow_symlinks=follow)
            except FileExistsError:
                raise
            except OSError:  # a file system without hard links: the look and the step are two
                with suppress(FileNotFoundError):
                    self.status(name)
                    raise FileExistsError(errno.EEXIST, "exists") from None
            else:
                self.stay()
                self.discard(made)
                return
            self.stay()
        os.replace(source, target, src_dir_fd=self._below, dst_dir_fd=self._below)

    def sync(self) -> None:
        """Bring the names themselves to the disk, where the system can."""


class DescriptorFolder(Folder):
    """A folder by its descriptor."""

    def __init__(self, path: str, parent: int | None = None) -> None:
        self._descriptor = os.open(path, _FOLDER, dir_fd=parent)
        super().__init__(self._descriptor, self._descriptor)

    def __exit__(self, *exc: object) -> None:
        os.close(self._descriptor)

    def _at(self, name: str) -> str:
        return name

    def enter(self, name: str) -> DescriptorFolder:
        return DescriptorFolder(name, self._descriptor)

    def sync(self) -> None:
        with suppress(OSError):  # some file systems know no such thing of folders
            os.fsync(self._descriptor)


class PathFolder(Folder):
    """A folder by its path, for systems without descriptors of folders."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, None)
        self._path = path
        self.stay()

    def _at(self, name: str) -> str:
        return str(self._path / name)

    def enter(self, name: str) -> PathFolder:
        status = self.status(name)
        if is_link(status) or not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError
        return PathFolder(self._path / name)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        self.stay()
        with suppress(FileNotFoundError):
            if is_link(self.status(name)):
                raise FileProblem(f"{name} is a link")
        descriptor = super().open(name, flags, mode)
        try:
            if not os.path.samestat(os.fstat(descriptor), self.status(name)):
                raise FileProblem(f"{name} was exchanged meanwhile")
            self.stay()
        except BaseException:
            os.close(descriptor)
            if flags & os.O_EXCL:  # made just now, where the folder has come to lead
                with suppress(OSError):
                    self.discard(name)
            raise
        return descriptor

    def stay(self) -> None:
        if os.path.normcase(os.path.realpath(self._path)) != os.path.normcase(self._path):
            raise FileProblem(f"{self._path.name} leads elsewhere")
