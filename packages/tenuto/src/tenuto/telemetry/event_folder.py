"""Events of any number of processes in one folder, which the setting `events` switches on without a
line of code.

Theory of operation
-------------------
A process creates its file with its first event, under a name of its own, so no two processes write
to the same file. A forked process creates another file. If writing fails, it is logged once and
tried again later: events are lost, but turns go on.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tenuto.core.answer.stop import printable
from tenuto.core.events.event import Event
from tenuto.telemetry.event_files import EventFile

log: logging.Logger = logging.getLogger("tenuto")

MOST_FILES = 100
"""How many files a folder has at most after a process created its own. The oldest are removed."""

RETRY_S = 10.0
"""Seconds before another try after a folder could not be written."""

_OWN_NAME = re.compile(r"\d{8}T\d{6}Z-\d+-[0-9a-f]{8}\.jsonl(\.\d+)?")
"""The names of the files that are written here. Other files in the folder are never removed."""


class EventFolder:
    """A listener that writes the events of this process to a file of its own in a folder, as
    `EventFile` does: 10 MB, and three older files. The file's name has the time of the first event
    and the process id. Only the program's user can read it.

    Args:
        folder: the folder; if it doesn't exist, it is created for its owner alone.
        now: a monotonic clock, in seconds.

    >>> import tempfile
    >>> from tenuto.events import HistoryRepaired
    >>> from tenuto.telemetry.event_files import read_events
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hear = EventFolder(folder)
    ...     hear(HistoryRepaired(time=0.0, turn="t", provider="openai", model="gpt", attempt=0,
    ...                          repairs=("rows_joined",)))
    ...     [file] = Path(folder).iterdir()
    ...     [event.name for event in read_events(file)]
    ['history_repaired']
    """

    def __init__(self, folder: str, now: Callable[[], float] = time.monotonic) -> None:
        self.folder: Path = Path(folder).expanduser().absolute()
        self._now = now
        self._lock = threading.RLock()  # reentrant, as in `EventFile`
        self._path: Path | None = None  # this process's file, from its first event on
        self._file: EventFile | None = None  # open while it can be written
        self._failed = False  # whether writing ever failed
        self._rests_until_s = 0.0

    def __call__(self, event: Event) -> None:
        """Append an event. Errors of the folder or the disk are never raised."""
        failed = None
        with self._lock:
            if self._failed and self._now() < self._rests_until_s:
                return
            try:
                if self._file is None:
                    self._file = self._opened()
                self._file(event)
            except (OSError, ValueError) as error:  # ValueError: the path is not a valid name
                failed = None if self._failed else error  # logged only once
                self._rest()
        if failed is not None:
            where = printable(str(self.folder), 200)
            log.warning("cannot write events to %s: %s", where, printable(str(failed), 200))

    def begin_anew(self) -> None:
        """Start over in a forked process, and leave the file to its parent. This doesn't wait for
        the lock, because the thread that held it doesn't exist here."""
        self._lock = threading.RLock()
        if self._file is not None:
            self._file.leave()
        self._file = self._path = None

    def _opened(self) -> EventFile:
        if self._path is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_oldest()
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
            # Containers that share a folder may have the same process ids.
            self._path = self.folder / f"{stamp}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        return EventFile(self._path)

    def _remove_oldest(self) -> None:
        found = []
        for file in os.scandir(self.folder):
            with contextlib.suppress(FileNotFoundError):  # another process removed it first
                if _OWN_NAME.fullmatch(file.name) and file.is_file(follow_symlinks=False):
                    found.append((file.stat().st_mtime_ns, file.name))
        found.sort()
        for _, name in found[: max(len(found) - MOST_FILES + 1, 0)]:
            with contextlib.suppress(OSError):  # another process may have removed it first
                (self.folder / name).unlink()

    def _rest(self) -> None:
        self._failed = True
        self._rests_until_s = self._now() + RETRY_S
        if self._file is not None:
            self._file.close()
            self._file = None


_folders: dict[str, EventFolder] = {}
"""The listeners of this process, by the folder as the policy names it."""


def events_in(folder: str) -> EventFolder:
    """Return the listener that writes this process's events to a folder. All policies that name the
    folder share it.

    >>> events_in("events") is events_in("events")
    True
    """
    found = _folders.get(folder)
    return found if found is not None else _folders.setdefault(folder, EventFolder(folder))


def _begin_anew() -> None:
    for each in _folders.values():
        each.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
