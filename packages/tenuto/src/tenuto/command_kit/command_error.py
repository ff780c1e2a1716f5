"""The error that a command raises if it could not do its work."""

from __future__ import annotations

import errno

INTERRUPTED = 130
"""The exit code that shells give to a program that Ctrl-C ended."""


class CommandError(Exception):
    """A command could not do its work; the message is for a person, in one line."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


_OF_WRITING = frozenset(
    {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
)


def is_of_output(error: OSError) -> bool:
    """Return whether an error says that standard output accepts nothing more. Errors of files have
    the file's name.

    >>> is_of_output(OSError(errno.ENOSPC, "No space left on device"))
    True
    >>> is_of_output(OSError(errno.ENOSPC, "No space left on device", "turns/a.json"))
    False
    """
    return error.filename is None and error.errno in _OF_WRITING


def one_line(text: str) -> str:
    """Return the same words with one space between them."""
    return " ".join(text.split())
