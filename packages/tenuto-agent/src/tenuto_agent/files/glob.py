"""Patterns of paths: `*`, `?`, `[…]` within a name, `**` for any folders, `{a,b}` for either.

A pattern is walked along with the folders, as the set of its parts that may come next, so the work
per name is bounded by the length of the pattern and folders that cannot match are not entered.
(`PurePath.full_match`, which knows `**`, came with Python 3.13.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Final

from tenuto_agent.files.problem import FileProblem

MAX_PATTERN_CHARS: Final = 1_000
MAX_ALTERNATIVES: Final = 64

States = frozenset[tuple[int, int]]
"""Which parts of which alternatives may come next."""

_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")


class Glob:
    """A pattern of paths.

    >>> glob = Glob("src/**/*.{py,pyi}")
    >>> [glob.matches(path.split("/")) for path in ("src/a.py", "src/b/c.pyi", "a.py")]
    [True, True, False]
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN_CHARS:
            raise FileProblem(f"the pattern is longer than {MAX_PATTERN_CHARS:,} characters")
        if ".." in pattern.split("/") or pattern.startswith("/"):
            raise FileProblem(f"the pattern {pattern!a} leads out; begin it below the folder")
        self._alternatives = [
            [None if part == "**" else re.compile(translate(part)).match for part in _parts(each)]
            for each in _without_braces(pattern)
        ]
        self.start: States = self._closed((number, 0) for number in range(len(self._alternatives)))

    def step(self, states: States, name: str) -> States:
        """What may come after `name`."""
        after: set[tuple[int, int]] = set()
        for number, at in states:
            parts = self._alternatives[number]
            if at < len(parts):
                match = parts[at]
                if match is None:
                    after.add((number, at))
                elif match(name):
                    after.add((number, at + 1))
        return self._closed(after)

    def ends(self, states: States) -> bool:
        """Whether what led here is a whole match."""
        return any(at == len(self._alternatives[number]) for number, at in states)

    def matches(self, names: Iterable[str]) -> bool:
        states = self.start
        for name in names:
            states = self.step(states, name)
        return self.ends(states)

    def _closed(self, states: Iterable[tuple[int, int]]) -> States:
        """With what follows each `**`, which may also stand for no folder."""
        closed: set[tuple[int, int]] = set()
        for number, first in states:
            parts = self._alternatives[number]
            last = first
            while last < len(parts) and parts[last] is None:
                last += 1
            closed.update((number, at) for at in range(first, last + 1))
        return frozenset(closed)


def _parts(pattern: str) -> list[str]:
    return [part for part in pattern.split("/") if part not in ("", ".")]


def _without_braces(pattern: str) -> list[str]:
    done: list[str] = []
    open_ = [pattern]
    while open_:
        each = open_.pop()
        braces = _BRACES.search(each)
        if braces is None:
            done.append(each)
        else:
            open_ += [
                each[: braces.start()] + choice + each[braces.end() :]
                for choice in braces[1].split(",")
            ]
        if len(done) + len(open_) > MAX_ALTERNATIVES:
            raise FileProblem(f"the braces give more than {MAX_ALTERNATIVES} patterns")
    return done
