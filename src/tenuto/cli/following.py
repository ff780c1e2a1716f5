"""The lines of a file that grows, also across its rotation."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from tenuto.cli.printing import READ_MAX_BYTES

POLL_S = 0.2
"""Seconds between two looks at a file that has not grown."""


def lines(path: Path, *, follow: bool, poll_s: float = POLL_S) -> Generator[str | None]:
    """Yield each whole line of a file, and None each time that its end is reached.

    A file that is replaced by another of the same name (a rotation), or is cut, is read from its
    beginning. A last line without its end is half written: it is yielded once the rest is there,
    and without `follow` as it is.

    Args:
        path: the file.
        follow: wait for further lines, and for a file that is not there yet. False: return at the
            end.
        poll_s: seconds between two looks.

    Raises:
        OSError: it cannot be read, or is a pipe or a device; without `follow`, also where there is
            no such file.
    """
    while True:
        file = _opened(path, follow=follow)
        if file is None:
            yield None
            time.sleep(poll_s)
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


def _whole(file: BinaryIO, half: list[bytes]) -> Iterator[str]:
    """The lines up to the end of the file; the pieces of one that has no end yet stay in `half`."""
    while piece := file.read(65_536):
        first, *rest = piece.split(b"\n")
        half.append(first)
        for begun in rest:
            yield b"".join(half).decode("utf-8", "replace")
            half[:] = [begun]
        if len(half) * 65_536 > READ_MAX_BYTES:
            raise OSError(0, f"a line holds more than {READ_MAX_BYTES} bytes")
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
    ours = os.fstat(file.fileno())
    moved = (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino)
    return moved or now.st_size < file.tell()
