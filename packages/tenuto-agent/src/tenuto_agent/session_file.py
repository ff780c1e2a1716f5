"""The file of a session: locks it, appends lines, and repairs an incomplete end."""

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
        os.lseek(descriptor, 1 << 40, os.SEEK_SET)  # far behind the end, so that others can read
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class SessionFile:
    """A file that one process locks until it closes the file or ends.

    Args:
        path: the file; it is created if it doesn't exist.

    Attributes:
        path: the file.
        lines: the lines of the file when it was opened, each with its number. The first line, which
            identifies the file, is left out.
        torn: the end of the file without a line break, left by an interrupted write; b"" if there
            is none.

    Raises:
        AgentError: the file can't be opened, is in use, or is not a session of this version.
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
        """Close the file and release the lock."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def append(self, value: object, *, lasting: bool = False) -> None:
        """Write one line completely or not at all.

        Args:
            value: the value to write as JSON.
            lasting: whether to wait until the line would survive a power failure.
        """
        self._write(encode(value) + b"\n")
        if lasting:
            with self._told("be written"):
                os.fsync(self._open)

    def mend(self) -> Path | None:
        """Move an incomplete last line to a file of its own, and return that file's path; None:
        there was none."""
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
            whole.append(torn)  # `mend` adds the missing line break
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
            with suppress(OSError):  # half a line would spoil the next one
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
    """Append to a file, unless an earlier attempt, which was interrupted, already did."""
    descriptor = os.open(path, _FLAGS, 0o600)
    with os.fdopen(descriptor, "rb+") as file:
        if not file.read().endswith(data):
            file.write(data)
            file.flush()
            os.fsync(descriptor)
