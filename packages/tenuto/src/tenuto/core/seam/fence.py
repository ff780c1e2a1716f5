"""Remove a code fence that a model opens again because it takes its continuation for a new answer.

The evidence is in the text: the fence that is open where the text was cut, its info string, and
whether the unfinished line or the lines before it come again after the second opening.
"""

from __future__ import annotations

import re

from tenuto.core.seam.passage import Grade
from tenuto.core.seam.repetition import NOTHING, Opening, Removal, repeated

__all__ = ["open_info", "reopened"]

# No longer than the text that is waited for below: a body and a stream must not differ.
_fence_line = re.compile(r"[ \t]*(`{3,}|~{3,})(?=[^\n`]{0,60}\n)[ \t]*([^\s`]*)[^\n`]*\n").match
_fences = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)([^\n`]*)$", re.MULTILINE).finditer
_fence_so_far = re.compile(r"[ \t]*(?:`{0,2}|~{0,2}|(?:`{3,}|~{3,})[^\n`]{0,60})").fullmatch


def reopened(opening: Opening, at: int, final: bool) -> Removal | None:
    """Return what to remove if the continuation opens the code fence again."""
    found = _fence_line(opening.held, at)
    if found is None:
        return None if not final and _fence_so_far(opening.held, at) else NOTHING
    end, info = found.end(), found[2]
    open_ = open_info(opening)
    least = Grade.STRONG if open_ is None else Grade.LINE
    again = repeated(opening, end, final, least)
    if again is None or again[0] == "diverged":
        return again
    if again[1]:
        return "fence", again[1]
    if open_ is not None:
        removed = opening.ending.line_again(opening.held[end:], final=final)
        if removed is None:
            return None
        # Is this one letter of a repeated line, or a word that continues as it did before?
        letter = removed == 1 and opening.held[end].isalpha()
        goes_on = letter and opening.ending.goes_on_as_known(opening.held[end:], final=final)
        if goes_on is None:
            return None
        if removed and not goes_on:
            return "fence", end + removed
    if info and (info == open_ or (open_ is not None and opening.ending.mid_line)):
        return "fence", end
    return NOTHING


def open_info(opening: Opening) -> str | None:
    """Return the info string of the code fence that is open at the end of `before`; None if none
    is."""
    marker = ""
    info: str | None = None
    # A fence is open from the line after it. The line of the fence itself may have been cut, unless
    # the continuation begins with a line break.
    lead = opening.held[: len(opening.held) - len(opening.held.lstrip())]
    ended = "\n" in opening.trimmed + lead
    lines = opening.before if ended else opening.before.rpartition("\n")[0]
    for found in _fences(lines + "\n"):
        if not marker:
            marker, info = found[1], found[2]
        elif found[1].startswith(marker) and not found[3].strip() and not found[2]:
            marker, info = "", None
    return info
