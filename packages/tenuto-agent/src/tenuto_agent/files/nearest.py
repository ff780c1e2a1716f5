"""What stands in a file that is most like a text that does not: a hint for the next try.

All of it is linear in the file but for one comparison of lines, which is bounded.
"""

from __future__ import annotations

import difflib
from collections import Counter
from typing import Final

_LINES_SEARCHED: Final = 100_000  # of the file, from its beginning
_LINES_ASKED: Final = 50  # of the text that was looked for
_LINES_COMPARED: Final = 2_000  # letter by letter, where no line is the same
_LINE_CHARS: Final = 200
_LINES_SHOWN: Final = 10


def nearest(text: str, wanted: str) -> str:
    """A sentence that shows the lines of `text` that are most like `wanted`.

    >>> print(nearest("def f():\\n  return 1\\n", "def f():\\n    return 1"))
    The nearest text begins at line 1; from line 2 it differs, in white space alone:
    def f():
      return 1
    """
    lines = text.split("\n", _LINES_SEARCHED)[:_LINES_SEARCHED]
    asked = wanted.split("\n", _LINES_ASKED)[:_LINES_ASKED]
    start = _by_same_lines(lines, asked)
    if start is None:
        start = _by_like_line(lines, asked)
    if start is None:
        return "Nothing in it is like that; read the file again"
    there = lines[start : start + len(asked)]
    at, blank = _difference(there, asked)
    shown = "\n".join(line[:_LINE_CHARS] for line in there[:_LINES_SHOWN])
    how = ", in white space alone" if blank else ""
    return (
        f"The nearest text begins at line {start + 1}; from line {start + at + 1} it differs{how}:"
        f"\n{shown}"
    )


def _by_same_lines(lines: list[str], asked: list[str]) -> int | None:
    """Where most lines are the same but for the white space around them."""
    places: dict[str, int] = {}
    for place, line in enumerate(asked):
        if line.strip():
            places.setdefault(line.strip(), place)
    votes: Counter[int] = Counter()
    for number, line in enumerate(lines):
        at = number - places.get(line.strip(), number + 1)
        if at >= 0:
            votes[at] += 1
    return votes.most_common(1)[0][0] if votes else None


def _by_like_line(lines: list[str], asked: list[str]) -> int | None:
    """Where a line is most like the longest one that was asked for."""
    longest = max(range(len(asked)), key=lambda number: len(asked[number].strip()))
    wanted = asked[longest].strip()[:_LINE_CHARS]
    words = set(wanted.split())
    # Those that share the most words come first, in the order of the file.
    likely = sorted(range(len(lines)), key=lambda n: -len(words & set(lines[n].split())))
    candidates = [lines[n].strip()[:_LINE_CHARS] for n in likely[:_LINES_COMPARED]]
    found = difflib.get_close_matches(wanted, candidates, n=1)
    if not found:
        return None
    return max(0, likely[candidates.index(found[0])] - longest)


def _difference(there: list[str], asked: list[str]) -> tuple[int, bool]:
    """The first line that differs, and whether all of them differ in white space alone."""
    pairs = [*zip(there, asked, strict=False)]
    at = next((n for n, (one, other) in enumerate(pairs) if one != other), 0)
    blank = len(there) == len(asked) and all(a.split() == b.split() for a, b in pairs)
    return at, blank
