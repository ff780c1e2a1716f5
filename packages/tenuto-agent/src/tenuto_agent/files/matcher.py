"""A program that searches texts for a regular expression, in a process of its own.

Python's `re` may take longer than the world lasts, and nothing in the same process can stop it: it
holds the interpreter's lock, and a thread cannot be killed. A process can. `regex` starts this file
by its path with -I -S, so it imports only the standard library.

It reads frames (four bytes of length, then so many bytes) and answers each with one line of JSON:
first the pattern and its settings, then texts, whose answer is [line, column] of each line that
matches. It ends with its input, or by itself after the seconds of processor time it may have.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from itertools import islice

MAX_LINE_CHARS = 10_000
"""So much of a line is searched: minified files have lines of megabytes, and even `a*b` takes time
that grows with the square of the line."""

_MEMORY_BYTES = 1 << 30


def main() -> None:
    frames = _frames()
    asked = json.loads(next(frames))
    _bound(asked["cpu_s"])
    try:
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError, MemoryError, ValueError) as error:
        _answer({"error": str(error) or type(error).__name__})
        return
    _answer({})

    def place(line: str) -> int:
        match = pattern.search(line[:MAX_LINE_CHARS])
        return match.start() if match else -1

    for frame in frames:
        _answer(lines_of(frame.decode(), place, asked["limit"]))


def lines_of(text: str, place: Callable[[str], int], limit: int) -> list[tuple[int, int]]:
    """At most `limit` lines, counted from 0, and the column that `place` gives of each; one of
    which it gives -1 is left out."""
    placed = ((number, place(line)) for number, line in enumerate(text.split("\n")))
    return list(islice((found for found in placed if found[1] >= 0), limit))


def _frames() -> Iterator[bytes]:
    source = sys.stdin.buffer
    while len(head := source.read(4)) == 4:
        yield source.read(int.from_bytes(head))


def _answer(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _bound(cpu_s: int) -> None:
    """The parent ends this process in time; these hold if the parent is killed first."""
    try:
        resource = importlib.import_module("resource")
    except ImportError:  # Windows
        return
    for which, most in (resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_AS, _MEMORY_BYTES):
        try:
            resource.setrlimit(which, (most, most))
        except (OSError, ValueError):  # not on every system
            continue


if __name__ == "__main__":
    main()
