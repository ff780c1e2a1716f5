"""Events of any number of processes in one folder, each in a file of its own: what the setting
`events` switches on without a line of code.

Theory of operation
-------------------
A process begins its file with its first event, under a name that no other process takes, so no two
ever rotate or tear the same file. A process that is forked begins another one. Whatever goes wrong
is logged once and tried again later: it costs events, never a turn.
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

from tenuto.core.event import Event
from tenuto.core.stop import printable
from tenuto.telemetry.event_files import EventFile

log: logging.Logger = logging.getLogger("tenuto")

MOST_FILES = 100
"""How many files a folder holds when a process has begun its own; the oldest are removed."""

RETRY_S = 10.0
"""Seconds without a try at a folder that could not be written."""

_OWN_NAME = re.compile(r"\d{8}T\d{6}Z-\d+-[0-9a-f]{8}\.jsonl(\.\d+)?")
"""What files that were written here are called; nothing else in the folder is ever removed."""


class EventFolder:
    """A listener that writes the events of this process to a file of its own in a folder, as
    `EventFile` does: 10 MB, and three older files. Its name says when the process wrote first, and
    its id. Only the user of the program may read it.

    Args:
        folder: where the file goes; it is made where it is missing, for its owner alone.
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
        self._lock = threading.RLock()  # as that of an `EventFile`
        self._path: Path | None = None  # of this process's file, once it was begun
        self._file: EventFile | None = None  # while it is open
        self._failed = False  # at any time
        self._rests_until_s = 0.0

    def __call__(self, event: Event) -> None:
        """Append an event. Never raises for what the folder or the disk does."""
        failed = None
        with self._lock:
            if self._failed and self._now() < self._rests_until_s:
                return
            try:
                if self._file is None:
                    self._file = self._opened()
                self._file(event)
            except (OSError, ValueError) as error:  # ValueError: no path can have this name
                failed = None if self._failed else error  # logged once
                self._rest()
        if failed is not None:
            where = printable(str(self.folder), 200)
            log.warning("cannot write events to %s: %s", where, printable(str(failed), 200))

    def begin_anew(self) -> None:
        """Leave the file to the process that this one was forked from. No lock is waited for: the
        thread that held it is not here."""
        self._lock = threading.RLock()
        if self._file is not None:
            self._file.leave()
        self._file = self._path = None

    def _opened(self) -> EventFile:
        if self._path is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_oldest()
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
            # Containers that share a folder may number their processes alike.
            self._path = self.folder / f"{stamp}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        return EventFile(self._path)

    def _remove_oldest(self) -> None:
        found = []
        for file in os.scandir(self.folder):
            with contextlib.suppress(FileNotFoundError):  # another process may have been quicker
                if _OWN_NAME.fullmatch(file.name):
                    found.append((file.stat().st_mtime_ns, file.name))
        found.sort()
        for _, name in found[: max(len(found) - MOST_FILES + 1, 0)]:
            (self.folder / name).unlink(missing_ok=True)

    def _rest(self) -> None:
        self._failed = True
        self._rests_until_s = self._now() + RETRY_S
        if self._file is not None:
            self._file.close()
            self._file = None


_folders: dict[str, EventFolder] = {}
"""What this process writes, by the folder as a policy names it."""


def events_in(folder: str) -> EventFolder:
    """What writes the events of this process to a folder. All policies that name it share it.

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
