"""The lines of a file that grows, also across its rotation."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from tenuto.telemetry.event_files import numbered

POLL_S = 0.2
"""Seconds between two looks at a file that has not grown."""

LINE_MAX_BYTES = 268_435_456
"""A file with a longer line is not read further."""


def lines(
    path: Path, *, follow: bool, older: bool = False, poll_s: float = POLL_S
) -> Generator[str | None]:
    """Yield each whole line of a file, and None each time that its end is reached.

    A file that is replaced by another of the same name (a rotation), or is cut, is read from its
    beginning. A last line without its end is half written: it is yielded once the rest is there,
    and without `follow` as it is.

    Args:
        path: the file.
        follow: wait for further lines, and for a file that is not there yet. False: return at the
            end.
        older: begin with the older files that `EventFile` keeps beside it, the oldest first.
        poll_s: seconds between two looks.

    Raises:
        OSError: it cannot be read, or is a pipe or a device; without `follow`, also where there is
            no such file.
    """
    # Opened before the older ones: a file that is rotated meanwhile is then among them once more,
    # and none is missed.
    file = _opened(path, follow=follow)
    if older:
        try:
            yield from _of_older(path, file)
        except BaseException:
            if file is not None:
                file.close()
            raise
    while True:
        if file is None:
            yield None
            time.sleep(poll_s)
            file = _opened(path, follow=follow)
            continue
        with file:
            half: list[bytes] = []
            moved = False
            while not moved:
                moved = _is_another(path, file)  # asked first: what is read then is all of it
                yield from _whole(file, half)
                if half and (moved or not follow):
                    yield b"".join(half).decode("utf-8", "replace")
                yield None
                if not follow:
                    return
                if not moved:
                    time.sleep(poll_s)
        file = _opened(path, follow=follow)


def _of_older(path: Path, first: BinaryIO | None) -> Iterator[str]:
    """The lines of the older files, each file once."""
    seen = {_identity(os.fstat(first.fileno()))} if first is not None else set()
    found: list[BinaryIO] = []
    try:
        while (file := _opened(numbered(path, len(found) + 1), follow=True)) is not None:
            found.append(file)
        for file in reversed(found):
            if (identity := _identity(os.fstat(file.fileno()))) not in seen:
                seen.add(identity)
                half: list[bytes] = []
                yield from _whole(file, half)
                if half:
                    yield b"".join(half).decode("utf-8", "replace")
    finally:
        for file in found:
            file.close()


def _whole(file: BinaryIO, half: list[bytes]) -> Iterator[str]:
    """The lines up to the end of the file; the pieces of one that has no end yet stay in `half`."""
    while piece := file.read(65_536):
        first, *rest = piece.split(b"\n")
        half.append(first)
        for begun in rest:
            yield b"".join(half).decode("utf-8", "replace")
            half[:] = [begun]
        if len(half) * 65_536 > LINE_MAX_BYTES:
            raise OSError(0, f"a line holds more than {LINE_MAX_BYTES} bytes")
    if half and not any(half):
        half.clear()


def _opened(path: Path, *, follow: bool) -> BinaryIO | None:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is a pipe or a device and no file")
        return path.open("rb")
    except FileNotFoundError:
        if not follow:
            raise
        return None


def _is_another(path: Path, file: BinaryIO) -> bool:
    """Whether the name stands for another file by now, or the file was cut."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False  # a rotation is under way
    moved = _identity(now) != _identity(os.fstat(file.fileno()))
    return moved or now.st_size < file.tell()


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
