"""A restart: the continuation repeats everything from the beginning.

Nothing of a restart is stored, since the text to compare it with is there.  It proves something
only if the beginning is long and varied enough.  A restart that continues in other words cannot be
spliced (C28a).
"""

from __future__ import annotations

from typing import Final

from tenuto.core.answer.runaway import suffix_borders

__all__ = ["HEAD_CHARS", "RESTART_CHARS", "common", "departs", "is_periodic", "is_varied"]

RESTART_CHARS: Final = 24
# From this length on, a restart that differs from the text is one "in other words" (C28a). Lines of
# a log or a table may begin alike, so at the beginning of a line it takes more.
_DIVERGED_CHARS: Final = 24
_DIVERGED_LINE_CHARS: Final = 80
_DIFFERENT_CHARS: Final = 4
HEAD_CHARS: Final = 400  # how much of the start is searched for periods


def common(one: str, other: str) -> int:
    """Return the length of the common prefix, by bisection: comparing slices is far faster than
    characters."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def departs(before: str, start: int, matched: int, *, at_line: bool) -> bool:
    """Return whether this is a restart that continues in other words after `matched` characters.

    All of such a restart is dropped. So a text whose lines begin alike (a log, a table, a list of
    files) must not count as one: its beginning occurs in it a second time.
    """
    if matched < (_DIVERGED_LINE_CHARS if at_line else _DIVERGED_CHARS):
        return False
    begin = before[start : start + _DIVERGED_CHARS]
    return begin not in before[start + 1 :]


def is_varied(head: str, least_chars: int) -> bool:
    """Return whether the repetition of a whole text that begins with `head` proves anything."""
    if len(head) < least_chars or len(set(head)) < _DIFFERENT_CHARS:
        return False
    return not is_periodic(head)


def is_periodic(text: str) -> bool:
    """Return whether a text consists of one repeated piece.

    >>> is_periodic("ha ha h"), is_periodic("a hat")
    (True, False)
    """
    period = len(text) - suffix_borders(text[::-1])[len(text)]
    return period * 2 <= len(text)
