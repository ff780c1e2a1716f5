"""What a file tool says when it did not do what it was asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


class FileProblem(Exception):
    """A file tool did nothing; the message tells the model why, and what to do instead.

    >>> raise FileProblem("notes.txt does not exist")
    Traceback (most recent call last):
    tenuto_agent.files.problem.FileProblem: notes.txt does not exist
    """


@contextmanager
def told_of(path: str) -> Iterator[None]:
    """Faults of the system in the words of the tools: of a path as it was given, never of one that
    the system knows."""
    try:
        yield
    except FileNotFoundError:
        raise FileProblem(f"{path} does not exist") from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise FileProblem(f"{path}: {reason}") from None
