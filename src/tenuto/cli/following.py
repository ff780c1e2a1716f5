"""The lines of a file that grows, also across its rotation."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

from tenuto.cli.printing import READ_MAX_BYTES

POLL_S = 0.2
"""Seconds between two looks at a file that has not grown."""


def lines(path: Path, *, follow: bool, poll_s: float = POLL_S) -> Generator[str | None]:
    """Yield each whole line of a file, and None each time that its end is reached.

    A file that is replaced by another of the same name (a rotation), or is cut, is read from its
    beginning. A last line without its end is half written: it is yielded once the rest is there.

    Args:
        path: the file.
        follow: wait for further lines, and for a file that is not there yet. False: return at the
            end.
        poll_s: seconds between two looks.

    Raises:
        OSError: it cannot be read; without `follow`, also where there is no such file.
    """
    half = b""
    file: BinaryIO | None = None
    try:
        while True:
            if file is None:
                file, half = _opened(path, follow=follow), b""
            while file is not None and (piece := file.read(65_536)):
                *whole, half = (half + piece).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in whole)
                if len(half) > READ_MAX_BYTES:
                    raise OSError(0, f"a line holds more than {READ_MAX_BYTES} bytes")
            yield None
            if not follow:
                return
            if file is not None and _is_another(path, file):
                file.close()
                file = None
                continue
            time.sleep(poll_s)
    finally:
        if file is not None:
            file.close()


def _opened(path: Path, *, follow: bool) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        if not follow:
            raise
        return None


def _is_another(path: Path, file: BinaryIO) -> bool:
    """Whether the name stands for another file by now, or the file was cut. Whatever was written
    to the old one before has been read."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False  # a rotation is under way
    ours = os.fstat(file.fileno())
    moved = (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino)
    return moved or now.st_size < file.tell()
