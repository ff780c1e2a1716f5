"""Events from files: a thread that follows the event files of other processes."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from tenuto.telemetry.following import POLL_S, Readers
from tenuto.watch.board import Board

MOST_FILES = 128
"""How many files of a folder are followed."""


@contextlib.contextmanager
def follow(path: str | os.PathLike[str], board: Board, poll_s: float = POLL_S) -> Iterator[None]:
    """Feed a board from event files, in a thread, until the `with` block ends.

    It first reads what the file already has, including the older files that `EventFile` keeps.

    Args:
        path: an event file, or a folder whose `*.jsonl` files are event files. Either may be
            created later, and so may further files of the folder.
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
    noted = set[str]()

    def note_once(what: str) -> None:
        if what not in noted:
            noted.add(what)
            board.note(what)

    with contextlib.closing(Readers(path, follow=True, older=True, most=MOST_FILES)) as readers:
        while not over.is_set():
            try:
                for file, reader in readers.look().items():
                    _drain(file, reader, board, over)
            except OSError as error:
                note_once(f"{path}: {error.strerror or error}")
            if readers.full:
                note_once(f"only {MOST_FILES} files of {path} are followed")
            over.wait(poll_s)


def _drain(file: Path, reader: Iterator[str | None], board: Board, over: threading.Event) -> None:
    """Read all lines up to the end of a file into the board."""
    try:
        for line in reader:
            if line is None or over.is_set():
                return
            if line.strip() and not board.read_line(line):
                board.note(f"{file.name}: a line is not an event")
    except OSError as error:  # which has ended the reader
        board.note(f"{file.name}: {error.strerror or error}")
