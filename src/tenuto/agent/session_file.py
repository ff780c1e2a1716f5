"""The file of a session: locked, appended to line by line, and mended where its end was torn."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tenuto.core.errors import AgentError
from tenuto.wires.json import decode_object, encode

VERSION: Final = 1
_FIRST: Final = encode({"tenuto_session": VERSION}) + b"\n"
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 40, os.SEEK_SET)  # far behind the end: others may still read
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class SessionFile:
    """A file that one process has to itself, until it closes it or ends in whatever way.

    Args:
        path: made where it does not exist.

    Attributes:
        path: where it lies.
        lines: what stood in it when it was opened: each line with its number, the first one left
            out, which says what the file is.
        torn: the end of it that is no line, since the writing broke off; b"" where there is none.

    Raises:
        AgentError: it cannot be opened, is in use, or is no session that this version reads.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        with self._told("be opened"):
            self._descriptor = os.open(path, _FLAGS, 0o600)
        try:
            self._take()
            data = self._read()
            self._size = len(data)
            self.lines: list[tuple[int, bytes]]
            self.torn: bytes
            self.lines, self.torn = self._parts(data)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others have it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def append(self, value: object, *, lasting: bool = False) -> None:
        """Write a line, all of it or none.

        Args:
            value: what is written as JSON.
            lasting: not to return before it would outlast the machine's own end.
        """
        self._write(encode(value) + b"\n")
        if lasting:
            with self._told("be written"):
                os.fsync(self._open)

    def mend(self) -> Path | None:
        """Put a torn end into a file of its own, and return its path; None: nothing was torn."""
        torn, self.torn = self.torn, b""
        if not self._has_first:
            self._cut(0)
            self._write(_FIRST)
        elif self._is_whole(torn):  # only the line break was missing
            self._write(b"\n")
        elif torn:
            aside = self.path.with_name(self.path.name + ".torn")
            with self._told("be mended"):
                _keep(aside, torn + b"\n")
            self._cut(self._size - len(torn))
            return aside
        return None

    # --- reading

    def _take(self) -> None:
        if not stat.S_ISREG(os.fstat(self._open).st_mode):
            raise AgentError(f"{self.path} is not a regular file, so it cannot hold a session")
        try:
            _lock(self._open)
        except (BlockingIOError, PermissionError):
            raise AgentError(f"{self.path} is in use by another run of this session") from None
        except OSError as error:
            why = error.strerror or error
            raise AgentError(f"{self.path} cannot be locked: {why}") from None

    def _read(self) -> bytes:
        with self._told("be read"):
            os.lseek(self._open, 0, os.SEEK_SET)
            with os.fdopen(os.dup(self._open), "rb") as file:
                return file.read()

    def _parts(self, data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
        *whole, torn = data.split(b"\n")
        if torn and self._is_whole(torn):
            whole.append(torn)  # `mend` adds what it lacks
        lines = [(number, line) for number, line in enumerate(whole, 1) if line.strip()]
        self._has_first = bool(lines)
        if lines:
            self._check_first(decode_object(lines.pop(0)[1]))
        elif not _FIRST.startswith(data):
            raise self._no_session()
        return lines, torn

    def _check_first(self, first: object) -> None:
        version = first.get("tenuto_session") if isinstance(first, dict) else None
        if type(version) is not int:
            raise self._no_session()
        if version != VERSION:
            raise AgentError(
                f"{self.path} was written by another version of Tenuto (sessions of version "
                f"{version}, this one reads {VERSION}); it was not changed"
            )

    def _no_session(self) -> AgentError:
        return AgentError(f"{self.path} is not a Tenuto session; the file was not changed")

    @staticmethod
    def _is_whole(line: bytes) -> bool:
        return isinstance(decode_object(line), dict)

    # --- writing

    @property
    def _open(self) -> int:
        if self._descriptor is None:
            raise AgentError(f"the session {self.path} is closed")
        return self._descriptor

    def _cut(self, size: int) -> None:
        with self._told("be mended"):
            os.ftruncate(self._open, size)
        self._size = size

    def _write(self, data: bytes) -> None:
        descriptor = self._open
        try:
            with self._told("be written"):
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
        except BaseException:
            with suppress(OSError):  # half a line would spoil the one behind it
                os.ftruncate(descriptor, self._size)
            raise
        self._size += len(data)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = error.strerror or error
            raise AgentError(f"the session {self.path} cannot {what}: {why}") from None


def _keep(path: Path, data: bytes) -> None:
    """Append to a file, unless that was done before and only what follows was not."""
    descriptor = os.open(path, _FLAGS, 0o600)
    with os.fdopen(descriptor, "rb+") as file:
        if not file.read().endswith(data):
            file.write(data)
            file.flush()
            os.fsync(descriptor)
