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
from typing import Final, Protocol, Self

from tenuto.agent.files.problem import FileProblem

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


class Folder(Protocol):
    """An open folder. Names are single names, and every method may raise OSError."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...
    def status(self, name: str) -> os.stat_result:
        """Of the entry itself, not of what it points to."""

    def target(self, name: str) -> str:
        """What a symbolic link says."""

    def enter(self, name: str) -> Folder:
        """The folder of that name, opened; never through a link."""

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor of the file of that name; never through a link."""

    def names(self, limit: int) -> list[str]:
        """At most `limit` names, sorted."""

    def make(self, name: str) -> None: ...
    def remove(self, name: str) -> None: ...
    def discard(self, name: str) -> None:
        """Remove a file that was made here, wherever the folder has come to lie."""

    def remove_folder(self, name: str) -> None: ...
    def place(self, made: str, name: str, *, new: bool) -> None:
        """Give the file `made` the name `name` in one step; `new` fails where that exists."""

    def sync(self) -> None:
        """Bring the names themselves to the disk, where the system can."""


class _Places(Protocol):
    def status(self, name: str) -> os.stat_result: ...
    def remove(self, name: str) -> None: ...
    def link(self, made: str, name: str) -> None: ...
    def replace(self, made: str, name: str) -> None: ...


def is_link(status: os.stat_result) -> bool:
    """Whether the entry leads elsewhere."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) in _LINK_TAGS


class _Placing:
    """How a finished file gets its name, on top of what both kinds of folder can do."""

    def place(self: _Places, made: str, name: str, *, new: bool) -> None:
        if new:
            try:
                self.link(made, name)
            except FileExistsError:
                raise
            except OSError:  # a file system without hard links: the look and the step are two
                with suppress(FileNotFoundError):
                    self.status(name)
                    raise FileExistsError(errno.EEXIST, "exists") from None
            else:
                self.remove(made)
                return
        self.replace(made, name)


class DescriptorFolder(_Placing):
    """A folder by its descriptor."""

    def __init__(self, path: str, parent: int | None = None) -> None:
        self._descriptor = os.open(path, _FOLDER, dir_fd=parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self._descriptor)

    def status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

    def target(self, name: str) -> str:
        return os.readlink(name, dir_fd=self._descriptor)

    def enter(self, name: str) -> DescriptorFolder:
        return DescriptorFolder(name, self._descriptor)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return os.open(name, flags | _SAFE, mode, dir_fd=self._descriptor)

    def names(self, limit: int) -> list[str]:
        with os.scandir(self._descriptor) as entries:
            return sorted(entry.name for entry in islice(entries, limit))

    def make(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._descriptor)

    discard = remove

    def remove_folder(self, name: str) -> None:
        os.rmdir(name, dir_fd=self._descriptor)

    def link(self, made: str, name: str) -> None:
        here = self._descriptor
        os.link(made, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)

    def replace(self, made: str, name: str) -> None:
        os.replace(made, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def sync(self) -> None:
        with suppress(OSError):  # some file systems know no such thing of folders
            os.fsync(self._descriptor)


class PathFolder(_Placing):
    """A folder by its path, for systems without descriptors of folders."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.stay()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def status(self, name: str) -> os.stat_result:
        return (self._path / name).lstat()

    def target(self, name: str) -> str:
        return str((self._path / name).readlink())

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
        descriptor = os.open(self._path / name, flags | _SAFE, mode)
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
        """Refuse where the path has come to lead elsewhere."""
        if os.path.normcase(os.path.realpath(self._path)) != os.path.normcase(self._path):
            raise FileProblem(f"{self._path.name} leads elsewhere")

    def names(self, limit: int) -> list[str]:
        self.stay()
        with os.scandir(self._path) as entries:
            return sorted(entry.name for entry in islice(entries, limit))

    def make(self, name: str) -> None:
        self.stay()
        (self._path / name).mkdir()

    def remove(self, name: str) -> None:
        self.stay()
        self.discard(name)

    def discard(self, name: str) -> None:
        (self._path / name).unlink()

    def remove_folder(self, name: str) -> None:
        self.stay()
        (self._path / name).rmdir()

    def link(self, made: str, name: str) -> None:
        self.stay()
        (self._path / name).hardlink_to(self._path / made)

    def replace(self, made: str, name: str) -> None:
        self.stay()
        (self._path / made).replace(self._path / name)

    def sync(self) -> None:
        pass
