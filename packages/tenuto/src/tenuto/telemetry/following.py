"""Reads the lines of files that grow, of one or of all in a folder, also across rotations."""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import stat
import time
from collections.abc import Callable, Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from tenuto.telemetry.event_files import LINE_MAX_BYTES, numbered

POLL_S = 0.2
"""Seconds between two looks at a file that has not grown."""

ENDING = ".jsonl"
"""The ending of event files; a folder's other files are ignored."""


class Readers:
    """The readers of one event file, or of the files `*.jsonl` in a folder as they come and go.

    Args:
        path: the folder or the file. With `follow`, it may be created later.
        follow: as for `lines`.
        older: as for `lines`.
        most: how many files of a folder to read at most; None: all.

    Attributes:
        full: whether a file is left out because there are more than `most`.
    """

    def __init__(
        self, path: Path, *, follow: bool, older: bool = False, most: int | None = None
    ) -> None:
        self.full: bool = False
        self._path, self._follow, self._older, self._most = path, follow, older, most
        self._readers: dict[Path, Generator[str | None]] = {}
        self._missing: set[Path] = set()

    def look(self) -> dict[Path, Generator[str | None]]:
        """Return the readers of the current files, each from `lines`. A reader that ended or raised
        an error is kept, and yields nothing more.

        Raises:
            OSError: the folder cannot be read.
        """
        there = self._files()
        # A file is missing for a moment while it is rotated, and for good after it was removed. If
        # the path has become a folder, it is no longer a file.
        missing = self._readers.keys() - there
        for file in missing & {*self._missing, self._path}:
            self._readers.pop(file).close()
        self._missing = missing
        new = [file for file in there if file not in self._readers]
        room = len(new) if self._most is None else max(self._most - len(self._readers), 0)
        self.full = len(new) > room
        for file in new[:room]:
            self._readers[file] = lines(file, follow=self._follow, older=self._older, poll_s=0.0)
        return self._readers

    def close(self) -> None:
        """Close all files."""
        for reader in self._readers.values():
            reader.close()

    def _files(self) -> list[Path]:
        if not self._path.is_dir():
            return [self._path]
        return sorted(each for each in self._path.iterdir() if each.name.endswith(ENDING))


def lines_of(
    path: Path,
    *,
    follow: bool,
    poll_s: float = POLL_S,
    unread: Callable[[Path, OSError], None] | None = None,
) -> Generator[str | None]:
    """Yield each complete line of a file or of a folder's files, and None each time that it reaches
    the ends of all. At first, the lines of all files come in order of their times; after that, file
    by file. Files that are created later are read from their beginning.

    Args:
        path, follow, poll_s: as for `lines`.
        unread: called once with each file of a folder that can't be read, or not to its end, and
            the error; the other files are still read. None: the error is raised.

    Raises:
        OSError: as for `lines`; without `follow`, also if a folder has no event files.
    """

    def to_its_end(file: Path, reader: Iterator[str | None]) -> Iterator[str]:
        try:
            for line in reader:
                if line is None:
                    return
                yield line
        except OSError as error:  # which has ended the reader
            if unread is None or file == path:
                raise
            unread(file, error)

    reads: Callable[[list[Iterator[str]]], Iterator[str]] = _merged
    with contextlib.closing(Readers(path, follow=follow)) as readers:
        while True:
            found = readers.look()
            if not found and not follow:
                raise OSError(0, f"the folder holds no file of events (*{ENDING})")
            yield from reads([to_its_end(*each) for each in found.items()])
            yield None
            if not follow:
                return
            reads = chain.from_iterable
            time.sleep(poll_s)


def _merged(readers: list[Iterator[str]]) -> Iterator[str]:
    return heapq.merge(*readers, key=_time_of)


def _time_of(line: str) -> float:
    """Return the time of a line's event; 0 if the line has none."""
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        return float(json.loads(line)["time"])
    return 0.0


def lines(
    path: Path, *, follow: bool, older: bool = False, poll_s: float = POLL_S
) -> Generator[str | None]:
    """Yield each complete line of a file, and None each time that it reaches the end.

    If the file is replaced (rotated) or truncated, the new file is read from its beginning, after
    the older files between the two. A last line without a line break is incomplete: it is yielded
    when the rest arrives, or, without `follow`, as it is.

    Args:
        path: the file.
        follow: wait for more lines, and for the file if it doesn't exist. False: return at the end.
        older: begin with the older files that `EventFile` keeps, oldest first.
        poll_s: seconds between reads.

    Raises:
        OSError: the file can't be read, or is a pipe or a device; without `follow`, also if it
            doesn't exist.
    """
    file = _opened(path, follow=follow)
    if older:
        yield from _lines_between(path, None, file)
    while True:
        if file is None:
            yield None
            time.sleep(poll_s)
            file = _opened(path, follow=follow)
            continue
        with file:
            half = bytearray()
            moved = False
            while not moved:
                moved = _is_another(path, file)  # checked first, so that the read gets all of it
                yield from _whole(file, half)
                if half and (moved or not follow):
                    yield half.decode("utf-8", "replace")
                yield None
                if not follow:
                    return
                if not moved:
                    time.sleep(poll_s)
            following = _opened(path, follow=follow)
            yield from _lines_between(path, file, following)
        file = following


def _lines_between(path: Path, old: BinaryIO | None, new: BinaryIO | None) -> Iterator[str]:
    """Yield the lines of the older files between two open ones, oldest first."""
    found: list[BinaryIO] = []
    try:
        found = _between(path, old, new)
        for file in reversed(found):
            half = bytearray()
            yield from _whole(file, half)
            if half:
                yield half.decode("utf-8", "replace")
    except BaseException:
        if new is not None:  # the caller won't read it
            new.close()
        raise
    finally:
        for file in found:
            file.close()


def _between(path: Path, old: BinaryIO | None, new: BinaryIO | None) -> list[BinaryIO]:
    """Open the older files that were begun after `old` and before `new`, latest first; None sets no
    bound. A rotation in the meantime moves each file to the next number: none is missed, and a file
    that is found again counts once. An open file's identity is not reused."""
    known = [
        _identity(os.fstat(file.fileno())) if file is not None else None for file in (old, new)
    ]
    found: dict[tuple[int, int], BinaryIO] = {}
    number = 0
    while (file := _opened(numbered(path, number := number + 1), follow=True)) is not None:
        identity = _identity(os.fstat(file.fileno()))
        if identity in known or identity in found:
            file.close()
            if identity == known[0]:
                return [*found.values()]
            if identity == known[1]:  # the files found so far were begun after it
                for younger in found.values():
                    younger.close()
                found.clear()
        else:
            found[identity] = file
    if old is None:
        return [*found.values()]
    # `old` was removed by a rotation, or it was replaced and all of these files are older.
    ended_ns = os.fstat(old.fileno()).st_mtime_ns
    behind = [each for each in found.values() if os.fstat(each.fileno()).st_mtime_ns > ended_ns]
    for each in found.values():
        if each not in behind:
            each.close()
    return behind


def _whole(file: BinaryIO, half: bytearray) -> Iterator[str]:
    """Yield the lines up to the end of the file; an incomplete line stays in `half`. Of a line, no
    more than `LINE_MAX_BYTES` are kept."""
    while piece := file.read(65_536):
        first, *rest = piece.split(b"\n")
        half += first[: LINE_MAX_BYTES - len(half)]
        for begun in rest:
            yield half.decode("utf-8", "replace")
            half[:] = begun


def _opened(path: Path, *, follow: bool) -> BinaryIO | None:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is a pipe or a device, not a file", str(path))
        return path.open("rb")
    except FileNotFoundError:
        if not follow:
            raise
        return None


def _is_another(path: Path, file: BinaryIO) -> bool:
    """Return whether the path names another file now, or the file was truncated."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False  # it is being rotated
    moved = _identity(now) != _identity(os.fstat(file.fileno()))
    return moved or now.st_size < file.tell()


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
