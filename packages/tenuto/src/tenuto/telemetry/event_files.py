"""Events in files, as lines of JSON that other programs can follow and read back."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from tenuto.core.events.event import Event
from tenuto.core.events.kinds import event_from_dict

MAX_BYTES = 10_000_000
"""The default size of a file before the next one begins."""

KEEP = 3
"""The default number of older files."""

LINE_MAX_BYTES = 1_048_576
"""The longest line that can be an event. Of a longer one, readers keep so much, and skip it like
every other line that is no event."""


class EventFile:
    """A listener that appends each event to a file, as a line of JSON. Only the program's user can
    read it. Each line is written at once, so that a reader can follow the file.

    When the file would grow beyond `max_bytes`, it becomes `PATH.1`, the one before it `PATH.2`,
    and so on, and the oldest is deleted. Only one process may write to a file.

    Args:
        path: the file, to which events are appended. Its folder must exist.
        max_bytes: the largest size of a file. A single larger event is still written.
        keep: how many older files to keep; 0: none.

    Raises:
        OSError: the file can't be opened.
        ValueError: `max_bytes` is below 1, or `keep` below 0.

    >>> import tempfile
    >>> from tenuto.events import HistoryRepaired
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "events.jsonl"
    ...     with EventFile(path) as hear:
    ...         hear(HistoryRepaired(time=0.0, turn="t", provider="openai", model="gpt",
    ...                              attempt=0, repairs=("rows_joined",)))
    ...     [event.data for event in read_events(path)]
    [{'repairs': ['rows_joined']}]
    """

    def __init__(
        self, path: str | os.PathLike[str], max_bytes: int = MAX_BYTES, keep: int = KEEP
    ) -> None:
        if max_bytes < 1 or keep < 0:
            raise ValueError("a file of events has at least 1 byte, and 0 or more older ones")
        self.path: Path = Path(path)
        self._max_bytes, self._keep = max_bytes, keep
        # The garbage collector may end an abandoned turn, which sends events, in a thread that
        # already holds the lock.
        self._lock = threading.RLock()
        self._file = -1  # the descriptor; -1: none is open
        self._closed = False
        self._size = 0
        self._open()

    def __call__(self, event: Event) -> None:
        """Append an event. After `close`, it does nothing.

        Raises:
            OSError: the line cannot be written.
        """
        line = json.dumps(event.as_dict(), separators=(",", ":")).encode() + b"\n"
        with self._lock:
            if self._closed:
                return
            if self._file >= 0 and os.fstat(self._file).st_nlink == 0:  # the file was deleted
                self._close()
            if self._file < 0:  # deleted, or not opened after a rotation
                self._open()
            if self._size and self._size + len(line) > self._max_bytes:
                self._rotate()
            _write(self._file, line)
            self._size += len(line)

    def close(self) -> None:
        """Close the file; harmless when repeated."""
        with self._lock:
            self._closed = True
            self._close()

    def leave(self) -> None:
        """Close the file in a process that was forked from the one that writes it. It takes no
        lock, because the thread that held it doesn't exist here."""
        self._lock = threading.RLock()
        self.close()

    def __enter__(self) -> EventFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        if hasattr(os, "fchmod"):  # an existing file may be readable by others
            os.fchmod(self._file, 0o600)
        self._size = os.fstat(self._file).st_size
        if self._size and not _ends_whole(self.path):
            _write(self._file, b"\n")  # ends the half line of a process that was killed
            self._size += 1

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _rotate(self) -> None:
        self._close()
        for number in range(self._keep - 1, 0, -1):
            older = numbered(self.path, number)
            if older.exists():
                older.replace(numbered(self.path, number + 1))
        if self._keep:
            self.path.replace(numbered(self.path, 1))
        else:
            self.path.unlink()
        self._open()


def read_events(path: str | os.PathLike[str]) -> Iterator[Event]:
    """Yield the events of one file, in the order in which they were written. It skips lines that
    are incomplete or not events, such as the last line while it is being written, and lines of more
    than 1 MiB.

    Raises:
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        begins = True
        while line := file.readline(LINE_MAX_BYTES):
            whole = begins and line.endswith(b"\n")
            begins = line.endswith(b"\n")
            if whole and (event := _read(line)) is not None:
                yield event


def files_of_events(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that an `EventFile` wrote under this path, oldest first."""
    first = Path(path)
    older: list[Path] = []
    while (one := numbered(first, len(older) + 1)).exists():
        older.append(one)
    return [*reversed(older), *([first] if first.exists() else [])]


def _read(line: bytes) -> Event | None:
    try:
        value = json.loads(line)
        return event_from_dict(value) if isinstance(value, dict) else None
    except ValueError:  # not JSON, not UTF-8, or an event without a required field
        return None


def numbered(path: Path, number: int) -> Path:
    """Return the name of an older file; 1 is the latest of them."""
    return path.with_name(f"{path.name}.{number}")


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _write(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]
