"""Events from files: a thread that follows the event files of other processes."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

from tenuto.telemetry.following import POLL_S, lines
from tenuto.watch.board import Board

MOST_FILES = 128
"""So many files of a folder are followed."""

ENDING = ".jsonl"
"""Files of a folder with this ending are event files."""


@contextlib.contextmanager
def follow(path: str | os.PathLike[str], board: Board, poll_s: float = POLL_S) -> Iterator[None]:
    """Feed a board from event files, in a thread, until the `with` block ends.

    It first reads what the file already has, including the older files that `EventFile` keeps.

    Args:
        path: an event file, or a folder whose `*.jsonl` files are event files. A file, or further
            files of the folder, may be created later.
        board: the board to feed. It notes files that can't be read, and lines that are not events.
        poll_s: seconds between reads.

    >>> import tempfile
    >>> board = Board()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with follow(folder, board):
    ...         pass
    >>> board.turns()
    []
    """
    over = threading.Event()
    reader = threading.Thread(
        target=_read, args=(Path(path), board, over, poll_s), name="tenuto-watch", daemon=True
    )
    reader.start()
    try:
        yield
    finally:
        over.set()
        reader.join()


def _read(path: Path, board: Board, over: threading.Event, poll_s: float) -> None:
    found: dict[Path, Generator[str | None] | None] = {}  # None: it cannot be read
    gone: set[Path] = set()
    try:
        while not over.is_set():
            there = _files(path, board)
            # A file is missing for a moment while it is rotated, and for ever once it was removed.
            missing = found.keys() - there
            for file in missing & gone:
                if (rest := found.pop(file)) is not None:
                    rest.close()
            gone = missing
            for file in there:
                if file not in found and len(found) < MOST_FILES:
                    found[file] = lines(file, follow=True, older=True, poll_s=0)
                elif file not in found:
                    board.note(f"only {MOST_FILES} files of {path} are followed")
                    break
            for file, rest in found.items():
                if rest is not None and not _drain(file, rest, board, over):
                    found[file] = None
            over.wait(poll_s)
    finally:
        for rest in found.values():
            if rest is not None:
                rest.close()


def _files(path: Path, board: Board) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        return sorted(each for each in path.iterdir() if each.name.endswith(ENDING))
    except OSError as error:
        board.note(f"{path}: {error.strerror or error}")
        return []


def _drain(file: Path, rest: Generator[str | None], board: Board, over: threading.Event) -> bool:
    """Take all lines up to the end of a file; False where it cannot be read further."""
    try:
        for line in rest:
            if line is None or over.is_set():
                return True
            if line.strip() and not board.read_line(line):
                board.note(f"{file.name}: a line is not an event")
    except OSError as error:
        board.note(f"{file.name}: {error.strerror or error}")
    return False
