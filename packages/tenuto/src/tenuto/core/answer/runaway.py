"""Detect a text that has become one repeated passage (C13).

A model that is stuck writes the same passage until the limit cuts it off. A continuation of such a
text would only repeat it, so the turn stops there.

Theory of operation
-------------------
Only the last `_TAIL_CHARS` characters are read.  They are reversed, so that the failure function of
Knuth, Morris and Pratt (https://en.wikipedia.org/wiki/Knuth%E2%80%93Morris%E2%80%93Pratt_algorithm)
gives the smallest period of every suffix of the text in one linear pass: a suffix of n characters
whose longest border has b characters has the smallest period n - b.  The text is runaway if some
suffix is long enough, holds enough whole periods, and its passage is one that no writer repeats.
"""

from __future__ import annotations

from typing import Final

__all__ = ["is_runaway", "suffix_borders"]

# Three equal lines in a row occur in real tables and logs, four rarely. A loop cut off by a limit
# of thousands of tokens has dozens.
_LEAST_PERIODS: Final = 4
# How long the repetition must be (in characters) depends on the passage: a passage of 20 letters or
# more is a sentence or a line of code, and 400 characters of it are about a hundred tokens that say
# nothing;
_LEAST_CHARS: Final = 400
_SENTENCE_LETTERS: Final = 20
# a passage with fewer letters may be a cell of a real table ("    <td></td>\n", "null, ");
_LEAST_CHARS_OF_CELLS: Final = 1_000
# one with hardly a letter may be a rule, a table's separator, a matrix of zeros, or binary data in
# base64 ("AAAAAAAA"), so it has to be longer than a screenful of those.
_LEAST_CHARS_OF_MARKS: Final = 2_000
_CELL_LETTERS: Final = 3  # different ones
# Four whole periods of a passage of 2,000 characters.
_TAIL_CHARS: Final = 8_000


def suffix_borders(text: str) -> list[int]:
    """Return the longest proper border of the last n characters, for each n up to ``len(text)``.

    Linear. The last n characters have the smallest period ``n - borders[n]``.

    >>> suffix_borders("xabab")
    [0, 0, 0, 1, 2, 0]
    """
    backwards = text[::-1]
    borders = [0] * (len(text) + 1)
    border = 0
    for index in range(1, len(backwards)):
        char = backwards[index]
        while border and backwards[border] != char:
            border = borders[border]
        if backwards[border] == char:
            border += 1
        borders[index + 1] = border
    return borders


def is_runaway(text: str) -> bool:
    """Return whether `text` ends in one passage, repeated many times.

    >>> is_runaway("Let me check. " + "I will now fix that bug, too. " * 20)
    True
    >>> is_runaway("ha ha ha"), is_runaway("-" * 60)
    (False, False)
    """
    tail = text[-_TAIL_CHARS:].rstrip()
    if len(tail) < _LEAST_CHARS:
        return False
    borders = suffix_borders(tail)
    for length in range(len(tail), _LEAST_CHARS - 1, -1):
        period = length - borders[length]
        if period * _LEAST_PERIODS > length:
            continue
        # The longest periodic suffix decides: the shorter ones repeat the same passage.
        return length >= _least_chars(tail[-period:])
    return False


def _least_chars(passage: str) -> int:
    letters = [char for char in passage if char.isalpha()]
    if len(letters) >= _SENTENCE_LETTERS:
        return _LEAST_CHARS
    if len(set(letters)) >= _CELL_LETTERS:
        return _LEAST_CHARS_OF_CELLS
    return _LEAST_CHARS_OF_MARKS
