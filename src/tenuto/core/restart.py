"""A restart: the continuation says everything again from the beginning.

Nothing of a restart is stored, since the text to compare it with is there.  It proves something
only if the beginning is long and varied enough, and one that goes on in other words cannot be
spliced (behaviour C28a).
"""

from __future__ import annotations

from typing import Final

from tenuto.core.runaway import suffix_borders

__all__ = ["HEAD_CHARS", "RESTART_CHARS", "common", "departs", "is_varied"]

RESTART_CHARS: Final = 24
# From here on a restart that departs from what was said is one "in other words" (C28a). Lines of a
# log or a table may begin alike, so at the beginning of a line it takes more to tell.
_DIVERGED_CHARS: Final = 24
_DIVERGED_LINE_CHARS: Final = 80
_DIFFERENT_CHARS: Final = 4
HEAD_CHARS: Final = 400  # periods are looked for in this many characters of the start


def common(one: str, other: str) -> int:
    """Length of the common prefix, by halving: comparing slices is far faster than characters."""
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


def departs(said: str, start: int, matched: int, *, at_line: bool) -> bool:
    """Whether this is a restart that goes on in other words after `matched` characters.

    All of it would be dropped, so a text whose lines begin alike (a log, a table, a list of
    files) must not be taken for one: its beginning is found in it a second time.
    """
    if matched < (_DIVERGED_LINE_CHARS if at_line else _DIVERGED_CHARS):
        return False
    begin = said[start : start + _DIVERGED_CHARS]
    return begin not in said[start + 1 :]


def is_varied(head: str, least_chars: int) -> bool:
    """Whether it proves anything that all of a text comes again that begins with `head`."""
    if len(head) < least_chars or len(set(head)) < _DIFFERENT_CHARS:
        return False
    period = len(head) - suffix_borders(head[::-1])[len(head)]
    return period * 2 > len(head)
